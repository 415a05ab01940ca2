"""What operators were recorded to make: data outside of this repository, whose folder KRMFN_OPERATORS names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from krmfn_functions.importing.normal import normal
from krmfn_functions.kmm.regexps import matches

from krmfn import Manifest
from tests.commands import ROOT

FOLDER = Path(os.environ.get("KRMFN_OPERATORS", ""))
recorded = pytest.mark.skipif(not os.environ.get("KRMFN_OPERATORS"), reason="KRMFN_OPERATORS names no folder")
EXAMPLES = ROOT / "examples" / "vendor-profiles"
_PAGE = ROOT / "docs" / "internals" / "superset.md"


KERNELS = ("5.15.0-76-generic", "6.4.0-150700.53.6-default")
"""The kernels of the two nodes that AMD's operator was recorded with: Ubuntu 22.04 and SLES 15.7."""
_SYSTEM = re.compile(r"(ubuntu|sles|coreos)-(?!22\.04|15\.7)\d+\.\d+-")


def of_recorded_nodes(objects: dict[str, Manifest]) -> dict[str, Manifest]:
    """Return what the recorded nodes use of AMD's objects: an operator makes nothing for systems that no node has."""
    kept: dict[str, Manifest] = {}
    for name, manifest in objects.items():
        if manifest["kind"] == "Module":
            container = manifest["spec"]["moduleLoader"]["container"]
            mappings = container["kernelMappings"]
            mappings = [entry for entry in mappings if any(matches(entry["regexp"], kernel) for kernel in KERNELS)]
            loader = {**manifest["spec"]["moduleLoader"], "container": {**container, "kernelMappings": mappings}}
            manifest = {**manifest, "spec": {**manifest["spec"], "moduleLoader": loader}}
        if not (manifest["kind"] == "ConfigMap" and _SYSTEM.match(manifest["metadata"]["name"])):
            kept[name] = manifest
    return kept


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return the value with each of its texts changed; keys stay."""
    if isinstance(value, dict):
        return {key: with_texts(child, change) for key, child in value.items()}
    if isinstance(value, list):
        return [with_texts(child, change) for child in value]
    return change(value) if isinstance(value, str) else value


def _in_one_form(text: str) -> str:
    """Return KMM's variables without braces, and TEXT for scripts and Dockerfiles: both sides have stand-ins."""
    is_text = re.fullmatch(r"text-A?\d+", text) or len(text) > 120 or "\n" in text or "sys/module/" in text
    return "TEXT" if is_text or "host-etc" in text else re.sub(r"\$\{(KERNEL_\w+)\}", r"$\1", text)


def plain(manifest: Manifest) -> Manifest:
    """Return the object without what the API server or Go fills in, ownerReferences and the mark of its Profile."""
    form: Any = normal(manifest)
    metadata = form.get("metadata", {})
    metadata.pop("ownerReferences", None)
    metadata.get("annotations", {}).pop("krmfn.dev/profile", None)
    if metadata.get("annotations") == {}:
        del metadata["annotations"]
    return dict(with_texts(form, _in_one_form))


def holds_page(head: str, table: str) -> None:
    """Fail where docs/internals/superset.md has another table with this head; KRMFN_UPDATE=1 writes it."""
    page = _PAGE.read_text()
    at = page.index(head)
    end = page.find("\n\n", at) + 1 or len(page)
    if os.environ.get("KRMFN_UPDATE"):
        _PAGE.write_text(page[:at] + table + page[end:])
    assert page[at:end] == table
