"""The Application or Flux Kustomization that `init` gives a new cluster, after that of a neighbour."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from krmfn import KrmfnError, Manifest
from krmfn.typed import Any
from krmfn.yamltext import emit

from ..deployments.deployment import Deployment
from ..importing.beginnings import File, Spot
from ..kmm.lookup import table, text
from ..paths import manifests
from .init_layout import Layout

_PATHS = {"Application": ("spec", "source", "path"), "Kustomization": ("spec", "path")}
"""Where an engine's object of a kind has the folder that it deploys."""


def applications(layout: Layout, top: str, names: Sequence[str], spots: dict[str, Spot]) -> list[File]:
    """Return an Application or Flux Kustomization for each new cluster, where those that are there have one each.

    Where an ApplicationSet makes them there is nothing to write.
    """
    deployments = [entry for entry in layout.streams.engines.deployments if entry.declaration.engine != "none"]
    kinds = {deployment.declaration.source.ref.kind for deployment in deployments}
    if len(kinds) != 1 or not kinds <= {*_PATHS}:
        return []
    new = [name for name in names if name not in layout.roots]
    pairs = [(name, _beside(deployments, top, name, spots[name].folder)) for name in new]
    return [file for _, file in pairs if file]


def _beside(deployments: Sequence[Deployment], top: str, name: str, folder: str) -> File | None:
    """Return an object after the first one that is of its folder's cluster, and stands in a file by itself.

    Of that cluster is one that is named after it, as is its file; or whose folder is that of the cluster, where Flux
    reads its objects.
    """
    for deployment in deployments:
        source, folder_name = deployment.declaration.source, PurePosixPath(deployment.path).name
        word = re.compile(rf"(?<![A-Za-z0-9]){re.escape(folder_name)}(?![A-Za-z0-9])")
        manifest = _alone(Path(top, source.place.path))
        path = PurePosixPath(source.place.path)
        is_named = word.search(source.ref.name) and word.search(path.stem)
        is_in_folder = source.ref.kind == "Kustomization" and word.search(str(path.parent))
        if not manifest or folder_name == "." or not (is_named or is_in_folder):
            continue
        renamed = _renamed(manifest, word, name)
        deployed = text(table(renamed, *_PATHS[source.ref.kind][:-1]), "path")
        if deployed.rstrip("/").removeprefix("./") != folder:
            continue
        if "server" in table(renamed, "spec", "destination"):
            destination = {**renamed["spec"]["destination"], "name": name}
            renamed["spec"]["destination"] = {key: value for key, value in destination.items() if key != "server"}
        target = word.sub(name, str(path)) if is_in_folder else str(path.with_name(word.sub(name, path.name)))
        where = f"to the cluster that Argo CD calls {name}" if source.ref.kind == "Application" else "by Flux"
        purpose = f"deploys {folder} {where}, as {path} does with its own"
        return File(target, emit.dump(renamed).encode(), purpose)
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
