"""Every case directory and every example: what comes out, and what holds for all of them (tests/cases/README.md)."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from krmfn_functions.all_kinds import krmfn
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.ptemplate import ptemplate

from krmfn import Function, Item, KrmfnError, Manifest, ResourceList, run
from krmfn.ownership import OWNER
from krmfn.printing import printable
from krmfn.resource import ref, same
from tests.builders import folder_text
from tests.commands import COMMANDS, FLEET, REFUSED_EXAMPLES, ROOT, cached, environment, execute, process

CASES = ROOT / "tests" / "cases"
EXAMPLES = ROOT / "examples"
FUNCTIONS: dict[str, Function] = {"deviceconfig": deviceconfig, "ptemplate": ptemplate, "krmfn": krmfn}
UPDATE = bool(os.environ.get("KRMFN_UPDATE"))


class Case(NamedTuple):
    """A ResourceList for a function: a case directory's, or an example's files as one list."""

    name: str
    function: str
    folder: Path

    @property
    def data(self) -> bytes:
        return _data(self.folder)

    def applied(self, data: bytes) -> tuple[ResourceList, bytes]:
        """The list after the function, and its bytes."""
        resources = ResourceList.parse(data)
        FUNCTIONS[self.function](resources)
        return resources, resources.to_bytes()

    @property
    def outcome(self) -> tuple[ResourceList, bytes]:
        """The list after the function, and its bytes; both are for reading."""
        return _outcome(self)


@cache
def _outcome(case: Case) -> tuple[ResourceList, bytes]:
    return case.applied(case.data)


@cache
def _data(folder: Path) -> bytes:
    if folder.parent == EXAMPLES:
        return folder_text(folder)
    if (folder / "input.py").exists():
        return subprocess.run([sys.executable, folder / "input.py"], capture_output=True, check=True).stdout
    return (folder / "input.yaml").read_bytes()


CLUSTER_WIDE = {"ClusterRole", "ClusterRoleBinding", "DeviceClass", "ManagedClusterModule", "PriorityClass"}


def _cases(verdict: str) -> list[Case]:
    folders = sorted({path.parent for path in CASES.glob(f"*/{verdict}/*/input.*")})
    assert folders, f"no {verdict} cases found below {CASES}"
    return [Case(f"{folder.parents[1].name}-{folder.name}", folder.parents[1].name, folder) for folder in folders]


def _examples() -> list[Case]:
    folders = sorted(path for path in EXAMPLES.iterdir() if path.is_dir() and path.name != FLEET)
    assert folders
    names = [(folder, "ptemplate" if folder.name == "ptemplate" else "deviceconfig") for folder in folders]
    return [Case(f"example-{folder.name}", function, folder) for folder, function in names]


def _commands() -> list[Path]:
    folders = sorted(path.parent for path in CASES.glob("*/*/*/command"))
    assert folders, f"no command cases found below {CASES}"
    return folders


VALID, INVALID, COMMAND_CASES = _cases("valid"), _cases("invalid"), _commands()
GOOD = [*VALID, *(case for case in _examples() if case.folder.name not in REFUSED_EXAMPLES)]
BAD = [*INVALID, *(case for case in _examples() if case.folder.name in REFUSED_EXAMPLES)]

good = pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
bad = pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)


def compare(folder: Path, outputs: dict[str, bytes]) -> None:
    """Fail where a file of the folder is not what was found ("" for no file); rewrite it when asked to, and fail."""
    stale = {}
    for name, content in outputs.items():
        path = folder / name
        golden = path.read_bytes() if path.exists() else b""
        if golden != content:
            stale[name] = (golden, content)
            if UPDATE and content:
                path.write_bytes(content)
            elif UPDATE:
                path.unlink()
    if stale and UPDATE:
        pytest.fail(f"rewritten: {', '.join(sorted(stale))}; read the difference, then run again", pytrace=False)
    for name, (golden, content) in stale.items():
        assert content.decode(errors="replace") == golden.decode(errors="replace"), f"{folder / name}"
        assert content == golden, f"{folder / name}"


def test_every_folder_is_a_case() -> None:
    """Else a misspelt file name would be a case that nobody runs."""
    folders = {path for path in CASES.glob("*/*/*") if path.is_dir()}
    assert {folder.parent.name for folder in folders} == {"valid", "invalid"}
    assert {folder.parents[1].name for folder in folders} == set(FUNCTIONS)
    assert {case.folder for case in [*VALID, *INVALID]} | set(COMMAND_CASES) == folders


@pytest.mark.parametrize("case", [*GOOD, *BAD], ids=lambda case: case.name)
def test_no_function_changes_what_it_reads(case: Case) -> None:
    """What was judged is what is there: a manifest that only krmfn has changed would not be what leaves."""
    try:
        resources, _ = case.outcome
    except KrmfnError:
        return  # of what cannot be read nothing leaves
    for item in resources.items:
        if item.is_read and not item.content.is_edited:
            before = Item(item.data, item.start, item.end, item.indent).content.manifest
            assert same(item.content.manifest, before), item.ref


@pytest.mark.parametrize("case", [*VALID, *INVALID], ids=lambda case: case.name)
def test_a_case_as_a_function(case: Case) -> None:
    done = cached(case.function, stdin=case.data)
    assert "Traceback" not in done.err, done.err
    assert done.code == int(case.folder.parent.name == "invalid"), done.err
    goldens = {"stderr.txt": done.err.encode()}
    if not (case.folder / "input.py").exists():
        goldens["expected.yaml"] = done.out
    compare(case.folder, goldens)


@pytest.mark.parametrize("folder", COMMAND_CASES, ids=lambda folder: f"{folder.parents[1].name}-{folder.name}")
def test_a_case_as_a_command(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "command").read_text().splitlines()
    args = [arg for line in lines if not line.startswith("#") for arg in shlex.split(line)]
    stdin = (folder / "stdin").read_bytes() if (folder / "stdin").exists() else b""
    files = folder / "files" if (folder / "files").is_dir() else folder
    alone = shutil.copytree(files, tmp_path / "alone")
    (alone / ".git").mkdir()  # a repository of its own: each command reads the names of all files there
    done = process("krmfn", *args, stdin=stdin, cwd=alone)
    assert "Traceback" not in done.err, done.err
    assert (done.code == 0) == (folder.parent.name == "valid"), done.err
    outputs = {"stdout.txt": done.out, "stderr.txt": done.err.encode(), "exit": f"{done.code}\n".encode()}
    compare(folder, outputs)


# What holds for everything that is accepted.


@good
def test_its_own_output_comes_back_as_the_same_bytes(case: Case) -> None:
    out, code = run(FUNCTIONS[case.function], case.data)
    assert code == 0
    assert run(FUNCTIONS[case.function], out) == (out, 0)


@good
def test_what_was_not_touched_keeps_its_bytes_and_its_order(case: Case) -> None:
    before = ResourceList.parse(case.data).items
    resources, out = case.outcome
    after = [body(item) for item in ResourceList.parse(out).items]
    touched = {about for _, about in resources.changes}
    untouched = [body(item) for item in before if item.ref not in touched]
    assert [text for text in after if text in set(untouched)] == untouched


@good
def test_the_order_of_the_items_does_not_matter(case: Case) -> None:
    resources = ResourceList.parse(case.data)
    resources.items.reverse()
    _, backwards = case.applied(resources.to_bytes())
    _, forwards = case.outcome
    assert objects(backwards) == objects(forwards)


@good
def test_what_is_generated_is_owned_and_complete(case: Case) -> None:
    resources, out = case.outcome
    generated = {about for change, about in resources.changes if change != "removed"}
    fresh = {about for change, about in resources.changes if change == "created"}
    for item in ResourceList.parse(out).items:
        if item.ref in generated:
            metadata = item.manifest["metadata"]
            assert bool(metadata.get("namespace")) == (item.kind not in CLUSTER_WIDE)
            assert metadata["annotations"][OWNER]
            assert "ownerReferences" not in metadata
        if item.ref in fresh:
            assert list(empty(item.manifest)) == []
            tokens = {type(token).__name__ for token in yaml.scan(item.text)}
            assert not tokens & {"AnchorToken", "AliasToken", "TagToken"}


def empty(value: Any, path: str = "") -> Iterator[str]:
    """Where a manifest holds nothing: null, "", [] or {}; a selector may be {}, a label's value "", an API group "".

    `args: {}` of modprobe is what an operator wrote, and KMM reloads the module when it goes.
    """
    if path.endswith(
        (".modprobe.args", ".nodeSelector", ".matchLabels", ".selector", ".labels", ".annotations", ".apiGroups")
    ):
        return
    if value in (None, "", [], {}) and value is not False and value != 0:
        yield path
    for key, child in value.items() if isinstance(value, dict) else ():
        yield from empty(child, f"{path}.{key}")
    for index, child in enumerate(value) if isinstance(value, list) else ():
        yield from empty(child, f"{path}[{index}]")


def body(item: Item) -> bytes:
    """An item's bytes without the empty lines and comments behind it."""
    lines = item.text.rstrip().split(b"\n")
    while lines and lines[-1].lstrip().startswith(b"#"):
        lines.pop()
    return b"\n".join(lines).rstrip()


def objects(data: bytes) -> Counter[str]:
    """The items of a list as a bag."""
    return Counter(_canonical(item.manifest) for item in ResourceList.parse(data).items)


def _canonical(manifest: Manifest) -> str:
    return json.dumps(manifest, sort_keys=True, default=str)


def test_the_hash_seed_does_not_matter() -> None:
    """Sets and dicts of strings are walked in another order in every process."""
    case = Case("many", "deviceconfig", CASES / "deviceconfig" / "valid" / "many-configs")
    conflicts = CASES / "deviceconfig" / "invalid" / "many-conflicts" / "input.yaml"
    for data, code in ((case.data, 0), (conflicts.read_bytes(), 1)):
        envs = [environment(PYTHONHASHSEED=str(seed)) for seed in (0, 1, 2)]
        (answer,) = {execute(COMMANDS / "deviceconfig", stdin=data, env=env) for env in envs}
        assert answer.code == code


# What holds for everything that is refused.


@bad
def test_refused_items_leave_as_they_came(case: Case) -> None:
    try:
        resources = ResourceList.parse(case.data)
        out, code = run(FUNCTIONS[case.function], case.data)
    except KrmfnError:
        return  # nothing on stdout; the case as a function shows exit code and message
    assert code == 1
    assert [body(item) for item in ResourceList.parse(out).items] == [body(item) for item in resources.items]
    assert run(FUNCTIONS[case.function], out) == (out, 1), "findings are not added twice"


ABOUT_THE_INPUT = re.compile(
    r"(?:\S+ \S+, in the ResourceList: |functionConfig: )?line \d+: "
    r"|functionConfig |stdin is empty|expected a (ResourceList|mapping)|`items` of the ResourceList"
    r"|the ResourceList has no `items`|kpt shows only the items |node exclusivity could not be decided "
)
"""How a finding begins that is about no resource."""


def resources_of(data: bytes) -> list[str]:
    """The items and the functionConfig of a list as a finding names them; none when it cannot be read."""
    try:
        resources = ResourceList.parse(data)
        configs = [resources.function_config] if resources.function_config else []
        return [printable(str(name)) for name in (*(item.ref for item in resources.items), *map(ref, configs))]
    except KrmfnError:
        return []


@bad
def test_every_line_on_stderr_names_a_place(case: Case) -> None:
    """A resource of the input, one that is generated from it, a line, or the part of the input that is meant."""
    named = resources_of(case.data)
    lines = cached(case.function, stdin=case.data).err.splitlines()
    assert lines
    for line in lines:
        finding = re.fullmatch(r"(?:\S+: )?(?:error|warning): (.+)", line)
        assert finding, line
        about = finding[1]
        assert (
            about.startswith(tuple(f"{name}: " for name in named))
            or any(f": generated from {name}: " in about for name in named)
            or ABOUT_THE_INPUT.match(about)
        ), line
        assert len(line) < 2000, f"{len(line)} characters are no sentence"
