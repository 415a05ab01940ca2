"""What the cluster would make of generated Modules: right by construction, but for what is passed on as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.kmm.rule import tag
from krmfn_functions.rendering.kinds import schema
from krmfn_functions.rendering.module_checks import UNCHECKED_VOLUMES

from krmfn import Result
from tests.builders import PLUGIN, SPEC, applied, device_config, function_config

UNKNOWN = 'strict decoding error: unknown field "spec.devicePlugin.volumes[0].'


def findings(volume: dict[str, Any], version: str = "2.6") -> list[Result]:
    spec = SPEC | {"devicePlugin": PLUGIN | {"volumes": [{"name": "v", **volume}]}}
    return applied(deviceconfig, device_config(spec), function_config=function_config(kmm={"version": version})).results


@pytest.mark.parametrize(
    ("volume", "path", "rule"),
    [
        ({"projected": {"sourcess": []}}, "projected.sourcess", "KMM051"),
        ({"projected": {"sources": [{"podCertificate": {}}]}}, "projected.sources[0].podCertificate", "KMM051"),
        ({"downwardAPI": {"items": [{"path": 1}]}}, "downwardAPI.items[0].path", "KMM052"),
        ({"ephemeral": {"volumeClaimTemplate": {"metadata": {}}}}, "ephemeral.volumeClaimTemplate.spec", "KMM053"),
        ({"image": {"ref": "x:1"}}, "image.ref", "KMM051"),
        ({"iscsi": {"targetPortal": "a", "iqn": "b", "lun": "0"}}, "iscsi.lun", "KMM052"),
    ],
)
def test_a_volume_that_is_passed_on_is_judged_by_the_crd(volume: dict[str, Any], path: str, rule: str) -> None:
    (finding,) = findings(volume)
    assert (finding.severity, finding.rule, tag(finding, "first")) == ("error", rule, "true")
    assert finding.field and finding.field.path == f"spec.devicePlugin.volumes[0].{path}"
    assert str(finding.ref) == "DeviceConfig kmm/dc"


def test_what_a_newer_kmm_has_is_fine_there() -> None:
    certificate = {"podCertificate": {"keyType": "ED25519", "signerName": "example.com/signer"}}
    volume = {"projected": {"sources": [certificate]}}
    assert [finding.rule for finding in findings(volume)] == ["KMM051"]
    assert findings(volume, "main") == []


def test_the_schema_is_not_first_and_the_webhook_too() -> None:
    spec = SPEC | {"devicePlugin": PLUGIN | {"volumes": [{"name": "v", "projected": {"sourcess": []}}]}}
    results = applied(deviceconfig, device_config(spec, name="n" * 50)).results
    assert [(result.rule, tag(result, "first")) for result in results] == [("KMM051", "true"), ("KMM003", None)]


def test_these_are_the_volumes_that_the_schema_leaves_to_kubernetes() -> None:
    volumes = schema("deviceconfig")["$defs"]["volumes"]["items"]["properties"]
    assert {name for name, node in volumes.items() if list(open_objects(node))} == UNCHECKED_VOLUMES


def test_nothing_else_of_a_plugin_is_left_to_kubernetes() -> None:
    properties = schema("deviceconfig")["$defs"]["devicePlugin"]["properties"]
    open_fields = {name for name, node in properties.items() if list(open_objects(node))}
    assert open_fields == {"startupProbe", "livenessProbe", "securityContext"}
    for name in open_fields:  # where one of these is written, the facts of the CRD are asked
        spec = SPEC | {"devicePlugin": PLUGIN | {name: {"misspelt": {}}}}
        settings = function_config(kmm={"version": "main"})
        results = applied(deviceconfig, device_config(spec), function_config=settings).results
        assert [(result.rule, str(result.field and result.field.path)) for result in results] == [
            ("KMM051", f"spec.devicePlugin.{name}.misspelt")
        ]


def open_objects(node: Any) -> Iterator[Any]:
    """Yield the objects of a schema with anything in them; maps of texts are none."""
    if isinstance(node, dict):
        if node.get("type") == "object" and not node.keys() & {"properties", "$ref", "additionalProperties"}:
            yield node
        for child in node.values():
            yield from open_objects(child)
