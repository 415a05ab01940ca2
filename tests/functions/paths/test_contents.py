"""Many files are read together, in part by a second process: errors and places are the same as one by one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from krmfn_functions.paths import contents, manifests, workers
from krmfn_functions.paths.disk import File

from tests.builders import CONFIG
from tests.commands import execute, process
from tests.trees import plant

OTHER = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a%s\ndata:\n  a: b\n"
LARGE = 40_000
"""So many documents are enough for a second process."""

SIDE = """\
import os, signal, sys, time
from krmfn_functions.paths import workers
workers.has_room = lambda: True
checks = {"passed": lambda: True, "failed": lambda: False, "raises": lambda: 1 / 0, "exits": lambda: sys.exit(0),
          "killed": lambda: os.kill(os.getpid(), signal.SIGKILL)}
for check in checks.values():
    with workers.second_process(check) as is_passed:
        print(is_passed(), is_passed())
"""

INTERRUPTED = """\
import os, time
from krmfn_functions.paths import workers
workers.has_room = lambda: True
try:
    with workers.second_process(lambda: time.sleep(600)):
        raise KeyboardInterrupt
except KeyboardInterrupt:
    pass
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no child")
"""


def test_only_a_check_that_was_passed_counts() -> None:
    assert execute(sys.executable, "-c", SIDE).ended(0).text.split() == ["True", "True", *["False"] * 8]


def test_an_interrupt_leaves_no_second_process() -> None:
    """Its end was left to the first process, and that of Argo CD's sidecar asks for nobody's."""
    assert execute(sys.executable, "-c", INTERRUPTED).ended(0).text == "no child\n"


def test_processors_are_counted_where_they_cannot_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    assert workers.processors() == os.cpu_count()


def test_without_a_second_processor_there_is_no_second_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0})
    monkeypatch.delattr(os, "fork")
    with workers.second_process(lambda: True) as is_passed:
        assert is_passed() is False


@pytest.mark.parametrize("at", [0, LARGE // 2, LARGE - 1])
def test_an_error_anywhere_in_a_large_file_is_found(at: int, tmp_path: Path) -> None:
    texts = [OTHER % number for number in range(LARGE)]
    texts[at] = "a: b: c\n"
    text = "---\n".join([*texts, CONFIG])
    assert len(text) > contents._LARGE
    plant(tmp_path, {"a.yaml": text, "b.yaml": CONFIG})
    done = process("krmfn", "check", str(tmp_path)).ended(2)
    line = "---\n".join(texts[:at]).count("\n") + (2 if at else 1)
    assert f"a.yaml:{line}: error: mapping values are not allowed" in done.text


def test_each_file_keeps_its_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those of files that come later than one that is read alone, or than one that cannot be read."""
    contents = {
        "a.yaml": f"# first\n---\n{OTHER % 1}---\n\n{OTHER % 2}",
        "b.yaml": f"{OTHER % 3}".replace("\n", "\r\n"),
        "c.yaml": f"---\n{OTHER % 4}---\n# nothing\n",
        "d.yaml": "a: b: c\n",
        "e.yaml": '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a5"}}',
        "f.yaml": f"apiVersion: v1\nkind: List\nitems:\n- {(OTHER % 6).replace(chr(10), chr(10) + '  ').rstrip()}\n",
        "g.yaml": (OTHER % 7).rstrip("\n"),
        "h.yaml": f"\n\n{OTHER % 8}...\n",
    }
    for name, text in contents.items():
        (tmp_path / name).write_bytes(text.encode())
    monkeypatch.chdir(tmp_path)
    for size in (1, 100, 10_000):
        monkeypatch.setattr(manifests, "_TOGETHER", size)
        read, failures = manifests.read_files([File(name, name) for name in contents])
        places = [
            (item.ref.name, item.place.path, item.place.position, item.place.line) for item in read.items if item.place
        ]
        assert places == [
            ("a1", "a.yaml", 0, 2),
            ("a2", "a.yaml", 1, 9),
            ("a3", "b.yaml", 2, 1),
            ("a4", "c.yaml", 3, 1),
            ("a5", "e.yaml", 4, 1),
            ("a6", "f.yaml", 5, 4),
            ("a7", "g.yaml", 6, 1),
            ("a8", "h.yaml", 7, 1),
        ]
        assert [*failures] == ["d.yaml"]
        fields = [item.field_place("data.a") for item in read.items]
        assert [field.line for field in fields if field] == [8, 16, 6, 7, 1, 9, 6, 8]
