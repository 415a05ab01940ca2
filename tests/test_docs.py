"""What the documentation shows is what happens; what it quotes is what is in the repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from commands import REPO, environment
from console import Block, blocks, check, pages

_FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_QUOTED_FILE = re.compile(r"# ((?:examples|gitops)/\S+)\n")
_TEST = re.compile(r"^def (test_\w+)", re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def fences(page: Path, language: str) -> list[re.Match[str]]:
    return [match for match in _FENCE.finditer(page.read_text()) if match[2] == language]


@pytest.mark.parametrize("block", blocks(e2e=False), ids=lambda block: block.id)
def test_a_console_block_shows_what_happens(block: Block, tmp_path: Path) -> None:
    check(block, tmp_path)


def quotes() -> list[tuple[Path, str]]:
    """(page, file) for every YAML block that begins with a file's name."""
    names = [(page, _QUOTED_FILE.match(match[3])) for page in pages() for match in fences(page, "yaml")]
    found = [(page, name[1]) for page, name in names if name]
    assert found
    return found


@pytest.mark.parametrize(("page", "name"), quotes(), ids=lambda value: str(value).removeprefix(f"{REPO}/"))
def test_yaml_with_a_file_s_name_is_that_file(page: Path, name: str) -> None:
    wanted = f"# {name}\n{(REPO / name).read_text()}"
    text = page.read_text()
    quoted = next(m for m in fences(page, "yaml") if m[3].startswith(f"# {name}\n"))
    if quoted[3] != wanted and os.environ.get("KRMFN_UPDATE"):
        page.write_text(text[: quoted.start(3)] + wanted + text[quoted.end(3) :])
        pytest.fail("rewritten; read the difference, then run again", pytrace=False)
    assert quoted[3] == wanted


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(REPO)))
def test_links_lead_somewhere(page: Path) -> None:
    targets = _LINK.findall(page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(REPO)))
def test_yaml_and_python_parse(page: Path) -> None:
    for match in fences(page, "yaml"):
        assert list(yaml.safe_load_all(match[3]))
    for match in fences(page, "python"):
        compile(match[3], str(page), "exec")


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z0-9]+):", (REPO / "Makefile").read_text(), re.MULTILINE))
    named = {name for page in pages() for name in re.findall(r"(?m)(?:^|`)make ([a-z0-9]+)", page.read_text())}
    assert {"demo", "test"} <= named
    assert named <= targets


def test_the_function_in_the_readme_is_a_krm_function(tmp_path: Path) -> None:
    """Fifteen lines of Python, a list in, a list out; a finding refuses."""
    (program,) = fences(REPO / "README.md", "python")
    assert len(program[3].strip().splitlines()) <= 18
    file = tmp_path / "deny.py"
    file.write_text(program[3])

    def answer(team: str) -> tuple[int, str, str]:
        text = (
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
            f"- apiVersion: v1\n  kind: Namespace\n  metadata:\n    name: a # kept\n{team}"
        )
        done = subprocess.run(
            [sys.executable, file], input=text, capture_output=True, text=True, env=environment(), check=False
        )
        assert done.stdout.startswith(text)
        return done.returncode, done.stdout, done.stderr

    code, out, err = answer("    labels:\n      team: x\n")
    assert (code, err) == (0, "created 1 NetworkPolicy\n")
    (policy,) = [item for item in yaml.safe_load(out)["items"] if item["kind"] == "NetworkPolicy"]
    assert policy["metadata"] == {"name": "deny-all", "namespace": "a"}
    code, out, err = answer("")
    assert code == 1
    assert err.startswith("error: Namespace a: metadata.labels.team: ")
    assert "NetworkPolicy" not in out


def test_each_promise_names_tests_that_exist() -> None:
    """The table `What you can rely on`: every row names at least one test, and each is defined just once."""
    section = (REPO / "README.md").read_text().partition("## What you can rely on")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and not line.startswith("| what holds")]
    defined = [name for path in REPO.glob("tests/**/test_*.py") for name in _TEST.findall(path.read_text())]
    assert len(rows) > 10
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row.rsplit("|", 2)[1])
        assert named, row
        assert [name for name in named if defined.count(name) != 1] == [], row
