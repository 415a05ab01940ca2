"""A Profile as `explain`, `schema` and `crd` say it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.commands import example, process
from tests.examples import some_of
from tests.functions.profile.vendor import CR, PROFILE

AMD = str(example("vendor-profiles/amd-gpu"))


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "profile.yaml").write_text(PROFILE)
    return str(tmp_path)


def explained(*names: str) -> list[str]:
    return process("krmfn", "explain", *names).ended(0, "").text.splitlines()


def refused(command: str, *names: str) -> str:
    return process("krmfn", command, *names).refused()


def test_options_are_a_table(folder: str) -> None:
    lines = explained("amd-gpu", folder)
    assert lines[:2] == ["amd-gpu@1.4.1", "for DeviceConfig of amd.com/v1alpha1"]
    rows = [line.split() for line in lines[4:]]
    assert ["spec.exporter.port", "number", "from", "1", "to", "65535", "5000"] in rows
    assert ["spec.exporter.enable", "true", "or", "false", "false"] in rows


def test_what_an_option_sets_is_said_also_where_its_switch_is_off(folder: str) -> None:
    lines = explained("amd-gpu.spec.exporter.port", folder)
    at = lines.index("  with spec.exporter.enable: true")
    container = "    DaemonSet x-metrics  spec.template.spec.containers[name=metrics]"
    ends = (".args[0]", ".env[name=PORT].value", ".ports[name=metrics].containerPort")
    assert lines[at + 1 :] == [f"{container}{end}" for end in ends]
    assert lines[at - 1] == "sets, in what is made of a config called x:"
    assert explained("amd-gpu.spec.exporter.enable", folder)[-1] == "  DaemonSet x-metrics  (the whole object)"


@pytest.mark.parametrize(
    ("option", "line"),
    some_of(
        [
            ("metricsExporter.nodePort", "nodePort"),
            ("driver.blacklist", "initContainers"),
            ("driver.upgradePolicy.enable", "ignored"),
            ("devicePlugin.devicePluginArguments", "command"),
        ]
    ),
)
def test_options_of_amd_set_something_or_say_why_not(option: str, line: str) -> None:
    assert any(line in row for row in explained(f"amd-gpu.spec.{option}", AMD)[2:]), option


def test_an_option_that_needs_what_was_not_tried_is_not_said_to_set_nothing(tmp_path: Path) -> None:
    profile = yaml.safe_load(PROFILE)
    profile["spec"]["schema"]["properties"]["spec"]["properties"]["lib"] = {"type": "string"}
    profile["spec"]["when"].append({"if": {"metadata.name": "special"}, "config": {"firmwarePath": "${spec.lib}"}})
    (tmp_path / "profile.yaml").write_text(yaml.safe_dump(profile))
    (line,) = explained("amd-gpu.spec.lib", str(tmp_path))[4:]
    assert line.startswith("no value that was tried changes")


def test_the_schema_takes_a_config_and_refuses_a_typo(folder: str) -> None:
    validator = Draft202012Validator(json.loads(process("krmfn", "schema", "amd-gpu", folder).text))
    validator.check_schema(validator.schema)
    assert not list(validator.iter_errors(CR))
    wrongs: list[Any] = [{"drvier": {}}, {"driver": {"image": 1, "version": "1"}}, {"exporter": {"port": 0}}]
    for wrong in wrongs:
        assert list(validator.iter_errors({**CR, "spec": {**CR["spec"], **wrong}}))
    assert list(validator.iter_errors({**CR, "apiVersion": "amd.com/v1"}))


def test_the_schema_asks_nobody_to_write_what_has_a_default(tmp_path: Path) -> None:
    """An editor underlined a config that the API server completes."""
    profile = yaml.safe_load(PROFILE)
    driver = profile["spec"]["schema"]["properties"]["spec"]["properties"]["driver"]
    driver["properties"]["version"]["default"] = "1"
    (tmp_path / "profile.yaml").write_text(yaml.safe_dump(profile))
    validator = Draft202012Validator(json.loads(process("krmfn", "schema", "amd-gpu", str(tmp_path)).text))
    errors = [error.message for error in validator.iter_errors({**CR, "spec": {"driver": {}}})]
    assert errors == ["'image' is a required property"]


def test_the_schema_of_a_profile_without_a_kind_is_that_of_a_deviceconfig_with_its_options(tmp_path: Path) -> None:
    profile = yaml.safe_load(PROFILE)
    del profile["spec"]["for"]
    (tmp_path / "profile.yaml").write_text(yaml.safe_dump(profile))
    validator = Draft202012Validator(json.loads(process("krmfn", "schema", "amd-gpu", str(tmp_path)).text))
    config = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "DeviceConfig", "metadata": {"name": "gpu"}}
    spec = {"profile": "amd-gpu", "options": CR["spec"]}
    assert not list(validator.iter_errors({**config, "spec": spec}))
    assert list(validator.iter_errors({**config, "spec": {**spec, "options": {"drvier": {}}}}))
    assert "is for no kind of its own" in refused("crd", "amd-gpu", str(tmp_path))


def test_a_folder_of_its_name_does_not_hide_a_profile(folder: str) -> None:
    beside, path = Path(folder, "work"), Path(folder, "profile.yaml")
    (beside / "amd-gpu").mkdir(parents=True)
    for names in (("amd-gpu", str(path)), ("amd-gpu", str(folder))):
        done = process("krmfn", "explain", *names, cwd=beside).ended(0, "")
        assert done.text.startswith("amd-gpu@1.4.1\n")
    config = "apiVersion: krmfn.dev/v1alpha1\nkind: DeviceConfig\nmetadata: {name: amd-gpu, namespace: kmm}\n"
    spec = "spec: {driverImage: registry.example.com/d, driverVersion: '1', moduleName: d, nodeSelector: {a: b}}\n"
    (beside / "configs.yaml").write_text(config + spec)
    done = process("krmfn", "explain", "configs.yaml", "amd-gpu", cwd=beside).ended(0, "")
    assert done.text.startswith("DeviceConfig kmm/amd-gpu\n"), "a config in a PATH, not a Profile in a folder"


def test_what_an_option_switches_on_is_explained(folder: str) -> None:
    profile = yaml.safe_load(PROFILE)
    del profile["spec"]["when"]
    profile["spec"]["config"]["daemonSets"][0]["enabled"] = "${spec.exporter.enable}"
    Path(folder, "profile.yaml").write_text(yaml.safe_dump(profile))
    assert "containerPort" in process("krmfn", "explain", "amd-gpu.spec.exporter.port", folder).text


def test_the_plural_of_a_policy(folder: str) -> None:
    Path(folder, "profile.yaml").write_text(PROFILE.replace("kind: DeviceConfig}", "kind: NpuPolicy}"))
    assert "name: npupolicies.amd.com\n" in process("krmfn", "crd", "amd-gpu", folder).text


@pytest.mark.parametrize(("plural", "name"), [("", "deviceconfigs.amd.com"), (", plural: devcfgs", "devcfgs.amd.com")])
def test_the_definition_has_the_vendors_kind(folder: str, plural: str, name: str) -> None:
    text = PROFILE.replace("kind: DeviceConfig}", f"kind: DeviceConfig{plural}}}")
    Path(folder, "profile.yaml").write_text(text)
    definition = yaml.safe_load(process("krmfn", "crd", "amd-gpu", folder).text)
    assert definition["metadata"]["name"] == name
    assert [(version["name"], version["storage"]) for version in definition["spec"]["versions"]] == [("v1alpha1", True)]
    written = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert written == yaml.safe_load(text)["spec"]["schema"]["properties"]["spec"]


def test_names_that_are_nearly_there_are_told(folder: str) -> None:
    assert "did you mean amd-gpu?" in refused("explain", "amd-gpo", folder)
    assert "did you mean amd-gpu?" in refused("schema", "amd-gpo", folder)
    assert "did you mean amd-gpu?" in refused("crd", "amd-gpo", folder)
    assert "did you mean amd-gpu.spec.exporter.port?" in refused("explain", "amd-gpu.spec.exporter.prt", folder)
    assert "did you mean DeviceConfig?" in refused("schema", "DeviceConfg")
    assert "pass the PATH" in refused("crd", "amd-gpu")


def test_two_of_a_name_and_one_that_is_wrong_are_refused(folder: str) -> None:
    Path(folder, "other.yaml").write_text(PROFILE.replace("1.4.1", "1.4.2"))
    assert "several Profiles called amd-gpu" in refused("explain", "amd-gpu", folder)
    Path(folder, "other.yaml").unlink()
    Path(folder, "profile.yaml").write_text(PROFILE.replace("texts:", "txets:"))
    assert "profile.yaml:" in refused("explain", "amd-gpu", folder)


@pytest.mark.parametrize("command", ["explain", "schema", "crd"])
def test_nothing_is_said_of_a_profile_with_errors_or_beside_what_cannot_be_read(folder: str, command: str) -> None:
    Path(folder, "profile.yaml").write_text(PROFILE.replace("image: {type: string}", "image: {}", 1))
    assert "a structural schema has a type everywhere" in refused(command, "amd-gpu", folder)
    Path(folder, "profile.yaml").write_text(PROFILE)
    Path(folder, "other.yaml").write_text("apiVersion: krmfn.dev/v1alpha1\nkind: Profile\nmetadata: {name: amd-gpu\n")
    assert "other.yaml:4: " in refused(command, "amd-gpu", folder)
