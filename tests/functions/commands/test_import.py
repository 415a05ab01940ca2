"""The command `import`, from files and streams to a folder of DeviceConfigs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from krmfn import Manifest
from krmfn.yamltext import emit
from tests.builders import edited, manifest, module
from tests.commands import Done, process
from tests.functions.importing.manifests import DUMPED_EXPORTER, DUMPED_GPU, EXPORTER, GPU
from tests.trees import plant


def text(*manifests: Manifest) -> str:
    return "---\n".join(map(emit.dump, manifests))


def dump(*manifests: Manifest) -> str:
    """What `kubectl get -o yaml` prints."""
    return emit.dump({"apiVersion": "v1", "kind": "List", "items": list(manifests)})


def run(folder: Path, *args: str, stdin: str = "") -> Done:
    return process("krmfn", "import", *args, "-o", "out", stdin=stdin, cwd=folder)


def test_a_stream_becomes_a_folder_that_renders_to_the_same(tmp_path: Path) -> None:
    done = run(tmp_path, "-", stdin=dump(DUMPED_GPU, DUMPED_EXPORTER)).ended(0, "")
    assert done.text.startswith("out: 1 DeviceConfig, in place of 1 Module, 1 DaemonSet\n")
    assert '  DaemonSet kmm/gpu-metrics: spec.template.spec.nodeSelector.gpu: (none) -> "a"\n' in done.text
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["deviceconfig-gpu.yaml"]
    assert process("krmfn", "check", "out", cwd=tmp_path).code == 0
    rendered = process("krmfn", "render", "out", cwd=tmp_path).text
    process("krmfn", "import", "-", "-o", "again", stdin=rendered, cwd=tmp_path).ended(0)
    first, second = (tmp_path / folder / "deviceconfig-gpu.yaml" for folder in ("out", "again"))
    assert first.read_text() == second.read_text()


def test_diff_shows_what_the_import_has_named(tmp_path: Path) -> None:
    gpu = edited(GPU, ("spec.moduleLoader.container.modprobe.dirName", "/opt"))  # KMM's own, which we write
    (tmp_path / "written.yaml").write_text(text(gpu, EXPORTER))
    report = run(tmp_path, "written.yaml").text
    assert "  krmfn diff written.yaml out\n" in report
    done = process("krmfn", "diff", "written.yaml", "out", "--format", "json", cwd=tmp_path)
    changes = json.loads(done.text)["changes"]
    assert [change["change"] for change in changes] == ["changed", "changed"]
    for change in changes:
        for field in change["fields"]:
            ours = field["path"].startswith(("metadata.", "spec.template.metadata.labels"))
            assert ours or field["path"] in report, field
            assert "old" not in field, "nothing is lost"


def test_a_dump_is_not_to_be_given_to_diff(tmp_path: Path) -> None:
    (tmp_path / "dump.yaml").write_text(dump(DUMPED_GPU, DUMPED_EXPORTER))
    report = run(tmp_path, "dump.yaml").text
    assert ("krmfn diff" in report, "krmfn render out | kubectl diff" in report) == (False, True)


def test_several_files_make_one_import_with_profiles(tmp_path: Path) -> None:
    nic = edited(module(name="nic"), ("spec.moduleLoader.container.modprobe.moduleName", "nic"))
    plant(tmp_path, {"gpu.yaml": text(GPU), "more/nic.yaml": text(nic), "more/exporter.yaml": text(EXPORTER)})
    done = run(tmp_path, "gpu.yaml", "more").ended(0)
    assert "2 DeviceConfigs, 1 functionConfig with 2 profiles, in place of 2 Modules, 1 DaemonSet" in done.text
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["deviceconfig-gpu.yaml", "deviceconfig-nic.yaml", "renderdeviceconfigs-imported.yaml"]
    assert process("krmfn", "check", "out", cwd=tmp_path).code == 0


EXISTING = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: ours}
spec:
  profiles:
    ours: {moduleName: nic, driverImage: registry.example.com/nic}
    another: {moduleName: nic, firmwarePath: /fw}
"""


def nic(version: str, **metadata: Any) -> dict[str, Any]:
    image = {"regexp": "^.+$", "containerImage": f"registry.example.com/nic:{version}-$KERNEL_FULL_VERSION"}
    return edited(module(image, name="nic", **metadata), ("spec.moduleLoader.container.modprobe.moduleName", "nic"))


def test_a_profile_that_is_there_already_is_used(tmp_path: Path) -> None:
    plant(tmp_path, {"all.yaml": text(GPU, nic("1.0")), "ours.yaml": EXISTING})
    done = run(tmp_path, "all.yaml", "--function-config", "ours.yaml").ended(0)
    config = yaml.safe_load((tmp_path / "out/deviceconfig-nic.yaml").read_text())
    assert config["spec"] == {"profile": "ours", "driverVersion": "1.0", "nodeSelector": {"a": "b"}}
    assert "krmfn check out --function-config ours.yaml\n" in done.text
    checked = process("krmfn", "check", "out", "--function-config", "ours.yaml", cwd=tmp_path)
    assert (checked.code, "another: no config names this profile" in checked.text) == (0, True)
    assert not (tmp_path / "out/renderdeviceconfigs-imported.yaml").exists()


def test_a_function_config_that_is_wrong_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    plant(tmp_path, {"all.yaml": text(GPU), "ours.yaml": EXISTING.replace("firmwarePath", "firmwarePaht")})
    done = run(tmp_path, "all.yaml", "--function-config", "ours.yaml")
    assert (done.code, (tmp_path / "out").exists()) == (2, False)
    assert "spec.profiles.another.firmwarePaht" in done.err


def test_a_new_profile_takes_no_name_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(text(nic("1.0"), nic("2.0", namespace="other", selector={"a": "c"})))
    (tmp_path / "ours.yaml").write_text(EXISTING.replace("ours:", "nic:").replace("moduleName: nic", "moduleName: x"))
    done = run(tmp_path, "all.yaml", "--function-config", "ours.yaml").ended(0)
    config = yaml.safe_load((tmp_path / "out/renderdeviceconfigs-imported.yaml").read_text())
    assert list(config["spec"]["profiles"]) == ["nic-imported"]
    (check,) = re.findall("krmfn (check .*)", done.text)
    assert process("krmfn", *check.split(), cwd=tmp_path).code == 0


def test_several_clusters_share_one_function_config(tmp_path: Path) -> None:
    for cluster, version in (("lab", "2.0"), ("prod", "1.0")):
        plant(tmp_path, {f"{cluster}/all.yaml": text(GPU, nic(version))})
    done = run(tmp_path, "--cluster", "lab=lab", "--cluster", "prod=prod").ended(0)
    assert "out/renderdeviceconfigs-imported.yaml: 2 profiles that the clusters share\n" in done.text
    files = [tmp_path / f"out/{name}/deviceconfig-nic.yaml" for name in ("lab", "prod")]
    specs = [yaml.safe_load(file.read_text())["spec"] for file in files]
    assert [(spec["profile"], spec["driverVersion"]) for spec in specs] == [("nic", "2.0"), ("nic", "1.0")]
    (check,) = re.findall("krmfn (check .*)", done.text)
    assert process("krmfn", *check.split(), cwd=tmp_path).code == 0


def test_each_cluster_is_compared_with_what_it_was(tmp_path: Path) -> None:
    for cluster, version in (("lab", "2.0"), ("prod", "1.0")):
        plant(tmp_path, {f"{cluster}/all.yaml": text(nic(version))})
    (tmp_path / ".git").mkdir()
    (tmp_path / ".krmfn.yaml").write_text("clusters:\n  first: [lab]\n  second: [prod]\n")
    done = run(tmp_path, "prod", "lab")
    assert re.findall("krmfn diff (\\S+) (\\S+)", done.text) == [("lab", "out/first"), ("prod", "out/second")]


def test_what_cannot_be_expressed_is_named_with_its_line_and_written_beside(tmp_path: Path) -> None:
    odd = edited(module(name="odd", selector={"gpu": "b"}), ("spec.imageRebuildTriggerGeneration", 3))
    (tmp_path / "all.yaml").write_text(text(GPU, odd))
    done = run(tmp_path, "all.yaml").ended(0)
    line = text(GPU).count("\n") + 1
    assert done.err == (
        f"all.yaml:{line}: warning: Module kmm/odd: stays as it is: spec.imageRebuildTriggerGeneration: "
        "a DeviceConfig has no field for it\n"
    )
    assert (tmp_path / "out/module-odd.yaml").read_text() == emit.dump(odd)
    assert "1 object kept beside them as written by hand" in done.text
    kinds = [line for line in process("krmfn", "render", "out", cwd=tmp_path).text.splitlines() if line[:5] == "kind:"]
    assert kinds == ["kind: Module", "kind: Module"]


def test_an_object_of_an_operator_is_warned_about(tmp_path: Path) -> None:
    owner = {"apiVersion": "amd.com/v1alpha1", "kind": "DeviceConfig", "name": "gpu", "uid": "1", "controller": True}
    done = run(tmp_path, "-", stdin=dump(edited(DUMPED_GPU, ("metadata.ownerReferences", [owner])))).ended(0)
    assert "belongs to DeviceConfig gpu, which will overwrite it" in done.err


def test_a_namespace_for_manifests_without_one(tmp_path: Path) -> None:
    (tmp_path / "gpu.yaml").write_text(text(module(name="gpu", namespace="")))
    assert run(tmp_path, "gpu.yaml", "--namespace", "drivers").code == 0
    assert "namespace: drivers\n" in (tmp_path / "out/deviceconfig-gpu.yaml").read_text()


@pytest.mark.parametrize(
    ("args", "stdin", "message"),
    [
        (["-"], dump(EXPORTER), "no Module is in -, so there is nothing to import; is it the right PATH?"),
        (
            ["-"],
            dump(GPU, GPU),
            "Module kmm/gpu appears 2 times (last in stdin:21); remove all but one, or name the clusters with --clu",
        ),
        (["-", "--function-config", "x.yaml"], dump(GPU), "x.yaml: No such file or directory"),
    ],
)
def test_what_cannot_be_imported_writes_nothing(tmp_path: Path, args: list[str], stdin: str, message: str) -> None:
    assert message in run(tmp_path, *args, stdin=stdin).ended(2).err
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    plant(tmp_path, {"out/deviceconfig-gpu.yaml": "mine"})
    refusal = run(tmp_path, "-", stdin=dump(GPU)).refused()
    assert refusal == "error: out is not empty; pass a new folder, so that no stale objects stay in it\n"
    assert (tmp_path / "out/deviceconfig-gpu.yaml").read_text() == "mine"


def test_configs_that_cannot_be_told_apart_are_an_error_of_what_is_written(tmp_path: Path) -> None:
    """On the cluster their nodes may differ; in Git nobody knows, and `check` says the same."""
    gpus = [module(name="a", selector={"gpu": "a"}), module(name="b", selector={"site": "b"})]
    assert "KRM302" in run(tmp_path, "-", stdin=dump(*gpus)).ended(1).err
    assert process("krmfn", "check", "out", cwd=tmp_path).code == 1


def test_nothing_that_can_be_expressed_is_said_and_what_is_left_out_is_counted(tmp_path: Path) -> None:
    odd = edited(module(name="odd"), ("spec.imageRebuildTriggerGeneration", 3))
    done = run(tmp_path, "-", stdin=dump(odd, manifest("v1", "Secret"), manifest("v1", "ConfigMap"))).ended(0)
    assert done.text == (
        "out: no DeviceConfig, since nothing can be expressed as one\n"
        "1 object kept beside them as written by hand: no DeviceConfig can express that\n"
        "2 other objects left out: neither a Module nor a DaemonSet that waits for one\n"
    )
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["module-odd.yaml"]


def test_modules_of_one_name_have_files_of_their_own(tmp_path: Path) -> None:
    gpus = [module(name="gpu", namespace=name, selector={"site": name}) for name in ("north", "south")]
    assert run(tmp_path, "-", stdin=dump(*gpus)).code == 0
    names = sorted(path.name for path in (tmp_path / "out").glob("device*"))
    assert names == ["deviceconfig-north-gpu.yaml", "deviceconfig-south-gpu.yaml"]


def test_long_values_are_shortened_in_the_report(tmp_path: Path) -> None:
    labels = {"app.kubernetes.io/name": "x"}
    gpu = edited(GPU, ("metadata.labels", labels), ("metadata.annotations", {"note": "y" * 99}))
    done = run(tmp_path, "-", stdin=dump(gpu, EXPORTER))
    assert '-> "yyyy' in done.text
    assert 'metadata.labels[app.kubernetes.io/name]: "x" -> its own' in done.text
    assert max(map(len, done.text.splitlines())) < 300
