"""Scalars that readers read differently, in every role: the tree gives kustomize's own bytes, written again or not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from krmfn_functions.kustomization import kustomize as kustomizing
from krmfn_functions.kustomization import reading
from krmfn_functions.kustomization.kustomize import Decision
from krmfn_functions.kustomization.tree import tree

from krmfn import KrmfnError
from tests.trees import OURS, config_map, plant

from .engines import path_of, run

PLAIN = (
    *("yes", "n", "on", "TRUE", "0777", "0o17", "1.10", "1e3", "1E+3", "~", "null", ".5", "5.", "0x1F", "-0", "+1"),
    *("2001-01-01", "2001-01-01T00:00:00Z", "2001-12-14 21:59:43.10 -5", "1:30", "1_000", ".inf", ".NaN", "=", "a"),
    *("a b", "a:b", "a/b", "é", "a, b", "[a", "a}", "-a", "?a", "@a".replace("@", "%2")),
)
SCALARS = [*PLAIN, *(f"'{text}'" for text in PLAIN), *(f'"{text}"' for text in PLAIN), '"\\n"', "|\n    a\n    b\n"]
SCALARS = [text for text in SCALARS if not text.startswith("[")]
HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
ROLES: dict[str, dict[str, str]] = {
    "name": {"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: SCALAR\n"},
    "label": {"a.yaml": f"{HEAD}  labels:\n    k: SCALAR\n"},
    "annotation": {"a.yaml": f"{HEAD}  annotations:\n    k: SCALAR\n"},
    "data": {"a.yaml": f"{HEAD}data:\n  k: SCALAR\n"},
    "list": {"a.yaml": f"{HEAD}list:\n- SCALAR\n- b\n"},
    "key": {"a.yaml": f"{HEAD}data:\n  ? SCALAR\n  : b\n"},
    "patch": {
        "a.yaml": config_map("a"),
        "more": "patches: [{path: p.yaml}]\n",
        "p.yaml": f"{HEAD}data:\n  k: SCALAR\n",
    },
    "JSON patch": {
        "a.yaml": config_map("a"),
        "more": "patches: [{path: p.yaml, target: {kind: ConfigMap}}]\n",
        "p.yaml": "- op: add\n  path: /data/k\n  value: SCALAR\n",
    },
    "replacement": {
        "a.yaml": f"{HEAD}data:\n  k: SCALAR\n  l: x\n",
        "more": "replacements: [{path: r.yaml}]\n",
        "r.yaml": "source: {kind: ConfigMap, fieldPath: data.k}\n"
        "targets: [{select: {kind: ConfigMap}, fieldPaths: [data.l]}]\n",
    },
}


def files_of(role: str, scalar: str, is_marked: bool) -> dict[str, str]:
    """Return the files of a kustomization; those that are marked have an anchor, so that they are written again."""
    files = {name: text.replace("SCALAR", scalar) for name, text in ROLES[role].items()}
    files["kustomization.yaml"] = "resources: [a.yaml]\n" + files.pop("more", "")
    if is_marked:
        mark = {"-": "- op: test\n  path: &x /kind\n  value: ConfigMap\n", "s": "", "": "unused: &x y\n"}
        for name in files:
            first = files[name][0] if files[name][0] in mark else ""
            files[name] = (
                mark[first] + files[name] if name != "kustomization.yaml" else files[name].replace("[a", "[&x a")
            )
    return files


def in_tree(folder: Path) -> str:
    """Return what kustomize prints in the tree of a folder; "" where that is refused."""
    real = os.path.realpath(folder)
    graph = reading.read([real], None, OURS)
    if any(finding.severity == "error" for finding in graph.findings(real)):
        return ""
    try:
        return kustomizing.build(kustomizing.BuildCall(real, tree(graph, real), (), Decision(()))).stream.decode()
    except KrmfnError:
        return ""


def differing(kustomize: str, folder: Path, scalars: dict[str, str]) -> tuple[dict[str, object], int]:
    """Return the scalars of which kustomize makes something else in the tree, and how many it has built alike.

    `scalars` stand in folders of these names. What kustomize refuses is built in halves.
    """
    (folder / "kustomization.yaml").write_text(f"resources: [{', '.join(scalars)}]\n")
    plain, ours = run(kustomize, "build", folder).text, in_tree(folder)
    if plain and plain == ours:
        return {}, len(scalars)
    if len(scalars) == 1:
        return (dict.fromkeys(scalars.values(), (plain, ours)) if plain or ours else {}), 0
    names = list(scalars)
    halves = (names[: len(names) // 2], names[len(names) // 2 :])
    parts = [differing(kustomize, folder, {name: scalars[name] for name in half}) for half in halves]
    return {**parts[0][0], **parts[1][0]}, parts[0][1] + parts[1][1]


@pytest.mark.parametrize("is_marked", [False, True], ids=["as it is", "written again"])
@pytest.mark.parametrize("role", ROLES)
def test_every_scalar_is_what_kustomize_makes_of_it(
    kustomize: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: str, is_marked: bool
) -> None:
    monkeypatch.setenv("PATH", path_of()["PATH"])
    # a key that is a time of day is refused by kustomize as it is, and a string to it in braces, as to krmfn
    scalars = [text for text in SCALARS if not (role == "key" and is_marked and text == "2001-01-01T00:00:00Z")]
    for number, scalar in enumerate(scalars):
        files = files_of(role, scalar, is_marked)
        plant(
            tmp_path / f"s{number}",
            {**files, "kustomization.yaml": f"{files['kustomization.yaml']}nameSuffix: '-{number}'\n"},
        )
    wrong, built = differing(kustomize, tmp_path, {f"s{number}": text for number, text in enumerate(scalars)})
    assert wrong == {}
    assert built > 40
