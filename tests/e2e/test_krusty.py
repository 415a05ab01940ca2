"""The kustomizations in kustomize's own tests: krmfn builds what kustomize builds, or says why it does not.

tests/e2e/krusty/recorder.go, put into a copy of kustomize's API, writes out the files of every build in those tests,
and what plain `kustomize build` prints for them.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from krmfn_functions.command_line import main

from tests.trees import config_map, plant

from .engines import TOOLS, find, path_of, run

OFFLINE = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
UNRESTRICTED = "--load-restrictor=LoadRestrictionsNone"
FEWEST = 250
"""How many builds there are at least that kustomize succeeds with; 5.8.2 has 267 of 345."""
REFUSED = {
    ("KRM503", "a key that stands twice, of which kustomize takes the last one without a word"): """
        TestGeneratorRepeatsInKustomization-1 TestNamespaceNotAddedToValidatingAdmissionPolicies-1
        TestNamespacePropagationDoesNotBreakGeneratorMerge-1 TestOrderOfAccumulatedComponent-1
        TestOrderOfAccumulatedComponent-2 TestReplacementTransformerWithSuffixTransformerAndReject-1
        TestReplacementTransformerWithSuffixTransformerAndRejectUsingRegex-1
    """,
    ("KRM100", "a resource without an apiVersion, which no cluster takes"): """
        TestTransfomersImageCustomConfig-1 TestTransfomersImageDefaultConfig-1
    """,
}
"""The builds that krmfn refuses and kustomize does not: the rule and the reason, and the tests."""
LOOSE = {"TestTargetMustHaveKustomizationFile-1"}
"""Folders without a kustomization: kustomize refuses them, krmfn reads the files in them."""


class Outcome(NamedTuple):
    """What kustomize and `krmfn render` make of a folder."""

    plain: str
    """The output of kustomize; "" where it fails."""
    failure: str
    code: int
    out: bytes
    """The output of krmfn."""
    errors: tuple[tuple[str, str], ...]
    """The errors of krmfn: rule and message."""

    @property
    def rules(self) -> set[str]:
        """Return the rules that refuse the folder."""
        return {rule for rule, _ in self.errors}


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the recordings, made anew: kustomize's tests run without network, git, helm and a shell."""
    tests = find("krusty.test", "tests/e2e/install makes it with go")
    folder = tmp_path_factory.mktemp("krusty")
    for name in ("recordings", "tmp", "home", "bin"):
        (folder / name).mkdir()
    env = {"HOME": f"{folder}/home", "TMPDIR": f"{folder}/tmp", "PATH": f"{folder}/bin", **OFFLINE}
    env["KRUSTY_RECORDINGS"] = str(folder / "recordings")
    run(tests, cwd=TOOLS.parent / "krusty" / "krusty", env=env)  # those that need a plugin or the network fail
    return folder / "recordings"


@pytest.fixture(scope="module")
def outcomes(recordings: Path, kustomize: str) -> dict[str, Outcome]:
    """What both make of each recording, by its name."""
    folders = sorted(recordings.iterdir())
    _render(plant(recordings.parent / "warm", WARM), "--output-dir", str(recordings.parent / "warmed"))
    with ProcessPoolExecutor(min(8, os.cpu_count() or 1), multiprocessing.get_context("fork")) as pool:
        return dict(zip((folder.name for folder in folders), pool.map(_outcome, folders), strict=True))


WARM = {"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": config_map("a")}
"""What is rendered first, so that the twins of this process find everything imported."""


def _outcome(folder: Path) -> Outcome:
    """Render a recording in a process of its own, which begins where this one is."""
    recording = json.loads((folder / "recording.json").read_text())
    files = folder / "files"
    flags = [f"--kustomize={UNRESTRICTED}"] if recording["Unrestricted"] else []
    process = os.fork()
    if process == 0:
        code = 3
        try:
            os.dup2(os.open(folder / "out", os.O_WRONLY | os.O_CREAT), 1)
            with (folder / "err").open("w") as sys.stderr:
                code = _render(files / recording["Path"], "--root", str(files), "--include-inputs", *flags)
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    errors = tuple(_errors((folder / "err").read_text(errors="replace").splitlines()))
    return Outcome(recording["Plain"], recording["Failure"], code, (folder / "out").read_bytes(), errors)


def _render(folder: Path, *options: str) -> int:
    os.environ["PATH"] = path_of()["PATH"]
    return main.main(["render", "--allow-empty", "--log-format", "json", *options, str(folder)])


def _errors(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        entry: dict[str, Any] = json.loads(line)  # nothing else may be on stderr: a crash is no JSON
        if entry["level"] == "error":
            yield entry["rule"] or "", entry["message"]


def deployed(out: bytes) -> bytes:
    """The output without what only krmfn keeps: the resources that kustomize sets aside."""
    return b"---\n".join(part for part in out.split(b"---\n") if b"config.kubernetes.io/local-config:" not in part)


def test_there_are_builds_to_compare(outcomes: dict[str, Outcome]) -> None:
    assert sum(bool(outcome.plain) for outcome in outcomes.values()) >= FEWEST


def test_the_recordings_say_what_the_program_prints(recordings: Path, kustomize: str) -> None:
    for folder in sorted(recordings.iterdir())[::20]:
        recording = json.loads((folder / "recording.json").read_text())
        flags = [UNRESTRICTED] if recording["Unrestricted"] else []
        done = run(kustomize, "build", *flags, folder / "files" / recording["Path"], env=OFFLINE | {"PATH": "/"})
        assert (done.code == 0, done.text) == (not recording["Failure"], recording["Plain"]), folder.name


def test_what_is_built_is_what_kustomize_builds(outcomes: dict[str, Outcome]) -> None:
    built = {name: outcome for name, outcome in outcomes.items() if outcome.code == 0 and name not in LOOSE}
    assert {name: outcome.failure for name, outcome in built.items() if outcome.failure} == {}
    assert [name for name, outcome in built.items() if deployed(outcome.out) != outcome.plain.encode()] == []


def test_what_is_refused_is_known_with_its_reason(outcomes: dict[str, Outcome]) -> None:
    known = {name: rule for (rule, _), names in REFUSED.items() for name in names.split()}
    refused = {name: outcome for name, outcome in outcomes.items() if outcome.plain and outcome.code}
    news = {name: outcome.errors for name, outcome in refused.items() if name not in known}
    assert news == {}, "refused, and kustomize builds it: is that right?"
    assert {name: outcome.rules for name, outcome in refused.items()} == {name: {rule} for name, rule in known.items()}


def test_nothing_of_what_is_refused_is_printed(outcomes: dict[str, Outcome]) -> None:
    assert {outcome.code for outcome in outcomes.values()} == {0, 1, 2}
    assert [name for name, outcome in outcomes.items() if outcome.code and (outcome.out or not outcome.errors)] == []


def test_what_kustomize_refuses_krmfn_refuses(outcomes: dict[str, Outcome]) -> None:
    assert {name for name, outcome in outcomes.items() if outcome.failure and outcome.code == 0} == LOOSE
