"""What `check` says about the nodes of an input and what they get: errors, warnings and infos by how sure they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from krmfn_functions.fleet import rules, wording
from krmfn_functions.rule import Rule

from tests import rule_examples
from tests.commands import process
from tests.functions.fleet import fleets

NODES = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: lab}
spec:
  labelKeys: ["*"]
  groups:
  - labels: {gpu: "true", zone: a}
    nodes: |
      n1 5.14.0-427.el9.x86_64
      n2 5.14.0-503.el9.x86_64
      n3 5.14.0-503.el9.x86_64
      n4 6.1
  - labels: {gpu: "true", zone: b}
    taints: [{key: gpu, value: "yes", effect: NoSchedule}]
    nodes: |
      t1 5.14.0-427.el9.x86_64
---
"""


def module(selector: str, *mappings: str, fields: str = "") -> str:
    entries = "".join(
        f'      - {{{mapping}, containerImage: "registry.example.com/gpu:$KERNEL_FULL_VERSION"}}\n'
        for mapping in mappings or ("regexp: el9",)
    )
    return f"""\
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: Module
metadata: {{name: gpu, namespace: kmm}}
spec:
  selector: {selector}
{fields}\
  moduleLoader:
    container:
      modprobe: {{moduleName: gpu}}
      kernelMappings:
{entries}\
"""


def daemonset(tolerations: str, selector: str = '{kmm.node.kubernetes.io/kmm.gpu.ready: ""}') -> str:
    return f"""\
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: agent, namespace: kmm}}
spec:
  selector: {{matchLabels: {{app: agent}}}}
  template:
    metadata: {{labels: {{app: agent}}}}
    spec:
      nodeSelector: {selector}
      tolerations: {tolerations}
      containers: [{{name: agent, image: "registry.example.com/agent:1"}}]
"""


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.id) for rule in rules.RULES])
def test_a_rule_has_a_good_and_a_bad_example(rule: Rule) -> None:
    good, bad = (
        fleets.findings("---\n".join(document.text for document in rule_examples.documents(example, rule.id)))
        for example in (rule.good, rule.bad)
    )
    assert rule.id in [finding.rule for finding in bad]
    assert [finding for finding in good if finding.rule == rule.id or finding.severity == "error"] == []


@pytest.mark.parametrize(
    ("text", "rule", "severity", "field", "message"),
    [
        (
            module("{zone: a}", "literal: 5.14.0-427.el9.x86_64"),
            *("KRM604", "error", "spec.moduleLoader.container.kernelMappings"),
            "3 of the 4 nodes that it selects get no driver, since no kernel mapping has one for "
            "5.14.0-503.el9.x86_64 on 2 nodes (n2, n3), 6.1 on 1 node (n4); add a kernel mapping for it, or narrow the "
            "selector",
        ),
        (
            module("{zone: a}", "regexp: el9", "regexp: ^6"),
            *("KRM604", "error", "spec.moduleLoader.container.kernelMappings"),
            "1 of the 4 nodes that it selects gets no driver, since no kernel mapping has one for 6.1 on 1 node (n4): "
            "KMM fails: invalid kernel version 6.1: expected at least three components (major.minor.patch); KMM then "
            "does nothing on the other 3 nodes either; add a kernel mapping for it, or narrow the selector",
        ),
        (
            module("{zonne: a}"),
            *("KRM605", "warning", "spec.selector"),
            "selects none of the 5 nodes: none has the label zonne; did you mean zone?",
        ),
        (
            module("{gpu: 'ture'}"),
            *("KRM605", "warning", "spec.selector"),
            "selects none of the 5 nodes: none has gpu with the value 'ture'; "
            "use 'true', or set the label on the nodes",
        ),
        (
            module("{zone: nowhere}"),
            *("KRM605", "warning", "spec.selector"),
            "selects none of the 5 nodes: none has zone with the value 'nowhere'; "
            "use 'a', 'b', or set the label on the nodes",
        ),
        (
            module("{zone: b, gpu: 'true'}", fields="  tolerations: [{key: other, operator: Exists}]\n"),
            *("KRM609", "error", "spec.selector"),
            "loads no driver on 1 of the 1 node (t1) that it selects, since it does not tolerate gpu=yes:NoSchedule; "
            "add `tolerations`, or select other nodes",
        ),
        (
            module("{gpu: 'true'}", "regexp: ."),
            *("KRM609", "info", "spec.selector"),
            "loads no driver on 1 of the 5 nodes (t1) that it selects, since it does not tolerate gpu=yes:NoSchedule; "
            "add `tolerations`, or select other nodes",
        ),
        (
            module("{zone: b}", "regexp: '427'", "regexp: '503'"),
            *("KRM606", "info", "spec.moduleLoader.container.kernelMappings[1]"),
            "kernelMappings[1] (regexp 503) is not used for any kernel of the 1 node that is selected; remove it, "
            "unless it is for a kernel that is still to come",
        ),
        (
            module("{gpu: 'true'}", fields="  tolerations: [{operator: Exists}]\n") + daemonset("[]"),
            *("KRM607", "warning", "spec.template.spec.tolerations"),
            "does not run on 1 of the 4 nodes (t1) on which Module kmm/gpu loads, since it does not tolerate "
            "gpu=yes:NoSchedule; give it the Module's tolerations",
        ),
        (
            module("{zone: b}", fields="  tolerations: [{operator: Exists}]\n") + daemonset("[]"),
            *("KRM607", "error", "spec.template.spec.tolerations"),
            "does not run on 1 of the 1 node (t1) on which Module kmm/gpu loads, since it does not tolerate "
            "gpu=yes:NoSchedule; give it the Module's tolerations",
        ),
    ],
)
def test_what_is_wrong_is_counted_and_named(text: str, rule: str, severity: str, field: str, message: str) -> None:
    (finding,) = [finding for finding in fleets.findings(NODES + text) if finding.rule == rule]
    assert (finding.severity, finding.text) == (severity, message)
    assert finding.field is not None
    assert finding.field.path == field


def test_an_empty_pool_is_named() -> None:
    config = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  moduleName: gpu
  driverImage: registry.example.com/gpu
  driverVersion: "1.0"
  nodePools:
  - {name: big, nodeSelector: {zone: a}}
  - {name: small, nodeSelector: {zone: c}}
"""
    (finding,) = fleets.findings(NODES.replace("      n4 6.1\n", "") + config)
    assert (finding.rule, finding.severity, str(finding.ref)) == ("KRM608", "warning", "DeviceConfig kmm/gpu")
    assert finding.message == "pool small: selects none of the 4 nodes: none has zone with the value 'c'"
    assert finding.remedy == "use 'a', 'b', or set the label on the nodes"


def test_a_label_that_no_node_has_and_that_is_near_none_is_to_be_corrected_or_set() -> None:
    (finding,) = [finding for finding in fleets.findings(NODES + module("{q: x}")) if finding.rule == "KRM605"]
    assert finding.message == "selects none of the 5 nodes: none has the label q"
    assert finding.remedy == "correct the label, or set it on the nodes"


def test_a_kernel_that_is_not_known_is_covered_by_a_mapping_for_all_only() -> None:
    text = NODES.replace("n4 6.1", "n4 -")
    (finding,) = fleets.findings(text + module("{zone: a}"))
    assert (finding.rule, finding.severity) == ("KRM604", "info")
    assert finding.message.startswith("it is not known whether a kernel mapping has a driver for 1 node (n4)")
    assert fleets.findings(text + module("{zone: a}", "regexp: ^.+$")) == []


TOO_LARGE = r"regexp: '^\pL{1000}$'"


@pytest.mark.parametrize(
    "mappings",
    [("regexp: '427'", TOO_LARGE), (*(f"regexp: '^(.?.?){{100}}{at}z$'" for at in range(99)), "regexp: el9")],
    ids=["one that is too large", "too many"],
)
def test_nobody_says_that_kmm_fails_where_a_regexp_is_not_judged(mappings: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(NODES + module("{zone: a}", *mappings))
    done = process("krmfn", "check", ".", cwd=tmp_path).ended(1)
    told = [line for line in done.text.splitlines() if "[KRM604]" in line or "[KRM606]" in line]
    assert len(told) == 1 and ": error: " in told[0], done.text
    assert "it is not known whether a kernel mapping has a driver for " in told[0]
    assert "KMM fails:" not in done.text and "gets no driver" not in done.text
    sentence = told[0].partition("kernelMappings: ")[2].partition(": the regexp")[0]
    assert len(sentence) <= 160
    assert "it is not known what KMM does with this kernel" in process("krmfn", "why", "n4", ".", cwd=tmp_path).text
    printed = process("krmfn", "nodes", ".", "--format", "json", cwd=tmp_path).ended(1).text
    rows = {row["node"]: row for row in json.loads(printed)["clusters"][0]["rows"]}
    assert (rows["n2"]["state"], rows["n4"]["state"]) == ("not judged", "not judged")
    assert "KMM fails:" not in printed and "blocked" not in {row["state"] for row in rows.values()}


def test_of_many_nodes_five_are_named() -> None:
    lines = "".join(f"      m{number:02} 4.18.0-1.x86_64\n" for number in range(12))
    (finding,) = fleets.findings(NODES.replace("      n4 6.1\n", lines) + module("{zone: a}"))
    assert "4.18.0-1.x86_64 on 12 nodes (m00, m01, m02, m03, m04 and 7 more)" in finding.message


def test_the_last_day_still_counts() -> None:
    text = NODES.replace("spec:", 'spec:\n  validUntil: "2026-02-28"')
    assert fleets.findings(text, "2026-02-28") == []
    (finding,) = fleets.findings(text, "2026-03-01")
    message = "was valid until 2026-02-28, but today is 2026-03-01; regenerate it with `krmfn inventory`"
    assert (finding.rule, finding.severity, finding.text) == ("KRM602", "error", message)


def test_a_label_that_the_inventory_does_not_hold_decides_nothing() -> None:
    """No node has the label there, and on the cluster all may: "selects none" would be a guess."""
    pods = daemonset("[]", '{row: r, kmm.node.kubernetes.io/kmm.gpu.ready: ""}')
    text = NODES.replace('["*"]', "[gpu, zone]") + module("{rack: r1}") + pods
    reported = [(finding.rule, finding.severity, str(finding.ref)) for finding in fleets.findings(text)]
    assert reported == [("KRM603", "error", "Module kmm/gpu"), ("KRM603", "warning", "DaemonSet kmm/agent")]


def test_a_label_that_the_inventory_nearly_holds_is_named() -> None:
    (finding,) = fleets.findings(NODES.replace('["*"]', "[gpu, zone]") + module("{zonne: a}"))
    assert "the label zonne (did you mean zone, which it holds?), so it is not known" in finding.text
    remedy = "; correct the key, or if it is right regenerate it with `krmfn inventory --for PATH`"
    assert finding.text.endswith(remedy)


def test_an_ordered_upgrade_needs_the_label_of_its_version() -> None:
    versioned = module("{zone: a}").replace("      modprobe:", '      version: "1"\n      modprobe:')
    (finding,) = fleets.findings(NODES.replace('["*"]', "[gpu, zone]") + versioned)
    assert "does not hold the label kmm.node.kubernetes.io/version-module.kmm.gpu" in finding.text


def test_with_an_error_about_the_nodes_nothing_is_concluded_from_them() -> None:
    results = fleets.findings(NODES.replace("n2 ", "n1 ") + module("{zone: nowhere}"))
    assert [finding.rule for finding in results] == ["KRM601"]


def test_without_nodes_there_is_nothing_to_say() -> None:
    assert fleets.findings(module("{zone: nowhere}")) == []


ALL_TAINTED = NODES.partition('  - labels: {gpu: "true", zone: a}')[0] + NODES[NODES.rindex("  - labels: ") :]
TOLERATING = module("{zone: b}", fields="  tolerations: [{key: gpu, operator: Exists}]\n")
SETTINGS = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {{name: settings, annotations: {{config.kubernetes.io/local-config: "true"}}}}
spec: {{kmm: {{version: "{}"}}}}
---
"""
CPU = "  - labels: {zone: c}\n    taints: [{key: cpu, effect: PreferNoSchedule}]\n    nodes: |\n      c1 5.14.0\n---\n"


@pytest.mark.parametrize("version", ["2.4", "2.6", "main", "openshift-2.4", "openshift-2.7", "openshift"])
def test_up_to_kmm_2_6_and_on_openshift_no_image_is_found_where_all_nodes_are_tainted(version: str) -> None:
    done = process("krmfn", "check", "-", "--format", "json", stdin=SETTINGS.format(version) + ALL_TAINTED + TOLERATING)
    findings = [finding for finding in json.loads(done.ended(0).out)["findings"] if finding["rule"] == "KRM610"]
    message = (
        f"loads no driver on 1 node (t1): KMM {version} pulls the image first in a pod that tolerates nothing, and "
        "each known node has a taint (gpu=yes:NoSchedule)"
    )
    expected = [] if version == "main" else [("warning", message)]
    assert [(finding["severity"], finding["message"]) for finding in findings] == expected


def test_an_image_is_found_on_any_node_without_a_taint() -> None:
    """It needs neither the Module's label nor its device."""
    for text in (ALL_TAINTED.replace("---\n", CPU) + TOLERATING, NODES + TOLERATING, ALL_TAINTED + module("{zone: b}")):
        assert "KRM610" not in [finding.rule for finding in fleets.findings(text)]


def test_a_hub_says_nothing_about_its_own_nodes() -> None:
    hub = """\
apiVersion: hub.kmm.sigs.x-k8s.io/v1beta1
kind: ManagedClusterModule
metadata: {name: gpu}
spec:
  spokeNamespace: kmm
  selector: {env: lab}
  moduleSpec:
    selector: {zone: nowhere}
    moduleLoader:
      container:
        modprobe: {moduleName: gpu}
        kernelMappings: [{regexp: ^.+$, containerImage: "r/gpu:$KERNEL_FULL_VERSION"}]
"""
    assert fleets.findings(NODES + hub) == []


def test_guessing_what_was_meant_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 selectors that select nothing were compared with 10,000 values each: three minutes."""
    monkeypatch.setattr(wording, "_COMPARED", 1)
    modules = [module(f"{{zone: {zone}}}").replace("name: ", f"name: m{zone}-", 1) for zone in ("aa", "bb")]
    findings = [finding for finding in fleets.findings(NODES + "---\n".join(modules)) if finding.rule == "KRM605"]
    remedies = [finding.remedy for finding in findings]
    assert remedies == ["use 'a', or set the label on the nodes", "use 'a', 'b', or set the label on the nodes"]


PROFILE = """\
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: gpu}
spec:
  version: "1.0"
  schema:
    type: object
    properties:
      spec:
        type: object
        properties:
          all: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  config:
    moduleName: gpu
    nodeSelector: {gpu: "true"}
    kernelMappings: KERNELS
---
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec: {profile: gpu, MORE: {}}
"""
MAPPINGS = '[{regexp: "^5.+$", image: "registry.example.com/gpu:$KERNEL_FULL_VERSION"}]'


@pytest.mark.parametrize(
    ("kernels", "fields", "place", "where"),
    [
        (MAPPINGS, "", "16:5", " (in Profile gpu, spec.config.kernelMappings)"),
        ("${spec.all}", f", options: {{all: {MAPPINGS}}}", "21:32", ""),
        (MAPPINGS, f", kernelMappings: {MAPPINGS}", "21:22", ""),
    ],
)
def test_mappings_are_mended_where_they_are_written(
    tmp_path: Path, kernels: str, fields: str, place: str, where: str
) -> None:
    """Every finding about a profile's mappings pointed at the config, which has none to mend."""
    (tmp_path / "nodes.yaml").write_text(NODES.partition('  - labels: {gpu: "true", zone: b}')[0])
    (tmp_path / "all.yaml").write_text(PROFILE.replace("KERNELS", kernels).replace(", MORE: {}", fields))
    lines = process("krmfn", "check", ".", cwd=tmp_path).text.splitlines()
    (at,) = [at for at, line in enumerate(lines) if "[KRM604]" in line]
    assert lines[at].startswith(f"all.yaml:{place}: error: DeviceConfig kmm/gpu: ")
    assert lines[at].endswith("(n4) [KRM604]")
    assert lines[at + 1] == f"  help: add a kernel mapping for it, or narrow the selector{where}"


def test_an_ordered_upgrade_whose_nodes_have_no_version_says_the_first_step(tmp_path: Path) -> None:
    """On the first day nothing is loaded, and no node has the version that a later change replaces."""
    label = "kmm.node.kubernetes.io/version-module.kmm.gpu"
    for version in ("1", "2"):
        versioned = module('{gpu: "true"}').replace("      modprobe", f'      version: "{version}"\n      modprobe')
        nodes = NODES.replace("n3 5.14.0-503.el9.x86_64", f"n3 5.14.0 {label}={version}")
        (tmp_path / f"{version}.yaml").write_text(nodes + versioned)
    done = process("krmfn", "check", str(tmp_path / "1.yaml"), "--select", "KRM612")
    start = "on 2 of the 5 nodes (n1, n2) that it selects until they have a version label [KRM612]\n"
    start += "  help: label them: `kubectl label nodes"
    assert start in done.text
    assert f"--selector gpu=true {label}=1`\n" in done.text
    done = process("krmfn", "diff", str(tmp_path / "1.yaml"), str(tmp_path / "2.yaml"))
    assert f"no node has version 1; a node gets 2 as soon as its label {label} says so [KRM407]" in done.text
