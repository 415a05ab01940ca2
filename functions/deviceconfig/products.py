"""The layers that a Profile gives to a config: expanded, judged, and where findings about them belong."""

from collections.abc import Iterable, Iterator

from krmfn import Field, Item, Ref, Result, error, schema
from krmfn.resource import join, split
from krmfn.typed import Any

from ..kmm.lookup import map_texts, strings
from ..profile import expressions
from ..profile.expansion import PROTECTED, Expansion, Filled, expand
from ..profile.product import Profile
from ..profile.structural import may_be
from ..rendering.function_config import FunctionConfig, Source
from ..rendering.kinds import schema as schema_of
from .layers import Layer, Vendor, at_origin, driven, is_ours, options_of
from .merging import OF_MODULE, UNSET

_ROOT = "renderdeviceconfigs"
OF_MODULES = OF_MODULE | {"moduleName", "driverImage", "driverImageParts", "daemonSets"}
"""The fields that each of several Modules may have of its own; others reach what is shared."""


def layers(
    product: Profile, item: Item, ref: Ref, config: FunctionConfig, known: Expansion | None = None
) -> tuple[tuple[Layer, ...], Vendor, dict[str, tuple[Layer, ...]]]:
    """Return the layers of a config that a Profile drives, the strongest first, its versions and locks.

    And the layers of each of several Modules, which are stronger than those of the Profile. `known` is what the
    Profile makes of it, without protection.
    """
    made = known
    if made is None or "KRMFN_" in str(options_of(item)).upper():
        made = expand(product, options_of(item), ref, config.overrides.get(product.name, {}), schema_of(_ROOT), True)
    fields = {name: own for name, own in (item.content.manifest.get("spec") or {}).items() if name != "options"}
    words = [Layer(fields, "spec", item)] if is_ours(item) else []
    source = Source(product.item.ref, product.item)
    over = _layers(config.source, made.overrides)
    versions = zip(product.spec.get("versions", ()), _layers(source, made.versions), strict=True)
    below, beside = driven(product.name, over, _layers(source, made.layers), versions, config)
    modules = {key: tuple(_layers(source, part)) for key, part in made.modules.items()}
    return (*words, *below), beside._replace(title=product.title), modules


def _layers(source: Source, layers: Iterable[Filled]) -> list[Layer]:
    return [Layer(one.fields, one.path, source, one) for one in layers]


def problems(item: Item, ref: Ref, config: FunctionConfig) -> tuple[list[Result], Expansion | None]:
    """Return what is wrong with what a Profile makes of a config, each where it can be mended, and what it makes."""
    product = config.product(item)
    if product is None:
        return [], None
    found = list(_read_again(product, item))
    made = expand(product, options_of(item), ref, config.overrides.get(product.name), schema_of(_ROOT), False)
    for path, message in made.problems:
        holder = config.source if path.startswith("spec.overrides") else product.item
        found.append(holder.located(error(message, rule="KRM180", field=Field(path))))
    source = Source(product.item.ref, product.item)
    every = [layer for part in (made.layers, made.versions, *made.modules.values()) for layer in _layers(source, part)]
    for layer in (*every, *_layers(config.source, made.overrides)):
        for wrong in _misfits(layer):
            shown = layer._replace(filled=layer.filled._replace(options={})) if _never_fits(layer, wrong) else layer
            found.append(at_origin(item, ref, shown, wrong))
    return found or list(_of_modules(product, item, ref, config, made) if made.modules else ()), made


def _of_modules(product: Profile, item: Item, ref: Ref, config: FunctionConfig, made: Expansion) -> Iterator[Result]:
    """Yield what no config of several Modules can have: node pools, and in one Module what is for all of them."""
    shared, _, modules = layers(product, item, ref, config, made)

    def wrong(layer: Layer, name: str, message: str) -> Result:
        return at_origin(item, ref, layer, error(message, rule="KRM180", field=Field(f"{layer.path}.{name}")))

    for layer in (*shared, *_layers(Source(product.item.ref, product.item), made.versions)):
        if "nodePools" in layer.fields:
            yield wrong(layer, "nodePools", "nodePools and the modules of a Profile exclude each other; leave it out")
    names = {entry["name"] for one in (*made.layers, *made.versions) for entry in one.fields.get("daemonSets", ())}
    for layer in (one for part in modules.values() for one in part):
        for name in [*(layer.fields.keys() - OF_MODULES - {UNSET}), *layer.fields.get(UNSET, ())]:
            if name not in OF_MODULES:
                yield wrong(layer, name, f"{name} is for all Modules of a config; write it in `config` of the Profile")
        for at, entry in enumerate(layer.fields.get("daemonSets", ())):
            if entry["name"] in names:
                why = "is the name of a DaemonSet for all Modules of a config, which is made once"
                yield wrong(layer, f"daemonSets[{at}].name", f"{why}; rename one of the two")


def unprotected(data: Any) -> Any:
    """Return nested data with the dollars of options in their places."""
    return map_texts(data, lambda text: text.replace(PROTECTED, "$"))


def _misfits(one: Layer) -> Iterator[Result]:
    """Yield what of a layer fits no field of a DeviceConfig."""
    root, name = schema_of(_ROOT), _definition(one)
    fields = {"version": "1", **one.fields} if name == "release" else one.fields
    if not root.fits(fields, name):
        for result in schema.check(fields, {"$ref": f"#/$defs/{name}", "$defs": root["$defs"]}, "KRM180"):
            path = result.field.path if result.field else ""
            yield result._replace(field=Field(f"{one.path}{'.' if path and path[0] != '[' else ''}{path}"))


def _definition(one: Layer) -> str:
    return "release" if one.path.startswith("spec.versions[") else "profile"


def _never_fits(one: Layer, wrong: Result) -> bool:
    """Return True for a misfit of which the Profile is the cause and no option: an unknown field, another type."""
    defs = schema_of(_ROOT)["$defs"]
    node: Any = defs[_definition(one)]
    held: Any = one.fields
    for part in split(wrong.field.path.removeprefix(one.path)) if wrong.field else ():
        node = defs[node["$ref"].rpartition("/")[2]] if "$ref" in node else node
        if not isinstance(held, (dict, list)):  # the key in the path has brackets of its own
            return True
        held = held[int(part)] if isinstance(held, list) else held.get(part)
        node = node.get("items") or node.get("properties", {}).get(part) or node.get("additionalProperties")
        if not isinstance(node, dict):
            return True
    node = defs[node["$ref"].rpartition("/")[2]] if "$ref" in node else node
    kinds = node.get("type", []) if held is not None else []  # what is missing is of no type
    every = [kinds] if isinstance(kinds, str) else kinds
    return bool(kinds) and not any(may_be({"type": kind}, held) for kind in every)


def _read_again(product: Profile, item: Item) -> Iterator[Result]:
    """Yield an error per option that holds what would be an expression: it is never read again."""
    start = ("spec", "options") if is_ours(item) else ("spec",)
    for path, text, _ in strings(options_of(item)):
        if expressions.NEARLY.search(text):
            message = "an option cannot hold an expression of a Profile: it is not read again; write the value itself"
            yield item.located(error(message, rule="KRM182", field=Field(join((*start, *path)), text)))
