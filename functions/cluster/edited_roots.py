"""Roots as engines build them: with what an object of an engine writes into their kustomization before the build."""

import os
from collections.abc import Collection

from krmfn import Item, Place
from krmfn.typed import Any

from ..deployments.deployment import Addition, Deployment
from ..deployments.edits import edits
from ..finding import occurrence
from ..kustomization.calls import Ours
from ..kustomization.graph import Graph
from ..paths.manifests import KUSTOMIZATIONS
from ..paths.roots import root_of
from .survey import Root

_Key = tuple[str, str, tuple[Addition, ...], bytes]


class Editor:
    """The roots that were edited in a run: each is read once for each set of additions."""

    def __init__(self, ours: Ours, root: str | None, is_absolute: bool) -> None:
        """Take our functions, the value of --root, and how files are named."""
        self._ours, self._root, self.is_absolute = ours, root, is_absolute
        self._roots: dict[_Key, tuple[Root, bool]] = {}

    def edited(self, root: Root, deployment: Deployment, top: str) -> Root:
        """Return a root as a deployment has it; the root itself where it has nothing that can be written there.

        Only what an engine builds itself is edited, in the folder that it names. `top` is that of the repository.
        """
        declaration = deployment.declaration
        is_built = root.kind == "kustomization" and declaration.how == "raw" and root.path == deployment.real(top)
        if not (is_built and declaration.additions) or root.is_generated:
            return root
        return self._once(root, b"", deployment, top)

    def generated(self, root: Root, text: bytes, deployment: Deployment, top: str) -> Root:
        """Return a root without a kustomization with the one, `text` in one line, that its engine writes there."""
        return self._once(root._replace(is_generated=True), text, deployment, top)

    def _once(self, root: Root, text: bytes, deployment: Deployment, top: str) -> Root:
        key = (root.path, deployment.declaration.engine, deployment.declaration.additions, text)
        done, is_blamed = self._roots.get(key, (root, True))
        if is_blamed:  # what is wrong with an addition is said at each object that has it
            read = self._generated if text else self._edited
            done, is_blamed = self._roots[key] = read(root, text, deployment, top)
        return done._replace(editor=_editor(deployment)) if done.editor else done

    def _generated(self, root: Root, text: bytes, deployment: Deployment, top: str) -> tuple[Root, bool]:
        """Return a root with a kustomization that stands nowhere: its line is that of the engine's object."""
        path, place = os.path.join(root.path, KUSTOMIZATIONS[0]), _place(deployment, top)
        text = b"\n" * (place.line - 1) + text + b"\n"
        graph = self._read(root, path, text, place.path)
        return self._blamed(root._replace(graph=graph), set(), deployment, top)

    def _edited(self, root: Root, _: bytes, deployment: Deployment, top: str) -> tuple[Root, bool]:
        """Return a root whose graph has what its engine writes, and whether something about that is wrong."""
        kustomization, declaration = root.graph.kustomizations[root.path], deployment.declaration
        if not kustomization.item or kustomization.is_component:
            return root, False
        fields, additions = edits(declaration.engine, kustomization.manifest, declaration.additions)
        if not fields:
            return root, False
        former = {occurrence(finding) for finding in kustomization.findings}
        graph = self._read(root, kustomization.path, _text(kustomization.item, fields), "")
        return self._blamed(root._replace(graph=graph, additions=additions), former, deployment, top)

    def _read(self, root: Root, path: str, text: bytes, name: str) -> Graph:
        """Return the graph of a root in which a text stands for that of its kustomization."""
        from ..kustomization import reading, texts  # imported here, as in `survey`

        edit, bound = texts.Edit(text, name), root_of(root.path, self._root)
        return reading.read([root.path], bound, self._ours, self.is_absolute, {path: edit})

    def _blamed(
        self, root: Root, former: Collection[tuple[Any, ...]], deployment: Deployment, top: str
    ) -> tuple[Root, bool]:
        """Return a root whose new findings are at the engine's object, and whether there are any."""
        source, place = deployment.declaration.source, _place(deployment, top)
        edited = root.graph.kustomizations[root.path]
        is_new = [occurrence(finding) not in former for finding in edited.findings]
        edited.findings[:] = [
            finding._replace(ref=source.ref, place=place, field=None) if new else finding
            for finding, new in zip(edited.findings, is_new, strict=True)
        ]
        return root._replace(editor=_editor(deployment)), any(is_new)


def _place(deployment: Deployment, top: str) -> Place:
    """Return the place of the engine's object of a deployment, with its file as users see it."""
    place = deployment.declaration.source.place
    return place._replace(path=os.path.relpath(os.path.join(top, place.path)))


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
