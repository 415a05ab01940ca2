"""The layers that a Profile gives to a config, and the errors in them."""

from collections.abc import Iterable, Iterator
from itertools import chain

from krmfn import Field, Item, Ref, Result, error, schema
from krmfn.resource import join, split
from krmfn.typed import Any

from ..kmm.lookup import map_texts, strings
from ..profile import expressions
from ..profile.expansion import PROTECTED, Expansion, FilledLayer, expand
from ..profile.product import Profile
from ..profile.structural import may_be
from ..rendering.function_config import FunctionConfig, Source
from ..rendering.kinds import schema as schema_of
from .layers import Layer, Vendor, at_origin, is_ours, options_of, with_vendor
from .merging import OF_MODULE, UNSET

_ROOT = "renderdeviceconfigs"
OF_MODULES = OF_MODULE | {"moduleName", "driverImage", "driverImageParts", "daemonSets"}
"""The fields that may differ between several Modules of a config; all others are for the whole config."""


def layers(
    product: Profile, item: Item, ref: Ref, config: FunctionConfig, known: Expansion | None = None
) -> tuple[tuple[Layer, ...], Vendor, dict[str, tuple[Layer, ...]]]:
    """Return the layers of a config with a Profile, the strongest first; the Profile's versions and locks; the Modules.

    Each of several Modules has layers that are stronger than those of the Profile. `known` is the expansion of the
    Profile for the config, without protected dollars, if `problems` has made it.
    """
    expansion = known
    if expansion is None or "KRMFN_" in str(options_of(item)).upper():
        overrides = config.overrides.get(product.name, {})
        expansion = expand(product, options_of(item), ref, overrides, schema_of(_ROOT), True)
    fields = {name: value for name, value in (item.content.manifest.get("spec") or {}).items() if name != "options"}
    written = [Layer(fields, "spec", item)] if is_ours(item) else []
    source = Source(product.item.ref, product.item)
    above, profile = _layers(config.source, expansion.overrides), _layers(source, expansion.layers)
    versions = zip(product.spec.get("versions", ()), _layers(source, expansion.versions), strict=True)
    rest, vendor = with_vendor(product.name, above, profile, versions, config)
    modules = {key: tuple(_layers(source, part)) for key, part in expansion.modules.items()}
    return (*written, *rest), vendor._replace(title=product.title), modules


def _layers(source: Source, parts: Iterable[FilledLayer]) -> list[Layer]:
    return [Layer(part.fields, part.path, source, part) for part in parts]


def problems(item: Item, ref: Ref, config: FunctionConfig) -> tuple[list[Result], Expansion | None]:
    """Return the errors in the expansion of a config's Profile, each where to correct it, and the expansion."""
    product = config.product(item)
    if product is None:
        return [], None
    findings = list(_expressions(product, item))
    expansion = expand(product, options_of(item), ref, config.overrides.get(product.name), schema_of(_ROOT), False)
    if expansion.mistakes and options_of(item) is None:
        message = "is missing, and there is no default for an option below it"
        return [item.located(error(message, rule="KRM180", field=Field("spec"), remedy="write `spec: {}`"))], expansion
    for path, mistake in expansion.mistakes:
        holder = config.source if path.startswith("spec.overrides") else product.item
        finding = error(mistake.message, rule="KRM180", field=Field(path), remedy=mistake.remedy)
        findings.append(holder.located(finding))
    source = Source(product.item.ref, product.item)
    parts = (*expansion.layers, *expansion.versions, *chain.from_iterable(expansion.modules.values()))
    for layer in (*_layers(source, parts), *_layers(config.source, expansion.overrides)):
        for misfit in _misfits(layer):
            written = layer._replace(filled=layer.filled._replace(options={})) if _never_fits(layer, misfit) else layer
            findings.append(at_origin(item, ref, written, misfit))
    clashes = _clashes(product, item, ref, config, expansion) if expansion.modules else ()
    return findings or list(clashes), expansion


def _clashes(product: Profile, item: Item, ref: Ref, config: FunctionConfig, expansion: Expansion) -> Iterator[Result]:
    """Yield an error per field that a config of several Modules, or one Module of several, cannot have."""
    shared, _, modules = layers(product, item, ref, config, expansion)

    def clash(layer: Layer, name: str, message: str, remedy: str) -> Result:
        finding = error(message, rule="KRM180", field=Field(f"{layer.path}.{name}"), remedy=remedy)
        return at_origin(item, ref, layer, finding)

    for layer in (*shared, *_layers(Source(product.item.ref, product.item), expansion.versions)):
        if "nodePools" in layer.fields:
            yield clash(layer, "nodePools", "nodePools and the modules of a Profile exclude each other", "leave it out")
    parts = chain(expansion.layers, expansion.versions)
    names = {entry["name"] for part in parts for entry in part.fields.get("daemonSets", ())}
    for layer in chain.from_iterable(modules.values()):
        for name in [
            *(layer.fields.keys() - OF_MODULES - {UNSET}),
            *(split(name)[0] for name in layer.fields.get(UNSET, ())),
        ]:
            if name not in OF_MODULES:
                remedy = "write it in `config` of the Profile"
                yield clash(layer, name, f"{name} is for all Modules of a config", remedy)
        for index, entry in enumerate(layer.fields.get("daemonSets", ())):
            if entry["name"] in names:
                message = "is the name of a DaemonSet for all Modules of a config, which is made once"
                yield clash(layer, f"daemonSets[{index}].name", message, "rename one of the two")


def unprotected(data: Any) -> Any:
    """Return nested data with the dollars of options in their places."""
    return map_texts(data, lambda text: text.replace(PROTECTED, "$"))


def _misfits(layer: Layer) -> Iterator[Result]:
    """Yield an error per part of a layer that does not fit the schema of a DeviceConfig."""
    root, name = schema_of(_ROOT), _definition(layer)
    fields = {"version": "1", **layer.fields} if name == "release" else layer.fields
    if not root.fits(fields, name):
        for result in schema.check(fields, {"$ref": f"#/$defs/{name}", "$defs": root["$defs"]}, "KRM180"):
            path = result.field.path if result.field else ""
            yield result._replace(field=Field(f"{layer.path}{'.' if path and path[0] != '[' else ''}{path}"))


def _definition(layer: Layer) -> str:
    return "release" if layer.path.startswith("spec.versions[") else "profile"


def _never_fits(layer: Layer, misfit: Result) -> bool:
    """Return True for a misfit that the Profile causes, whatever the options are: an unknown field, another type."""
    defs = schema_of(_ROOT)["$defs"]
    node: Any = defs[_definition(layer)]
    value: Any = layer.fields
    for part in split(misfit.field.path.removeprefix(layer.path)) if misfit.field else ():
        node = defs[node["$ref"].rpartition("/")[2]] if "$ref" in node else node
        if not isinstance(value, (dict, list)):  # the key in the path has brackets of its own
            return True
        value = value[int(part)] if isinstance(value, list) else value.get(part)
        node = node.get("items") or node.get("properties", {}).get(part) or node.get("additionalProperties")
        if not isinstance(node, dict):
            return True
    node = defs[node["$ref"].rpartition("/")[2]] if "$ref" in node else node
    types = node.get("type", []) if value is not None else []  # a missing value has no type
    names = [types] if isinstance(types, str) else types
    return bool(names) and not any(may_be({"type": name}, value) for name in names)


def _expressions(product: Profile, item: Item) -> Iterator[Result]:
    """Yield an error per option whose value looks like an expression: a Profile never evaluates one there."""
    start = ("spec", "options") if is_ours(item) else ("spec",)
    for path, text, _ in strings(options_of(item)):
        if expressions.NEARLY.search(text):
            message = "an option cannot hold an expression of a Profile: it is not read again"
            yield item.located(
                error(message, rule="KRM182", field=Field(join((*start, *path)), text), remedy="write the value itself")
            )
