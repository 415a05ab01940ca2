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

from .lists import judged, told, workload


def test_an_id_stands_once_whatever_the_version() -> None:
    old, new = manifest("policy/v1beta1", "PodDisruptionBudget"), manifest("policy/v1", "PodDisruptionBudget")
    assert told(judged(old, new)) == [("KRM705", "error", "")]
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
    found = [(one.rule, one.severity) for one in judged(holder) if one.rule != "KRM711"]
    assert found == ([("KRM706", "warning")] if image in EMPTIED else [])
    if form == "Module":  # of krmfn's own making
        made: Manifest = {**holder, "metadata": {"name": "dc", "namespace": "kmm", "annotations": MARK}}
        assert [one.severity for one in judged(made) if one.rule == "KRM706"] == (["error"] if image in EMPTIED else [])


def test_an_image_that_is_not_ours_stops_no_render() -> None:
    """`${TAG:-1.0}` is an ordinary variable of Flux."""
    config = yaml.safe_dump(device_config())
    for image, warnings in (("agent:${TAG:-1.0}", 0), ("agent:1.0-", 1)):
        agent = workload({"containers": [{"name": "c", "image": f"registry.example.com/{image}"}]})
        text = f"{config}---\n{yaml.safe_dump(agent)}"
        assert process("krmfn", "render", "-", stdin=text).ended(0).err.count("KRM706") == warnings
        checked = process("krmfn", "check", "-", "--format", "json", stdin=text)
        found = [one["severity"] for one in json.loads(checked.out)["findings"] if one["rule"] == "KRM706"]
        assert (checked.code, found) == (0, ["warning"] * warnings)


@given(st.recursive(st.text("abc:-.@{}\"'/ \n"), lambda inner: st.lists(inner) | st.dictionaries(st.text("im"), inner)))
def test_no_text_is_taken_for_an_image(value: object) -> None:
    """Only fields that hold images are judged, whatever other fields hold."""
    holder: Manifest = {**manifest("v1", "ConfigMap"), "data": {"image": json.dumps(value), "x": "image: a:\n"}}
    assert judged(holder) == []


def test_an_owner_has_a_uid() -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a"}
    found = judged(manifest("v1", "Secret", ownerReferences=[{**owner, "uid": "1"}, owner, {**owner, "uid": ""}]))
    assert told(found) == [
        ("KRM707", "error", "metadata.ownerReferences[1]"),
        ("KRM707", "error", "metadata.ownerReferences[2]"),
    ]


KPTFILE = {"apiVersion": "kpt.dev/v1", "kind": "Kptfile", "metadata": {"name": "package"}}
MARK = {"krmfn.dev/owner": "deviceconfig krmfn.dev|DeviceConfig|kmm|dc kmm.sigs.x-k8s.io|Module|kmm|dc"}
LOCAL = {"config.kubernetes.io/local-config": "true"}


def test_an_input_beside_its_objects_or_in_a_package_is_marked() -> None:
    made = {**module(name="dc"), "metadata": {"name": "dc", "namespace": "kmm", "annotations": MARK}}
    assert told(judged(made, inputs=(device_config(),))) == [("KRM708", "warning", "")]
    assert told(judged(inputs=(KPTFILE, device_config()))) == [("KRM708", "warning", "")]
    assert judged(inputs=(device_config(),)) == []
    assert judged(made, inputs=(KPTFILE, device_config(annotations=LOCAL))) == []


def test_what_the_function_has_said_of_an_input_is_not_said_again() -> None:
    made = {**module(name="dc"), "metadata": {"name": "dc", "namespace": "kmm", "annotations": MARK}}
    resources = resource_list(device_config(), made)
    config, *deployed = resources.items
    assert [one.rule for one in judge(resources, deployed)] == ["KRM708"]
    resources.report([warning("would be deployed", rule="KRM104", ref=config.ref)])
    assert list(judge(resources, deployed)) == []


DEPENDS, WAVE = "config.kubernetes.io/depends-on", "argocd.argoproj.io/sync-wave"


@pytest.mark.parametrize(
    ("own", "theirs", "name", "expected"),
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
    own: str | None, theirs: str | None, name: str, expected: list[str]
) -> None:
    annotations = {DEPENDS: f"/namespaces/kmm/ConfigMap/{name}", **({WAVE: own} if own else {})}
    one = manifest("v1", "Secret", annotations=annotations)
    other = manifest("v1", "ConfigMap", annotations={WAVE: theirs} if theirs else {})
    found = judged(one, other)
    assert [part in result.message for part, result in zip(expected, found, strict=True)] == [True] * len(expected)
    assert {(result.rule, result.severity) for result in found} <= {("KRM704", "warning")}
