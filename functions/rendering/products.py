"""The Profiles of a run: each stands once, fits its schema, is the only one for its kind, and judges its configs."""

import json
from collections.abc import Iterator

from krmfn import Field, Item, ResourceList, Result, error, schema, warning
from krmfn.resource import join, split
from krmfn.schema import Schema
from krmfn.typed import Any

from .. import oracles
from ..fleet import readings
from ..kmm import lookup
from ..kmm.lookup import table
from ..profile import defaulting, judging, misfits, refusals
from ..profile.expressions import Values
from ..profile.product import Profile, name_of, product, unmet_requirements
from ..rule import Rule
from . import kinds
from .function_config import FunctionConfig
from .kinds import OURS, OWN, PROFILE, in_file, is_custom


def read(resources: ResourceList, config: FunctionConfig) -> FunctionConfig:
    """Return the functionConfig with the Profiles among the resources, and report the errors in these.

    A Profile with an error is added without fields and marked unsound, so that its configs are not reported as
    undriven.
    """
    products: dict[str, Profile] = {}
    for item in resources.where(kind=PROFILE[1], group=PROFILE[0]):
        findings = list(mistakes(item, config.kmm_version))
        resources.report(map(item.located, findings))
        name = name_of(item)
        if (other := products.get(name)) or name in config.profiles:
            where = f"{other.item.ref}{in_file(other.item)}" if other else "the functionConfig's spec.profiles"
            message = f"the name {name!r} is also that of {where}"
            resources.report(
                item.located(
                    error(message, rule="KRM184", field=Field("metadata.name", name), remedy="rename one of the two")
                )
            )
            continue
        if not any(finding.severity == "error" for finding in findings):
            products[name] = product(item)
        else:  # only its name and its kind are known
            target = table(item.manifest, "spec", "for")
            kind = {"group": target.get("group"), "kind": target.get("kind")}
            spec = {"for": kind} if all(isinstance(value, str) for value in kind.values()) else {}
            products[name] = Profile(name, item, spec, {}, Schema({}), Schema({}), False)
    return added(products, config)


def added(products: dict[str, Profile], config: FunctionConfig) -> FunctionConfig:
    """Return the functionConfig with Profiles, by their names and by the kinds that they drive."""
    by_kind: dict[tuple[str, str], list[Profile]] = {}
    for profile in products.values():
        if profile.kind:
            by_kind.setdefault(profile.kind, []).append(profile)
    return config._replace(products=products, by_kind=by_kind)


def mistakes(item: Item, kmm_version: str) -> Iterator[Result]:
    """Yield the findings about a Profile by itself; of one that does not fit its schema only the misfits."""
    findings = [*readings.repeated(item), *readings.check(item)]
    findings += schema.check(item.manifest, kinds.schema("profile"), "KRM180")
    yield from findings
    if findings:
        return
    spec = item.manifest["spec"]
    group, kind = spec.get("for", {}).get("group", ""), spec.get("for", {}).get("kind", "")
    if group and (group in OWN or not is_custom(group) or (group, kind) in kinds.DEVICECONFIG.kinds):
        message = f"is {group!r}, which is no vendor's"
        yield error(
            message,
            rule="KRM180",
            field=Field("spec.for.group", group),
            remedy="write the group of the vendor's custom resource",
        )
    if name_of(item) == "none":
        message = f"is 'none', and the annotation {kinds.PROFILE_MARK} with it names no Profile"
        yield error(message, rule="KRM180", field=Field("metadata.name", "none"), remedy="write another name")
    for path, mistake in unmet_requirements(spec.get("requires", {}), kmm_version):
        field = Field(join(("spec", "requires", *path)))
        yield error(mistake.message, rule="KRM185", field=field, remedy=mistake.remedy)
    yield from judging.check(spec)


def check_options(product: Profile, item: Item) -> Iterator[Result]:
    """Yield an error per field of a config that does not fit the schema of its Profile, after defaults."""
    is_ours = item.group == OURS
    written = {"spec": table(item.manifest, "spec").get("options", {})} if is_ours else item.manifest
    manifest = defaulting.with_defaults(product.options, written)
    findings = schema.check(manifest, product.config_schema if is_ours else product.schema, "KRM101")
    base = kinds.schema("profile")  # its metadata are those of a config, too
    if not is_ours and "metadata" in manifest and not base.fits(manifest["metadata"], "metadata"):
        subset = Schema({"properties": {"metadata": base["properties"]["metadata"]}, "$defs": base["$defs"]})
        findings += schema.check({"metadata": manifest["metadata"]}, subset, "KRM101")
    for path, mistake in misfits.misfits(product.options, manifest):
        findings.append(error(mistake.message, rule="KRM101", field=Field(join(path)), remedy=mistake.remedy))
    findings = [_with_defaults(finding, written, manifest) for finding in findings]
    findings += _told_by_vendor(product, item, written, manifest, bool(findings))
    for finding in findings:
        field = finding.field and finding.field._replace(path=f"spec.options{finding.field.path.removeprefix('spec')}")
        yield finding._replace(field=field) if is_ours else finding


def _told_by_vendor(product: Profile, item: Item, written: Any, manifest: Any, is_misfit: bool) -> Iterator[Result]:
    """Yield what the Profile refuses of a config that fits its schema, and the deprecated options of any."""
    metadata = {"name": item.ref.name, "namespace": item.ref.namespace}
    data = {"spec": manifest.get("spec") or {}, "metadata": metadata}
    values = Values(data, {"spec": written.get("spec") or {}, "metadata": metadata})
    for path, message in () if is_misfit else refusals.refused(product.spec, values):
        yield error(message, rule="KRM193", field=Field(join(path)))
    for path, message in refusals.deprecated(product.spec, values):
        yield warning(message, rule="KRM194", field=Field(join(path)))
    if product.namespace and item.ref.namespace not in ("", product.namespace):
        message = (
            f"has no effect: {item.kind} is cluster-wide, and the Profile makes its objects in {product.namespace}"
        )
        yield warning(message, rule="KRM194", field=Field("metadata.namespace"), remedy="remove it")


def _with_defaults(finding: Result, written: Any, manifest: Any) -> Result:
    """Return a finding about a whole object with the defaults in it, which nobody has written."""
    parts = split(finding.field.path) if finding.field else ()
    fields, result = lookup.at(written, parts), lookup.at(manifest, parts)
    if not isinstance(result, dict) or not isinstance(fields, dict):
        return finding
    defaults = [f"{name}: {json.dumps(value)}" for name, value in result.items() if name not in fields]
    return (
        finding._replace(message=f"{finding.message}; by default it has {', '.join(defaults)}") if defaults else finding
    )


_GOOD = """\
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: gpu}
spec:
  schema:
    type: object
    properties:
      spec: {type: object, properties: {image: {type: string, default: registry.example.com/gpu}}}
  config: {moduleName: gpu, driverImage: "${spec.image}"}
---
spec: {profile: gpu, moduleName: null, driverImage: null}
"""
_REFUSE = "spec:\n  refuse: [{if: {spec.image: old}, message: this image is gone}]\n  schema"
_DEPRECATED = "spec:\n  deprecated: {spec.image: the image is chosen by the version}\n  schema"
KRM180 = Rule(
    "KRM180",
    "a Profile must fit its schema, and what it makes of a config must fit that of a DeviceConfig; its expressions "
    "and conditions must name options",
    good=_GOOD,
    bad=_GOOD.replace("${spec.image}", "${spec.imaeg}"),
    remedy="Correct the field of the Profile as the finding says; `krmfn schema Profile` prints its schema.",
    held=oracles.APISERVER_SCHEMAS,
    severities=("error", "warning", "info"),
)

KRM181 = Rule(
    "KRM181",
    "an option or a text of a Profile should be used; `ignored` says of an option why it is not",
    good=_GOOD,
    bad=_GOOD.replace("{image:", "{debug: {type: boolean}, image:"),
    remedy="Use the option in an expression, a text or a condition, or name it in `ignored` with the reason.",
    held=oracles.OUR_KINDS,
    severities=("warning",),
)

KRM182 = Rule(
    "KRM182",
    "an option, a DeviceConfig or a Module must not hold an expression of a Profile: nothing fills it in there",
    good=_GOOD,
    bad=_GOOD.replace("spec: {profile: gpu,", 'spec: {profile: gpu, options: {image: "${spec.image}"},'),
    remedy="Write the value itself.",
    held=oracles.OUR_KINDS,
)

KRM183 = Rule(
    "KRM183",
    "an option should not be part of a shell's script: whoever writes it can run anything in the container",
    good=_GOOD.replace("moduleName: gpu,", 'moduleName: gpu, loadArgs: ["${spec.image}"],'),
    bad=_GOOD.replace(
        "moduleName: gpu,",
        'moduleName: gpu, daemonSets: [{name: x, image: "x:1", command: [sh, -c, "run ${spec.image}"]}],',
    ),
    remedy="Pass it as an argument without a shell, give it an enum or a pattern, or use a text with `quote: sh`.",
    held=oracles.SHELL,
    severities=("warning",),
)

KRM184 = Rule(
    "KRM184",
    "a Profile must be the only one of its name",
    good=_GOOD,
    bad=f"{_GOOD}---\n{_GOOD.partition('---')[0]}",
    remedy="Rename one of the two, or remove it.",
    held=oracles.OUR_KINDS,
)

KRM185 = Rule(
    "KRM185",
    "krmfn and KMM must have the versions that a Profile requires",
    good=_GOOD.replace("spec:\n  schema", 'spec:\n  requires: {kmm: ">=2.4"}\n  schema'),
    bad=_GOOD.replace("spec:\n  schema", 'spec:\n  requires: {kmm: ">=99"}\n  schema'),
    remedy="Install what the finding names, set the version of KMM, or use another version of the Profile.",
    held=oracles.OUR_KINDS,
)

KRM193 = Rule(
    "KRM193",
    "a config must not be one that its Profile refuses (`refuse`)",
    good=_GOOD.replace("spec:\n  schema", _REFUSE),
    bad=_GOOD.replace("spec:\n  schema", _REFUSE).replace("{profile: gpu,", "{profile: gpu, options: {image: old},"),
    remedy="Change the option as the vendor's message says.",
    held=oracles.OUR_KINDS,
)

KRM194 = Rule(
    "KRM194",
    "a config should not write what its Profile calls deprecated, or a namespace where its kind has none",
    good=_GOOD.replace("spec:\n  schema", _DEPRECATED),
    bad=_GOOD.replace("spec:\n  schema", _DEPRECATED).replace("{profile: gpu,", "{profile: gpu, options: {image: a},"),
    remedy="Write what the vendor's message names instead.",
    held=oracles.OUR_KINDS,
    severities=("warning",),
)

RULES = (KRM180, KRM181, KRM182, KRM183, KRM184, KRM185, KRM193, KRM194)
"""The rules about Profiles by themselves: steps of `read`."""
