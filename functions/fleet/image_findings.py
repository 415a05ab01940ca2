"""Findings about the images that nodes pull, one function per rule, and the operating systems that images name.

RHEL, Rocky, AlmaLinux, CentOS and Oracle Linux are one family, `el`, by their major version. Kernel versions name no
system: Ubuntu 22.04's HWE kernel and 24.04's are both `6.8.0-49-generic`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from krmfn import Field, KrmfnError, Result, info, warning
from krmfn.printing import counted, some
from krmfn.typed import NamedTuple

from ..exclusivity.node import Node
from ..image_reference import shortened
from ..kmm.envsubst import parse
from ..kmm.lookup import text
from ..sentence import Verb, named
from .coverage import LOADING
from .facts import PASSING
from .findings import Join
from .placing import at_config, at_mappings

OS_LABELS = "feature.node.kubernetes.io/system-os_release."
"""What the labels of Node Feature Discovery for the fields of /etc/os-release begin with."""
_FIELDS = ("ID", "VERSION_ID", "RHEL_VERSION")
_FAMILY = dict.fromkeys(("el", "rhel", "rocky", "almalinux", "centos", "ol"), "el")
_FAMILY |= {name: name for name in ("ubuntu", "debian", "sles")}
_TOKEN = re.compile(
    r"(?<![a-z0-9])(?:(ubuntu)[-_]?(\d\d)(?:\.?(04|10))?|(debian)[-_]?([7-9]|1\d)|(rhcos)[-_]?(4)[.\d]*"
    r"|(sles)[-_]?(1\d)(?:[-_.]?sp(\d)|\.(\d))?|(el|(?:rhel|rocky)[-_]?)([6-9]|10))(?!\d)"
)
_OS_IMAGES = (
    # "CoreOS 416.94.2024..." is OpenShift 4.16 on RHEL 9.4, "CoreOS 9.6.2025..." is RHEL 9.6
    ("el", re.compile(r"Red Hat Enterprise Linux CoreOS (?:4\d\d?\.(8|9|10)\d\.|(9|10)\.\d\d?\.)\d{8}")),
    ("", re.compile(r"Red Hat Enterprise Linux CoreOS|CentOS Stream CoreOS")),
    ("el", re.compile(r"(?:Red Hat Enterprise Linux|Rocky Linux|AlmaLinux|CentOS|Oracle Linux)\b\D{0,60} (\d\d?)\b")),
    ("ubuntu", re.compile(r"Ubuntu (\d\d)\.(\d\d)")),
    ("debian", re.compile(r"Debian GNU/Linux (\d\d?)\b")),
    ("sles", re.compile(r"SUSE Linux Enterprise Server (\d\d)(?: SP(\d))?")),
)


class System(NamedTuple):
    """An operating system."""

    family: str
    version: tuple[int, ...]
    text: str
    """As the image or the node has it."""

    def is_other(self, system: System) -> bool:
        """Return True when the two surely differ: versions are compared as far as both say them."""
        numbers = zip(self.version, system.version, strict=False)
        return self.family != system.family or any(number != other for number, other in numbers)


@lru_cache(maxsize=1024)
def of_image(template: str) -> System | None:
    """Return the one system that an image's repository or tag names; None when it names none or several.

    Its variables are not looked at. RHCOS has the version of OpenShift, which does not say the version of RHEL.
    """
    try:
        name = "".join("\0" if part.name is not None else part.text for part in parse(template))
    except KrmfnError:
        return None
    name = name.partition("@")[0].lower()
    host, _, path = name.partition("/")
    texts: dict[tuple[str, tuple[int, ...]], str] = {}
    for match in _TOKEN.finditer(path if path and ("." in host or ":" in host or host == "localhost") else name):
        family, *version = (group for group in match.groups() if group)
        texts[_FAMILY.get(family.rstrip("-_"), ""), tuple(map(int, version))] = match[0]
    (family, numbers), text = texts.popitem() if len(texts) == 1 else (("", ()), "")
    return System(family, numbers, text) if family else None


def of_node(node: Node) -> System | None:
    """Return the system of a node by its labels or, without them, its osImage; None for one that is not known."""
    return _system(node.os_image, *(node.labels.get(f"{OS_LABELS}{field}", "") for field in _FIELDS))


@lru_cache(maxsize=1024)
def _system(os_image: str, name: str, version: str, rhel: str) -> System | None:
    """Return the system that the osImage of a node, and the values of its labels for _FIELDS, say."""
    if name == "rhcos":
        name, version = ("rhel", rhel) if rhel else ("", "")
    numbers = tuple(map(int, re.findall(r"\d{1,4}", version)[:2]))
    if name and numbers:
        family = _FAMILY.get(name, "")
        numbers = numbers[:1] if family in ("el", "debian") else numbers
        return System(family, numbers, f"{name} {version}") if family else None
    for family, pattern in _OS_IMAGES:
        if match := pattern.match(os_image):
            numbers = tuple(int(group) for group in match.groups() if group)
            return System(family, numbers, os_image) if family else None
    return None


def images_can_be_checked(joined: Join) -> Iterator[Result]:
    """Yield a warning for a Module on a cluster where all known nodes have taints: KMM never sees an image there.

    Before any node loads, a pod without selector and tolerations pulls the image to see whether it exists.
    Source: KMM v2.6.0 and the OpenShift fork's main, internal/pod/imagepuller.go; KMM's main gives it the Module's
    tolerations.
    """
    if joined.kmm.check_tolerates:
        return
    fleet = joined.cluster.fleet
    untainted_clusters = {node.cluster for node in fleet.nodes if all(taint.key in PASSING for taint in node.taints)}
    for driver, selected in joined.drivers:
        loading = [group for group, outcome in selected if outcome.state in LOADING and driver.loads]
        if nodes := [node for group in loading for node in group.nodes if node.cluster not in untainted_clusters]:
            taints = sorted({str(taint) for node in nodes for taint in node.taints})
            names = sorted(node.name for node in nodes)
            pull = f"KMM {joined.kmm.name} pulls the image first in a pod that tolerates nothing"
            reason = f": {pull}, and each known node has a taint ({some(taints, len(taints))})"
            message = ("loads no driver on ", named(names), reason)
            remedy = "keep a node without taints in the cluster, or add it to the inventory"
            yield at_config(driver, warning(message, field=Field(driver.claim.field), remedy=remedy))


def images_are_for_the_system(joined: Join) -> Iterator[Result]:
    """Yield a warning for a kernel mapping whose image names another operating system than its nodes run."""
    for driver, selected in joined.drivers:
        module = driver.module
        others: dict[tuple[int, str, str], list[str]] = {}
        for group, outcome in selected:
            position = outcome.resolution.mapping
            if position is None or outcome.state not in LOADING:
                continue
            entry = module.mappings[position]
            expected = of_image(text(entry, "containerImage") or text(module.container, "containerImage"))
            for node in group.nodes if expected else ():
                system = of_node(node)
                if expected and system and expected.is_other(system):
                    others.setdefault((position, expected.text, system.text), []).append(node.name)
        for (position, name, other), names in sorted(others.items()):
            nodes, run = named(sorted(names)), Verb(len(names), "runs", "run")
            rest = f" {other}; kernel versions do not tell systems apart"
            message = (f"its image names {name}, but ", nodes, " ", run, rest)
            yield at_mappings(
                driver,
                warning(message, remedy=f"select nodes by {OS_LABELS}ID and {OS_LABELS}VERSION_ID, too"),
                f"[{position}]",
            )


def images_are_for_each_architecture(joined: Join) -> Iterator[Result]:
    """Yield an info for a kernel mapping of which one image goes to nodes of several architectures.

    The pod that looks for an image has no node selector for the architecture, so it may run on a node of either, and
    KMM makes an image once, on one node. Source: KMM v2.6.0 and main (de3f8c9), internal/pod/imagepuller.go.
    """
    for driver, selected in joined.drivers:
        architectures_of: dict[tuple[int, str], set[str]] = {}
        for group, outcome in selected:
            position, image = outcome.resolution.mapping, outcome.resolution.image
            if position is None or not image or outcome.state not in LOADING:
                continue
            for node in group.nodes:
                if node.architecture:
                    architectures_of.setdefault((position, image), set()).add(node.architecture)
        mixed: dict[int, list[str]] = {}
        for (position, image), architectures in sorted(architectures_of.items()):
            if len(architectures) > 1:
                mixed.setdefault(position, []).append(image)
        for position, images in mixed.items():
            names = sorted(architectures_of[position, images[0]])  # no nodes: many clusters may have the same
            number = f" (as {counted(len(images) - 1, 'more image')})" if images[1:] else ""
            problem = f"{shortened(images[0])}{number} is for nodes of {len(names)} architectures ({', '.join(names)})"
            message = f"{problem}"
            facts = tuple(("image", image) for image in images)
            yield at_mappings(
                driver,
                info(message, facts=facts, remedy="push it for each, or select each by kubernetes.io/arch"),
                f"[{position}]",
            )
