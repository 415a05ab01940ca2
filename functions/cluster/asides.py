"""Loose files at the top of a repository that make no cluster: objects of engines, inventories and settings.

Whoever applies them, they are about clusters; what reaches one is in the folders that these objects name. With one more
object among them they make a cluster of their own, like any folder that nothing deploys.
"""

from ..paths import manifests
from ..paths.disk import File
from ..rendering.kinds import COUNTING, PROFILE
from .deployed import LOCAL_KINDS
from .engines import is_of_engine
from .survey import Root


def is_aside(root: Root, top: str) -> bool:
    """Return True for the loose files of the root of a repository, `top`, where none holds what a cluster gets."""
    return root.kind == "files" and root.path == top and bool(root.files) and all(map(_is_about_clusters, root.files))


def _is_about_clusters(file: File) -> bool:
    """Return True for a file of objects of engines, inventories and settings; what cannot be read may hold any.

    A config is none of these, whether it is marked as local-config or not: a cluster gets what is made from it.
    """
    items = manifests.read_files([file])[0].items
    kinds = COUNTING | LOCAL_KINDS | {PROFILE}
    return bool(items) and all(is_of_engine(item) or (item.group, item.kind) in kinds for item in items)
