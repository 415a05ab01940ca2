"""The function at several levels of kustomizations: each finds the objects of the one below under their new names."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import yaml

from krmfn import Manifest
from tests.builders import CONFIG
from tests.trees import function

from .engines import EXEC, must

CHANGES = {"prefix": "namePrefix: lab-\n", "suffix": "nameSuffix: -v2\n", "namespace": "namespace: lab\n"}
AGENT = 'daemonSets: [{name: agent, image: "registry.example.com/agent:1"}]'


def build(kustomize: str, folder: Path, changes: tuple[str, ...], levels: tuple[str, ...]) -> list[Manifest]:
    """Return what a base, an overlay and one over it give, with the function at `levels`."""
    below = "deviceconfig.yaml"
    for level, applied in (("base", ()), ("middle", changes), ("top", changes)):
        (folder / level).mkdir(parents=True)
        lines = f"resources: [{below}]\n" + "".join(CHANGES[change] for change in applied)
        if level in levels:
            (folder / level / "function.yaml").write_text(function("exec: {path: krmfn}"))
            lines += "transformers: [function.yaml]\n"
        (folder / level / "kustomization.yaml").write_text(lines)
        below = f"../{level}"
    (folder / "base" / "deviceconfig.yaml").write_text(CONFIG.replace("{a: b}", f"{{a: b}}, {AGENT}"))
    return list(yaml.safe_load_all(must(kustomize, "build", *EXEC, folder / "top")))


@pytest.mark.parametrize("changes", [c for n in range(4) for c in itertools.combinations(CHANGES, n)], ids="+".join)
def test_every_level_agrees_with_the_outermost_alone(kustomize: str, tmp_path: Path, changes: tuple[str, ...]) -> None:
    alone = build(kustomize, tmp_path / "alone", changes, ("top",))
    assert sorted(manifest["kind"] for manifest in alone) == ["DaemonSet", "DeviceConfig", "Module"]
    for number, levels in enumerate([("base", "top"), ("middle", "top"), ("base", "middle", "top")]):
        both = build(kustomize, tmp_path / str(number), changes, levels)
        assert sorted(map(repr, both)) == sorted(map(repr, alone)), levels
