"""Checks of annotations and labels: the keys with our prefix, and the local-config mark under kustomize."""

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from krmfn import Field, Item, ResourceList, Result, error, warning
from krmfn.item import LOCAL
from krmfn.ownership import OWNER, PASSED_ON
from krmfn.printing import closest, is_similar, only_similar
from krmfn.results import MEND, RENAME, Facts

from .. import oracles
from ..fleet.readings import previous_name
from ..mistake import Mistake
from ..rule import Rule
from . import ignoring
from .generated import Finding
from .ignoring import IGNORE
from .kinds import CONFIG, INVENTORY, OURS, PROFILE, PROFILE_MARK, Kinds, is_custom, of_kinds

KNOWN = {"annotations": (IGNORE, PROFILE_MARK, OWNER, PASSED_ON), "labels": (f"{OURS}/daemonset", f"{OURS}/served-by")}
"""Every key with our prefix that means something, by where it stands."""
_MARK = f'{LOCAL}: "true"'
_ONLY_READ = "is only read, but would be deployed"


def check(item: Item) -> Iterator[Result]:
    """Yield the findings about keys with our prefix, or a similar one, and about the rules that the item turns off."""
    annotations = item.annotations
    for part, keys in (("annotations", annotations), ("labels", item.labels)):
        for key in keys:
            if wrong := mistake(part, key):
                field, facts = Field(f"metadata.{part}[{key}]"), _mend(part, key, keys)
                finding = error(wrong.message, rule="KRM118", field=field, facts=facts, remedy=wrong.remedy)
                yield item.located(finding)
    if PROFILE_MARK in annotations and not is_custom(item.group) and OWNER not in annotations:
        message = f"has no effect on a {item.kind}: only a DeviceConfig has a profile"
        field = Field(f"metadata.annotations[{PROFILE_MARK}]")
        yield item.located(warning(message, rule="KRM118", field=field, remedy="remove it"))
    elif annotations.get(PROFILE_MARK) == "":
        remedy = "write the name of a Profile, `none` for a config that its own operator acts on, or remove it"
        field = Field(f"metadata.annotations[{PROFILE_MARK}]")
        yield item.located(warning("is empty and says nothing", rule="KRM118", field=field, remedy=remedy))
    if IGNORE in annotations:
        yield from ignoring.check(item)


def inputs_are_marked(resources: ResourceList, handled: Kinds) -> Iterator[Result]:
    """Yield a warning per input that kustomize would deploy; one for all Nodes."""
    inputs = {*handled, CONFIG, INVENTORY, PROFILE}
    for item in (item for item in of_kinds(resources.items, inputs) if not item.is_local):
        is_rendered = (item.group, item.kind) in handled
        message = "would be deployed with its generated objects" if is_rendered else _ONLY_READ
        yield item.located(warning(message, rule="KRM104", remedy=f"mark it with the annotation {_MARK}"))
    if nodes := [item for item in resources.where(kind="Node", group="") if not item.is_local]:
        others = f", and so would {len(nodes) - 1:,} more" if len(nodes) > 1 else ""
        remedy = f"mark {'each' if others else 'it'} with the annotation {_MARK}"
        first = nodes[0].ref._replace(name=previous_name(nodes[0]))
        yield warning(f"{_ONLY_READ}{others}", rule="KRM104", ref=first, remedy=remedy)


def marks_are_of_use(configs: Iterable[Item]) -> Iterator[Finding]:
    """Yield a warning per config with the local-config mark; for a kustomization that calls no function of ours."""
    for item in configs:
        if item.is_local:
            message = (
                "is marked for a function that this kustomization does not call: a plain `kustomize build` leaves it "
                "out and says nothing, so a sync of that prunes its drivers"
            )
            field = Field(f"metadata.annotations[{LOCAL}]")
            yield (
                item.ref,
                item.located(
                    warning(
                        message,
                        rule="KRM190",
                        field=field,
                        remedy="remove the annotation (`krmfn render` leaves the config out by itself)",
                    )
                ),
            )


@lru_cache(maxsize=4096)
def mistake(part: str, key: str) -> Mistake | None:
    """Return what is wrong with a key in `part` of the metadata; None when it has a meaning there, or is not ours."""
    other = "labels" if part == "annotations" else "annotations"
    if key in KNOWN[part]:
        return None
    if key in KNOWN[other]:
        return Mistake(f"has no effect in metadata.{part}", f"move it to metadata.{other}")
    known = KNOWN[part] + KNOWN[other]
    prefix, slash, _ = key.lower().partition("/")
    is_ours = is_similar(prefix, OURS) or prefix.endswith(f".{OURS}") or prefix.split(".")[0] == "krmfn"
    if not (slash and is_ours) and not any(is_similar(key, name) for name in known):
        return None
    names = {name.partition("/")[2]: name for name in known}
    if close := closest(key.rpartition("/")[2], names):
        return Mistake("is not a known key", f"did you mean {names[close]}?")
    return Mistake(
        f"is not a known key, and the prefix {OURS}/ is reserved", "choose another prefix, or remove the key"
    )


def _mend(part: str, key: str, keys: Collection[str]) -> Facts:
    """Return the fact with the one known key that a key of the metadata is similar to; none where it is there."""
    name = only_similar(key, KNOWN[part] + KNOWN["labels" if part == "annotations" else "annotations"])
    return ((MEND, (RENAME, key, name)),) if name in KNOWN[part] and name not in keys else ()


KRM104 = Rule(
    "KRM104",
    "under kustomize, a resource that is only read should have the annotation config.kubernetes.io/local-config",
    good="""\
metadata:
  annotations:
    config.kubernetes.io/local-config: "true"
    kustomize.config.k8s.io/id: "1"
""",
    bad="""\
metadata:
  annotations:
    kustomize.config.k8s.io/id: "1"
""",
    remedy='Add the annotation `config.kubernetes.io/local-config: "true"` to configs, functionConfigs and Nodes.',
    held=oracles.KUSTOMIZE_BUILDS,
    severities=("warning",),
)

KRM118 = Rule(
    "KRM118",
    "an annotation or label with the prefix krmfn.dev/, or a misspelling of it, must be a known key in its right place",
    good="""\
metadata: {annotations: {krmfn.dev/profile: gpu}}
---
kind: RenderDeviceConfigs
spec: {profiles: {gpu: {imagePullSecret: vendor}}}
""",
    bad="""\
metadata: {annotations: {krmfn.dev/profil: gpu}}
---
kind: RenderDeviceConfigs
spec: {profiles: {gpu: {imagePullSecret: vendor}}}
""",
    remedy="Correct the key, move it to where it belongs, or remove it; the prefix krmfn.dev/ is reserved.",
    held=oracles.OUR_KINDS,
    severities=("error", "warning"),
)

KRM190 = Rule(
    "KRM190",
    "a config should have the annotation config.kubernetes.io/local-config only where a kustomization calls krmfn",
    good="""\
# kustomization.yaml
resources: [config.yaml]
---
# config.yaml
kind: DeviceConfig
""",
    bad="""\
# kustomization.yaml
resources: [config.yaml]
---
# config.yaml
kind: DeviceConfig
metadata: {annotations: {config.kubernetes.io/local-config: "true"}}
""",
    remedy="Remove the annotation: a plain `kustomize build` then hands the config to a cluster that does not know "
    "its kind, so the sync fails, and nothing is pruned.",
    held=oracles.KUSTOMIZE_BUILDS,
    severities=("warning",),
    advice=True,
)

RULES = (KRM104, KRM118, KRM190)
"""The rules about annotations and labels: `check`, `inputs_are_marked` and `marks_are_of_use`."""
