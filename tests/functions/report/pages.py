"""A report's page as a browser without JavaScript has it: elements, texts, and the data for the script."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any

from krmfn_functions.commands.run_findings import with_changes
from krmfn_functions.formats import grouped
from krmfn_functions.formats.checked import Checked, tag_cluster
from krmfn_functions.formats.verdict import Told
from krmfn_functions.plan import Comparison
from krmfn_functions.report.parts import Part
from krmfn_functions.report.verdicts import verdict_of


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self._within = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._within = tag if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:
        self._within = "" if tag == self._within else self._within

    def handle_data(self, data: str) -> None:
        if self._within == "script":
            self.scripts.append(data)
        elif not self._within:
            self.texts.append(data)

    @property
    def text(self) -> str:
        """All that a reader sees, each run of white space as one space."""
        return " ".join(" ".join(self.texts).split())

    @property
    def tags(self) -> Counter[str]:
        """How many elements of each kind there are."""
        return Counter(tag for tag, _ in self.elements)

    @property
    def attributes(self) -> set[str]:
        """The names of all attributes."""
        return {name for _, attributes in self.elements for name in attributes}

    @property
    def data(self) -> Any:
        """What the page holds for its script."""
        return json.loads(self.scripts[0])

    @property
    def nodes(self) -> dict[str, str]:
        """The state of each node, as the script has it."""
        states = [label for label, _ in self.data["states"]]
        return {name: states[group[2]] for group in self.data["groups"] for name in group[4].split(" ")}


def told_of(parts: Sequence[Part], comparisons: Sequence[Comparison] = ()) -> Told:
    """What a run about these clusters tells."""
    names = [part.name for part in parts]
    results = [finding for part in parts for finding in tag_cluster(part.name, part.findings)]
    checked = with_changes(Checked(grouped.join(results, names) if names[1:] else results), comparisons)
    return Told(verdict_of(parts, checked, comparisons), checked.results, comparisons)
