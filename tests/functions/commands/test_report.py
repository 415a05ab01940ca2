"""The command `report`, as a person runs it."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.commands import ROOT, process
from tests.functions.comparing.test_base import repository
from tests.functions.report import fleets
from tests.functions.report.pages import Page


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    (folder,) = fleets.plant(tmp_path, 10)
    return folder


def test_a_page_is_written_and_errors_are_the_exit_code(lab: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    log = process("krmfn", "report", str(lab), "-o", str(page)).refused(1)
    assert "KRM604" in log
    assert len(log.splitlines()) == len(set(log.splitlines())), "each finding is said once"
    assert Page(page.read_text()).nodes["lab-gaudi2-00002"] == "No mapping"
    unlinked = re.sub(rb'<a href="\./[^"]*">([^<]*)</a>', rb"\1", page.read_bytes())
    assert process("krmfn", "report", str(lab)).out == unlinked


def test_without_an_error_nothing_is_said(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert process("krmfn", "report", "examples/two-vendors", "-o", str(page)).ended(0, "").out == b""
    assert page.read_text().endswith("</html>\n")


@pytest.mark.parametrize("output", ["missing/report.html", "."])
def test_a_page_that_cannot_be_written_is_exit_2(lab: Path, tmp_path: Path, output: str) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert output in process("krmfn", "report", str(lab), "-o", output, cwd=tmp_path).ended(2).err
    assert sorted(tmp_path.rglob("*")) == before


def test_an_old_page_stays_when_there_is_no_new_one(lab: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text("old")
    (lab / "broken.yaml").write_text("apiVersion: [")
    assert "broken.yaml" in process("krmfn", "report", str(lab), "-o", str(page)).ended(2).err
    assert page.read_text() == "old"


def test_a_path_with_nothing_to_report_on_is_never_fine(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    done = process("krmfn", "report", str(tmp_path)).ended(0)
    assert "check that this is the right PATH" in Page(done.text).text
    assert 'class="tone-open"' in done.text


def test_what_changes_since_the_base_is_on_the_page(tmp_path: Path) -> None:
    """Also when `check` has an error about the new side: that is when it matters what changes."""
    before = {f"lab/{file.name}": file.read_text() for file in (ROOT / "examples" / "one-cluster").glob("*.yaml")}
    repo = repository(tmp_path / "repo", before)
    (repo / "lab" / "gpu.yaml").write_text(before["lab/gpu.yaml"].replace("  - regexp: ^.*\\.el9_6\\.x86_64$\n", ""))
    (repo / "lab" / "nic.yaml").unlink()
    done = process("krmfn", "report", "lab", "--base", "main", cwd=repo).ended(1)
    assert done.err.count("KRM604") == 1, "the error is said once"
    text = Page(done.text).text
    assert "1 changed, 1 deleted, 4 nodes affected." in text
    assert "Module kmm/nic: lost by 4 nodes (gpu-1, gpu-2, gpu-3, web-1): it is deleted" in text
    assert "lost by 1 node (gpu-3): no kernel mapping matches" in text
    assert "- regexp: ^.*\\.el9_6\\.x86_64$" in text
    assert "What changes" not in process("krmfn", "report", "lab", cwd=repo).text


def test_a_base_that_is_not_there_is_no_page(lab: Path) -> None:
    process("krmfn", "report", str(lab), "--base", "no-such-branch", "-o", "report.html", cwd=lab).ended(2)
    assert not (lab / "report.html").exists()


def test_no_other_command_loads_the_template_library() -> None:
    code = (
        "import sys; from krmfn_functions.command_line.main import COMMANDS, command_of; "
        "assert [*map(command_of, COMMANDS)]; sys.exit('jinja2' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


HOSTILE = (
    "a b.yaml",
    'x" onmouseover="alert(1).yaml',
    "javascript:alert(1).yaml",
    "<b>&amp;.yaml",
    "%2e%2e#?.yaml",
    "ü:3.yaml",
)
UNFIT = "apiVersion: krmfn.dev/v1alpha1\nkind: DeviceConfig\nmetadata: {name: NAME, namespace: kmm}\nspec: {}\n"


def links(page: str) -> dict[str, str]:
    """Return the links of a page but for those within it, by the files that they lead to, with their texts."""
    matches = re.findall(r'<span class="mono where"><a href="([^"]*)">([^<]*)</a>', page)
    hrefs = [attributes.get("href") or "" for tag, attributes in Page(page).elements if tag == "a"]
    assert all(href.startswith(("#", "./")) for href in hrefs)
    return {unquote(unescape(href)): unescape(text) for href, text in matches}


def test_places_are_links_to_files_beside_the_page_whatever_these_are_called(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    for at, name in enumerate(HOSTILE):
        (tmp_path / "lab" / name).write_text(UNFIT.replace("NAME", f"a{at}"))
    process("krmfn", "report", "lab", "-o", "page.html", "--root", ".", cwd=tmp_path).ended(1)
    targets = links((tmp_path / "page.html").read_text())
    assert set(targets) == {f"./lab/{name}" for name in HOSTILE}
    for path, text in targets.items():
        assert (tmp_path / path).is_file()
        assert text.startswith(f"{path[2:]}:")


def test_places_elsewhere_stay_text(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "pages").mkdir()
    (tmp_path / "lab" / "a.yaml").write_text(UNFIT)
    for page in ("pages/page.html", "lab/page.html"):
        process("krmfn", "report", "lab", "-o", page, "--root", ".", cwd=tmp_path)
        targets = links((tmp_path / page).read_text())
        assert set(targets) == ({"./a.yaml"} if page.startswith("lab") else set())
        assert "lab/a.yaml:" in Page((tmp_path / page).read_text()).text
    assert links(process("krmfn", "report", "lab", "--root", ".", cwd=tmp_path).text) == {}
