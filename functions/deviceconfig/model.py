"""The values of a DeviceConfig: its own fields over its profile's over the defaults, typed, one value per pool."""

from collections.abc import Mapping, Sequence

from krmfn import Field, Item, Ref, Result, error
from krmfn.resource import split, starts
from krmfn.typed import Any, NamedTuple

from ..rendering.generated import metadata
from .fields import NESTED, Fields, KernelMapping, Spec
from .layers import Layer, Vendor, at_origin, place
from .merging import UNSET, merged

Specs = dict[tuple[Any, ...], dict[str, Any]]
"""The specs of Modules and of pods that a run has made so far, by the likeness of their configs, and which it is."""


def spec(fields: Mapping[str, Any]) -> Spec:
    """Return the fields of a DeviceConfig's spec, which fit the schema, as a `Spec`."""
    typed: Spec = _typed(Spec, fields)
    return typed


def _typed(kind: type[Fields], fields: Mapping[str, Any]) -> Any:
    """Return the fields as a value of their type, and those among them that have types of their own as such."""
    typed = kind()
    values = vars(typed)
    values.update(fields)
    for name in NESTED.keys() & values.keys():
        nested, value = NESTED[name], values[name]
        values[name] = [_typed(nested, entry) for entry in value] if isinstance(value, list) else _typed(nested, value)
    return typed


def written(fields: Fields, *names: str) -> dict[str, Any]:
    """Return those of the fields that are written, in the order of `names`."""
    own = vars(fields)
    return {name: own[name] for name in names if name in own}


_EVERY_KERNEL = spec({"kernelMappings": [{"regexp": "^.+$"}]}).kernelMappings
_EVERY_RHEL_KERNEL = spec({"kernelMappings": [{"regexp": r"^.*\.el\d+(_\d+)?\..*$"}]}).kernelMappings


class DeviceConfig(NamedTuple):
    """A driver for a group of nodes: a whole DeviceConfig, or one pool of it."""

    item: Item
    ref: Ref
    """The DeviceConfig; its namespace is filled in."""
    seed: bool
    profile: str
    pool: str
    """The node pool's name, "" for a config without pools."""
    layers: tuple[Layer, ...]
    """Where the fields come from, the strongest first: pool, config, profile's version, profile, defaults."""
    fields: dict[str, Any]
    """All fields, merged, as they are written."""
    spec: Spec
    """The same, typed and with our variables filled in: images are not completed and not mirrored."""
    annotations: dict[str, str]
    """Annotations that the functionConfig gives to every generated object."""
    vendor: Vendor = Vendor()
    """What its profile says beside fields."""
    has_variables: bool = False
    """Whether a variable of ours may stand in a field of some layer."""
    has_names: bool = False
    """Whether an expression of its Profile may hold its name or namespace."""
    has_switches: bool = False
    """Whether some layer may switch a field on or off, or unset it."""
    has_accounts: bool = False
    """Whether some layer may say what is generated for an account."""
    likeness: bytes = b""
    """Equal for configs that differ in their names and in which labels they select alone, so that most rules find the
    same in them; b"" for a config that is like no other (see `reading`)."""
    retained: tuple["DeviceConfig", ...] = ()
    """The same config at each earlier version that an ordered upgrade retains, with what only DaemonSets need."""
    modules: Mapping[str, frozenset[str]] = {}  # read only
    """The keys of several Modules of a config, of which `pool` is one, with the DaemonSets of that Module alone."""

    @property
    def name(self) -> str:
        """The Module's name: `<name>`, `<name>-<pool>`, or `<name>-module` as the seed operator has it."""
        return f"{self.ref.name}-module" if self.seed else self.base

    @property
    def base(self) -> str:
        """The first part of the names of DaemonSets and Services."""
        return f"{self.ref.name}-{self.pool}" if self.pool else self.ref.name

    def shares(self, daemon_set: str) -> bool:
        """Return True for a DaemonSet that is made once for all Modules of the config."""
        return bool(self.modules) and daemon_set not in self.modules[self.pool]

    def makes(self, daemon_set: str) -> bool:
        """Return True for a DaemonSet that is made with this Module: its own, or, with the first, one for all."""
        is_first = not self.modules or self.pool == next(iter(self.modules))
        is_own = any(daemon_set in own for own in self.modules.values())
        return not self.shares(daemon_set) or (is_first and not is_own)

    def waited_for(self, daemon_set: str) -> list[str]:
        """Return the names of the Modules that a DaemonSet waits for."""
        return [f"{self.ref.name}-{key}" for key in self.modules] if self.shares(daemon_set) else [self.name]

    @property
    def loads(self) -> bool:
        """Whether a kernel module is loaded; False for a driver that is in the kernel's own tree."""
        return not self.spec.inTreeDriver

    @property
    def has_module(self) -> bool:
        """Whether a Module is generated: one that would neither load nor start anything is not."""
        return bool(self.loads or self.spec.devicePlugin or self.spec.dra)

    @property
    def version(self) -> str:
        """The version of an ordered upgrade; "" without one."""
        return self.spec.driverVersion if self.spec.upgrade and self.spec.upgrade.ordered else ""

    def metadata(self, name: str, component: str, order: dict[str, str], *own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the metadata of a generated object with the labels and annotations of the config, and `own` over them.

        The functionConfig's annotations are below those of the config.
        """
        labels, annotations = dict[str, str](), dict(self.annotations)
        for given in (vars(self.spec), *own):
            labels.update(given.get("labels") or {})
            annotations.update(given.get("annotations") or {})
        return metadata(name, self.ref, component, order, labels, annotations)

    @property
    def mappings(self) -> Sequence[KernelMapping]:
        """The kernel mappings; without any, all kernels (the seed's: those of RHEL and its kin)."""
        return self.spec.kernelMappings or (_EVERY_RHEL_KERNEL if self.seed else _EVERY_KERNEL)

    def layer(self, field: str) -> Layer | None:
        """Return the strongest layer that has a field (`kernelMappings[0].image`); None when no layer has it."""
        return place(self.layers, self.fields, field)[0]

    def givers(self, name: str) -> list[Layer]:
        """Return the layers without which a field (`daemonSets`) would have another value."""
        having = [layer for layer in self.layers if name in layer.fields]
        if name == UNSET:
            return having
        if name != "nodePools" and value(self.spec, name) is None:
            return []
        if len(having) < 2:
            return having
        layers = [layer for layer in self.layers if name in layer.fields or name in layer.fields.get(UNSET, ())]
        parts = [{key: layer.fields[key] for key in (name, UNSET) if key in layer.fields} for layer in layers]
        whole = merged(parts)
        without = (merged(parts[:at] + parts[at + 1 :]) for at in range(len(parts)))
        return [layer for layer, rest in zip(layers, without, strict=True) if name in layer.fields and rest != whole]

    def at(self, field: str) -> str:
        """Return the path of a field where it is written; in the config's spec when it is not."""
        return place(self.layers, self.fields, field)[1]

    def error(self, message: str, field: str, current: Any = None) -> Result:
        """Return an error about a field of the config, which holds `current`, at the path where it is written."""
        return error(message, field=Field(self.at(field), current))

    def located(self, result: Result) -> Result:
        """Return the finding about the config, or about the functionConfig when its field is written there."""
        path = result.field.path if result.field else ""
        holder = next((layer for layer in self.layers if layer.shared and starts(path, layer.path)), None)
        if holder and holder.filled:
            return at_origin(self.item, self.ref, holder, result)
        return (holder.source if holder else self.item).located(result if holder else result._replace(ref=self.ref))


def value(spec: Any, name: str) -> Any:
    """Return what a spec holds at a field such as `daemonSets[0].image`; None when it holds nothing there."""
    for part in split(name):
        if isinstance(spec, list):
            spec = spec[int(part)] if int(part) < len(spec) else None
        elif isinstance(spec, dict):
            spec = spec.get(part)
        else:
            spec = getattr(spec, part, None)
    return None if spec in ("", (), []) else spec
