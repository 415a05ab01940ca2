"""Lints: each with what it tells, what it leaves alone, and where."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from krmfn_functions.kmm.lints import image_lints, neighbours
from krmfn_functions.kmm.module import Module

from tests.builders import edited, module

from ..manifests import across, check, lints

C = "spec.moduleLoader.container"
MAPPINGS = f"{C}.kernelMappings"
SIGN = {"keySecret": {"name": "k"}, "certSecret": {"name": "c"}}


def literals(*values: str) -> dict[str, Any]:
    return module(*({"literal": value} for value in values))


def regexps(*values: str) -> dict[str, Any]:
    return module(*({"regexp": value} for value in values))


def image(template: str, **container: Any) -> dict[str, Any]:
    return module({"regexp": "^.+$", "containerImage": template}, **container)


def plugin(template: str) -> dict[str, Any]:
    made = module()
    made["spec"]["devicePlugin"] = {"container": {"image": template}}
    return made


def parameters(*values: str) -> dict[str, Any]:
    return module(modprobe={"moduleName": "simple", "parameters": list(values)})


class Case(NamedTuple):
    rule: str
    bad: dict[str, Any]
    good: dict[str, Any]
    path: str
    text: str
    severity: str = "warning"
    version: str = "2.6"
    kernels: tuple[str, ...] = ()


BUILD = {"dockerfileConfigMap": {"name": "d"}}
EL9, EL8 = "5.14.0-1.el9.x86_64", "4.18.0-1.el8_10.x86_64"

CASES = [
    Case("KRM201", module(selector={}), module(), "spec.selector", "every node of the cluster"),
    Case(
        "KRM202",
        module(selector={"node-role.kubernetes.io/worker": "true"}),
        module(selector={"node-role.kubernetes.io/worker": "", "role": "worker"}),
        "spec.selector[node-role.kubernetes.io/worker]",
        'has the value ""',
    ),
    Case(
        "KRM203",
        module(version="1.2+build"),
        module(version="1.2-build"),
        f"{C}.version",
        "not a valid label value",
        "error",
    ),
    Case(
        "KRM203", module(version="v" * 64), module(version="v" * 63), f"{C}.version", "not a valid label value", "error"
    ),
    Case("KRM204", module(name="a.b", version="1"), module(name="a.b"), "metadata.name", "ordered upgrade breaks"),
    Case("KRM204", module(name="a.version"), module(name="a-version"), "metadata.name", "Module a"),
    Case("KRM205", parameters("a=1", "b=1 c=2"), parameters("a=1", "b=1,2"), f"{C}.modprobe.parameters[1]", "several"),
    Case(
        "KRM206",
        module(sign={**SIGN, "filesToSign": []}),
        module(sign={**SIGN, "filesToSign": ["/opt/a.ko"]}),
        f"{C}.sign.filesToSign",
        "signs nothing",
        version="2.5",
    ),
    Case(
        "KRM206",
        module({"regexp": "^.+$", "sign": {**SIGN, "filesToSign": ["/lib/a.ko"]}}),
        module(
            {"regexp": "^.+$", "sign": {**SIGN, "filesToSign": ["/lib/a.ko"]}},
            modprobe={"moduleName": "a", "dirName": "/lib"},
        ),
        f"{MAPPINGS}[0].sign.filesToSign[0]",
        'not under modprobe.dirName "/opt"',
        version="2.4",
    ),
    Case(
        "KRM207",
        module({"regexp": "^.+$", "build": {**BUILD, "kanikoParams": {"tag": "x"}}}, build=BUILD),
        module({"regexp": "^.+$", "build": {**BUILD, "kanikoParams": {"tag": "x"}}}),
        f"{MAPPINGS}[0].build.kanikoParams",
        "KMM ignores this",
    ),
    Case(
        "KRM211",
        literals("6.1.0-a", "6.1.0-a"),
        literals("6.1.0-a", "6.1.0-b"),
        f"{MAPPINGS}[1].literal",
        "never reached",
    ),
    Case(
        "KRM211",
        module({"regexp": r"^.*el9.*$"}, {"literal": EL9}),
        module({"regexp": r"^.*el10.*$"}, {"literal": EL9}),
        f"{MAPPINGS}[1].literal",
        "kernelMappings[0]",
    ),
    Case(
        "KRM211",
        module({"regexp": r"^.*el9.*$"}, {"literal": EL9}),
        module({"literal": EL9}, {"regexp": r"^.*el9.*$"}),
        f"{MAPPINGS}[1].literal",
        "kernelMappings[0]",
    ),
    Case(
        "KRM212",
        regexps("^.+$", "^6.*$"),
        regexps("^6.*$", "^.+$"),
        f"{MAPPINGS}[1].regexp",
        "takes every kernel first",
    ),
    Case("KRM212", regexps("^6.*$", "^6.*$"), regexps("^6.*$", "^7.*$"), f"{MAPPINGS}[1].regexp", "never reached"),
    Case(
        "KRM212",
        regexps("^5.*$", "^.*el9.*$"),
        regexps("^4.*$", "^.*el9.*$"),
        f"{MAPPINGS}[1].regexp",
        f"all 1 that it matches, such as {EL9}, are taken by kernelMappings[0]",
        kernels=(EL9, EL8),
    ),
    Case(
        "KRM213",
        regexps("el9"),
        regexps(".*el9.*"),
        f"{MAPPINGS}[0].regexp",
        'matches anywhere in the kernel version, "el9"',
    ),
    Case("KRM213", regexps("^6.1$|^6.2"), regexps("^6.1$|^6.2$"), f"{MAPPINGS}[0].regexp", '"^6.2"'),
    Case("KRM213", regexps(r"^6\$"), regexps(r"\A6\z"), f"{MAPPINGS}[0].regexp", "anchor it"),
    Case("KRM213", regexps(r"(^6$|7)"), regexps(r"(?:^6$|^(7|8)$)"), f"{MAPPINGS}[0].regexp", "anchor it"),
    Case("KRM213", regexps(r"^6\.*"), regexps(r"(?i)^6.*?"), f"{MAPPINGS}[0].regexp", "anchor it"),
    Case(
        "KRM214",
        regexps(r"^.+\fc37\.x86_64$"),
        regexps(r"^.+\.fc37\.x86_64[\f]?$"),
        f"{MAPPINGS}[0].regexp",
        r"write f, or \.f",
    ),
    Case("KRM214", regexps(r"^.+\x0b$"), regexps(r"^.+\x2b\\f$"), f"{MAPPINGS}[0].regexp", "control character"),
    Case(
        "KRM216",
        regexps("^" + "a" * 4095 + "$"),
        regexps("^" + "a" * 4094 + "$"),
        f"{MAPPINGS}[0].regexp",
        "too large",
        "error",
    ),
    Case("KRM215", literals("6.1.0-a+"), literals("6.1.0-a"), f"{MAPPINGS}[0].literal", "never matches"),
    Case(
        "KRM221", image("i:${KERNEL_X"), image("i:${KERNEL_X}"), f"{MAPPINGS}[0].containerImage", "not closed", "error"
    ),
    Case(
        "KRM222",
        image("i:1-${KERNEL}"),
        image("i:1-$KERNEL_XYZ-${FOO:-x}"),
        f"{MAPPINGS}[0].containerImage",
        "variable KERNEL,",
    ),
    Case(
        "KRM222",
        module(sign={**SIGN, "filesToSign": ["/opt/$MOD_NAME"], "unsignedImage": "i:$KERNEL_X"}),
        module(sign={**SIGN, "filesToSign": ["/opt/$KERNEL_X"]}),
        f"{C}.sign.filesToSign[0]",
        "MOD_NAME here",
    ),
    Case(
        "KRM223",
        plugin("i:$KERNEL_X"),
        plugin("i:1"),
        "spec.devicePlugin.container.image",
        "no variables are substituted here",
    ),
    Case(
        "KRM224", image("repo/x:${FOO}"), image("repo/x:a${FOO}"), f"{MAPPINGS}[0].containerImage", '"repo/x:"', "error"
    ),
    Case("KRM224", image("$FOO:1"), image("$MOD_NAME:1"), f"{MAPPINGS}[0].containerImage", '":1"', "error"),
    Case(
        "KRM225", image("repo/x:latest"), image("repo/x:latest@sha256:0"), f"{MAPPINGS}[0].containerImage", "tag latest"
    ),
    Case("KRM225", image("r:5000/x"), image("r:5000/x:1"), f"{MAPPINGS}[0].containerImage", "no tag"),
    Case(
        "KRM225",
        plugin("repo/x"),
        plugin("repo/x:1"),
        "spec.devicePlugin.container.image",
        "no tag, which means latest",
    ),
    Case(
        "KRM226",
        image("x:${KERNEL_XYZ}@sha256:0"),
        image("x:$KERNEL_XYZ"),
        f"{MAPPINGS}[0].containerImage",
        "one image for every",
    ),
    Case("KRM213", regexps("el9$"), regexps("^.*el9$"), f"{MAPPINGS}[0].regexp", '"el9$" is found inside'),
    Case("KRM213", regexps("^(a)|b$"), regexps("^(a|b)$"), f"{MAPPINGS}[0].regexp", '"^(a)" is found inside'),
    Case(
        "KRM226",
        image("x:1"),
        module({"literal": EL9, "containerImage": "x:1"}),
        f"{MAPPINGS}[0].containerImage",
        "unless it holds a kernel module for each, put $KERNEL_FULL_VERSION into its tag",
    ),
    Case(
        "KRM226",
        image("$MOD_NAME:1"),
        image("$MOD_NAME:1-$KERNEL_XYZ"),
        f"{MAPPINGS}[0].containerImage",
        "one image for every kernel",
    ),
    Case(
        "KRM226",
        image("x@sha256:0"),
        module({"regexp": r"^.*\.el9\..*$", "containerImage": "x@sha256:0"}),
        f"{MAPPINGS}[0].containerImage",
        "name its kernels in the mapping",
    ),
    Case(
        "KRM226",
        module({"regexp": "^.+$", "containerImage": ""}, containerImage="x:1"),
        module({"regexp": "^.+$", "containerImage": "y:$KERNEL_XYZ"}, containerImage="x:1"),
        f"{C}.containerImage",
        "one image for every kernel",
    ),
    Case(
        "KRM209",
        edited(module(), ("spec.dra", {"driverName": "gpu.example.com", "container": {"image": "i:1"}})),
        edited(module(), ("spec.devicePlugin", {"container": {"image": "i:1"}})),
        "spec.dra",
        "before Kubernetes 1.34",
        "info",
        "main",
    ),
    Case(
        "KRM208",
        module(modprobe={"moduleName": "simple", "firmwarePath": "fw/updates"}),
        module(modprobe={"moduleName": "simple", "firmwarePath": "/fw"}),
        f"{C}.modprobe.firmwarePath",
        'write "/fw/updates" if that',
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_a_lint_and_its_border(case: Case) -> None:
    findings = [result for result in check(case.bad, case.version, case.kernels) if result.rule == case.rule]
    assert len(findings) == 1, findings
    assert case.text in findings[0].message
    assert findings[0].severity == case.severity
    assert findings[0].field and findings[0].field.path == case.path
    assert findings[0].tags == () and str(findings[0].ref).startswith("Module kmm/")
    assert [result for result in check(case.good, case.version, case.kernels) if result.rule == case.rule] == []


def test_the_images_of_every_container_are_looked_at() -> None:
    made = module()
    pods = {"container": {"image": "a"}, "initContainer": {"image": "b:latest"}}
    made["spec"] |= {"devicePlugin": pods, "dra": pods}
    reported = [(result.rule, result.field.path) for result in lints(made) if result.field]
    assert reported == [
        ("KRM225", f"spec.{plugin}.{part}.image")
        for plugin in ("devicePlugin", "dra")
        for part in ("container", "initContainer")
    ]


def test_the_images_of_a_daemonset_are_looked_at() -> None:
    pod = {
        "initContainers": [{"image": "a:1"}, {"image": "b"}],
        "containers": [{"image": "c:latest"}, {"image": "d:$KERNEL_FULL_VERSION"}, {"image": "e@sha256:0"}, {}],
    }
    named = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "a", "namespace": "kmm"}}
    results = list(image_lints.check_pods({**named, "spec": {"template": {"spec": pod}}}))
    assert [(result.rule, result.field.path if result.field else "", str(result.ref)) for result in results] == [
        ("KRM225", "spec.template.spec.initContainers[1].image", "DaemonSet kmm/a"),
        ("KRM225", "spec.template.spec.containers[0].image", "DaemonSet kmm/a"),
        ("KRM223", "spec.template.spec.containers[1].image", "DaemonSet kmm/a"),
    ]
    assert list(image_lints.check_pods(named)) == []


def test_a_clean_module_has_no_lint() -> None:
    assert check(module()) == []
    template = "$MOD_NAMESPACE/$MOD_NAME:$KERNEL_FULL_VERSION"
    assert check(image(template), "main", [EL9, EL8]) == []


@pytest.mark.parametrize("seed", ["^.+$", r"^.*\.el\d_?\d?\..*$", r"^.*\.x86_64$"])
def test_well_known_regexps_are_fine(seed: str) -> None:
    assert check(regexps(seed)) == []


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
    made = module(
        {"regexp": "^.+$", "inTreeModulesToRemove": list(removes)} if removes else {"regexp": "^.+$"},
        name=name,
        selector=selector,
    )
    made["spec"]["moduleLoader"]["container"]["modprobe"]["moduleName"] = kernel_module
    return made


def test_modules_that_remove_what_another_loads() -> None:
    results = across([loads("one", "a", "b-c"), loads("two", "b_c"), loads("three", "x")])
    assert [result.rule for result in results] == ["KRM231"]
    assert results[0].message.startswith("removes b_c, which Module kmm/two loads on the same node")
    assert results[0].field and results[0].field.path == f"{MAPPINGS}[0].inTreeModulesToRemove[0]"
    assert str(results[0].ref) == "Module kmm/one"


def test_modules_that_unload_each_other() -> None:
    results = across([loads("one", "a", "b"), loads("two", "b", "a")])
    assert ["and is removed by it" in result.message for result in results] == [True, True]


def test_modules_that_never_meet() -> None:
    apart = [loads("one", "a", "b", selector={"p": "1"}), loads("two", "b", "a", selector={"p": "2"})]
    assert across(apart) == []
    assert across([loads("one", "a", "a"), loads("two", "a", "a")]) == []
    assert across([]) == across([{}, {"spec": None}]) == []


def test_all_that_a_module_removes() -> None:
    made = module({"regexp": "^.+$", "inTreeModuleToRemove": "a-1"}, inTreeModulesToRemove=["b", None, "c"])
    made["spec"]["moduleLoader"]["container"]["modprobe"]["modulesLoadingOrder"] = ["simple", "dep-1"]
    seen = Module(made)
    assert seen.loads == {"simple", "dep_1"}
    assert seen.removes == {
        "b": f"{C}.inTreeModulesToRemove[0]",
        "c": f"{C}.inTreeModulesToRemove[2]",
        "a_1": f"{MAPPINGS}[0].inTreeModuleToRemove",
    }


def test_modules_that_replace_the_same_in_tree_module_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their number squared is too many comparisons."""
    compared: list[Any] = []
    monkeypatch.setattr(neighbours, "_can_meet", lambda *selectors: compared.append(selectors))
    assert across([loads(f"m{at}", "gpu", "gpu", selector={"pool": str(at)}) for at in range(300)]) == []
    assert compared == []
    assert across([loads("one", "a", "b"), loads("two", "b")]) == []
    assert len(compared) == 1, "the comparison that is counted is the one that is made"


@pytest.mark.parametrize(
    ("version", "severities"), [("", ["info"]), ("1.34", []), ("v1.35.2", []), ("1.33.4", ["error"]), ("x", ["info"])]
)
def test_the_version_that_argo_cd_names_counts_for_dra(
    version: str, severities: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBE_VERSION", version)
    driven = edited(module(), ("spec.dra", {"driverName": "gpu.example.com", "container": {"image": "i:1"}}))
    found = [one for one in check(driven, "main") if one.rule == "KRM209"]
    assert [one.severity for one in found] == severities
    assert all("this one has 1.33.4 (KUBE_VERSION)" in one.message for one in found if one.severity == "error")
