"""The Application that `init` gives a new cluster, after that of a neighbour."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from krmfn import KrmfnError, Manifest
from krmfn.typed import Any
from krmfn.yamltext import emit

from ..deployments.deployment import Deployment
from ..importing.beginnings import File, Spot
from ..paths import manifests
from .init_layout import Layout


def applications(layout: Layout, top: str, names: Sequence[str], spots: dict[str, Spot]) -> list[File]:
    """Return an Application for each new cluster, where each cluster that is there has one of its own.

    Where an ApplicationSet makes them there is nothing to write.
    """
    deployments = layout.streams.engines.deployments
    if not deployments or any(deployment.declaration.source.ref.kind != "Application" for deployment in deployments):
        return []
    new = [name for name in names if name not in layout.roots]
    pairs = [(name, _beside(deployments, top, name, spots[name].folder)) for name in new]
    return [file for _, file in pairs if file]


def _beside(deployments: Sequence[Deployment], top: str, name: str, folder: str) -> File | None:
    """Return an Application after the first one that has its folder's name, and stands in a file by itself."""
    for deployment in deployments:
        source, folder_name = deployment.declaration.source, PurePosixPath(deployment.path).name
        word = re.compile(rf"(?<![A-Za-z0-9]){re.escape(folder_name)}(?![A-Za-z0-9])")
        manifest = _alone(Path(top, source.place.path))
        is_named = word.search(source.ref.name) and folder_name != "."
        if not (manifest and is_named and word.search(Path(source.place.path).stem)):
            continue
        renamed = _renamed(manifest, word, name)
        if renamed["spec"].get("source", {}).get("path", "").rstrip("/").removeprefix("./") != folder:
            continue
        if "server" in renamed["spec"].get("destination", {}):
            destination = {**renamed["spec"]["destination"], "name": name}
            renamed["spec"]["destination"] = {key: value for key, value in destination.items() if key != "server"}
        path = PurePosixPath(source.place.path)
        purpose = f"deploys {folder} to the cluster that Argo CD calls {name}, as {path.name} does with its own"
        return File(str(path.with_name(word.sub(name, path.name))), emit.dump(renamed).encode(), purpose)
    return None


def _alone(path: Path) -> Manifest | None:
    """Return the only object in a file."""
    with suppress(KrmfnError):
        items = manifests.read(str(path), root=str(path.parent)).items
        return items[0].manifest if len(items) == 1 else None
    return None


def _renamed(value: Any, word: re.Pattern[str], name: str) -> Any:
    """Return data with the name of a cluster in place of another's, in every text."""
    if isinstance(value, dict):
        return {key: _renamed(part, word, name) for key, part in value.items()}
    if isinstance(value, list):
        return [_renamed(part, word, name) for part in value]
    return word.sub(name, value) if isinstance(value, str) else value
