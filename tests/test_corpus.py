"""Every nasty document of tests/corpus, and those too large to keep in a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from krmfn.errors import KrmfnError
from krmfn.resourcelist import ResourceList
from krmfn.runner import run
from krmfn.yamltext import load
from krmfn.yamltext.values import build

CORPUS = Path(__file__).parent / "corpus"
ACCEPTED = sorted((CORPUS / "accepted").iterdir())
REFUSED = sorted(path for path in (CORPUS / "refused").iterdir() if path.suffix != ".txt")
HEAD = b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
NEW = {"apiVersion": "v1", "kind": "New", "metadata": {"name": "new"}, "data": {"a": "yes", "b": "x\ny\n"}}


def test_there_are_documents() -> None:
    assert len(ACCEPTED) > 40
    assert len(REFUSED) > 20


def named(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.name)


def items(data: bytes) -> list[Any]:
    """The items of a whole document as the parser reads them; None where it cannot."""
    try:
        root = yaml.compose(data, Loader=load.Composer)  # type: ignore[arg-type]
        return build(root)["items"] or []
    except (yaml.YAMLError, KrmfnError, KeyError):
        return []


@named(ACCEPTED)
def test_it_passes_through(path: Path) -> None:
    data = path.read_bytes()
    out, code = run(lambda resources: None, data)
    assert code == 0
    if out != data:
        assert items(data) == []
        assert load.read(out)["items"] == []
        assert [line for line in out.splitlines() if b"items" not in line] == [
            line for line in data.splitlines() if b"items" not in line and b"#" not in line
        ]
    assert run(lambda resources: None, out) == (out, 0)


@named(ACCEPTED)
def test_it_takes_one_more_item(path: Path) -> None:
    data = path.read_bytes()
    out, code = run(lambda resources: resources.upsert([NEW]), data)
    assert code == 0
    before, after = ResourceList.parse(data), ResourceList.parse(out)
    assert [item.text.rstrip() for item in after.items[:-1]] == [item.text.rstrip() for item in before.items]
    assert after.items[-1].manifest == NEW
    if "syntax-error" not in path.name:
        assert repr(items(out)) == repr([*items(data), NEW])
    assert run(lambda resources: resources.upsert([NEW]), out) == (out, 0)


@named(ACCEPTED)
def test_every_item_can_be_looked_at_or_says_why_not(path: Path) -> None:
    resources = ResourceList.parse(path.read_bytes())
    for item in resources.items:
        try:
            looks = (item.kind, item.name, item.labels, item.annotations)
            assert looks[0] == (item.manifest.get("kind") if isinstance(item.manifest.get("kind"), str) else "")
        except KrmfnError as failure:
            assert re.match(r"(.+, in the ResourceList: )?line \d", str(failure))


@named(REFUSED)
def test_it_is_refused_with_a_sentence(path: Path) -> None:
    with pytest.raises(KrmfnError) as refused:
        run(lambda resources: None, path.read_bytes())
    assert str(refused.value).startswith(path.with_name(f"{path.name}.txt").read_text(encoding="utf-8").strip("\n"))
    assert "\n" not in str(refused.value)


DEEP = {
    "flow": (b"items:\n- kind: A\n  x: " + b"[" * 100_000 + b"]" * 100_000 + b"\n", "line 5: nested deeper"),
    "flow, open": (b"items:\n- kind: A\n  x: " + b"{a: " * 100_000 + b"\n", "line 5: nested deeper"),
    "flow over lines": (b"items:\n- kind: A\n  x: " + b"[\n" * 100_000 + b"]\n" * 100_000, "line 202: nested deeper"),
    "flow items": (b"items: " + b"[" * 100_000 + b"]" * 100_000 + b"\n", "line 3: nested deeper"),
    "functionConfig": (
        b"items: []\nfunctionConfig: " + b"[" * 100_000 + b"]" * 100_000 + b"\n",
        "line 4: nested deeper",
    ),
    "JSON": (b"items: " + b'{"a": ' * 100_000, "line 3: nested deeper"),
    "dashes": (b"items:\n" + b"- " * 100_000 + b"a\n", "line 4: nested deeper"),
    "block": (b"items:\n- a:\n" + b"\n".join(b" " * n + b"a:" for n in range(2, 3_000)), "line 203: nested deeper"),
    "question marks": (b"items:\n- " + b"? " * 100_000 + b"a\n", "line 4: nested deeper"),
}


def look(resources: ResourceList) -> None:
    """A function that reads all there is."""
    _ = resources.function_config
    for item in resources.items:
        _ = item.manifest


def refusal(data: bytes) -> str:
    """Why a list cannot be used; or a look at its items is refused: an error result over the untouched input."""
    try:
        output, code = run(look, data)
    except KrmfnError as failure:
        return str(failure)
    assert code == 1
    assert output.startswith(data)
    (result,) = ResourceList.parse(output).envelope.results()
    assert result["severity"] == "error"
    return str(result["message"])


@pytest.mark.parametrize("name", DEEP)
def test_nesting_of_100_000_levels(name: str) -> None:
    text, sentence = DEEP[name]
    assert re.match(f"^{sentence} than 200 levels; no Kubernetes object is$", refusal(HEAD + text))


SIZE = 2_000_000
SCALARS = {
    "word": b"x" * SIZE,
    "digits": b"9" * SIZE,
    "single quotes": b"'" + b"a b" * (SIZE // 3) + b"'",
    "escapes": b'"' + b"\\n" * (SIZE // 2) + b'"',
    "literal": b"|\n" + b"    - x\n" * (SIZE // 8),
    "plain over lines": b"a\n" + b"    b\n" * (SIZE // 6),
    "quotes over lines": b"'" + b"x''\n" * (SIZE // 4) + b"'",
    "comment": b"# " + b"[" * SIZE,
    "brackets in quotes": b'"' + b"[ { ' \n   " * (SIZE // 11) + b'"',
}


@pytest.mark.parametrize("function", [lambda resources: None, look], ids=["untouched", "read"])
@pytest.mark.parametrize("name", SCALARS)
def test_a_scalar_of_2_megabytes_passes(name: str, function: Callable[[ResourceList], None]) -> None:
    data = HEAD + b"items:\n- kind: A\n  x: " + SCALARS[name] + b"\n- kind: B\n"
    assert run(function, data) == (data, 0)


def test_billions_of_laughs_pass_unread_and_are_refused_when_read() -> None:
    laughs = b"- kind: A\n  a0: &a0 [lol]\n"
    laughs += b"".join(b"  a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 12))
    data = HEAD + b"items:\n" + laughs
    assert run(lambda resources: print(resources.where(kind="A")), data) == (data, 0)
    sentence = r"A, in the ResourceList: line \d+: aliases expand to more than [0-9,]+ values here; write"
    assert re.match(sentence, refusal(data))
