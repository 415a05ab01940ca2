"""Single resources of the final list: repeated, emptied, owned, read only; and their order."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.final.judge import judge

from krmfn import Manifest, warning
from tests.builders import device_config, manifest, module, resource_list
from tests.commands import process

from .lists import judged, levels, rows, workload


def test_an_id_stands_once_whatever_the_version() -> None:
    old, new = manifest("policy/v1beta1", "PodDisruptionBudget"), manifest("policy/v1", "PodDisruptionBudget")
    assert rows(judged(old, new)) == [("KRM705", "error", "")]
    assert judged(old, manifest("policy/v1", "PodDisruptionBudget", "other")) == []
    assert judged(old, manifest("other/v1", "PodDisruptionBudget")) == []
    nameless: Manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "a-"}}
    assert judged(nameless, nameless) == []


EMPTIED = [
    "kmod:",
    "kmod:v1-",
    "kmod:-v1",
    "kmod-:v1",
    "kmod@",
    "kmod:v1.",
    "team/kmod:1_",
    "kmod:${TAG:-1.0}-",
    "kmod:${TAG:-${OTHER}}-",
    "kmod:v1-@sha256:" + 64 * "0",
]
WHOLE = [
    *("kmod:v1", "kmod", "localhost:5000/kmod:1.0-rc1", "a-b/kmod_x:v1_2", "kmod:1@sha256:" + 64 * "0", "kmod:$V-x"),
    *("kmod:${TAG:-1.0}", "kmod:${TAG:-}", "${IMAGE:-registry.example.com/kmod:1.0}", "kmod:v1-${TAG-.}"),
    "kmod:${TAG:-${OTHER:-1.0}}",
]
TEXTS = {"block": "{}", "JSON": '"{}"'}


@pytest.mark.parametrize("image", EMPTIED + WHOLE)
@pytest.mark.parametrize("form", ["Module", "devicePlugin", "DaemonSet", "CronJob"])
def test_an_image_that_lost_a_part(image: str, form: str) -> None:
    if form == "Module":
        holder = module({"regexp": "^.+$", "containerImage": f"registry.example.com/{image}"})
    elif form == "devicePlugin":
        holder = module()
        holder["spec"]["devicePlugin"] = {"container": {"image": f"registry.example.com/{image}"}}
    else:
        kind = ("apps", form) if form == "DaemonSet" else ("batch", form)
        holder = workload({"containers": [{"image": f"registry.example.com/{image}", "name": "c"}]}, kind)
    findings = [level for level in levels(judged(holder)) if level[0] != "KRM711"]
    assert findings == ([("KRM706", "warning")] if image in EMPTIED else [])
    if form == "Module":  # of krmfn's own making
        results = judged({**holder, "metadata": {"name": "dc", "namespace": "kmm", "annotations": MARK}})
        severities = [result.severity for result in results if result.rule == "KRM706"]
        assert severities == (["error"] if image in EMPTIED else [])


def test_an_image_that_is_not_ours_stops_no_render() -> None:
    """`${TAG:-1.0}` is an ordinary variable of Flux."""
    config = yaml.safe_dump(device_config())
    for image, warnings in (("agent:${TAG:-1.0}", 0), ("agent:1.0-", 1)):
        agent = workload({"containers": [{"name": "c", "image": f"registry.example.com/{image}"}]})
        text = f"{config}---\n{yaml.safe_dump(agent)}"
        assert process("krmfn", "render", "-", stdin=text).ended(0).err.count("KRM706") == warnings
        checked = process("krmfn", "check", "-", "--format", "json", stdin=text).ended(0)
        findings = [row for row in json.loads(checked.out)["findings"] if row["rule"] == "KRM706"]
        assert [row["severity"] for row in findings] == ["warning"] * warnings


@given(st.recursive(st.text("abc:-.@{}\"'/ \n"), lambda inner: st.lists(inner) | st.dictionaries(st.text("im"), inner)))
def test_no_text_is_taken_for_an_image(value: object) -> None:
    """Only fields that hold images are judged, whatever other fields hold."""
    holder: Manifest = {**manifest("v1", "ConfigMap"), "data": {"image": json.dumps(value), "x": "image: a:\n"}}
    assert judged(holder) == []


def test_an_owner_has_a_uid() -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a"}
    references = [{**owner, "uid": "1"}, owner, {**owner, "uid": ""}]
    assert rows(judged(manifest("v1", "Secret", ownerReferences=references))) == [
        ("KRM707", "error", "metadata.ownerReferences[1]"),
        ("KRM707", "error", "metadata.ownerReferences[2]"),
    ]
    owned = module()
    owned["metadata"]["ownerReferences"] = references[:1]
    assert rows(judged(owned)) == [("KRM712", "warning", "metadata.ownerReferences[0]")]


KPTFILE = {"apiVersion": "kpt.dev/v1", "kind": "Kptfile", "metadata": {"name": "package"}}
MARK = {"krmfn.dev/owner": "deviceconfig krmfn.dev|DeviceConfig|kmm|dc kmm.sigs.x-k8s.io|Module|kmm|dc"}
LOCAL = {"config.kubernetes.io/local-config": "true"}
GENERATED = {**module(name="dc"), "metadata": {"name": "dc", "namespace": "kmm", "annotations": MARK}}


def test_an_input_beside_its_objects_or_in_a_package_is_marked() -> None:
    for results in (
        judged(GENERATED, inputs=(device_config(),)),
        judged(inputs=(KPTFILE, device_config())),
    ):
        assert rows(results) == [("KRM708", "warning", "")]
    assert judged(inputs=(device_config(),)) == []
    assert judged(GENERATED, inputs=(KPTFILE, device_config(annotations=LOCAL))) == []


def test_what_the_function_has_said_of_an_input_is_not_said_again() -> None:
    resources = resource_list(device_config(), GENERATED)
    config, *deployed = resources.items
    assert [result.rule for result in judge(resources, deployed)] == ["KRM708"]
    resources.report([warning("would be deployed", rule="KRM104", ref=config.ref)])
    assert list(judge(resources, deployed)) == []


DEPENDS, WAVE = "config.kubernetes.io/depends-on", "argocd.argoproj.io/sync-wave"


@pytest.mark.parametrize(
    ("wave", "later", "name", "expected"),
    [
        ("1", "0", "a", []),
        ("0", "0", "a", []),
        ("-1", None, "a", ["which Argo CD applies later, in wave 0 instead of -1"]),
        (None, "3", "a", ["which Argo CD applies later, in wave 3 instead of 0"]),
        (None, "x", "a", []),
        ("1", "0", "b", ["ConfigMap kmm/b is not among the deployed objects"]),
        ("1", "0", "a/b/c", ["is not a reference to an object"]),
    ],
)
def test_what_a_resource_depends_on_comes_first(
    wave: str | None, later: str | None, name: str, expected: list[str]
) -> None:
    annotations = {DEPENDS: f"/namespaces/kmm/ConfigMap/{name}", **({WAVE: wave} if wave else {})}
    secret = manifest("v1", "Secret", annotations=annotations)
    results = judged(secret, manifest("v1", "ConfigMap", annotations={WAVE: later} if later else {}))
    assert [part in result.text for part, result in zip(expected, results, strict=True)] == [True] * len(expected)
    assert {*levels(results)} <= {("KRM704", "warning")}
