"""Colours: on a terminal only, and without their escapes the text is what it is in a pipe."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions import terminal
from krmfn_functions.formats import changes, findings
from krmfn_functions.formats.checked import Checked
from krmfn_functions.plan import Comparison, plan, undecided

from krmfn import Place, Ref, Result
from krmfn.printing import printable
from krmfn.results import Field
from krmfn.streams import Log
from tests import builders
from tests.builders import CONFIG, document_text
from tests.commands import COMMANDS, HANGS, drained, environment, process

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
ORDERS = st.sampled_from(["::error::x", "##[error]x", "error: "])
TEXT = st.text("aé\x1b[0m31;:\n\r\t\x9b#\u202e ", max_size=12) | ORDERS
PAINTED = {"error": 31, "warning": 33, "info": 36}
SEVERITIES = st.sampled_from(["error", "warning", "info"])
REFS = st.builds(Ref, TEXT, TEXT, TEXT, TEXT)
PLACES = st.builds(Place, TEXT, st.just(0), st.integers(0, 2), st.integers(0, 2), st.none())
FIELDS = st.builds(lambda path: Field(path), TEXT)
ABOUT = (st.none() | REFS, st.none() | FIELDS, st.none() | PLACES)
RESULTS = st.builds(Result, TEXT, SEVERITIES, TEXT, *ABOUT, sentence=st.just(()))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
MANIFESTS = st.lists(
    st.builds(lambda name, spec: {**builders.manifest("v1", "A", name, ""), "spec": spec}, TEXT, VALUES), max_size=3
)


def without(text: str) -> str:
    return ESCAPE.sub("", text)


@given(st.lists(RESULTS, max_size=4))
def test_a_report_has_the_text_it_has_in_a_pipe(results: list[Result]) -> None:
    checked = Checked(results, 3)
    assert without(findings.text(checked, None, findings.Layout(terminal.painted))) == findings.text(checked)
    for result in results:
        line = terminal.finding(result)
        assert without(line) == result.line
        where, painted, _ = line.partition(f"\x1b[1;{PAINTED[result.severity]}m{result.severity}:\x1b[0m")
        assert painted
        assert without(where) == printable(result.where), "the severity is painted, no other word"


@given(MANIFESTS, MANIFESTS, st.lists(RESULTS, max_size=2))
def test_a_diff_does_too(old: list[object], new: list[object], notes: list[Result]) -> None:
    planned = plan(old, new)  # type: ignore[arg-type]
    compared = [Comparison("a", planned, notes), Comparison("", undecided(new))]  # type: ignore[arg-type]
    painted, text = changes.text(compared, paint=terminal.painted), changes.text(compared)
    assert without(painted) == text
    assert "\x1b" not in text
    assert "\x1b" in painted


@given(st.lists(RESULTS, max_size=3), TEXT)
def test_a_log_does_too(results: list[Result], text: str) -> None:
    from krmfn import KrmfnError

    written = []
    for log in (Log(), Log(paint=terminal.message)):
        with pytest.MonkeyPatch.context() as patch:
            lines: list[str] = []
            patch.setattr("sys.stderr", type("Err", (), {"write": staticmethod(lines.append)}))
            log.findings(results)
            log.say(text)
            log.say(text, "error")
            log.failure(KrmfnError(text, text))
            log.changes([("created", Ref("v1", "A", "n", text))])
            written.append("".join(lines))
    plain, painted = written
    assert without(painted) == plain
    assert "\x1b" not in plain


@pytest.mark.parametrize(
    ("choice", "is_terminal", "env", "is_painted"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": "0"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", True, {"TERM": "dumb"}, False),
        ("never", True, {}, False),
        ("always", False, {}, True),
        ("always", True, {"NO_COLOR": "1", "TERM": "dumb"}, True),
    ],
)
def test_when_colours_are_used(
    choice: str, is_terminal: bool, env: dict[str, str], is_painted: bool, tmp_path: Path
) -> None:
    """Of `check` its report, of `render` its findings; each stream by itself, and the other one is a pipe."""
    (tmp_path / "a.yaml").write_text(CONFIG.replace("moduleName", "moduelName"))
    known = {"NO_COLOR": "", "TERM": "xterm", **env}
    for command, stream in (("check", "stdout"), ("render", "stderr")):
        output, other = run_with(stream, is_terminal, tmp_path, known, command, "--color", choice)
        assert ("\x1b" in output) == is_painted, output
        assert without(output).startswith("a.yaml:4:60: error: DeviceConfig kmm/drv: ")
        assert "\x1b" not in other or choice == "always"


def run_with(stream: str, is_terminal: bool, cwd: Path, env: dict[str, str], *args: str) -> tuple[str, str]:
    """Run krmfn with one stream a terminal or a pipe, and the other one a pipe; return what both show."""
    reader, writer = os.openpty() if is_terminal else os.pipe()
    other = "stderr" if stream == "stdout" else "stdout"
    done = subprocess.run(
        [COMMANDS / "krmfn", *args],
        cwd=cwd,
        env=environment(**env),
        stdin=subprocess.DEVNULL,
        timeout=HANGS,
        check=False,
        stdout=writer if stream == "stdout" else subprocess.PIPE,
        stderr=writer if stream == "stderr" else subprocess.PIPE,
    )
    os.close(writer)
    return drained(reader).decode(), (getattr(done, other) or b"").decode()


@pytest.mark.parametrize(
    "args", [("check", "--format", "json"), ("check", "--format", "github"), ("render", "--log-format", "json")]
)
def test_only_text_is_painted(args: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(CONFIG.replace("moduleName", "moduelName"))
    painted, plain = (process("krmfn", *args, "--color", choice, cwd=tmp_path) for choice in ("always", "never"))
    assert painted == plain
    assert "moduelName" in plain.text + plain.err


def test_a_function_paints_nothing(tmp_path: Path) -> None:
    """kustomize and kpt pass its stderr on; what is behind it is not known."""
    (tmp_path / "list.yaml").write_bytes(document_text(CONFIG.replace("moduleName", "moduelName")))
    reader, writer = os.openpty()
    with (tmp_path / "list.yaml").open("rb") as source:
        done = subprocess.run(
            [COMMANDS / "krmfn"], stdin=source, stdout=subprocess.PIPE, stderr=writer, env=environment(TERM="xterm"),
            timeout=HANGS, check=False,
        )  # fmt: skip
    os.close(writer)
    assert done.returncode == 1
    assert drained(reader).startswith(b"error: DeviceConfig kmm/drv: spec.moduelName")


# Quiet.


QUIET_LINES = ["error: a [R]", "error: wrong", "error: one", "two"]


@pytest.mark.parametrize("log_format", ["text", "json"])
@pytest.mark.parametrize("verbose", [True, False])
def test_a_quiet_log_has_errors_only(log_format: str, verbose: bool, capsys: pytest.CaptureFixture[str]) -> None:
    from krmfn import KrmfnError, error, info, warning

    log = Log(log_format, verbose=verbose, quiet=True)
    log.findings([warning("w"), error("a", rule="R"), info("i")])
    log.changes([("created", Ref("v1", "A", "n", "a"))])
    log.say("by the way")
    log.say("wrong", "error")
    log.failure(KrmfnError("one", "two"))
    lines = capsys.readouterr().err.splitlines()
    if log_format == "text":
        assert lines == QUIET_LINES
    else:
        assert [line.startswith('{"level": "error"') for line in lines] == [True] * 3
    try:
        raise ZeroDivisionError
    except ZeroDivisionError:
        log.crash("a bug")
    assert "ZeroDivisionError" in capsys.readouterr().err, "a bug is never quiet"


def test_quiet_changes_nothing_but_stderr(tmp_path: Path) -> None:
    odd = CONFIG.replace("a: b", "node-role.kubernetes.io/worker: yes-please")
    for text in (CONFIG, odd, CONFIG.replace("moduleName", "moduelName"), "a: [\n"):
        (tmp_path / "a.yaml").write_text(text)
        for args in (("render",), ("check",), ("diff", "/dev/null", "a.yaml"), ("resolve", "--kernel", "6.1")):
            loud, quiet = process("krmfn", *args, cwd=tmp_path), process("krmfn", *args, "-q", cwd=tmp_path)
            assert (quiet.code, quiet.out) == (loud.code, loud.out)
            assert set(quiet.err.splitlines()) <= set(loud.err.splitlines())
            assert all("error: " in line for line in quiet.err.splitlines())
            assert ("error: " in quiet.err) == ("error: " in loud.err)
    (tmp_path / "a.yaml").write_text(odd)
    assert process("krmfn", "render", "-q", cwd=tmp_path).err == ""
