"""One read-only view of a Module; the names of KMM's kinds, and of the labels that it puts on nodes."""

from collections.abc import Iterator
from itertools import product

from krmfn import Manifest
from krmfn.resource import ref
from krmfn.typed import Any

from .lookup import Table, has, listing, table, tables, text, texts
from .modprobe import loaded_names

MODULE_GROUP, HUB_GROUP = "kmm.sigs.x-k8s.io", "hub.kmm.sigs.x-k8s.io"
MODULE_KIND, HUB_KIND = "Module", "ManagedClusterModule"
MODULE_VERSION = "v1beta1"
"""The version of both APIs."""
MODULE_KINDS = ((MODULE_GROUP, MODULE_KIND), (HUB_GROUP, HUB_KIND))
"""The (group, kind) of what brings Modules to nodes; the hub's kind brings them to the nodes of its clusters."""
MODULE_API, HUB_API = f"{MODULE_GROUP}/{MODULE_VERSION}", f"{HUB_GROUP}/{MODULE_VERSION}"

CONTAINER = "spec.moduleLoader.container"
MAPPINGS = f"{CONTAINER}.kernelMappings"
MODPROBE = f"{CONTAINER}.modprobe"
IN_TREE = ("inTreeModulesToRemove", "inTreeModuleToRemove")
"""The fields of a container or mapping that name in-tree kernel modules to remove, the second deprecated."""
PLUGINS = {"devicePlugin": "device plugin", "dra": "DRA driver"}
"""The fields of a Module's spec with what KMM runs on a node beside a kernel module, and the words for it."""
KERNEL_VARIABLES = ("KERNEL_FULL_VERSION", "KERNEL_VERSION", "KERNEL_XYZ", "KERNEL_X", "KERNEL_Y", "KERNEL_Z")
"""What KMM substitutes in sign.unsignedImage and sign.filesToSign."""
VARIABLES = (*KERNEL_VARIABLES, "MOD_NAME", "MOD_NAMESPACE")
"""What KMM substitutes in containerImage."""
EVERY_KERNEL = frozenset(map("".join, product(("", "^", r"\A"), (".*", ".+", "(.*)", "(.+)"), ("", "$", r"\z"))))
"""The regexps that match every kernel version."""

LABELS = "kmm.node.kubernetes.io/"
"""The prefix of every node label of KMM."""
NAMELESS = "NAMESPACE"
"""Stands for a namespace that only the installer knows, in label keys that people read; no node has such a key."""
VERSION_LABELS = f"{LABELS}version-module."
"""The prefix of the labels with which an administrator chooses versions; KMM sets all its other labels itself."""
NAME_LABEL = f"{LABELS}module.name"
"""The label with a Module's name on what KMM makes for it. Every DaemonSet with this label is KMM's own."""


def is_set_by_kmm(key: str) -> bool:
    """Return True for a node label that KMM sets and removes: in a file it is soon out of date."""
    return key.startswith((LABELS, f"beta.{LABELS}")) and not key.startswith(VERSION_LABELS)


def ready_label(namespace: str, name: str) -> str:
    """Return the label that KMM puts on a node while the Module's kernel module is loaded there."""
    return f"{LABELS}{namespace or NAMELESS}.{name}.ready"


def version_ready_label(namespace: str, name: str) -> str:
    """Return the label whose value is the version that is loaded on a node. KMM 2.6+."""
    return f"{LABELS}{namespace or NAMELESS}.{name}.version.ready"


def version_label(namespace: str, name: str) -> str:
    """Return the label with which an administrator chooses a node's version of the Module."""
    return f"{VERSION_LABELS}{namespace or NAMELESS}.{name}"


def plugin_ready_label(namespace: str, name: str) -> str:
    """Return the label that KMM puts on a node while the Module's device plugin is ready there."""
    return f"{LABELS}{namespace or NAMELESS}.{name}.device-plugin-ready"


def node_labels(namespace: str, name: str) -> tuple[str, ...]:
    """Return the keys of all node labels about a Module: ready, version ready, plugin ready; the one to choose by."""
    labels = (ready_label, version_ready_label, plugin_ready_label, version_label)
    return tuple(label(namespace, name) for label in labels)


def kernel_name(name: str) -> str:
    """Return a kernel module's name as the kernel has it, with `_` for each `-`."""
    return name.replace("-", "_")


class Module:
    """A Module as KMM reads it. What has another type than in the CRD reads as absent; rules about the CRD report it.

    The parts that every reader wants are read when the view is made, once per Module and run; the others when they are
    asked for.
    """

    __slots__ = ("container", "manifest", "mappings", "modprobe", "ref", "spec")

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self.ref = ref(manifest)
        self.spec = table(manifest, "spec")
        self.container = table(self.spec, "moduleLoader", "container")
        self.modprobe = table(self.container, "modprobe")
        self.mappings = [entry for _, entry in tables(self.container, "kernelMappings")]

    @property
    def selector(self) -> dict[str, str] | None:
        """The labels of the nodes: {} is every node, None is none."""
        selector = self.spec.get("selector")
        if not isinstance(selector, dict):
            return None
        return {key: value for key, value in selector.items() if isinstance(value, str)}

    @property
    def version(self) -> str:
        """The version of an ordered upgrade; "" without one."""
        return text(self.container, "version")

    @property
    def directory(self) -> str:
        """modprobe.dirName after the CRD's defaulting; an explicit "" stays."""
        directory = self.modprobe.get("dirName")
        return directory if isinstance(directory, str) else "/opt"

    @property
    def loads(self) -> frozenset[str]:
        """The kernel modules that are loaded, as the kernel names them: by moduleName, loading order and rawArgs."""
        return frozenset(kernel_name(name) for _, name in self.loading_fields())

    def loading_fields(self) -> Iterator[tuple[str, str]]:
        """Yield each kernel module that is loaded, as it is written, with the path of the field that says so."""
        name = text(self.modprobe, "moduleName")
        if name:
            yield f"{MODPROBE}.moduleName", name
        for index, entry in enumerate(texts(self.modprobe, "modulesLoadingOrder")):
            if entry:
                yield f"{MODPROBE}.modulesLoadingOrder[{index}]", entry
        if words := texts(table(self.modprobe, "args"), "load") if name else []:  # they stand before moduleName
            others = (loaded for loaded in loaded_names([*words, name]) if loaded and loaded != name)
            yield from ((f"{MODPROBE}.args.load", loaded) for loaded in others)
        if arguments := texts(table(self.modprobe, "rawArgs"), "load"):
            yield from ((f"{MODPROBE}.rawArgs.load", loaded) for loaded in loaded_names(arguments) if loaded)

    @property
    def removes(self) -> dict[str, str]:
        """The in-tree kernel modules that are removed first, each with the field that says so."""
        fields: dict[str, str] = {}
        for path, holder in self.holders():
            for index, name in enumerate(texts(holder, "inTreeModulesToRemove")):
                if name:
                    fields.setdefault(kernel_name(name), f"{path}.inTreeModulesToRemove[{index}]")
            if single := text(holder, "inTreeModuleToRemove"):
                fields.setdefault(kernel_name(single), f"{path}.inTreeModuleToRemove")
        return fields

    @property
    def takes_every_kernel(self) -> bool:
        """Whether there is one kernel mapping, and its regexp matches every kernel version."""
        return len(self.mappings) == 1 and text(self.mappings[0], "regexp") in EVERY_KERNEL

    def holders(self) -> Iterator[tuple[str, Table]]:
        """Yield the container and the kernel mappings, which hold the same fields, each with its path."""
        yield CONTAINER, self.container
        for index, entry in enumerate(self.mappings):
            yield f"{MAPPINGS}[{index}]", entry

    def holds(self, *keys: str) -> bool:
        """Return True when the container or a mapping has one of these fields."""
        return any(key in holder for holder in (self.container, *self.mappings) for key in keys)

    def sections(self, key: str) -> list[tuple[str, Table]]:
        """Return the sections of this name (`sign`, `build`) in the container and in the mappings, with their paths."""
        return [(f"{path}.{key}", holder[key]) for path, holder in self.holders() if has(holder, key)]

    def images(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Yield every image as it is written: its path, its text, and the variables that KMM fills in there."""
        for path, holder in self.holders():
            if image := text(holder, "containerImage"):
                yield f"{path}.containerImage", image, VARIABLES
            if unsigned := text(table(holder, "sign"), "unsignedImage"):
                yield f"{path}.sign.unsignedImage", unsigned, KERNEL_VARIABLES
        for plugin in PLUGINS:
            for part in ("container", "initContainer"):
                if image := text(table(self.spec, plugin, part), "image"):
                    yield f"spec.{plugin}.{part}.image", image, ()
            for index, volume in tables(table(self.spec, plugin), "volumes"):
                if image := text(table(volume, "image"), "reference"):
                    yield f"spec.{plugin}.volumes[{index}].image.reference", image, ()


def module_of(manifest: Manifest) -> Module | None:
    """Return the Module that a manifest is or, on a hub, brings to each spoke; None for anything else."""
    group, kind = text(manifest, "apiVersion").rpartition("/")[0], text(manifest, "kind")
    if (group, kind) == (MODULE_GROUP, MODULE_KIND):
        return Module(manifest)
    if (group, kind) != (HUB_GROUP, HUB_KIND):
        return None
    spec, head = table(manifest, "spec"), {"apiVersion": MODULE_API, "kind": MODULE_KIND}
    metadata = {"name": ref(manifest).name, "namespace": text(spec, "spokeNamespace")}
    if ending := text(table(manifest, "metadata"), "deletionTimestamp"):
        metadata["deletionTimestamp"] = ending
    return Module({**head, "metadata": metadata, "spec": table(spec, "moduleSpec")})


def removed_modules(module: Module, entry: Table) -> tuple[str, ...]:
    """Return the in-tree kernel modules that KMM removes before it loads by a mapping.

    The mapping's list counts if it has one (also an empty one), else the container's; the old field goes before both.
    """
    container = module.container
    single: Any = text(entry, "inTreeModuleToRemove") or text(container, "inTreeModuleToRemove")
    if single:
        return (single,)
    holder = entry if listing(entry, "inTreeModulesToRemove") is not None else container
    return tuple(texts(holder, "inTreeModulesToRemove"))
