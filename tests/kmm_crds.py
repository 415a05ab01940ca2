"""KMM's CRDs as the tests use them: made from our facts, and KMM's own where a person has them."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import module_crds
import yaml
from derive_module_structure import HUB_FILE, MODULE_FILE

PUBLISHED = os.environ.get("KRMFN_KMM_CRDS", "")
"""A folder with KMM's own files, laid out as functions/kmm/crd/README.md says; "" without one."""
VERSIONS = module_crds.FOLDERS
"""The KMM versions, and the folder of each."""


class Crds(NamedTuple):
    """The CRDs of a KMM version, from one of two sources."""

    version: str
    published: bool = False

    def __str__(self) -> str:
        return f"{self.version}-published" if self.published else self.version

    def module(self) -> dict[str, Any]:
        """Return the CRD of Module."""
        return _published(self.version, MODULE_FILE) if self.published else module_crds.module_crd(self.version)

    def hub(self) -> dict[str, Any]:
        """Return the CRD of ManagedClusterModule."""
        return _published(self.version, HUB_FILE) if self.published else module_crds.hub_crd(self.version)


@cache
def _published(version: str, file: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.load((Path(PUBLISHED) / VERSIONS[version] / file).read_bytes(), yaml.CSafeLoader)
    return found


def every(*versions: str) -> list[Crds]:
    """Return the CRDs of these versions, or of all, from every source at hand."""
    sources = [False, True] if PUBLISHED else [False]
    return [Crds(version, source) for source in sources for version in versions or VERSIONS]
