"""Under a real `kustomize build`: the example's output, exec and container alike, and what a failure leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands import Done
from tests.trees import altered

from .conftest import Env
from .engines import EXEC, copy_of, must, run, tree
from .spoiled import every_mistake, spoil

FUNCTION = "config.kubernetes.io/function"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The example, to be changed at will."""
    return copy_of("kustomize-transformer", tmp_path)


def build(kustomize: str, folder: Path, *flags: str, env: Env | None = None) -> Done:
    return run(kustomize, "build", *flags, folder, env=env)


def in_a_container(folder: Path, image: str) -> int:
    """Let every functionConfig of a folder that names a command name an image instead; how many it were."""
    changed = 0
    for path in folder.rglob("*.yaml"):
        documents = list(yaml.safe_load_all(path.read_text()))
        noted = [d["metadata"]["annotations"] for d in documents if d and d.get("metadata", {}).get("annotations")]
        configs = [notes for notes in noted if "exec" in yaml.safe_load(notes.get(FUNCTION, "{}"))]
        for notes in configs:
            notes[FUNCTION] = yaml.safe_dump({"container": {"image": image}})
        if configs:
            path.write_text(yaml.safe_dump_all(documents, sort_keys=False))
        changed += len(configs)
    return changed


def test_an_exec_function_builds_what_the_example_expects(kustomize: str, copy: Path) -> None:
    before = tree(copy)
    assert build(kustomize, copy, *EXEC).ended(0).out.decode() == (copy / "expected.txt").read_text()
    assert tree(copy) == before


def test_a_container_builds_the_same_bytes(kustomize: str, containers: Env, image: str, copy: Path) -> None:
    as_command = build(kustomize, copy, *EXEC)
    assert in_a_container(copy, image) == 1
    assert build(kustomize, copy, "--enable-alpha-plugins", env=containers).ended(0).out == as_command.out


def objects(stream: bytes) -> list[dict[str, Any]]:
    """The manifests of a stream in an order of their own, for a comparison that ignores the engine's."""
    return sorted(yaml.safe_load_all(stream), key=lambda o: (o["kind"], o["metadata"]["name"]))


def test_render_runs_kustomize_itself(kustomize: str, copy: Path) -> None:
    """The Argo CD way: the kustomization lists no function, `render` is the function."""
    expected = objects(build(kustomize, copy, *EXEC).out)
    altered(copy / "kustomization.yaml", "transformers:\n- function.yaml\n", "")
    rendered = must("krmfn", "render", "--function-config", copy / "function.yaml", copy)
    assert objects(rendered) == expected


def test_render_of_what_a_function_already_made_changes_nothing(kustomize: str, copy: Path) -> None:
    function, flags = copy / "function.yaml", f"--kustomize={' '.join(EXEC)}"
    expected = objects(build(kustomize, copy, *EXEC).out)
    rendered = must("krmfn", "render", flags, "--function-config", function, copy)
    assert objects(rendered) == expected


def test_base_and_overlay_may_both_list_the_function(kustomize: str, copy: Path) -> None:
    """The base's generated objects come to the overlay renamed: neither refused nor doubled."""
    base = copy / "base"
    (base / "function.yaml").write_text((copy / "function.yaml").read_text())
    kustomization = base / "kustomization.yaml"
    kustomization.write_text(kustomization.read_text() + "namespace: kmm\ntransformers:\n- function.yaml\n")
    assert objects(build(kustomize, copy, *EXEC).ended(0).out) == objects((copy / "expected.txt").read_bytes())


@every_mistake
def test_a_finding_stops_the_build_and_is_read_on_stderr(kustomize: str, copy: Path, mistake: str) -> None:
    fragments = spoil(copy, mistake)
    before = tree(copy)
    err = build(kustomize, copy, *EXEC).refused(1)
    assert [fragment for fragment in fragments if fragment not in err] == [], err
    assert "Traceback" not in err
    assert tree(copy) == before


def test_a_finding_in_a_container_stops_the_build(kustomize: str, containers: Env, image: str, copy: Path) -> None:
    in_a_container(copy, image)
    fragments = spoil(copy, "conflict")
    err = build(kustomize, copy, "--enable-alpha-plugins", env=containers).refused(1)
    assert [fragment for fragment in fragments if fragment not in err] == [], err


def test_render_passes_kustomize_s_failure_on(kustomize: str, copy: Path) -> None:
    kustomization = copy / "kustomization.yaml"
    kustomization.write_text(kustomization.read_text() + "noSuchField: true\n")
    done = run("krmfn", "render", copy).ended(2)
    assert done.out == b""
    assert "noSuchField" in done.err
    assert "Traceback" not in done.err


def test_a_build_fed_back_is_refused_and_not_rendered_to_nothing(kustomize: str, copy: Path) -> None:
    """kustomize has dropped the local DeviceConfig: the objects that it stands for must not go with it."""
    built = build(kustomize, copy, *EXEC)
    assert "[KRM116]" in run("krmfn", "render", "-", stdin=built.out).refused(1)
    assert objects(run("krmfn", "render", "-", "--prune", "never", stdin=built.out).ended(0).out) == objects(built.out)
    assert b"checked as if written by hand" in run("krmfn", "check", "-", stdin=built.out).ended(0).out


def test_functions_in_base_and_overlay_agree_on_owners(kustomize: str, copy: Path) -> None:
    """The base has generated under the old name; the overlay's run finds these objects renamed, and updates them."""
    base = copy / "base"
    altered(base / "deviceconfig.yaml", "config.kubernetes.io/local-config:", "example.com/kept:")
    (base / "function.yaml").write_text((copy / "function.yaml").read_text())
    with (base / "kustomization.yaml").open("a") as file:
        file.write("namespace: base\ntransformers:\n- function.yaml\n")
    done = build(kustomize, copy, *EXEC).ended(0)
    names = [(manifest["kind"], manifest["metadata"]["name"]) for manifest in yaml.safe_load_all(done.out)]
    assert names.count(("Module", "prod-gaudi")) == 1
    assert [name for kind, name in names if kind == "DaemonSet"] == ["prod-gaudi-metrics"]


def test_a_generator_fails_since_it_would_make_nothing(kustomize: str, copy: Path) -> None:
    """kustomize gives it its own functionConfig and no resource: an exit code 0 deployed nothing of the config."""
    altered(copy / "kustomization.yaml", "transformers:", "generators:")
    done = build(kustomize, copy, *EXEC)
    assert done.code == 1
    assert "list it under transformers [KRM511]" in done.err
