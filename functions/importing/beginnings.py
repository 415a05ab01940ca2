"""The files of a new repository: configs that clusters share, a folder for each cluster, and which is which."""

from collections.abc import Mapping, Sequence

from krmfn import Manifest
from krmfn.item import LOCAL
from krmfn.typed import Any, NamedTuple
from krmfn.yamltext import emit

from ..paths.excludes import CONFIG

BASE = "base"
PROFILES = "profiles.yaml"
_FIRST_NAME = "deviceconfig.yaml"
_KEPT = ("module", "daemonset")
"""The kinds that may stay as they were written by hand, as their files begin."""
FIRST = """\
# A driver for some nodes. `krmfn explain spec.FIELD` says what a field does and where it ends up; krmfn makes a KMM
# Module of this, and with `devicePlugin` and `daemonSets` what belongs to it.
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata:
  name: driver
  namespace: kmm
spec:
  # what modprobe loads
  moduleName: example
  # KMM pulls driverImage:driverVersion-KERNEL, for the kernel of each node
  driverImage: registry.example.com/example/driver
  driverVersion: "1.0"
  # the nodes that get it: labels that Node Feature Discovery sets, or you do
  nodeSelector:
    example.com/device: "true"
"""


FIRST_FILES: Mapping[str, bytes] = {_FIRST_NAME: FIRST.encode()}
"""The first config, by the name of its file."""


class Cluster(NamedTuple):
    """A cluster of the new repository."""

    name: str
    configs: Mapping[str, bytes] = {}  # read only
    """Its configs and hand-written objects by the names of their files; without any it gets a first config."""
    inventory: bytes = b""
    """Its NodeInventory; b"" where its nodes are not known."""


class File(NamedTuple):
    """A file to write."""

    path: str
    """Relative to the folder of the command; the configuration file's is relative to the root of the repository."""
    text: bytes
    purpose: str
    """What it is for, in one line."""


def files(
    clusters: Sequence[Cluster],
    profiles: Manifest | None,
    prefix: str = "",
    first: Mapping[str, bytes] = FIRST_FILES,
    is_plain: bool = False,
) -> list[File]:
    """Return the files of a repository, in the order in which to read them.

    `profiles` is the functionConfig that the configs share, `prefix` the folder of the repository that holds them.
    `first` are the files that a cluster without configs begins with. `is_plain`: there are no kustomizations.
    """
    if not clusters:
        begun = [File(name, text, _purpose(name, "")) for name, text in first.items()]
        return [*begun, *_listed("", [*first], "what is deployed", is_plain)]
    shared = _shared([cluster for cluster in clusters if cluster.configs], first)
    in_base = {**shared}
    if profiles:
        in_base[PROFILES] = emit.dump(_local(profiles)).encode()
    result = [File(f"{BASE}/{name}", text, _purpose(name, "every cluster")) for name, text in sorted(in_base.items())]
    if in_base:
        result += _listed(f"{BASE}/", sorted(in_base), "what every cluster gets", is_plain)
    for cluster in clusters:
        filled = cluster if cluster.configs or shared else cluster._replace(configs=first)
        result += _of_cluster(filled, shared, f"../../{BASE}" if in_base else "", is_plain)
    names = [file.path for file in result]
    text = emit.dump({"clusters": {cluster.name: _paths(cluster, prefix, names, is_plain) for cluster in clusters}})
    return [*result, File(CONFIG, text.encode(), "which folders and inventories make a cluster")]


class Spot(NamedTuple):
    """Where a cluster stands in a repository that has a layout."""

    folder: str
    """From the root of the repository."""
    listing: str = ""
    """The kustomization that is there, from the root of the repository."""
    bases: Sequence[str] = ()
    """What the kustomizations of all its neighbours list alike; a new one lists it, too."""
    is_plain: bool = False
    has_config: bool = False
    """Whether a file of the cluster is about krmfn already, and not about nodes alone."""


def added(
    clusters: Sequence[Cluster], profiles: Manifest | None, spots: Mapping[str, Spot], first: Mapping[str, bytes]
) -> tuple[list[File], list[str]]:
    """Return the files that clusters get in the layout that is there, and what to write into files that stay."""
    result, lines = list[File](), list[str]()
    for cluster in clusters:
        spot = spots[cluster.name]
        is_served = bool(spot.bases) or (spot.has_config and first == FIRST_FILES)
        configs = {**(cluster.configs or ({} if is_served else first))}
        if profiles:
            configs[PROFILES] = emit.dump(_local(profiles)).encode()
        names = sorted(configs)
        result += [File(f"{spot.folder}/{name}", configs[name], _purpose(name, cluster.name)) for name in names]
        if cluster.inventory:
            purpose = f"the nodes of {cluster.name}; beside what is deployed"
            result.append(File(f"{spot.folder}/inventory.yaml", cluster.inventory, purpose))
        if not names and spot.has_config:
            lines += ["", f"{cluster.name} has a config, so it gets no other one"]
        elif spot.listing:
            lines += ["", f"{spot.listing} is there; let it have these lines:", "resources:"]
            lines += [f"- {name}" for name in names]
        else:
            listed = [*spot.bases, *names]
            result += _listed(f"{spot.folder}/", listed, f"what {cluster.name} gets", spot.is_plain)
    return result, lines


def _shared(clusters: Sequence[Cluster], first: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the configs that all clusters with configs have alike; the first ones where none has any."""
    if not clusters:
        return dict(first)
    nearest, *others = (cluster.configs for cluster in clusters)
    alike = {name: text for name, text in nearest.items() if all(other.get(name) == text for other in others)}
    return alike if others else {}


def _of_cluster(cluster: Cluster, shared: Mapping[str, bytes], base: str, is_plain: bool) -> list[File]:
    """Return the files of a cluster: what it alone has, and its inventory."""
    folder, names = f"clusters/{cluster.name}", sorted(set(cluster.configs) - set(shared))
    result = [File(f"{folder}/{name}", cluster.configs[name], _purpose(name, cluster.name)) for name in names]
    result += _listed(f"{folder}/", [*([base] if base else ()), *names], f"what {cluster.name} gets", is_plain)
    if cluster.inventory:
        result.append(File(_inventory_path(cluster), cluster.inventory, f"the nodes of {cluster.name}"))
    return result


def _purpose(name: str, clusters: str) -> str:
    if name == PROFILES:
        return "what the configs have in common, as profiles"
    if name.endswith("profile.yaml"):
        return "the vendor's product as a Profile: replaced as a whole with its next version"
    if not clusters:
        return "the first config, to change"
    kind = name.partition("-")[0].partition(".")[0]
    return f"a {kind if kind in _KEPT else 'config'} of {clusters}"


def _paths(cluster: Cluster, prefix: str, names: Sequence[str], is_plain: bool) -> list[str]:
    """Return what makes a cluster, of the files that are written: without kustomizations the base is one of them."""
    folders = [*([BASE] if is_plain else ()), f"clusters/{cluster.name}"]
    paths = [folder for folder in folders if any(name.startswith(f"{folder}/") for name in names)]
    paths += [_inventory_path(cluster)] if cluster.inventory else []
    return [f"{prefix}/{path}" if prefix else path for path in paths]


def _inventory_path(cluster: Cluster) -> str:
    return f"inventories/{cluster.name}.yaml"


def _listed(folder: str, resources: Sequence[str], purpose: str, is_plain: bool) -> list[File]:
    """Return the kustomization of a folder, which ends with a slash; none where all is plain."""
    text = emit.dump({"resources": list(resources)}).encode()
    return [] if is_plain else [File(f"{folder}kustomization.yaml", text, purpose)]


def _local(function_config: Manifest) -> dict[str, Any]:
    """Return a functionConfig that no cluster gets, since it is listed in a kustomization."""
    metadata = {**function_config["metadata"], "annotations": {LOCAL: "true"}}
    return {**function_config, "metadata": metadata}
