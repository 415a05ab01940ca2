"""The command `adopt`: who owns what Git renders, what differs, what goes along, and the steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from krmfn_functions.adoption.fields import compare

from tests.adopted_cluster import MODULE, OWNER, PLUGIN, Manifest, config, dump, made, named, node, write
from tests.commands import Done, process


def adopt(folder: Path, *objects: Manifest, words: tuple[str, ...] = ("--format", "json")) -> Done:
    return process("krmfn", "adopt", str(write(folder)), "--live", str(dump(folder, *objects)), *words)


def answer(folder: Path, code: int, *objects: Manifest) -> dict[str, Any]:
    done = adopt(folder, *objects)
    assert done.code == code, done
    data: dict[str, Any] = json.loads(done.text)
    return data


def commands(data: dict[str, Any]) -> list[str]:
    return [step.get("command", "") for step in data["steps"]]


def at(lines: list[str], *words: str) -> int:
    """Return the position of the only line with these words."""
    (position,) = (index for index, line in enumerate(lines) if all(word in line for word in words))
    return position


def test_what_an_operator_owns_is_told_with_the_steps_in_the_order_that_never_unloads(tmp_path: Path) -> None:
    data = answer(tmp_path, 1, *made(), config("npu.example.org/cleanup"))
    assert [entry["ref"] for entry in data["objects"]] == [
        "ConfigMap npu/settings",
        "Module npu/main",
        "DaemonSet npu/main-plugin",
    ]
    assert all(entry["equal"] == entry["fields"] > 0 and entry["differs"] == [] for entry in data["objects"])
    for entry in data["objects"]:
        assert [owner["via"] for owner in entry["owners"]] == ["ownerReferences", "managedFields"]
        assert [owner["name"] for owner in entry["owners"]] == ["main", "npu-operator"]
    assert data["nodes"] == {"kept": ["w1"], "reloaded": [], "lost": []}
    lines = commands(data)
    order = [
        at(lines, "scale deployment"),
        at(lines, "patch modules.kmm.sigs.x-k8s.io", "ownerReferences"),
        at(lines, "krmfn render"),
        at(lines, "krmfn adopt"),
        at(lines, "patch npupolicy.npu.example.org", "finalizers"),
        at(lines, "delete npupolicy.npu.example.org", "--cascade=orphan"),
    ]
    assert order == sorted(order)
    assert all("until" in step for step in data["steps"] if "command" in step)


def test_a_node_that_is_not_ready_keeps_its_driver(tmp_path: Path) -> None:
    tainted = node("w2")
    tainted["spec"] = {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]}
    assert answer(tmp_path, 0, *made(owned=False), tainted)["nodes"]["kept"] == ["w1", "w2"]


def test_nothing_is_left_to_do_where_only_git_owns_anything(tmp_path: Path) -> None:
    data = answer(tmp_path, 0, *made(owned=False))
    assert data["steps"] == []
    assert adopt(tmp_path, *made(owned=False), words=()).text.splitlines()[-1].startswith("Git can take over")


def test_a_patch_removes_the_references_that_were_seen_and_no_other(tmp_path: Path) -> None:
    objects = made()
    module = named(objects, MODULE)
    module["metadata"]["ownerReferences"].append({"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u2"})
    line = next(line for line in commands(answer(tmp_path, 1, *objects, config())) if "modules.kmm" in line)
    operations = json.loads(line.split("'")[1])
    assert [(operation["op"], operation["path"]) for operation in operations] == [
        ("test", "/metadata/ownerReferences/1/uid"),
        ("remove", "/metadata/ownerReferences/1"),
        ("test", "/metadata/ownerReferences/0/uid"),
        ("remove", "/metadata/ownerReferences/0"),
    ]


def test_another_image_reloads(tmp_path: Path) -> None:
    objects = made(owned=False)
    mappings = named(objects, MODULE)["spec"]["moduleLoader"]["container"]["kernelMappings"]
    mappings[0]["containerImage"] = "registry.example.com/npu:old-$KERNEL_FULL_VERSION"
    data = answer(tmp_path, 1, *objects)
    (entry,) = (entry for entry in data["objects"] if entry["differs"])
    assert entry["differs"][0]["field"].endswith("containerImage")
    assert (entry["fields"] - entry["equal"], data["nodes"]["reloaded"]) == (1, ["w1"])


@pytest.mark.parametrize("value", ["0.5", "500m", ".5"])
def test_another_spelling_is_no_difference(tmp_path: Path, value: str) -> None:
    objects = made(owned=False)
    limits = named(objects, PLUGIN)["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
    limits |= {"cpu": value, "memory": "1024Mi"}
    answer(tmp_path, 0, *objects)


def test_braces_and_empty_tls_mean_nothing_in_a_module(tmp_path: Path) -> None:
    objects = made(owned=False)
    container = named(objects, MODULE)["spec"]["moduleLoader"]["container"]
    container["registryTLS"] = {}
    container["kernelMappings"][0]["containerImage"] = "registry.example.com/npu:${KERNEL_FULL_VERSION}"
    answer(tmp_path, 0, *objects)


def test_a_services_selector_is_replaced_as_a_whole() -> None:
    git = {"kind": "Service", "spec": {"selector": {"a": "1"}, "ports": [{"port": 80}]}}
    live = {
        "kind": "Service",
        "spec": {"selector": {"a": "1", "b": "2"}, "clusterIP": "10.0.0.1", "ports": [{"port": 80, "targetPort": 80}]},
    }
    assert [(field.path, field.outcome) for field in compare(live, git).differs] == [("spec.selector.b", "goes")]


def test_a_pod_template_that_differs_is_a_change(tmp_path: Path) -> None:
    objects = made(owned=False)
    del named(objects, PLUGIN)["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/name"]
    (differs,) = (entry["differs"] for entry in answer(tmp_path, 1, *objects)["objects"] if entry["differs"])
    assert [(field["live"], field["sync"]) for field in differs] == [(None, "changes")]


REPLACING = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: drivers, namespace: argocd}
spec:
  source: {repoURL: "https://git.example.com/fleet.git", path: git, plugin: {name: krmfn}}
  destination: {name: lab}
  syncPolicy: {syncOptions: [Replace=true]}
"""


@pytest.mark.parametrize("option", ["Replace=true", "ServerSideApply=true"])
def test_a_field_that_only_the_cluster_has_goes_where_an_application_replaces_objects(
    tmp_path: Path, option: str
) -> None:
    objects = made(owned=False)
    named(objects, PLUGIN)["spec"]["template"]["spec"]["hostNetwork"] = True
    write(tmp_path)
    (tmp_path / "app.yaml").write_text(REPLACING.replace("Replace=true", option))
    words = ("--live", f"lab={dump(tmp_path, *objects)}", "--format", "json")
    done = process("krmfn", "adopt", ".", *words, cwd=tmp_path)
    (differs,) = (entry["differs"] for entry in json.loads(done.text)["objects"] if entry["differs"])
    assert [field["sync"] for field in differs] == ["goes" if option == "Replace=true" else "stays"]
    assert done.code == int(option == "Replace=true")


def test_the_proof_reads_a_new_dump_and_not_the_old_one(tmp_path: Path) -> None:
    (line,) = (line for line in commands(answer(tmp_path, 1, *made())) if line.startswith("krmfn adopt"))
    folder = tmp_path / "git"
    assert line == f"krmfn adopt {folder} --kubectl | DUMP=after.json sh && krmfn adopt {folder} --live after.json"


def test_labels_and_annotations_of_an_object_change_nothing_on_a_node(tmp_path: Path) -> None:
    objects = made(owned=False)
    named(objects, PLUGIN)["metadata"] |= {"labels": {"team": "a"}, "annotations": {"note": "b"}}
    answer(tmp_path, 0, *objects)


def test_a_field_that_only_the_cluster_has_stays_unless_something_takes_it(tmp_path: Path) -> None:
    objects = made(owned=False)
    plugin = named(objects, PLUGIN)
    plugin["spec"]["template"]["spec"]["hostNetwork"] = True

    def outcome(code: int) -> list[str]:
        differs = [field for entry in answer(tmp_path, code, *objects)["objects"] for field in entry["differs"]]
        assert [field["git"] for field in differs] == [None]
        return [field["sync"] for field in differs]

    assert outcome(0) == ["stays"]
    applied = {"spec": {"template": {"spec": {"hostNetwork": True}}}}
    plugin["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(applied)}
    assert outcome(1) == ["goes"]


def test_a_field_in_a_list_that_is_replaced_goes(tmp_path: Path) -> None:
    objects = made(owned=False)
    mappings = named(objects, MODULE)["spec"]["moduleLoader"]["container"]["kernelMappings"]
    mappings[0]["inTreeModulesToRemove"] = ["npu"]
    (differs,) = (entry["differs"] for entry in answer(tmp_path, 1, *objects)["objects"] if entry["differs"])
    assert [field["sync"] for field in differs] == ["goes"]


def test_a_selector_that_differs_cannot_be_changed(tmp_path: Path) -> None:
    objects = made(owned=False)
    named(objects, PLUGIN)["spec"]["selector"]["matchLabels"] = {"app": "plugin"}
    data = answer(tmp_path, 1, *objects)
    assert {field["sync"] for entry in data["objects"] for field in entry["differs"]} == {"refused"}
    (step,) = (step for step in data["steps"] if "--cascade=orphan" in step.get("command", ""))
    assert "`matchLabels` of the Profile" in step["text"]


def test_what_git_does_not_render_goes_with_the_owner(tmp_path: Path) -> None:
    metadata = {"name": "metrics", "namespace": "npu", "uid": "s", "ownerReferences": [dict(OWNER)]}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": metadata}
    done = adopt(tmp_path, *made(owned=False), service, config(), words=())
    assert done.code == 1
    assert "not rendered by Git, and deleted with its owner: Service npu/metrics" in done.text


def test_owners_are_followed_to_the_top(tmp_path: Path) -> None:
    objects = made()
    reference = {"apiVersion": "npu.example.org/v1", "kind": "NpuDriver", "name": "d", "uid": "u-driver"}
    named(objects, MODULE)["metadata"]["ownerReferences"] = [reference]
    top = config()["metadata"]
    driver = {
        "apiVersion": "npu.example.org/v1",
        "kind": "NpuDriver",
        "metadata": {
            "name": "d",
            "namespace": "npu",
            "uid": "u-driver",
            "ownerReferences": [
                {"apiVersion": "npu.example.org/v1", "kind": "NpuPolicy", "name": "main", "uid": top["uid"]}
            ],
        },
    }
    (entry,) = (e for e in answer(tmp_path, 1, *objects, driver, config())["objects"] if e["ref"] == "Module npu/main")
    assert [(owner["name"], owner["via"]) for owner in entry["owners"][:2]] == [
        ("d", "ownerReferences"),
        ("main", "ownerReferences of NpuDriver npu/d"),
    ]
    text = adopt(tmp_path, *objects, words=()).text
    assert "an owner is NpuDriver npu/d, which the dump does not show, so what owns it is not known" in text


def test_an_owner_with_another_uid_is_told(tmp_path: Path) -> None:
    top = config()
    top["metadata"]["uid"] = "00000000-0000-4000-8000-00000000ffff"
    text = adopt(tmp_path, *made(), top, words=()).text
    assert "NpuPolicy npu/main, which is there with another uid" in text


def test_a_dump_without_managed_fields_says_so(tmp_path: Path) -> None:
    objects = made(owned=False)
    for manifest in objects:
        del manifest["metadata"]["managedFields"]
    done = adopt(tmp_path, *objects, words=())
    assert done.code == 0
    assert "managers of fields are not known: add --show-managed-fields" in done.text


def test_what_the_dump_does_not_show_is_not_known(tmp_path: Path) -> None:
    objects = [manifest for manifest in made(owned=False) if manifest["kind"] != "DaemonSet"]
    done = adopt(tmp_path, *objects, words=())
    assert done.code == 1
    assert "not in the dump, so who owns it is not known: DaemonSet npu/main-plugin" in done.text


def test_git_takes_over_nothing_where_it_renders_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    live = str(dump(tmp_path, *made(owned=False)))
    done = process("krmfn", "adopt", str(tmp_path / "empty"), "--live", live).ended(1)
    assert "not yet: Git renders no object, so nothing takes the place of what runs" in done.text
    assert "Git can take over" not in done.text


def test_git_does_not_take_over_where_a_config_has_an_error(tmp_path: Path) -> None:
    odd = "{apiVersion: krmfn.dev/v1alpha1, kind: DeviceConfig, metadata: {name: x, namespace: npu}, spec: {odd: 1}}"
    (write(tmp_path) / "odd.yaml").write_text(odd)
    done = adopt(tmp_path, *made(owned=False), words=()).ended(1)
    assert "not yet: what Git renders has errors, so objects may be missing" in done.text
    assert "Git can take over" not in done.text


def test_secrets_are_told_and_not_printed(tmp_path: Path) -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "key", "namespace": "npu"},
        "data": {"a": "aGk="},
    }
    done = adopt(tmp_path, *made(owned=False), secret, words=())
    assert done.code == 0
    assert "the dump has 1 Secret" in done.text
    assert "aGk=" not in done.text + done.err


def deployment(**metadata: Any) -> Manifest:
    container = {"name": "manager", "image": "registry.example.com/npu-operator:1", "command": ["/npu-operator"]}
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "npu"}},
        "template": {"spec": {"containers": [container]}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "spec": spec,
        "metadata": {"name": "controller", "namespace": "npu-system", **metadata},
    }


def test_the_operators_deployment_is_found_and_what_puts_it_back_is_told(tmp_path: Path) -> None:
    labels = {"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
    data = answer(tmp_path, 1, *made(), config(), deployment(labels=labels))
    assert data["steps"][0]["command"] == "kubectl scale deployment -n npu-system controller --replicas=0"
    assert "Kustomization flux-system/apps would put the number back" in data["steps"][0]["text"]


def test_under_olm_the_version_is_patched_after_its_subscription(tmp_path: Path) -> None:
    version = {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {"name": "npu.v1", "namespace": "npu-system"},
        "spec": {
            "customresourcedefinitions": {"owned": [{"name": "npupolicies.npu.example.org", "kind": "NpuPolicy"}]},
            "install": {"spec": {"deployments": [{"name": "controller", "spec": {"replicas": 1}}]}},
        },
    }
    subscription = {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "Subscription",
        "metadata": {"name": "npu", "namespace": "npu-system"},
        "spec": {"installPlanApproval": "Automatic"},
        "status": {"installedCSV": "npu.v1"},
    }
    lines = commands(answer(tmp_path, 1, *made(), config(), deployment(), version, subscription))
    assert "installPlanApproval" in lines[0]
    assert "clusterserviceversion.operators.coreos.com -n npu-system npu.v1" in lines[1]
    assert "/spec/install/spec/deployments/0/spec/replicas" in lines[1]
    assert not any("scale deployment" in line for line in lines)


def test_a_helm_release_is_an_owner(tmp_path: Path) -> None:
    objects = made(owned=False)
    module = named(objects, MODULE)
    module["metadata"]["annotations"] = {
        "meta.helm.sh/release-name": "npu",
        "meta.helm.sh/release-namespace": "npu",
    }
    data = answer(tmp_path, 1, *objects)
    assert "kubectl delete secret -n npu -l owner=helm,name=npu" in commands(data)


def test_an_operator_that_still_runs_may_write_its_references_again(tmp_path: Path) -> None:
    done = adopt(tmp_path, *made(owned=False), config(), deployment(), words=())
    assert done.code == 1
    assert "the operator npu-system/controller runs and NpuPolicy npu/main is there" in done.text


def test_a_dump_that_cannot_be_read_is_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"items": [')
    git = str(write(tmp_path))
    assert "bad.json" in process("krmfn", "adopt", git, "--live", str(tmp_path / "bad.json")).refused()
    assert "pass --live DUMP" in process("krmfn", "adopt", git).refused()


def test_the_loop_asks_for_what_git_renders_with_managed_fields(tmp_path: Path) -> None:
    text = process("krmfn", "adopt", str(write(tmp_path)), "--kubectl").ended(0, "").text
    for word in ("modules.kmm.sigs.x-k8s.io", "daemonset.apps", "configmap", "npupolicy.npu.example.org"):
        assert f"    {word}" in text
    assert "--show-managed-fields" in text
    assert "secret" not in text.lower()


def test_another_module_that_loads_the_same_kernel_module_is_no_take_over(tmp_path: Path) -> None:
    objects = made(owned=False)
    rival = json.loads(json.dumps(named(objects, MODULE)))
    rival["metadata"] |= {"name": "theirs", "namespace": "vendor"}
    done = adopt(tmp_path, *objects, rival, words=())
    assert done.code == 1, done
    assert "not yet: " in done.text
    assert "Module vendor/theirs (in the dump" in done.text
    assert "Git can take over" not in done.text


def test_what_is_being_deleted_is_no_take_over(tmp_path: Path) -> None:
    objects = made(owned=False)
    named(objects, MODULE)["metadata"]["deletionTimestamp"] = "2026-11-28T01:00:00Z"
    done = adopt(tmp_path, *objects, words=())
    assert done.code == 1, done
    assert "not yet: Module npu/main is being deleted since 2026-11-28T01:00:00Z" in done.text
