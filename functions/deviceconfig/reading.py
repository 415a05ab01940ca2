"""From a DeviceConfig's text to its values: the layers, merged, with krmfn's variables filled in; one per node pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from krmfn import Field, Item, Ref, Result, error
from krmfn.resource import annotations_of, fingerprint
from krmfn.typed import TYPE_CHECKING, Any

from ..rendering.function_config import FunctionConfig
from ..rendering.kinds import OURS, PROFILE_MARK, SEED
from ..rendering.undriven import profile_findings
from .fields import Spec
from .layers import Layer, is_ours, of_profile, place
from .merging import OF_MODULE, merged
from .model import DeviceConfig, spec

if TYPE_CHECKING:
    from ..profile.expansion import Expansion

SEED_DEFAULTS: dict[str, Any] = {
    "imagePullPolicy": "Always",
    "serviceAccountName": "driver-sample",
    "nodeSelector": {"feature.node.kubernetes.io/pci-1da3.present": "true"},
}
"""What the he-sample operator fixes in its code (648786e), where nothing else says otherwise."""


def from_items(
    items: Iterable[Item], function_config: FunctionConfig, problems: dict[Item, list[Result]]
) -> list[list[DeviceConfig]]:
    """Return the values of DeviceConfigs that fit their schemas, those of one item together (see `from_item`).

    One with a profile that is not there, or of which a Profile makes what is none, goes to `problems`, with what is
    wrong.
    """
    known: dict[bytes, DeviceConfig] = {}
    groups: list[list[DeviceConfig]] = []
    for item in items:
        if alike := known.get(_likeness(item)):
            groups.append([_like(alike, item, function_config)])
            continue
        own, made = item.content.manifest.get("spec") or {}, None
        field = "spec.profile" if "profile" in own else f"metadata.annotations[{PROFILE_MARK}]"
        wrong = profile_findings(profile_of(item), field, function_config)
        if not wrong and "options" in own and is_ours(item) and not function_config.product(item):
            message = "only a Profile has options; name one in `profile`, or write the fields themselves"
            wrong = [error(message, rule="KRM111", field=Field("spec.options"))]
        wrong = [item.located(finding) for finding in wrong]
        if not wrong and function_config.products:
            from . import products  # here, as below: few lists have one

            wrong, made = products.problems(item, _ref(item, function_config), function_config)
        if wrong:
            problems[item] = wrong
            continue
        group = from_item(item, function_config, made)
        if group[0].likeness and not group[0].retained:
            known[group[0].likeness] = group[0]
        groups.append(group)
    return groups


def from_item(item: Item, function_config: FunctionConfig, made: Expansion | None = None) -> list[DeviceConfig]:
    """Return the values of a DeviceConfig that fits its schema: one, or one per node pool in the order of names.

    A nodeSelector of the config narrows each pool that its profile or the defaults give. `made` is what a Profile makes
    of it, if that is known.
    """
    ref = _ref(item, function_config)
    seed, profile = ref.group == SEED, profile_of(item)
    product = function_config.product(item) if function_config.products else None
    if product:
        from . import products

        profile = product.name
        layers, beside, modules = products.layers(product, item, ref, function_config, made)
    else:
        modules = {}
        shared, beside = of_profile(profile, function_config)
        layers = (Layer(item.content.manifest.get("spec") or {}, "spec", item), *shared)
    whole = DeviceConfig(item, ref, seed, profile, "", layers, {}, Spec(), function_config.annotations, beside)
    if product and (product.has_names or "${metadata." in str(function_config.overrides)):
        whole = whole._replace(has_names=True)
    if modules:
        return _of_modules(whole, modules)
    giving = [{key: own for key, own in layer.fields.items() if key in ("nodePools", "unset")} for layer in layers]
    pools = merged(giving).get("nodePools", [])
    if not pools:
        return [_completed(whole)]
    own = layers[0].fields if layers[0].path == "spec" else {}
    narrower = {} if "nodePools" in own else own.get("nodeSelector", {})
    configs: list[DeviceConfig] = []
    for at, pool in sorted(enumerate(pools), key=lambda pair: str(pair[1]["name"])):
        holder, path = place(layers, {"nodePools": pools}, f"nodePools[{at}]")
        fields = {**pool, "nodeSelector": {**pool["nodeSelector"], **narrower}} if narrower else pool
        layer = Layer(fields, path, holder.source if holder else item)
        configs.append(_completed(whole._replace(pool=pool["name"], layers=(layer, *layers))))
    return configs


def _of_modules(whole: DeviceConfig, modules: Mapping[str, Sequence[Layer]]) -> list[DeviceConfig]:
    """Return the values of a config of several Modules, one for each."""
    names = {
        key: frozenset(entry["name"] for layer in part for entry in layer.fields.get("daemonSets", ()))
        for key, part in modules.items()
    }
    at = _of_profile(whole.layers)
    each = ((key, (*whole.layers[:at], *part, *whole.layers[at:])) for key, part in modules.items())
    return [_completed(whole._replace(pool=key, layers=layers, modules=names)) for key, layers in each]


def profile_of(item: Item) -> str:
    """Return the profile that a config names, by the field of ours or by the annotation; "" for none."""
    own = item.content.manifest.get("spec")
    named = own.get("profile") if isinstance(own, dict) and item.group in (OURS, SEED) else ""
    note = annotations_of(item.content.manifest).get(PROFILE_MARK)
    return str(named or (note if isinstance(note, str) else ""))


def domain_of(item: Item) -> str | None:
    """Return the exclusivity domain of a config (see `exclusivity.Claim`); None for another kind."""
    return profile_of(item) if item.kind == "DeviceConfig" else None


def _completed(config: DeviceConfig) -> DeviceConfig:
    """Return the config with the fields of its layers, and with the versions that it retains."""
    current = _at_version(config)
    upgrade = current.spec.upgrade
    if not upgrade or not upgrade.retain or not current.version:
        return current
    return current._replace(retained=tuple(_at_version(config, version) for version in upgrade.retain))


def _at_version(config: DeviceConfig, version: str = "") -> DeviceConfig:
    """Return the config with the fields of its layers: at its own version, or at an earlier one for its DaemonSets."""
    layers = config.layers
    if config.vendor.versions:
        holder = place(layers, {}, "driverVersion")[0]
        of_version = config.vendor.versions.get(version or (holder.fields.get("driverVersion", "") if holder else ""))
        at = _of_profile(layers)  # the layer of the version is between the config and its profile
        layers = (*layers[:at], of_version, *layers[at:]) if of_version else layers
    fields = merged([*(layer.fields for layer in layers if layer.fields), *([SEED_DEFAULTS] if config.seed else [])])
    for name in ("nodePools", "name") if config.pool and not config.modules else ():
        del fields[name]
    if config.modules and "daemonSets" in fields:
        fields["daemonSets"] = [entry for entry in fields["daemonSets"] if config.makes(entry["name"])]
    if version:
        fields["driverVersion"] = version
        fields = {name: value for name, value in fields.items() if name not in OF_MODULE}
    texts = [str(layer.fields) for layer in layers if layer.fields]  # cheap tests spare most configs walks
    filled = fields
    if has_variables := any("KRMFN_" in text.upper() for text in texts):
        from . import variables  # here, since most configs have none

        filled = variables.filled(fields, config.ref)
        if any(layer.filled for layer in layers):
            from .products import unprotected

            fields, filled = unprotected(fields), unprotected(filled)
    is_alone = has_variables or config.pool or config.has_names
    plugin = fields.get("devicePlugin") or fields.get("dra") or {}  # an account of its own has the config's name in it
    return config._replace(
        layers=layers,
        fields=fields,
        spec=spec(filled),
        has_variables=has_variables,
        has_switches=any("'enabled'" in text or "'unset'" in text for text in texts),
        has_accounts=any("'serviceAccount'" in text for text in texts),
        likeness=b"" if is_alone or "extraObjects" in fields or "serviceAccount" in plugin else _likeness(config.item),
    )


def _ref(item: Item, function_config: FunctionConfig) -> Ref:
    return item.ref if item.ref.namespace else item.ref._replace(namespace=function_config.namespace)


def _likeness(item: Item) -> bytes:
    """Return the same bytes for configs of one kind, version, profile and fields but for the labels they select."""
    own = item.content.manifest.get("spec") or {}
    if own.get("nodeSelector") and item.group in (OURS, SEED):
        own = {**own, "nodeSelector": True}  # no variable stands there: the schema lets none in
    return fingerprint((item.api_version, item.kind, profile_of(item), own)) or b""


def _like(other: DeviceConfig, item: Item, function_config: FunctionConfig) -> DeviceConfig:
    """Return the values of a config that is like another one: all but its names and the labels that it selects."""
    own = item.content.manifest.get("spec") or {}
    if other.layers[0].path != "spec":  # its kind is its vendor's
        return other._replace(item=item, ref=_ref(item, function_config))
    selected = {"nodeSelector": own["nodeSelector"]} if "nodeSelector" in own else {}
    spec = Spec()
    vars(spec).update(vars(other.spec), **selected)  # what is typed stays so
    layers, fields = (Layer(own, "spec", item), *other.layers[1:]), {**other.fields, **selected}
    return other._replace(item=item, ref=_ref(item, function_config), layers=layers, fields=fields, spec=spec)


def _of_profile(layers: Sequence[Layer]) -> int:
    """Return the position of the first layer of a profile, behind those of the config and of `overrides`."""
    own = [at for at, layer in enumerate(layers, 1) if layer.path == "spec" or layer.path.startswith("spec.overrides")]
    return max(own, default=0)
