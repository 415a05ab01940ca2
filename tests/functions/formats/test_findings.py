"""Findings for people and programs, and the options of `check` around them."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from krmfn_functions.finding import node_facts
from krmfn_functions.formats.checked import Checked
from krmfn_functions.formats.findings import FORMATS, Layout, as_json, finding, summary_line, text

from krmfn import Place, Ref, Result, error, info, warning
from krmfn.printing import printable
from krmfn.results import Field
from tests.builders import CONFIG
from tests.commands import COMMANDS, Done, environment, execute, process

ABOUT = Ref("g/v1", "Thing", "n", "a")


KINDS = {"DeviceConfig": 2, "functionConfig": 1, "Module": 0}


@pytest.mark.parametrize(
    ("checked", "line"),
    [
        (Checked([], 0), "no findings in 0 resources"),
        (Checked([], 1), "no findings in 1 resource"),
        (Checked([info("x")], 14), "no errors or warnings, 1 info in 14 resources"),
        (
            Checked([info("x")] * 2, 9, (), KINDS),
            "no errors or warnings, 2 infos: 2 DeviceConfigs, 1 functionConfig in 9 resources",
        ),
        (Checked([info("x"), warning("x")], 14), "1 warning, 1 info in 14 resources"),
        (Checked([error("x")], 1200, files=1), "1 error in 1,200 resources, 1 file"),
        (Checked([warning("x"), error("x"), error("x")], 3), "2 errors, 1 warning in 3 resources"),
        (Checked([warning("x")] * 1234, 3, files=2), "1,234 warnings in 3 resources, 2 files"),
        (Checked([], 67, (), KINDS, 12), "no findings: 2 DeviceConfigs, 1 functionConfig in 67 resources, 12 files"),
        (Checked([], 5, turned_off=1), "no findings in 5 resources; 1 finding turned off"),
        (Checked([error("x")], 67, (), KINDS), "1 error: 2 DeviceConfigs, 1 functionConfig in 67 resources"),
    ],
)
def test_the_last_line_counts(checked: Checked, line: str) -> None:
    assert summary_line(checked) == line
    assert text(checked).splitlines()[-1] == line


@pytest.mark.parametrize(
    ("result", "line"),
    [
        (error("is wrong"), "error: is wrong"),
        (info("is so", rule="KRM1"), "info: is so [KRM1]"),
        (warning("is odd", ref=ABOUT), "warning: Thing n/a: is odd"),
        (error("is wrong", ref=ABOUT, field=Field("spec.b")), "error: Thing n/a: spec.b: is wrong"),
        (error("is wrong", place=Place("a.yaml")), "a.yaml: error: is wrong"),
        (error("is wrong", place=Place("a.yaml", 0, 3)), "a.yaml:3: error: is wrong"),
        (error("is wrong", place=Place("a.yaml", 0, 3, 7)), "a.yaml:3:7: error: is wrong"),
        (error("is wrong", ref=Ref()), "error: resource (no name): is wrong"),
    ],
)
def test_a_line_says_where_how_bad_and_what(result: Result, line: str) -> None:
    assert text(Checked([result])).splitlines()[0] == line


@pytest.mark.parametrize("is_cut", [False, True])
def test_names_that_are_left_out_have_a_command_that_shows_them(is_cut: bool) -> None:
    facts = node_facts([f"n{at}" for at in range(7 if is_cut else 5)])
    lines = text(Checked([error("no mapping for some nodes", rule="R", facts=facts)]), lambda: ()).splitlines()
    assert ("all nodes by name: krmfn nodes --wide" in lines) == is_cut


@pytest.mark.parametrize(
    ("raw", "escaped"),
    [
        ("plain", "plain"),
        ("😀 é", "😀 é"),
        ("\x1b[1m\t", r"\x1b[1m\t"),
        ("a\u2028\u202e", r"a\u2028\u202e"),
        ("'", "'"),
        (" ::error::x", r" \x3a:error::x"),
        ("a::b ::c", "a::b ::c"),
        ("a ##[error]b", r"a #\x23[error]b"),
        ("a ##vso[task.x]b", r"a #\x23vso[task.x]b"),
        ("## a [b]", "## a [b]"),
    ],
)
def test_what_does_not_print_is_shown(raw: str, escaped: str) -> None:
    assert printable(raw) == escaped


def test_json_says_null_for_what_does_not_apply() -> None:
    result = error("x", rule="R", ref=ABOUT, field=Field("spec"), place=Place("f", 0, 3, 7), tags=(("first", "true"),))
    place = {"path": "spec", "file": "f", "line": 3, "column": 7, "admission": None, "first": True, "unlisted": None}
    about_places: dict[str, object] = {"related": []}
    about = {"apiVersion": "g/v1", "kind": "Thing", "namespace": "n", "name": "a"}
    said = {"id": result.id, "facts": {}, "rule": "R", "severity": "error", "message": "x"}
    assert finding(result) == said | {"remedy": None, "ref": about} | place | about_places
    advised = result._replace(remedy="y")
    assert (finding(advised)["message"], finding(advised)["remedy"]) == ("x", "y")
    assert all("x; y" in FORMATS[name](Checked([advised]), None) for name in ("sarif", "junit", "github", "gitlab"))
    (line, help_, _), (bare_line, _) = (
        text(Checked([advised]), None, layout).splitlines() for layout in (Layout(), Layout(has_help=False))
    )
    assert (line, help_) == (bare_line, "  help: y")
    assert line.endswith(": x [R]")
    bare = finding(warning("x", place=Place("f")))
    missing = {"rule", "remedy", "ref", "path", "line", "column", "admission", "unlisted"}
    assert {key for key, value in bare.items() if value is None} == missing
    document = json.loads(as_json(Checked([result], 3, (), KINDS, 2)))
    none = dict.fromkeys(("warning", "info", "excluded", "foreign", "baseline", "hidden", "turnedOff"), 0)
    assert document["summary"] == {**none, "error": 1, "resources": 3, "files": 2, "kinds": KINDS}


# The command.

ODD = CONFIG.replace("a: b", "node-role.kubernetes.io/worker: yes-please")
WRONG = CONFIG.replace("moduleName", "moduelName")


def check(*args: str, stdin: str = CONFIG, cwd: Path | None = None, **env: str) -> Done:
    return process("krmfn", "check", "-", *args, stdin=stdin, cwd=cwd, **env)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(("stdin", "code"), [(CONFIG, 0), (ODD, 0), (WRONG, 1)], ids=["clean", "odd", "wrong"])
def test_the_exit_code_does_not_depend_on_the_format(name: str, stdin: str, code: int) -> None:
    done = check("--format", name, stdin=stdin).ended(code, "")
    if name in ("json", "sarif"):
        json.loads(done.out)
    elif name == "junit":
        xml.fromstring(done.out)


@pytest.mark.parametrize(("stdin", "code"), [(CONFIG, 0), (ODD, 1), (WRONG, 1)], ids=["clean", "odd", "wrong"])
def test_strict_lets_warnings_fail(stdin: str, code: int) -> None:
    assert check("--strict", stdin=stdin).code == code


def test_metrics_name_the_config_that_fails() -> None:
    other = CONFIG.replace("name: drv,", "name: other,").replace("a: b", "a: c")
    out = check("--format", "prometheus", stdin=f"{WRONG}---\n{other}").text
    assert 'krmfn_config_failed{kind="DeviceConfig",namespace="kmm",name="drv"} 1\n' in out
    assert 'krmfn_config_failed{kind="DeviceConfig",namespace="kmm",name="other"} 0\n' in out
    assert "krmfn_resources 2\n" in out


def test_metrics_name_both_configs_of_a_conflict() -> None:
    out = check("--format", "prometheus", stdin=f"{CONFIG}---\n{CONFIG.replace('name: drv,', 'name: other,')}").text
    assert len(re.findall(r"^krmfn_config_failed\{.*\} 1$", out, re.MULTILINE)) == 2


def test_a_baseline_silences_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    written = check("--write-baseline", "known.json", stdin=WRONG, cwd=tmp_path)
    assert written == Done(0, b"", "")
    silenced = check("--baseline", "known.json", "--strict", stdin=WRONG, cwd=tmp_path)
    assert silenced.code == 0
    gaps, last = silenced.text.splitlines()
    assert last == "no findings: 1 DeviceConfig in 1 resource"
    assert gaps.startswith("not judged: "), "no baseline knows of it"
    assert silenced.err.endswith(" findings are listed in known.json\n")
    worse = WRONG.replace("driverVersion", "driverVersoin")
    assert check("--baseline", "known.json", stdin=worse, cwd=tmp_path).code == 1


def test_a_baseline_that_is_none_is_exit_2(tmp_path: Path) -> None:
    (tmp_path / "known.json").write_text("[]")
    done = check("--baseline", "known.json", cwd=tmp_path)
    assert done == Done(2, b"", "error: known.json is not a baseline; write one with --write-baseline\n")
    missing = check("--baseline", "gone.json", cwd=tmp_path)
    assert missing == Done(2, b"", "error: gone.json: No such file or directory\n")
    check("--write-baseline", "no/such/dir.json", cwd=tmp_path).refused()


def test_the_order_of_findings_does_not_depend_on_the_hash_seed() -> None:
    stdin = "---\n".join(WRONG.replace("name: drv", f"name: drv{number}") for number in range(5))
    command = (COMMANDS / "krmfn", "check", "-", "--format", "json")
    envs = [environment(PYTHONHASHSEED=str(seed)) for seed in (0, 1, 2)]
    outputs = {execute(*command, stdin=stdin.encode(), env=env) for env in envs}
    assert len(outputs) == 1
    assert outputs.pop().code == 1
