"""Every rule about Modules: what the cluster refuses, in its order, and the lints."""

from .crd import structure, values
from .lints import (
    hub_lints,
    image_lints,
    in_tree_lints,
    mapping_lints,
    module_lints,
    neighbours,
    regexp_lints,
    section_lints,
)
from .webhook import admission, decoding, kernel_modules, loader, plugins, sign, tolerations

REFUSALS = (
    *(values.RULES + structure.RULES),
    *(decoding.RULES + admission.RULES + tolerations.RULES + plugins.RULES),
    *(loader.RULES + kernel_modules.RULES + sign.RULES),
)
LINTS = (
    *(module_lints.RULES + section_lints.RULES + mapping_lints.RULES),
    *(regexp_lints.RULES + image_lints.RULES + neighbours.RULES + hub_lints.RULES),
    *in_tree_lints.RULES,
)
RULES = REFUSALS + LINTS
