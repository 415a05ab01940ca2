"""A Module that another Application or Kustomization applies after a change, under the name that it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from krmfn.yamltext import emit
from tests.builders import module
from tests.commands import process
from tests.functions.comparing.test_held_back import ARGO, FINALIZER, FLUX, SET
from tests.trees import config_map, plant

OWNED = ARGO.replace("argocd}", f"argocd, finalizers: [{FINALIZER}]}}")
KUSTOMIZATION = FLUX.replace("SPEC", "prune: true")
RISK = "if the former prunes it first, its drivers unload everywhere, and load again"


def diff(folder: Path, old: dict[str, str], new: dict[str, str]) -> str:
    for side, files in (("old", old), ("new", new)):
        plant(folder, {f"{side}/{path}": text for path, text in files.items()})
    done = process("krmfn", "diff", "old", "new", "--fail-on", "lost", cwd=folder)
    assert (done.code == 1) is (RISK in done.text), done.text + done.err
    return done.text


def renamed(engine: str, name: str) -> str:
    return engine.replace("{name: lab,", f"{{name: {name},", 1)


CARD = emit.dump(module(name="card"))
RENAMED = {
    "an Application that deletes": (OWNED, "remove the finalizer of the former"),
    "an Application that does not": (ARGO, ""),
    "a Kustomization that prunes": (KUSTOMIZATION, "write `deletionPolicy: Orphan` into the former"),
    "a Kustomization that does not": (FLUX.replace("SPEC", "prune: false"), ""),
    "a Kustomization that leaves it": (FLUX.replace("SPEC", "prune: true, deletionPolicy: Orphan"), ""),
    "an ApplicationSet with the same Applications": (SET.replace("META", ""), ""),
}


@pytest.mark.parametrize(("engine", "remedy"), RENAMED.values(), ids=RENAMED)
def test_an_engines_object_with_another_name(engine: str, remedy: str, tmp_path: Path) -> None:
    """It is deleted, and another one applies the same folder."""
    if engine.startswith(SET[:60]):
        old, new = engine, engine.replace("path: drivers}]", "path: drivers, more: x}]")
    else:
        old, new = engine, renamed(engine, "board")
    sides = ({"clusters/lab/e.yaml": text, "drivers/m.yaml": CARD} for text in (old, new))
    text = diff(tmp_path, *sides)
    assert (RISK in text) is bool(remedy), text
    assert f"{remedy} in a commit before this one" in text or not remedy


@pytest.mark.parametrize(
    ("engine", "annotations", "remedy"),
    [
        (OWNED, {}, "annotate it with `argocd.argoproj.io/sync-options: Prune=false`"),
        (OWNED, {"argocd.argoproj.io/sync-options": "Prune=false"}, ""),
        (OWNED.replace("prune: true", "prune: false"), {}, ""),
        (KUSTOMIZATION, {}, "annotate it with `kustomize.toolkit.fluxcd.io/prune: disabled`"),
        (KUSTOMIZATION, {"kustomize.toolkit.fluxcd.io/prune": "disabled"}, ""),
        (FLUX.replace("SPEC", "prune: true, suspend: true"), {}, ""),
    ],
)
def test_a_module_that_moves_to_the_folder_of_another(
    engine: str, annotations: dict[str, str], remedy: str, tmp_path: Path
) -> None:
    other = renamed(engine, "rest").replace("drivers", "rest").replace("suspend: true", "suspend: false")
    engines = {"clusters/lab/a.yaml": engine, "clusters/lab/b.yaml": other}
    engines |= {"drivers/c.yaml": config_map("a"), "rest/c.yaml": config_map("b")}
    manifest = module(name="card")
    manifest["metadata"] |= {"annotations": annotations} if annotations else {}
    text = diff(
        tmp_path,
        engines | {"drivers/m.yaml": emit.dump(manifest)},
        engines | {"rest/m.yaml": emit.dump(manifest)},
    )
    assert (RISK in text) is bool(remedy), text
    assert f"{remedy} in a commit before this one" in text or not remedy


def test_an_application_of_a_set_that_gets_another_name(tmp_path: Path) -> None:
    """Its name is that of its folder."""
    old = SET.replace("META", "")
    new = old.replace("path: drivers", "path: cards")
    text = diff(
        tmp_path,
        {"clusters/lab/e.yaml": old, "drivers/m.yaml": CARD},
        {"clusters/lab/e.yaml": new, "cards/m.yaml": CARD},
    )
    assert "Application drivers hands it to Application cards" in text, text


def test_a_folder_that_is_renamed_with_its_application_is_no_hand_over(tmp_path: Path) -> None:
    text = diff(
        tmp_path,
        {"clusters/lab/e.yaml": OWNED, "drivers/m.yaml": CARD},
        {"clusters/lab/e.yaml": OWNED.replace("path: drivers", "path: cards"), "cards/m.yaml": CARD},
    )
    assert RISK not in text, text
