"""Configs that nothing drives: no driver may vanish because a Profile is gone, misspelt or for another version."""

from collections.abc import Collection, Iterator

from krmfn import Field, Item, ResourceList, Result, error, info, warning
from krmfn.ownership import OWNER
from krmfn.printing import closest, did_you_mean
from krmfn.resource import join
from krmfn.results import Rule

from ..run import run_of
from . import function_config, kinds
from .function_config import FunctionConfig
from .kinds import DEVICECONFIG, OURS, OWN, PROFILE_MARK, PTEMPLATE_GROUP, SEED, Kinds, is_custom, is_foreign

_KINDS = ("DeviceConfig", "Profile", "RenderDeviceConfigs", "NodeInventory", "Ptemplate")
_BEFORE = "before, nothing drove this {}: what its own operator has made of it is not compared"
_NAMES_ONE = (OURS, SEED)
"""The groups of which a rule of its own (KRM111) says that a profile is not defined."""


def check(
    resources: ResourceList, handled: Kinds, config: FunctionConfig, misspelt: Collection[int]
) -> Iterator[Result]:
    """Yield a finding per config that nothing drives, and per resource that names a Profile which is not there.

    Not of those whose kind is `misspelt`, by their id(): that is said of them.
    """
    yield from _acted_on_twice(resources, handled, config) if config.operators else ()
    theirs = _kinds(resources, handled, config)
    named = {id(item) for item in resources.mentioning(PROFILE_MARK) if item.group not in _NAMES_ONE}
    names = {"DeviceConfig", *(kind for _, kind in theirs)}  # a kind is known without a look at the group
    those = [item for item in resources.items if id(item) in named or (item.kind in names and item.group not in OWN)]
    if not those:
        return
    run = run_of(resources)
    report = warning if run.settings.intent.is_old else error
    is_asked = run.settings.intent.deploys or run.settings.intent.is_old or any_of_ours(resources)
    quiet: dict[str, list[Item]] = {}
    for item in those:
        own, pair = item.annotations.get(PROFILE_MARK, ""), (item.group, item.kind)
        is_config = item.group not in OWN and (item.kind == "DeviceConfig" or pair in theirs)
        is_made = OWNER in item.annotations and pair in DEVICECONFIG.kinds  # else the mark lies
        if id(item) in misspelt or is_made or own == "none" or pair in config.operators:
            continue
        # of a kind that is not custom KRM118 says that a profile has no effect there
        if config.product(item) if is_config else not (own and is_custom(item.group)):
            continue
        if own or is_asked or pair in run.elsewhere:
            field = Field(f"metadata.annotations[{PROFILE_MARK}]", own) if own else None
            severity = report if own or is_asked else warning
            yield item.located(severity(_message(resources, item, own, config), rule="KRM107", field=field))
        else:
            quiet.setdefault(item.group, []).append(item)
    for group, ones in quiet.items():
        others = f"; the same holds for {len(ones) - 1:,} more" if len(ones) > 1 else ""
        outcome = f"nothing is generated from it, and it stays as it is{others}"
        message = f"belongs to another vendor's group, {group}: {outcome}"
        yield ones[0].located(info(message, rule="KRM107"))


def _acted_on_twice(resources: ResourceList, handled: Kinds, config: FunctionConfig) -> Iterator[Result]:
    """Yield a finding per kind of which `operators` says that its own operator acts on it, and krmfn does, too."""
    report = warning if run_of(resources).settings.intent.is_old else error
    for group, kind in sorted(config.operators.intersection(handled)):
        those = (one for one in resources.select(kind, group) if not is_foreign(one))
        if first := next((one for one in those if group in OWN or config.product(one)), None):
            product = config.product(first)
            who = f"the Profile {product.name}" if product else "krmfn"
            mark = f", or write the annotation `{PROFILE_MARK}: none` on each {kind} that its operator acts on"
            remedy = f"remove this entry{mark if product else ''}"
            message = f"{group} {kind}: {who} makes objects of {first.ref}, and its own operator would, too; {remedy}"
            yield config.source.located(report(message, rule="KRM107", field=Field("spec.operators")))


def _kinds(resources: ResourceList, handled: Kinds, config: FunctionConfig) -> set[tuple[str, str]]:
    """Return the kinds of vendors' configs, as far as a Profile for one, or nearly for one, or a mark says so."""
    pairs = {*handled}
    if not run_of(resources).is_settled:
        marks = (item.mark for item in resources.marked())
        pairs |= {mark.owner[:2] for mark in marks if mark and mark.function == DEVICECONFIG.function}
        pairs |= run_of(resources).elsewhere.keys()
    products = [one.kind for one in config.products.values() if one.kind]
    for pair in {(item.group, item.kind) for item in resources.items} if products else ():
        near = [group for group, kind in products if kinds.is_similar(pair[1], kind)]
        # of one group but for a letter, or for what follows the last dot: nvidia.org
        start = pair[0].lower().rpartition(".")[0]
        if any(kinds.is_similar(pair[0], group) or start == group.rpartition(".")[0] != "" for group in near):
            pairs.add(pair)
    return {pair for pair in pairs if pair[0] not in OWN}


def vanished(resources: ResourceList, before: Kinds) -> Iterator[Result]:
    """Yield an error per config of a kind that a Profile was for `before`, and that none is for any more."""
    config = function_config.read(resources)[0]
    for item in kinds.of_kinds(resources.items, {*before} - run_of(resources).driven - config.operators):
        if not is_foreign(item):
            message = f"{_message(resources, item, '', config)}; before, a Profile drove it"
            yield item.located(error(message, rule="KRM107"))


def adopted(old: ResourceList, new: ResourceList) -> Iterator[Result]:
    """Yield what is said of configs that nothing drove in the `old` list, but for those that stay so in the new one.

    What their own operators have made of them is in neither list, so it is not seen to change.
    """
    driven = run_of(new).driven
    same = {item.ref for item in new.items if (item.group, item.kind) not in driven or is_foreign(item)}
    said = [one for one in old.results if one.rule == "KRM107" and one.ref not in same]
    yield from said
    known = same.union(one.ref for one in said if one.ref)
    for item in kinds.of_kinds(old.items, driven - run_of(old).driven):  # a kind that nobody knew before
        if item.ref not in known and not is_foreign(item):
            message = _BEFORE.format(item.kind)
            if (item.group, item.kind) not in run_of(new).kept:
                message += "; when this config is pruned, the cluster deletes what that has as its owner, too: write "
                message += "`keep: true` in `for` of the Profile until the new Module is there"
            yield item.located(warning(message, rule="KRM107"))


def profile_findings(profile: str, field: str, config: FunctionConfig) -> list[Result]:
    """Return an error when neither a Profile nor the functionConfig defines `profile`."""
    if not profile or profile in (*config.profiles, *config.products):
        return []
    known = ", ".join(sorted(config.profiles))
    there = f"; the functionConfig's spec.profiles has: {known}" if known else ""
    there += f"; Profiles: {', '.join(sorted(config.products))}" if config.products else ""
    nowhere = "; none is: a Profile has to be among the resources (listed in the kustomization) or in `profiles` of "
    nowhere += ".krmfn.yaml, a short one in spec.profiles of the functionConfig"
    message = f"profile {profile!r} is not defined{there or nowhere}"
    return [error(message, rule="KRM111", field=Field(field, profile))]


def overrides_nothing(resources: ResourceList, config: FunctionConfig) -> Iterator[Result]:
    """Yield a finding per profile that is overridden and not there: an error where one of nearly its name is meant."""
    run, known = run_of(resources), [*config.profiles, *config.products]
    for name in (name for name in config.overrides if name not in run.named):
        for finding in profile_findings(name, join(("spec", "overrides", name)), config):
            if not closest(name, known, 0.8):
                if run.is_part:
                    continue  # a functionConfig of another cluster may have it
                is_alone = all((item.group, item.kind) in (kinds.CONFIG, kinds.PROFILE) for item in resources.items)
                message = f"{finding.message}; so this overrides nothing here"
                finding = (info if is_alone else warning)(message, rule="KRM143", field=finding.field)
            yield config.source.located(finding)


def any_of_ours(resources: ResourceList) -> bool:
    """Return True for a list that holds anything of ours, and for one that krmfn was called for with settings."""
    if resources.function_config or run_of(resources).is_settled or run_of(resources).has_ours:
        return True
    ours = resources.mentioning(OURS, PTEMPLATE_GROUP, SEED)
    return any((item.group in OWN and item.kind in _KINDS) or OWNER in item.annotations for item in ours) or any(
        item.mentions("krmfn") for item in resources.select("Kptfile", "kpt.dev")
    )


def _message(resources: ResourceList, item: Item, own: str, config: FunctionConfig) -> str:
    """Return what is wrong with a config that nothing drives, and what to do."""
    if run_of(resources).settings.intent.is_old:
        return _BEFORE.format(item.kind)
    those = [one for one in config.products.values() if one.kind == (item.group, item.kind)]
    known = ", ".join(sorted(config.products)) or "none"
    setting = f"`operators: [{{group: {item.group}, kind: {item.kind}}}]` in the functionConfig's spec"
    ways = f"if its own operator acts on it, write the annotation `{PROFILE_MARK}: none` on it, or {setting}"
    if own and own not in config.products:
        hint = did_you_mean(own, config.products, f"there are: {known}.", "'")
        return f"there is no Profile {own!r}, so nothing is generated from this {item.kind}{hint} Or {ways}"
    if own:
        return f"the Profile {own!r} is not for {item.api_version} {item.kind}, so nothing is generated from it; {ways}"
    if len([one for one in those if one.drives(item)]) > 1:
        names = ", ".join(sorted(one.name for one in those))
        return f"several Profiles are for this kind: {names}; write the annotation `{PROFILE_MARK}: NAME` with one"
    if those:
        versions = ", ".join(f"{item.group}/{version}" for one in those for version in one.versions)
        return f"no Profile is for this version, {item.api_version}, but for {versions}, so nothing drives it; {ways}"
    if why := run_of(resources).elsewhere.get((item.group, item.kind)):
        return f"{why}, or {ways}"
    why = f"there is no Profile for {item.group} {item.kind} (Profiles: {known}), so nothing would be generated from it"
    return f"nothing drives this {item.kind}: {why}; bring its Profile back, or {ways}"


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
    "`krmfn.dev/profile: none`, or with `operators` in the functionConfig.",
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
)

RULES = (KRM107, KRM111)
"""The rules about configs that nothing drives, or a profile that is not there."""
