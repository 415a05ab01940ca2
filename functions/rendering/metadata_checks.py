"""Checks of annotations and labels: the keys with our prefix, and the local-config mark under kustomize."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from krmfn import Item, Ref, ResourceList, Result, error, warning
from krmfn.ownership import OWNER, PASSED_ON
from krmfn.resource import ref
from krmfn.results import Field

from . import claims
from .function_config import FunctionConfig
from .generated import Generated
from .kinds import OURS, SEED
from .suspects import near

IGNORE, PROFILE = f"{OURS}/ignore", f"{OURS}/profile"
ASIDE = f"{OURS}/aside-while-kustomize-builds"
KNOWN = {
    "annotations": (IGNORE, PROFILE, OWNER, PASSED_ON, ASIDE),
    "labels": (f"{OURS}/daemonset", f"{OURS}/served-by"),
}
"""Every key with our prefix that means something, by where it stands."""
_OWN_WARNINGS = frozenset({"KRM127", "KRM132", "KRM142", "KRM143", "KRM144"})
"""Rules about our own kinds that are not always errors; an error of theirs stays all the same."""
_ABOUT_CHANGES = frozenset(f"KRM40{number}" for number in range(1, 9))
"""The rules about changes, which `diff` applies; a test holds them against `upgrades.change_rules`."""
_LOCAL = "config.kubernetes.io/local-config"
_MARK = f'{_LOCAL}: "true"'
_ONLY_READ = "is only read here, but would be deployed"


def check(item: Item) -> Iterator[Result]:
    """Yield the findings about an item's keys with our prefix, and about the rules that it turns off."""
    yield from keys_mean_something(item)
    if IGNORE in item.annotations:
        names = [entry.partition(":")[0].strip() for entry in item.annotations[IGNORE].split(";") if entry.strip()]
        yield from map(item.located, rules_can_be_turned_off(names, f"metadata.annotations[{IGNORE}]"))


def keys_mean_something(item: Item) -> Iterator[Result]:
    """KRM118: an annotation or label with our prefix, or nearly, means something where it stands."""
    for part, keys in (("annotations", item.annotations), ("labels", item.labels)):
        for key in keys:
            message = _meaning(part, key)
            if message:
                yield item.located(error(message, rule="KRM118", field=Field(f"metadata.{part}[{key}]")))
    if PROFILE in item.annotations and (item.kind != "DeviceConfig" or item.group not in (OURS, SEED)):
        message = f"has no effect on a {item.kind}: only a DeviceConfig has a profile"
        yield item.located(warning(message, rule="KRM118", field=Field(f"metadata.annotations[{PROFILE}]")))


def of_generated(objects: Iterable[Generated]) -> Iterator[Result]:
    """Yield errors about keys with our prefix that a config passes on to its objects and that mean nothing there."""
    for one in objects:
        metadata = one.manifest["metadata"]
        for part in ("annotations", "labels"):
            for key in metadata.get(part, {}):
                message = "has no effect on what is generated" if key == PROFILE else _meaning(part, key)
                if message:
                    message = f"generated from {one.owner}: {message}"
                    own, field = ref(one.manifest), Field(f"metadata.{part}[{key}]")
                    yield error(message, rule="KRM118", ref=own, field=field, place=one.item.place)


def rules_can_be_turned_off(names: Iterable[str], path: str) -> Iterator[Result]:
    """KRM119: a rule that is turned off can be: a lint (KRM2xx), what `diff` says (KRM4xx), a warning about a field."""
    for name in names:
        message = _not_turned_off(name)
        if message:
            yield error(message, rule="KRM119", field=Field(path, name))


def of_function_config(config: FunctionConfig, function_config: Ref) -> Iterator[Result]:
    """Yield errors about rules that the functionConfig turns off and that cannot be turned off."""
    within = "data[ignore.{}]" if function_config.kind == "ConfigMap" else "spec.ignore.{}"
    for name in config.ignore:
        for finding in rules_can_be_turned_off([name], within.format(name)):
            yield finding._replace(ref=function_config, message=f"{finding.message} (in the functionConfig)")


def inputs_are_marked(resources: ResourceList, handled: Collection[tuple[str, str]]) -> Iterator[Result]:
    """KRM104: under kustomize, what is read and not deployed is marked with config.kubernetes.io/local-config."""
    if not any(map(claims.is_from_kustomize, resources.items[:1])):
        return
    read = {*handled, (OURS, "RenderDeviceConfigs")}
    kinds = {kind for _, kind in read}
    for item in resources.items:
        if item.kind in kinds and (item.group, item.kind) in read and _is_deployed(item):
            message = (
                "would be deployed with its generated objects" if (item.group, item.kind) in handled else _ONLY_READ
            )
            yield item.located(warning(f"{message}; mark it with the annotation {_MARK}", rule="KRM104"))
    nodes = [node for node in resources.select("Node", "") if _is_deployed(node)]
    if nodes:
        others = f", and so would {len(nodes) - 1:,} more; mark each" if len(nodes) > 1 else "; mark it"
        first = nodes[0].ref._replace(name=claims.former_name(nodes[0]))
        yield warning(f"{_ONLY_READ}{others} with the annotation {_MARK}", rule="KRM104", ref=first)


def _is_deployed(item: Item) -> bool:
    return item.string("metadata", "annotations", _LOCAL) != "true"


@lru_cache(maxsize=4096)
def _meaning(part: str, key: str) -> str:
    """Return why a key means nothing in `part` of the metadata; "" when it does, or is not ours."""
    other = "labels" if part == "annotations" else "annotations"
    if key in KNOWN[part]:
        return ""
    if key in KNOWN[other]:
        return f"means nothing as one of the {part}; it belongs to metadata.{other}"
    known = KNOWN[part] + KNOWN[other]
    prefix, slash, _ = key.partition("/")
    ours = near(prefix, OURS) or prefix.lower().endswith(f".{OURS}") or prefix.lower().split(".")[0] == "krmfn"
    if not (slash and ours) and not any(near(key, name) for name in known):
        return ""
    from difflib import get_close_matches

    names = {name.partition("/")[2]: name for name in known}
    close = get_close_matches(key.rpartition("/")[2].lower(), names, 1, 0.6)
    if close:
        return f"is not a known key; did you mean {names[close[0]]}?"
    return f"is not a known key, and the prefix {OURS}/ is reserved; choose another prefix, or remove the key"


def _not_turned_off(name: str) -> str:
    """Return why a rule's id turns nothing off; "" when it does."""
    from .. import kmm
    from ..kmm import lints

    # KRM231 is about all Modules together; KMM's own rules are the cluster's.
    can = {rule for rule, _ in lints.RULES if rule.startswith("KRM")} - {"KRM231"} | _OWN_WARNINGS | _ABOUT_CHANGES
    if name in can:
        return ""
    if name in dict(kmm.rules()) and name.startswith("KMM"):
        return f"{name} is what the cluster itself refuses and cannot be turned off; correct what it reports"
    # KRM301 is a rule of its own, about nodes, and no misspelt KRM201.
    sure = len(name) == len("KRM301") and name[:3] == "KRM" and name[3] in "13"
    close = [] if sure else sorted((rule for rule in can if near(name, rule)), key=lambda rule: rule != name.upper())
    hint = f"; did you mean {close[0]}?" if close else "; the command `rules` prints all rules"
    own = ", ".join(sorted(_OWN_WARNINGS))
    return (
        f"{name or 'nothing'} is no rule that can be turned off (lints, KRM2xx; what `diff` says, KRM4xx; {own}){hint}"
    )
