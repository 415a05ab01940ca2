"""Single resources of the final list: images with empty parts, resources that must not be deployed."""

import re
from collections.abc import Iterator

from krmfn import Field, Item, Manifest, Result, error, warning
from krmfn.item import LOCAL
from krmfn.resource import join

from .. import oracles
from ..image_reference import without_variables
from ..kmm.lookup import table, tables, text
from ..kmm.module import module_of
from ..rendering.kinds import INPUTS
from ..rule import Rule
from . import duplicates, wrappers
from .stream import FinalList, images

_IMAGES = re.compile(rb"""(?:mage|reference)["']?:[ \t]*["']?([^\s"']*["'\s]?)""")
_HOLES = re.compile(rb"""[-._][:@]|[:@][-.]|[-._:@]["',}\]\s]""")
"""Where an image in the text may lack a part; a cheap search before the images are read."""
_EMPTIED = re.compile(r"[-._](?=[:@])|(?<=:)[-.]|[-._:@]\Z")

OWNERS = "ownerReferences"
"""The field of the metadata that KRM707 and KRM712 are about."""


def images_are_whole(final: FinalList) -> Iterator[Result]:
    """Yield a finding per image that lacks a part, as when a variable of a substitution is empty.

    It is an error in a generated object, and a warning in one that is written by hand: that may always have been so.
    """
    for item in final.deployed:
        if any(map(_HOLES.search, _IMAGES.findall(item.text + b"\n"))):
            for path, image in images(item):
                if _EMPTIED.search(without_variables(image).rpartition("/")[2]):
                    message = f"is {image!r}, in which a part is missing, as when a variable is empty"
                    report = error if item.mark else warning
                    remedy = "give the variable a value where it is substituted, or write the image in full"
                    yield final.located(item, report(message, field=Field(join(path), image), remedy=remedy))


def owners_have_uids(final: FinalList) -> Iterator[Result]:
    """Yield an error per owner reference without a uid, but for those of Modules (KMM068)."""
    remedy = "remove the reference (Argo CD does not prune what has an owner)"
    message = "has no uid, and the API server refuses it: only a live owner has one"
    for item, owner, field in _owners(final, of_modules=False):
        if not text(owner, "uid"):
            yield final.located(item, error(message, field=field, remedy=remedy))


def modules_outlive_owners(final: FinalList) -> Iterator[Result]:
    """Yield a warning per owner reference of a Module, such as that of an operator to its custom resource."""
    for item, owner, field in _owners(final, of_modules=True):
        outcome = "the garbage collector deletes the Module, and KMM unloads the driver"
        message = f"ownerReferences name {owner.get('kind')} {owner.get('name')}: when it is deleted, {outcome}"
        yield final.located(item, warning(message, field=field, remedy="remove ownerReferences"))


def _owners(final: FinalList, of_modules: bool) -> Iterator[tuple[Item, Manifest, Field]]:
    """Yield the owner references of Modules, or of all other resources: the resource, the reference and its field."""
    for item in final.deployed:
        if item.mentions(OWNERS) and bool(module_of(item.manifest)) == of_modules:
            for index, owner in tables(table(item.manifest, "metadata"), "ownerReferences"):
                yield item, owner, Field(join(("metadata", "ownerReferences", index)))


def inputs_stay_behind(final: FinalList) -> Iterator[Result]:
    """Yield a warning per input without the local-config mark, where the list is deployed as it was read.

    That is so in a kpt package, and for a list that already has objects generated from the input. In a kustomization
    the function itself reports it (KRM104).
    """
    is_package = any((item.group, item.kind) == ("kpt.dev", "Kptfile") for item in final.inputs)
    folders = tuple("" if folder == "." else f"{folder}/" for folder in final.run.packages)
    owners = {item.mark.owner for item in final.deployed if item.mark and item.ref not in final.created}
    for item in final.inputs:
        is_node = item.kind == "Node"  # it exists already
        if is_node or (item.group, item.kind) not in INPUTS or item.annotations.get(LOCAL) == "true":
            continue
        in_package = is_package or (bool(folders) and item.place is not None and item.place.path.startswith(folders))
        if in_package or item.ref.id in owners:
            message = "is only read, but would be deployed with the rest"
            yield final.located(item, warning(message, remedy=f'mark it with the annotation {LOCAL}: "true"'))


KRM706 = Rule(
    "KRM706",
    "an image should not lack a part, as it does after a substitution without a value",
    good="""\
kind: Module
---
kind: DaemonSet
spec: {template: {spec: {containers: [{name: agent, image: "registry.example.com/agent:1.0-rc1"}]}}}
""",
    bad="""\
kind: Module
---
kind: DaemonSet
spec: {template: {spec: {containers: [{name: agent, image: "registry.example.com/agent:1.0-"}]}}}
""",
    remedy="Give the variable a value where it is substituted (Flux: `postBuild.substitute`), or prevent the "
    "substitution: `kustomize.toolkit.fluxcd.io/substitute: disabled`.",
    held=oracles.IMAGE_NAMES,
    check=images_are_whole,
    severities=("warning", "error"),
    advice=True,
)

KRM707 = Rule(
    "KRM707",
    "an owner reference must have a uid, which only a live object has",
    good="""\
kind: Module
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: kmm
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: parent, uid: "8c4f8a5e-3f5b-4c8e-9d55-6a3c3d2f9b10"}]
""",
    bad="""\
kind: Module
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: kmm
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: parent, uid: ""}]
""",
    remedy="Remove `ownerReferences` from manifests in Git.",
    held=oracles.APISERVER,
    check=owners_have_uids,
)

KRM712 = Rule(
    "KRM712",
    "a Module should have no ownerReferences: the garbage collector deletes it with its owner",
    good="kind: Module\n",
    bad="""\
kind: Module
metadata:
  ownerReferences:
  - {apiVersion: amd.com/v1alpha1, kind: DeviceConfig, name: gpu, uid: "8c4f8a5e-3f5b-4c8e-9d55-6a3c3d2f9b10"}
""",
    remedy="Remove `ownerReferences` from the Module in Git and, before its owner is deleted, from the cluster.",
    held=oracles.GARBAGE_COLLECTOR,
    check=modules_outlive_owners,
    severities=("warning",),
    advice=True,
)

KRM708 = Rule(
    "KRM708",
    "an input should have the local-config annotation if it is beside its generated objects or in a kpt package",
    good="""\
kind: DeviceConfig
metadata: {annotations: {config.kubernetes.io/local-config: "true"}}
---
kind: Module
metadata:
  name: gpu
  annotations:
    krmfn.dev/owner: deviceconfig krmfn.dev|DeviceConfig|kmm|gpu kmm.sigs.x-k8s.io|Module|kmm|gpu
""",
    bad="""\
kind: DeviceConfig
metadata: {annotations: {}}
---
kind: Module
metadata:
  name: gpu
  annotations:
    krmfn.dev/owner: deviceconfig krmfn.dev|DeviceConfig|kmm|gpu kmm.sigs.x-k8s.io|Module|kmm|gpu
""",
    remedy='Add the annotation `config.kubernetes.io/local-config: "true"` to it.',
    held=oracles.OUR_FILES,
    check=inputs_stay_behind,
    severities=("warning",),
    advice=True,
)

RULES = (*duplicates.RULES, *wrappers.RULES, KRM706, KRM707, KRM712, KRM708)
"""The rules about single objects."""
