"""What a run in function mode must not load or do before it works: kustomize and kpt start the process every time."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from krmfn_functions import VERSION

from tests.commands import ROOT, execute
from tests.small_lists import HEAD, OTHERS, OURS

WATCHED = """\
import builtins, runpy, sys
for name in sys.argv[1:]:
    sys.modules.pop(name, None)  # an editable install may have loaded it
compiled, before, compile = [], {*sys.modules}, builtins.compile
def watched(source, filename, *args, **named):
    if filename == "<string>":
        compiled.append(source)
    return compile(source, filename, *args, **named)
builtins.compile = watched
sys.argv[1:] = []
try:
    runpy.run_module("krmfn_functions", run_name="__main__")
finally:
    sys.stderr.write("\\n".join(["", "compiled:", *compiled, "loaded:", *({*sys.modules} - before)]))
"""
HEAVY = {"ast", "argparse", "dataclasses", "inspect", "jsonschema", "logging", "pathlib", "ruamel", "subprocess"}
HEAVY |= {"typing", "yaml"}
"""Modules that cost more than all of ours, or that come with such ones."""
PATTERNS = """\
import re, runpy, sys
for name in [*sys.modules]:
    if name.partition(".")[0] in ("krmfn", "krmfn_functions"):  # an editable install may have loaded them
        del sys.modules[name]
unused, compile = {}, re.compile
class Pattern:
    def __init__(self, text, flags, module):
        self.text, self.pattern = f"{module}: {text}", compile(text, flags)
        unused[self.text] = True
    def __getattr__(self, name):
        unused.pop(self.text, None)
        return getattr(self.pattern, name)
def watched(text, flags=0):
    module = sys._getframe(1).f_globals["__name__"]
    return Pattern(text, flags, module) if module.startswith("krmfn") else compile(text, flags)
re.compile = watched
sys.argv[1:] = []
try:
    runpy.run_module("krmfn_functions", run_name="__main__")
finally:
    sys.stderr.write("\\n".join(["", "unused:", *unused]))
"""


def watched(items: str) -> tuple[list[str], set[str]]:
    """Return the texts that a run compiles, and the modules that it loads beside the interpreter's own."""
    done = execute(sys.executable, "-c", WATCHED, *HEAVY, stdin=(HEAD + items).encode()).ended(0)
    compiled, _, loaded = done.err.split("\ncompiled:\n")[1].partition("loaded:\n")
    return compiled.splitlines(), {*loaded.split("\n")}


@pytest.mark.parametrize("items", [OTHERS, OTHERS + OURS], ids=["none", "one"])
def test_nothing_is_compiled_and_nothing_heavy_is_loaded(items: str) -> None:
    """A NamedTuple whose annotations are strings starts Python's compiler, which costs a third of an empty process."""
    compiled, modules = watched(items)
    assert "krmfn.resourcelist" in modules
    assert ("krmfn_functions.rendering.pipeline" in modules) == (items != OTHERS)
    assert compiled == []
    assert modules & HEAVY == set()


def test_a_list_with_nothing_of_ours_is_not_looked_into_with_more_than_that_takes() -> None:
    _, modules = watched(OTHERS)
    assert modules & {"json", "re2", "krmfn.schema", "krmfn.writer", "krmfn.yamltext.emit"} == set()


@pytest.mark.parametrize("items", [OTHERS, OTHERS + OURS], ids=["none", "one"])
def test_no_pattern_is_compiled_that_is_not_used(items: str) -> None:
    """Compiling one takes as long as rendering a DeviceConfig: `re.search(TEXT, ...)` compiles when it is called."""
    command = [sys.executable, "-c", PATTERNS]
    done = subprocess.run(command, input=(HEAD + items).encode(), capture_output=True, check=True)
    assert done.stderr.decode().split("\nunused:")[1].split("\n") == [""]


LOADED = """\
import runpy, sys
for name in [*sys.modules]:
    if name.partition(".")[0] in ("pathlib", "urllib"):  # an editable install has loaded them
        del sys.modules[name]
try:
    runpy.run_module("krmfn_functions", run_name="__main__")
finally:
    sys.stderr.write("\\n".join(sys.modules))
"""
COMMANDS = {"importlib.metadata", "subprocess", "tempfile", "threading"}
COMMANDS |= {"datetime", "decimal", "email", "hashlib", "pathlib", "shutil", "textwrap", "typing", "urllib", "xml"}
COMMANDS |= {
    f"krmfn_functions.{name}"
    for name in (
        *(f"commands.{name}" for name in ("diff", "images", "import_", "inventory", "nodes", "render", "report")),
        *("comparing", "kustomization.builds", "kustomization.kustomize", "paths.git"),
        *("cluster.external", "command_line.argocd", "differences", "final.against", "fleet.cluster", "fleet.table"),
        *("formats.grouped", "importing", "kmm.dockerfile", "kmm.regexps", "plan", "report", "upgrades"),
    )
}
"""What only other commands need, or folders with a kustomization."""


def test_a_check_of_plain_files_loads_no_other_command(tmp_path: Path) -> None:
    """In a folder of their own: a repository with objects of Argo CD, Flux or Fleet is read for what these deploy."""
    folder = shutil.copytree(ROOT / "examples/quickstart", tmp_path / "quickstart")
    command = [sys.executable, "-c", LOADED, "check", "quickstart"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder.parent)
    modules = {*done.stderr.split("\n")}
    assert {"krmfn_functions.commands.check", "krmfn_functions.rendering.pipeline"} <= modules
    assert modules & (COMMANDS | {"jsonschema", "pathspec", "ruamel", "yaml"}) == set()


def test_a_finding_in_text_loads_no_openssl(tmp_path: Path) -> None:
    """Only ids of findings are hashed, which other formats print, and which tell known findings from new ones."""
    folder = shutil.copytree(ROOT / "examples/conflict", tmp_path / "conflict")
    command = [sys.executable, "-c", LOADED, "check", "conflict"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder.parent)
    modules = {*done.stderr.split("\n")}
    assert (done.returncode, "[KRM301]" in done.stdout) == (1, True)
    assert modules & {"hashlib", "krmfn_functions.rendering.pipeline"} == {"krmfn_functions.rendering.pipeline"}


def test_the_help_loads_no_command() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED, "--help"], capture_output=True, text=True, check=True)
    modules = {*done.stderr.split("\n")}
    rooms = {module.split(".")[1] for module in modules if module.startswith("krmfn_functions.")}
    assert rooms == {"command", "command_line", "kmm", "options", "paths", "settings", "sources", "terminal"}
    assert modules & (COMMANDS - {"textwrap"} | {"jsonschema", "ruamel", "yaml"}) == set()


@pytest.mark.parametrize("name", ["krmfn", "deviceconfig", "ptemplate"])
def test_the_version_loads_nothing_but_the_entry_point(name: str) -> None:
    code = f"import sys; before = {{*sys.modules}}; from krmfn_functions.__main__ import {name} as run\n"
    code += "try:\n    run()\nfinally:\n    sys.stderr.write(' '.join(sorted({*sys.modules} - before)))"
    isolated = "import sys; sys.modules.pop('krmfn_functions', None)\n" + code
    done = execute(sys.executable, "-I", "-c", isolated, "--version").ended(0)
    assert done.text == f"{name} {VERSION}\n"
    assert {*done.err.split()} <= {"__future__", "krmfn_functions", "krmfn_functions.__main__"}


def test_the_version_is_that_of_the_distribution() -> None:
    assert re.findall(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE) == [VERSION]


@pytest.mark.parametrize("name", ["krmfn", "deviceconfig", "ptemplate"])
def test_a_version_that_cannot_be_written_is_an_error(name: str) -> None:
    code = f"from krmfn_functions.__main__ import {name} as run; run()"
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-I", "-c", code, "--version"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "No space left" in done.stderr
