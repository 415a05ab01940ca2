"""A real API server with our CRDs: it installs them, and judges our kinds as the schemas and our rules do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from krmfn_functions.deviceconfig import reading, rules
from krmfn_functions.paths import manifests
from krmfn_functions.rendering.function_config import FunctionConfig
from krmfn_functions.rendering.kinds import schema as json_schema
from krmfn_functions.rendering.kinds import text

from krmfn import Manifest, schema
from tests.commands import COMMANDS
from tests.schema_corpus import CRDS, corpus, samples, schema_of, spoiled

from .control_plane import wait
from .engines import EXAMPLES, must
from .kube import Cluster, install_crd

NAMESPACE = "schemas"
IN_CLUSTERS = tuple(manifest for manifest in corpus() if schema_of(manifest) in CRDS)
WHOLE = [manifest for manifest in samples() if schema_of(manifest) in CRDS]
SETTINGS = settings(max_examples=400, derandomize=True, suppress_health_check=list(HealthCheck))
Judge = Callable[[Manifest], list[str]]


@pytest.fixture(scope="module")
def served(cluster: Cluster) -> Cluster:
    """The cluster with our CRDs and a namespace."""
    cluster.namespace(NAMESPACE)
    for name in CRDS.values():
        install_crd(cluster, text(f"crds/{name}.yaml").encode(), name)
        place = folder(name)
        wait(f"{place} is served", 30, partial(cluster.is_served, place))
    return cluster


@pytest.fixture(scope="module")
def judge(served: Cluster) -> Judge:
    """What the server says to the creation of an object: nothing, or why not."""

    def causes_of(manifest: Manifest) -> list[str]:
        place = f"{folder(CRDS[schema_of(manifest)])}?fieldValidation=Strict&dryRun=All"
        code, answer = served.request("POST", place, json.dumps(manifest).encode())
        if code == 201:
            return []
        assert code in (400, 422), f"the server judged nothing: {code}: {answer}"
        causes = answer.get("details", {}).get("causes")
        return [f"{cause['field']}: {cause['message']}" for cause in causes] if causes else [answer["message"]]

    return causes_of


def folder(crd: str) -> str:
    """Where the server keeps the objects of a CRD."""
    plural, _, group = crd.partition(".")
    return f"/apis/{group}/v1alpha1/namespaces/{NAMESPACE}/{plural}"


def placed(manifest: Manifest) -> Manifest:
    """The manifest with a name that any server takes, and no status, which a creation loses: the spec is judged."""
    named = {**manifest, "metadata": {"name": "judged", "namespace": NAMESPACE}}
    return {key: value for key, value in named.items() if key != "status"}


def contradictions(manifest: Manifest) -> list[str]:
    """What the rules between fields say to a DeviceConfig on its own."""
    if not schema_of(manifest).startswith("deviceconfig"):
        return []
    [item] = manifests.read("-", json.dumps(manifest).encode()).items
    results = rules.check_group(reading.from_item(item, FunctionConfig()), set())
    return [str(result) for result in results if result.severity == "error"]


def refusals() -> set[str]:
    """The messages of all CEL rules."""

    def messages(node: Any) -> set[str]:
        if isinstance(node, list):
            return {message for child in node for message in messages(child)}
        if not isinstance(node, dict):
            return set()
        texts = {rule["message"] for rule in node.get("x-kubernetes-validations", [])}
        return texts | {message for child in node.values() for message in messages(child)}

    return {message for name in CRDS.values() for message in messages(yaml.safe_load(text(f"crds/{name}.yaml")))}


REFUSALS = (*sorted(refusals()), "Duplicate value")
UNRULED = ("Duplicate value",)
"""What no rule of the functions says of every list."""


@pytest.mark.parametrize("manifest", WHOLE, ids=[manifest["metadata"]["name"] for manifest in WHOLE])
def test_samples_are_accepted(judge: Judge, manifest: Manifest) -> None:
    assert judge(placed(manifest)) == []


def without_nulls(value: Any) -> Any:
    """A copy as the server reads it."""
    if isinstance(value, dict):
        return {key: without_nulls(child) for key, child in value.items() if child is not None}
    return [without_nulls(child) for child in value] if isinstance(value, list) else value


OPEN = re.compile(r"^spec\.(nodePools\[\d+\]\.)?(imagePullSecrets\[|(\S+\.)?serviceAccount\.openshift$)")
"""What may be a text or an object, or a boolean: a structural schema has no such type, and leaves it open."""


def disagreement(judge: Judge, manifest: Manifest) -> str:
    """In what the server differs from us: "" when it does not.

    What the schema refuses it refuses, but for nulls: it drops the fields that have none. What it refuses beyond
    that, a rule between fields refuses; and the functions have such a rule, too. (They have more: what profiles and
    defaults may still fill in is not refused by a CRD.)
    """
    file, causes = json_schema(schema_of(manifest)), judge(manifest)
    manifest = json.loads(json.dumps(manifest))  # a plain date, which we refuse, has become a string on the way
    if not causes:
        results = schema.check(without_nulls(manifest), file)
        errors = [result for result in results if not (result.field and OPEN.search(result.field.path))]
        return f"accepted, but: {errors[0]}" if errors else ""
    if schema.check(manifest, file):
        return ""
    strange = [cause for cause in causes if not any(known in cause for known in REFUSALS)]
    if strange:
        return f"refused, but the schema fits: {strange}"
    ruled = [cause for cause in causes if not any(known in cause for known in UNRULED)]
    if ruled and not contradictions(without_nulls(manifest)):
        return f"refused, but no rule of ours does: {ruled}"
    return ""


def test_it_agrees_with_us_on_the_corpus(judge: Judge) -> None:
    disagreements = {json.dumps(manifest): disagreement(judge, placed(manifest)) for manifest in IN_CLUSTERS}
    assert {manifest: text for manifest, text in disagreements.items() if text} == {}


@SETTINGS
@given(manifest=spoiled(lambda: IN_CLUSTERS))
def test_it_agrees_with_us_on_damaged_manifests(judge: Judge, manifest: Manifest) -> None:
    if schema_of(manifest) in CRDS:
        assert disagreement(judge, placed(manifest)) == ""


CONTAINER = {"name": "a", "image": "a:1"}
VARIABLE = {"name": "A", "value": "", "valueFrom": {"fieldRef": {"fieldPath": "a"}}}
MOUNT = {"name": "a", "mountPath": "/", "subPath": "a", "subPathExpr": "a"}
HUB = {"spokeNamespace": "a", "clusterSelector": {}}
POOL = {"name": "a", "nodeSelector": {"a": "b"}}
PARTS = {"repository": "a", "tag": "1"}
DIGEST = f"sha256:{'0' * 64}"
CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"driverImage": "a", "driverImageParts": PARTS}, "leave out one of driverImage and driverImageParts"),
    ({"driverImageParts": {**PARTS, "digest": DIGEST}}, "leave out one of tag and digest"),
    ({"moduleName": "a", "rawLoadArgs": ["a"]}, "leave out moduleName, or rawLoadArgs and rawUnloadArgs"),
    ({"nodeSelector": {}}, "confirm it with allNodes: true"),
    ({"nodeSelector": {}, "allNodes": False}, "confirm it with allNodes: true"),
    (
        {"nodeSelector": {"a": "b"}, "allNodes": True},
        "allNodes: true and a nodeSelector with labels exclude each other",
    ),
    ({"nodeSelector": {"a b": "c"}}, "a key must be a label key such as example.com/gpu"),
    ({"labels": {"": "c"}}, "a key must be a label key such as example.com/gpu"),
    ({"annotations": {"a b": "c"}}, "a key must be an annotation key such as example.com/contact"),
    (
        {"nodeSelector": {"a": "b"}, "nodePools": [{"name": "a", "nodeSelector": {"a": "c"}}]},
        "leave out one of nodeSelector and nodePools",
    ),
    ({"nodePools": [{"name": "a", "nodeSelector": {}}]}, "confirm it with allNodes: true"),
    (
        {"nodePools": [{**POOL, "driverImage": "a", "driverImageParts": PARTS}]},
        "leave out one of driverImage and driverImageParts",
    ),
    ({"nodePools": [POOL] * 2}, "Duplicate value"),
    (
        {"dra": {"driverName": "a", "image": "a:1"}, "nodePools": [{**POOL, "devicePlugin": {"image": "a:1"}}]},
        "a devicePlugin in nodePools and dra exclude each other",
    ),
    ({"inTreeDriver": True, "driverImage": "a"}, "inTreeDriver: true loads nothing"),
    ({"inTreeDriver": True, "kernelMappings": [{"literal": "a"}]}, "inTreeDriver: true loads nothing"),
    ({"kernelMappings": [{}]}, "a kernel mapping has one of regexp and literal"),
    ({"kernelMappings": [{"regexp": "a", "literal": "b"}]}, "a kernel mapping has one of regexp and literal"),
    ({"upgrade": {"retain": ["1"]}}, "retain keeps DaemonSets of earlier versions"),
    ({"devicePlugin": {"image": "a:1", "imageParts": PARTS}}, "name the image in one of image and imageParts"),
    ({"devicePlugin": {"image": "a:1"}, "dra": {"driverName": "a", "image": "a:1"}}, "leave out one of devicePlugin"),
    ({"dra": {"driverName": "a", "image": "a:1", "deviceClasses": [{"name": "a"}] * 2}}, "Duplicate value"),
    ({"daemonSets": [CONTAINER, CONTAINER]}, "Duplicate value"),
    ({"daemonSets": [{**CONTAINER, "initContainers": [CONTAINER] * 2}]}, "Duplicate value"),
    ({"daemonSets": [{**CONTAINER, "env": [VARIABLE]}]}, "a variable has one of value and valueFrom"),
    ({"daemonSets": [{**CONTAINER, "envFrom": [{"prefix": "A"}]}]}, "name one of configMapRef and secretRef"),
    ({"daemonSets": [{**CONTAINER, "volumeMounts": [MOUNT]}]}, "leave out one of subPath and subPathExpr"),
    ({"hub": HUB, "daemonSets": [CONTAINER]}, "a hub carries no DaemonSets"),
    ({"hub": HUB, "inTreeDriver": True}, "a hub needs a kernel module"),
]


@pytest.mark.parametrize(("fields", "text"), CONTRADICTIONS, ids=[json.dumps(fields) for fields, _ in CONTRADICTIONS])
def test_contradictions_are_refused_with_a_message(judge: Judge, fields: dict[str, Any], text: str) -> None:
    head = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "DeviceConfig"}
    assert any(text in cause for cause in judge(placed({**head, "spec": fields})))


def test_every_rule_between_fields_has_its_contradiction() -> None:
    table = [text for _, text in CONTRADICTIONS]
    assert [message for message in refusals() if not any(text in message for text in table)] == []


def test_kubectl_knows_short_names_columns_and_fields(served: Cluster) -> None:
    sample = placed(samples()[0])
    place = f"{folder('deviceconfigs.krmfn.dev')}/judged"
    served.apply(place, json.dumps(sample).encode())
    try:
        [head, row] = served.kubectl("get", "devcfg", "--namespace", NAMESPACE).out.decode().splitlines()
    finally:
        served.request("DELETE", place)
    assert head.split() == ["NAME", "IMAGE", "VERSION", "MODULE", "PROFILE", "AGE"]
    assert row.split()[:4] == ["judged", "1.16.2", "habanalabs", "vendor"]
    explained = served.kubectl("explain", "devcfg.spec.modulesLoadingOrder").out.decode()
    assert "moduleName and after it the modules it needs" in explained


def test_the_definition_of_a_profile_s_kind_is_served_and_takes_its_configs(cluster: Cluster) -> None:
    folder = EXAMPLES / "vendor-profiles" / "amd-gpu"
    definition = must(COMMANDS / "krmfn", "crd", "amd-gpu", folder)
    install_crd(cluster, definition, "deviceconfigs.amd.com")
    cluster.namespace("kube-amd-gpu")
    (cr,) = manifests.read(str(folder / "gpu.yaml")).items
    place = cluster.path_of(cr.ref.api_version, cr.kind, cr.ref.namespace, cr.name)
    assert cluster.dry_run(place, cr.text).refusal == ""
    wrong = cr.text.replace(b"nodePort: 32500", b"nodePort: 1")
    assert wrong != cr.text and "nodePort" in cluster.dry_run(place, wrong).refusal
