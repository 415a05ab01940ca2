"""The functions that a kustomization lists, as kustomize is given them: written by us, ours under names of this run.

The name by which kustomize starts a function of ours is made at random, so that nothing in a repository can call it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from krmfn.item import Item

from . import flow
from .calls import ANNOTATIONS, Call

Names = dict[str, str]
"""What an annotation calls (a program, an image) to the name that stands for it in this run."""


class Entries:
    """The documents behind the lists of functions of all kustomizations, until they are written."""

    def __init__(self) -> None:
        self.names: Names = {}
        self._files: dict[str, Sequence[Item]] = {}
        self._inline: dict[tuple[str, str], Sequence[Item]] = {}
        self._replaced: dict[int, str] = {}

    def add(self, folder: str, field: str, real: str, items: Sequence[Item]) -> None:
        """Take the documents of a file, or those that are written out in a field (`real` is "")."""
        if real:
            self._files[real] = items
        else:
            self._inline[folder, field] = items

    def call(self, call: Call) -> None:
        """Take a call: the annotation of one of ours gets the name of this run."""
        value = call.image or call.program
        metadata = flow.at(call.config.content.node, "metadata.annotations")
        node = next((flow.entries(metadata)[key][1] for key in ANNOTATIONS if key in flow.entries(metadata)), None)
        if value and node is not None:
            name = self.names.setdefault(value, f"krmfn-{os.urandom(12).hex()}")
            self._replaced[id(node)] = str(node.value).replace(value, name)

    def files(self) -> dict[str, bytes]:
        """Return the texts of the files, by their paths without links."""
        return {real: flow.written(items, self._replaced).encode() for real, items in self._files.items()}

    def inline(self, folder: str) -> dict[str, str]:
        """Return the texts that are written out in a kustomization, by their fields."""
        fields = {field: items for (where, field), items in self._inline.items() if where == folder}
        return {field: flow.written(items, self._replaced, on_lines=False).strip() for field, items in fields.items()}


def unnamed(text: bytes, names: Mapping[str, str]) -> bytes:
    """Return what kustomize printed with the functions as they are called in the repository."""
    for value, name in names.items():
        text = text.replace(name.encode(), value.encode())
    return text
