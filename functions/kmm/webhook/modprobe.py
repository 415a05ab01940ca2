"""The webhook's rules about modprobe and about the files to sign. Source: KMM v2.4.0 to main, internal/webhook."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn.results import Result

from ..gotext import quote
from ..lookup import Table, has, listing, table, tables, text, texts
from ..rule import Rules, apply, refused
from ..versions import Target

MODPROBE = "spec.moduleLoader.container.modprobe"
ORDER = f"{MODPROBE}.modulesLoadingOrder"
DEFAULT_DIR = "/opt"


def check(container: Table, target: Target) -> Iterator[Result]:
    """Yield the findings about modprobe, then about each sign section, in the webhook's order."""
    if has(container, "modprobe"):
        yield from apply(MODPROBE_RULES, table(container, "modprobe"), prefix=target.modprobe_prefix)
    if target.sign_files:
        directory = dir_name(container)
        if has(container, "sign"):
            where = "spec.moduleLoader.container.sign"
            yield from apply(SIGN_RULES, table(container, "sign"), where, directory, prefix="global Sign: ")
        for index, entry in tables(container, "kernelMappings"):
            if has(entry, "sign"):
                where = f"spec.moduleLoader.container.kernelMappings[{index}].sign"
                prefix = f"kernelMappings[{index}].Sign: "
                yield from apply(MAPPING_SIGN_RULES, table(entry, "sign"), where, directory, prefix=prefix)


def dir_name(container: Table) -> str:
    """modprobe.dirName after the CRD's defaulting; an explicit "" stays."""
    given = table(container, "modprobe").get("dirName")
    return given if isinstance(given, str) else DEFAULT_DIR


def no_raw_args_with_a_name(modprobe: Table) -> Iterator[Result]:
    """KMM028: with moduleName there are no rawArgs. KMM 1.1+."""
    load, unload = _raw_args(modprobe)
    if text(modprobe, "moduleName") and (load or unload):
        yield refused("rawArgs cannot be set when moduleName is set", f"{MODPROBE}.rawArgs")


def raw_args_without_a_name(modprobe: Table) -> Iterator[Result]:
    """KMM029: without moduleName there are rawArgs, for load and for unload. KMM 1.1+."""
    load, unload = _raw_args(modprobe)
    if not text(modprobe, "moduleName") and not (load and unload):
        message = "load and unload rawArgs must be set when moduleName is unset"
        yield refused(message, f"{MODPROBE}.moduleName", modprobe.get("moduleName"))


def order_has_two(modprobe: Table) -> Iterator[Result]:
    """KMM030: a loading order has two values at least. KMM 1.1+; [] counts as an order."""
    order = listing(modprobe, "modulesLoadingOrder")
    if order is not None and len(order) < 2:
        yield refused("if a loading order is defined, at least two values must be defined", ORDER, order)


def order_needs_a_name(modprobe: Table) -> Iterator[Result]:
    """KMM031: with a loading order there is a moduleName. KMM 1.1+."""
    if listing(modprobe, "modulesLoadingOrder") is not None and not text(modprobe, "moduleName"):
        yield refused("if a loading order is defined, moduleName must be set", f"{MODPROBE}.moduleName")


def order_starts_with_the_name(modprobe: Table) -> Iterator[Result]:
    """KMM032: a loading order starts with moduleName. KMM 1.1+."""
    order, name = texts(modprobe, "modulesLoadingOrder"), text(modprobe, "moduleName")
    if order and name and order[0] != name:
        message = "if a loading order is defined, the first element must be moduleName"
        yield refused(message, f"{ORDER}[0]", order[0])


def order_has_no_twins(modprobe: Table) -> Iterator[Result]:
    """KMM033: a loading order names no module twice. KMM 1.1+."""
    seen = set()
    for index, name in enumerate(texts(modprobe, "modulesLoadingOrder")):
        if name in seen:
            yield refused(f"{quote(name)}: duplicate value in the loading order list", f"{ORDER}[{index}]", name)
        seen.add(name)


def sign_has_files(sign: Table, path: str, directory: str) -> Iterator[Result]:
    """KMM034: the container's sign section lists files to sign. KMM 2.6+."""
    yield from _has_files(sign, path)


def sign_files_are_in_the_directory(sign: Table, path: str, directory: str) -> Iterator[Result]:
    """KMM035: the container's files to sign lie under modprobe.dirName (`/opt` when not set). KMM 2.6+."""
    yield from _in_directory(sign, path, directory)


def mapping_sign_has_files(sign: Table, path: str, directory: str) -> Iterator[Result]:
    """KMM036: a kernel mapping's sign section lists files of its own, also when the container's does. KMM 2.6+."""
    yield from _has_files(sign, path)


def mapping_sign_files_are_in_the_directory(sign: Table, path: str, directory: str) -> Iterator[Result]:
    """KMM037: a kernel mapping's files to sign lie under modprobe.dirName (`/opt` when not set). KMM 2.6+."""
    yield from _in_directory(sign, path, directory)


def _has_files(sign: Table, path: str) -> Iterator[Result]:
    if not listing(sign, "filesToSign"):
        yield refused("filesToSign is required when Sign is set", f"{path}.filesToSign")


def _in_directory(sign: Table, path: str, directory: str) -> Iterator[Result]:
    for index, file in enumerate(texts(sign, "filesToSign")):
        if not file.startswith(directory + "/"):
            message = f"filesToSign[{quote(file)}] must be under dirName {quote(directory)}"
            yield refused(message, f"{path}.filesToSign[{index}]", file)


def _raw_args(modprobe: Table) -> tuple[bool, bool]:
    raw = table(modprobe, "rawArgs")
    return bool(listing(raw, "load")), bool(listing(raw, "unload"))


MODPROBE_RULES: Rules = (
    ("KMM028", no_raw_args_with_a_name),
    ("KMM029", raw_args_without_a_name),
    ("KMM030", order_has_two),
    ("KMM031", order_needs_a_name),
    ("KMM032", order_starts_with_the_name),
    ("KMM033", order_has_no_twins),
)
SIGN_RULES: Rules = (
    ("KMM034", sign_has_files),
    ("KMM035", sign_files_are_in_the_directory),
)
MAPPING_SIGN_RULES: Rules = (
    ("KMM036", mapping_sign_has_files),
    ("KMM037", mapping_sign_files_are_in_the_directory),
)
RULES: Rules = MODPROBE_RULES + SIGN_RULES + MAPPING_SIGN_RULES
