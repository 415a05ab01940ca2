"""Render DeviceConfigs that fit their schema: values, findings, objects, and claims on nodes."""

from collections.abc import Iterable, Iterator, Sequence

from krmfn import Field, Item, Ref, ResourceList, Result

from ..exclusivity import Claim
from ..kmm.modprobe import loaded_names
from ..rendering.function_config import FunctionConfig
from ..rendering.generated import Finding, Rendered
from ..rendering.kinds import DEVICECONFIG, of_kinds
from ..run import run_of
from . import effects, generate, reading, rules
from .fields import Spec
from .model import DeviceConfig, Specs


def render(resources: ResourceList, items: Sequence[Item], config: FunctionConfig) -> Rendered:
    """Return the objects of the DeviceConfigs without an error, and the findings about all."""
    groups, problems = reading.from_items(items, config)
    fingerprints, specs = set[bytes](), Specs()
    judged = [(group, rules.check_group(group, fingerprints)) for group in groups]
    sound = [group for group, results in judged if not any(result.severity == "error" for result in results)]
    findings: list[Finding] = [(item.ref, finding) for item, errors in problems.items() for finding in errors]
    findings.sort(key=lambda pair: pair[1].rule != "KRM111")  # missing profiles first
    findings += [(group[0].ref, _hinted(result, group[0], config)) for group, results in judged for result in results]
    findings += _for_users(effects.fields_have_an_effect([pool for group in groups for pool in group]), config)
    if config.source.ref.kind or config.products:
        from . import profiles  # here, since only a functionConfig has them

        all_items = of_kinds(resources.items, DEVICECONFIG.owners | run_of(resources).driven)
        findings += ((None, finding) for finding in profiles.check(resources, all_items, groups, config))
    if config.products:
        from . import trials  # here: few lists have Profiles

        findings += ((None, finding) for finding in trials.check(resources, items, config))
    objects = [generated for group in sound for generated in generate.objects(group, specs)]
    claims = [claim_of(pool) for group in sound for pool in group]
    return Rendered(objects, claims, findings, {group[0].ref: group[0].item for group in groups})


def _for_users(findings: Iterable[tuple[Ref, Result]], config: FunctionConfig) -> Iterator[Finding]:
    """Yield the findings about fields without an effect that users can mend.

    A field of a Profile that this config does not need is none: `trials` judges whether any config does.
    """
    vendors = {product.item.ref for product in config.products.values()}
    yield from ((owner, finding) for owner, finding in findings if finding.ref not in vendors)


def _hinted(finding: Result, config: DeviceConfig, function_config: FunctionConfig) -> Result:
    """Return the finding; one about a missing driver also lists the profiles for a config that names none."""
    products = function_config.products.values()
    names = {*function_config.profiles, *(product.name for product in products if not product.kind)}
    if finding.rule not in ("KRM121", "KRM122") or config.profile or not names:
        return finding
    return finding._replace(message=f"{finding.message}; it names no profile (there are: {', '.join(sorted(names))})")


def _loaded(spec: Spec) -> list[str]:
    """Return the names of the kernel modules that a config loads, by name, loading order and raw arguments."""
    raw = [argument for argument in spec.rawLoadArgs if isinstance(argument, str)]
    return [spec.moduleName, *spec.modulesLoadingOrder, *(loaded_names(raw) if raw else ())]


def claim_of(config: DeviceConfig) -> Claim:
    """Return the claim of a config or pool on the nodes that it selects; on a hub, the clusters are part of it."""
    hub = (config.spec.hub.clusterSelector or {}) if config.spec.hub else {}
    field = config.at("nodeSelector")
    if any(layer.filled for layer in config.layers):  # the labels may come from an option of the config
        result = config.located(Result("", field=Field(field)))
        field = result.field.path if result.field and result.ref == config.ref else field
    return Claim(
        ref=config.ref,
        selector={**{f"cluster {key}": value for key, value in hub.items()}, **(config.spec.nodeSelector or {})},
        field=field,
        domain=config.profile,
        kernel_modules=frozenset(filter(None, _loaded(config.spec))),
        pool="" if config.modules else config.pool,  # Modules of one config do not exclude each other
        place=config.item.place,
        module=(config.ref.namespace, config.name),
        of_hub=bool(config.spec.hub),
        version=config.spec.driverVersion or "",
    )
