"""What `init` makes of dumps: configs, the Profiles of vendors whose operators run there, and inventories."""

from collections.abc import Mapping, Sequence
from itertools import islice

from krmfn import Item, KrmfnError, Manifest, Result
from krmfn.printing import counted, listed
from krmfn.typed import NamedTuple
from krmfn.yamltext import emit

from ..cluster import dumps
from ..command import Context
from ..fleet import cluster, collecting, rules
from ..importing import assembly, vendors
from ..importing.beginnings import Cluster
from ..importing.drafts import rendered
from ..importing.importer import Import
from ..options import RunOptions
from ..rendering.kinds import driven_kinds
from ..run import placed
from ..settings import READ
from ..sources import Sources
from . import clusters, import_, import_configs, init_dump
from .import_ import Source
from .import_configs import Driven

_OF_INVENTORY = ("Node", "Namespace")
"""The kinds of which an inventory is imported."""


class Imported(NamedTuple):
    """What was imported of some clusters."""

    clusters: Sequence[Cluster]
    profiles: Manifest | None
    """The functionConfig with the profiles that the configs share."""
    lines: Sequence[str]
    """What became of the objects, for people."""
    findings: Sequence[Result]


def imported_of(context: Context, by_name: Mapping[str, str]) -> Imported:
    """Return what is imported of the dumps. Raises KrmfnError for one that cannot be read or has no Module."""
    run = import_.run_of_render({})
    pairs = tuple(f"{name}={dump}" for name, dump in by_name.items())
    streams = clusters.read(Context(RunOptions(cluster=pairs), READ, context.log, Sources()), list(by_name.values()))
    if streams is None:
        raise KrmfnError("the dumps cannot be read, so nothing is written")
    sources = import_.sources_of(streams)
    shipped = _shipped(sources)
    driven = [import_configs.driven(source.items, [*shipped.values()], run, None, source.name) for source in sources]
    imports = [import_.convert_rest(source, part, run) for source, part in zip(sources, driven, strict=True)]
    conversions = [conversion for imported in imports for conversion in imported.conversions]
    configs, profiles = assembly.assemble(conversions, run)
    rest, parts = iter(configs), list[Cluster]()
    lines, findings = list[str](), list[Result]()
    for source, imported, part in zip(sources, imports, driven, strict=True):
        new_manifests = [*islice(rest, len(imported.conversions)), *(kept.manifest for kept in imported.kept)]
        manifests = [*part.inputs, *new_manifests]
        resources = rendered(manifests, run._replace(crds=source.crds), profiles)
        findings += [*part.findings, *import_.findings_of(imported, {item.ref.id: item.place for item in source.items})]
        findings += [result for result in placed(resources) if result.severity == "error"]
        inventory = _inventory(by_name[source.name], source.name, cluster.label_keys(resources))
        parts.append(Cluster(source.name, _texts(manifests, shipped), inventory))
        lines += [*_lines(source, imported, part), *init_dump.lacks(source.name, source.items)]
        if not inventory:
            lines.append(f"{source.name}: the dump has no nodes, so it gets no inventory")
    return Imported(parts, profiles, lines, findings)


def _shipped(sources: Sequence[Source]) -> dict[str, Item]:
    """Return the Profiles that krmfn ships for kinds in the dumps that have no Profile there, by their vendors."""
    items = [item for source in sources for item in source.items]
    kinds = {(item.group, item.kind) for item in items} - driven_kinds(items)
    known = {name: import_configs.profiles_of([str(vendors.profile(name))], None) for name in vendors.names()}
    return {name: item for name, profiles in known.items() for item in profiles if kinds & driven_kinds([item])}


def _texts(manifests: Sequence[Manifest], shipped: Mapping[str, Item]) -> dict[str, bytes]:
    """Return the texts of the files of a cluster; a Profile that krmfn ships is written as it is, with its comments."""
    vendors_of = {id(item.manifest): vendor for vendor, item in shipped.items()}
    texts = import_.texts_of([manifest for manifest in manifests if id(manifest) not in vendors_of])
    for vendor in filter(None, (vendors_of.get(id(manifest)) for manifest in manifests)):
        texts[vendors.profile_file(vendor)] = vendors.profile(vendor).read_bytes()
    return texts


def _lines(source: Source, imported: Import, part: Driven) -> list[str]:
    """Return the lines about a cluster: the configs of vendors, then the others."""
    return [*part.lines, *([_summary(source, imported)] if imported.conversions or not part.inputs else [])]


def _summary(source: Source, imported: Import) -> str:
    """Return the line about a cluster: what takes the place of what, and what stays."""
    objects = [manifest for conversion in imported.conversions for manifest in conversion.objects]
    kinds = listed({kind: sum(1 for manifest in objects if manifest["kind"] == kind) for kind in _kinds(objects)})
    configs = counted(len(imported.conversions), "DeviceConfig")
    text = f"{source.name}: {configs} in place of {kinds}" if objects else f"{source.name}: no DeviceConfig"
    kept = f", {counted(len(imported.kept), 'object')} kept as written by hand" if imported.kept else ""
    number = imported.others - sum(1 for item in source.items if item.kind in _OF_INVENTORY)
    others = f", {counted(number, 'other object')} left out" if number else ""
    return f"{text}{kept}{others}"


def _kinds(manifests: Sequence[Manifest]) -> list[str]:
    return list(dict.fromkeys(str(manifest["kind"]) for manifest in manifests))


def _inventory(dump: str, name: str, keys: set[str]) -> bytes:
    """Return the NodeInventory of the nodes in a dump; b"" where it has none."""
    uids: set[str] = set()
    nodes = collecting.noting_uids(dumps.objects_of(dump), uids)
    kinds: set[object] = set()
    nodes = (manifest for manifest in nodes if _is_of_inventory(manifest, kinds))
    try:
        entries = collecting.collect(nodes, keys)
    except KrmfnError as failure:
        if "Node" not in kinds:
            return b""
        raise KrmfnError(*(f"{dump}: {line}" for line in failure.lines(dump))) from failure
    head = {"clusterUID": "".join(uids), "takenOn": rules.today()}
    return emit.dump(collecting.manifest(entries, name, keys, head)).encode()


def _is_of_inventory(manifest: Manifest, kinds: set[object]) -> bool:
    """Return True for an object of which an inventory is made, whose kind is added to `kinds`."""
    kind = manifest.get("kind")
    if kind in _OF_INVENTORY:
        kinds.add(kind)
    return kind in _OF_INVENTORY
