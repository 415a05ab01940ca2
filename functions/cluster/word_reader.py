"""Which files hold our own words, each read once."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from krmfn import KrmfnError

from ..paths import files, templates
from ..paths.disk import Text
from ..paths.templates import LowerText
from ..rendering.kinds import PROFILE
from . import spokes

_OURS = "krmfn"
_SMALL = 1 << 16
"""The size in bytes up to which a text is searched again, when somebody asks for more."""
_FLUX = re.compile(rb"(?:toolkit\.fluxcd\.io|fluxcd\.controlplane\.io)\\?/v[0-9]")
"""The versions of Flux's kinds, and of those of its operator."""


class Reader:
    """The texts of files, each read once for our own words, and which of them hold a Profile or are of a hub."""

    def __init__(self, texts: Mapping[str, Text] = MappingProxyType({})) -> None:
        """Take the texts that are kept for who reads the resources in them, by their paths without links."""
        self._texts = texts
        self._answers: dict[str, bool] = {}
        self.products: list[str] = []
        self.has_flux = False
        self.has_hub = False
        self._has_more = False  # than Nodes
        self._of_nodes: list[str] = []

    @property
    def has_more(self) -> bool:
        """Return whether a file that was read may hold more of ours than Nodes; to know is work where few do."""
        self._has_more = self._has_more or any(map(self._may_hold_more, self._of_nodes))
        self._of_nodes = []  # each is asked once
        return self._has_more

    def _may_hold_more(self, path: str) -> bool:
        text = self._text(path)
        return text is None or not templates.lower_text(text).is_only_about_nodes()

    def concerns(self, paths: Sequence[str], words: Collection[str] = ()) -> bool:
        """Return True where a file holds one of our words, or of these; one that cannot be read may hold any."""
        answers = [self.holds(path, words) for path in paths]  # all of them: each may hold a Profile
        return any(answers)

    def holds(self, path: str, words: Collection[str] = ()) -> bool:
        """Return True for a file whose name or text has one of our words, or whose text has one of these."""
        if words or path not in self._answers:
            if (text := self._text(path)) is None:
                self._has_more = self._has_more or not os.path.isdir(path)
                return not os.path.isdir(path)
            if words:
                return templates.mentions(text, words)
            self.has_flux = self.has_flux or (b"fluxcd" in text and _FLUX.search(text) is not None)
            self._answers[path] = self._is_ours(path, templates.lower_text(text))
        return self._answers[path]

    def _text(self, path: str) -> bytes | None:
        """Return the text of a file; None where it cannot be read."""
        kept = self._texts[path].content if path in self._texts else None
        try:
            return files.read_regular(path, path) if kept is None else kept
        except KrmfnError:
            return None

    def _is_ours(self, path: str, text: LowerText) -> bool:
        """Return whether the name or the text of a file has one of our words, and note what else is in such a file."""
        is_named = _OURS in os.path.basename(path)
        if not (is_named or text.is_about_us()):
            return False
        if not is_named and text.begins_with_nodes() and len(text.readings[0]) <= _SMALL:
            self._of_nodes.append(path)
        else:
            self._has_more = self._has_more or is_named or not text.is_only_about_nodes()
        if text.mentions((PROFILE[1], *spokes.OF_HUBS)):  # few do
            self.products += [path] if text.mentions((PROFILE[1],)) else []
            self.has_hub = self.has_hub or text.mentions(spokes.OF_HUBS)
        return True
