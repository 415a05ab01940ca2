"""Streams that readers divide differently: refused on the way in, never written on the way out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from krmfn.cli import manifests
from krmfn.errors import KrmfnError
from tests.builders import CONFIG
from tests.commands import process
from tests.trees import config_map, plant

A, B = config_map("a"), config_map("b")
ADMIN = (
    "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: admin}\n"
    "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\n"
)
FOLLOWED, ENDED = "goes on with more than blanks and a comment", "follows behind `...` alone"
MISREAD = {
    f"{ADMIN}---# x: y\n{A}": (5, FOLLOWED),
    f"{ADMIN}---\u00a0# x: y\n{A}": (5, FOLLOWED),
    f"{ADMIN}---\r# x\n{A}": (5, FOLLOWED),
    f"{ADMIN}--- # x\rapiVersion: v1\rkind: A\n": (5, FOLLOWED),
    f"{ADMIN}--- # x\u2028apiVersion: v1\u2028kind: A\n": (5, FOLLOWED),
    f"{A}---x: y\n{B}": (5, FOLLOWED),
    f"{A}\r\n---#\r\n": (6, FOLLOWED),
    f"---# x: y\n{A}": (1, FOLLOWED),
    f"---x: y\n{A}": (1, FOLLOWED),
    f"--- {{apiVersion: v1, kind: A}}\n---\n{B}": (1, FOLLOWED),
    f"{A}--- {{apiVersion: v1, kind: A}}\n": (5, FOLLOWED),
    f'{A}  c: "\n---# "\n': (6, FOLLOWED),
    f"{A}...\n{ADMIN}": (5, ENDED),
    f"{A}... # c\n\n{ADMIN}": (5, ENDED),
    f"{A}...\r\n{ADMIN}": (5, ENDED),
    f"---\n...\n{ADMIN}": (2, ENDED),
    f"{A}---\n{B}...\n# c\n...\n{ADMIN}---\n{A}": (12, ENDED),
}
FINE = (
    *(f"{A}{line}\n{B}" for line in ("---", "---  ", "--- # Source: a/b.yaml", "--- \r", "---\r", "--- # c\r")),
    *(f"{A}...{rest}---\n{B}" for rest in ("\n", " # c\n", "\n\n  # c\n", "\r\n", "\n...\n")),
    *(f"{head}{A}---\n{B}{tail}" for head, tail in (("---\n", "..."), ("# c\n--- # d\n", "...\n# e\n"), ("\n", "---"))),
    f"{A.replace('{a: b}', '')}  c: |\n    ---# d\n    ...\n    e\n  ---# f: g\n---\n{B}",
)


@pytest.mark.parametrize("text", MISREAD, ids=repr)
def test_what_readers_divide_differently_is_refused_with_its_line(text: str, tmp_path: Path) -> None:
    line, problem = MISREAD[text]
    (tmp_path / "a.yaml").write_bytes(text.encode())
    for path in (tmp_path, "-"):
        with pytest.raises(KrmfnError, match=rf"^\S+: line {line}: .*{re.escape(problem)}") as failure:
            manifests.read(str(path), text.encode())
        assert str(failure.value).count("\n") == 0


@pytest.mark.parametrize("command", ["check", "render", "diff a.yaml", "images", "nodes", "report"])
def test_no_command_prints_anything_of_a_stream_that_hides_a_resource(command: str, tmp_path: Path) -> None:
    plant(tmp_path, {"a.yaml": CONFIG, "b.yaml": f"{ADMIN}---# x: y\n{A}"})
    name, *more = command.split()
    done = process("krmfn", name, *more, ".", cwd=tmp_path)
    assert done.code == 2
    assert re.search(rf"b\.yaml:5: error: .*{FOLLOWED}", done.text + done.err)


@pytest.mark.parametrize("text", FINE, ids=repr)
def test_what_all_readers_divide_alike_is_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(text.encode())
    for path in (tmp_path, "-"):
        assert [item.name for item in manifests.read(str(path), text.encode()).items] == ["a", "b"]


def test_a_file_without_a_resource_is_passed_over(tmp_path: Path) -> None:
    plant(tmp_path, {"config.yaml": CONFIG, "ci.yaml": "a: b\n---# c: d\nkind: e\n...\nf: g\n--- {h: i}\n"})
    assert process("krmfn", "check", ".", cwd=tmp_path).code == 0
    done = process("krmfn", "check", "ci.yaml", cwd=tmp_path)
    assert "KRM100" in done.text
    assert FOLLOWED not in done.text + done.err
