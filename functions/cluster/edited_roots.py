"""Roots as engines build them: with what an object of an engine writes into their kustomization before the build."""

import os

from krmfn import Item

from ..deployments.deployment import Addition, Deployment
from ..deployments.edits import edits
from ..kustomization.calls import Ours
from ..paths.roots import root_of
from .survey import Root


class Editor:
    """The roots that were edited in a run: each is read once for each set of additions."""

    def __init__(self, ours: Ours, root: str | None, is_absolute: bool) -> None:
        """Take our functions, the value of --root, and how files are named."""
        self._ours, self._root, self._is_absolute = ours, root, is_absolute
        self._roots: dict[tuple[str, str, tuple[Addition, ...]], tuple[Root, bool]] = {}

    def edited(self, root: Root, deployment: Deployment, top: str) -> Root:
        """Return a root as a deployment has it; the root itself where it has nothing that can be written there.

        Only what an engine builds itself is edited, in the folder that it names. `top` is that of the repository.
        """
        declaration = deployment.declaration
        is_built = root.kind == "kustomization" and declaration.how == "raw" and root.path == deployment.real(top)
        if not (is_built and declaration.additions):
            return root
        key = (root.path, declaration.engine, declaration.additions)
        edited, is_blamed = self._roots.get(key, (None, True))
        if edited is None or is_blamed:  # what is wrong with an addition is said at each object that has it
            edited, is_blamed = self._roots[key] = self._read(root, deployment, top)
        return edited._replace(editor=_editor(deployment)) if edited.editor else edited

    def _read(self, root: Root, deployment: Deployment, top: str) -> tuple[Root, bool]:
        """Return a root whose graph has what its engine writes, and whether something about that is wrong.

        Findings about that are at the engine's object.
        """
        kustomization, declaration = root.graph.kustomizations[root.path], deployment.declaration
        if not kustomization.item or kustomization.is_component:
            return root, False
        fields, additions = edits(declaration.engine, kustomization.manifest, declaration.additions)
        if not fields:
            return root, False
        from ..kustomization import reading  # imported here, as in `survey`

        text = _text(kustomization.item, fields)
        bound = root_of(root.path, self._root)
        graph = reading.read([root.path], bound, self._ours, self._is_absolute, {kustomization.path: text})
        source = declaration.source
        place = source.place._replace(path=os.path.relpath(os.path.join(top, source.place.path)))
        former = {finding.occurrence for finding in kustomization.findings}
        edited = graph.kustomizations[root.path]
        is_new = [finding.occurrence not in former for finding in edited.findings]
        edited.findings[:] = [
            finding._replace(ref=source.ref, place=place, field=None) if new else finding
            for finding, new in zip(edited.findings, is_new, strict=True)
        ]
        return root._replace(graph=graph, additions=additions, editor=_editor(deployment)), any(is_new)


def _editor(deployment: Deployment) -> str:
    """Return the engine's object of a deployment, with its file."""
    source = deployment.declaration.source
    return f"{source.ref} ({source.place.path})"


def _text(item: Item, fields: dict[str, object]) -> bytes:
    """Return the text of a kustomization with other values of some fields; its first line stays where it is."""
    place = item.file or item.place
    first = place.line if place else 1
    edited = Item(item.text, 0, len(item.text), -2, False, place)
    for field, value in fields.items():
        edited[field] = value
    return b"\n" * (first - 1) + bytes(edited.text)
