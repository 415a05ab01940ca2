"""The rules about the versions that a profile lists."""

from collections.abc import Iterator

from krmfn import Field, Result, error, warning
from krmfn.printing import did_you_mean, some
from krmfn.resource import FieldPath, join
from krmfn.typed import Any

from .. import oracles
from ..rendering.function_config import FunctionConfig
from ..rule import Rule
from .merging import UNSET, stacked
from .model import DeviceConfig


def version_is_listed(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per version of a config that its profile does not list, if the profile has versionsComplete."""
    if not config.vendor.complete:
        return
    known = list(config.vendor.versions)
    listed = f" (it has: {some(known, len(known), 6)})"
    if not config.spec.driverVersion:
        message = f"driverVersion is missing, and the profile {config.profile} has fields per version{listed}"
        yield config.error(message, "driverVersion")
    versions = [("driverVersion", config.spec.driverVersion)]
    retained = config.spec.upgrade.retain if config.spec.upgrade else ()
    versions += [(f"upgrade.retain[{index}]", version) for index, version in enumerate(retained)]
    for name, version in versions:
        if version and version not in known:
            hint = did_you_mean(version, known, quote="'")
            message = f"the profile {config.profile} has no version {version!r}{listed}"
            yield config.error(message, name, version, remedy=hint)


def version_replaces_no_when(config: DeviceConfig) -> Iterator[Result]:
    """Yield a warning per field of a `when` that applies which the entry of the version, a stronger layer, replaces."""
    whens = [layer for layer in config.layers if layer.shared and layer.path.startswith("spec.when[")]
    for layer in config.vendor.versions.values() if whens else ():
        for when in whens if any(other is layer for other in config.layers) else ():
            fields = stacked([layer.fields, when.fields])
            swapped = stacked([when.fields, fields])
            for name in (name for name in swapped if swapped[name] != fields.get(name)):
                path = f"{layer.path}.{name if name in layer.fields else UNSET}"
                message = f"replaces what {when.path}.{name} sets, although its condition holds: versions are stronger"
                yield warning(message, field=Field(path), remedy="write the field in one of the two")


def check(function_config: FunctionConfig) -> Iterator[Result]:
    """Yield the errors in the versions of profiles, whether a config names them or not."""
    for profile, fields in function_config.profiles.items():
        for path, message, remedy in _mistakes(fields):
            field = Field(join(("spec", "profiles", profile, *path)))
            yield function_config.source.located(error(message, rule="KRM147", field=field, remedy=remedy))
    for product in function_config.products.values():
        fields = {**product.spec["config"], "versions": product.spec.get("versions", ())} if product.is_sound else {}
        for path, message, remedy in _mistakes(fields):
            field = Field(join(("spec", *(() if path[0] == "versions" else ("config",)), *path)))
            yield product.item.located(error(message, rule="KRM147", field=field, remedy=remedy))
    for profile, fields in function_config.overrides.items():
        for name in (name for name in fields if name in ("versions", "versionsComplete")):
            message = "has no effect: only the profile itself has versions"
            field = Field(join(("spec", "overrides", profile, name)))
            yield function_config.source.located(
                warning(message, rule="KRM142", field=field, remedy="write here what holds for all of them")
            )


def _mistakes(profile: dict[str, Any]) -> Iterator[tuple[FieldPath, str, str]]:
    """Yield the path, the message and the remedy of each mistake in `versions` and `versionsComplete` of a profile."""
    seen: set[str] = set()
    for index, entry in enumerate(profile.get("versions", ())):
        version = entry["version"]
        if version in seen:
            message = f"the version {version!r} appears twice"
            yield ("versions", index, "version"), message, "merge the two entries into one"
        seen.add(version)
    if profile.get("versionsComplete") and not seen:
        message = "versionsComplete is set without versions, so no version would be allowed"
        yield ("versionsComplete",), message, "list them in versions"


_GOOD = """\
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: gpu}
spec:
  schema:
    type: object
    properties:
      spec: {type: object, properties: {debug: {type: boolean, default: true}}}
  config: {moduleName: gpu, driverImage: registry.example.com/gpu}
  when:
  - if: {spec.debug: true}
    config: {dirName: /debug}
  versions:
  - {version: "1.0", firmwarePath: /firmware}
---
spec: {profile: gpu, driverVersion: "1.0", moduleName: null, driverImage: null}
"""
RULES = (
    Rule(
        "KRM147",
        "a profile must list each version once; with versionsComplete, the version of a config must be one of them",
        good="""\
kind: RenderDeviceConfigs
spec:
  profiles:
    gpu:
      versionsComplete: true
      versions:
      - {version: "1.0", devicePlugin: {image: "registry.example.com/plugin:7.1"}}
---
spec: {profile: gpu, driverVersion: "1.0"}
""",
        bad="""\
kind: RenderDeviceConfigs
spec:
  profiles:
    gpu:
      versionsComplete: true
      versions:
      - {version: "1.0", devicePlugin: {image: "registry.example.com/plugin:7.1"}}
---
spec: {profile: gpu, driverVersion: "1.1"}
""",
        remedy="Correct the version, or add it to the profile's versions with what changes in it.",
        held=oracles.OUR_KINDS,
        check=version_is_listed,
    ),
    Rule(
        "KRM188",
        "an entry of a Profile's `versions` should not replace what a `when` has set",
        good=_GOOD,
        bad=_GOOD.replace("dirName", "firmwarePath"),
        remedy="Write the field in one of the two, or narrow the `if`.",
        held=oracles.OUR_KINDS,
        check=version_replaces_no_when,
        severities=("warning",),
    ),
)
"""The rules about one config or pool; `check` is about profiles by themselves."""
