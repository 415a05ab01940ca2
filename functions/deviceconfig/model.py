"""A DeviceConfig as values: the merged and typed fields of all layers, for each node pool."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from krmfn import Field, Item, Ref, Result, error
from krmfn.resource import split, starts
from krmfn.typed import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..rendering.generated import metadata
from ..rendering.kinds import CLUSTER_WIDE
from .fields import NESTED, Fields, KernelMapping, Spec
from .layers import Layer, Vendor, at_origin, place
from .merging import UNSET, merged

if TYPE_CHECKING:
    from ..rendering.extra_kinds import ExtraKinds

Kind = TypeVar("Kind", bound=Fields)
Specs = dict[tuple[Any, ...], dict[str, Any]]
"""The specs that a run has generated so far: of Modules by the fingerprint of the config, of pods by more than that."""


def typed(kind: type[Kind], fields: Mapping[str, Any]) -> Kind:
    """Return fields that fit the schema as a value of this type, with those in NESTED as values of their types."""
    result = kind()
    values = vars(result)
    values.update(fields)
    for name in NESTED.keys() & values.keys():
        nested, value = NESTED[name], values[name]
        values[name] = [typed(nested, entry) for entry in value] if isinstance(value, list) else typed(nested, value)
    return result


def written(fields: Fields, *names: str) -> dict[str, Any]:
    """Return the fields in `names` that are written, in this order."""
    values = vars(fields)
    return {name: values[name] for name in names if name in values}


_EVERY_KERNEL = [typed(KernelMapping, {"regexp": "^.+$"})]
_EVERY_RHEL_KERNEL = [typed(KernelMapping, {"regexp": r"^.*\.el\d+(_\d+)?\..*$"})]


class DeviceConfig(NamedTuple):
    """A driver for a group of nodes: a DeviceConfig, or one of its node pools or Modules."""

    item: Item
    ref: Ref
    """The DeviceConfig, with its namespace filled in."""
    seed: bool
    """Whether it is of the seed operator's group."""
    profile: str
    pool: str
    """The name of the node pool, the key of one of several Modules, or ""."""
    layers: tuple[Layer, ...]
    """Where the fields come from, the strongest first: pool, config, profile's version, profile, defaults."""
    fields: dict[str, Any]
    """All fields, merged, as they are written."""
    spec: Spec
    """The same, typed and with our variables filled in; images are neither completed nor mirrored."""
    annotations: dict[str, str]
    """Annotations that the functionConfig gives to every generated object."""
    vendor: Vendor = Vendor()
    """What its profile says beside fields."""
    has_variables: bool = False
    """Whether a field of some layer may have a variable of ours."""
    has_names: bool = False
    """Whether an expression of its Profile may contain the config's name or namespace."""
    has_switches: bool = False
    """Whether some layer may switch a field on or off, or unset it."""
    has_accounts: bool = False
    """Whether some layer may have a `serviceAccount`."""
    fingerprint: bytes = b""
    """Equal for configs that differ only in their names and in the labels that they select, so that most rules find the
    same in them; b"" for a config that has to be judged by itself (see `reading`)."""
    retained: tuple["DeviceConfig", ...] = ()
    """The same config at each earlier version that an ordered upgrade retains, with the fields for DaemonSets."""
    modules: Mapping[str, frozenset[str]] = {}  # read only
    """For a config of several Modules: the DaemonSets that belong to one Module alone, by the keys of the Modules."""
    extra_kinds: "ExtraKinds" = MappingProxyType({})
    """The kinds beside EXTRA that the functionConfig lets its extra objects be of."""

    @property
    def name(self) -> str:
        """The Module's name: `<name>`, `<name>-<pool>`, or `<name>-module` as the seed operator names it."""
        return f"{self.ref.name}-module" if self.seed else self.base

    @property
    def base(self) -> str:
        """The first part of the names of DaemonSets and Services."""
        return f"{self.ref.name}-{self.pool}" if self.pool else self.ref.name

    def shares(self, daemon_set: str) -> bool:
        """Return True for a DaemonSet that is made once for all Modules of the config."""
        return bool(self.modules) and daemon_set not in self.modules[self.pool]

    def makes(self, daemon_set: str) -> bool:
        """Return True for a DaemonSet that is made with this Module; shared ones are made with the first Module."""
        is_first = not self.modules or self.pool == next(iter(self.modules))
        has_module = any(daemon_set in names for names in self.modules.values())
        return not self.shares(daemon_set) or (is_first and not has_module)

    def waited_for(self, daemon_set: str) -> list[str]:
        """Return the names of the Modules that a DaemonSet waits for."""
        return [f"{self.ref.name}-{key}" for key in self.modules] if self.shares(daemon_set) else [self.name]

    def is_cluster_wide(self, entry: Mapping[str, Any]) -> bool:
        """Return True for an object of a kind without namespaces."""
        pair = (entry["apiVersion"].rpartition("/")[0], entry["kind"])
        return pair in CLUSTER_WIDE or self.extra_kinds.get(pair, False)

    @property
    def loads(self) -> bool:
        """Whether a kernel module is loaded; False for a driver that is in the kernel's own tree."""
        return not self.spec.inTreeDriver

    @property
    def has_module(self) -> bool:
        """Whether a Module is generated: only if it loads or starts something."""
        return bool(self.loads or self.spec.devicePlugin or self.spec.dra)

    @property
    def version(self) -> str:
        """The version of an ordered upgrade; "" without one."""
        return self.spec.driverVersion if self.spec.upgrade and self.spec.upgrade.ordered else ""

    def metadata(self, name: str, component: str, order: dict[str, str], *holders: Mapping[str, Any]) -> dict[str, Any]:
        """Return the metadata of a generated object.

        The labels and annotations of `holders` override those of the config, which override the functionConfig's.
        """
        labels, annotations = dict[str, str](), dict(self.annotations)
        for holder in (vars(self.spec), *holders):
            labels.update(holder.get("labels") or {})
            annotations.update(holder.get("annotations") or {})
        return metadata(name, self.ref, component, order, labels, annotations)

    @property
    def mappings(self) -> Sequence[KernelMapping]:
        """The kernel mappings; without any, one for all kernels (the seed's: all kernels of RHEL and its kin)."""
        return self.spec.kernelMappings or (_EVERY_RHEL_KERNEL if self.seed else _EVERY_KERNEL)

    def layer(self, field: str) -> Layer | None:
        """Return the strongest layer that has a field (`kernelMappings[0].image`); None when no layer has it."""
        return place(self.layers, self.fields, field)[0]

    def effective_layers(self, name: str) -> list[Layer]:
        """Return the layers without which a field (`daemonSets`) would have another value."""
        holders = [layer for layer in self.layers if name in layer.fields]
        if name not in (UNSET, "nodePools") and value(self.spec, name) is None:
            return []
        if name == UNSET or len(holders) < 2:
            return holders
        layers = [layer for layer in self.layers if name in layer.fields or name in layer.unset_fields]
        parts = [{key: layer.fields[key] for key in (name, UNSET) if key in layer.fields} for layer in layers]
        fields = merged(parts)
        rests = (merged(parts[:index] + parts[index + 1 :]) for index in range(len(parts)))
        return [layer for layer, rest in zip(layers, rests, strict=True) if name in layer.fields and rest != fields]

    def at(self, field: str) -> str:
        """Return the path of a field where it is written; in the config's spec when it is not."""
        return place(self.layers, self.fields, field)[1]

    def error(self, message: str, field: str, current: Any = None, remedy: str = "") -> Result:
        """Return an error about a field of the config with the value `current`, at the path where it is written."""
        return error(message, field=Field(self.at(field), current), remedy=remedy)

    def located(self, result: Result) -> Result:
        """Return the finding about the document in which its field is written: config, functionConfig or Profile."""
        path = result.field.path if result.field else ""
        holder = next((layer for layer in self.layers if layer.shared and starts(path, layer.path)), None)
        if holder and holder.filled:
            return at_origin(self.item, self.ref, holder, result)
        return (holder.source if holder else self.item).located(result if holder else result._replace(ref=self.ref))


def value(spec: Any, name: str) -> Any:
    """Return the value of a field of a spec, such as `daemonSets[0].image`; None for an empty one or none."""
    for part in split(name):
        if isinstance(spec, list):
            spec = spec[int(part)] if int(part) < len(spec) else None
        elif isinstance(spec, dict):
            spec = spec.get(part)
        else:
            spec = getattr(spec, part, None)
    return None if spec in ("", (), []) else spec
