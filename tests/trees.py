"""Folders with files, as tests need them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from krmfn_functions.kustomization.calls import Ours
from krmfn_functions.kustomization.graph import Graph

OURS = Ours({"krmfn", "deviceconfig", "ptemplate"}, version="1.2.3")
COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"


def plant(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files by their paths; text that begins with `-> ` makes a link, and with `#!` a program."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("-> "):
            path.symlink_to(text.removeprefix("-> "))
        else:
            path.write_text(text)
        if text.startswith("#!"):
            path.chmod(0o755)
    return folder


def altered(path: Path, old: str, new: str) -> None:
    """Write other text in the place of some that stands in a file."""
    text = path.read_text()
    assert old in text, f"{path} has no {old!r}"
    path.write_text(text.replace(old, new))


def config_map(name: str) -> str:
    """Return a ConfigMap."""
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: b}}\n"


def function(spec: str, key: str = "config.kubernetes.io/function") -> str:
    """Return a functionConfig with an annotation that names its function."""
    return (
        "apiVersion: krmfn.dev/v1alpha1\nkind: RenderDeviceConfigs\nmetadata:\n  name: render\n  annotations:\n"
        f"    {key}: |\n" + "".join(f"      {line}\n" for line in spec.splitlines())
    )


def files_of(graph: Graph, folder: str) -> dict[str, str]:
    """Return the files that a build reads: resolved path to name."""
    files: dict[str, str] = {}
    for kustomization in graph.below(folder):
        files[kustomization.path] = kustomization.name
        references = kustomization.references
        files |= {reference.real: reference.name for reference in references if reference.kind == "file"}
    return files
