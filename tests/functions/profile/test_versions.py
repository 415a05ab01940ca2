"""`for.schemas`: a Profile whose kind has another schema in each version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from krmfn_functions.profile import versions

from tests.commands import process

PROFILE = """\
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: acme}
spec:
  for:
    group: acme.example.com
    kind: Npu
    schemas:
      v1:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [driver]
            properties:
              driver:
                type: object
                required: [image]
                properties: {image: {type: string}, version: {type: string, default: "2"}}
              port: {type: integer}
      v1alpha1:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [image]
            properties: {image: {type: string}, version: {type: string, default: "1"}}
  refuse:
  - if: {spec.driver.version: "0"}
    message: version 0 is no release
  config:
    moduleName: npu
    nodeSelector: {of: "${metadata.name}"}
    driverImage: ${spec.image}
    driverVersion: ${spec.version}
  when:
  - if:
      spec.driver: {exists: true}
    config: {driverImage: "${spec.driver.image}", driverVersion: "${spec.driver.version}"}
  - if:
      spec.port: {exists: true}
    config: {daemonSets: [{name: exporter, image: "r.example.com/e:1", args: ["--port=${spec.port}"]}]}
"""
OLD = {"image": "r.example.com/old"}
NEW = {"driver": {"image": "r.example.com/new"}, "port": 5}


def config(version: str, spec: Any) -> str:
    head = {"apiVersion": f"acme.example.com/{version}", "kind": "Npu"}
    return json.dumps({**head, "metadata": {"name": f"npu-{version}", "namespace": "acme"}, "spec": spec})


def folder(path: Path, profile: str = PROFILE, **configs: Any) -> str:
    (path / "profile.yaml").write_text(profile)
    for version, spec in configs.items():
        (path / f"{version}.json").write_text(config(version, spec))
    return str(path)


def findings(path: str) -> list[tuple[str, str, int]]:
    done = process("krmfn", "check", path, "--format", "json")
    return [(row["rule"], row["path"] or "", row["line"]) for row in json.loads(done.out)["findings"]]


def images(path: str) -> list[str]:
    text = process("krmfn", "render", path, "--quiet").ended(0, "").text
    return [line.split(": ")[1] for line in text.splitlines() if "containerImage" in line]


def test_each_config_has_the_schema_and_the_defaults_of_its_version(tmp_path: Path) -> None:
    path = folder(tmp_path, v1=NEW, v1alpha1=OLD)
    assert findings(path) == []
    assert sorted(images(path)) == [
        "r.example.com/new:2-$KERNEL_FULL_VERSION",
        "r.example.com/old:1-$KERNEL_FULL_VERSION",
    ]


def _tag(default: str) -> Any:
    return {"type": "string", "default": default}


def test_equal_options_of_two_versions_have_other_defaults(tmp_path: Path) -> None:
    schemas = {
        version: {"type": "object", "properties": {"spec": {"type": "object", "properties": {"tag": tag}}}}
        for version, tag in (
            ("v1", {"type": "string", "default": "2"}),
            ("v1alpha1", {"type": "string", "default": "1"}),
        )
    }
    profile = yaml.safe_load(PROFILE)
    for word in ("refuse", "when"):
        del profile["spec"][word]
    profile["spec"]["for"]["schemas"] = schemas
    drivers = {"driverImage": "r.example.com/d", "driverVersion": "${spec.tag}", "nodeSelector": {"tag": "${spec.tag}"}}
    profile["spec"]["config"] |= drivers
    path = folder(tmp_path, json.dumps(profile), v1={}, v1alpha1={})
    assert findings(path) == []
    assert sorted(images(path)) == [f"r.example.com/d:{tag}-$KERNEL_FULL_VERSION" for tag in ("1", "2")]


def test_an_option_of_another_version_is_unknown(tmp_path: Path) -> None:
    assert [row[:2] for row in findings(folder(tmp_path, v1=NEW, v1alpha1=OLD | {"port": 5}))] == [
        ("KRM101", "spec.port")
    ]


def test_a_version_without_a_schema_is_not_driven(tmp_path: Path) -> None:
    assert [row[0] for row in findings(folder(tmp_path, v1=NEW, v2=NEW))] == ["KRM107"]


WRONG = [
    ("driverVersion: ${spec.version}", "driverVersion: x${spec.version}", "spec.config.driverVersion"),
    ("driverVersion: ${spec.version}", "driverVersion: ${spec.versoin}", "spec.config.driverVersion"),
    ("port: {type: integer}", "port: {type: integer, uniqueItems: true}", None),
    ("port: {type: integer}", "port: {type: integer, default: x}", None),
    ("kind: Npu", "kind: Npu\n    versions: [v1, v3]", "spec.for.schemas"),
    ("  config:", "  schema: {type: object}\n  config:", "spec.schema"),
]


@pytest.mark.parametrize(("old", "new", "field"), WRONG)
def test_what_is_wrong_in_one_version(tmp_path: Path, old: str, new: str, field: str | None) -> None:
    rows = findings(folder(tmp_path, PROFILE.replace(old, new, 1)) + "/profile.yaml")
    start = field or "spec.for.schemas.v1.properties.spec.properties.port"
    assert [rule for rule, path, line in rows if path.startswith(start) and line > 4] == ["KRM180"], rows


def test_versions_or_schemas_are_written(tmp_path: Path) -> None:
    profile = yaml.safe_load(PROFILE)
    del profile["spec"]["for"]["schemas"]
    for word in ("refuse", "when"):
        del profile["spec"][word]
    profile["spec"]["config"] |= {"driverImage": "r.example.com/d", "driverVersion": "1"}
    rows = findings(folder(tmp_path, json.dumps(profile)) + "/profile.yaml")
    assert ("KRM180", "spec.for.versions") in [row[:2] for row in rows]


def test_an_option_that_nothing_reads_is_told_at_its_version(tmp_path: Path) -> None:
    profile = PROFILE.replace("port: {type: integer}", "port: {type: integer}\n              idle: {type: string}")
    ((rule, path, _),) = findings(folder(tmp_path, profile) + "/profile.yaml")
    assert (rule, path) == ("KRM181", "spec.for.schemas.v1.properties.spec.properties.idle")


def test_the_definition_has_a_schema_for_each(tmp_path: Path) -> None:
    folder(tmp_path)
    definition = yaml.safe_load(process("krmfn", "crd", "acme", str(tmp_path)).text)
    first, second = definition["spec"]["versions"]
    assert [(part["name"], part["storage"]) for part in (first, second)] == [("v1", True), ("v1alpha1", False)]
    schemas = [part["schema"]["openAPIV3Schema"] for part in (first, second)]
    written = yaml.safe_load(PROFILE)["spec"]["for"]["schemas"]
    assert [schema["properties"]["spec"] for schema in schemas] == [
        written[version]["properties"]["spec"] for version in ("v1", "v1alpha1")
    ]
    assert ["x-kubernetes-validations" in schema for schema in schemas] == [True, False]


def test_editors_have_a_schema_for_each(tmp_path: Path) -> None:
    import jsonschema

    folder(tmp_path)
    schema = json.loads(process("krmfn", "schema", "acme", str(tmp_path)).text)
    validator = jsonschema.Draft202012Validator(schema)
    for version, spec in (("v1", NEW), ("v1alpha1", OLD)):
        assert validator.is_valid(json.loads(config(version, spec)))
    for version, spec in (("v1alpha1", NEW), ("v1", OLD), ("v2", NEW)):
        assert not validator.is_valid(json.loads(config(version, spec)))


def test_options_of_all_versions_are_explained(tmp_path: Path) -> None:
    folder(tmp_path)
    text = process("krmfn", "explain", "acme", str(tmp_path)).text
    assert "spec.port" in text and "spec.image" in text
    for option in ("spec.port", "spec.image"):
        assert "npu" in process("krmfn", "explain", f"acme.{option}", str(tmp_path)).text or option


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ({"type": "string", "default": "a"}, {"type": "string"}, {"type": "string"}),
        ({"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["b"]}, {"type": "string", "enum": ["a", "b"]}),
        ({"type": "string", "enum": ["a"]}, {"type": "string"}, {"type": "string"}),
        ({"type": "string"}, {"type": "integer"}, {"x-kubernetes-preserve-unknown-fields": True}),
        ({"type": "array", "items": {"type": "string"}},) * 2 + ({"type": "array", "items": {"type": "string"}},),
    ],
)
def test_an_option_is_as_sure_as_in_every_version(first: Any, second: Any, both: Any) -> None:
    assert versions.union([first, second]) == both
