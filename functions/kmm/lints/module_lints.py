"""Lints about a Module's name, selector, version, parameters and sign section."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn.fieldpath import join
from krmfn.resource import Manifest, ref
from krmfn.results import Field, Result, error, warning

from ..gotext import quote
from ..lookup import Table, has, table, tables, text, texts
from ..names import is_label_value
from ..rule import Rules
from ..versions import Target
from ..webhook.modprobe import MODPROBE, dir_name

CONTAINER = "spec.moduleLoader.container"
IGNORED_BUILD = ("selector", "kanikoParams", "baseImageRegistryTLS")


def _container(module: Manifest) -> Table:
    return table(module, "spec", "moduleLoader", "container")


def selector_is_not_empty(module: Manifest, kmm: Target) -> Iterator[Result]:
    """KRM201: a selector names labels; {} is every node of the cluster, control plane included."""
    if table(module, "spec").get("selector") == {}:
        message = "selector {} is every node of the cluster, control plane included; name labels of the nodes meant"
        yield warning(message, field=Field("spec.selector"))


def role_labels_are_empty(module: Manifest, kmm: Target) -> Iterator[Result]:
    """KRM202: a selector's node-role.kubernetes.io/ labels have the value "": Kubernetes sets no other."""
    for key, value in table(module, "spec", "selector").items():
        if str(key).startswith("node-role.kubernetes.io/") and isinstance(value, str) and value:
            message = (
                f'the label {key} has the value "" where Kubernetes sets it, not {quote(value)}: no node would match'
            )
            yield warning(message, field=Field(join(("spec", "selector", key)), value, ""))


def version_is_a_label_value(module: Manifest, kmm: Target) -> Iterator[Result]:
    """KRM203: a Module's version is a label value: nodes carry it, and no node can carry `1.2+build`."""
    version = text(_container(module), "version")
    if not is_label_value(version):
        message = (
            f"version {quote(version)} is no label value, so no node can be labelled with it and nothing ever loads; "
            "use letters, digits, '-', '_' and '.', at most 63, with a letter or digit at both ends"
        )
        yield error(message, field=Field(f"{CONTAINER}.version", version))


def name_has_no_dots(module: Manifest, kmm: Target) -> Iterator[Result]:
    """KRM204: a Module's name has no dots: KMM splits its node labels at dots and takes the last two parts."""
    name = ref(module).name
    if "." in name and text(_container(module), "version"):
        message = f"name {name} has dots: KMM takes the last two parts of its version label for namespace and name, "
        yield warning(message + "so the ordered upgrade breaks", field=Field("metadata.name", name))
    elif name.endswith(".version"):
        message = f"name {name} ends in .version: its ready label is the version label of Module "
        yield warning(message + name.removesuffix(".version"), field=Field("metadata.name", name))


def parameters_have_no_spaces(module: Manifest, kmm: Target) -> Iterator[Result]:
    """KRM205: a modprobe parameter has no spaces: they separate parameters on modprobe's command line."""
    for index, parameter in enumerate(texts(table(_container(module), "modprobe"), "parameters")):
        if any(char.isspace() for char in parameter):
            message = f"parameter {quote(parameter)} has a space, which makes it several for modprobe; one entry each"
            yield warning(message, field=Field(f"{MODPROBE}.parameters[{index}]", parameter))


def signed_files_are_in_the_directory(module: Manifest, kmm: Target) -> Iterator[Result]:
    """KRM206: files to sign are listed and lie under modprobe.dirName. KMM before 2.6 does not ask."""
    container = _container(module)
    holders = [(CONTAINER, container)]
    holders += [(f"{CONTAINER}.kernelMappings[{at}]", entry) for at, entry in tables(container, "kernelMappings")]
    directory = dir_name(container)
    for path, holder in holders if not kmm.sign_files else ():
        files = texts(table(holder, "sign"), "filesToSign")
        if has(holder, "sign") and not files:
            yield warning("sign without filesToSign signs nothing", field=Field(f"{path}.sign.filesToSign"))
        for index, file in enumerate(files):
            if not file.startswith(directory + "/"):
                message = f"{quote(file)} is not under modprobe.dirName {quote(directory)}, where the modules are"
                yield warning(message, field=Field(f"{path}.sign.filesToSign[{index}]", file))


def mapping_settings_count(module: Manifest, kmm: Target) -> Iterator[Result]:
    """KRM207: a mapping's build or sign has no setting that KMM ignores because the container has that section too."""
    container = _container(module)
    for index, entry in tables(container, "kernelMappings"):
        ignored = [("build", key) for key in IGNORED_BUILD] + [("sign", "unsignedImageRegistryTLS")]
        for section, key in ignored:
            if has(container, section) and table(entry, section).get(key) is not None:
                message = f"KMM ignores this: with a container-level {section} section it takes {key} from there"
                yield warning(message, field=Field(f"{CONTAINER}.kernelMappings[{index}].{section}.{key}"))


def firmware_path_is_absolute(module: Manifest, kmm: Target) -> Iterator[Result]:
    """KRM208: a firmwarePath begins with /: KMM copies a relative one from the image's working directory."""
    path = text(table(_container(module), "modprobe"), "firmwarePath")
    if path and not path.startswith("/"):
        message = (
            f"firmwarePath {quote(path)} is relative, so what KMM copies depends on the image's working directory; "
            f"write {quote('/' + path)} if that is where the firmware is"
        )
        yield warning(message, field=Field(f"{MODPROBE}.firmwarePath", path, f"/{path}"))


RULES: Rules = (
    ("KRM201", selector_is_not_empty),
    ("KRM202", role_labels_are_empty),
    ("KRM203", version_is_a_label_value),
    ("KRM204", name_has_no_dots),
    ("KRM205", parameters_have_no_spaces),
    ("KRM206", signed_files_are_in_the_directory),
    ("KRM207", mapping_settings_count),
    ("KRM208", firmware_path_is_absolute),
)
