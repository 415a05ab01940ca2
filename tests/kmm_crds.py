"""KMM's CRDs as the tests use them: made from our facts, and KMM's own where a person has them."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import module_crds
import yaml
from derive_module_structure import FOLDERS, HUB_FILE, MODULE_FILE
from krmfn_functions.kmm.versions import TARGETS

UPSTREAM = os.environ.get("KRMFN_KMM_CRDS", "")
"""A folder with KMM's own files, laid out as functions/kmm/crd/README.md says; "" without one."""
VERSIONS = module_crds.FOLDERS
"""The KMM versions, and the folder of each."""
NEWEST = list(VERSIONS)[-1]
DISTINCT = [name for name in VERSIONS if FOLDERS.get(TARGETS[name].structure) == VERSIONS[name]]
"""The versions with different CRDs."""


class Crds(NamedTuple):
    """The CRDs of a KMM version, from one of two sources."""

    version: str
    upstream: bool = False

    def __str__(self) -> str:
        return f"{self.version}-upstream" if self.upstream else self.version

    def module(self) -> dict[str, Any]:
        """Return the CRD of Module."""
        return _upstream(self.version, MODULE_FILE) if self.upstream else module_crds.module_crd(self.version)

    def hub(self) -> dict[str, Any]:
        """Return the CRD of ManagedClusterModule."""
        return _upstream(self.version, HUB_FILE) if self.upstream else module_crds.hub_crd(self.version)


@cache
def _upstream(version: str, file: str) -> dict[str, Any]:
    crd: dict[str, Any] = yaml.load((Path(UPSTREAM) / VERSIONS[version] / file).read_bytes(), yaml.CSafeLoader)
    return crd


def crds(*versions: str) -> list[Crds]:
    """Return the CRDs of these versions, or of all, from every source at hand."""
    sources = [False, True] if UPSTREAM else [False]
    return [Crds(version, source) for source in sources for version in versions or VERSIONS]
