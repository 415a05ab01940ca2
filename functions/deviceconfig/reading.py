"""Read DeviceConfigs: merge the layers and fill in krmfn's variables, for each node pool or Module of a config."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from krmfn import Field, Item, Ref, Result, error
from krmfn.resource import annotations_of, fingerprint
from krmfn.typed import TYPE_CHECKING, Any

from ..rendering.function_config import FunctionConfig
from ..rendering.kinds import OURS, PROFILE_MARK, SEED
from ..rendering.undriven import profile_findings
from .fields import Spec
from .layers import Layer, is_ours, place, profile_layers
from .merging import OF_MODULE, UNSET, merged
from .model import DeviceConfig, typed

if TYPE_CHECKING:
    from ..profile.expansion import Expansion

Groups = Sequence[Sequence[DeviceConfig]]
"""DeviceConfigs, those of one item together: its node pools or Modules."""
SEED_DEFAULTS: dict[str, Any] = {
    "imagePullPolicy": "Always",
    "serviceAccountName": "driver-sample",
    "nodeSelector": {"feature.node.kubernetes.io/pci-1da3.present": "true"},
}
"""The values in the code of the he-sample operator (648786e), below all layers."""


def from_items(items: Iterable[Item], function_config: FunctionConfig) -> tuple[Groups, dict[Item, list[Result]]]:
    """Return the values of DeviceConfigs that fit their schemas, and the errors about others, by their items.

    There are errors if the profile of a config is missing, or if its Profile makes no valid config of it.
    """
    known: dict[bytes, DeviceConfig] = {}
    groups: list[list[DeviceConfig]] = []
    problems: dict[Item, list[Result]] = {}
    for item in items:
        if twin := known.get(_fingerprint(item)):
            groups.append([_twin(twin, item, function_config)])
            continue
        written, expansion = item.content.manifest.get("spec") or {}, None
        field = "spec.profile" if "profile" in written else f"metadata.annotations[{PROFILE_MARK}]"
        findings = profile_findings(profile_of(item), field, function_config)
        if not findings and "options" in written and is_ours(item) and not function_config.product(item):
            message = "only a Profile has options"
            findings = [
                error(
                    message,
                    rule="KRM111",
                    field=Field("spec.options"),
                    remedy="name one in `profile`, or write the fields themselves",
                )
            ]
        findings = [item.located(finding) for finding in findings]
        if not findings and function_config.products:
            from . import products  # here, as below: few lists have a Profile

            findings, expansion = products.problems(item, _ref(item, function_config), function_config)
        if findings:
            problems[item] = findings
            continue
        group = from_item(item, function_config, expansion)
        if group[0].fingerprint and not group[0].retained:
            known[group[0].fingerprint] = group[0]
        groups.append(group)
    return groups, problems


def from_item(item: Item, function_config: FunctionConfig, expansion: Expansion | None = None) -> list[DeviceConfig]:
    """Return the values of a DeviceConfig that fits its schema: one, or one per node pool in the order of names.

    A nodeSelector of the config narrows each pool that comes from its profile or the defaults. `expansion` is that of
    its Profile, if it is known.
    """
    ref = _ref(item, function_config)
    seed, profile = ref.group == SEED, profile_of(item)
    product = function_config.product(item) if function_config.products else None
    if product:
        from . import products

        profile = product.name
        layers, vendor, modules = products.layers(product, item, ref, function_config, expansion)
    else:
        modules = {}
        shared, vendor = profile_layers(profile, function_config)
        layers = (Layer(item.content.manifest.get("spec") or {}, "spec", item), *shared)
    config = DeviceConfig(item, ref, seed, profile, "", layers, {}, Spec(), function_config.annotations, vendor)
    if function_config.extra_kinds:
        config = config._replace(extra_kinds=function_config.extra_kinds)
    if product and (product.has_names or "${metadata." in str(function_config.overrides)):
        config = config._replace(has_names=True)
    if modules:
        return _module_configs(config, modules)
    parts = [{key: layer.fields[key] for key in ("nodePools", UNSET) if key in layer.fields} for layer in layers]
    pools = merged(parts).get("nodePools", [])
    if not pools:
        return [_completed(config)]
    written = layers[0].fields if layers[0].path == "spec" else {}
    selector = {} if "nodePools" in written else written.get("nodeSelector", {})
    configs: list[DeviceConfig] = []
    for index, pool in sorted(enumerate(pools), key=lambda pair: str(pair[1]["name"])):
        holder, path = place(layers, {"nodePools": pools}, f"nodePools[{index}]")
        fields = {**pool, "nodeSelector": {**pool["nodeSelector"], **selector}} if selector else pool
        layer = Layer(fields, path, holder.source if holder else item)
        configs.append(_completed(config._replace(pool=pool["name"], layers=(layer, *layers))))
    return configs


def _module_configs(config: DeviceConfig, modules: Mapping[str, Sequence[Layer]]) -> list[DeviceConfig]:
    """Return the values of a config of several Modules, one for each."""
    names = {
        key: frozenset(entry["name"] for layer in part for entry in layer.fields.get("daemonSets", ()))
        for key, part in modules.items()
    }
    index = _profile_index(config.layers)
    layers = {key: (*config.layers[:index], *part, *config.layers[index:]) for key, part in modules.items()}
    return [_completed(config._replace(pool=key, layers=layers[key], modules=names)) for key in modules]


def profile_of(item: Item) -> str:
    """Return the profile that a config names in `spec.profile` or with the annotation; "" for none."""
    written = item.content.manifest.get("spec")
    name = written.get("profile") if isinstance(written, dict) and item.group in (OURS, SEED) else ""
    note = annotations_of(item.content.manifest).get(PROFILE_MARK)
    return str(name or (note if isinstance(note, str) else ""))


def domain_of(item: Item) -> str | None:
    """Return the exclusivity domain of a config (see `exclusivity.Claim`); None for another kind."""
    return profile_of(item) if item.kind == "DeviceConfig" else None


def _completed(config: DeviceConfig) -> DeviceConfig:
    """Return the config with the merged fields of its layers, and with the versions that it retains."""
    current = _at_version(config)
    upgrade = current.spec.upgrade
    if not upgrade or not upgrade.retain or not current.version:
        return current
    return current._replace(retained=tuple(_at_version(config, version) for version in upgrade.retain))


def _at_version(config: DeviceConfig, version: str = "") -> DeviceConfig:
    """Return the config with the merged fields of its layers; for an earlier `version`, those for DaemonSets."""
    layers = config.layers
    if config.vendor.versions:
        holder = place(layers, {}, "driverVersion")[0]
        layer = config.vendor.versions.get(version or (holder.fields.get("driverVersion", "") if holder else ""))
        index = _profile_index(layers)  # the layer of the version is between the config and its profile
        layers = (*layers[:index], layer, *layers[index:]) if layer else layers
    fields = merged([*(layer.fields for layer in layers if layer.fields), *([SEED_DEFAULTS] if config.seed else [])])
    for name in ("nodePools", "name") if config.pool and not config.modules else ():
        del fields[name]
    if config.modules and "daemonSets" in fields:
        fields["daemonSets"] = [entry for entry in fields["daemonSets"] if config.makes(entry["name"])]
    if version:
        fields["driverVersion"] = version
        fields = {name: value for name, value in fields.items() if name not in OF_MODULE}
    texts = [str(layer.fields) for layer in layers if layer.fields]  # searching these is cheaper than walking fields
    filled = fields
    if has_variables := any("KRMFN_" in text.upper() for text in texts):
        from . import variables  # here, since most configs have none

        filled = variables.filled(fields, config.ref)
        if any(layer.filled for layer in layers):
            from .products import unprotected

            fields, filled = unprotected(fields), unprotected(filled)
    plugin = fields.get("devicePlugin") or fields.get("dra") or {}
    has_own_names = config.has_names or "extraObjects" in fields or "serviceAccount" in plugin
    return config._replace(
        layers=layers,
        fields=fields,
        spec=typed(Spec, filled),
        has_variables=has_variables,
        has_switches=any("'enabled'" in text or "'unset'" in text for text in texts),
        has_accounts=any("'serviceAccount'" in text for text in texts),
        fingerprint=b"" if has_variables or config.pool or has_own_names else _fingerprint(config.item),
    )


def _ref(item: Item, function_config: FunctionConfig) -> Ref:
    product = function_config.product(item) if function_config.products else None
    if product and product.namespace:  # its kind is cluster-wide
        return item.ref._replace(namespace=product.namespace)
    return item.ref if item.ref.namespace else item.ref._replace(namespace=function_config.namespace)


def _fingerprint(item: Item) -> bytes:
    """Return bytes that are equal for configs of one kind, version and profile with the same fields.

    A nodeSelector counts only as one that selects something, whatever its labels are.
    """
    written = item.content.manifest.get("spec") or {}
    if written.get("nodeSelector") and item.group in (OURS, SEED):
        written = {**written, "nodeSelector": True}  # it has no variables: the schema refuses them there
    return fingerprint((item.api_version, item.kind, profile_of(item), written)) or b""


def _twin(other: DeviceConfig, item: Item, function_config: FunctionConfig) -> DeviceConfig:
    """Return the values of a config of the same fingerprint as another one, with its own name and nodeSelector."""
    written = item.content.manifest.get("spec") or {}
    if other.layers[0].path != "spec":  # it is of a vendor's kind
        return other._replace(item=item, ref=_ref(item, function_config))
    selector = {"nodeSelector": written["nodeSelector"]} if "nodeSelector" in written else {}
    spec = Spec()
    vars(spec).update(vars(other.spec), **selector)  # those values are typed already
    layers, fields = (Layer(written, "spec", item), *other.layers[1:]), {**other.fields, **selector}
    return other._replace(item=item, ref=_ref(item, function_config), layers=layers, fields=fields, spec=spec)


def _profile_index(layers: Sequence[Layer]) -> int:
    """Return the position of the first layer of a profile, behind those of the config and of `overrides`."""
    are_above = [layer.path == "spec" or layer.path.startswith("spec.overrides") for layer in layers]
    return max((index for index, is_above in enumerate(are_above, 1) if is_above), default=0)
