"""Draw the pictures of docs/, report.png and comment.png with chromium: `python tools/pictures.py`."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import drawings
from markdown_it import MarkdownIt

_ROOT = Path(__file__).parent.parent
_FLEET = _ROOT / "examples" / "fleet"
_COLORS = {
    "31": ("#c9372c", "#f85149"),
    "32": ("#1a7f37", "#3fb950"),
    "33": ("#9a6700", "#d29922"),
    "36": ("#0b6e8a", "#39c5cf"),
    "1": ("#111", "#f0f6fc"),
}
"""The colours of a terminal, on a light page and on a dark one."""
_LINE, _WIDTH = 22, 720
"""Height of a line and width of the picture of the diff, in pixels."""
_MOST = 19
"""Lines of the diff that are shown."""
_CHROMIUM = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
_COMMENT = """\
<meta charset="utf-8"><style>
body { margin: 24px; width: 830px; font: 14px/1.5 -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; color: #1f2328 }
.box { border: 1px solid #d1d9e0; border-radius: 6px } .head { padding: 8px 16px; background: #f6f8fa; color: #59636e;
border-bottom: 1px solid #d1d9e0; border-radius: 6px 6px 0 0 } .body { padding: 8px 16px }
table { border-collapse: collapse; font-size: 14px } td, th { border: 1px solid #d1d9e0; padding: 6px 13px }
code { background: #eff1f3; padding: 2px 5px; border-radius: 6px; font: 12px "DejaVu Sans Mono", monospace }
summary { cursor: pointer }
</style>
<body onload="document.title = document.documentElement.scrollHeight">
<div class="box"><div class="head"><b>krmfn</b> commented on this pull request</div><div class="body">%s</div></div>
"""
"""The comment with the looks that a pull request gives it."""


def main() -> None:
    """Write the drawings, then the two pictures of what krmfn prints."""
    drawings.write()
    with tempfile.TemporaryDirectory() as name:
        fleet = shutil.copytree(_FLEET, Path(name, "fleet"))
        _run(fleet, "git", "init", "-q")
        _run(fleet, "git", "add", ".")
        _run(fleet, "git", "-c", "user.name=me", "-c", "user.email=me@example.com", "commit", "-qm", "before")
        page = Path(name, "report.html")
        _run(fleet, "krmfn", "report", ".", "--output", str(page))
        config = fleet / "base" / "gpu.yaml"
        config.write_text(config.read_text().replace("2.26.0", "2.27.0"))
        output = _run(fleet, "krmfn", "diff", "--base", "HEAD", ".", "--color", "always").splitlines()
        lines = ["$ sed -i 's/2.26.0/2.27.0/' base/gpu.yaml && krmfn diff --base HEAD", *output[:_MOST]]
        (_ROOT / "docs" / "diff.svg").write_text(_svg(lines))
        _picture(page, "report.png", "1100,980")
        _run(fleet, "krmfn", "ci", ".", "--base", "HEAD", "--out", str(Path(name, "out")), "--fail-on", "lost")
        markdown = MarkdownIt("commonmark", {"html": True, "breaks": True}).enable("table")
        comment = Path(name, "comment.html")
        comment.write_text(_COMMENT % markdown.render(Path(name, "out", "comment.md").read_text()))
        _picture(comment, "comment.png", f"900,{_height(comment)}")


def _picture(page: Path, name: str, size: str) -> None:
    """Write a picture of a page, as chromium shows it, to a file of docs/."""
    target = f"--screenshot={_ROOT / 'docs' / name}"
    _run(page.parent, *_CHROMIUM, f"--window-size={size}", target, page.as_uri())


def _height(page: Path) -> int:
    """Return how high a page is that writes its height into its title, so that no line of it is cut."""
    (height,) = re.findall(r"<title>(\d+)</title>", _run(page.parent, *_CHROMIUM, "--dump-dom", page.as_uri()))
    return int(height) + 24


def _svg(lines: Sequence[str]) -> str:
    """Return lines of the terminal as a picture."""
    size = f'width="{_WIDTH}" height="{_LINE * (len(lines) + 1)}"'
    texts = [
        f'<text x="16" y="{_LINE * (at + 1)}" xml:space="preserve">{_drawn(line)}</text>\n'
        for at, line in enumerate(lines)
    ]
    style = 'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" class="c1"'
    light, dark = ("".join(f".c{code} {{ fill: {pair[at]} }} " for code, pair in _COLORS.items()) for at in (0, 1))
    rules = f"rect {{ fill: #fff }} {light}\n@media (prefers-color-scheme: dark) {{ rect {{ fill: #0d1117 }} {dark}}}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n<style>\n{rules}\n</style>\n'
    return f'{head}<rect width="100%" height="100%"/>\n{"".join(texts)}</svg>\n'


def _run(folder: Path, *command: str) -> str:
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True).stdout


def _drawn(line: str) -> str:
    """Return a line of the terminal with its colours."""
    text = re.sub(r"\x1b\[([\d;]*)m", lambda match: f"\x00{match[1]}\x01", line)
    parts = re.split("\x00([^\x01]*)\x01", text)
    drawn = html.escape(parts[0])
    for codes, part in zip(parts[1::2], parts[2::2], strict=True):
        colors = [f"c{code}" for code in codes.split(";") if code in _COLORS]
        drawn += f'<tspan class="{colors[-1]}">{html.escape(part)}</tspan>' if colors else html.escape(part)
    return drawn


if __name__ == "__main__":
    main()
