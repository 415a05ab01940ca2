"""The command `init`: what it writes is clean, renders what runs, and is written over nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from functions.importing import vendors
from krmfn import Manifest
from tests.commands import ROOT, Done, process
from tests.functions.importing.manifests import DUMPED_EXPORTER, DUMPED_GPU
from tests.trees import plant


def run(folder: Path, *args: str) -> Done:
    return process("krmfn", "init", *args, cwd=folder)


def written(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def dump(folder: Path, name: str, *manifests: Manifest) -> None:
    (folder / name).write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(manifests)}))


def node(name: str, **labels: str) -> Manifest:
    facts = {"nodeInfo": {"kernelVersion": "5.14.0-503.11.1.el9_5.x86_64", "kubeletVersion": "v1.31.2"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": facts}


def edited_gpu(**spec: object) -> Manifest:
    return {**DUMPED_GPU, "spec": {**DUMPED_GPU["spec"], **spec}}


def test_from_nothing_one_config_is_written_and_explained(tmp_path: Path) -> None:
    done = run(tmp_path).ended(0, "")
    assert written(tmp_path) == {"deviceconfig.yaml", "kustomization.yaml"}
    first = ["deviceconfig.yaml: the first config, to change", "kustomization.yaml: what is deployed"]
    assert done.text.splitlines()[:2] == first
    config = yaml.safe_load((tmp_path / "deviceconfig.yaml").read_text())
    process("krmfn", "check", "deviceconfig.yaml", cwd=tmp_path).ended(0)
    assert config["kind"] == "DeviceConfig"


def test_clusters_share_a_base_and_stand_in_the_configuration_file(tmp_path: Path) -> None:
    plant(tmp_path, {".git/HEAD": ""})
    run(tmp_path, "gpus", "--cluster", "dev", "--cluster", "prod").ended(0, "")
    assert written(tmp_path) - {".git/HEAD"} == {
        ".krmfn.yaml",
        "gpus/base/deviceconfig.yaml",
        "gpus/base/kustomization.yaml",
        "gpus/clusters/dev/kustomization.yaml",
        "gpus/clusters/prod/kustomization.yaml",
    }
    expected = {"clusters": {"dev": ["gpus/clusters/dev"], "prod": ["gpus/clusters/prod"]}}
    assert yaml.safe_load((tmp_path / ".krmfn.yaml").read_text()) == expected


def test_dumps_become_what_renders_them(tmp_path: Path) -> None:
    """What both clusters have alike is in the base; each has its nodes, with the labels that selectors use alone."""
    other = edited_gpu(selector={"gpu": "b"})
    dump(tmp_path, "a.json", DUMPED_GPU, DUMPED_EXPORTER, node("a1", gpu="a", more="x"))
    dump(tmp_path, "b.json", other, node("b1", gpu="b"), node("b2", gpu="b"))
    done = run(tmp_path, "repo", "--live", "a=a.json", "--live", "b=b.json").ended(0, "")
    lines = done.text.splitlines()
    lacks = "so none is imported; `krmfn init --kubectl` prints what asks for all"
    assert lines[:4] == [
        "a: 1 DeviceConfig in place of 1 Module, 1 DaemonSet",
        f"a: the dump has no ConfigMaps, {lacks}",
        "b: 1 DeviceConfig in place of 1 Module",
        f"b: the dump has no DaemonSets and ConfigMaps, {lacks}",
    ]
    assert "  krmfn adopt repo --live a=a.json --live b=b.json    # the steps until Git has it" in lines
    spec = yaml.safe_load((tmp_path / "repo/inventories/b.yaml").read_text())["spec"]
    assert spec["nodeCount"] == 2
    assert spec["labelKeys"] == ["gpu"]
    for name in ("a", "b"):
        configs = yaml.safe_load((tmp_path / f"repo/clusters/{name}/kustomization.yaml").read_text())["resources"]
        assert "deviceconfig-gpu.yaml" in configs
        process("krmfn", "check", f"repo/clusters/{name}/deviceconfig-gpu.yaml", cwd=tmp_path)


def test_the_loop_for_kubectl_asks_for_all_that_is_imported_and_for_no_secret(tmp_path: Path) -> None:
    text = run(tmp_path, "--kubectl").ended(0, "").text
    kinds = ("nodes", "modules.kmm.sigs.x-k8s.io", "daemonsets.apps", "configmaps", "deployments.apps")
    assert all(f"    {kind} \\\n" in text for kind in (*kinds, "deviceconfig.amd.com")), text
    assert "--show-managed-fields" in text
    assert "secret" not in text
    assert written(tmp_path) == set()


def test_without_kustomize_it_is_not_known_whether_git_can_take_over(tmp_path: Path) -> None:
    dump(tmp_path, "a.json", DUMPED_GPU, node("a1", gpu="a"))
    done = process("krmfn", "init", "repo", "--live", "a=a.json", cwd=tmp_path, PATH=str(tmp_path)).ended(0, "")
    assert "whether Git can take over is not known yet: " in done.text


def test_configs_that_all_clusters_have_alike_are_written_once(tmp_path: Path) -> None:
    for name in ("a", "b"):
        dump(tmp_path, f"{name}.json", DUMPED_GPU, node(f"{name}1", gpu="a"))
    run(tmp_path, "repo", "--live", "a=a.json", "--live", "b=b.json", "--cluster", "new").ended(0, "")
    assert "repo/base/deviceconfig-gpu.yaml" in written(tmp_path)
    assert not [path for path in written(tmp_path) if path.startswith("repo/clusters/") and "deviceconfig" in path]
    resources = yaml.safe_load((tmp_path / "repo/clusters/new/kustomization.yaml").read_text())["resources"]
    assert resources == ["../../base"]


def test_a_new_cluster_beside_one_with_configs_of_its_own_gets_a_first_one(tmp_path: Path) -> None:
    dump(tmp_path, "a.json", DUMPED_GPU)
    done = run(tmp_path, "--live", "a=a.json", "--cluster", "new").ended(0, "")
    assert "a: the dump has no nodes, so it gets no inventory" in done.text
    resources = yaml.safe_load((tmp_path / "clusters/new/kustomization.yaml").read_text())["resources"]
    assert "deviceconfig.yaml" in resources
    assert [name for name in resources if (tmp_path / "clusters/new" / name).exists()] == resources


@pytest.mark.parametrize(
    ("args", "there", "message"),
    [
        ((), "kustomization.yaml", "kustomization.yaml is there, and nothing is written over it; pass another folder"),
        (("--cluster", "a"), "base/kustomization.yaml", "base/kustomization.yaml is there"),
        (("--cluster", "../a"), "x", "'../a' cannot be the name of a cluster"),
        (("--cluster=-a",), "x", "'-a' cannot be the name of a cluster; begin with a letter or digit"),
        (("--cluster", "_a"), "x", "'_a' cannot be the name of a cluster"),
        (("--cluster", "a\n"), "x", "'a\\n' cannot be the name of a cluster"),
        (("",), "x", "DIR is empty; name the folder of the repository, or leave it out for this one"),
        (("--live", "a"), "x", "--live 'a' must be NAME=DUMP"),
        (("--live", "a=x", "--live", "a=y"), "x", "--live names a twice"),
        (("--live", "a=missing.json"), "x", "missing.json"),
        (("--live", "a=-"), "x", "--live 'a=-' is no file, and a dump is read twice"),
        (("--live", "a=dumps"), "dumps/x", "--live 'a=dumps' is no file, and a dump is read twice"),
        (("--live", "a=x,y"), "x,y", "--live 'a=x,y' has a comma, which divides paths; rename the dump"),
        (("--live", "a=x"), "x", "no Module is in a, so there is nothing to import"),
    ],
)
def test_nothing_is_written_on_an_error(args: tuple[str, ...], there: str, message: str, tmp_path: Path) -> None:
    plant(tmp_path, {there: "not a dump\n"})
    assert message in run(tmp_path, *args).ended(2).err
    assert written(tmp_path) == {there}
    assert (tmp_path / there).read_text() == "not a dump\n"


def test_a_configuration_file_that_is_there_stays(tmp_path: Path) -> None:
    plant(tmp_path, {".krmfn.yaml": "exclude: [x]\n"})
    done = run(tmp_path, "--cluster", "a").ended(0, "")
    assert ".krmfn.yaml is there; let it have these lines:\nclusters:\n  a:\n  - clusters/a\n" in done.text
    assert (tmp_path / ".krmfn.yaml").read_text() == "exclude: [x]\n"


def test_a_dump_without_a_module_is_told(tmp_path: Path) -> None:
    dump(tmp_path, "a.json", node("a1"))
    assert "no Module is in a, so there is nothing to import" in run(tmp_path, "--live", "a=a.json").ended(2).err
    assert written(tmp_path) == {"a.json"}


@pytest.mark.parametrize("vendor", vendors.names())
def test_a_vendor_s_product_is_a_beginning(vendor: str, tmp_path: Path) -> None:
    """Its Profile as it is shipped, and a config of its kind; what they make is as good as krmfn's own examples are."""
    run(tmp_path, "--vendor", vendor).ended(0, "")
    shipped = ROOT / "examples/vendor-profiles" / vendor
    assert (tmp_path / f"{vendor}-profile.yaml").read_bytes() == (shipped / "profile.yaml").read_bytes()
    listed = yaml.safe_load((tmp_path / "kustomization.yaml").read_text())["resources"]
    assert {*listed, "kustomization.yaml"} == written(tmp_path)
    (tmp_path / "kustomization.yaml").unlink()  # it is for kustomize, which need not be here
    process("krmfn", "check", ".", cwd=tmp_path).ended(0, "")
    rendered = process("krmfn", "render", "--quiet", ".", cwd=tmp_path).ended(0).out
    assert rendered == process("krmfn", "render", "--quiet", str(shipped)).ended(0).out


def test_vendors_of_several_clusters_are_in_their_base(tmp_path: Path) -> None:
    run(tmp_path, "--vendor", "habana", "--vendor", "onload", "--cluster", "dev", "--cluster", "lab").ended(0, "")
    listed = yaml.safe_load((tmp_path / "base/kustomization.yaml").read_text())["resources"]
    assert listed == ["gaudi.yaml", "habana-profile.yaml", "onload-profile.yaml", "onload.yaml"]


def test_an_unknown_vendor_is_an_error_with_the_known_ones(tmp_path: Path) -> None:
    done = run(tmp_path, "--vendor", "amdgpu").ended(2)
    assert done.err == "error: no Profile amdgpu is shipped; did you mean amd-gpu?\n"
    assert not written(tmp_path)


def test_the_config_of_a_vendor_s_operator_is_kept_with_its_profile(tmp_path: Path) -> None:
    """What the operator made is made by the Profile, so it gets no second config."""
    shipped = ROOT / "examples/vendor-profiles/habana"
    made = yaml.safe_load_all(process("krmfn", "render", "--quiet", str(shipped)).ended(0).out)
    config = yaml.safe_load((shipped / "gaudi.yaml").read_text())
    dump(tmp_path, "a.json", config, *made, node("a1", **config["spec"].get("selector", {})))
    done = run(tmp_path, "repo", "--live", "a=a.json").ended(0)
    folder = tmp_path / "repo/clusters/a"
    assert (folder / "habana-profile.yaml").read_bytes() == (shipped / "profile.yaml").read_bytes()
    listed = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
    assert listed == [f"deviceconfig-{config['metadata']['name']}.yaml", "habana-profile.yaml"], done.text
    assert yaml.safe_load((folder / listed[0]).read_text())["spec"] == config["spec"]
    adopted = process("krmfn", "adopt", "repo", "--live", "a=a.json", "--format", "json", cwd=tmp_path)
    report = json.loads(adopted.out)
    assert report["nodes"]["reloaded"] == report["nodes"]["lost"] == []
    assert all(entry["equal"] == entry["fields"] for entry in report["objects"]), report["objects"]


def test_a_profile_of_the_dump_goes_before_the_one_that_is_shipped(tmp_path: Path) -> None:
    shipped = ROOT / "examples/vendor-profiles/habana"
    made = yaml.safe_load_all(process("krmfn", "render", "--quiet", str(shipped)).ended(0).out)
    config, profile = (yaml.safe_load((shipped / name).read_text()) for name in ("gaudi.yaml", "profile.yaml"))
    profile["metadata"]["annotations"] = {"example.com/ours": "true"}
    dump(tmp_path, "a.json", config, profile, *made, node("a1"))
    run(tmp_path, "repo", "--live", "a=a.json").ended(0)
    (file,) = (tmp_path / "repo/clusters/a").glob("*profile*")
    assert yaml.safe_load(file.read_text())["metadata"]["annotations"] == {"example.com/ours": "true"}
