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
) -> list[File]:
    """Return the files of a repository, in the order in which to read them.

    `profiles` is the functionConfig that the configs share, `prefix` the folder of the repository that holds them.
    `first` are the files that a cluster without configs begins with.
    """
    if not clusters:
        begun = [File(name, text, _purpose(name, "")) for name, text in first.items()]
        return [*begun, File("kustomization.yaml", _kustomization([*first]), "what is deployed")]
    shared = _shared([cluster for cluster in clusters if cluster.configs], first)
    in_base = {**shared}
    if profiles:
        in_base[PROFILES] = emit.dump(_local(profiles)).encode()
    result = [File(f"{BASE}/{name}", text, _purpose(name, "every cluster")) for name, text in sorted(in_base.items())]
    if in_base:
        result.append(File(f"{BASE}/kustomization.yaml", _kustomization(sorted(in_base)), "what every cluster gets"))
    for cluster in clusters:
        filled = cluster if cluster.configs or shared else cluster._replace(configs=first)
        result += _of_cluster(filled, shared, f"../../{BASE}" if in_base else "")
    text = emit.dump({"clusters": {cluster.name: _paths(cluster, prefix) for cluster in clusters}})
    return [*result, File(CONFIG, text.encode(), "which folders and inventories make a cluster")]


def _shared(clusters: Sequence[Cluster], first: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the configs that all clusters with configs have alike; the first ones where none has any."""
    if not clusters:
        return dict(first)
    nearest, *others = (cluster.configs for cluster in clusters)
    alike = {name: text for name, text in nearest.items() if all(other.get(name) == text for other in others)}
    return alike if others else {}


def _of_cluster(cluster: Cluster, shared: Mapping[str, bytes], base: str) -> list[File]:
    """Return the files of a cluster: what it alone has, and its inventory."""
    folder, names = f"clusters/{cluster.name}", sorted(set(cluster.configs) - set(shared))
    result = [File(f"{folder}/{name}", cluster.configs[name], _purpose(name, cluster.name)) for name in names]
    text = _kustomization([*([base] if base else ()), *names])
    result.append(File(f"{folder}/kustomization.yaml", text, f"what {cluster.name} gets"))
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


def _paths(cluster: Cluster, prefix: str) -> list[str]:
    paths = [f"clusters/{cluster.name}", *([_inventory_path(cluster)] if cluster.inventory else ())]
    return [f"{prefix}/{path}" if prefix else path for path in paths]


def _inventory_path(cluster: Cluster) -> str:
    return f"inventories/{cluster.name}.yaml"


def _kustomization(resources: Sequence[str]) -> bytes:
    return emit.dump({"resources": list(resources)}).encode()


def _local(function_config: Manifest) -> dict[str, Any]:
    """Return a functionConfig that no cluster gets, since it is listed in a kustomization."""
    metadata = {**function_config["metadata"], "annotations": {LOCAL: "true"}}
    return {**function_config, "metadata": metadata}
