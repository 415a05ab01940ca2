"""The lint about kernel modules that replace one of Linux's own: KMM must remove that one first.

Source: KMM v2.4.0 to main, cmd/worker; kmod's modprobe, which succeeds when a kernel module of the name is loaded.
"""

from collections.abc import Iterator

from krmfn import Field, Result, warning

from ... import oracles
from ...rule import Rule, apply
from ..in_tree import DRIVERS, may_have, may_meet, takes_red_hat
from ..lookup import Table, text
from ..module import CONTAINER, IN_TREE, MAPPINGS, Module, kernel_name, removed_modules


def check(module: Module) -> Iterator[Result]:
    """Yield the lints about a Module that loads a kernel module with the name of one that Linux has."""
    return apply(RULES, module)


def _in_tree_goes_first(module: Module) -> Iterator[Result]:
    """Yield a warning per name, at the list that lacks it, else where it is loaded."""
    loaded: dict[str, str] = {}
    for path, name in module.loading_fields():
        loaded.setdefault(kernel_name(name), path)
    known = set[tuple[Field, str]]()
    for index, entry in enumerate(module.mappings[: _judged(module)] if loaded.keys() & DRIVERS.keys() else ()):
        removed = {*map(kernel_name, removed_modules(module, entry))}
        for name, path in loaded.items():
            field = _list_field(module, index) or Field(path)
            if name in DRIVERS and name not in removed and (field, name) not in known and _takes(entry, name):
                known.add((field, name))
                since = "{}.{}".format(*DRIVERS[name].since)
                problem = f"loads {name}, which Linux has itself since {since}: while that one is loaded"
                message = f"{problem}, modprobe succeeds and loads nothing"
                yield warning(message, field=field, remedy=f"add {name} to {IN_TREE[0]}")


def _judged(module: Module) -> int:
    """Return how many of the mappings have regexps that are judged, from the first on."""
    regexps = tuple(text(entry, "regexp") for entry in module.mappings)
    if all(map(takes_red_hat, regexps)):
        return len(regexps)
    from ..regexps import judged  # here: few Modules have others

    return judged(regexps)


def _list_field(module: Module, index: int) -> Field | None:
    """Return the field with the list that counts for a mapping; None where there is none."""
    for path, holder in ((f"{MAPPINGS}[{index}]", module.mappings[index]), (CONTAINER, module.container)):
        for key in IN_TREE:
            if key in holder:
                return Field(f"{path}.{key}")
    return None


def _takes(entry: Table, name: str) -> bool:
    """Return whether a mapping is for a kernel that may have this kernel module itself."""
    literal = text(entry, "literal")
    return may_have(literal, name) if literal else may_meet(text(entry, "regexp"), name)


KMM089 = Rule(
    "KMM089",
    "a Module should remove the kernel's own module of the name that it loads: modprobe loads no second one",
    good="""\
spec: {moduleLoader: {container: {modprobe: {moduleName: ice}, inTreeModulesToRemove: [irdma, ice]}}}
""",
    bad="spec: {moduleLoader: {container: {modprobe: {moduleName: ice}}}}\n",
    remedy="List the kernel module in `inTreeModulesToRemove`, after those that use it; KMM removes it only where the "
    "kernel has it. Ignore the finding where nodes never load it, for example because their image blacklists it.",
    held=oracles.WORKER,
    check=_in_tree_goes_first,
    severities=("warning",),
    advice=True,
)

RULES = (KMM089,)
