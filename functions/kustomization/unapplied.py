"""A patch with a path that is not in what it patches: kustomize says so in words, and does not name the patch.

Its message is all that it gives, so that is read here: it is not a text of ours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from krmfn.errors import KrmfnError
from krmfn.printing import some

from .graph import Graph

_SAID = "operation does not apply: "
_PATH = rb"/[^\s:,}\"']+"
_WHICH_PATCH = "(kustomize does not name the patch: look for this path in the patches of the folder and of its bases)"


class Unapplied(KrmfnError):
    """A patch has a path that is not in what it patches; kustomize says which path, and not which patch."""

    def __init__(self, name: str, messages: Sequence[str]) -> None:
        """Take the name of the build, and kustomize's messages."""
        super().__init__(f"{name} failed:", *messages, _WHICH_PATCH)
        self.messages = messages

    def name_patches(self, places: Sequence[str]) -> None:
        """Say file and line of each patch with that path; () where nobody found one."""
        if places:
            hint = f"(kustomize does not name the patch; this path is in {some(places, len(places))})"
            self.args = (*self.args[:-1], hint)


def is_said(messages: Sequence[str]) -> bool:
    """Return whether kustomize's messages say that a patch does not fit."""
    return any(_SAID.rstrip(": ") in line for line in messages)


def patches(graph: Graph, folder: str, messages: Sequence[str]) -> list[str]:
    """Return file and line of each patch of a build that has the path which kustomize says that it did not find."""
    message = " ".join(messages).partition(_SAID)[2].partition("\n")[0]
    paths = re.findall(_PATH, message.encode())
    patches = [reference for base in graph.below(folder) for reference in base.references if reference.is_patch]
    texts = [(patch.place, graph.texts.get(patch.real) or patch.data) for patch in patches]
    return [f"{place.path}:{place.line}" for place, text in texts if paths and paths[0] in re.findall(_PATH, text)]
