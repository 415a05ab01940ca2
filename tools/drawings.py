"""Drawings for docs/: the path from Git to a node, the layers, an ordered upgrade. Light and dark, as SVG."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parent.parent / "docs"
_STYLE = """\
.box { fill: #f6f8fa; stroke: #57606a } .ours { fill: #ddf4ff; stroke: #0969da } .old { fill: #fff8c5; stroke: #9a6700 }
.new { fill: #dafbe1; stroke: #1a7f37 } .busy { fill: #ffebe9; stroke: #c9372c } text { fill: #1f2328 }
.small { fill: #57606a; font-size: 12px } .line { stroke: #57606a; fill: none } .head { fill: #57606a }
@media (prefers-color-scheme: dark) {
.box { fill: #21262d; stroke: #9198a1 } .ours { fill: #12263f; stroke: #58a6ff } .old { fill: #3a2d00; stroke: #d29922 }
.new { fill: #10301c; stroke: #3fb950 } .busy { fill: #3f1414; stroke: #f85149 } text { fill: #f0f6fc }
.small { fill: #9198a1 } .line { stroke: #9198a1 } .head { fill: #9198a1 } }
"""
"""The colours of GitHub's pages; a box of ours is blue, an old version yellow, a new one green."""
_FONT = "font-family='Helvetica, Arial, sans-serif' font-size='15' text-anchor='middle'"


class Box(NamedTuple):
    """A box with its lines of text, the first of which is larger."""

    x: int
    y: int
    width: int
    height: int
    lines: Sequence[str]
    kind: str = "box"


PATH = (
    ("Git", "a DeviceConfig: a driver,", "its version, its nodes", "box"),
    ("krmfn", "makes the objects; checks", "what would fail there", "ours"),
    ("Module", "and what waits for it,", "applied by Argo CD or Flux", "box"),
    ("KMM", "finds the image of each", "kernel, and loads it", "box"),
    ("node", "has the driver, and", "KMM's ready label", "new"),
)
CHECKS = (
    ("in the pull request", "krmfn check, diff, ci: fields, kernels, images, which node gains, loses or reloads what"),
    ("at the apply", "the API server and KMM's webhook: whether the Module is one"),
    (
        "on the node",
        "KMM alone: whether the kernel takes the driver; krmfn why says which link is broken",
    ),
)
LAYERS = (
    ("functions/command_line, commands", "what is typed, and what it prints"),
    ("functions/cluster, comparing, mending", "a whole repository: roots, clusters, before and after"),
    ("functions/kustomization, adoption", "kustomize, confined; who owns what on a cluster"),
    (
        "functions/deployments, final, upgrades, report, importing",
        "what reaches a cluster, and what a change does",
    ),
    ("functions/deviceconfig, ptemplate, rendering", "from a config to its objects"),
    ("functions/profile, chain, fleet", "a vendor's options; nodes, images, the links of KMM's chain"),
    ("functions/exclusivity, kmm, pods", "who may share a node; what is known of KMM and of Kubernetes"),
    ("krmfn/", "the SDK: reads and writes resources, and knows nothing of devices"),
)
"""The rooms as .importlinter has them, from top to bottom."""
STEPS = (
    ("the Module has version 2: nothing happens", ("old", "old", "old", "old")),
    ("wave 1: the label of node 1 changes", ("busy", "old", "old", "old")),
    ("node 1 is ready: wave 2", ("new", "busy", "busy", "old")),
    ("and so on", ("new", "new", "new", "busy")),
    ("done", ("new", "new", "new", "new")),
)
_WORDS = {"old": "1", "busy": "1 → 2", "new": "2"}


def write() -> None:
    """Write the three drawings."""
    (DOCS / "path.svg").write_text(_path(), encoding="utf-8")
    (DOCS / "layers.svg").write_text(_layers(), encoding="utf-8")
    (DOCS / "operate" / "upgrade.svg").write_text(_upgrade(), encoding="utf-8")


def _path() -> str:
    """Return the picture of who makes what on the way to a node, and who checks it where."""
    boxes = [Box(10 + 196 * at, 20, 172, 84, lines, kind) for at, (*lines, kind) in enumerate(PATH)]
    arrows = [_arrow(box.x + box.width, box.x + box.width + 22, 62) for box in boxes[:-1]]
    checks = [
        _text(20, 140 + 26 * at, f"{place}: {checker}", "start", "small") for at, (place, checker) in enumerate(CHECKS)
    ]
    return _svg(980, 215, [*map(_box, boxes), *arrows, *checks], "From Git to a node, and who checks what")


def _layers() -> str:
    """Return the picture of the rooms, each of which imports only what is below it."""
    boxes = [
        Box(10, 10 + 58 * at, 660, 48, lines, "ours" if at + 1 == len(LAYERS) else "box")
        for at, lines in enumerate(LAYERS)
    ]
    return _svg(680, 20 + 58 * len(LAYERS), map(_box, boxes), "The layers, from what is typed to the SDK")


def _upgrade() -> str:
    """Return the strip of an ordered upgrade: four nodes, a line for each step."""
    parts: list[str] = []
    parts += [_text(51 + 92 * at, 20, f"node {at + 1}", "middle", "small") for at in range(len(STEPS[0][1]))]
    for row, (sentence, nodes) in enumerate(STEPS):
        top = 30 + 52 * row
        parts += [_box(Box(10 + 92 * at, top, 82, 40, (_WORDS[kind],), kind)) for at, kind in enumerate(nodes)]
        parts.append(_text(394, top + 25, sentence, "start", "plain"))
    return _svg(720, 38 + 52 * len(STEPS), parts, "An ordered upgrade: each node goes when it is labelled")


def _box(box: Box) -> str:
    middle = box.x + box.width // 2
    first = box.y + (box.height + 5) // 2 - 10 * (len(box.lines) - 1) + 3
    lines = [
        _text(middle, first + 20 * at, line, "middle", "small" if at else "plain") for at, line in enumerate(box.lines)
    ]
    size = f"x='{box.x}' y='{box.y}' width='{box.width}' height='{box.height}' rx='6'"
    return f"<rect class='{box.kind}' {size}/>\n{''.join(lines)}"


def _text(x: int, y: int, text: str, anchor: str, kind: str) -> str:
    return f"<text class='{kind}' x='{x}' y='{y}' text-anchor='{anchor}'>{html.escape(text)}</text>\n"


def _arrow(start: int, end: int, y: int) -> str:
    head = f"<path class='head' d='M{end} {y} l-9 -5 v10 z'/>"
    return f"<path class='line' d='M{start + 2} {y} H{end - 8}'/>{head}\n"


def _svg(width: int, height: int, parts: Sequence[str] | map[str], title: str) -> str:
    size = f"viewBox='0 0 {width} {height}' width='{width}' height='{height}'"
    head = f"<svg xmlns='http://www.w3.org/2000/svg' {size} {_FONT} role='img'>\n<title>{html.escape(title)}</title>\n"
    return f"{head}<style>\n{_STYLE}</style>\n{''.join(parts)}</svg>\n"
