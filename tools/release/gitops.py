"""The folders of gitops/ that are published, each with its page of docs/engines, pinned to the version."""

from __future__ import annotations

import re
from pathlib import Path

from . import archives
from .process import Refusal
from .source import Source

_IMAGE = re.compile(r"\bregistry\.example\.com/(krmfn|krmfn-argocd):[\w.-]+")
_SHELL = "set -euo pipefail\n"
PINNED = {
    "argocd": ("repo-server.yaml", "hydrator/repo-server.yaml"),
    "kpt": ("package/Kptfile",),
    "flux": ("render-branch",),
}
"""The folders, and the files in each that name a version."""


def write(source: Source, tree: Path, out: Path, registry: str) -> list[Path]:
    """Write an archive of each folder; return their paths. Raises Refusal for a file that names no version."""
    return [_archive(source, tree / "gitops" / name, out, registry) for name in PINNED]


def _archive(source: Source, folder: Path, out: Path, registry: str) -> Path:
    top = f"krmfn-{folder.name}-{source.version}"
    page = (folder.parent.parent / "docs" / "engines" / f"{folder.name}.md").read_text(encoding="utf-8")
    files = {f"{top}/README.md": archives.File(pinned(page, source.version, registry).encode(), False)}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = path.relative_to(folder).as_posix()
            text = path.read_text(encoding="utf-8")
            changed = pinned(text, source.version, registry)
            if name in PINNED[folder.name] and changed == text and source.version not in text:
                raise Refusal(f"gitops/{folder.name}/{name} names no version of krmfn that could be pinned")
            files[f"{top}/{name}"] = archives.File(changed.encode(), bool(path.stat().st_mode & 0o100))
    if lost := [name for name in PINNED[folder.name] if f"{top}/{name}" not in files]:
        raise Refusal(f"gitops/{folder.name} has no {', '.join(lost)}")
    archive = out / f"{top}.tar.gz"
    archives.write(archive, files, source.epoch)
    return archive


def pinned(text: str, version: str, registry: str) -> str:
    """Return the text with the images of this version, and a script as one that only this version serves."""
    text = _IMAGE.sub(rf"{registry}/\1:{version}", text)
    if text.startswith("#!") and "\nkrmfn " in text and text.count(_SHELL) == 1:
        return text.replace(_SHELL, _SHELL + _guard(version))
    return text


def _guard(version: str) -> str:
    return (
        f'if [ "$(krmfn --version)" != "krmfn {version}" ]; then\n'
        f'  echo "this script is from krmfn {version}, and $(krmfn --version) is on PATH" >&2\n'
        "  exit 1\n"
        "fi\n"
    )
