"""The health scripts under Lua 5.1 with nothing but what Argo CD's production sandbox opens."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from lupa import lua51  # type: ignore[import-untyped]

from .health import ARGOCD, CASES, LENIENT, OBJECTS, SCRIPTS, STRICT, Case

NOT_OPENED = ("string", "math", "io", "debug", "coroutine", "python")
"""Libraries that Lua and lupa open, and Argo CD does not for scripts of argocd-cm (util/lua/lua.go of 3.2.1)."""
CONFIG_MAPS = {STRICT: ARGOCD / "argocd-cm.yaml", LENIENT: LENIENT / "argocd-cm.yaml"}


def judged(script: str, manifest: dict[str, Any]) -> dict[str, Any]:
    """Return what a script says of an object."""
    lua = lua51.LuaRuntime(register_eval=False, register_builtins=False)
    lua.execute("".join(f"{name} = nil " for name in NOT_OPENED))
    lua.execute("getmetatable('').__index = nil")
    lua.globals().obj = lua.table_from(manifest, recursive=True)
    return dict(lua.execute(script))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_case(case: Case) -> None:
    assert judged(case.script.read_text(), case.manifest) == case.status


def test_every_object_has_its_cases() -> None:
    """So that a file in testdata that no list names is no test that never runs."""
    named = {(case.script.parent.name, case.name) for case in CASES if STRICT in case.script.parents}
    lying = {(path.parents[1].name, path.stem) for path in OBJECTS.glob("*/*/*/testdata/*.yaml")}
    assert named == lying != set()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: str(script.relative_to(ARGOCD).parent))
def test_a_script_is_for_the_kind_of_its_folder(script: Path) -> None:
    for case in CASES:
        if case.script == script:
            group, kind = script.parts[-3:-1]
            assert (case.manifest["apiVersion"], case.manifest["kind"]) == (f"{group}/v1beta1", kind)


@pytest.mark.parametrize("strict", sorted(STRICT.glob("*/*/health.lua")), ids=lambda script: str(script.parent.name))
def test_the_lenient_script_is_the_strict_one_without_its_strict_rules(strict: Path) -> None:
    script = strict.read_text()
    lenient = re.sub(r"^ *-- strict: .*?-- strict: end\n", "", script, flags=re.DOTALL | re.MULTILINE)
    assert lenient != script
    assert (LENIENT / strict.relative_to(STRICT)).read_text() == lenient


DIFFERING = {
    "Module": {"image-not-checked", "kernel-without-mapping", "kernel-without-mapping-plugin"},
    "ManagedClusterModule": {"applying"},
    "NodeModulesConfig": {"other-image", "unloading"},
}
"""The objects that the strict script waits for and the lenient one does not."""


@pytest.mark.parametrize("kind", DIFFERING)
def test_the_two_differ_where_something_may_never_come(kind: str) -> None:
    cases = [case for case in CASES if case.manifest["kind"] == kind]
    strict, lenient = (
        {case.name: case.status["status"] for case in cases if top in case.script.parents} for top in (STRICT, LENIENT)
    )
    assert strict.keys() == lenient.keys()
    assert {name for name in strict if strict[name] != lenient[name]} == DIFFERING[kind]
    assert {(strict[name], lenient[name]) for name in DIFFERING[kind]} == {("Progressing", "Healthy")}


def config_map(room: Path) -> str:
    """Return the patch of argocd-cm with the scripts of a room."""
    lines = [f"# Made of the scripts in {room.name}/ by tests/gitops/test_argocd_health.py (make goldens)."]
    lines += ["apiVersion: v1", "kind: ConfigMap", "metadata:", "  name: argocd-cm", "data:"]
    for script in SCRIPTS:
        if room in script.parents:
            group, kind = script.parts[-3:-1]
            lines.append(f"  resource.customizations.health.{group}_{kind}: |")
            lines += [f"    {line}".rstrip() for line in script.read_text().splitlines()]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("room", CONFIG_MAPS, ids=lambda room: str(room.name))
def test_argocd_cm_has_the_same_scripts(room: Path) -> None:
    path = CONFIG_MAPS[room]
    if os.environ.get("KRMFN_UPDATE"):
        path.write_text(config_map(room))
    assert path.read_text() == config_map(room)
    data = yaml.safe_load(path.read_text())["data"]
    prefix = "resource.customizations.health."
    for script in room.glob("*/*/health.lua"):
        group, kind = script.parts[-3:-1]
        assert data[f"{prefix}{group}_{kind}"] == script.read_text()
    assert len(data) == len(list(room.glob("*/*/health.lua"))) == 3
