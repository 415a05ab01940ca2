"""Imports point down only, as .importlinter says."""

from __future__ import annotations

import sys
from configparser import ConfigParser
from pathlib import Path

from tests.commands import ROOT, execute


def test_every_package_with_several_modules_has_its_lines() -> None:
    rules = ConfigParser()
    rules.read(ROOT / ".importlinter")
    listed = {rules[name]["containers"].replace(".", "/") for name in rules if "containers" in rules[name]}
    packages = [path.parent for top in ("krmfn", "functions") for path in (ROOT / top).rglob("__init__.py")]
    several = {package for package in packages if len([*package.glob("[!_]*.py")]) > 1}
    assert {str(package.relative_to(ROOT)) for package in several} == listed


def test_imports_point_down() -> None:
    command = Path(sys.executable).with_name("lint-imports")
    execute(command, "--no-cache", cwd=ROOT).ended(0)
