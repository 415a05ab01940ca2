"""The CRD's rules on both sides of their borders, and our tables against the CRDs made from them and KMM's own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import derive_module_structure
import module_crds
import pytest
from krmfn_functions.kmm.crd import facts, structure
from krmfn_functions.kmm.crd.facts import Fact, module_facts
from krmfn_functions.kmm.crd.values import QUANTITY
from krmfn_functions.kmm.rule import tag
from krmfn_functions.kmm.rules import RULES
from krmfn_functions.kmm.versions import TARGETS

from krmfn.errors import KrmfnError
from krmfn.results import Result
from tests import kmm_crds
from tests.builders import DROP, edited, module
from tests.tables import table

from ..manifests import check, refused_by_schema, refused_update

CASES = table(__file__, "structure.yaml")

C = "spec.moduleLoader.container"


PLUGIN = {"container": {"image": "i:1", "env": [{"name": "A"}]}}
DRA = {**PLUGIN, "driverName": "gpu.example.com"}
PROBE = "spec.devicePlugin.container.startupProbe"
RESOURCES = "spec.devicePlugin.container.resources"
KEY_REF = "spec.devicePlugin.container.env[0].valueFrom.fileKeyRef"


def texts(item: dict[str, Any], version: str = "2.6") -> list[str | None]:
    return [tag(result, "admission") for result in refused_by_schema(item, version)]


def only_finding(item: dict[str, Any], version: str = "2.6") -> Result:
    [finding] = refused_by_schema(item, version)
    assert tag(finding, "first") == "true" and finding.severity == "error" and str(finding.ref) == "Module kmm/simple"
    return finding


def wrong_type(path: str, expected: str, actual: str) -> str:
    return f'{path}: Invalid value: "{actual}": {path} in body must be of type {expected}: "{actual}"'


@pytest.mark.parametrize("version", TARGETS)
def test_a_good_module_has_no_findings(version: str) -> None:
    assert texts(edited(module(), ("spec.devicePlugin", PLUGIN), ("metadata.labels", {"a": "b"})), version) == []
    bare = module()
    del bare["spec"]
    assert texts(bare, version) == []


def test_unknown_version() -> None:
    with pytest.raises(KrmfnError, match="kmm version '1' is not known"):
        list(refused_by_schema(module(), "1"))


@pytest.mark.parametrize(("path", "hint"), CASES["unknown_fields"])
def test_unknown_fields(path: str, hint: str) -> None:
    results = [result for result in refused_by_schema(edited(module(), (path, {}))) if result.rule == "KMM051"]
    assert [tag(result, "admission") for result in results] == [f'strict decoding error: unknown field "{path}"']
    assert hint in results[0].text
    assert results[0].field and results[0].field.path == path


def test_where_no_field_is_known_none_is_listed() -> None:
    template: Any = {"metadata": {"labels": {}}, "spec": {"resources": {}}}
    volume = {"name": "a", "ephemeral": {"volumeClaimTemplate": template}}
    finding = only_finding(edited(module(), ("spec.devicePlugin", {**PLUGIN, "volumes": [volume]})))
    assert finding.text.endswith('volumeClaimTemplate.metadata.labels"; nothing is known here')


def since(version: str) -> list[str]:
    """The versions with the CRD of this one, or of a later one; those of OpenShift among them."""
    structures = list(dict.fromkeys(known.structure for known in TARGETS.values()))
    later = structures[structures.index(TARGETS[version].structure) :]
    return [name for name, known in TARGETS.items() if known.structure in later]


FIELD_SINCE = [
    ("spec.devicePlugin.automountServiceAccountToken", True, since("2.6")),
    ("spec.imageRebuildTriggerGeneration", 1, since("2.6")),
    ("spec.dra", DRA, since("main")),
    *(
        (f"spec.devicePlugin.container.{field}", value, since("main"))
        for field, value in (
            ("startupProbe", {"httpGet": {"port": "ready"}}),
            ("livenessProbe", {"tcpSocket": {"port": 8080}, "periodSeconds": 5}),
            ("securityContext", {"capabilities": {"drop": ["ALL"]}, "runAsUser": 0}),
        )
    ),
    (f"{C}.modprobe.modprobedDir", "/etc/modprobe.d", since("main")),
    (KEY_REF, {"key": "k", "path": "p", "volumeName": "v"}, since("main")),
    ("spec.devicePlugin.initContainer", {"image": "i:1"}, since("2.4")),
]


@pytest.mark.parametrize(("path", "value", "versions"), FIELD_SINCE)
def test_fields_per_version(path: str, value: Any, versions: list[str]) -> None:
    item = edited(module(), ("spec.devicePlugin", dict(PLUGIN)), (path, value))
    if path == "spec.dra":
        del item["spec"]["devicePlugin"]
    assert set(versions) <= TARGETS.keys()
    for version in TARGETS:
        expected = [] if version in versions else [f'strict decoding error: unknown field "{path}"']
        assert texts(item, version) == expected


@pytest.mark.parametrize(("path", "value", "expected", "actual", "hint"), CASES["wrong_types"])
def test_wrong_types(path: str, value: Any, expected: str, actual: str, hint: str) -> None:
    finding = only_finding(edited(module(), (path, value)))
    where = {"registryTLS": ".insecure", "inTreeModulesToRemove": "[0]"}.get(path.rpartition(".")[2], "")
    assert finding.rule == "KMM052" and tag(finding, "admission") == wrong_type(path + where, expected, actual)
    assert finding.field and finding.field.path == path + where
    assert hint in finding.remedy and finding.message == tag(finding, "admission")
    assert bool(finding.remedy) == bool(hint)
    assert not isinstance(finding.field.current, (dict, list))


@pytest.mark.parametrize(
    "path",
    [
        "spec.selector",
        f"{C}",
        f"{C}.modprobe",
        f"{C}.kernelMappings",
        f"{C}.kernelMappings[0].containerImage",
        "spec.devicePlugin.container",
        "spec.devicePlugin.container.image",
    ],
)
@pytest.mark.parametrize("absent", [DROP, None])
def test_required_fields(path: str, absent: Any) -> None:
    item = edited(module(), ("spec.devicePlugin", {"container": {"image": "i:1"}}), (path, absent))
    assert texts(item) == [f"{path}: Required value"]


@pytest.mark.parametrize(("versions", "edits", "refusals"), CASES["refusals"])
def test_both_sides_of_a_border(versions: list[str], edits: dict[str, Any], refusals: list[str]) -> None:
    for version in versions:
        assert texts(edited(module(), *edits.items()), version) == refusals


def test_a_quantity_is_no_fraction() -> None:
    item = edited(module(), (f"{RESOURCES}.limits.cpu", 0.5), ("spec.devicePlugin.container.image", "i:1"))
    assert refused_by_schema(item)[0].text.endswith('write it in quotes, "0.5"; a YAML reader turns 1.10 into 1.1')


@pytest.mark.parametrize("port", [8080, "ready", "1.5x", ""])
def test_a_port_is_a_number_or_any_string(port: Any) -> None:
    def probed(value: Any) -> dict[str, Any]:
        return edited(module(), ("spec.devicePlugin", PLUGIN), (PROBE, value))

    assert texts(probed({"tcpSocket": {"port": port}}), "main") == []
    first = texts(probed({"tcpSocket": {"port": True}}), "main")[0]
    assert first == wrong_type(f"{PROBE}.tcpSocket.port", "integer,string", "boolean")
    assert texts(probed({"tcpSocket": {}}), "main")[0] == f"{PROBE}.tcpSocket.port: Required value"


def test_what_is_merged_since_adds_fields_only() -> None:
    table = json.loads((derive_module_structure.OUT / "structure-merged.json").read_text())
    assert (table["base"], table["drop"]) == (TARGETS["main"].structure, [])
    assert not any(path in facts.table(table["base"]) for path in table["set"])


def test_too_many() -> None:
    def selectors(count: int) -> dict[str, Any]:
        return edited(module(), ("spec.dra", {**DRA, "deviceClasses": [{"name": "a", "selectors": [{}] * count}]}))

    path = "spec.dra.deviceClasses[0].selectors"
    assert texts(selectors(32), "main") == []
    assert texts(selectors(33), "main") == [f"{path}: Too many: 33: must have at most 32 items", structure.NOT_CHECKED]


def test_dra_or_device_plugin() -> None:
    both = edited(module(), ("spec.dra", DRA), ("spec.devicePlugin", PLUGIN))
    text = 'spec: Invalid value: "object": spec.dra and spec.devicePlugin are mutually exclusive'
    assert texts(both, "main") == [text]
    both["spec"]["selector"] = {"a": 1}
    assert texts(both, "main") == [wrong_type("spec.selector.a", "string", "integer"), structure.NOT_CHECKED]
    assert structure.NOT_CHECKED not in texts(edited(module(), ("spec.selector", 1)), "2.6")


@pytest.mark.parametrize(("path", "expected"), CASES["nulls"])
def test_nulls(path: str, expected: str) -> None:
    finding = only_finding(edited(module(), ("spec.devicePlugin", dict(PLUGIN)), (path, None)))
    assert finding.rule == "KMM059" and tag(finding, "admission") == wrong_type(path, expected, "null")
    assert "leave the field out" in finding.text


@pytest.mark.parametrize("status", CASES["a_status_is_dropped_whatever_its_numbers"])
def test_a_status_is_dropped_whatever_its_numbers(status: Any) -> None:
    for version in TARGETS:
        assert texts(edited(module(), ("status", status)), version) == []


UNKNOWN = "strict decoding error: unknown field "


@pytest.mark.parametrize(("path", "value", "unknown"), CASES["fields_where_none_belong"])
def test_fields_where_none_belong(path: str, value: Any, unknown: list[str]) -> None:
    results = list(refused_by_schema(edited(module(), (path, value))))
    refusals = [tag(result, "admission") for result in results if result.rule == "KMM051"]
    assert refusals == [f'{UNKNOWN}"{path}{place}"' for place in unknown]
    assert [result.rule for result in results if tag(result, "first")] == (["KMM051"] * len(unknown) or ["KMM052"])
    assert [result.text for result in results if result.rule == "KMM051"] == refusals, "no field could be meant"


def test_a_field_that_a_later_version_drops_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {
        "2.4": json.dumps({"fields": facts.table("2.4")}),
        "next": json.dumps({"base": "2.4", "drop": ["spec/tolerations"], "set": {"spec/extra": "string"}}),
    }.items():
        (tmp_path / f"structure-{name}.json").write_text(text)
    monkeypatch.setattr(facts, "_HERE", str(tmp_path))
    fields = (facts.module_facts.__wrapped__("next").fields or {})["spec"].fields or {}
    assert "tolerations" not in fields and fields["extra"].type == "string"


def test_free_parameters_may_be_anything_but_a_list() -> None:
    path = "spec.dra.deviceClasses[0].config[0].opaque.parameters"
    classes = [{"name": "a", "config": [{"opaque": {"driver": "d"}}]}]
    driven = edited(module(), ("spec.dra", {**DRA, "deviceClasses": classes}))
    assert texts(edited(driven, (path, {"a": [{"b": None}]})), "main") == []
    refusals = [wrong_type(path, "object", "array"), structure.NOT_CHECKED]
    assert texts(edited(driven, (path, [{"a": 1}])), "main") == refusals


@pytest.mark.parametrize(("value", "actual", "hint"), CASES["whole_numbers_with_a_point_are_integers"])
def test_whole_numbers_with_a_point_are_integers(value: float, actual: str, hint: str) -> None:
    finding = only_finding(edited(module(), (f"{C}.version", value)))
    assert tag(finding, "admission") == wrong_type(f"{C}.version", "string", actual)
    assert hint in finding.text


@pytest.mark.parametrize(("claims", "texts"), CASES["claims"])
def test_claims(claims: list[Any], texts: list[str]) -> None:
    item = edited(module(), (f"{RESOURCES}.claims", claims), ("spec.devicePlugin.container.image", "i:1"))
    refusals = [tag(result, "admission") for result in refused_by_schema(item) if result.rule == "KMM057"]
    assert refusals == [f"{RESOURCES}.claims{text}" for text in texts]


def first(item: dict[str, Any], version: str = "2.6") -> list[str | None]:
    return [result.rule for result in refused_by_schema(item, version) if tag(result, "first")]


def test_first_is_what_a_create_prints() -> None:
    item = edited(
        module(), ("spec.selector", 1), ("spec.tolerations", None), ("metadata.labels", {"a b": "c"}), ("status", 1)
    )
    item["metadata"] |= {"finalizers": ["a", "a"], "managedFields": []}
    assert first(item, "main") == ["KMM063", "KMM052", "KMM060"]
    item["metadata"]["nope"] = item["spec"]["nope"] = 1
    assert first(item, "main") == ["KMM066", "KMM051"]
    item["metadata"] |= {"uid": 1, "generation": "x"}
    [finding] = [result for result in refused_by_schema(item) if tag(result, "first")]
    assert finding.field and finding.field.path == "metadata.generation"


def test_what_only_an_apply_refuses_is_first_when_it_is_all() -> None:
    item = edited(module(), ("spec.tolerations", None), ("status", 1), ("metadata.managedFields", []))
    assert first(item) == ["KMM073", "KMM059", "KMM052"]
    item["spec"]["moduleLoader"]["container"]["kernelMappings"] = []
    assert first(item, "main") == ["KMM054"]


def test_what_judges_generated_modules_does_not_load_the_facts() -> None:
    code = (
        "import sys; from krmfn_functions.rendering import module_checks\n"
        "assert 'krmfn_functions.kmm.crd.facts' not in sys.modules\n"
        "from krmfn_functions.kmm.rules import RULES\n"
        "assert 'krmfn_functions.kmm.crd.facts' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_webhook_is_not_first_when_the_schema_refuses() -> None:
    both = edited(module(), (f"{C}.kernelMappings[0].containerImage", "untagged"), (f"{C}.version", 1))
    assert [(result.rule, tag(result, "first")) for result in check(both)] == [("KMM052", "true"), ("KMM025", None)]
    both["spec"]["moduleLoader"]["container"]["version"] = "1"
    assert [(result.rule, tag(result, "first")) for result in check(both)] == [("KMM025", "true")]


def test_ids_are_unique() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES) > 70


@pytest.mark.parametrize("junk", [None, 3, 1.5, "x", [], {}, [None], ["x"], [[]], {"a": None}, {"a": []}, float("nan")])
def test_a_broken_module_raises_nothing(junk: Any) -> None:
    paths = ("spec", "metadata", "metadata.labels", "metadata.name", "status", "spec.selector", "spec.tolerations", C)
    parts = ("spec.devicePlugin", "spec.dra", "spec.moduleLoader", f"{C}.kernelMappings[0]", f"{C}.sign")
    modprobe = (f"{C}.{field}" for field in ("modprobe", "modprobe.rawArgs", "modprobe.modulesLoadingOrder"))
    for path in (*paths, *parts, f"{C}.kernelMappings", *modprobe):
        broken = edited(module(), (path, junk))
        for version in TARGETS:
            check(broken, version, ["6.1.0-1"])
        refused_update(broken, module())


def test_field_paths_are_split_where_dots_are_not_ambiguous() -> None:
    finding = only_finding(edited(module(), ("spec.selector", {"example.com/a": 1})))
    assert finding.field and finding.field.path == "spec.selector[example.com/a]"
    assert tag(finding, "admission") == wrong_type("spec.selector.example.com/a", "string", "integer")


def derived(folder: Path) -> dict[str, Any]:
    """The tables as the tool writes them."""
    return {f"structure-{name}.json": facts for name, facts in derive_module_structure.derive(folder).items()}


def committed() -> dict[str, Any]:
    """The tables that the tool makes: all but the one that is written by hand."""
    paths = [path for path in derive_module_structure.OUT.glob("structure-*.json") if "merged" not in path.name]
    return {path.name: json.loads(path.read_text()) for path in paths}


def test_the_crds_made_from_the_tables_say_what_the_tables_say(tmp_path: Path) -> None:
    module_crds.main([str(tmp_path)])
    assert derived(tmp_path) == committed()


@pytest.mark.parametrize("crds", kmm_crds.crds(), ids=str)
def test_the_facts_are_what_the_crds_say(crds: kmm_crds.Crds) -> None:
    schema = crds.module()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    for name in ("spec", "status"):
        same((module_facts(TARGETS[crds.version].structure).fields or {})[name], schema[name], name)


if kmm_crds.UPSTREAM:

    def test_the_tables_are_what_kmms_own_crds_say() -> None:
        assert derived(Path(kmm_crds.UPSTREAM)) == committed()

    @pytest.mark.parametrize("version", kmm_crds.VERSIONS)
    def test_the_crds_made_from_the_tables_judge_as_kmms_own(version: str) -> None:
        ours, upstream = kmm_crds.Crds(version), kmm_crds.Crds(version, upstream=True)
        assert judging(ours.module()) == judging(upstream.module())
        assert judging(ours.hub()) == judging(upstream.hub())


def judging(crd: dict[str, Any]) -> Any:
    """The part of a CRD that decides what is refused: no descriptions, no annotations, no merging of lists and maps."""
    return {"name": crd["metadata"]["name"], "spec": _judging(crd["spec"])}


def _judging(node: Any) -> Any:
    if isinstance(node, list):
        return [_judging(child) for child in node]
    if not isinstance(node, dict):
        return node
    silent = {"description", "x-kubernetes-map-type"} | (
        set() if "x-kubernetes-list-map-keys" in node else {"x-kubernetes-list-type"}
    )
    return {key: _judging(child) for key, child in node.items() if key not in silent or isinstance(child, dict)}


def same(node: Fact, schema: dict[str, Any], path: str) -> None:
    """Walks the CRD's own schema, which the tool's short notation has no part in."""
    kind = "quantity" if schema.get("x-kubernetes-int-or-string") else schema["type"]
    open_object = schema.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in schema
    assert node.type == kind, path
    assert set(node.required) == set(schema.get("required", ())), path
    assert (node.fields is None) == (kind != "object" or bool(open_object)), path
    assert set(node.fields or {}) == set(schema.get("properties", {})), path
    assert (node.low, node.high) == (schema.get("minItems", 0), schema.get("maxItems")), path
    assert node.keys == tuple(schema.get("x-kubernetes-list-map-keys", ())), path
    assert node.default == schema.get("default"), path
    assert schema.get("pattern", "") == (QUANTITY if kind == "quantity" else node.pattern), path
    rules = [(rule["rule"], rule["message"]) for rule in schema.get("x-kubernetes-validations", ())]
    assert list(node.rules) == rules, path
    for name, child in schema.get("properties", {}).items():
        same((node.fields or {})[name], child, f"{path}.{name}")
    inner = schema.get("items") or schema.get("additionalProperties")
    assert (node.item is None) == (inner is None), path
    if inner and node.item:
        same(node.item, inner, f"{path}[]")


def test_the_rows_that_new_crds_change_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tables were written without a word of what had changed in them."""
    before = {"fields": {"spec": {"a!": "string", "b": {"$list": "int32"}, "c": "boolean"}}}
    after = {"fields": {"spec": {"a!": "string", "b": {"$list": "int64"}, "d": "string"}}}
    monkeypatch.setattr(derive_module_structure, "OUT", tmp_path)
    monkeypatch.setattr(derive_module_structure, "derive", lambda folder: {"main": after})
    (tmp_path / "structure-main.json").write_text(json.dumps(before))
    derive_module_structure.main(["crds"])
    assert capsys.readouterr().out.splitlines() == [
        'structure-main.json: fields/spec/c: is gone, was "boolean"',
        'structure-main.json: fields/spec/b/$list: is "int64", was "int32"',
        'structure-main.json: fields/spec/d: is new: "string"',
    ]
    derive_module_structure.main(["crds"])
    assert capsys.readouterr().out == ""
