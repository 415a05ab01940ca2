"""Several PATHs: what is wrong with one of them hides nothing of the others, and nothing is written or printed."""

from __future__ import annotations

import json
import os
import re
import shutil
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from krmfn_functions.formats.findings import FORMATS
from krmfn_functions.paths import disk, output

from krmfn import KrmfnError
from tests.builders import CONFIG
from tests.commands import Done, process
from tests.examples import pairs_of
from tests.trees import plant

WRONG = CONFIG.replace("moduleName", "moduelName")
FUNCTION_CONFIG = "apiVersion: krmfn.dev/v1alpha1\nkind: RenderDeviceConfigs\nmetadata: {name: a}\n"
UNREADABLE = {
    "syntax": "syntax/a.yaml:2: error: did not find expected node content",
    "link": "link/a.yaml: error: is a link that leads out of ",
    "pipe": "pipe/a.yaml: error: is a pipe, not a file",
    "large": "large/a.yaml: error: is larger than ",
    "list": "list/a.yaml:1: error: `items` of this List must be a list",
}
"""PATHs with a file that cannot be read, which is a finding."""
FAILING = {
    "gone": "gone: No such file or directory",
    "kustomization": "kustomize build kustomization failed:",
    "settings": "settings holds 2 functionConfigs",
}
"""PATHs for which nothing can be done."""
BROKEN = UNREADABLE | {
    "gone": "gone: error: No such file or directory",
    "kustomization": "kustomization/kustomization.yaml: error: kustomize build kustomization failed:",
    "settings": "error: settings: settings holds 2 functionConfigs",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sound PATH, one with an error finding, an empty one, and those of BROKEN."""
    for name in ("sound", "wrong", "empty", *BROKEN):
        (tmp_path / name).mkdir()
    (tmp_path / "gone").rmdir()
    plant(tmp_path, {"sound/a.yaml": CONFIG, "wrong/a.yaml": WRONG, "syntax/a.yaml": "apiVersion: [\n"})
    (tmp_path / "link" / "a.yaml").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "pipe" / "a.yaml")
    plant(tmp_path, {"large/a.yaml": "# " + "x" * 5000, "list/a.yaml": "apiVersion: v1\nkind: List\n"})
    (tmp_path / "kustomization" / "kustomization.yaml").write_text("namePrefix: a-\n")
    (tmp_path / "settings" / "a.yaml").write_text(f"{CONFIG}---\n{FUNCTION_CONFIG}---\n{FUNCTION_CONFIG}")
    plant(tmp_path, {"bin/kustomize": "#!/bin/sh\necho 'no such file: gone.yaml' >&2; exit 1\n"})
    return tmp_path


def run(folder: Path, *args: str) -> Done:
    return process("krmfn", *args, cwd=folder, KRMFN_MAX_BYTES="4096", PATH=f"{folder}/bin:{os.environ['PATH']}")


@pytest.mark.parametrize(("broken", "first"), pairs_of(BROKEN, [True, False]))
def test_a_report_names_the_path_that_cannot_be_read_and_the_findings_in_the_others(
    broken: str, first: bool, folder: Path
) -> None:
    paths = [broken, "wrong", "sound"] if first else ["sound", "wrong", broken]
    done = run(folder, "check", *paths).ended(2, "")
    assert "wrong/a.yaml:4:60: error: DeviceConfig kmm/drv: spec.moduelName: " in done.text
    (line,) = (line for line in done.text.splitlines() if line.startswith(BROKEN[broken]))
    assert (" [KRM523]" in line) == (broken in UNREADABLE)
    assert re.search("^2 errors: [23] clusters, 2 DeviceConfigs in 2 resources, [23] files$", done.text, re.MULTILINE)


@pytest.mark.parametrize("broken", BROKEN)
def test_no_report_passes_for_one_of_all_paths(broken: str, folder: Path) -> None:
    """A report is kept and read without the exit code."""
    reports = {name: run(folder, "check", "sound", broken, "--format", name) for name in FORMATS}
    assert {done.code for done in reports.values()} == {2}
    (finding,) = json.loads(reports["json"].text)["findings"]
    file = None if broken == "settings" else BROKEN[broken].partition(":")[0]  # a folder is no file
    assert (finding["severity"], finding["file"]) == ("error", file)
    (result,) = json.loads(reports["sarif"].text)["runs"][0]["results"]
    assert result["level"] == "error"
    (entry,) = json.loads(reports["gitlab"].text)
    assert entry["severity"] == "critical" and entry["location"]["path"] in (file, ".")
    assert xml.fromstring(reports["junit"].text).get("failures") == "1"
    assert reports["github"].text.startswith(f"::error file={file}," if file else "::error title=krmfn::settings: ")
    assert 'krmfn_config_failed{kind="DeviceConfig",namespace="kmm",name="drv"} 1\n' in reports["prometheus"].text


@pytest.mark.parametrize("broken", FAILING)
def test_a_single_path_for_which_nothing_can_be_done_has_no_report(broken: str, folder: Path) -> None:
    assert run(folder, "check", broken).refused().startswith(f"error: {FAILING[broken]}")


@pytest.mark.parametrize("broken", UNREADABLE)
def test_a_file_that_cannot_be_read_is_a_finding_in_every_format_and_hides_no_other(broken: str, folder: Path) -> None:
    shutil.copy(folder / "wrong" / "a.yaml", folder / broken / "b.yaml")
    file = BROKEN[broken].partition(":")[0]
    for name in (name for case, name in pairs_of(UNREADABLE, FORMATS) if case == broken):
        done = run(folder, "check", broken, "--format", name).ended(2, "")
        assert name == "prometheus" or (file in done.text and "moduelName" in done.text)
    assert BROKEN[broken] in run(folder, "check", broken).text
    for command in (["render"], ["resolve", "--kernel", "6.1"], ["diff", "sound"], ["diff", "/dev/null"]):
        assert BROKEN[broken] in run(folder, *command, broken).refused()


def test_when_no_path_can_be_read_each_is_named(folder: Path) -> None:
    done = run(folder, "check", *BROKEN).ended(2, "")
    assert all(message in done.text for message in BROKEN.values())


def test_what_is_wrong_with_the_call_is_reported_once(folder: Path) -> None:
    (line,) = run(folder, "check", "sound", "wrong", "--namespace", "A").refused().splitlines()
    assert line.startswith("error: --namespace is 'A'")


def test_a_baseline_is_written_of_all_paths_or_not_at_all(folder: Path) -> None:
    err = run(folder, "check", "wrong", "gone", "--write-baseline", "known.json").refused()
    assert "error: gone: No such file or directory\n" in err
    assert run(folder, "check", "syntax", "--write-baseline", "known.json").code == 2
    assert not (folder / "known.json").exists()
    assert run(folder, "check", "wrong", "--write-baseline", "known.json").code == 0
    done = run(folder, "check", "wrong", "gone", "--baseline", "known.json").ended(2)
    assert done.reported == "gone: error: No such file or directory\n1 error: 1 DeviceConfig in 1 resource, 1 file\n"


def test_every_file_of_a_path_that_cannot_be_read_is_a_finding(folder: Path) -> None:
    (folder / "syntax" / "b.yaml").write_text('apiVersion: "\n')
    for path in ("syntax", "./syntax/"):
        lines = run(folder, "check", path, "sound").reported.splitlines()
        assert [line.partition(": ")[0] for line in lines[:2]] == ["syntax/a.yaml:2", "syntax/b.yaml:2"]
        assert lines[2].startswith("2 errors: ")


COMMANDS_WITH_IT = (
    "render --output-dir new/out BROKEN wrong sound",
    "render --output-dir new/out sound wrong BROKEN",
    "resolve sound BROKEN wrong --kernel 6.1",
    "diff BROKEN wrong",
    "diff wrong BROKEN",
)


@pytest.mark.parametrize(("broken", "command"), pairs_of(BROKEN, COMMANDS_WITH_IT))
def test_nothing_is_done_unless_all_paths_can_be_read(broken: str, command: str, folder: Path) -> None:
    """What is wrong with each of them is said."""
    err = run(folder, *command.replace("BROKEN", broken).split()).refused()
    assert (FAILING | UNREADABLE)[broken] in err
    assert "wrong/a.yaml:4:60: error: " in err
    assert ("error: wrong: cannot be rendered, so there is nothing to compare\n" in err) is command.startswith("diff")
    assert not (folder / "new").exists()


@pytest.mark.parametrize("paths", [("empty", "wrong", "sound"), ("sound", "wrong", "empty")])
def test_nothing_is_rendered_when_a_path_is_empty(paths: tuple[str, ...], folder: Path) -> None:
    err = run(folder, "render", "--output-dir", "new/out", *paths).refused()
    assert "wrong/a.yaml:4:60: error: DeviceConfig kmm/drv: spec.moduelName: " in err
    assert "error: nothing in empty would reach a cluster" in err
    assert not (folder / "new").exists()


def test_stdin_is_read_once(folder: Path) -> None:
    err = process("krmfn", "check", "-", "sound", "-", cwd=folder, stdin=CONFIG).refused()
    assert err == "error: - appears twice among the PATHs, but stdin can be read only once\n"


def test_without_anything_on_stdin_the_path_is_named() -> None:
    process("krmfn", "check", "-").ended(2, "error: stdin is empty; the PATH - reads resources from stdin\n")
    assert "stdin: error: stdin is empty; " in process("krmfn", "check", "-", "examples/quickstart").ended(2).text


# The folders.


@pytest.fixture
def two(folder: Path) -> list[str]:
    """Two PATHs that can be rendered."""
    shutil.copytree(folder / "sound", folder / "other")
    return ["sound", "other"]


def test_a_folder_that_holds_something_keeps_all_from_being_written(two: list[str], folder: Path) -> None:
    """Also a file that would have had the same name."""
    assert run(folder, "render", "sound", "--output-dir", "once").code == 0
    kept = {path.name: "kept" for path in (folder / "once").iterdir()}
    (folder / "out" / "other").mkdir(parents=True)
    for name, text in kept.items():
        (folder / "out" / "other" / name).write_text(text)
    assert "error: out/other is not empty" in run(folder, "render", "--output-dir", "out", *two).refused()
    assert [path.name for path in (folder / "out").iterdir()] == ["other"]
    assert {path.name: path.read_text() for path in (folder / "out" / "other").iterdir()} == kept


@pytest.mark.parametrize("number", range(1, 5))
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_leaves_no_folder(
    failure: BaseException, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from krmfn_functions.paths import manifests

    replace, count = os.replace, 0

    def fail_at_last(source: str, target: str) -> None:
        nonlocal count
        count += 1
        if count == number:
            raise failure
        replace(source, target)

    (tmp_path / "config.yaml").write_text(CONFIG)
    items = manifests.read(str(tmp_path / "config.yaml")).items
    (tmp_path / "b").mkdir()
    monkeypatch.setattr(os, "replace", fail_at_last)
    with pytest.raises((KrmfnError, KeyboardInterrupt)):
        output.write_folders({str(tmp_path / "new" / "a"): items, str(tmp_path / "b"): items})
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["b", "config.yaml"]


def test_a_link_that_goes_while_a_folder_is_walked_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As /proc/8/exe does when the process ends, or that of the kernel's own processes."""
    plant(tmp_path, {"a.yaml": "", "exe": "-> a.yaml"})

    def gone(name: str) -> str:
        raise FileNotFoundError(2, "No such file or directory", name)

    monkeypatch.setattr(os, "readlink", gone)
    files, problems = disk.files_below(disk.File(str(tmp_path), str(tmp_path)), lambda name: True, None)
    assert [Path(file.name).name for file in files] == ["a.yaml"]
    assert problems == []


def test_a_link_that_cannot_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands there may be deployed, so it is not passed over."""
    (tmp_path / "a.yaml").symlink_to("b.yaml")

    def refused(name: str) -> str:
        raise PermissionError(13, "Permission denied", name)

    monkeypatch.setattr(os, "readlink", refused)
    with pytest.raises(KrmfnError, match=r"a\.yaml: Permission denied"):
        disk.files_below(disk.File(str(tmp_path), str(tmp_path)), lambda name: True, None)
