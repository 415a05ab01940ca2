"""The rule about what a layer takes from weaker ones."""

from collections.abc import Iterator

from krmfn import Field, Result, error

from .. import oracles
from ..rule import Rule
from .merging import UNSET
from .model import DeviceConfig
from .named_fields import UNSET as VERB
from .named_fields import mistake


def what_is_unset_is_a_field(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per name in `unset` that is that of no field, or of one that its mapping needs."""
    for layer in config.layers:
        for index, name in enumerate(layer.fields.get(UNSET, ())):
            if wrong := mistake(name, VERB):
                field = Field(f"{layer.path}.{UNSET}[{index}]", name)
                yield error(wrong.message, field=field, remedy=wrong.remedy)


RULES = (
    Rule(
        "KRM195",
        "what a layer unsets must be a field, or a part of one that can be left out",
        good="""\
kind: RenderDeviceConfigs
spec:
  profiles: {gpu: {devicePlugin: {image: "registry.example.com/plugin:1.0", env: [{name: LOG, value: debug}]}}}
---
spec: {profile: gpu, unset: [devicePlugin.env.LOG]}
""",
        bad="""\
kind: RenderDeviceConfigs
spec:
  profiles: {gpu: {devicePlugin: {image: "registry.example.com/plugin:1.0", env: [{name: LOG, value: debug}]}}}
---
spec: {profile: gpu, unset: [devicePlugin.enw.LOG]}
""",
        remedy="Write the path of the field below `spec`, with the name of a list's entry: daemonSets.NAME.args.",
        held=oracles.OUR_KINDS,
        check=what_is_unset_is_a_field,
    ),
)
"""The rule about `unset`."""
