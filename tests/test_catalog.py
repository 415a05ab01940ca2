"""The functions of examples/catalog, each on a list; `make conformance` runs the catalogue's own cases."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from krmfn import ResourceList
from krmfn.testing import golden
from krmfn.yamltext import emit
from tests.commands import ROOT

FOLDER = ROOT / "examples/catalog"
NAMES = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
WEB = """\
- apiVersion: apps/v1
  kind: Deployment
  metadata: # who
    name: web # its name
    namespace: old # where
    annotations:
      internal.config.kubernetes.io/path: a/web.yaml
  spec:
    replicas: 3 # kpt-set: ${count}
    template:
      spec:
        containers:
        - name: app
          image: "shop:1" # kpt-set: shop:${tag}
          args: # kpt-set: ${args}
          - a
          - b # of b
          envFrom:
          - configMapRef: {name: conf} # by name
"""
CONF = """\
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: conf, namespace: old}
"""
AB, BC = "- a\n          - b # of b", "- b # of b\n          - c"
EXACT = ("set-namespace", "set-image", "apply-setters", "list-setters", "search-replace", "ensure-name-substring")
"""Those whose changes are all named below."""
CASES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "set-labels": ({"team": "x"}, {"namespace: old # where\n": "namespace: old # where\n"}),
    "set-annotations": ({"team": "x"}, {"a/web.yaml\n": "a/web.yaml\n      team: x\n"}),
    "set-namespace": ({"namespace": "new"}, {"namespace: old": "namespace: new"}),
    "set-image": ({"name": "shop", "newTag": "2"}, {'"shop:1"': '"shop:2"'}),
    "apply-setters": (
        {"count": "5", "tag": "2", "args": "[b, c]"},
        {"replicas: 3": "replicas: 5", '"shop:1"': '"shop:2"', AB: BC},
    ),
    "create-setters": ({"old": "old"}, {"# where": "# where"}),
    "list-setters": ({}, {}),
    "search-replace": ({"by-path": "spec.*", "by-value": "3", "put-value": "7"}, {"replicas: 3": "replicas: 7"}),
    "upsert-resource": ({}, {}),
    "ensure-name-substring": ({"prepend": "x-"}, {"name: web #": "name: x-web #", "name: conf": "name: x-conf"}),
    "apply-replacements": (
        {
            "replacements": "[{source: {kind: ConfigMap, name: conf}, targets: "
            "[{kind: Deployment, fieldPaths: ['spec.template.spec.containers[*].image']}]}]"
        },
        {'"shop:1"': '"conf"'},
    ),
    "remove-local-config-resources": ({}, {}),
    "enforce-fields": ({}, {}),
    "fix-versions": ({}, {}),
    "generate-from-template": ({"names": "[]", "template": "{}"}, {}),
    "specialize-interfaces": ({}, {}),
}


GOLDENS = sorted(path for path in (ROOT / "tests/catalog").iterdir() if path.is_dir())
assert GOLDENS
BUDGET = """\
- apiVersion: policy/v1beta1
  kind: PodDisruptionBudget
  metadata: {name: all} # of all
  spec: {selector: {}}
"""
SET = BUDGET.replace("policy/v1beta1", "apps/v1beta1").replace("PodDisruptionBudget", "StatefulSet")
INTERFACE = """\
- apiVersion: req.nephio.org/v1alpha1
  kind: Interface
  metadata: {name: n3}
  spec: {cniType: sriov}
"""
MISSING = (
    "[{source: {kind: ConfigMap, name: conf}, targets: [{kind: ConfigMap, fieldPaths: [data.none]}]}]",
    "[{source: {kind: ConfigMap, name: none}, targets: []}]",
)
REFUSED: list[tuple[str, str, dict[str, str], str]] = [
    ("apply-replacements", CONF, {"replacements": MISSING[0]}, "no ConfigMap has a field data.none"),
    ("apply-replacements", CONF, {"replacements": MISSING[1]}, "0 resources are ConfigMap none"),
    (
        "enforce-fields",
        CONF,
        {"rules": "[{path: data.a, required: true, message: add it}]"},
        "data.a: is missing: add it",
    ),
    ("enforce-fields", CONF, {"rules": "[{path: a, message: b, pattern: '('}]"}, "is no regular expression"),
    ("fix-versions", BUDGET, {}, "selects no pod in v1beta1 and every pod in v1"),
    ("fix-versions", BUDGET.replace("{}", "{matchLabels: {}}"), {}, "selects no pod in v1beta1 and every pod in v1"),
    ("fix-versions", BUDGET.replace("Budget", "Thing"), {}, "policy/v1beta1 is no longer served"),
    ("fix-versions", SET, {}, "without spec.updateStrategy v1beta1 updates on delete"),
    ("generate-from-template", CONF, {"names": "['a: b']", "template": "kind: $name"}, "'a: b' is no name"),
    ("generate-from-template", CONF, {"names": "[a]", "template": "kind: $other"}, "another variable than $name"),
    ("specialize-interfaces", INTERFACE, {}, "spec.cniType: is 'sriov'; must be ipvlan or macvlan"),
]
"""A function, an item, a config's data, and a part of what it says."""


def loaded(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"catalog_{name.replace('-', '_')}", FOLDER / name / "function.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, name.replace("-", "_"))


def test_every_function_has_a_case() -> None:
    assert sorted(CASES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_function_changes_what_it_says_and_nothing_else(name: str) -> None:
    data, changes = CASES[name]
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "config"}, "data": data}
    text = HEAD + WEB + CONF + emit.dump({"functionConfig": config})
    function = loaded(name)
    done = function.run(text.encode())
    assert done.code == 0, done.stderr
    output = done.output.decode().partition("functionConfig:")[0]
    for old, new in changes.items():
        assert new in output
        output = output.replace(new, old)
    if name in EXACT:
        assert output == HEAD + WEB + CONF
    assert set(re.findall("#.*", WEB)) <= {*re.findall("#.*", done.output.decode())}
    assert function.run(done.output).output == done.output or name in ("search-replace", "set-image", "set-namespace")


@pytest.mark.parametrize("folder", GOLDENS, ids=lambda folder: folder.name)
def test_the_golden_cases(folder: Path) -> None:
    golden(loaded(folder.name), folder)


@pytest.mark.parametrize(("name", "item", "data", "message"), REFUSED)
def test_what_is_refused_changes_nothing(name: str, item: str, data: dict[str, str], message: str) -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "config"}, "data": data}
    text = f"{HEAD}{item}{emit.dump({'functionConfig': config})}"
    done = loaded(name).run(text.encode())
    assert done.code == 1
    assert message in done.stderr
    assert done.output.decode().partition("functionConfig:")[0] == HEAD + item


@pytest.mark.parametrize("name", NAMES)
def test_a_function_is_a_program_with_a_help(name: str) -> None:
    path = FOLDER / name / "function.py"
    done = subprocess.run([sys.executable, path, "--help"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert name in done.stdout
    assert path.stat().st_mode & 0o111


@pytest.mark.parametrize("name", NAMES)
def test_only_public_names_are_used(name: str) -> None:
    import krmfn

    text = (FOLDER / name / "function.py").read_text()
    imported = re.findall(r"^(?:from|import) +(krmfn\S*)(?: import (.*))?$", text, re.MULTILINE)
    assert [module for module, _ in imported] == ["krmfn"]
    assert {word.strip() for word in imported[0][1].split(",")} <= {*krmfn.__all__}


def test_a_second_item_with_one_name_is_upserted_too() -> None:
    config = "  " + CONF[2:].replace("metadata: {", "data: {a: b}\n  metadata: {")
    done = loaded("upsert-resource").run(f"{HEAD}{CONF}{CONF}functionConfig:\n{config}".encode())
    assert (done.code, [item.manifest.get("data") for item in done.items]) == (0, [{"a": "b"}, {"a": "b"}])
    assert ResourceList.parse(done.output).items[0].name == "conf"


def test_what_is_made_of_an_interface_goes_with_it_and_with_its_type() -> None:
    function = loaded("specialize-interfaces")
    text = f"{HEAD}{INTERFACE.replace('sriov', 'macvlan')}"
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "config"}, "data": {}}
    made = function.run(f"{text}{emit.dump({'functionConfig': config})}".encode())
    assert [item.kind for item in made.items] == ["Interface", "NetworkAttachmentDefinition"]
    assert "namespace" not in made.items[1].manifest["metadata"]
    again = function.run(made.output.replace(b"spec: {cniType: macvlan}", b"spec: {}"))
    assert (again.code, [item.kind for item in again.items]) == (0, ["Interface"])
    resources = ResourceList.parse(made.output)
    resources.remove(resources.items[0])
    assert function.run(resources).items == []
