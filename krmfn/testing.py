"""Tests of a function without kpt, kustomize or containers: lists from folders, and golden cases."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from .item import INDEX, PATH, Item
from .program import KrmFunction
from .resource import Place
from .resourcelist import ResourceList
from .typed import Any
from .yamltext import documents, load

__all__ = ["UPDATE", "golden", "resource_list"]

UPDATE = "KRMFN_UPDATE"
"""The environment variable that makes `golden` write what it got."""
_CONFIGS = ("_fnconfig.yaml", "fn-config.yaml")


def resource_list(folder: str | Path, config: dict[str, Any] | None = None) -> ResourceList:
    """Return the resources of the YAML files below a folder, each with kpt's annotations for its file.

    `config` is the functionConfig, or the data of a ConfigMap: `{"namespace": "web"}`. Raises KrmfnError for a file
    that is no YAML.
    """
    root = Path(folder)
    paths = sorted(path for path in root.rglob("*") if _is_resource(path, root))
    items = [item for path in paths for item in _items(path, path.relative_to(root).as_posix())]
    if config is not None and "kind" not in config:
        texts = {key: value if isinstance(value, str) else str(value).lower() for key, value in config.items()}
        config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "function-input"}, "data": texts}
    resources = ResourceList(items, config)
    return ResourceList.parse(resources.to_bytes())


def _is_resource(path: Path, root: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in path.relative_to(root).parts)
    return not hidden and (path.suffix in (".yaml", ".yml") or path.name == "Kptfile")


def _items(path: Path, name: str) -> list[Item]:
    items = []
    for position, document in enumerate(documents.documents(path.read_bytes())):
        item = Item(document.text, 0, len(document.text), -2, file=Place(name, position, document.line))
        item.annotations[PATH], item.annotations[INDEX] = name, str(position)
        items.append(item)
    return items


def golden(function: KrmFunction[Any], folder: str | Path) -> None:
    """Run the function on each case of a folder, twice, and compare with what is expected of it.

    A case is a folder with `_expected.yaml`, the ResourceList that comes out; its functionConfig is `_fnconfig.yaml`,
    everything else its input. Or one of kpt's: a package with `.expected` (see `kptcase.check`). Raises AssertionError
    with the difference; with KRMFN_UPDATE=1 it writes what it got.
    """
    cases = sorted({path.parent for path in Path(folder).rglob("_*.yaml")})
    packages = sorted(path.parent for path in Path(folder).rglob(".expected"))
    assert cases or packages, f"{folder} has no case: a folder with _fnconfig.yaml and _expected.yaml, or .expected"
    for package in packages:
        from . import kptcase

        kptcase.check(function, package, resource_list, os.environ.get(UPDATE) == "1")
    for case in cases:
        config = next((load.read((case / name).read_bytes()) for name in _CONFIGS if (case / name).exists()), None)
        done = function.run(resource_list(case, config))
        again = function.run(done.output) if done.code == 0 else done
        changed = _rows(done.output, again.output)
        assert not changed, f"{case}: a second run changes something\n{changed}"
        expected = case / "_expected.yaml"
        if os.environ.get(UPDATE) == "1":
            expected.write_bytes(done.output)
        wanted = expected.read_bytes() if expected.exists() else b""
        assert done.output == wanted, f"{case} (KRMFN_UPDATE=1 writes it)\n{_rows(wanted, done.output)}"


def _rows(wanted: bytes, output: bytes) -> str:
    return "\n".join(difflib.unified_diff(wanted.decode().split("\n"), output.decode().split("\n"), lineterm=""))
