"""`krmfn explain` of a field, and of a config in a path."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.commands import ROOT, process
from tests.tables import table

CASES = table(__file__, "explain_fields.yaml")

CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: render}
spec:
  defaults:
    imagePullPolicy: Always
  profiles:
    gpu:
      moduleName: gpu
      daemonSets:
      - name: agent
        image: registry.example.com/agent:1
        args: [-v]
---
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  profile: gpu
  driverImage: registry.example.com/gpu
  driverVersion: "1"
  daemonSets:
  - name: agent
    args: [-q]
  nodePools:
  - name: old
    nodeSelector: {gpu: old}
    driverVersion: "0.9"
"""


def test_a_field() -> None:
    done = process("krmfn", "explain", "deviceconfig.spec.devicePlugin.volumes").ended(0, "")
    head, _, example = done.text.partition("\nexample:\n")
    assert "  ends up in     Module spec.devicePlugin.volumes\n" in head
    assert "  of two layers  entry by entry, by name, each whole\n" in head
    assert "  since KMM      2.4\n" in head
    assert "  hostPath " in head
    assert yaml.safe_load(example)["spec"]["devicePlugin"]["volumes"]


@pytest.mark.parametrize(
    "name", ["ptemplate.spec.maxdev", "nodeinventory.spec", "DeviceConfig.spec", "renderdeviceconfigs"]
)
def test_a_field_of_each_kind(name: str) -> None:
    assert process("krmfn", "explain", name).code == 0


def test_a_rule_and_a_field() -> None:
    done = process("krmfn", "explain", "KRM301", "deviceconfig.spec.dirName")
    assert done.text.startswith("KRM301: ")
    assert "\ndeviceconfig.spec.dirName\n" in done.text


@pytest.mark.parametrize(("name", "hint"), CASES["an_unknown_field"])
def test_an_unknown_field(name: str, hint: str) -> None:
    assert f"unknown field {name}; {hint}" in process("krmfn", "explain", name).refused()


def test_the_layers_of_a_config_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(CONFIG)
    lines = process("krmfn", "explain", "all.yaml", "gpu", cwd=tmp_path).ended(0, "").text.splitlines()
    assert lines[0] == "DeviceConfig kmm/gpu, node pool old"
    rows = {line.split()[0]: line.split()[1:] for line in lines[2:] if line}
    assert rows["imagePullPolicy"] == ['"Always"', "all.yaml:6:5:", "spec.defaults.imagePullPolicy"]
    assert rows["moduleName"] == ['"gpu"', "all.yaml:9:7:", "spec.profiles.gpu.moduleName"]
    assert rows["daemonSets[0].image"][1:] == ["all.yaml:12:9:", "spec.profiles.gpu.daemonSets[0].image"]
    assert rows["daemonSets[0].args[0]"] == ['"-q"', "all.yaml:24:12:", "spec.daemonSets[0].args[0]"]
    assert rows["driverVersion"] == ['"0.9"', "all.yaml:28:5:", "spec.nodePools[0].driverVersion"]


@pytest.mark.parametrize(("args", "message"), CASES["which_config"])
def test_which_config(tmp_path: Path, args: list[str], message: str) -> None:
    (tmp_path / "all.yaml").write_text(CONFIG)
    assert message in process("krmfn", "explain", *args, cwd=tmp_path).refused()


FAST = """\
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: fast}
spec:
  for: {group: fast.example.org, versions: [v1], kind: FastNic}
  schema: {type: object, properties: {spec: {type: object, properties: {module: {type: string, default: fast}}}}}
  config: {moduleName: "${spec.module}", driverImage: registry.example.com/fast, driverVersion: "1", allNodes: true}
---
apiVersion: fast.example.org/v1
kind: FastNic
metadata: {name: nic, namespace: kmm}
spec: {module: fast2}
---
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: settings}
spec: {overrides: {fast: {driverVersion: "2"}}}
"""


def test_the_layers_of_a_config_of_a_vendor_s_kind(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(FAST)
    done = process("krmfn", "explain", "all.yaml", "nic", cwd=tmp_path)
    rows = {line.split()[0]: line.split()[1:] for line in done.text.splitlines() if line}
    assert rows["moduleName"] == ['"fast2"', "all.yaml:7:12:", "spec.config.moduleName"]
    assert rows["driverVersion"] == ['"2"', "all.yaml:17:27:", "spec.overrides.fast.driverVersion"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{module: fast2}", "{modul: fast2}", "did you mean 'module'?"),
        ("{module: fast2}", "{module: 'a ${spec.b}'}", "it is not read again"),
        ('"${spec.module}"', '"${spec.modul}"', "the schema has no spec.modul"),
        ("name: nic", "name: nix", "no DeviceConfig is called nic in all.yaml; it contains: kmm/nix"),
    ],
)
def test_a_config_of_a_vendor_s_kind_that_is_wrong(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "all.yaml").write_text(FAST.replace(old, new))
    assert message in process("krmfn", "explain", "all.yaml", "nic", cwd=tmp_path).ended(2).err


def test_a_config_that_does_not_fit_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(CONFIG.replace('driverVersion: "1"', "driverVersion: 1.10"))
    assert "all.yaml:21:" in process("krmfn", "explain", "all.yaml", "gpu", cwd=tmp_path).ended(2).err


def test_what_the_seed_operator_fixes_is_said(tmp_path: Path) -> None:
    example = next(
        path for path in sorted(ROOT.glob("examples/**/*.yaml")) if "apiVersion: example.com/" in path.read_text()
    )
    documents = yaml.safe_load_all(example.read_text())
    item = next(document for document in documents if document["apiVersion"].startswith("example.com"))
    item["metadata"].pop("annotations", None)
    (tmp_path / "seed.yaml").write_text(yaml.safe_dump(item))
    done = process("krmfn", "explain", "seed.yaml", item["metadata"]["name"], cwd=tmp_path)
    assert "the he-sample operator's own code" in done.text


def test_a_function_config_that_is_wrong_or_there_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(CONFIG.replace("defaults:", "default:"))
    assert "spec.default: unknown field" in process("krmfn", "explain", "all.yaml", "gpu", cwd=tmp_path).ended(2).err
    head, _, config = CONFIG.partition("---\n")
    (tmp_path / "all.yaml").write_text(f"{head}---\n{head.replace('render', 'other')}---\n{config}")
    done = process("krmfn", "explain", "all.yaml", "gpu", cwd=tmp_path)
    assert (done.code, "all.yaml holds 2 functionConfigs" in done.err) == (2, True)


@pytest.mark.parametrize("name", ["driverVersion", "spec.driverVersion", "deviceconfig.spec.driverVersion"])
def test_a_field_is_found_by_its_last_name(name: str) -> None:
    assert process("krmfn", "explain", name).text.startswith("deviceconfig.spec.driverVersion\n")
