"""From DeviceConfigs that fit their schema to objects: values, rules, objects, and the nodes that they select."""

from collections.abc import Sequence

from krmfn import Field, Item, ResourceList, Result

from ..exclusivity import Claim
from ..rendering.function_config import FunctionConfig
from ..rendering.generated import Finding, Rendered
from ..rendering.kinds import DEVICECONFIG, of_kinds
from ..run import run_of
from . import effects, generate, reading, rules
from .model import DeviceConfig, Specs


def render(resources: ResourceList, items: Sequence[Item], config: FunctionConfig) -> Rendered:
    """Return the objects of those DeviceConfigs that are right, and the findings about all."""
    unknown: dict[Item, list[Result]] = {}
    groups = reading.from_items(items, config, unknown)
    known_sound, known_specs = set[bytes](), Specs()
    judged = [(group, rules.check_group(group, known_sound)) for group in groups]
    sound = [group for group, results in judged if not any(result.severity == "error" for result in results)]
    findings: list[Finding] = [(item.ref, finding) for item, errors in unknown.items() for finding in errors]
    findings.sort(key=lambda one: one[1].rule != "KRM111")  # first the profiles that are not there
    findings += [(group[0].ref, _hinted(one, group[0], config)) for group, results in judged for one in results]
    findings += effects.fields_have_an_effect([one for group in groups for one in group])
    if config.source.ref.kind or config.products:
        from . import profiles  # here, since only a functionConfig has them

        everything = of_kinds(resources.items, DEVICECONFIG.owners | run_of(resources).driven)
        findings += ((None, finding) for finding in profiles.check(resources, everything, groups, config))
    if config.products:
        from . import trying  # here: few lists have Profiles

        findings += ((None, finding) for finding in trying.tried(resources, items, config))
    objects = [one for group in sound for one in generate.objects(group, known_specs)]
    claims = [claim_of(one) for group in sound for one in group]
    return Rendered(objects, claims, findings, {group[0].ref: group[0].item for group in groups})


def _hinted(finding: Result, config: DeviceConfig, function_config: FunctionConfig) -> Result:
    """Return a finding that the driver is not named with the profiles that the config might name."""
    names = {*function_config.profiles, *(one.name for one in function_config.products.values() if not one.kind)}
    if finding.rule not in ("KRM121", "KRM122") or config.profile or not names:
        return finding
    return finding._replace(message=f"{finding.message}; it names no profile (there are: {', '.join(sorted(names))})")


def claim_of(one: DeviceConfig) -> Claim:
    """Return the nodes that a config or pool selects; on a hub together with the labels of the clusters."""
    hub = (one.spec.hub.clusterSelector or {}) if one.spec.hub else {}
    field = one.at("nodeSelector")
    if any(layer.filled for layer in one.layers):  # an option of the config may be what selects
        written = one.located(Result("", field=Field(field)))
        field = written.field.path if written.field and written.ref == one.ref else field
    return Claim(
        ref=one.ref,
        selector={**{f"cluster {key}": value for key, value in hub.items()}, **(one.spec.nodeSelector or {})},
        field=field,
        domain=one.profile,
        kernel_modules=frozenset(filter(None, [one.spec.moduleName, *one.spec.modulesLoadingOrder])),
        pool="" if one.modules else one.pool,  # Modules of one config do not exclude each other
        place=one.item.place,
        module=(one.ref.namespace, one.name),
        of_hub=bool(one.spec.hub),
    )
