"""The command `import`, from files and streams to a folder of DeviceConfigs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from krmfn import Manifest
from krmfn.yamltext import emit
from tests.builders import edited, manifest, module
from tests.commands import Done, process
from tests.functions.importing.manifests import DUMPED_EXPORTER, DUMPED_GPU, EXPORTER, GPU


def text(*manifests: Manifest) -> str:
    return "---\n".join(map(emit.dump, manifests))


def dump(*manifests: Manifest) -> str:
    """What `kubectl get -o yaml` prints."""
    return emit.dump({"apiVersion": "v1", "kind": "List", "items": list(manifests)})


def run(folder: Path, *args: str, stdin: str = "") -> Done:
    return process("krmfn", "import", *args, "-o", "out", stdin=stdin, cwd=folder)


def test_a_stream_becomes_a_folder_that_renders_to_the_same(tmp_path: Path) -> None:
    done = run(tmp_path, "-", stdin=dump(DUMPED_GPU, DUMPED_EXPORTER))
    assert (done.code, done.err) == (0, "")
    assert done.text.startswith("out: 1 DeviceConfig, in place of 1 Module, 1 DaemonSet\n")
    assert '  DaemonSet kmm/gpu-metrics: spec.template.spec.nodeSelector.gpu: (none) -> "a"\n' in done.text
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["deviceconfig-gpu.yaml"]
    assert process("krmfn", "check", "out", cwd=tmp_path).code == 0
    rendered = process("krmfn", "render", "out", cwd=tmp_path).text
    again = process("krmfn", "import", "-", "-o", "again", stdin=rendered, cwd=tmp_path)
    assert again.code == 0
    assert (tmp_path / "again/deviceconfig-gpu.yaml").read_text() == (
        tmp_path / "out/deviceconfig-gpu.yaml"
    ).read_text()


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
    (tmp_path / "gpu.yaml").write_text(text(GPU))
    (tmp_path / "more").mkdir()
    (tmp_path / "more/nic.yaml").write_text(text(nic))
    (tmp_path / "more/exporter.yaml").write_text(text(EXPORTER))
    done = run(tmp_path, "gpu.yaml", "more")
    assert done.code == 0, done.err
    assert "2 DeviceConfigs, 1 functionConfig with 2 profiles, in place of 2 Modules, 1 DaemonSet" in done.text
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["deviceconfig-gpu.yaml", "deviceconfig-nic.yaml", "renderdeviceconfigs-imported.yaml"]
    assert process("krmfn", "check", "out", cwd=tmp_path).code == 0


def test_what_cannot_be_expressed_is_named_with_its_line_and_written_beside(tmp_path: Path) -> None:
    odd = edited(module(name="odd", selector={"gpu": "b"}), ("spec.imageRebuildTriggerGeneration", 3))
    (tmp_path / "all.yaml").write_text(text(GPU, odd))
    done = run(tmp_path, "all.yaml")
    line = text(GPU).count("\n") + 1
    assert done.code == 0
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
    done = run(tmp_path, "-", stdin=dump(edited(DUMPED_GPU, ("metadata.ownerReferences", [owner]))))
    assert done.code == 0
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
            "Module kmm/gpu appears 2 times (last in stdin:21); remove all but one, and import one cluster",
        ),
        (["-", "--function-config", "x.yaml"], dump(GPU), "remove --function-config"),
    ],
)
def test_what_cannot_be_imported_writes_nothing(tmp_path: Path, args: list[str], stdin: str, message: str) -> None:
    done = run(tmp_path, *args, stdin=stdin)
    assert done.code == 2
    assert message in done.err
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/deviceconfig-gpu.yaml").write_text("mine")
    done = run(tmp_path, "-", stdin=dump(GPU))
    assert (done.code, done.text) == (2, "")
    assert done.err == "error: out is not empty; pass a new folder, so that no stale objects stay in it\n"
    assert (tmp_path / "out/deviceconfig-gpu.yaml").read_text() == "mine"


def test_configs_that_cannot_be_told_apart_are_an_error_of_what_is_written(tmp_path: Path) -> None:
    """On the cluster their nodes may differ; in Git nobody knows, and `check` says the same."""
    gpus = [module(name="a", selector={"gpu": "a"}), module(name="b", selector={"site": "b"})]
    done = run(tmp_path, "-", stdin=dump(*gpus))
    assert done.code == 1
    assert "KRM302" in done.err
    assert process("krmfn", "check", "out", cwd=tmp_path).code == 1


def test_nothing_that_can_be_expressed_is_said_and_what_is_left_out_is_counted(tmp_path: Path) -> None:
    odd = edited(module(name="odd"), ("spec.imageRebuildTriggerGeneration", 3))
    done = run(tmp_path, "-", stdin=dump(odd, manifest("v1", "Secret"), manifest("v1", "ConfigMap")))
    assert done.code == 0
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
    gpu = edited(
        GPU, ("metadata.labels", {"app.kubernetes.io/name": "x"}), ("metadata.annotations", {"note": "y" * 99})
    )
    done = run(tmp_path, "-", stdin=dump(gpu, EXPORTER))
    assert '-> "yyyy' in done.text
    assert 'metadata.labels[app.kubernetes.io/name]: "x" -> its own' in done.text
    assert max(map(len, done.text.splitlines())) < 300
