"""The functionConfig: defaults, vendor profiles, and what to do with objects that are already in the list."""

from collections.abc import Iterator
from itertools import islice

from krmfn import Field, Item, KrmfnError, Manifest, Ref, ResourceList, Result, error, schema
from krmfn.resource import join, ref, split
from krmfn.typed import TYPE_CHECKING, Any, NamedTuple

from .. import oracles
from ..fleet import readings
from ..kmm.lookup import MISSING, at, table
from ..kmm.versions import DEFAULT, target
from ..mistake import Mistake
from ..rule import Rule
from ..run import Run, run_of
from . import kinds

if TYPE_CHECKING:
    from ..profile.product import Profile
    from .extra_kinds import ExtraKinds

GROUP, KIND = "krmfn.dev", "RenderDeviceConfigs"
PRUNE = ("auto", "always", "never")


class Source(NamedTuple):
    """Where the functionConfig comes from, for findings about it."""

    ref: Ref = Ref()
    item: Item | None = None
    """Its text, when it was read from a file; function mode has none."""
    data: dict[str, Any] = {}  # noqa: RUF012  # read only
    """The entries of a ConfigMap by their keys, such as `exclusivity.mode`."""
    items: tuple[Item, ...] = ()
    """All of several functionConfigs that make this one."""

    def located(self, result: Result) -> Result:
        """Return the finding with the functionConfig as its object, and with the place of its field.

        The path of a value from a ConfigMap is its path in the ConfigMap: `data[exclusivity.mode]`.
        """
        path = result.field.path.removeprefix("spec.") if result.field else ""
        keys = [key for key in self.data if key == path or key.startswith(f"{path}.") or path.startswith(f"{key}.")]
        field = Field(f"data[{keys[0]}]", self.data[keys[0]]) if keys else result.field
        result = result._replace(ref=self.ref, field=field)
        parts = split(result.field.path) if self.items and result.field else ()
        for depth in range(min(3, len(parts)), 0, -1):
            for item in self.items:
                if at(item.manifest, parts[:depth]) is not MISSING:
                    return item.located(result._replace(ref=item.ref))
        return self.item.located(result) if self.item else result


class FunctionConfig(NamedTuple):
    """The values of a RenderDeviceConfigs; the defaults here hold for fields that it leaves out."""

    defaults: dict[str, Any] = {}  # noqa: RUF012  # read only
    profiles: dict[str, dict[str, Any]] = {}  # noqa: RUF012
    namespace: str = ""
    kmm_version: str = DEFAULT
    exclusivity: str = "auto"
    adopt: bool = False
    prune: str = "auto"
    """Whether generated objects are removed whose owner is not in the input: `auto`, `always` or `never`."""
    partial_view: bool = False
    annotations: dict[str, str] = {}  # noqa: RUF012
    """Annotations for every generated object."""
    ignore: dict[str, str] = {}  # noqa: RUF012
    """Rules that are turned off, each with the reason."""
    source: Source = Source()
    """The functionConfig itself."""
    products: dict[str, Any] = {}  # noqa: RUF012  # of Profiles; with their type a compiler would start
    """The Profiles among the resources, by their names."""
    by_kind: dict[tuple[str, str], list[Any]] = {}  # noqa: RUF012
    """The same Profiles by the (group, kind) of the configs that they drive; see `products.added`."""
    overrides: dict[str, dict[str, Any]] = {}  # noqa: RUF012
    """Fields that override those of a profile or Profile, by its name."""
    operators: frozenset[tuple[str, str]] = frozenset()
    """(group, kind) of configs that an operator in the cluster acts on."""
    selectors: dict[tuple[str, str], str] = {}  # noqa: RUF012
    """The paths of the node selectors of those kinds among them that take part in exclusivity."""
    extra_kinds: "ExtraKinds" = {}  # noqa: RUF012
    """Kinds that Profiles may add beside EXTRA, and whether each has no namespace."""
    names_kmm: bool = False
    """Whether the KMM version is one that somebody names, or that a dump shows."""

    def product(self, item: Item) -> "Profile | None":
        """Return the Profile that drives a config: the one that it names, else the one for its kind."""
        mark = item.annotations.get(kinds.PROFILE_MARK, "")
        if item.group == GROUP:
            name = table(item.manifest, "spec").get("profile") or mark
            return self.products.get(name) if isinstance(name, str) else None
        candidates = [self.products[mark]] if mark in self.products else [] if mark else self._for_kind(item)
        drivers = list(islice((profile for profile in candidates if profile.drives(item)), 2))
        return drivers[0].of(item) if len(drivers) == 1 else None

    def _for_kind(self, item: Item) -> "list[Profile]":
        return self.by_kind.get((item.group, item.kind), [])


def read(resources: ResourceList) -> tuple[FunctionConfig, list[Result]]:
    """Return the functionConfig of a run, and the errors about it.

    It is a RenderDeviceConfigs, or a ConfigMap whose keys are paths in the spec of one (as kpt users write it:
    `exclusivity.mode: nodes`, `defaults.moduleName: drv`, all values strings), or there is none. Options of the
    command line override it.
    """
    config = resources.function_config or {}
    source = Source(ref(config), run_of(resources).config_item, {}, run_of(resources).config_items)
    if source.ref.kind == "ConfigMap" and source.ref.group == "":
        data = config.get("data") or {}
        if not isinstance(data, dict):
            message = "must be a mapping of settings to strings, such as `exclusivity.mode: nodes`"
            return FunctionConfig(), [source.located(error(message, rule="KRM110", field=Field("data")))]
        source = source._replace(data=data)
        metadata = {"name": source.ref.name or "function-input"}
        config = {"apiVersion": f"{GROUP}/v1alpha1", "kind": KIND, "metadata": metadata, "spec": _nested(data)}
    elif not config:
        return _settings({}, run_of(resources)), []
    elif (source.ref.group, source.ref.kind) != (GROUP, KIND):
        expected = f"{GROUP}/v1alpha1 {KIND}, a ConfigMap, or none"
        message = f"functionConfig is {source.ref.api_version} {source.ref.kind}; expected {expected}"
        return FunctionConfig(), [error(message, rule="KRM110", place=source.item.place if source.item else None)]
    # function mode has no item: kustomize and kpt have refused such a document themselves
    misfits = [*readings.check(source.item), *readings.repeated(source.item)] if source.item else []
    misfits += [*schema.check(config, kinds.schema("renderdeviceconfigs"), "KRM110")]
    misfits += _variables(config.get("spec"))
    if misfits:
        from .variables import explain  # here, since most functionConfigs fit

        return FunctionConfig(), [source.located(explain(_in_function_config(misfit))) for misfit in misfits]
    spec = config.get("spec") or {}
    findings = [source.located(finding) for finding in _unknown_version(spec.get("kmm", {}).get("version", DEFAULT))]
    if "extraKinds" in spec:
        from . import extra_kinds  # here, since few have any

        findings += map(source.located, extra_kinds.check(spec["extraKinds"]))
    return _settings(spec, run_of(resources))._replace(source=source), findings


def _unknown_version(version: str) -> Iterator[Result]:
    """Yield an error for a KMM version that is older than those whose rules are known."""
    try:
        target(version)
    except KrmfnError as failure:
        yield error(str(failure), rule="KRM110", field=Field("spec.kmm.version", version))


_OF_PROFILES = {
    "config": Mistake("an override has the fields of `config` themselves", "write them here, without it"),
    "modules": Mistake(
        "a DaemonSet of one module is overridden by its name in `daemonSets` here",
        "for other fields of one module, patch spec.modules.KEY.config of the Profile itself",
    ),
    **dict.fromkeys(
        ("when", "texts", "schema", "ignored"),
        Mistake("only a Profile itself has it", "patch it there"),
    ),
}
"""What is said of an override that has a field which only Profiles have."""


def _in_function_config(misfit: Result) -> Result:
    """Return a misfit of the functionConfig; with its own remedy where an override has a field of Profiles only."""
    parts = split(misfit.field.path) if misfit.field else ()
    message, remedy = misfit.message, misfit.remedy
    if len(parts) == 4 and parts[1] == "overrides" and parts[3] in _OF_PROFILES:
        message, remedy = _OF_PROFILES[parts[3]].after(f"unknown field {parts[3]!r}: ")
    return misfit._replace(message=f"{message} (in the functionConfig)", remedy=remedy)


def _variables(spec: Any) -> Iterator[Result]:
    """Yield an error per variable in the annotations for every object: there it belongs to no config."""
    if isinstance(spec, dict) and "KRMFN_" in str(spec).upper():
        from .variables import references  # here, since few have any

        remedy = "write the annotation in spec.defaults.annotations"
        for path, text, _ in references(spec.get("annotations"), ("spec", "annotations")):
            field = Field(join(path), text)
            yield error(f"{text} is not filled in here", rule="KRM146", field=field, remedy=remedy)


def _settings(spec: Manifest, run: Run) -> FunctionConfig:
    """Return the values of a functionConfig that fits its schema. Raises KrmfnError for an unknown `prune`."""
    options = run.settings.flags
    prune = options.get("prune") or spec.get("prune", "auto")
    prune = ("auto" if prune else "never") if isinstance(prune, bool) else prune
    if prune not in PRUNE:
        raise KrmfnError(f"prune is {prune!r}; it must be one of {', '.join(PRUNE)}")
    operators = spec.get("operators", ())
    if "extraKinds" in spec:
        from . import extra_kinds

    version = options.get("kmm-version") or spec.get("kmm", {}).get("version") or run.kmm_version
    fields = ("defaults", "profiles", "overrides", "adopt", "annotations", "ignore")
    return FunctionConfig(
        **{name: spec[name] for name in fields if name in spec},
        operators=frozenset((entry["group"], entry["kind"]) for entry in operators),
        selectors={(entry["group"], entry["kind"]): entry["selector"] for entry in operators if "selector" in entry},
        namespace=options.get("namespace") or spec.get("namespace") or run.settings.fallback_namespace,
        kmm_version=version or DEFAULT,
        extra_kinds=extra_kinds.read(spec["extraKinds"]) if "extraKinds" in spec else {},
        names_kmm=bool(version),
        exclusivity=spec.get("exclusivity", {}).get("mode", "auto"),
        prune=prune,
        partial_view=spec.get("partialView", "refuse") == "allow",
    )


def _nested(data: dict[str, Any]) -> dict[str, Any]:
    """Return {"exclusivity.mode": "off"} as {"exclusivity": {"mode": "off"}}, with the booleans for "true", "false"."""
    spec: dict[str, Any] = {}
    for path, value in data.items():
        if path in ("adopt", "prune", "defaults.allNodes") and value in ("true", "false"):
            value = value == "true"
        *parents, last = path.split(".")
        level = spec
        for parent in parents:
            child = level.setdefault(parent, {})
            level = child if isinstance(child, dict) else {}
        level[last] = value
    return spec


KRM110 = Rule(
    "KRM110",
    "the functionConfig must be a RenderDeviceConfigs that matches its schema, or a ConfigMap with its settings",
    good="""\
kind: RenderDeviceConfigs
spec: {prune: never}
---
kind: DeviceConfig
""",
    bad="""\
kind: RenderDeviceConfigs
spec: {prune: sometimes}
---
kind: DeviceConfig
""",
    remedy="Correct the setting; `krmfn schema RenderDeviceConfigs` prints all settings.",
    held=oracles.OUR_KINDS,
)

RULES = (KRM110,)
"""The rule about the functionConfig, which is a step of `read`."""
