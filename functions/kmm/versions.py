"""The KMM versions that we know, and how their checks differ."""

from __future__ import annotations

from typing import NamedTuple

from krmfn.errors import KrmfnError


class Target(NamedTuple):
    """One KMM version, as far as its checks differ from the others'."""

    name: str
    structure: str
    """The name of the fact table that holds its Module CRD."""
    name_limit: int
    """The longest name + namespace, in bytes."""
    long_texts: bool
    """API machinery 1.35 speaks of bytes and label keys, 1.32 of characters and qualified names."""
    dra: bool
    host_paths: bool
    sign_files: bool
    modprobe_prefix: str
    platform: str
    """What spec.dra asks of the cluster, and in whose numbers: Kubernetes or OpenShift."""
    dra_since: tuple[int, int]


_MODPROBE = "failed to validate modprobe: "
_MAIN = Target("main", "main", 41, True, True, True, True, _MODPROBE, "Kubernetes", (1, 34))
_2_6 = _MAIN._replace(name="2.6", structure="2.6", name_limit=40, long_texts=False, dra=False, host_paths=False)
_2_5 = _2_6._replace(name="2.5", structure="2.4", sign_files=False, modprobe_prefix="")

DEFAULT = "2.6"
TARGETS = {
    "2.4": _2_5._replace(name="2.4"),
    "2.5": _2_5,
    "2.6": _2_6,
    "main": _MAIN,
    "openshift": _MAIN._replace(name="openshift", platform="OpenShift", dra_since=(4, 21)),
}


def target(version: str = DEFAULT) -> Target:
    """Return the KMM version by its name: `2.6`, also `v2.6` and `2.6.0`; `openshift` is the fork's main.

    Raises KrmfnError for a version we hold no facts about. Source: KMM v2.4.0, v2.5.0, v2.6.0 and main
    (2026-07-29), internal/webhook/module.go and the Module CRD; the fork's main for `openshift`.
    """
    known = TARGETS.get(version) or TARGETS.get(".".join(version.removeprefix("v").split(".")[:2]))
    if known is None:
        raise KrmfnError(f"kmm version {version!r} is not known; write one of {', '.join(TARGETS)}")
    return known
