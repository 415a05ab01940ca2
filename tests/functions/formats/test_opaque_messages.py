"""No logic reads a message: with meaningless texts in their place a run says the same of the same objects.

A message is written once, for people. Whoever rewords one must not change what is found, counted or failed.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from krmfn_functions.commands import catalogue
from krmfn_functions.fleet import moves
from krmfn_functions.formats.findings import FORMATS
from krmfn_functions.rule import Rule

from krmfn import Result
from tests.examples import some_of
from tests.functions.comparing.test_base import repository
from tests.rule_examples import findings, known_findings, needs_kustomize, run
from tests.trees import plant

_LETTERS = "ghijklmnopqrstuv"
"""No digits, which a reader might count, and no letters of a word."""


def opaque_text(message: str) -> str:
    """Return a text without meaning, another one for each message."""
    return "".join(_LETTERS[int(digit, 16)] for digit in sha256(message.encode()).hexdigest()[:12])


@contextmanager
def opaque_messages() -> Iterator[None]:
    """Make the findings that are written in the block say nothing."""
    plain: Any = Result.__new__

    def opaque(cls: type[Result], message: str, *rest: Any, **about: Any) -> Any:
        return plain(cls, opaque_text(message), *rest, **about)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Result, "__new__", opaque)
        yield


RULES = [pytest.param(rule, id=rule.id) for rule in catalogue.rules() if not needs_kustomize(rule)]


@pytest.mark.parametrize("rule", some_of(RULES))
def test_no_rule_needs_the_words_of_another(rule: Rule) -> None:
    plain = Counter((finding.rule, finding.severity) for finding in known_findings(rule, rule.bad))
    with opaque_messages():
        assert Counter((finding.rule, finding.severity) for finding in findings(rule, rule.bad)) == plain


def test_the_words_are_gone() -> None:
    """Else the test above compares a run with itself."""
    rule = next(rule for rule in catalogue.rules() if rule.id == "KRM301")
    with opaque_messages():
        (finding,) = (finding for finding in findings(rule, rule.bad) if finding.rule == rule.id)
    assert set(finding.message) <= {*_LETTERS}, finding.message


CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {{name: {name}, namespace: kmm}}
spec:
  driverImage: registry.example.com/driver
  driverVersion: "1"
  moduleName: {name}
  nodeSelector: {{gpu: {label}}}
  kernelMappings: [{{literal: {kernel}}}]
"""
_LABELS, _KERNELS = st.sampled_from("ab"), st.sampled_from(["5.14.0-1", "6.1.0-2"])
_CONFIGS = st.lists(st.tuples(_LABELS, _KERNELS), min_size=1, max_size=2)
_NODES = st.lists(st.tuples(_LABELS, _KERNELS, st.booleans()), min_size=1, max_size=4)


def inventory(nodes: list[tuple[str, str, bool]]) -> str:
    """Return nodes, each with its label, its kernel and whether it has a taint."""
    items = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"n{at}", "labels": {"gpu": label}},
            "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}] if is_tainted else []},
            "status": {"nodeInfo": {"kernelVersion": kernel}},
        }
        for at, (label, kernel, is_tainted) in enumerate(nodes)
    ]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def rows(document: dict[str, Any]) -> Counter[tuple[str, ...]]:
    """Return what JSON output says, without words: a finding that many clusters have is one row."""
    keys = ("rule", "severity", "ref", "path", "file", "line", "clusters")
    return Counter(tuple(json.dumps(finding[key]) for key in keys) for finding in document["findings"])


@settings(max_examples=10)
@given(_CONFIGS, st.lists(st.tuples(_CONFIGS, _NODES), min_size=1, max_size=3))
@example([("a", "6.1.0-2")], [([("b", "6.1.0-2")], [("a", "5.14.0-1", False)] * number) for number in (1, 3, 2)])
def test_a_fleet_says_the_same(
    shared: list[tuple[str, str]], clusters: list[tuple[list[tuple[str, str]], list[tuple[str, str, bool]]]]
) -> None:
    """What clusters share in `base` has one place, so that what differs in its nodes only is one row."""
    names = [f"c{at}" for at in range(len(clusters))]
    roots = ", ".join(f"{name}: [base, {name}]" for name in names)
    files = {".krmfn.yaml": f"clusters: {{{roots}}}\n", ".git/HEAD": ""}
    for at, (label, kernel) in enumerate(shared):
        files[f"base/all{at}.yaml"] = CONFIG.format(name=f"all{at}", label=label, kernel=kernel)
    for name, (configs, nodes) in zip(names, clusters, strict=True):
        files[f"{name}/nodes.json"] = inventory(nodes)
        for at, (label, kernel) in enumerate(configs):
            files[f"{name}/drv{at}.yaml"] = CONFIG.format(name=f"drv{at}", label=label, kernel=kernel)
    with tempfile.TemporaryDirectory() as folder:
        plant(Path(folder), files)
        for form in FORMATS:
            code, text = run(["check", folder, "--format", form])
            with opaque_messages():
                opaque_code, opaque_output = run(["check", folder, "--format", form])
            assert opaque_code == code, form
            if form == "json":
                assert rows(json.loads(opaque_output)) == rows(json.loads(text))


@contextmanager
def unlike_messages() -> Iterator[None]:
    """Make the findings that are written in the block say nothing, and no two of them the same."""
    plain: Any = Result.__new__
    number = count()

    def unlike(cls: type[Result], message: str, *rest: Any, **about: Any) -> Any:
        return plain(cls, f"{opaque_text(message)} {opaque_text(str(next(number)))}", *rest, **about)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Result, "__new__", unlike)
        yield


NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"gpu": "a"}}}


def state(kernel: str) -> dict[str, str]:
    """Return a config, and the node that it selects."""
    node = json.dumps(NODE | {"status": {"nodeInfo": {"kernelVersion": kernel}}})
    return {"a.yaml": CONFIG.format(name="drv", label="a", kernel="5.14.0-1"), "nodes.json": node}


def test_an_effect_and_the_note_about_it_are_joined_by_what_happens(tmp_path: Path) -> None:
    """What --fail-on raises has the rule and the place of the note, and the effect is told once."""
    old = plant(tmp_path / "old", state("5.14.0-1"))
    new = plant(tmp_path / "new", state("6.1.0-2"))
    for command in (["diff", "--fail-on", "lost"], ["diff", "--format", "json", "--fail-on", "lost"]):
        code, plain = run([*command, str(old), str(new)])
        with unlike_messages():
            unlike_code, unlike = run([*command, str(old), str(new)])
        assert (code, unlike_code) == (1, 1)
        assert (plain.count("\n"), plain.count("KRM409")) == (unlike.count("\n"), unlike.count("KRM409"))


MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
DRIVER = CONFIG.format(name="drv", label="a", kernel="5.14.0-1")
INVENTORY = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: lab}
spec: {labelKeys: [other], groups: [{labels: {other: a}, nodes: "n0 5.14.0-1"}]}
"""
MODULE = """\
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: Module
metadata: {name: drv, namespace: kmm, annotations: {%s}}
spec:
  selector: {gpu: a}
  moduleLoader: {container: {modprobe: {moduleName: drv}, kernelMappings: [{regexp: .+, containerImage: "a/b:1"}]}}
"""
HOOKED = MODULE % "argocd.argoproj.io/hook: Sync"
CHANGES = {
    "files are newly excluded": (
        {"app/a.yaml": DRIVER, "app/b.yaml": MAP},
        {"app/a.yaml": DRIVER.replace("5.14.0-1", "6.1.0-2"), ".krmfn.yaml": "exclude: [app/b.yaml]\n"},
    ),
    "a cluster loses a folder": (
        {"app/a.yaml": DRIVER, "more/b.yaml": MAP, ".krmfn.yaml": "clusters: {lab: [app, more]}\n"},
        {".krmfn.yaml": "clusters: {lab: [app]}\n"},
    ),
    "it is not known what happens on nodes": (
        {"app/a.yaml": DRIVER, "app/nodes.yaml": INVENTORY},
        {"app/a.yaml": DRIVER.replace("5.14.0-1", "6.1.0-2")},
    ),
    "a Module is not applied as reviewed": ({"app/a.yaml": MODULE % ""}, {"app/a.yaml": HOOKED}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_stands_first_and_what_fails_is_joined_by_what_it_is_about(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is told once, whether --fail-on makes an error of it or not."""
    before, after = CHANGES[name]
    repo = repository(tmp_path / "repo", before)
    plant(repo, after)
    monkeypatch.chdir(repo)
    for command in (["diff", "--base", "main", "."], ["diff", "--base", "main", "--fail-on", "lost", "."]):
        code, plain = run(command)
        with unlike_messages():
            unlike_code, unlike = run(command)
        assert code == unlike_code, (plain, unlike)
        assert line_starts(plain) == line_starts(unlike), (plain, unlike)


def line_starts(text: str) -> list[str]:
    """Return how the lines of an output begin, which is the sign of a line that stands first, or a severity."""
    return [line.split(" ", 1)[0] for line in text.splitlines()]


LABELLED = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "labels": {"gpu": "a"}},
    "status": {"nodeInfo": {"kernelVersion": "5.14.0-1"}},
}
UNLABELLED = {**LABELLED, "metadata": {"name": "n1", "labels": {"gpu": "b"}}}


def test_a_label_that_takes_a_node_is_told_whatever_the_reason_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = plant(tmp_path / "old", {"a.yaml": DRIVER, "nodes.json": json.dumps(LABELLED)})
    new = plant(tmp_path / "new", {"a.yaml": DRIVER, "nodes.json": json.dumps(UNLABELLED)})
    code, plain = run(["diff", str(old), str(new)])
    assert "give it gpu=a again" in plain
    monkeypatch.setattr(moves, "NOT_SELECTED", "opaque")
    assert run(["diff", str(old), str(new)]) == (code, plain.replace("no longer selected", "opaque"))
