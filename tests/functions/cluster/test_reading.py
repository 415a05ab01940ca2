"""What a command reads quickly, it reads as if it read every document in full: same findings, places, exit codes."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from krmfn_functions.cluster import engine_files, surveyed_files
from krmfn_functions.command_line import main
from krmfn_functions.paths import division, syntax

from krmfn.errors import KrmfnError
from krmfn.yamltext import documents as divided
from krmfn.yamltext import load, simple, split
from tests.ahead import ahead
from tests.builders import CONFIG
from tests.commands import ROOT, Done, process
from tests.e2e.documents import documents
from tests.examples import EXAMPLES
from tests.trees import plant

OTHER = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a%s}\ndata:\n  a: b\n"
NODE = """\
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {a: b}}
status: {nodeInfo: {kernelVersion: 5.14.0-503.11.1.el9_5.x86_64}}
"""


Run = Callable[..., Done]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Return a function that runs a command on the files of `tmp_path`, in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(command: str, *options: str, in_full: bool = False, is_ahead: bool = False) -> Done:
        with monkeypatch.context() as patch:
            if in_full:
                read_in_full(patch)
            if is_ahead:
                ahead(patch)
            capfd.readouterr()
            stdout = os.dup(1)
            code = main.main([command, *options, "."])
            os.dup2(stdout, 1)  # a command closes it, to see that all was written
            os.close(stdout)
        out, err = capfd.readouterr()
        return Done(code, out.encode(), err)

    return run


def read_in_full(patch: pytest.MonkeyPatch) -> None:
    """Have no text taken apart by lines, and every one parsed by PyYAML, event by event and then as data."""

    def check(text: bytes, line: int = 0) -> None:
        load.refuse_inner_marks(text, line)
        syntax._check_events(text, line)

    patch.setattr(split, "is_simple", lambda text: False)
    patch.setattr(split, "quick", lambda data: None)
    patch.setattr(simple, "read", lambda text: None)
    patch.setattr(syntax, "check", check)
    patch.setattr(division, "is_usual", lambda text: False)


def both(run: Run, command: str = "check", *options: str) -> Done:
    """Return how a command ends, which is the same when every document is read in full, or before it is checked."""
    quick, full = run(command, *options), run(command, *options, in_full=True)
    assert run(command, *options, is_ahead=True) == quick
    lines, in_full = ({*ended.text.split("\n"), *ended.err.split("\n")} for ended in (quick, full))
    assert (lines - in_full, in_full - lines) == (set(), set())
    assert quick == full
    return quick


SYNTAX = {
    "a tab": ("a:\n\tb: c\n", 2),
    "a bad anchor": ("a: *nowhere\n", 1),
    "an indent": ("a:\n  b: c\n d: e\n", 3),
    "an open quote": ('a: "b\n', 2),
    "two documents without a divider": ("{a: b}\n{c: d}\n", 2),
    "a directive inside": ("a: b\n%YAML 1.1\nc: d\n", 3),
}


@pytest.mark.parametrize(("wrong", "line"), SYNTAX.values(), ids=SYNTAX)
@pytest.mark.parametrize("whose", ["ours", "not ours"])
def test_a_syntax_error(wrong: str, line: int, whose: str, run: Run, tmp_path: Path) -> None:
    head = "apiVersion: krmfn.dev/v1alpha1\nkind: DeviceConfig\n" if whose == "ours" else ""
    before = f"{OTHER % 1}---\n"
    plant(tmp_path, {"a.yaml": f"{before}{head}{wrong}---\n{CONFIG}", "b.yaml": CONFIG})
    ended = both(run).ended(2)
    first = before.count("\n") + head.count("\n")
    place = re.search(r"a\.yaml:(\d+): error: ", ended.text)
    assert place, ended
    assert int(place[1]) == first + line


def test_a_syntax_error_in_the_last_of_7_200_documents(run: Run, tmp_path: Path) -> None:
    texts = [OTHER % number for number in range(7_198)] + [CONFIG, "a: b: c\n"]
    text = "---\n".join(texts)
    (tmp_path / "a.yaml").write_text(text)
    assert f"a.yaml:{text.count(chr(10))}: error: mapping values are not allowed" in both(run).ended(2).text


DATA = {
    "a merge of a word": ("a:\n  <<: word\n", 2),
    "a key that is no word": ("a:\n  [b]: c\n", 2),
    "a number behind a tag": ("a: !!int word\n", 1),
    "a key in two spellings": ("a:\n  1: b\n  '1': c\n", 3),
}
"""YAML without an error of syntax that is no data."""


@pytest.mark.parametrize(("wrong", "line"), DATA.values(), ids=DATA)
def test_what_is_no_data_in_ours(wrong: str, line: int, run: Run, tmp_path: Path) -> None:
    plant(tmp_path, {"a.yaml": f"{OTHER % 1}---\n{CONFIG}{wrong}", "b.yaml": CONFIG.replace('"1"', "1")})
    ended = both(run)
    assert (ended.code, ended.text.count("[KRM523]"), ended.text.count("[KRM101]")) == (2, 1, 1)
    assert f"a.yaml:{6 + CONFIG.count(chr(10)) + line}: error: " in ended.text


def test_what_is_no_data_from_stdin(tmp_path: Path) -> None:
    """It cannot be read again: the one sentence is said, with its line."""
    done = process("krmfn", "check", "-", stdin=f"{OTHER % 1}---\n{CONFIG}a:\n  <<: word\n", cwd=tmp_path)
    assert "line 12: `<<` takes a mapping" in done.refused()


@pytest.mark.parametrize(("wrong", "line"), DATA.values(), ids=DATA)
def test_what_is_no_data_where_nobody_looks_is_none_of_our_business(
    wrong: str, line: int, run: Run, tmp_path: Path
) -> None:
    """The one difference: whoever reads such a document says so; of us it asks for nothing but where it ends."""
    head = "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: a\n"
    (tmp_path / "a.yaml").write_text(f"{head}{wrong}---\n{CONFIG}")
    assert run("check").code == 0
    assert f"a.yaml:{4 + line}: error: " in run("check", in_full=True).ended(2).text


def test_a_duplicate_key_in_ours(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"{OTHER % 1}---\n{CONFIG}")
    twice = "apiVersion: krmfn.dev/v1alpha1\nkind: DeviceConfig\nmetadata:\n  name: drv2\n  namespace: kmm\nspec:\n"
    twice += "  driverImage: r.example.com/x\n  driverVersion: '1'\n  moduleName: one\n  moduleName: two\n"
    (tmp_path / "b.yaml").write_text(f"{OTHER % 2}---\n{twice}  nodeSelector: {{a: c}}\n")
    ended = both(run)
    assert (ended.code, ended.text.count("[KRM102]")) == (1, 1)
    assert "b.yaml:16:3: " in ended.text


@pytest.mark.parametrize("command", ["check", "render"])
def test_the_corpus(command: str, run: Run, tmp_path: Path) -> None:
    """Every file of the tests by itself: whole, in two halves with a divider, and behind another document."""
    corpus = [path for path in sorted((ROOT / "tests" / "corpus").rglob("*")) if path.suffix != ".txt"]
    for path in [path for path in corpus if path.is_file()]:
        (tmp_path / "a.yaml").write_bytes(path.read_bytes())
        (tmp_path / "b.yaml").write_bytes((OTHER % 1).encode() + b"---\n" + path.read_bytes())
        both(run, command)


@pytest.mark.parametrize("command", ["check", "render"])
def test_fuzzed_documents(command: str, run: Run, tmp_path: Path) -> None:
    """Documents in every style, whole and damaged, beside ours, alone in a file or not; in CI more than 10,000."""
    codes: Counter[int] = Counter()
    drawn = [*documents(11, max(400, EXAMPLES * 25), ROOT / "tests" / "cases")]
    texts = [text for text in drawn if not is_only_no_data(text)]
    assert len(texts) > len(drawn) * 0.8
    for number in range(0, len(texts), 40):
        write(tmp_path, texts[number : number + 40])
        codes[both(run, command).code] += 1
    assert codes.total() * 40 >= len(texts)


def is_only_no_data(text: bytes) -> bool:
    """Return True for a text without an error of syntax that is no data."""
    try:
        for document in divided.documents(text.removeprefix(b"\xef\xbb\xbf")):
            syntax.check(document.text)
            load.read(document.text)
    except KrmfnError:
        return not refused(text)
    return False


def refused(text: bytes) -> bool:
    """Return True for a text with an error of syntax."""
    try:
        split.check_encoding(text)
        for document in divided.documents(text.removeprefix(b"\xef\xbb\xbf")):
            syntax.check(document.text)
    except KrmfnError:
        return True
    return False


def write(folder: Path, texts: Sequence[bytes]) -> None:
    """Write documents to files, three of four alone and the others together, and one of ours beside them."""
    for path in folder.iterdir():
        path.unlink()
    several = len(texts) // 4
    for number, text in enumerate(texts[several:]):
        (folder / f"f{number:02}.yaml").write_bytes(text)
    for number in range(0, several, 2):
        (folder / f"several{number:02}.yaml").write_bytes(b"\n---\n".join(texts[number : number + 2]))
    (folder / "ours.yaml").write_text(f"{NODE}---\n{CONFIG}")


@pytest.mark.parametrize("label", ["other", "a"])
def test_a_node_with_a_label_that_is_no_string(label: str, run: Run, tmp_path: Path) -> None:
    """Readers differ on it, whether a selector asks for the label or not, and render says so as check does."""
    node = f"apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  labels:\n    x: y\n    {label}: yes\n"
    other = CONFIG.replace("name: drv,", "name: two,").replace("a: b", "a: c")
    (tmp_path / "a.yaml").write_text(f"{node}---\n{CONFIG}---\n{other}")
    assert (both(run, "check").code, both(run, "render").code) == (1, 1)


@pytest.mark.parametrize("kept", [0, 100])
def test_a_file_whose_text_is_not_kept_is_read_again(
    kept: int, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, {".git/HEAD": "", "a.yaml": NODE, "b.yaml": f"{OTHER % 1}---\n{CONFIG}", "c.yaml": "a: b: c\n"})
    usual = run("check")
    monkeypatch.setattr(engine_files, "KEPT", kept)
    monkeypatch.setattr(surveyed_files, "KEPT", kept)
    assert run("check") == usual
