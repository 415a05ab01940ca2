"""Lints about one Module: those about what every Module has. The lints about a part are in the file of that part.

The files of parts are loaded only for a Module that has the part; see `check`. What looks at name or selector
stands here: of generated Modules that differ in these alone, the files of parts judge one (rendering/module_checks.py).
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from krmfn import Field, Result, error, warning
from krmfn.resource import join

from ... import oracles
from ...rule import Rule, apply
from ..in_tree import DRIVERS
from ..lookup import table, text, texts
from ..module import CONTAINER, MODPROBE, Module
from ..rule import quote
from ..versions import DEFAULT, target
from . import image_lints


def check(
    module: Module, version: str = DEFAULT, kernels: Sequence[str] = (), kubelets: Collection[str] = ()
) -> Iterator[Result]:
    """Yield the lints about one Module.

    `kernels` are real kernel versions to try its mappings with, `kubelets` the versions of the nodes' kubelets.

    Raises KrmfnError for an unknown KMM version.
    """
    kmm, findings = target(version), [apply(RULES, module)]
    if "dra" in module.spec or module.holds("sign", "build"):
        from . import section_lints

        findings.append(apply(section_lints.RULES, module, kmm, kubelets))
    if not DRIVERS.keys().isdisjoint(module.loads):
        from . import in_tree_lints

        findings.append(in_tree_lints.check(module))
    if module.mappings and not module.takes_every_kernel:
        from . import mapping_lints

        findings.append(mapping_lints.check(module, kernels))
    for finding in chain(*findings, image_lints.check(module)):
        yield finding._replace(ref=module.ref)


def check_without_parts(module: Module) -> Iterator[Result]:
    """Yield the lints of this file alone: among them are all that look at the Module's name or selector."""
    for finding in apply(RULES, module):
        yield finding._replace(ref=module.ref)


def _selector_is_not_empty(module: Module) -> Iterator[Result]:
    if module.spec.get("selector") == {}:
        message = "selector {} is every node of the cluster, control plane included"
        yield warning(message, field=Field("spec.selector"), remedy="name labels of the nodes meant")


KRM201 = Rule(
    "KRM201",
    "a selector should name labels; {} selects every node of the cluster, including the control plane",
    good='spec: {selector: {example.com/gpu: "true"}}\n',
    bad="spec: {selector: {}}\n",
    remedy="Name labels that only the nodes with the device have.",
    held=oracles.KUBERNETES_LABELS,
    check=_selector_is_not_empty,
    severities=("warning",),
    advice=True,
)


def _role_labels_are_empty(module: Module) -> Iterator[Result]:
    for key, value in table(module.spec, "selector").items():
        if str(key).startswith("node-role.kubernetes.io/") and isinstance(value, str) and value:
            problem = f'has the value "" where Kubernetes sets it, not {quote(value)}: no node would match'
            yield warning(
                f"the label {key} {problem}", field=Field(join(("spec", "selector", key)), value, ""), remedy='write ""'
            )


KRM202 = Rule(
    "KRM202",
    'a node-role.kubernetes.io/ label in a selector should have the value "": Kubernetes sets no other',
    good='spec: {selector: {node-role.kubernetes.io/worker: ""}}\n',
    bad='spec: {selector: {node-role.kubernetes.io/worker: "true"}}\n',
    remedy='Write "" as the value.',
    held=oracles.KUBERNETES_LABELS,
    check=_role_labels_are_empty,
    severities=("warning",),
    advice=True,
)


def _version_is_a_label_value(module: Module) -> Iterator[Result]:
    if not (version := module.version):
        return
    from ..names import label_value_errors  # here, since most Modules have no version

    if label_value_errors(version):
        remedy = "use letters, digits, '-', '_' and '.', at most 63, with a letter or digit at both ends"
        problem = "is not a valid label value, so no node can be labelled with it and nothing ever loads"
        message = f"version {quote(version)} {problem}"
        yield error(message, field=Field(f"{CONTAINER}.version", version), remedy=remedy)


KRM203 = Rule(
    "KRM203",
    "a Module's version must be a valid label value: nodes carry it as a label, and no node can carry `1.2+build`",
    good="spec: {moduleLoader: {container: {version: 1.2-build}}}\n",
    bad="spec: {moduleLoader: {container: {version: 1.2+build}}}\n",
    remedy="Use only letters, digits, '-', '_' and '.', at most 63 characters.",
    held=oracles.KUBERNETES_LABELS,
    check=_version_is_a_label_value,
    advice=True,
)


def _name_has_no_dots(module: Module) -> Iterator[Result]:
    name = module.ref.name
    if "." in name and module.version:
        message = f"name {name} has dots: KMM takes the last two parts of its version label for namespace and name, "
        field = Field("metadata.name", name)
        yield warning(message + "so the ordered upgrade breaks", field=field, remedy="replace the dots with '-'")
    elif name.endswith(".version"):
        message = f"name {name} ends in .version: its ready label is the version label of Module "
        field = Field("metadata.name", name)
        yield warning(message + name.removesuffix(".version"), field=field, remedy="rename one of the two")


KRM204 = Rule(
    "KRM204",
    "a Module's name should not contain dots: KMM splits its node labels at dots and takes the last two parts",
    good="""\
metadata: {name: gpu-v2}
spec: {moduleLoader: {container: {version: "2.0"}}}
""",
    bad="""\
metadata: {name: gpu.v2}
spec: {moduleLoader: {container: {version: "2.0"}}}
""",
    remedy="Replace the dots with '-'; a Module that is already on the cluster then gets another name (see KRM406).",
    held=oracles.LABEL_CONTROLLER,
    check=_name_has_no_dots,
    severities=("warning",),
    advice=True,
)


def _parameters_have_no_spaces(module: Module) -> Iterator[Result]:
    for index, parameter in enumerate(texts(module.modprobe, "parameters")):
        if any(char.isspace() for char in parameter):
            problem = "has a space, so modprobe reads it as several"
            field = Field(f"{MODPROBE}.parameters[{index}]", parameter)
            yield warning(f"parameter {quote(parameter)} {problem}", field=field, remedy="write an entry for each")


KRM205 = Rule(
    "KRM205",
    "a modprobe parameter should not contain spaces: they separate parameters on modprobe's command line",
    good='spec: {moduleLoader: {container: {modprobe: {parameters: ["queues=8", "debug=1"]}}}}\n',
    bad='spec: {moduleLoader: {container: {modprobe: {parameters: ["queues=8 debug=1"]}}}}\n',
    remedy="Write an entry for each parameter.",
    held=oracles.WORKER,
    check=_parameters_have_no_spaces,
    severities=("warning",),
    advice=True,
)


def _firmware_path_is_absolute(module: Module) -> Iterator[Result]:
    if (path := text(module.modprobe, "firmwarePath")) and not path.startswith("/"):
        problem = "is relative, so what KMM copies depends on the image's working directory"
        message = f"firmwarePath {quote(path)} {problem}"
        yield warning(
            message,
            field=Field(f"{MODPROBE}.firmwarePath", path, f"/{path}"),
            remedy=f"write {quote('/' + path)} if that is where the firmware is",
        )
    if (path := text(module.modprobe, "modprobedDir")) and not path.startswith("/"):
        message = f"modprobedDir {quote(path)} must be a well-formed absolute path: KMM refuses any other"
        yield error(
            message, field=Field(f"{MODPROBE}.modprobedDir", path, f"/{path}"), remedy=f"write {quote('/' + path)}"
        )


KRM208 = Rule(
    "KRM208",
    "a firmwarePath should begin with /: KMM copies a relative one from the working directory; it refuses such a "
    "modprobedDir",
    good="spec: {moduleLoader: {container: {modprobe: {firmwarePath: /firmware}}}}\n",
    bad="spec: {moduleLoader: {container: {modprobe: {firmwarePath: firmware}}}}\n",
    remedy="Write the absolute path of the folder in the image.",
    held=oracles.WORKER,
    check=_firmware_path_is_absolute,
    severities=("warning", "error"),
    advice=True,
)

RULES = (KRM201, KRM202, KRM203, KRM204, KRM205, KRM208)
