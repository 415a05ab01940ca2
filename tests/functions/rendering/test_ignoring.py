"""Rules that are turned off, in the examples of all rules: an entry hides findings, or is said to hide nothing."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from krmfn_functions.commands import catalogue
from krmfn_functions.rendering import ignoring
from krmfn_functions.rendering.function_config import FunctionConfig
from krmfn_functions.rule import Rule

from krmfn import Result, error, info, warning
from tests.builders import document_text
from tests.commands import process
from tests.examples import some_of
from tests.rule_examples import Finding, documents, findings, known_findings, needs_kustomize, with_settings
from tests.trees import plant

RULES = [rule for rule in catalogue.rules() if not needs_kustomize(rule)]
FILES = (
    "KRM52",
    "KRM536",
    "KRM537",
    "KRM538",
    "KRM539",
    "KRM543",
    "KRM544",
    "KRM545",
    "KRM547",
    "KRM548",
    "KRM613",
    "KRM618",
    "KRM631",
)
"""Rules about files that hold no resource, about the engines' objects, or about files of one cluster each."""
EXAMPLES = [
    pytest.param(rule, example, id=f"{rule.id}-{which}")
    for rule in RULES
    for which, example in (("good", rule.good), ("bad", rule.bad))
    if "of these" not in example  # as many as a thousand resources take their time
    and not rule.id.startswith(FILES)
]
BY_ID = {rule.id: rule for rule in catalogue.rules()}
FUNCTION_CONFIG = "RenderDeviceConfigs"


def with_entry(example: str, entry: str) -> str:
    """Return the example with a rule turned off by its functionConfig, or by one more document."""
    parts = with_settings(example).split("---\n")
    for number, part in enumerate(parts):
        document = yaml.safe_load(part)
        if document.get("kind") == FUNCTION_CONFIG:
            ignore = {**document.get("spec", {}).get("ignore", {}), entry: "so it is meant"}
            document["spec"] = {**document.get("spec", {}), "ignore": ignore}
            parts[number] = yaml.safe_dump(document)
            return "---\n".join(parts)
    return f"{example}---\nkind: {FUNCTION_CONFIG}\nspec: {{ignore: {{{entry}: so it is meant}}}}\n"


def annotated(example: str, rule: Rule, entry: str) -> str:
    """Return the filled in example with a rule turned off by every resource."""
    parts: list[str] = []
    for document in documents(example, rule.id):
        manifest: dict[str, Any] = yaml.safe_load(document.text)
        metadata = manifest.setdefault("metadata", {})
        metadata["annotations"] = {**metadata.get("annotations", {}), ignoring.IGNORE: f"{entry}: so it is meant"}
        heading = f"# {document.states[0]}\n" if len(document.states) == 1 and document.states[0] else ""
        parts.append(heading + yaml.safe_dump(manifest))
    return "---\n".join(parts)


def is_judged(example: str, rule: Rule) -> bool:
    """Return True when there is a resource that the pipeline judges: ours, or a Module written by hand."""
    manifests = [yaml.safe_load(document.text) for document in documents(example, rule.id)]
    groups = [str(manifest.get("apiVersion", "")).partition("/")[0] for manifest in manifests]
    ours = {("krmfn.dev", "DeviceConfig"), ("pt.example.com", "Ptemplate"), ("kmm.sigs.x-k8s.io", "Module")}
    return any(
        (group, manifest.get("kind")) in ours and "krmfn.dev/owner" not in manifest["metadata"].get("annotations", {})
        for group, manifest in zip(groups, manifests, strict=True)
    )


def failed(reported: list[Finding]) -> bool:
    """Return True for an error before the final list is judged (KRM191, KRM716 also judge what is generated)."""
    errors = {finding.rule for finding in reported if finding.severity == "error"}
    return any(not rule.startswith(ignoring.FINAL) or rule in ("KRM191", "KRM716") for rule in errors)


def idle(reported: list[Finding], entry: str) -> bool:
    """Return True when it is said that the entry hides nothing."""
    return any(finding.rule == "KRM139" and finding.message.startswith(f"{entry} ") for finding in reported)


@pytest.mark.parametrize(("rule", "example"), some_of(EXAMPLES))
def test_an_entry_hides_findings_or_is_reported_to_hide_nothing(rule: Rule, example: str) -> None:
    before = known_findings(rule, example)
    reported = {finding.rule for finding in before}
    for entry in {"KRM204", *(number for number in reported if number and BY_ID[number].advice)}:
        after = findings(rule, with_entry(example, entry))
        kept = [finding for finding in after if finding.rule == entry]
        assert all(finding.severity == "error" and BY_ID[entry].severities[0] != "error" for finding in kept)
        stops = failed(before) or rule.id == "KRM187"  # the entry stands in a functionConfig, which is refused there
        expected = entry not in reported and not stops and is_judged(example, rule) and "# before" not in example
        assert idle(after, entry) == expected


WITHOUT_A_RESOURCE = {"KMM085", "KRM143", "KRM144", "KRM402", "KRM410", "KRM411", "KRM415", "KRM416", "KRM535"}
"""About profiles and defaults of the functionConfig, and about what is there no more."""


@pytest.mark.parametrize(
    "rule",
    [rule for rule in RULES if rule.advice and rule.id not in WITHOUT_A_RESOURCE],
    ids=lambda rule: rule.id,
)
def test_an_annotation_hides_what_is_about_its_resource(rule: Rule) -> None:
    after = findings(rule, annotated(rule.bad, rule, rule.id))
    assert rule.id not in [finding.rule for finding in after]
    assert not idle(after, rule.id) or len(list(documents(rule.bad, rule.id))) > 1


def test_no_other_rule_can_be_turned_off() -> None:
    fixed = [rule for rule in RULES if not rule.advice]
    ignore = dict.fromkeys((rule.id for rule in fixed), "so it is meant")
    settings = yaml.safe_dump({"kind": FUNCTION_CONFIG, "spec": {"ignore": ignore}})
    after = findings(fixed[0], f"kind: DeviceConfig\n---\n{settings}")
    refused = [finding for finding in after if finding.severity == "error"]
    assert {finding.rule for finding in refused} == {"KRM119"}
    assert sorted(finding.message.partition(" ")[0] for finding in refused) == sorted(ignore)


def test_what_the_cluster_refuses_cannot_be_turned_off() -> None:
    """A finding with the cluster's own words never counts as advice."""
    refusals = [rule for rule in catalogue.rules() if "refuses what it reports" in catalogue.turning_off(rule)]
    assert len(refusals) > 60
    assert not any(rule.advice for rule in refusals)


@pytest.mark.parametrize(
    ("finding", "hidden"),
    [
        (error("m", rule="KMM003"), False),
        (warning("m", rule="KMM003"), False),
        (warning("m", rule="KRM121"), False),
        (error("m", rule="KRM142"), False),
        (warning("m", rule="KRM142"), True),
        (warning("m", rule="KRM701"), True),
        (error("m", rule="KRM701"), False),
        (info("m", rule="KRM604"), True),
        (error("m", rule="KRM604"), True),
    ],
)
def test_only_advice_is_hidden(finding: Result, hidden: bool) -> None:
    config = FunctionConfig(ignore={finding.rule: "so it is meant"})
    by = Counter[frozenset[ignoring.Entry]]()
    reported = list(ignoring.not_ignored([(None, finding)], {}, config, by))
    assert (not reported, bool(by)) == (hidden, hidden)


# What is never said to hide nothing.

CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata:
  name: gpu
  namespace: kmm
  annotations: {{krmfn.dev/ignore: "{entry}: so it is meant"}}
spec:
  driverImage: registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION
  moduleName: gpu
  nodeSelector: {{gpu: "true"}}
"""
SETTINGS = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: settings}
spec: {ignore: {KRM225: so it is meant}}
"""
ELSEWHERE = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: notes, namespace: kmm, annotations: {krmfn.dev/ignore: "KRM225: so it is meant"}}
"""
GENERATED = """\
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: Module
metadata:
  name: gpu
  namespace: kmm
  annotations:
    krmfn.dev/owner: deviceconfig krmfn.dev|DeviceConfig|kmm|gpu kmm.sigs.x-k8s.io|Module|kmm|gpu
    krmfn.dev/ignore: "KRM225: so it is meant"
spec:
  selector: {gpu: "true"}
  moduleLoader:
    container:
      modprobe: {moduleName: gpu}
      kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION"}]
"""
IDLE = CONFIG.format(entry="KRM225")


@pytest.mark.parametrize(
    "text",
    [IDLE, CONFIG.format(entry="KRM142"), f"{IDLE}---\n{SETTINGS}", f"{IDLE}---\n{ELSEWHERE}"],
    ids=["a config", "an error that is no advice", "a functionConfig too", "another kind too"],
)
def test_an_idle_entry_is_reported_of_every_resource_that_a_person_writes(text: str) -> None:
    done = process("krmfn", "check", "-", stdin=text).ended(0)
    assert done.text.count("[KRM139]") == text.count("so it is meant")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (["check", "-"], CONFIG.format(entry="KRM408")),
        (["check", "-"], IDLE.replace("spec:", "spec:\n  colour: green")),
        (["check", "-"], SETTINGS),
        (["check", "-"], GENERATED),
        (["render", "-"], IDLE),
        (["diff", "/dev/null", "-"], IDLE),
        (["resolve", "-", "--kernel", "6.1.0"], IDLE),
    ],
    ids=["changes", "an error", "a functionConfig alone", "generated", "render", "diff", "resolve"],
)
def test_an_idle_entry_is_not_reported_where_not_all_was_judged(command: list[str], text: str) -> None:
    done = process("krmfn", *command, stdin=text)
    assert done.code in (0, 1), done.err
    assert "KRM139" not in done.text + done.err


def test_an_idle_entry_of_a_shared_function_config_is_not_reported(tmp_path: Path) -> None:
    shared = tmp_path / "settings.yaml"
    shared.write_text(SETTINGS)
    done = process("krmfn", "check", "-", "--function-config", str(shared), stdin=CONFIG.format(entry="KRM408"))
    assert "KRM139" not in done.ended(0).text


def test_an_idle_entry_is_not_reported_in_function_mode() -> None:
    done = process("krmfn", stdin=document_text(IDLE)).ended(0)
    assert "KRM139" not in done.text + done.err


def labelled(name: str = "a", ignore: str = "") -> str:
    """Return a config that no node's kernel fits."""
    return LABELLED.replace("NAME", name).replace("IGNORE", ignore)


LABELLED = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: NAME, namespace: kmm, annotations: {krmfn.dev/ignore: "IGNORE"}}
spec:
  moduleName: gpu
  driverImage: registry.example.com/gpu
  driverVersion: "1.0"
  nodeSelector: {gpu: "true"}
  kernelMappings: [{regexp: '^5.*$'}]
---
"""
NODE = """\
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {gpu: "true"}}
status: {nodeInfo: {kernelVersion: 6.1.0-test}}
---
"""
OFF = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: settings}
spec: {exclusivity: {mode: "off"}}
"""


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (labelled(ignore="KRM604: later") + NODE, 1),
        (labelled() + OFF, 0),
        (labelled() + labelled("b") + OFF, 1),
        (labelled(ignore="KRM604: x") + labelled("b", "KRM604: x") + NODE + OFF, 3),
    ],
)
def test_what_is_turned_off_is_counted(text: str, number: int) -> None:
    """Who sends a pull request may turn findings off, and who reads `no findings` is told."""
    note = {0: "", 1: "; 1 finding turned off\n", 3: "; 3 findings turned off\n"}[number]
    done = process("krmfn", "check", "-", stdin=text).ended(0)
    assert ("turned off" in done.reported, note in done.reported) == (bool(number), True), done.text
    summary = json.loads(process("krmfn", "check", "-", "--format", "json", stdin=text).out)["summary"]
    assert summary["turnedOff"] == number


def test_what_is_turned_off_is_counted_in_each_root_of_a_cluster(tmp_path: Path) -> None:
    for root, text in (("a", labelled(ignore="KRM604: later") + NODE), ("b", NODE.replace("n1", "n2"))):
        kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: x}\n"
        plant(tmp_path / root, {"Kptfile": kptfile, "a.yaml": text})
    assert "; 1 finding turned off\n" in process("krmfn", "check", "--cluster", "lab=a,b", cwd=tmp_path).text


def test_what_is_wrong_with_the_nodes_is_not_counted_as_turned_off() -> None:
    text = process("krmfn", "check", "-", stdin=labelled() + labelled("b") + NODE + NODE + OFF).ended(1).text
    assert "[KRM601]" in text and "1 finding turned off" in text


def test_what_the_functionconfig_cannot_turn_off_is_told_at_its_line(tmp_path: Path) -> None:
    """It had neither file nor line."""
    (tmp_path / "a.yaml").write_text(SETTINGS.replace("settings", "a").replace("KRM225", "KMM020"))
    done = process("krmfn", "check", str(tmp_path))
    assert f"{tmp_path}/a.yaml:4:17: error: RenderDeviceConfigs a: spec.ignore.KMM020: " in done.text
