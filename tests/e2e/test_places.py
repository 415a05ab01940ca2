"""Findings in kustomize folders stand where a person wrote what they are about: file, line, column, name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as xml

import pytest

from tests.commands import ROOT
from tests.trees import COMPONENT, function, plant

from .engines import must, path_of, run

BASE = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata:
  name: other
  namespace: kmm
  annotations: {config.kubernetes.io/local-config: "true"}
spec:
  driverImage: r.example.com/other
  driverVersion: "1"
  moduleName: other
  nodeSelector: {a: other}
---
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata:
  name: drv
  namespace: kmm
  annotations: {config.kubernetes.io/local-config: "true"}
spec:
  driverImage: r.example.com/drv
  driverVersion: "1"
  moduleName: drv
  nodeSelector: {a: b}
"""
PATCH = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata:
  name: drv
  namespace: kmm
spec:
  # the vendor's second release
  driverVersion: "2"
"""
API = "kmm.sigs.x-k8s.io/v1beta1"
MODULE = f"apiVersion: {API}\nkind: Module\nmetadata: {{name: NAME, namespace: kmm}}\nspec:\n  selector: {{a: NAME}}\n"
MODULE += "  moduleLoader:\n    container:\n      modprobe: {moduleName: NAME}\n      kernelMappings:\n"
MODULE += "      - {regexp: '^.+$', containerImage: 'r.example.com/a:${KERNEL_FULL_VERSION}'}\n"
FAULTY = PATCH.replace("driverVersion", "driverVersio")
MERGED = "apiVersion: krmfn.dev/v1alpha1\nkind: DeviceConfig\nmetadata: {name: NAME, namespace: kmm}\n"
CALLED = function("exec: {path: krmfn}") + "spec:\n  defaults:\n    imagePullPolicy: Always\n"
PLAIN = {
    "base/kustomization.yaml": "resources: [config.yaml]\n",
    "base/config.yaml": BASE,
    "lab/kustomization.yaml": "resources: [../base]\nnamePrefix: lab-\npatches:\n- path: patch.yaml\n",
    "lab/patch.yaml": PATCH,
}
CALLING = {
    **PLAIN,
    "lab/kustomization.yaml": PLAIN["lab/kustomization.yaml"] + "transformers: [function.yaml]\n",
    "lab/function.yaml": CALLED,
}
FAULTS = [
    (PLAIN, "base/config.yaml", "moduleName: drv", "moduelName: drv", "base/config.yaml:22:3", "drv"),
    (PLAIN, "lab/patch.yaml", "driverVersion", "driverVersio", "lab/patch.yaml:8:3", "drv"),
    (CALLING, "base/config.yaml", "moduleName: drv", "moduelName: drv", "base/config.yaml:22:3", "drv"),
    (CALLING, "lab/patch.yaml", "driverVersion", "driverVersio", "lab/patch.yaml:8:3", "drv"),
    (CALLING, "lab/function.yaml", "Always", "Sometimes", "lab/function.yaml:10:5", "render"),
]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A Git work tree."""
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.mark.parametrize(("files", "name", "right", "wrong", "place", "resource"), FAULTS)
def test_three_planted_faults_in_every_format(
    kustomize: str,
    repository: Path,
    files: dict[str, str],
    name: str,
    right: str,
    wrong: str,
    place: str,
    resource: str,
) -> None:
    plant(repository, {**files, name: files[name].replace(right, wrong)})
    checked = {
        form: run("krmfn", "check", "lab", "--format", form, cwd=repository)
        for form in ("text", "json", "sarif", "github", "gitlab", "junit", "prometheus")
    }
    assert {done.code for done in checked.values()} == {1}
    file, line, column = place.split(":")
    errors = [text for text in checked["text"].text.splitlines() if ": error: " in text]
    assert [text.partition(": error: ")[0] for text in errors] == [place]
    assert re.search(rf"\b(kmm/)?{resource}: ", errors[0])
    findings = [entry for entry in json.loads(checked["json"].out)["findings"] if entry["severity"] == "error"]
    assert [(entry["file"], entry["line"], entry["column"], entry["ref"]["name"]) for entry in findings] == [
        (file, int(line), int(column), resource)
    ]
    results = [entry for entry in json.loads(checked["sarif"].out)["runs"][0]["results"] if entry["level"] == "error"]
    where = [entry["locations"][0]["physicalLocation"] for entry in results]
    region = {"startLine": int(line), "startColumn": int(column)}
    assert where == [{"artifactLocation": {"uri": file}, "region": region}]
    commands = [text for text in checked["github"].text.splitlines() if text.startswith("::error ")]
    assert [text.partition(",title")[0] for text in commands] == [f"::error file={file},line={line},col={column}"]
    entries = [entry for entry in json.loads(checked["gitlab"].out) if entry["severity"] == "critical"]
    assert [entry["location"] for entry in entries] == [{"path": file, "lines": {"begin": int(line)}}]
    cases = [case for case in xml.fromstring(checked["junit"].text) if case.find("failure[@type='error']") is not None]
    # the text has the place: a name with a line would not stay the same
    assert [(case.findtext("failure") or "").partition(": error: ")[0] for case in cases] == [place]
    if files is PLAIN:  # else nothing comes out of the build
        assert 'name="lab-drv"} 1' in checked["prometheus"].text
        assert 'name="lab-other"} 0' in checked["prometheus"].text
    assert f"{place}: error: " in run("krmfn", "render", "lab", cwd=repository).refused(1)


def test_names_are_shown_as_the_path_was_given(kustomize: str, repository: Path) -> None:
    plant(repository, {**PLAIN, "lab/patch.yaml": FAULTY})
    for path, cwd, name in [
        (".", "lab", "patch.yaml"),
        ("lab", ".", "lab/patch.yaml"),
        (str(repository / "lab"), ".", str(repository / "lab" / "patch.yaml")),
    ]:
        assert f"\n{name}:8:3: error: " in "\n" + run("krmfn", "check", path, cwd=repository / cwd).text


@pytest.mark.parametrize("metadata", ["originAnnotations", "transformerAnnotations", "managedByLabel"])
@pytest.mark.parametrize("fields", ["", "namePrefix: lab-\n", "commonAnnotations: {own: 'a: b'}\n"])
def test_annotations_that_the_kustomization_asks_for_are_those_of_kustomize(
    kustomize: str, repository: Path, metadata: str, fields: str
) -> None:
    """Here and without the wrapper, byte for byte; also where a value looks like an annotation."""
    sample = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata:\n  a: |\n    metadata:\n      annotations:\n"
        "        config.kubernetes.io/origin: |\n          path: a\n"
    )
    files = {
        "lab/kustomization.yaml": (
            "resources: [../base, a b.yaml, deep/../deep/x.yaml, ../lab-2]\n"
            f"buildMetadata: [{metadata}, originAnnotations]\n{fields}"
            "patches:\n- target: {kind: ConfigMap, name: deep}\n"
            '  patch: |\n    - {op: add, path: /metadata/annotations, value: {a: "b\\n\\nc\\n"}}\n'
            "configMapGenerator: [{name: own, literals: [a=b]}]\n"
        ),
        "base/kustomization.yaml": "resources: [base.yaml]\n",
        "base/base.yaml": sample.replace("NAME", "base"),
        "lab-2/kustomization.yaml": 'resources: [../lab/../lab-3/]\nnameSuffix: "-2"\n',
        "lab-3/kustomization.yaml": "resources: ['#odd.yaml']\n",
        "lab-3/#odd.yaml": sample.replace("NAME", "odd"),
        "lab/a b.yaml": sample.replace("NAME", "space"),
        "lab/deep/x.yaml": sample.replace("NAME", "deep"),
    }
    folder = plant(repository, files) / "lab"
    assert must("krmfn", "render", folder) == must(kustomize, "build", folder)


# Where a field differs from the resource's file.


def checked(folder: Path, path: str = "lab") -> list[tuple[str, str, str]]:
    """The place, the rule and the message of each finding, but for those about kustomize and about marks."""
    lines = run("krmfn", "check", path, cwd=folder).text.splitlines()
    matches = [re.fullmatch(r"(\S+): \w+: (.*) \[(\w+)\]", line) for line in lines]
    return [(match[1], match[3], match[2]) for match in matches if match and match[3] not in ("KRM106", "KRM190")]


def places(folder: Path, path: str = "lab") -> list[tuple[str, str]]:
    """The place and the rule of each finding."""
    return [result[:2] for result in checked(folder, path)]


JSON_PATCH = "- op: add\n  path: /spec/driverVersio\n  value: '2'\n"
LISTED = "apiVersion: v1\nkind: List\nitems:\n" + "".join(
    "- " + text.replace("\n", "\n  ").rstrip(" ") for text in BASE.split("---\n")
)
PATCHED = "patches: [{path: p.yaml}]\n"
INLINE = "patches:\n- target: {kind: DeviceConfig, name: drv}\n"
KUSTOMIZATION = "resources: [../base]\nnamePrefix: lab-\n"
CHANGED: dict[str, tuple[dict[str, str], str]] = {
    "a json patch": (
        {"kustomization.yaml": f"{KUSTOMIZATION}{INLINE}  path: p.yaml\n", "p.yaml": f"# first\n{JSON_PATCH}"},
        "lab/p.yaml:4:3",
    ),
    "a json patch written out": (
        {"kustomization.yaml": f"{KUSTOMIZATION}{INLINE}  patch: |\n" + re.sub("(?m)^", "     ", JSON_PATCH)},
        "lab/kustomization.yaml:8:8",
    ),
    "a quoted patch": (
        {"kustomization.yaml": KUSTOMIZATION + INLINE + f"  patch: {json.dumps(JSON_PATCH)}\n"},
        "lab/kustomization.yaml:5:3",
    ),
    "a merge written out": (
        {"kustomization.yaml": f"{KUSTOMIZATION}patches:\n- patch: |-\n" + re.sub("(?m)^", "    ", FAULTY).rstrip(" ")},
        "lab/kustomization.yaml:12:7",
    ),
    "patchesStrategicMerge": (
        {"kustomization.yaml": f"{KUSTOMIZATION}patchesStrategicMerge: [p.yaml]\n", "p.yaml": FAULTY},
        "lab/p.yaml:8:3",
    ),
    "windows line ends": (
        {"kustomization.yaml": f"{KUSTOMIZATION}{PATCHED}", "p.yaml": FAULTY.replace("\n", "\r\n")},
        "lab/p.yaml:8:3",
    ),
    "a replacement": (
        {
            "kustomization.yaml": f"{KUSTOMIZATION}replacements:\n"
            "- source: {kind: DeviceConfig, name: drv, fieldPath: spec.driverVersion}\n"
            "  targets:\n  - select: {kind: DeviceConfig, name: drv}\n    fieldPaths:\n"
            "    - spec.driverVersio\n    options: {create: true}\n"
        },
        "lab/kustomization.yaml:8:7",
    ),
    "the outermost of two": (
        {
            "kustomization.yaml": f"resources: [mid]\n{PATCHED}",
            "p.yaml": FAULTY.replace("name: drv", "name: lab-drv"),
            "mid/kustomization.yaml": f"resources: [../../base]\nnamePrefix: lab-\n{PATCHED}",
            "mid/p.yaml": PATCH.replace('driverVersion: "2"', 'driverVersio: "1"'),
        },
        "lab/p.yaml:8:3",
    ),
    "a component": (
        {
            "kustomization.yaml": f"{KUSTOMIZATION}components: [part]\n",
            "part/kustomization.yaml": COMPONENT + PATCHED,
            "part/p.yaml": FAULTY,
        },
        "lab/part/p.yaml:8:3",
    ),
}


@pytest.mark.parametrize(("files", "place"), CHANGED.values(), ids=CHANGED)
@pytest.mark.parametrize("base", [BASE, LISTED], ids=["documents", "a List"])
def test_a_field_stands_where_it_was_set_last(
    kustomize: str, repository: Path, files: dict[str, str], place: str, base: str
) -> None:
    plant(repository, {"base/kustomization.yaml": "resources: [config.yaml]\n", "base/config.yaml": base})
    plant(repository / "lab", files)
    assert places(repository) == [(place, "KRM101")]


def test_what_a_patch_sets_in_part_stands_at_the_resource_and_says_so(kustomize: str, repository: Path) -> None:
    """The pods are the base's, and the patch adds one name: no line has the whole list."""
    base = BASE + "  daemonSets: [{name: a, image: 'r.example.com/a:1'}]\n"
    patch = PATCH.replace('driverVersion: "2"', "daemonSets: [{name: a, command: {a: b}}]")
    files = {**PLAIN, "base/config.yaml": base, "lab/patch.yaml": patch}
    plant(repository, files)
    assert {place for place, _ in places(repository)} == {"lab/patch.yaml:8:26"}
    copy = (
        "- {op: copy, from: /spec/driverVersion, path: /spec/driverVersio}\n"
        "- {op: add, path: /metadata/labels, value: {a: b}}\n"
    )
    plant(
        repository / "lab", {"kustomization.yaml": f"{KUSTOMIZATION}{INLINE}  path: patch.yaml\n", "patch.yaml": copy}
    )
    ((place, _, message),) = checked(repository)
    assert place == "base/config.yaml:19:1"
    assert message.endswith("(set by a patch of lab/kustomization.yaml)")


# Generated objects, and builds that call us.


def test_a_lint_of_the_call_and_of_its_result_is_one_finding(kustomize: str, repository: Path) -> None:
    """It stands at the field of the config or the functionConfig, also when kustomize has called us."""
    plant(
        repository,
        {**CALLING, "lab/patch.yaml": PATCH.replace("driverVersion", "driverImage").replace('"2"', "a:latest")},
    )
    assert places(repository) == [
        ("base/config.yaml:21:3", "KRM142"),
        ("lab/patch.yaml:8:3", "KRM225"),
        ("lab/patch.yaml:8:3", "KRM226"),
    ]
    defaults = CALLED.replace("imagePullPolicy: Always", "dirName: opt")
    plant(repository, {"lab/patch.yaml": PATCH, "lab/function.yaml": defaults})
    assert [place for place, _ in places(repository)] == ["lab/function.yaml:10:5"]


def test_a_module_that_is_patched_after_the_call_is_judged_at_the_patch(kustomize: str, repository: Path) -> None:
    patch = (
        "apiVersion: kmm.sigs.x-k8s.io/v1beta1\nkind: Module\nmetadata: {name: lab-drv, namespace: kmm}\nspec:\n"
        "  moduleLoader:\n    container:\n      kernelMappings:\n      - regexp: ^.+$\n"
        "        containerImage: r.example.com/drv:latest\n"
    )
    outer = {"kustomization.yaml": "resources: [../lab]\npatches: [{path: module.yaml}]\n", "module.yaml": patch}
    plant(plant(repository, CALLING) / "outer", outer)
    place, results = "outer/module.yaml:9:9", checked(repository, "outer")
    assert [result[:2] for result in results] == [(place, "KRM225"), (place, "KRM226")]
    assert results[0][2].startswith("Module kmm/lab-drv: spec.moduleLoader")


def test_a_config_that_is_patched_after_the_call_is_an_error(kustomize: str, repository: Path) -> None:
    """What is generated does not follow it. Names that kustomize changes later are none."""
    named = BASE.replace("moduleName: drv", "moduleName: drv\n  imagePullSecret: pull")
    files = {
        **CALLING,
        "base/config.yaml": named,
        "lab/kustomization.yaml": CALLING["lab/kustomization.yaml"] + "configurations: [names.yaml]\n"
        "secretGenerator: [{name: pull, namespace: kmm, literals: [a=b]}]\n",
        "lab/names.yaml": (ROOT / "gitops" / "kustomize" / "names" / "kustomize-configurations.yaml").read_text(),
        "outer/kustomization.yaml": "resources: [../lab]\n",
    }
    plant(repository, files)
    assert checked(repository, "outer") == []
    assert b"name: lab-pull-" in must("krmfn", "render", "outer", cwd=repository)
    patch = PATCH.replace("name: drv", "name: lab-drv").replace('"2"', '"3"')
    listing = "resources: [../lab]\npatches: [{path: patch.yaml}]\n"
    plant(repository, {"outer/kustomization.yaml": listing, "outer/patch.yaml": patch})
    ((place, rule, _),) = checked(repository, "outer")
    assert (place, rule) == ("outer/patch.yaml:8:3", "KRM515")
    run("krmfn", "render", "outer", cwd=repository).refused(1)
    inner = function("exec: {path: ptemplate}").replace("name: render", "name: other")
    plant(repository, {"outer/other.yaml": inner})  # which sees the patched config, and makes nothing of it
    text = "resources: [../lab]\npatches: [{path: patch.yaml}]\ntransformers: [other.yaml]\n"
    plant(repository, {"outer/kustomization.yaml": text})
    assert places(repository, "outer") == [("outer/patch.yaml:8:3", "KRM515")]


def test_a_namespace_of_the_function_config_is_one(kustomize: str, repository: Path) -> None:
    spaced = {
        **CALLING,
        "base/config.yaml": BASE.replace("  namespace: kmm\n", ""),
        "lab/patch.yaml": PATCH.replace("  namespace: kmm\n", ""),
        "lab/function.yaml": CALLED + "  namespace: kmm\n",
    }
    assert checked(plant(repository, spaced)) == []


def test_a_build_without_findings_is_built_once(kustomize: str, repository: Path) -> None:
    counting = f'#!/bin/sh\necho built >> {repository}/builds\nexec {kustomize} "$@"\n'
    program = plant(repository, {**PLAIN, "bin/kustomize": counting}) / "bin" / "kustomize"
    counted = path_of(program.parent) | {"KRMFN_CONFINE": "off"}
    assert run("krmfn", "check", "lab", env=counted, cwd=repository).code == 0
    assert (repository / "builds").read_text() == "built\n"


def test_what_stands_at_a_config_can_be_turned_off_there(kustomize: str, repository: Path) -> None:
    """The call and what judges its result ask the same resource."""
    base = BASE.replace("r.example.com/drv\n", "r.example.com/drv:latest\n").replace(
        '"true"}', '"true", krmfn.dev/ignore: "KRM225: the vendor has no other; KRM226: one kernel"}'
    )
    plain = {**CALLING, "base/config.yaml": base, "lab/kustomization.yaml": CALLING["lab/kustomization.yaml"]}
    plant(repository, {**plain, "lab/patch.yaml": PATCH.replace("driverVersion", "dirName").replace('"2"', "/opt/a")})
    assert {rule for _, rule in places(repository)} == {"KRM142"}


def test_overlaps_of_generated_modules_are_those_of_their_configs(kustomize: str, repository: Path) -> None:
    """One finding for both, and none twice; a Module whose selector is patched later claims by itself."""
    node = (
        "apiVersion: v1\nkind: Node\nmetadata:\n  name: NAME\n  labels: {a: NAME}\n"
        '  annotations: {config.kubernetes.io/local-config: "true"}\n'
    )
    files = {
        **CALLING,
        "base/kustomization.yaml": "resources: [config.yaml, nodes.yaml]\n",
        "base/config.yaml": BASE.replace("{a: other}", "{c: d}"),
        "base/nodes.yaml": node.replace("NAME", "b")
        + "---\n"
        + node.replace("NAME", "z").replace("{a: ", "{c: d, a: "),
    }
    plant(repository, files)
    assert places(repository) == [("base/config.yaml:23:3", "KRM302")]
    patch = (
        "apiVersion: kmm.sigs.x-k8s.io/v1beta1\nkind: Module\nmetadata: {name: lab-drv, namespace: kmm}\nspec:\n"
        "  selector: {a: nothing}\n"
    )
    outer = {"kustomization.yaml": "resources: [../lab]\npatches: [{path: module.yaml}]\n", "module.yaml": patch}
    plant(repository / "outer", outer)
    (finding,) = [entry for entry in places(repository, "outer") if entry[1] != "KRM302"]
    assert finding == ("outer/module.yaml:5:3", "KRM605")


def test_two_overlays_of_a_base_are_told_apart(kustomize: str, repository: Path) -> None:
    """The same patch in both: each finding stands in the overlay that its resource has gone through."""
    overlay = "resources: [../base]\nnamePrefix: NAME-\npatches: [{path: patch.yaml}]\n"
    files = {
        **{name: text for name, text in PLAIN.items() if name.startswith("base/")},
        "all/kustomization.yaml": "resources: [../dev, ../prod]\n",
        **{f"{name}/kustomization.yaml": overlay.replace("NAME", name) for name in ("dev", "prod")},
        **{f"{name}/patch.yaml": FAULTY for name in ("dev", "prod")},
    }
    plant(repository, files)
    faults = [entry for entry in places(repository, "all") if entry[1] == "KRM101"]
    assert faults == [("dev/patch.yaml:8:3", "KRM101"), ("prod/patch.yaml:8:3", "KRM101")]


def test_a_patch_that_replaces_all_annotations_hides_nothing(kustomize: str, repository: Path) -> None:
    """With them goes kustomize's note of where the resource comes from."""
    patch = '- {op: replace, path: /metadata/annotations, value: {config.kubernetes.io/local-config: "true"}}\n'
    files = {
        **PLAIN,
        "base/config.yaml": BASE.replace("moduleName: drv", "moduelName: drv"),
        "lab/kustomization.yaml": f"{KUSTOMIZATION}{INLINE}  path: patch.yaml\n",
        "lab/patch.yaml": patch,
    }
    plant(repository, files)
    assert places(repository) == [("base/config.yaml:22:3", "KRM101")]


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ("- |\n" + re.sub("(?m)^", "  ", CALLED), "lab/kustomization.yaml:16:7"),
        (f"- {json.dumps(CALLED)}\n", "lab/kustomization.yaml:6:3"),
    ],
)
def test_a_function_config_that_is_written_out(kustomize: str, repository: Path, written: str, place: str) -> None:
    called = PLAIN["lab/kustomization.yaml"] + f"transformers:\n{written}".replace("Always", "Sometimes").rstrip(" ")
    plant(repository, {**PLAIN, "lab/kustomization.yaml": called})
    assert places(repository) == [(place, "KRM110")]


ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: acc, namespace: kmm}\n"


@pytest.mark.parametrize("called", [False, True])
def test_what_a_generated_object_names_stands_where_the_name_is_written(
    kustomize: str, repository: Path, called: bool
) -> None:
    """In the config, in a patch of it, in the functionConfig."""
    files = {
        **(CALLING if called else PLAIN),
        "base/kustomization.yaml": "resources: [config.yaml, account.yaml]\n",
        "base/account.yaml": ACCOUNT,
        "base/config.yaml": BASE.replace("  moduleName: drv\n", "  moduleName: drv\n  serviceAccountName: acc\n"),
    }
    plant(repository, files)
    assert set(places(repository)) == {("base/config.yaml:23:3", "KRM703")}
    plant(repository, {"base/config.yaml": BASE, "lab/patch.yaml": PATCH + "  serviceAccountName: acc\n"})
    assert set(places(repository)) == {("lab/patch.yaml:9:3", "KRM703")}
    if called:
        shared = CALLED.replace("imagePullPolicy: Always", "serviceAccountName: acc")
        plant(repository, {"lab/patch.yaml": PATCH, "lab/function.yaml": shared})
        assert set(places(repository)) == {("lab/function.yaml:10:5", "KRM703")}


def test_what_may_be_one_of_several_stands_at_the_file(kustomize: str, repository: Path) -> None:
    """A patch has given it a name that nothing leads back from."""
    patch = (
        "- {op: replace, path: /metadata/name, value: new}\n- {op: add, path: /spec/driverVersio, value: a}\n"
        "- {op: remove, path: /spec/driverVersion}\n"
    )
    text = f"{KUSTOMIZATION}{INLINE}  path: patch.yaml\n  options: {{allowNameChange: true}}\n"
    plant(repository, {**PLAIN, "lab/kustomization.yaml": text, "lab/patch.yaml": patch})
    assert places(repository) == [("base/config.yaml", "KRM101")]


def test_a_config_that_is_removed_after_the_call_is_an_error(kustomize: str, repository: Path) -> None:
    patch = MERGED.replace("NAME", "lab-drv") + "$patch: delete\n"
    outer = "resources: [../lab]\npatches: [{path: patch.yaml}]\n"
    plant(repository, {**CALLING, "outer/kustomization.yaml": outer, "outer/patch.yaml": patch})
    ((place, rule, message),) = checked(repository, "outer")
    assert (place, rule) == ("base/config.yaml:12", "KRM515")
    assert "is generated from DeviceConfig kmm/lab-drv, which is removed after krmfn was called" in message
    plant(repository, {"outer/kustomization.yaml": "resources: [../lab]\nnamePrefix: a-\n"})
    rules = {rule for _, rule in places(repository, "outer")}
    assert "KRM514" in rules
    assert "KRM515" not in rules


def test_explain_says_where_each_field_of_a_config_in_a_kustomization_is_written(
    kustomize: str, tmp_path: Path
) -> None:
    """In the base, or in the patch of the overlay; an engine may have given the config another name."""
    plant(tmp_path, PLAIN)
    text = run("krmfn", "explain", "lab", "lab-drv", cwd=tmp_path).text
    rows = {line.split()[0]: line.split()[-2:] for line in text.splitlines()[2:]}
    assert rows["driverVersion"] == ["lab/patch.yaml:8:3:", "spec.driverVersion"], text
    assert rows["moduleName"] == ["base/config.yaml:22:3:", "spec.moduleName"], text


def test_findings_of_many_patches_stand_in_them(kustomize: str, tmp_path: Path) -> None:
    """So many are built without kustomize's notes; a patch of another resource before it changes nothing."""
    files, resources, patches = dict[str, str](), list[str](), list[str]()
    for at in range(60):
        files[f"{at}.yaml"] = MODULE.replace("NAME", f"m{at}")
        resources.append(f"{at}.yaml")
        patches.append(
            f"- patch: '{{apiVersion: {API}, kind: Module, metadata: {{name: m{at}, namespace: kmm}}, SPEC}}'\n"
        )
    spec = "spec: {moduleLoader: {container: {version: x y}}}"
    text = "".join(patch.replace("SPEC", spec if at == 41 else "spec: {}") for at, patch in enumerate(patches))
    files["kustomization.yaml"] = f"resources: [{', '.join(resources)}]\npatches:\n{text}"
    plant(tmp_path, files)
    done = run("krmfn", "check", ".", cwd=tmp_path)
    assert re.findall(r"^(\S+?:\d+):\d+: error: Module kmm/(\S+):", done.text, re.M) == [
        ("kustomization.yaml:44", "m41")
    ]
