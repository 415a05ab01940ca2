"""`check --fix`: what it mends, at which place; what it never touches; and that it writes all or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import Done, process
from tests.trees import plant

CONFIG = """\
# the cards of the lab
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  moduleName: gpu # as modprobe knows it

  driverImage: registry.example.com/gpu
  driverVersion: "1.10"   # the vendor's
  nodeSelector: {example.com/card: "gpu"}
"""
OTHER = CONFIG.replace("gpu", "nic")


def check(folder: Path, *args: str) -> Done:
    return process("krmfn", "check", ".", *args, cwd=folder)


def content(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("driverVersion:", "driverVerson:"),
        ('"driverVersion":', '"driverVerison":'),
        ("'moduleName': gpu", "'modulName': gpu"),
        ("nodeSelector: {example", "nodeSelecter: {example"),
        ('"1.10"', "1.10"),
        ('"1"', "1"),
        ('"2026-01-01"', "2026-01-01"),
        ('spec: {"moduleName": m,', 'spec: {"moduleNam": m,'),
        ('arguments: ["1.10", "y"]', "arguments: [1.10, y]"),
    ],
)
def test_what_has_one_correction_is_mended_at_its_place(tmp_path: Path, right: str, wrong: str) -> None:
    texts = {
        '"driverVersion":': CONFIG.replace("driverVersion", '"driverVersion"'),
        "'moduleName': gpu": CONFIG.replace("moduleName", "'moduleName'"),
        '"1"': CONFIG.replace("1.10", "1"),
        '"2026-01-01"': CONFIG.replace("1.10", "2026-01-01"),
        'spec: {"moduleName": m,': CONFIG[: CONFIG.index("spec:")]
        + 'spec: {"moduleName": m, driverImage: registry.example.com/m, driverVersion: "1",\n'
        + "  nodeSelector: {example.com/card: m}}\n",
        'arguments: ["1.10", "y"]': CONFIG
        + '  daemonSets:\n  - name: watch\n    image: registry.example.com/watch:1.0\n    args: ["1.10", "y"]\n',
    }
    text = texts.get(right, CONFIG)
    right, wrong = right.replace("arguments", "args"), wrong.replace("arguments", "args")
    assert right in text
    before = check(plant(tmp_path, {"a.yaml": text, "b.yaml": OTHER}))
    assert before.code == 0
    done = check(plant(tmp_path, {"a.yaml": text.replace(right, wrong)}), "--fix")
    assert done.code == 0, done
    assert done.err.startswith("mended ")
    assert content(tmp_path) == {"a.yaml": text, "b.yaml": OTHER}
    assert done.out == before.out


def test_diff_prints_and_writes_nothing(tmp_path: Path) -> None:
    files = {"a.yaml": CONFIG.replace("driverVersion", "driverVerson"), "b.yaml": OTHER}
    done = check(plant(tmp_path, files), "--fix", "--diff").ended(1, "")
    assert done.text.splitlines()[:2] == ["--- a.yaml", "+++ a.yaml"]
    assert '-  driverVerson: "1.10"   # the vendor\'s\n+  driverVersion: "1.10"   # the vendor\'s\n' in done.text
    assert content(tmp_path) == files
    check(plant(tmp_path, {"a.yaml": CONFIG}), "--diff").ended(0, "")


def test_a_finding_says_its_mend_as_data(tmp_path: Path) -> None:
    text = CONFIG.replace("driverVersion", "driverVerson").replace("moduleName: gpu", "moduleName: 1.10")
    document = json.loads(check(plant(tmp_path, {"a.yaml": text}), "--format", "json").text)
    facts = {finding["path"]: finding["facts"].get("mend") for finding in document["findings"]}
    assert facts["spec.driverVerson"] == ["rename", "driverVerson", "driverVersion"]
    assert facts["spec.moduleName"] == ["quote"]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("driverVersion:", "driverVers:"),  # two letters
        ("kind: DeviceConfig", "kind: DeviceConfi"),
        ('"gpu"', "true"),
        ('"gpu"', "y"),
        ("driverImage: registry.example.com/gpu", "driverImage: 1.10"),
        ("namespace: kmm", "namespace: y"),
        ("name: gpu", "name: 1.10"),
        ("namespace: kmm}", "namespace: kmm, labels: {a: 1.10}}"),
        ("krmfn.dev/v1alpha1", "krmfn.dev/v1alpha"),
    ],
)
def test_what_is_not_sure_stays(tmp_path: Path, right: str, wrong: str) -> None:
    files = {"a.yaml": CONFIG.replace(right, wrong)}
    before = check(plant(tmp_path, files)).ended(1)
    done = check(tmp_path, "--fix").ended(1, "")
    assert done.out == before.out
    assert content(tmp_path) == files
