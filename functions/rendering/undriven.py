"""Configs that nothing drives: a Profile that is gone, misspelt or for another version must not unload a driver."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from krmfn import Field, Item, ResourceList, Result, error, info, warning
from krmfn.ownership import OWNER
from krmfn.printing import closest, did_you_mean, is_similar, some
from krmfn.resource import join

from .. import oracles
from ..likeness import similar_words
from ..rule import Rule
from ..run import run_of
from . import function_config, kinds
from .function_config import FunctionConfig
from .kinds import DEVICECONFIG, OURS, OWN, PROFILE_MARK, PTEMPLATE_GROUP, SEED, Kinds, is_custom, is_foreign

_KINDS = ("DeviceConfig", "Profile", "RenderDeviceConfigs", "NodeInventory", "Ptemplate")
_BEFORE = "before, nothing drove this {}: what its own operator has made of it is not compared"


def check(
    resources: ResourceList, handled: Kinds, config: FunctionConfig, misspelt: Collection[int]
) -> Iterator[Result]:
    """Yield a finding per config that nothing drives, and per resource that names a missing Profile.

    `misspelt` are items by their id() that are left out: another finding is about their kind.
    """
    yield from _driven_twice(resources, handled, config) if config.operators else ()
    pairs = _kinds(resources, handled, config)
    # configs of these two groups have a field for their profile, which KRM111 is about
    marked = {id(item) for item in resources.mentioning(PROFILE_MARK) if item.group not in (OURS, SEED)}
    names = {"DeviceConfig", *(kind for _, kind in pairs)}  # looked at first: the group costs more
    items = [item for item in resources.items if id(item) in marked or (item.kind in names and item.group not in OWN)]
    if not items:
        return
    run = run_of(resources)
    report = warning if run.settings.intent.is_old else error
    is_judged = run.settings.intent.deploys or run.settings.intent.is_old or any_of_ours(resources)
    unjudged: dict[str, list[Item]] = {}
    for item in items:
        mark, pair = item.annotations.get(PROFILE_MARK, ""), (item.group, item.kind)
        is_config = item.group not in OWN and (item.kind == "DeviceConfig" or pair in pairs)
        is_generated = (
            OWNER in item.annotations and pair in DEVICECONFIG.kinds | config.extra_kinds.keys()
        )  # else the mark is wrong
        if id(item) in misspelt or is_generated or mark == "none" or pair in config.operators:
            continue
        # KRM118 is about marks on kinds that are not custom
        if config.product(item) if is_config else not (mark and is_custom(item.group)):
            continue
        if mark or is_judged or pair in run.elsewhere:
            field = Field(f"metadata.annotations[{PROFILE_MARK}]", mark) if mark else None
            severity = report if mark or is_judged else warning
            message, remedy = _message(resources, item, mark, config)
            yield item.located(severity(message, rule="KRM107", field=field, remedy=remedy))
        else:
            unjudged.setdefault(item.group, []).append(item)
    yield from _of_others(unjudged)


def _of_others(items: Mapping[str, Sequence[Item]]) -> Iterator[Result]:
    """Yield a finding per group of other vendors from whose configs nothing is generated."""
    for group, (first, *rest) in items.items():
        others = f"; the same holds for {len(rest):,} more" if rest else ""
        outcome = f"nothing is generated from it, and it stays as it is{others}"
        message = f"belongs to another vendor's group, {group}: {outcome}"
        yield first.located(info(message, rule="KRM107"))


def _driven_twice(resources: ResourceList, handled: Kinds, config: FunctionConfig) -> Iterator[Result]:
    """Yield a finding per kind whose configs are driven by krmfn and, by an entry of `operators`, by their operator."""
    report = warning if run_of(resources).settings.intent.is_old else error
    for group, kind in sorted(config.operators.intersection(handled)):
        configs = (item for item in resources.where(kind=kind, group=group) if not is_foreign(item))
        if first := next((item for item in configs if group in OWN or config.product(item)), None):
            product = config.product(first)
            driver = f"the Profile {product.name}" if product else "krmfn"
            mark = f", or write the annotation `{PROFILE_MARK}: none` on each {kind} that its operator acts on"
            remedy = f"remove this entry{mark if product else ''}"
            message = f"{group} {kind}: {driver} makes objects of {first.ref}, and its own operator would, too"
            field = Field("spec.operators")
            yield config.source.located(report(message, rule="KRM107", field=field, remedy=remedy))


def _kinds(resources: ResourceList, handled: Kinds, config: FunctionConfig) -> set[tuple[str, str]]:
    """Return the kinds of vendors' configs: those that a Profile is for or a mark names, and similar ones."""
    pairs = {*handled}
    if not run_of(resources).is_settled:
        marks = (item.mark for item in resources.marked())
        pairs |= {mark.owner[:2] for mark in marks if mark and mark.function == DEVICECONFIG.function}
        pairs |= run_of(resources).elsewhere.keys()
    groups_of: dict[str, list[str]] = {}
    for target, name in config.by_kind:
        groups_of.setdefault(name, []).append(target)
    known = frozenset(groups_of)
    for group, kind in {(item.group, item.kind) for item in resources.items} if known else ():
        groups = [target for name in similar_words(kind, known) for target in groups_of[name]]
        # groups that differ in a letter, or in what follows the last dot: nvidia.org
        stem = group.lower().rpartition(".")[0]
        if any(is_similar(group, target) or stem == target.rpartition(".")[0] != "" for target in groups):
            pairs.add((group, kind))
    return {pair for pair in pairs if pair[0] not in OWN}


def check_vanished(resources: ResourceList, before: Kinds) -> Iterator[Result]:
    """Yield an error per config of a kind that a Profile was for `before`, and that none is for any more."""
    config = function_config.read(resources)[0]
    for item in kinds.of_kinds(resources.items, {*before} - run_of(resources).driven - config.operators):
        if not is_foreign(item):
            message, remedy = _message(resources, item, "", config)
            yield item.located(error(f"{message}; before, a Profile drove it", rule="KRM107", remedy=remedy))


def check_adopted(old: ResourceList, new: ResourceList) -> Iterator[Result]:
    """Yield a finding per config that nothing drove in the `old` list, but for those that nothing drives in the new.

    The objects that their own operators have made are in neither list, so their changes are unknown.
    """
    driven = run_of(new).driven
    undriven = {item.ref for item in new.items if (item.group, item.kind) not in driven or is_foreign(item)}
    findings = [finding for finding in old.results if finding.rule == "KRM107" and finding.ref not in undriven]
    yield from findings
    known = undriven.union(finding.ref for finding in findings if finding.ref)
    for item in kinds.of_kinds(old.items, driven - run_of(old).driven):  # kinds that no Profile was for
        if item.ref not in known and not is_foreign(item):
            remedy = "run `krmfn adopt --live DUMP`, which compares it and prints the steps to Git"
            if (item.group, item.kind) not in run_of(new).kept:
                remedy += "; until they are taken, write `keep: true` in `for` of the Profile"
            yield item.located(warning(_BEFORE.format(item.kind), rule="KRM107", remedy=remedy))


def profile_findings(profile: str, field: str, config: FunctionConfig) -> list[Result]:
    """Return an error when neither a Profile nor the functionConfig defines `profile`; `field` is where it is named."""
    if not profile or profile in (*config.profiles, *config.products):
        return []
    names = some(sorted(config.profiles), len(config.profiles))
    known = [f"the functionConfig's spec.profiles has: {names}"] if names else []
    known += [f"Profiles: {some(sorted(config.products), len(config.products))}"] if config.products else []
    remedy = "list the Profile in the kustomization or in `profiles` of .krmfn.yaml, or define the profile in "
    remedy = "; ".join(known) or f"{remedy}spec.profiles of the functionConfig"
    message = f"profile {profile!r} is not defined{'' if known else ', and no other is'}"
    return [error(message, rule="KRM111", field=Field(field, profile), remedy=remedy)]


def overrides_nothing(resources: ResourceList, config: FunctionConfig) -> Iterator[Result]:
    """Yield a finding per overridden profile that is not defined: an error where the name of another is similar."""
    run, known = run_of(resources), [*config.profiles, *config.products]
    for name in (name for name in config.overrides if name not in run.named):
        for finding in profile_findings(name, join(("spec", "overrides", name)), config):
            if not closest(name, known, 0.8):
                if run.is_part:
                    continue  # a functionConfig of another cluster may have it
                is_alone = all((item.group, item.kind) in (kinds.CONFIG, kinds.PROFILE) for item in resources.items)
                message = f"{finding.message}, so this overrides nothing here"
                report = info if is_alone else warning
                finding = report(message, rule="KRM143", field=finding.field, remedy=finding.remedy)
            yield config.source.located(finding)


def any_of_ours(resources: ResourceList) -> bool:
    """Return True for a list with anything of ours, and for one that krmfn was called for with settings."""
    if resources.function_config or run_of(resources).is_settled or run_of(resources).has_ours:
        return True
    ours = resources.mentioning(OURS, PTEMPLATE_GROUP, SEED)
    return any((item.group in OWN and item.kind in _KINDS) or OWNER in item.annotations for item in ours) or any(
        item.mentions("krmfn") for item in resources.where(kind="Kptfile", group="kpt.dev")
    )


def _message(resources: ResourceList, item: Item, mark: str, config: FunctionConfig) -> tuple[str, str]:
    """Return why nothing drives a config, and what to do; `mark` is the Profile that its annotation names."""
    if run_of(resources).settings.intent.is_old:
        return _BEFORE.format(item.kind), ""
    profiles = config.by_kind.get((item.group, item.kind), [])
    known = some(sorted(config.products), len(config.products)) or "none"
    setting = f"`operators: [{{group: {item.group}, kind: {item.kind}}}]` in the functionConfig's spec"
    remedy = f"if its own operator acts on it, write the annotation `{PROFILE_MARK}: none` on it, or {setting}"
    if mark and mark not in config.products:
        hint = did_you_mean(mark, config.products, f"there are: {known}.", "'")
        return f"there is no Profile {mark!r}, so nothing is generated from this {item.kind}", f"{hint} Or {remedy}"
    if mark:
        outcome = "so nothing is generated from it"
        return f"the Profile {mark!r} is not for {item.api_version} {item.kind}, {outcome}", remedy
    if len([profile for profile in profiles if profile.drives(item)]) > 1:
        names = some(sorted(profile.name for profile in profiles), len(profiles))
        return f"several Profiles are for this kind: {names}", f"write the annotation `{PROFILE_MARK}: NAME` with one"
    if profiles:
        known_versions = [f"{item.group}/{version}" for profile in profiles for version in profile.versions]
        versions = some(known_versions, len(known_versions))
        return f"no Profile is for this version, {item.api_version}, but for {versions}, so nothing drives it", remedy
    if known_profile := run_of(resources).elsewhere.get((item.group, item.kind)):
        reason, listing = known_profile
        return reason, f"{listing}, or {remedy}"
    problem = f"there is no Profile for {item.group} {item.kind} (Profiles: {known})"
    return f"nothing drives this {item.kind}: {problem}", f"bring its Profile back, or {remedy}"


KRM107 = Rule(
    "KRM107",
    "a config of a vendor's kind must be driven by a Profile, or by an operator that is named, and not by both",
    good="""\
kind: RenderDeviceConfigs
spec: {operators: [{group: amd.com, kind: DeviceConfig}]}
---
apiVersion: amd.com/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
""",
    bad="""\
kind: RenderDeviceConfigs
spec: {}
---
apiVersion: amd.com/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
""",
    remedy="Add the Profile for its kind and version, or say that its own operator acts on it: with the annotation "
    "`krmfn.dev/profile: none`, or with `operators` in the functionConfig. `krmfn adopt` prints the steps from the "
    "operator to Git.",
    held=oracles.OUR_KINDS,
    severities=("error", "warning", "info"),
)

KRM111 = Rule(
    "KRM111",
    "a profile that a config or an override names must be a Profile or be defined in the functionConfig",
    good="""\
kind: RenderDeviceConfigs
spec: {profiles: {gpu: {imagePullSecret: vendor}}}
---
spec: {profile: gpu}
""",
    bad="""\
kind: RenderDeviceConfigs
spec: {profiles: {nic: {imagePullSecret: vendor}}}
---
spec: {profile: gpu}
""",
    remedy="Correct the name; or list the Profile in the kustomization or in `profiles` of .krmfn.yaml, or define "
    "the profile in `spec.profiles` of the functionConfig.",
    held=oracles.OUR_KINDS,
)

RULES = (KRM107, KRM111)
"""The rules about configs that nothing drives, or a profile that is not there."""
