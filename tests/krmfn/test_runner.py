"""A function as a real process between stdin and stdout: never an empty or a cut success."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest

from krmfn.errors import KrmfnError
from krmfn.resourcelist import ResourceList
from krmfn.results import error, warning
from krmfn.runner import run
from krmfn.streams import max_bytes, write
from krmfn.yamltext import load
from tests.commands import HANGS, ROOT, drained

LIST = b"""\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: a
"""
LARGE = LIST + b"".join(b"- apiVersion: v1\n  kind: Secret\n  metadata:\n    name: s%d\n" % n for n in range(20_000))
TOUCH = "rl.upsert([{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'a'}, 'data': {'x': 'y'}}])"
TOUCHED = LIST + b'  data:\n    x: "y"\n'
"""The output of TOUCH."""
ENV = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}

Done = subprocess.CompletedProcess[bytes]


def script(body: str) -> list[str]:
    """A command that runs a function with `body`, a line or several."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    head = "import os, signal, subprocess, sys, time\nimport krmfn\n"
    return [sys.executable, "-c", f"{head}def function(rl):\n{lines}krmfn.main(function)\n"]


def ran(body: str, data: bytes = LIST, **options: object) -> Done:
    env = {**ENV, **(options.pop("env", None) or {})}  # type: ignore[dict-item]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(script(body), input=data, env=env, timeout=HANGS, check=False, **options)  # type: ignore[call-overload, no-any-return]


def started(body: str, data: bytes, stdout: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    """Start a function with `body` and write all of its input, which it must read."""
    process = subprocess.Popen(script(body), stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE, env=ENV)
    assert process.stdin
    process.stdin.write(data)
    process.stdin.close()
    process.stdin = None
    return process


def test_nothing_touched() -> None:
    done = ran("pass")
    assert (done.returncode, done.stdout, done.stderr) == (0, LIST, b"")


def test_changes_are_logged_on_stderr() -> None:
    done = ran(TOUCH)
    assert (done.returncode, done.stdout, done.stderr) == (0, TOUCHED, b"updated 1 ConfigMap\n")
    in_place = ran("rl.items[0].manifest['data'] = {'x': 'y'}")
    assert (in_place.returncode, in_place.stdout, in_place.stderr) == (0, TOUCHED, b"updated 1 ConfigMap\n")
    assert ran("rl.items[0]['metadata.name'] = 'a'").stderr == b"", "it had this name"
    assert ran(TOUCH, env={"KRMFN_VERBOSE": "1"}).stderr == b"updated ConfigMap a\nupdated 1 ConfigMap\n"
    refused = ran(TOUCH, env={"KRMFN_VERBOSE": "yes"})
    assert (refused.returncode, refused.stdout) == (1, b"")
    assert refused.stderr.startswith(b"error: KRMFN_VERBOSE is 'yes'; it must be 1")


def test_an_error_finding_is_exit_code_1_with_the_items_as_they_came() -> None:
    done = ran(TOUCH + "\nrl.report([krmfn.error('too bad', ref=rl.items[0].ref, rule='X1')])")
    assert done.returncode == 1
    assert done.stdout.startswith(LIST + b"results:\n- message: too bad\n  severity: error\n")
    assert b"error: ConfigMap a: too bad [X1]\n" in done.stderr
    assert b"updated" not in done.stderr


def test_a_warning_is_no_failure() -> None:
    done = ran("rl.report([krmfn.warning('hm')])")
    assert done.returncode == 0
    assert done.stdout == LIST + b"results:\n- message: hm\n  severity: warning\n"


@pytest.mark.parametrize(
    "body",
    [
        "print('hello')",
        "sys.stdout.write('hello\\n')",
        "os.write(1, b'hello\\n')",
        "sys.__stdout__.write('hello\\n')",
        "subprocess.run(['echo', 'hello'])",
        "os.system('echo hello')",
    ],
)
def test_what_a_function_prints_goes_to_stderr(body: str) -> None:
    done = ran(body)
    assert (done.returncode, done.stdout, done.stderr) == (0, LIST, b"hello\n")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit(0)", b"SystemExit: 0"),
        ("sys.exit()", b"SystemExit"),
        ("exit(0)", b"SystemExit: 0"),
        ("raise SystemExit(0)", b"SystemExit: 0"),
        ("1 / 0", b"ZeroDivisionError"),
        ("raise MemoryError", b"MemoryError"),
        ("def f(): f()\nf()", b"RecursionError"),
        ("raise GeneratorExit", b"GeneratorExit"),
        ("rl.items.append(None)", b"this is a bug in the function"),
        ("rl.report([krmfn.error(object(), ref=5)])", b"this is a bug in the function"),
        ("os.close(1)\nos.close(2)\n1 / 0", b""),
    ],
)
def test_a_function_that_fails_is_a_failure_with_empty_stdout(body: str, message: bytes) -> None:
    done = ran(body)
    assert (done.returncode, done.stdout) == (1, b"")
    assert message in done.stderr


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", b"error: stdin is empty"),
        (b" \n\n", b"error: stdin is empty"),
        (b"a: [b\n", b"error: line 2: did not find expected"),
        (b"a: b\n", b"error: expected a ResourceList"),
        (LIST + b"- a: '\xff'\n", b"error: line 8: not UTF-8"),
        (LIST.decode().encode("utf-16"), b"error: line 1: a NUL byte, so this is not text (perhaps UTF-16"),
    ],
)
def test_input_that_cannot_be_used(data: bytes, message: bytes) -> None:
    done = ran("pass", data)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(message)
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_the_limit_of_the_input() -> None:
    done = ran("pass", env={"KRMFN_MAX_BYTES": str(len(LIST) - 1)})
    assert (done.returncode, done.stdout) == (1, b"")
    sentence = f"error: the input is larger than {len(LIST) - 1} bytes; raise the limit with KRMFN_MAX_BYTES\n"
    assert done.stderr == sentence.encode()
    assert ran("pass", env={"KRMFN_MAX_BYTES": str(len(LIST))}).stdout == LIST


@pytest.mark.parametrize("setting", ["0", "-1", "1e9", "many", ""])
def test_a_limit_that_is_none(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRMFN_MAX_BYTES", setting)
    with pytest.raises(KrmfnError, match=r"^KRMFN_MAX_BYTES is '.*'; it must be a number of bytes$"):
        max_bytes()


def test_a_full_disk() -> None:
    with Path("/dev/full").open("wb") as full:
        done = ran("pass", stdout=full)
    assert done.returncode == 1
    assert done.stderr == b"error: the output could not be written in full: No space left on device\n"


def test_a_pipe_that_is_not_read_to_the_end() -> None:
    read, write = os.pipe()
    with started("pass", LARGE, stdout=write) as process:
        os.close(write)
        assert process.stderr
        os.read(read, 10)
        os.close(read)
        assert process.stderr.read() == b"error: the output could not be written in full: Broken pipe\n"
        assert process.wait(HANGS) == 1


def test_many_chunks_are_written_whatever_the_pipe_takes_at_once() -> None:
    chunks = [str(number).encode() * (number % 7) for number in range(100_000)] + [b"x" * 3_000_000, b"", b"y"]
    reading, writing = os.pipe()
    writer = Thread(target=write, args=(writing, chunks))
    writer.start()
    received = drained(reading)
    writer.join()
    assert received == b"".join(chunks)


def test_an_interrupt_does_not_wait_for_a_reader() -> None:
    code = """
import os, signal, threading
from krmfn.streams import write
signal.signal(signal.SIGINT, signal.default_int_handler)
reading, writing = os.pipe()
try:
    threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
    write(writing, [b"x" * 1_000] * 4_000)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", code], env=ENV, capture_output=True, timeout=HANGS, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"interrupted\n", b"")


def test_a_slow_reader_gets_everything() -> None:
    read, write = os.pipe()
    with started("pass", LARGE, stdout=write) as process:
        os.close(write)
        assert (drained(read), process.wait(HANGS)) == (LARGE, 0)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">&- 2>&-"])
def test_closed_streams(closed: str, tmp_path: Path) -> None:
    command, source = tmp_path / "command", tmp_path / "list.yaml"
    source.write_bytes(LIST)
    command.write_text(script(f"{TOUCH}\nprint('hello')")[2], encoding="utf-8")
    shell = f"{'' if '<&-' in closed else f'exec <{source};'} exec {closed}; exec {sys.executable} {command}"
    done = subprocess.run(["sh", "-c", shell], env=ENV, capture_output=True, timeout=HANGS, check=False)
    if closed == "2>&-":
        assert (done.returncode, done.stdout) == (0, TOUCHED)
    else:
        assert (done.returncode, done.stdout) == (1, b"")
        assert b"Traceback" not in done.stderr


def test_stderr_that_is_not_read() -> None:
    read, write = os.pipe()
    os.close(read)
    done = ran(TOUCH, stderr=write)
    os.close(write)
    assert (done.returncode, done.stdout) == (0, TOUCHED)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 1), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGKILL, -9)]
)
def test_signals(number: signal.Signals, code: int, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    # A shell that runs the tests in the background lets its children ignore SIGINT.
    handler = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    # a signal that comes right before a sleep is seen when that is over
    body = f"{handler}\nopen({str(ready)!r}, 'w').close()\nfor _ in range({HANGS} * 10):\n    time.sleep(0.1)"
    with started(body, LIST) as process:
        while not ready.exists():
            time.sleep(0.01)
        process.send_signal(number)
        out, err = process.communicate(timeout=HANGS)
    assert (process.returncode, out) == (code, b"")
    assert err == (b"interrupted; nothing was written\n" if number == signal.SIGINT else b"")


def test_a_list_without_work_imports_little() -> None:
    done = ran("rl.where(kind='Pod')\nprint(*sys.modules, sep='\\n')")
    heavy = {"yaml", "ruamel", "ruamel.yaml", "jsonschema", "dataclasses", "json", "argparse", "traceback", "re2"}
    imported = set(done.stderr.decode().split())
    assert {"krmfn.resourcelist", "krmfn.runner"} <= imported
    assert imported & heavy <= {"dataclasses", "traceback"}


def test_run() -> None:
    def function(resources: ResourceList) -> None:
        print("to stderr")
        resources.report([warning("w")])

    out, code = run(function, LIST)
    assert (load.read(out)["results"], code) == ([{"message": "w", "severity": "warning"}], 0)
    assert run(function, out) == (out, 0)

    def refuse(resources: ResourceList) -> None:
        resources.report([error("e")])

    assert run(refuse, LIST)[1] == 1
    with pytest.raises(KrmfnError):
        run(function, b"a")
    with pytest.raises(SystemExit):
        run(lambda resources: sys.exit(0), LIST)


@pytest.mark.parametrize("end", [b"\n", b""])
def test_an_item_that_cannot_be_written_is_an_error_however_the_list_ends(end: bytes) -> None:
    """The text of its last item was asked for once more where its line does not end, which raised."""

    def function(resources: ResourceList) -> None:
        resources.items[0]["b"] = 1

    data = b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- {a: 1, a: 2}"
    output, code = run(function, data + end)
    assert (code, output[: len(data) + 1]) == (1, data + b"\n")
    assert b"stands twice in this item" in output[len(data) :]
