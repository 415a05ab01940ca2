"""Through real kpt, against `cat`: what our functions do not touch leaves kpt's hands as if `cat` had run.

kpt itself rewrites every file on any run with a function, so `cat` is the measure of losing nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.commands import COMMANDS, FLEET, REFUSED_EXAMPLES, ROOT
from tests.trees import plant

from .engines import EXAMPLES, copy_of, must, tree

KPTFILE = """\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: package
  annotations:
    config.kubernetes.io/local-config: "true"
"""
NOTHING = "import krmfn; krmfn.main(lambda resources: None)"
EVERYTHING = "import krmfn; krmfn.main(lambda resources: [item.manifest for item in resources.items] and None)"
NAMES = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
LEFT_OUT = REFUSED_EXAMPLES | {"kustomize-transformer", FLEET}
"""Examples with errors, and one that is no package."""


def package(name: str, folder: Path) -> Path:
    """An example as a kpt package; kpt takes nothing but named resources."""
    copy = copy_of(name, folder)
    names = ("kustomization.yaml", "expected*", "*-configurations.yaml", ".krmfn.yaml")
    for path in [path for name in names for path in copy.rglob(name)]:
        path.unlink()
    for path in copy.rglob("*.yaml"):
        if "\nkind: NodeList\n" in path.read_text():
            path.unlink()
    if not (copy / "Kptfile").exists():
        (copy / "Kptfile").write_text(KPTFILE)
    return copy


def evaluated(kpt: str, folder: Path, *command: str) -> dict[str, bytes]:
    must(kpt, "fn", "eval", folder, "--exec", " ".join(command))
    return tree(folder)


def script(folder: Path, text: str) -> str:
    path = folder / "function.py"
    path.write_text(text)
    return f"{sys.executable} {path}"


@pytest.mark.parametrize("text", [NOTHING, EVERYTHING], ids=["looks at nothing", "reads every item"])
@pytest.mark.parametrize("example", NAMES)
def test_a_function_that_changes_nothing_is_cat(kpt: str, tmp_path: Path, example: str, text: str) -> None:
    for name in ("cat", "ours"):
        (tmp_path / name).mkdir()
    by_cat = evaluated(kpt, package(example, tmp_path / "cat"), "cat")
    by_us = evaluated(kpt, package(example, tmp_path / "ours"), script(tmp_path, text))
    assert by_us == by_cat
    assert len(by_cat) > 1


@pytest.mark.parametrize("example", [name for name in NAMES if name not in LEFT_OUT])
@pytest.mark.parametrize("function", ["krmfn", "deviceconfig", "ptemplate"])
def test_what_is_not_generated_is_as_cat_leaves_it(kpt: str, tmp_path: Path, example: str, function: str) -> None:
    for name in ("cat", "ours"):
        (tmp_path / name).mkdir()
    by_cat = evaluated(kpt, package(example, tmp_path / "cat"), "cat")
    ours = package(example, tmp_path / "ours")
    configs = [path for path in ours.rglob("*.yaml") if "\nkind: RenderDeviceConfigs\n" in path.read_text()]
    config = ["--fn-config", str(configs[0])] if configs else []
    must(kpt, "fn", "eval", ours, "--exec", str(COMMANDS / function), *config)
    by_us = tree(ours)
    assert {path: by_us[path] for path in by_cat} == by_cat
    assert all(b"krmfn.dev/owner" in by_us[path] for path in by_us.keys() - by_cat.keys())
    assert evaluated(kpt, ours, "cat") == by_us, "kpt reformats what we write"


def test_a_generated_list_of_many_items(kpt: str, tmp_path: Path) -> None:
    """Items like those of the benchmark: Nodes, Deployments and DeviceConfigs, with their quotes and flow values."""
    sys.path.insert(0, str(ROOT / "benchmark"))
    try:
        from generate import cluster
    finally:
        sys.path.pop(0)
    for name in ("cat", "ours"):
        plant(tmp_path, {f"{name}/Kptfile": KPTFILE})
        for number, item in enumerate(cluster(60, 30, 10)):
            lines = ["  " + item[2:].split("\n", 1)[0], *item.split("\n")[1:]]
            text = "\n".join(
                line[2:] for line in lines if "config.kubernetes.io/" not in line and "config.k8s" not in line
            )
            (tmp_path / name / f"item-{number}.yaml").write_text(text.replace("    annotations:\n  spec", "  spec"))
    by_cat = evaluated(kpt, tmp_path / "cat", "cat")
    assert evaluated(kpt, tmp_path / "ours", script(tmp_path, EVERYTHING)) == by_cat
    must(kpt, "fn", "eval", tmp_path / "ours", "--exec", str(COMMANDS / "deviceconfig"))
    by_us = tree(tmp_path / "ours")
    assert {path: by_us[path] for path in by_cat} == by_cat
    assert len(by_us) == len(by_cat) + 10
