"""Lints: each with what it tells, what it leaves alone, and where."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import yaml
from krmfn_functions.kmm.lints import image_lints, mapping_lints, neighbours, regexp_lints, section_lints
from krmfn_functions.rule import Rule

from tests.builders import edited, module
from tests.rule_examples import documents
from tests.tables import table

from ..manifests import across, check, lints

C = "spec.moduleLoader.container"
MAPPINGS = f"{C}.kernelMappings"
SIGN = {"keySecret": {"name": "k"}, "certSecret": {"name": "c"}}


def regexps(*values: str) -> dict[str, Any]:
    return module(*({"regexp": value} for value in values))


def image(template: str, **container: Any) -> dict[str, Any]:
    return module({"regexp": "^.+$", "containerImage": template}, **container)


class Case(NamedTuple):
    rule: str
    bad: dict[str, Any]
    good: dict[str, Any]
    path: str
    text: str
    severity: str = "warning"
    version: str = "2.6"
    kernels: tuple[str, ...] = ()


EL9, EL8 = "5.14.0-1.el9.x86_64", "4.18.0-1.el8_10.x86_64"

CASES = [
    Case(**row | {side: edited(module(), *row[side].items()) for side in ("bad", "good")})
    for row in table(__file__, "lints.yaml")
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_a_lint_and_its_border(case: Case) -> None:
    findings = [result for result in check(case.bad, case.version, case.kernels) if result.rule == case.rule]
    assert len(findings) == 1, findings
    assert case.text in findings[0].text
    assert findings[0].severity == case.severity
    assert findings[0].field and findings[0].field.path == case.path
    assert findings[0].tags == () and str(findings[0].ref).startswith("Module kmm/")
    assert [result for result in check(case.good, case.version, case.kernels) if result.rule == case.rule] == []


@pytest.mark.parametrize(
    "rule",
    [*section_lints.RULES, *mapping_lints.RULES, *regexp_lints.RULES, *image_lints.RULES],
    ids=lambda rule: rule.id,
)
def test_a_lint_about_name_or_selector_stands_in_module_lints(rule: Rule) -> None:
    """Of generated Modules that differ in these alone only the first is judged by the other files."""
    *_, bad = (yaml.safe_load(document.text) for document in documents(rule.bad, rule.id))
    renamed = edited(bad, ("metadata.name", "other"), ("spec.selector", {"other": "true"}))
    reported = {finding.rule for finding in lints(renamed, "2.5" if "kmm: 2.5" in rule.bad else "main", [EL9, EL8])}
    assert rule.id in reported, "move it to RULES of module_lints.py: a second config would get no finding"


def test_the_images_of_every_container_are_looked_at() -> None:
    pods = {"container": {"image": "a"}, "initContainer": {"image": "b:latest"}}
    manifest = edited(module(), ("spec.devicePlugin", pods), ("spec.dra", pods))
    reported = [(result.rule, result.field.path) for result in lints(manifest) if result.field]
    assert reported == [
        ("KRM225", f"spec.{plugin}.{part}.image")
        for plugin in ("devicePlugin", "dra")
        for part in ("container", "initContainer")
    ]


def test_the_images_of_a_daemonset_are_looked_at() -> None:
    digest = f"sha256:{64 * '0'}"
    pod = {
        "initContainers": [{"image": "a:1"}, {"image": "b"}],
        "containers": [
            {"image": "c:latest"},
            {"image": "d:$KERNEL_FULL_VERSION"},
            {"image": f"e@{digest}"},
            {},
        ],
    }
    named = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "a", "namespace": "kmm"}}
    results = list(image_lints.check_pods({**named, "spec": {"template": {"spec": pod}}}))
    assert [(result.rule, result.field.path if result.field else "", str(result.ref)) for result in results] == [
        ("KRM225", "spec.template.spec.initContainers[1].image", "DaemonSet kmm/a"),
        ("KRM225", "spec.template.spec.containers[0].image", "DaemonSet kmm/a"),
        ("KRM223", "spec.template.spec.containers[1].image", "DaemonSet kmm/a"),
        ("KRM224", "spec.template.spec.containers[1].image", "DaemonSet kmm/a"),
    ]
    assert list(image_lints.check_pods(named)) == []


def test_a_clean_module_has_no_lint() -> None:
    assert check(module()) == []
    template = "$MOD_NAMESPACE/$MOD_NAME:$KERNEL_FULL_VERSION"
    assert check(image(template), "main", [EL9, EL8]) == []


@pytest.mark.parametrize("seed", ["^.+$", r"^.*\.el\d_?\d?\..*$", r"^.*\.x86_64$"])
def test_well_known_regexps_are_fine(seed: str) -> None:
    assert check(regexps(seed)) == []


def test_twelve_groups_in_one_another_are_taken_for_anchored() -> None:
    assert [len(check(regexps("(" * depth + "6" + ")" * depth))) for depth in (11, 12)] == [1, 0]


def test_a_mapping_that_kmm_refuses_gets_no_lint_on_top() -> None:
    refused = module({"regexp": "("}, {"regexp": "a", "literal": "b+"}, {})
    assert {result.rule for result in check(refused)} == {"KMM021", "KMM022", "KMM023"}


def test_lints_do_not_repeat_the_webhook() -> None:
    assert [result.rule for result in check(image("untagged"))] == ["KMM025"]
    signed = module(sign={**SIGN, "filesToSign": []})
    assert [result.rule for result in check(signed)] == ["KMM034"]


def test_a_pointless_kernel_is_not_reported() -> None:
    assert check(regexps("^5.*$", "^6.*$"), kernels=[EL9]) == []


def loads(name: str, kernel_module: str, *removes: str, selector: Any = None) -> dict[str, Any]:
    mapping = {"regexp": "^.+$", **({"inTreeModulesToRemove": list(removes)} if removes else {})}
    return module(mapping, name=name, selector=selector, modprobe={"moduleName": kernel_module})


def test_modules_that_remove_what_another_loads() -> None:
    results = across([loads("one", "a", "b-c"), loads("two", "b_c"), loads("three", "x")])
    assert [result.rule for result in results] == ["KRM231"]
    assert results[0].message.startswith("removes b_c, which Module kmm/two loads on the same node")
    assert results[0].field and results[0].field.path == f"{MAPPINGS}[0].inTreeModulesToRemove[0]"
    assert str(results[0].ref) == "Module kmm/one"


def test_modules_that_unload_each_other() -> None:
    results = across([loads("one", "a", "b"), loads("two", "b", "a")])
    assert ["and is removed by it" in result.text for result in results] == [True, True]


def test_modules_that_never_meet() -> None:
    apart = [loads("one", "a", "b", selector={"p": "1"}), loads("two", "b", "a", selector={"p": "2"})]
    assert across(apart) == []
    assert across([loads("one", "a", "a"), loads("two", "a", "a")]) == []
    assert across([]) == across([{}, {"spec": None}]) == []


def test_modules_that_replace_the_same_in_tree_module_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their number squared is too many comparisons."""
    compared: list[Any] = []
    monkeypatch.setattr(neighbours, "_can_meet", lambda *selectors: compared.append(selectors))
    assert across([loads(f"m{at}", "gpu", "gpu", selector={"pool": str(at)}) for at in range(300)]) == []
    assert compared == []
    assert across([loads("one", "a", "b"), loads("two", "b")]) == []
    assert len(compared) == 1, "the comparison that is counted is the one that is made"


DRIVEN = edited(module(), ("spec.dra", {"driverName": "gpu.example.com", "container": {"image": "i:1"}}))


@pytest.mark.parametrize(
    ("version", "severities"), [("", ["info"]), ("1.34", []), ("v1.35.2", []), ("1.33.4", ["error"]), ("x", ["info"])]
)
def test_the_version_that_argo_cd_names_counts_for_dra(
    version: str, severities: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBE_VERSION", version)
    findings = [finding for finding in check(DRIVEN, "main") if finding.rule == "KRM209"]
    assert [finding.severity for finding in findings] == severities
    assert "error" not in severities or "this one has 1.33.4 (KUBE_VERSION)" in findings[0].message


@pytest.mark.parametrize(
    ("kubelets", "known"),
    [
        (["v1.33.1", "v1.34.0+k3s1"], ""),
        (["v1.9.1", "v1.33.10"], "the newest kubelet of its nodes is v1.33.10"),
        (["new"], "the newest kubelet of its nodes is new"),
        ([], "nothing here says which version the cluster has"),
    ],
)
def test_a_cluster_is_never_older_than_the_kubelets_of_its_nodes(kubelets: list[str], known: str) -> None:
    findings = [finding for finding in check(DRIVEN, "main", kubelets=kubelets) if finding.rule == "KRM209"]
    ends = [(finding.severity, finding.message.rpartition(", and ")[2]) for finding in findings]
    assert ends == ([("info", known)] if known else [])
