"""The page as one file: the counts and rows in a template, with its style, its script and its data inside.

Nothing is fetched: the page's own policy (Content-Security-Policy) allows its one style sheet and its one script, by
their hashes, and nothing else, whatever a name in the input looks like.
"""

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import islice, takewhile
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from krmfn.printing import counted, some, visible
from krmfn.typed import Any

from ..exclusivity.messages import line_of
from ..finding import location_of, subjects
from ..formats import changes, unjudged
from ..formats.rules import sentence
from ..formats.verdict import Told, Verdict
from ..rule import Rule
from . import states, tallies
from .parts import CONFLICTS, Part, merge_images

_FOLDER = Path(__file__).parent
IMAGES = 1_000
"""Images that are shown."""
PANELS = 100
CHANGES = 200
"""Changes of one cluster that are shown, and fields of one change."""
LINES = 100
"""Lines of one field's values."""
_HERE = "this folder"
"""The name of a single cluster that is the folder in which the command is called."""
_FUNCTIONS: dict[str, Any] = {
    "lines": lambda field: islice(changes.values(field), LINES),
    "needed": lambda image: [f"{ref} ({purpose})" for ref, purpose in image.needs],
    "state": lambda key: states.STATES[states.RANK[key]],
}
_FUNCTIONS |= {
    "gap_text": unjudged.sentence,
    "location_of": location_of,
    "subjects": subjects,
    "changes": changes,
    "line_of": line_of,
    "most_changes": CHANGES,
    "sentence": sentence,
    "some": some,
    "states": states,
}
"""What the template writes and draws with, on every page the same."""


def page(
    parts: Sequence[Part],
    rules: Mapping[str, Rule],
    version: str,
    outcome: Told,
    link_of: Callable[[str], str] = lambda name: "",
) -> str:
    """Return the HTML of a report about some clusters; `rules` are those that findings name, by their ids.

    `outcome` is what the run tells; `link_of` returns the link to a file by its name, "" for one that the page does not
    link to.
    """
    folder = _common_folder([part.name for part in parts])
    parts = [part._replace(name=part.name[len(folder) :]) for part in parts]
    if len(parts) == 1 and parts[0].name == ".":
        parts = [parts[0]._replace(name=_HERE)]
    style, script = ((_FOLDER / name).read_text() for name in ("page.css", "page.js"))
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'"
    text = template().render(
        **_context(parts, rules, outcome),
        style=Markup(style),  # both are files of ours, and nothing of the input is in them
        script=Markup(script),
        policy=policy,
        above=folder,
        version=version,
        link=link_of,
    )
    return visible(text, "\n")  # a name must not look like another one


@cache
def template() -> Template:
    """Return the template of every page; to compile it takes 0.2 s, to fill it in for a small cluster 0.013 s."""
    environment = Environment(loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = environment.keep_trailing_newline = True
    environment.filters |= {
        "ticked": _format_code,
        "whole_names": _keep_names,
        "number": "{:,}".format,
        "counted": counted,
    }
    environment.globals |= _FUNCTIONS
    return environment.get_template("page.html")


def _format_code(text: str) -> Markup:
    """Return a text as HTML; what stands between backticks is code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # it is escaped before


def _keep_names(text: str) -> Markup:
    """Return a text as HTML in which no name is broken at its hyphen: `prod-a` stays in one line."""
    return Markup(re.sub(r"[^\s<>]+", _kept, str(escape(text))))


def _kept(word: re.Match[str]) -> str:
    return f'<span class="name">{word[0]}</span>' if re.search(r"\w-\w", word[0]) else word[0]


def _common_folder(names: Sequence[str]) -> str:
    """Return the folder, with its slash, in which all of several clusters are; "" where there is none."""
    folders = [name.split("/")[:-1] for name in names] if len(names) > 1 else []
    common = takewhile(lambda parts: len({*parts}) == 1, zip(*folders, strict=False))
    return "".join(f"{parts[0]}/" for parts in common)


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _context(parts: Sequence[Part], rules: Mapping[str, Rule], outcome: Told) -> dict[str, Any]:
    """Return what the template shows of these clusters."""
    by_part = [states.of_nodes(part.groups) for part in parts]
    numbers = sum(by_part, Counter[str]())
    lines, panels = tallies.lines(parts), tallies.panels(parts)
    clashes = [(part.name, clash) for part in parts for clash in part.clashes]
    clashes.sort(key=lambda pair: str(pair[1]["severity"]))  # errors first
    # those without a driver before others
    rows = ((name, part, group) for part, group in states.groups_of(parts) for name in group.names)
    images = merge_images(part.images for part in parts)
    comparisons = outcome.comparisons
    return {
        "parts": parts,
        "is_one": len(parts) == 1,
        "named": parts[0].name if len(parts) == 1 and parts[0].name != _HERE else "",
        "facts": tallies.facts(parts, outcome.verdict.nodes, len(lines), len(images)),
        "opening": tallies.opening(parts, numbers, outcome.verdict),
        "told": changes.overview(comparisons, [comparison.name for comparison in comparisons]) if comparisons else None,
        "verdict": outcome.verdict,
        "numbers": states.counts(numbers),
        "legend": states.counts(sum((nodes for _, nodes in _fields(parts, by_part, outcome.verdict)), Counter[str]())),
        "whole": numbers.total(),
        "ring": tallies.ring(parts, numbers, outcome.verdict),
        "fields": states.fields(_fields(parts, by_part, outcome.verdict)),
        "map": tallies.map_of(lines, parts, by_part) if lines else None,
        "panels": panels[:PANELS],
        "more_panels": max(0, len(panels) - PANELS),
        "clashes": clashes[:CONFLICTS],
        "more_clashes": max(0, len(clashes) - CONFLICTS) + sum(part.more_clashes for part in parts),
        "chapters": tallies.chapters(rules, outcome.findings),
        "images": images[:IMAGES],
        "more_images": max(0, len(images) - IMAGES),
        "rows": [*islice(rows, states.ROWS)],
        "data": _embed(states.node_data(parts)),
    }


def _fields(parts: Sequence[Part], by_part: Sequence[Counter[str]], verdict: Verdict) -> list[tuple[str, Counter[str]]]:
    """Return how many nodes of each cluster are in each state, those that were not evaluated among them."""
    fields = []
    for part, numbers, cluster in zip(parts, by_part, verdict.clusters, strict=True):
        grey = Counter({states.UNEVALUATED: cluster.nodes.unknown} if cluster.nodes.unknown else {})
        fields.append((part.name, numbers + grey))
    return [(name, numbers) for name, numbers in fields if numbers]


def _embed(data: Any) -> Markup:
    """Return data as JSON for a script element: nothing in it can end that element, or begin another."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    text = re.sub("[^ -~]", lambda match: json.dumps(visible(match[0]))[1:-1], text)
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)


def link(path: str) -> str:
    """Return a relative path as a link, "" for "". Whatever the file is called, the link has no scheme and no host."""
    return f"./{quote(path.encode(errors='surrogateescape'))}" if path else ""
