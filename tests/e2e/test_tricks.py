"""Entries that kustomize and krmfn read differently, beside a call of ours: nothing runs, nothing is fetched.

Every trick was seen to run its program, or to fetch, through krmfn before it was refused.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.builders import CONFIG
from tests.commands import Done
from tests.trees import COMPONENT, function, plant

from .engines import path_of, run

COMMANDS = {
    "check": ["check"],
    "render": ["render"],
    "diff": ["diff", "/dev/null"],
    "report": ["report", "--output", "page.html"],
    "images": ["images", "--kernel", "5.14.0-1.el9.x86_64", "--allow-unmapped"],
    "resolve": ["resolve", "--kernel", "5.14.0-1.el9.x86_64", "--allow-unmapped"],
    "nodes": ["nodes", "--nodes", "nodes.yaml"],
}
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {a: b}}\n"
OURS = {"config.yaml": CONFIG, "function.yaml": function("exec: {path: krmfn}")}
CALLED = "resources: [config.yaml]\ntransformers: [function.yaml]\n"
FIELDS = ("transformers", "generators", "validators")
HARMLESS = {
    "transformers": "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: a}\nlabels: {}\n",
    "generators": "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nname: a\n",
}
HARMLESS["validators"] = HARMLESS["transformers"]
"""A configuration of kustomize's own that does nothing, for each list of functions."""
RUNS = (
    '{apiVersion: a/v1, kind: A, metadata: {name: evil, annotations: {config.kubernetes.io/function: "exec: '
    '{path: ./planted}"}}}'
)
BREAKS = {"CR": "\r", "NEL": "\x85", "LS": "\u2028", "PS": "\u2029"}
ACROSS = (
    "apiVersion: a/v1\u2028kind: A\u2028metadata:\u2028  name: evil\u2028  annotations:\u2028"
    '    config.kubernetes.io/function: "exec:\\n  path: ./planted"'
)
"""The same with U+2028 between its keys, and no brace."""
NAMELESS = {field: text.replace("metadata: {name: a}\n", "") for field, text in HARMLESS.items()}


def in_file(text: str) -> Mapping[str, str]:
    """The files of a list of functions with one entry, a file with a text."""
    return {"kustomization.yaml": "FIELD: [trick.yaml]\n", "trick.yaml": text}


def entry(text: str, others: Mapping[str, str]) -> Mapping[str, str]:
    """The files of a list of functions with one entry that is written out, and what stands beside it."""
    return {"kustomization.yaml": f"FIELD: [{json.dumps(text)}]\n", **others}


def tricks(field: str) -> dict[str, Mapping[str, str]]:
    """Folders in which kustomize runs ./planted; FIELD stands for a list of functions."""
    builtin, nameless = HARMLESS[field], NAMELESS[field]
    flow = "{" + ", ".join(nameless.splitlines()) + "}"
    return {
        "a divider with a comment": in_file(f"{builtin}---# x:\n  {RUNS}\n"),
        "a divider with a CR": in_file(
            f"{builtin}---\r# c\r{builtin.strip().replace(chr(10), chr(13))}\rx: |\n {RUNS}\n"
        ),
        "no name, and a file": entry(nameless, {nameless: RUNS}),
        "no name in braces, and a file": entry(flow, {flow: RUNS}),
        "no name, and a folder": entry(
            nameless, {f"{nameless}/kustomization.yaml": "resources: [a.yaml]\n", f"{nameless}/a.yaml": RUNS}
        ),
        "LS between keys": entry(ACROSS, {ACROSS: builtin}),
        **{
            f"a comment up to {name}": in_file(f"{builtin}---\n# c{character}{RUNS}\n")
            for name, character in BREAKS.items()
        },
        "kind twice": in_file(f"{builtin}items: [{RUNS}]\n".replace("kind", "kind: List\nkind", 1)),
        "a tag": in_file(RUNS.replace("a/v1", "!!binary YnVpbHRpbg==")),
    }


def hidden_lists(field: str) -> dict[str, Mapping[str, str]]:
    """Kustomizations of which kustomize reads another document than krmfn."""
    return {
        f"a kustomization behind a comment up to {name}": {
            "kustomization.yaml": f"# c{character}{{HEAD{field}: [trick.yaml]}}\n---\n",
            "trick.yaml": RUNS,
        }
        for name, character in BREAKS.items()
    }


def fetched(address: str) -> dict[str, str]:
    """Kustomizations that fetch from an address."""
    merge = "apiVersion: builtin\nkind: PatchStrategicMergeTransformer\nmetadata: {name: a}\n"
    return {
        "a URL with a brace as a patch": f'patchesStrategicMerge: ["{address}/{{x}}"]\n',
        "a URL with a brace in paths": "transformers:\n- "
        + json.dumps(f'{merge}paths: ["{address}/{{x}}"]\n')
        + "\n- function.yaml\n",
    }


NAMES = [*tricks("transformers"), *hidden_lists("transformers")]


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """A folder for a kustomization that calls us, with an inventory beside it."""
    return plant(tmp_path, {"nodes.yaml": NODE}) / "app"


def planted(app: Path, trick: str, field: str, place: str) -> Path:
    """Write a kustomization that calls us, and a trick beside the call, in its own folder or in a component."""
    files = dict((tricks(field) | hidden_lists(field))[trick])
    text = files["kustomization.yaml"].replace("FIELD", field)
    if place == "component":
        plant(app, {**OURS, "kustomization.yaml": f"{CALLED}components: [part]\n"})
        seen, mark, hidden = text.rpartition("---\n")
        seen = seen.replace("HEAD", "apiVersion: kustomize.config.k8s.io/v1alpha1, kind: Component, ")
        fields = "namespace: a\n" if mark else ""
        plant(app / "part", {**files, "kustomization.yaml": f"{seen}{mark}{COMPONENT}{fields}{hidden}"})
    else:
        plant(app, {**OURS, **files, "kustomization.yaml": with_call(text.replace("HEAD", ""), field)})
    for folder in (app, app / "part", app.parent / "bin", app.parent):
        plant(folder, {"planted": f"#!/bin/sh\n: > {app.parent}/trace\ncat\n"})
    return app


def with_call(text: str, field: str) -> str:
    """The text of a kustomization with resources and a call of ours in it."""
    if field == "transformers" and "---\n" not in text:
        return "resources: [config.yaml]\n" + text.replace("[", "[function.yaml, ", 1)
    return text + CALLED


def krmfn(command: str, app: Path) -> Done:
    return run("krmfn", *COMMANDS[command], "app", cwd=app.parent, env=path_of(app.parent / "bin"))


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_trick_all_is_well(kustomize: str, app: Path, command: str) -> None:
    plant(app, {**OURS, "kustomization.yaml": CALLED})
    krmfn(command, app).ended(1 if command == "diff" else 0)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("trick", NAMES)
def test_no_program_is_run(kustomize: str, app: Path, trick: str, command: str) -> None:
    krmfn(command, planted(app, trick, "transformers", "kustomization")).ended(2)
    assert not (app.parent / "trace").exists()


@pytest.mark.parametrize("trick", NAMES)
def test_no_list_runs_a_program(kustomize: str, tmp_path: Path, trick: str) -> None:
    """Every list of functions, in the kustomization and in a component of it, is refused for itself."""
    names = [f"{field}-{place}" for field in FIELDS for place in ("kustomization", "component")]
    for name in names:
        field, _, place = name.partition("-")
        planted(tmp_path / name, trick, field, place)
    done = run("krmfn", "check", "--format", "json", *names, cwd=tmp_path).ended(2)
    assert not (tmp_path / "trace").exists()
    errors = [finding for finding in json.loads(done.out)["findings"] if finding["severity"] == "error"]
    assert {finding["file"].partition("/")[0] for finding in errors} == set(names)


@pytest.fixture
def connections() -> Iterator[tuple[str, list[str]]]:
    """The address of a server that answers nothing, and who has come."""
    came: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                came.append(client.recv(100).decode(errors="replace"))
                client.close()

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", came


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("trick", fetched(""))
def test_nothing_is_fetched(
    kustomize: str, app: Path, connections: tuple[str, list[str]], trick: str, command: str
) -> None:
    address, came = connections
    text = fetched(address)[trick]
    text = f"resources: [config.yaml]\n{text}" if "function.yaml" in text else f"{CALLED}{text}"
    krmfn(command, plant(app, {**OURS, "kustomization.yaml": text})).ended(2)
    assert came == []
