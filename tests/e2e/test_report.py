"""The page of `report` in a real browser, with and without JavaScript; pictures of it stay in build/screenshots."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.commands import ROOT, process
from tests.functions.report import fleets
from tests.functions.report.pages import Page

from .engines import find, must

SIZES = {10: 1, 500: 3, 50_000: 6}
"""Nodes, in how many clusters."""
PICTURES = ROOT / "build" / "screenshots"
DARK = "--blink-settings=preferredColorScheme=0"
QUIET = ("--no-first-run", "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND")
BROWSER = "not an origin"
"""Who fetches, in the browser's log, what no page asked for."""
WAIT = 5_000
"""Milliseconds of the page's own time: the browser goes on when nothing is left to do."""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The page of each fleet."""
    folder = tmp_path_factory.mktemp("reports")
    pages = {}
    for nodes, clusters in SIZES.items():
        paths = [str(path) for path in fleets.plant(folder / str(nodes), nodes, clusters)]
        pages[nodes] = folder / f"{nodes}.html"
        process("krmfn", "report", *paths, "-o", str(pages[nodes])).ended(1)
    return pages


@pytest.fixture(scope="module")
def chromium() -> str:
    return find("chromium", "install the Debian package chromium")


def browse(chromium: str, page: Path, folder: Path, *flags: str) -> str:
    """Open a page in a browser of its own, and return what it prints."""
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *QUIET, profile]
    return must(*command, f"--virtual-time-budget={WAIT}", *flags, page.as_uri(), cwd=folder).decode()


def opened(chromium: str, page: Path, folder: Path, *flags: str) -> tuple[str, Page]:
    """Return the page as the browser has it once its script has run, as text and as elements."""
    html = browse(chromium, page, folder, "--dump-dom", *flags)
    return html, Page(html)


def changed(page: Path, folder: Path, end: str, policy: str = "") -> Path:
    """Return a copy of the page with more at its end; `policy` is added to its own, and "none" takes that away."""
    text = page.read_text()
    policies = re.findall(r"<meta http-equiv=[^>]*>", text)
    addition = f'<meta http-equiv="Content-Security-Policy" content="{policy}">' if policy not in ("", "none") else ""
    text = text.replace(policies[0], "" if policy == "none" else policies[0] + addition)
    copy = folder / "changed.html"
    copy.write_text(text.replace("</body>", f"{end}</body>"))
    return copy


def rows(html: str) -> list[str]:
    """The names of the nodes that the table shows."""
    table = html.partition('id="table"')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    return re.findall(r"<th (?=[^>]*class=\"mono\")(?=[^>]*scope=\"row\")[^>]*>([^<]*)</th>", table)


@pytest.mark.parametrize("nodes", SIZES)
def test_the_essentials_are_there_without_javascript(
    nodes: int, reports: dict[int, Path], chromium: str, tmp_path: Path
) -> None:
    without = changed(reports[nodes], tmp_path, "", "script-src 'none'")
    html, page = opened(chromium, without, tmp_path)
    assert len(rows(html)) == min(nodes, 200)
    assert f"{nodes:,} nodes, by what becomes of them" in page.text
    assert "without driver" in page.text
    assert "KRM604" in page.text
    assert 'id="controls" hidden' in html, "nothing that would do nothing is shown"


@pytest.mark.parametrize("nodes", SIZES)
def test_the_script_shows_pages_of_nodes(nodes: int, reports: dict[int, Path], chromium: str, tmp_path: Path) -> None:
    html, page = opened(chromium, reports[nodes], tmp_path)
    assert len(rows(html)) == min(nodes, 50)
    assert f"{nodes:,} of {nodes:,} nodes" in page.text
    assert 'id="controls" hidden' not in html
    assert len(html) < 10 << 20


@pytest.mark.parametrize(
    ("do", "first", "number"),
    [
        ("get('search').value = 'lab-gaudi2 el9_6'; fire('search', 'input')", "lab-gaudi2-", "8 of 500"),
        ("get('search').value = 'no such node'; fire('search', 'input')", "", "0 of 500"),
        ("document.querySelector('[data-sort=name] button').click()", "east-cpu-", "500 of 500"),
        ("for (const _ of '12') document.querySelector('[data-sort=name] button').click()", "west-", "500 of 500"),
        ("document.querySelector('[name=state]').click()", "lab-gaudi3-", "1 of 500"),
        ("get('next').click()", "", "500 of 500"),
    ],
)
def test_nodes_are_searched_sorted_and_filtered(
    do: str, first: str, number: str, reports: dict[int, Path], chromium: str, tmp_path: Path
) -> None:
    helpers = (
        "const get = (id) => document.getElementById(id);"
        "const fire = (id, name) => get(id).dispatchEvent(new Event(name, {bubbles: true}));"
    )
    html, page = opened(chromium, changed(reports[500], tmp_path, f"<script>{helpers}{do}</script>", "none"), tmp_path)
    assert f"{number} nodes" in page.text
    assert all(name.startswith(first) for name in rows(html)[:1])
    assert bool(rows(html)) == (not number.startswith("0"))


def test_the_page_s_policy_lets_no_other_script_run(reports: dict[int, Path], chromium: str, tmp_path: Path) -> None:
    script = "<script>document.body.append('someone was here')</script>"
    texts = [
        opened(chromium, changed(reports[10], tmp_path, script, policy), tmp_path)[1].text for policy in ("", "none")
    ]
    assert ["someone was here" in text for text in texts] == [False, True]
    assert "10 of 10 nodes" in texts[0], "its own script runs"


@pytest.mark.parametrize(("policy", "expected"), [("", []), ("none", ["http://pictures.invalid/x.png"])])
def test_nothing_is_fetched(
    policy: str, expected: list[str], reports: dict[int, Path], chromium: str, tmp_path: Path
) -> None:
    """Not even what somebody has put into the page; without its policy the browser's log has that."""
    log = tmp_path / "net.json"
    page = changed(reports[500], tmp_path, '<img src="http://pictures.invalid/x.png">', policy)
    opened(chromium, page, tmp_path, f"--log-net-log={log}")
    events = [event.get("params", {}) for event in json.loads(log.read_text())["events"]]
    by_pages = {entry["url"] for entry in events if "url" in entry and entry.get("initiator", BROWSER) != BROWSER}
    assert [url for url in by_pages if not url.startswith("file:")] == expected


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("nodes", SIZES)
def test_pictures_are_kept(nodes: int, scheme: str, reports: dict[int, Path], chromium: str, tmp_path: Path) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    picture = PICTURES / f"report-{nodes}-{scheme}.png"
    picture.unlink(missing_ok=True)
    flags = [DARK] if scheme == "dark" else []
    browse(chromium, reports[nodes], tmp_path, "--window-size=1280,3000", f"--screenshot={picture}", *flags)
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) > 30_000, "a picture of nothing is small"


@pytest.mark.parametrize("flags", [(), (DARK,)], ids=["light", "dark"])
def test_nothing_is_read_sideways_on_a_phone(
    flags: tuple[str, ...], reports: dict[int, Path], chromium: str, tmp_path: Path
) -> None:
    """At 400 px rows are cards: no table, and not the page, is wider than what is seen of it."""
    probe = (
        "<script>document.title = [document.documentElement, ...document.querySelectorAll('.scroll')]"
        ".filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.className || 'page').join()</script>"
    )
    page = changed(reports[500], tmp_path, probe, "none")
    html = browse(chromium, page, tmp_path, "--dump-dom", "--window-size=400,900", *flags)
    assert re.findall(r"<title>([^<]*)</title>", html)[0] == ""
