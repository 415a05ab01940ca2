"""What the documentation shows is what happens; what it quotes is in the repository; no block is left out silently."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from krmfn_functions.commands.schema import SCHEMAS

from tests.commands import ROOT, process
from tests.console import check, rewritten_unless
from tests.pages import LANGUAGES, Block, blocks, files, pages, parse, sessions

_LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
every_page = pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))


@pytest.mark.parametrize("block", sessions(e2e=False), ids=lambda block: block.id)
def test_a_block_shows_what_happens(block: Block, tmp_path: Path) -> None:
    check(block, tmp_path)


@every_page
def test_no_block_is_left_out_silently(page: Path) -> None:
    text, on_page = page.read_text(), blocks(page)
    assert len(re.findall(r"^ *```", text, re.MULTILINE)) == sum(2 + inner_fences(block) for block in on_page)
    commands = "\n".join(command for block in on_page for command in block.commands)
    for block in on_page:
        assert block.language in LANGUAGES, block.id
        assert block.is_run or block.language not in ("console", "sh") or len(block.note.split()) > 3, block.id
        assert block.language != "text" or not re.search(r"^\$ ", block.text, re.MULTILINE), block.id
        assert block.language != "python" or block.file in files(page), f"{block.id}: name the file, and run it"
        assert block.language != "diff" or block.note.startswith("patch:"), block.id
    for name in files(page):
        assert name in commands, f"{name}: no session of the page uses it"
    assert not re.search(r"\n\n    (?! )\S", outside(page)), "an indented block: no test runs it; fence it"


def inner_fences(block: Block) -> int:
    return len(re.findall(r"^ *```", block.text, re.MULTILINE))


def outside(page: Path) -> str:
    """The text of a page without its blocks."""
    text = page.read_text()
    for block in reversed(list(parse(page, text))):
        text = text[: block.start] + text[block.end :]
    return text


def test_a_block_that_no_test_would_hold_is_noticed(tmp_path: Path) -> None:
    """The two ways in which the parser could lose a block: a fence that it does not pair, a fence in a block."""
    page = tmp_path / "page.md"
    text = "<!-- not run: it needs\na cluster -->\n```sh\nx\n```\n\n````console\n$ cat\n```\n````\n"
    parsed = list(parse(page, text))
    assert [(block.language, block.is_run) for block in parsed] == [("sh", False), ("console", True)]
    assert parsed[1].text == "$ cat\n```\n"
    assert [block.language for block in parse(page, "```\n$ krmfn\n```\n")] == [""]


def quotes() -> list[Block]:
    """Every YAML block that begins with the name of a file of the repository."""
    quoted = [block for page in pages() for block in blocks(page) if block.file and (ROOT / block.file).exists()]
    assert quoted
    return quoted


@pytest.mark.parametrize("block", quotes(), ids=lambda block: block.id)
def test_yaml_with_a_file_s_name_is_that_file(block: Block) -> None:
    rewritten_unless(block, f"# {block.file}\n{(ROOT / block.file).read_text()}")


def test_the_readme_is_two_screens() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 110


@every_page
def test_yaml_fits_our_schemas(page: Path) -> None:
    for block in blocks(page):
        for document in list(yaml.safe_load_all(block.text)) if block.language == "yaml" else []:
            assert document is not None, block.id
            for resource in resources_of(document):
                assert [error.message for error in schema_of(resource).iter_errors(resource)] == [], block.id


def resources_of(document: Any) -> Iterator[dict[str, Any]]:
    """Our resources in a document: itself."""
    if isinstance(document, dict) and {"apiVersion", "kind", "spec"} <= document.keys():
        group = document["apiVersion"].partition("/")[0]
        if {document["kind"], f"{document['kind']}.{group}"} & SCHEMAS.keys():
            yield document


def schema_of(resource: dict[str, Any]) -> Draft202012Validator:
    group = resource["apiVersion"].partition("/")[0]
    kind = f"{resource['kind']}.{group}"
    return validator(kind if kind in SCHEMAS else resource["kind"])


@cache
def validator(kind: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(process("krmfn", "schema", kind).out))


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in _LINK.findall(outside(page)):
        destination = (page.parent / target).resolve() if target else page
        assert destination.exists(), target
        assert not anchor or anchor in anchors(destination), f"{target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    titles = re.findall(r"^#+ (.+)$", outside(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
