"""The health scripts under Lua 5.1 with nothing but what Argo CD's production sandbox opens."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from lupa import lua51  # type: ignore[import-untyped]

from .health import ARGOCD, CASES, LENIENT, SCRIPTS, STRICT, Case

NOT_OPENED = ("string", "math", "io", "debug", "coroutine", "python")
"""Libraries that Lua and lupa open, and Argo CD does not for scripts of argocd-cm (util/lua/lua.go of 3.2.1)."""
CONFIG_MAP = ARGOCD / "argocd-cm.yaml"


def judged(script: str, manifest: dict[str, Any]) -> dict[str, Any]:
    """Return what a script says of an object."""
    lua = lua51.LuaRuntime(register_eval=False, register_builtins=False)
    lua.execute("".join(f"{name} = nil " for name in NOT_OPENED))
    lua.execute("getmetatable('').__index = nil")
    lua.globals().obj = lua.table_from(manifest, recursive=True)
    return dict(lua.execute(script))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_case(case: Case) -> None:
    assert judged(case.script.read_text(), case.manifest) == case.wanted


def test_every_object_has_its_cases() -> None:
    """So that a file in testdata that no list names is no test that never runs."""
    named = {(case.script.parent, case.name) for case in CASES if STRICT in case.script.parents}
    lying = {(path.parents[1], path.stem) for path in STRICT.glob("*/*/testdata/*.yaml")}
    assert named == lying != set()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: str(script.relative_to(ARGOCD).parent))
def test_a_script_is_for_the_kind_of_its_folder(script: Path) -> None:
    for case in CASES:
        if case.script == script:
            group, kind = script.parts[-3:-1]
            assert (case.manifest["apiVersion"], case.manifest["kind"]) == (f"{group}/v1beta1", kind)


def test_the_lenient_script_is_the_strict_one_without_one_rule() -> None:
    strict = (STRICT / "kmm.sigs.x-k8s.io" / "Module" / "health.lua").read_text()
    lenient = re.sub(r"  -- strict: .*?  -- strict: end\n", "", strict, flags=re.DOTALL)
    assert lenient != strict
    assert (LENIENT / "kmm.sigs.x-k8s.io" / "Module" / "health.lua").read_text() == lenient


def test_the_two_differ_where_nodes_wait_for_an_image() -> None:
    by_name = {(STRICT in case.script.parents, case.name): case.wanted["status"] for case in CASES}
    differing = {
        name for strict, name in by_name if by_name[True, name] != by_name.get((False, name), by_name[True, name])
    }
    assert differing == {"image-not-checked", "kernel-without-mapping", "kernel-without-mapping-plugin"}


def config_map() -> str:
    """Return the patch of argocd-cm with the strict scripts."""
    lines = ["# Made of resource_customizations/ by tests/gitops/test_argocd_health.py (make goldens)."]
    lines += ["apiVersion: v1", "kind: ConfigMap", "metadata:", "  name: argocd-cm", "data:"]
    for script in SCRIPTS:
        if STRICT in script.parents:
            group, kind = script.parts[-3:-1]
            lines.append(f"  resource.customizations.health.{group}_{kind}: |")
            lines += [f"    {line}".rstrip() for line in script.read_text().splitlines()]
    return "\n".join(lines) + "\n"


def test_argocd_cm_has_the_same_scripts() -> None:
    if os.environ.get("KRMFN_UPDATE"):
        CONFIG_MAP.write_text(config_map())
    assert CONFIG_MAP.read_text() == config_map()
    data = yaml.safe_load(CONFIG_MAP.read_text())["data"]
    prefix = "resource.customizations.health."
    for script in STRICT.glob("*/*/health.lua"):
        group, kind = script.parts[-3:-1]
        assert data[f"{prefix}{group}_{kind}"] == script.read_text()
    assert len(data) == len(list(STRICT.glob("*/*/health.lua"))) == 3
