"""Folders in `overlays/` of a bundle of Fleet: it lays them over the other files for the clusters that choose them.

It applies none of these files as it stands, and krmfn lays nothing over anything. So it is where Fleet applies the
files of a bundle one by one; a kustomization may have a folder with that name.
Source: Fleet 0.13, docs/gitrepo-content; main of August 2026, internal/helmdeployer/render/patch/patch.go.
"""

import os
from collections.abc import Iterable, Iterator, Sequence

from krmfn import Place, Result, warning

from ..deployments.deployment import Deployment
from ..formats.unjudged import UNREAD
from ..paths.manifests import SUFFIXES
from ..paths.roots import within
from . import fleet_ignores
from .engines import Engines
from .fleet_bundle_files import is_built, may_be_built
from .root_files import files_of_root, may_be_ours
from .survey import Root

_NAME = "overlays"


def without(root: Root, deployment: Deployment, top: str) -> Root | None:
    """Return a root without what Fleet does not apply of the bundle of a deployment; None for nothing left."""
    kept, folder = fleet_ignores.without(root, deployment, top), _folder(deployment, top)
    if not kept or not folder:
        return kept
    if within(kept.path, folder):
        return None
    if kept.kind != "files":
        return kept
    rest = tuple(file for file in kept.files if not within(file.real, folder))
    return kept._replace(files=rest) if rest or not kept.files else None


def _folder(deployment: Deployment, top: str) -> str:
    """Return the folder with the overlays of a deployment, whether it is there or not; "" where Fleet has none."""
    if (deployment.declaration.engine, deployment.declaration.how) != ("fleet", "raw") or may_be_built(deployment):
        return ""
    bundle = fleet_ignores.bundle_of(deployment, top)
    return "" if is_built(deployment.real(top)) or is_built(bundle) else os.path.join(bundle, _NAME)


def findings(engines: Engines, roots: Iterable[Root], tops: Sequence[str]) -> Iterator[Result]:
    """Yield a warning per file about us in an overlay; the arguments are those of `fleet_ignores.findings`."""
    folders = {_folder(deployment, engines.top): deployment for deployment in engines.deployments}
    read = {path for root in roots for path in files_of_root(root)} if any(folders) else set[str]()
    for top, deployment in folders.items():
        for folder, _, names in os.walk(top) if top else ():
            for path in (os.path.join(folder, name) for name in sorted(names) if name.endswith(SUFFIXES)):
                is_new = path not in read and any(within(path, named) for named in tops)
                if is_new and folder != top and may_be_ours(path):
                    yield _overlay(path, os.path.relpath(path, top).split(os.sep)[0], deployment)


def _overlay(path: str, name: str, deployment: Deployment) -> Result:
    """Return the warning about a file of an overlay, which has a name."""
    source, place = deployment.declaration.source.ref, os.path.relpath(path)
    message = f"Fleet lays {_NAME}/{name} over what {source} gives to clusters that choose it: that is not judged"
    remedy = "make a bundle of it: a fleet.yaml of its own, and a kustomization.yaml in place of `overlays`"
    return warning(message, rule="KRM534", place=Place(place), tags=((UNREAD, place),), remedy=remedy)
