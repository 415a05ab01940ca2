"""Draw docs/operate/owners.svg, who owns what before, between and after: `python tools/owners_picture.py`."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

TARGET = Path(__file__).parent.parent / "docs" / "operate" / "owners.svg"
_WIDTH, _HEIGHT = 930, 424
_PANEL = 310
_INK, _FAINT, _RED, _BLUE, _GREEN = "#1f2328", "#b3b9c0", "#c9372c", "#0b6e8a", "#1a7f37"
_OBJECTS = ("Module", "DaemonSet", "ConfigMap")
_BOX, _OBJECT_TOP = 34, 214
"""Height of a box, and where those of the objects begin."""


class Stage(NamedTuple):
    """One of the three."""

    title: str
    operator: str
    """What is written in the operator's box; "" where it is gone."""
    config: str
    is_owned: bool
    is_applied: bool
    """Whether Git's deployer writes the objects; else the operator does."""
    verdict: tuple[str, str]
    """What deleting the config does, in two lines."""
    color: str


STAGES = (
    Stage("before", "operator", "config", True, False, ("delete the config:", "every driver unloads"), _RED),
    Stage("between", "operator, 0 pods", "config", False, True, ("delete the config:", "nothing else goes"), _GREEN),
    Stage("after", "", "", False, True, ("nothing but Git", "owns anything"), _GREEN),
)


def main() -> None:
    """Write the picture."""
    TARGET.write_text(picture())


def picture() -> str:
    """Return the three stages beside each other."""
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    style = f'font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="13" fill="{_INK}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style} role="img">']
    parts.append("<title>Before, the config owns the objects; between and after, nothing does</title>")
    parts.append("<defs>")
    parts += [_head(name, color) for name, color in (("red", _RED), ("blue", _BLUE))]
    parts += ["</defs>", '<rect width="100%" height="100%" fill="#fff"/>']
    for number, stage in enumerate(STAGES):
        parts.append(f'<g transform="translate({number * _PANEL},0)">')
        parts += _stage(stage)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def _stage(stage: Stage) -> Iterator[str]:
    """Yield what one stage shows: from top to bottom who writes, the config, the objects, what deleting does."""
    yield f'<text x="155" y="28" text-anchor="middle" font-size="16" font-weight="bold">{stage.title}</text>'
    yield from _box(12, 48, 136, stage.operator or "operator", is_gone=not stage.operator)
    yield from _box(166, 48, 132, "Git's deployer", is_gone=not stage.is_applied)
    yield from _box(12, 130, 136, stage.config or "config", is_gone=not stage.config)
    for number, name in enumerate(_OBJECTS):
        yield from _box(84, _OBJECT_TOP + number * (_BOX + 8), 142, name)
    if stage.is_owned:
        yield _arrow("M 80 164 C 80 196 60 200 60 231 L 80 231", "red")
        yield _arrow("M 60 228 L 60 273 L 80 273", "red")
        yield _arrow("M 60 270 L 60 315 L 80 315", "red")
        yield f'<text x="12" y="206" fill="{_RED}">owns</text>'
    if stage.is_applied:
        yield _arrow("M 250 82 L 250 231 L 230 231", "blue")
        yield _arrow("M 250 228 L 250 273 L 230 273", "blue")
        yield _arrow("M 250 270 L 250 315 L 230 315", "blue")
        yield f'<text x="258" y="196" fill="{_BLUE}">applies</text>'
    else:
        yield _arrow("M 130 82 L 130 106 L 196 106 L 196 210", "blue")
        yield f'<text x="204" y="150" fill="{_BLUE}">writes</text>'
    for number, line in enumerate(stage.verdict):
        attributes = f'text-anchor="middle" fill="{stage.color}" font-weight="bold"'
        yield f'<text x="155" y="{372 + number * 20}" {attributes}>{html.escape(line)}</text>'


def _box(x: int, y: int, width: int, text: str, is_gone: bool = False) -> Sequence[str]:
    stroke = f'stroke="{_FAINT}" stroke-dasharray="4 4"' if is_gone else f'stroke="{_INK}"'
    color = f' fill="{_FAINT}"' if is_gone else ""
    middle = x + width // 2
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{_BOX}" rx="6" fill="none" {stroke}/>',
        f'<text x="{middle}" y="{y + 22}" text-anchor="middle"{color}>{html.escape(text)}</text>',
    )


def _arrow(path: str, color: str) -> str:
    return f'<path d="{path}" fill="none" stroke="{_RED if color == "red" else _BLUE}" marker-end="url(#{color})"/>'


def _head(name: str, color: str) -> str:
    shape = f'<path d="M 0 0 L 8 4 L 0 8 z" fill="{color}"/>'
    return f'<marker id="{name}" markerWidth="8" markerHeight="8" refX="6" refY="4" orient="auto">{shape}</marker>'


if __name__ == "__main__":
    main()
