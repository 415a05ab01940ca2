"""stderr as one JSON object per line: subcommands by option, functions by the environment."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, NamedTuple

import pytest

from krmfn import KrmfnError, Place, Ref, error, warning
from krmfn.printing import counted
from krmfn.results import Field
from krmfn.streams import Log
from tests.builders import CONFIG, document_text
from tests.commands import ROOT, environment, process

KEYS = ["level", "message", "remedy", "facts", "rule", "ref", "path", "file", "line", "unlisted"]
REF = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "DeviceConfig", "namespace": "kmm", "name": "drv"}


class Logged(NamedTuple):
    code: int
    out: bytes
    lines: list[dict[str, Any]]


def run(*args: str, stdin: str | bytes, **env: str) -> Logged:
    """The command, when each line on stderr is an object with the same keys."""
    done = process("krmfn", *args, stdin=stdin, cwd=ROOT, **env)
    lines = [json.loads(line) for line in done.err.splitlines()]
    assert all(list(line) == KEYS for line in lines)
    return Logged(done.code, done.out, lines)


def test_a_finding_with_its_place() -> None:
    done = run("render", "-", "--log-format", "json", stdin=CONFIG.replace("moduleName", "moduelName"))
    assert (done.code, done.out) == (1, b"")
    first = done.lines[0]
    assert first["message"].startswith("unknown field")
    del first["message"]
    place = {"path": "spec.moduelName", "file": "stdin", "line": 4, "unlisted": None}
    place |= {"remedy": "did you mean 'moduleName'?"}
    facts = {"problem": "unknown", "mend": ["rename", "moduelName", "moduleName"]}
    assert first == {"level": "error", "facts": facts, "rule": "KRM101", "ref": REF} | place


@pytest.mark.parametrize("args", [("check", "gone"), ("render", "gone"), ("diff", "gone", "gone")])
def test_a_failure_of_the_command(args: tuple[str, ...]) -> None:
    done = run(*args, "--log-format", "json", stdin="")
    message = {"level": "error", "message": "gone: No such file or directory"}
    assert done == Logged(2, b"", [message | dict.fromkeys(KEYS[2:])])


def test_the_environment_sets_the_log_format_and_the_option_wins() -> None:
    assert len(run("check", "gone", stdin="", KRMFN_LOG_FORMAT="json").lines) == 1
    with pytest.raises(json.JSONDecodeError):
        run("check", "gone", "--log-format", "text", stdin="", KRMFN_LOG_FORMAT="json")


def test_a_function_logs_what_it_does() -> None:
    done = run(stdin=document_text(CONFIG), KRMFN_LOG_FORMAT="json")
    module = {"apiVersion": "kmm.sigs.x-k8s.io/v1beta1", "kind": "Module", "namespace": "kmm", "name": "drv"}
    line = {"level": "info", "message": "created Module kmm/drv", "ref": module}
    assert (done.code, done.lines) == (0, [dict.fromkeys(KEYS) | line])


def test_a_function_logs_what_is_wrong() -> None:
    done = run(stdin=document_text(CONFIG.replace("moduleName", "moduelName")), KRMFN_LOG_FORMAT="json")
    assert (done.code, done.lines[0]["level"], done.lines[0]["ref"]) == (1, "error", REF)
    assert run(stdin="[", KRMFN_LOG_FORMAT="json").lines[0]["level"] == "error"


@pytest.mark.parametrize(("log_format", "code"), [("text", 0), ("", 0), ("JSON", 1), ("yaml", 1)])
def test_a_format_that_is_not_known_is_refused(log_format: str, code: int) -> None:
    done = process("deviceconfig", stdin=document_text(CONFIG), KRMFN_LOG_FORMAT=log_format)
    assert (done.code, bool(done.out)) == (code, code == 0)
    if code:
        assert done.err == f"error: KRMFN_LOG_FORMAT is {log_format!r}; it must be one of text, json\n"


def test_a_bug_is_one_line_too() -> None:
    code = "from krmfn import main\nmain(lambda resources: 1 / 0)"
    env = environment(KRMFN_LOG_FORMAT="json")
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=document_text(CONFIG), env=env, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
    (line,) = done.stderr.decode().splitlines()
    assert "ZeroDivisionError" in json.loads(line)["message"]


@pytest.mark.parametrize("text", ["\x1b[1m", "a\nb\r\nc", "😀", "\"'\\", "\u2028", "\u202e\x9b", "]]>", ""])
def test_a_line_stays_a_line(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    finding = warning(text, rule=text, ref=Ref(text, text, text, text), field=Field(text), place=Place(text, 0, 3))
    log = Log("json")
    log.findings([finding])
    log.changes([("created", Ref(text, text, text, text))])
    log.say(text, "error")
    lines = capsys.readouterr().err.removesuffix("\n").split("\n")
    assert all(line.isprintable() for line in lines)
    assert [json.loads(line)["level"] for line in lines] == ["warning", "info", "error"]
    assert json.loads(lines[0])["message"] == text


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    log = Log()
    log.findings([error("is wrong", rule="R")])
    log.changes([])
    log.changes([("removed", Ref("v1", "Service", "n", "a"))])
    log.say("gone", "error")
    log.say("by the way")
    assert capsys.readouterr().err == "error: is wrong [R]\nremoved 1 Service\nerror: gone\nby the way\n"


CHANGES = [
    ("created", Ref("v1", "Service", "n", "a")),
    ("removed", Ref("v1", "NetworkPolicy", "n", "a")),
    ("created", Ref("v1", "Service", "n", "b")),
    ("updated", Ref("v1", "Module", "n", "a")),
    ("removed", Ref("v1", "NetworkPolicy", "n", "b")),
    ("created", Ref("v1", "DaemonSet", "n", "\n::error::x")),
]


def test_changes_are_counted_and_with_verbose_named(capsys: pytest.CaptureFixture[str]) -> None:
    Log().changes(CHANGES)
    line = "created 2 Services, 1 DaemonSet; updated 1 Module; removed 2 NetworkPolicies\n"
    assert capsys.readouterr().err == line
    Log(verbose=True).changes(CHANGES)
    named = capsys.readouterr().err
    assert named.splitlines()[0] == "created Service n/a"
    assert named.splitlines()[-2] == r"created DaemonSet n/\n::error::x"
    assert named.endswith(f"\n{line}")
    Log("json").changes(CHANGES)
    assert len(capsys.readouterr().err.splitlines()) == len(CHANGES), "a program can count"


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("DaemonSet", "DaemonSets"),
        ("Service", "Services"),
        ("ServiceAccount", "ServiceAccounts"),
        ("RoleBinding", "RoleBindings"),
        ("ManagedClusterModule", "ManagedClusterModules"),
        ("NetworkPolicy", "NetworkPolicies"),
        ("Ingress", "Ingresses"),
        ("StorageClass", "StorageClasses"),
        ("Endpoints", "Endpoints"),
        ("Gateway", "Gateways"),
    ],
)
def test_more_than_one_of_a_kind(kind: str, plural: str) -> None:
    assert counted(1, kind) == f"1 {kind}"
    assert counted(2000, kind) == f"2,000 {plural}"


def test_a_failure_has_the_lines_it_was_given_and_no_others(capsys: pytest.CaptureFixture[str]) -> None:
    failure = KrmfnError("a\n::error::forged", "::error::also", "\x1b[2J")
    Log().failure(failure)
    lines = [r"error: a\n::error::forged", r"\x3a:error::also", r"\x1b[2J"]
    assert capsys.readouterr().err.splitlines() == lines
    Log("json").failure(failure)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isprintable()
    assert json.loads(line)["message"] == str(failure)
