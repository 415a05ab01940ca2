"""`check --fix`: what it mends, at which place; what it never touches; and that it writes all or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import Done, process
from tests.functions.comparing.test_base import run_git
from tests.trees import plant

CONFIG = """\
# the cards of the lab
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  moduleName: gpu # as modprobe knows it

  driverImage: registry.example.com/gpu
  driverVersion: "1.10"   # the vendor's
  nodeSelector: {example.com/card: "gpu"}
"""
OTHER = CONFIG.replace("gpu", "nic")


def check(folder: Path, *args: str) -> Done:
    return process("krmfn", "check", ".", *args, cwd=folder)


def content(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("driverVersion:", "driverVerson:"),
        ('"driverVersion":', '"driverVerison":'),
        ("'moduleName': gpu", "'modulName': gpu"),
        ("nodeSelector: {example", "nodeSelecter: {example"),
        ('"1.10"', "1.10"),
        ('"1"', "1"),
        ('"2026-01-01"', "2026-01-01"),
        ('spec: {"moduleName": m,', 'spec: {"moduleNam": m,'),
        ('arguments: ["1.10", "y"]', "arguments: [1.10, y]"),
    ],
)
def test_what_has_one_correction_is_mended_at_its_place(tmp_path: Path, right: str, wrong: str) -> None:
    texts = {
        '"driverVersion":': CONFIG.replace("driverVersion", '"driverVersion"'),
        "'moduleName': gpu": CONFIG.replace("moduleName", "'moduleName'"),
        '"1"': CONFIG.replace("1.10", "1"),
        '"2026-01-01"': CONFIG.replace("1.10", "2026-01-01"),
        'spec: {"moduleName": m,': CONFIG[: CONFIG.index("spec:")]
        + 'spec: {"moduleName": m, driverImage: registry.example.com/m, driverVersion: "1",\n'
        + "  nodeSelector: {example.com/card: m}}\n",
        'arguments: ["1.10", "y"]': CONFIG
        + '  daemonSets:\n  - name: watch\n    image: registry.example.com/watch:1.0\n    args: ["1.10", "y"]\n',
    }
    text = texts.get(right, CONFIG)
    right, wrong = right.replace("arguments", "args"), wrong.replace("arguments", "args")
    assert right in text
    before = check(plant(tmp_path, {"a.yaml": text, "b.yaml": OTHER}))
    assert before.code == 0
    done = check(plant(tmp_path, {"a.yaml": text.replace(right, wrong)}), "--fix")
    assert done.code == 0, done
    assert done.err.startswith("fixed ")
    assert content(tmp_path) == {"a.yaml": text, "b.yaml": OTHER}
    assert done.out == before.out


def test_diff_prints_and_writes_nothing(tmp_path: Path) -> None:
    files = {"a.yaml": CONFIG.replace("driverVersion", "driverVerson"), "b.yaml": OTHER}
    done = check(plant(tmp_path, files), "--fix", "--diff").ended(1, "")
    assert done.text.splitlines()[:2] == ["--- a.yaml", "+++ a.yaml"]
    assert '-  driverVerson: "1.10"   # the vendor\'s\n+  driverVersion: "1.10"   # the vendor\'s\n' in done.text
    assert content(tmp_path) == files
    check(plant(tmp_path, {"a.yaml": CONFIG}), "--diff").ended(0, "")


def test_a_finding_says_its_mend_as_data(tmp_path: Path) -> None:
    text = CONFIG.replace("driverVersion", "driverVerson").replace("moduleName: gpu", "moduleName: 1.10")
    document = json.loads(check(plant(tmp_path, {"a.yaml": text}), "--format", "json").text)
    facts = {finding["path"]: finding["facts"].get("mend") for finding in document["findings"]}
    assert facts["spec.driverVerson"] == ["rename", "driverVerson", "driverVersion"]
    assert facts["spec.moduleName"] == ["quote"]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("driverVersion:", "driverVers:"),  # two letters
        ("kind: DeviceConfig", "kind: DeviceConfi"),
        ('"gpu"', "true"),
        ('"gpu"', "y"),
        ("driverImage: registry.example.com/gpu", "driverImage: 1.10"),
        ("namespace: kmm", "namespace: y"),
        ("name: gpu", "name: 1.10"),
        ("namespace: kmm}", "namespace: kmm, labels: {a: 1.10}}"),
        ("krmfn.dev/v1alpha1", "krmfn.dev/v1alpha"),
    ],
)
def test_what_is_not_sure_stays(tmp_path: Path, right: str, wrong: str) -> None:
    files = {"a.yaml": CONFIG.replace(right, wrong)}
    before = check(plant(tmp_path, files)).ended(1)
    done = check(tmp_path, "--fix").ended(1, "")
    assert done.out == before.out
    assert content(tmp_path) == files


BASE = CONFIG.replace("1.10", "1.0")


UNUSED = "KRM225: the vendor has no other tag"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (
            "{name: gpu, namespace: kmm}",
            f'{{name: gpu, namespace: kmm, annotations: {{krmfn.dev/ignore: "{UNUSED}"}}}}',
        ),
        (
            "{name: gpu, namespace: kmm}\n",
            f"\n  name: gpu # its name\n  annotations:\n    krmfn.dev/ignore: '{UNUSED}'\n  namespace: kmm\n",
        ),
        (
            "{name: gpu, namespace: kmm}\n",
            f"\n  name: gpu\n  annotations:\n    a: b # stays\n    krmfn.dev/ignore: '{UNUSED}'\n  namespace: kmm\n",
        ),
    ],
)
def test_an_unused_entry_goes_with_what_is_empty_then(tmp_path: Path, right: str, wrong: str) -> None:
    text = CONFIG.replace(right, wrong)
    done = check(plant(tmp_path, {"a.yaml": text}), "--fix").ended(0, "fixed 1 finding in 1 file\n")
    assert "KRM139" not in done.text
    lines = [line for line in text.splitlines(True) if "krmfn.dev/ignore" not in line]
    if "stays" not in wrong:
        lines = [line for line in lines if "annotations:" not in line]
    expected = CONFIG if "annotations: {" in wrong else "".join(lines)
    assert content(tmp_path) == {"a.yaml": expected}


def test_of_two_entries_the_used_one_stays(tmp_path: Path) -> None:
    text = BASE.replace("registry.example.com/gpu", "registry.example.com/gpu:latest")
    text = text.replace('  driverVersion: "1.0"   # the vendor\'s\n', "")
    text = text.replace("kmm}", f'kmm, annotations: {{krmfn.dev/ignore: "{UNUSED}; KRM209: who knows"}}}}')
    done = check(plant(tmp_path, {"a.yaml": text}), "--fix").ended(0, "fixed 1 finding in 1 file\n")
    assert "1 finding turned off" in done.text
    assert content(tmp_path) == {"a.yaml": text.replace("; KRM209: who knows", "")}


def test_an_unused_entry_of_a_function_config_goes(tmp_path: Path) -> None:
    settings = "apiVersion: krmfn.dev/v1alpha1\nkind: RenderDeviceConfigs\nmetadata: {name: settings}\nspec:\n"
    files = {"a.yaml": CONFIG, "f.yaml": f"{settings}  ignore:\n    KRM225: why\n  namespace: kmm # here\n"}
    done = check(plant(tmp_path, files), "--fix").ended(0)
    assert "KRM139" not in done.text
    assert (tmp_path / "f.yaml").read_text() == f"{settings}  namespace: kmm # here\n"


def test_an_error_that_hid_an_unused_entry_and_the_entry_are_mended_in_one_run(tmp_path: Path) -> None:
    text = CONFIG.replace("kmm}", f'kmm, annotations: {{krmfn.dev/ignore: "{UNUSED}"}}}}')
    text = text.replace("driverVersion", "driverVerson")
    check(plant(tmp_path, {"a.yaml": text}), "--fix").ended(0, "fixed 2 findings in 1 file\n")
    assert content(tmp_path) == {"a.yaml": CONFIG}


def test_a_mend_that_shows_another_finding_is_not_made(tmp_path: Path) -> None:
    """The misspelt annotation has kept it from being said that there is no such Profile."""
    files = {"a.yaml": CONFIG.replace("kmm}", "kmm, annotations: {krmfn.dev/profil: x}}")}
    done = check(plant(tmp_path, files), "--fix").ended(1)
    assert done.err.startswith("error: nothing is fixed: a finding would be new: a.yaml:")
    assert "KRM118" in done.text
    assert content(tmp_path) == files


def test_a_key_of_ours_is_mended(tmp_path: Path) -> None:
    text = CONFIG.replace("kmm}", "kmm, annotations: {krmfn.dev/profile: x}}")
    profile = "apiVersion: krmfn.dev/v1alpha1\nkind: RenderDeviceConfigs\nmetadata: {name: settings}\nspec:\n"
    profile += "  profiles: {x: {imagePullPolicy: Always}}\n"
    plant(tmp_path, {"a.yaml": text.replace("/profile", "/profil"), "f.yaml": profile})
    check(tmp_path, "--fix").ended(0, "fixed 1 finding in 1 file\n")
    assert content(tmp_path) == {"a.yaml": text, "f.yaml": profile}


def test_links_are_not_followed(tmp_path: Path) -> None:
    files = {"here/x.yaml": OTHER, "there/a.yaml": CONFIG.replace("driverVersion", "driverVerson")}
    plant(tmp_path, files | {"here/a.yaml": "-> ../there/a.yaml"})
    process("krmfn", "check", "here", "--fix", "--root", ".", cwd=tmp_path).ended(1, "")
    assert (tmp_path / "there/a.yaml").read_text() == files["there/a.yaml"]
    assert (tmp_path / "here/a.yaml").is_symlink()


def test_a_folder_that_is_a_link_by_name_is_meant(tmp_path: Path) -> None:
    plant(tmp_path, {"there/a.yaml": CONFIG.replace("driverVersion", "driverVerson"), "here": "-> there"})
    process("krmfn", "check", "here", "--fix", cwd=tmp_path).ended(0)
    assert content(tmp_path)["there/a.yaml"] == CONFIG


@pytest.mark.parametrize("state", ["untracked", "staged", "changed", "committed", "no commit yet"])
def test_a_file_that_is_not_as_it_was_committed_needs_force(tmp_path: Path, state: str) -> None:
    wrong = CONFIG.replace("driverVersion", "driverVerson")
    first = {"x.yaml": OTHER} if state == "untracked" else {"a.yaml": wrong if state == "committed" else CONFIG}
    plant(tmp_path, first)
    run_git(tmp_path, "init", "-q")
    run_git(tmp_path, "add", ".")
    if state != "no commit yet":
        run_git(tmp_path, "commit", "-qm", "x")
    plant(tmp_path, {"a.yaml": wrong})
    if state == "staged":
        run_git(tmp_path, "add", ".")
    done = check(tmp_path, "--fix")
    if state != "committed":
        message = "nothing is fixed: a.yaml is not as it was committed; commit it first, or pass --force"
        assert done.refused() == f"error: {message}\n"
        assert (tmp_path / "a.yaml").read_text() == wrong
        check(tmp_path, "--diff").ended(1, "")
        done = check(tmp_path, "--fix", "--force")
    done.ended(0)
    assert (tmp_path / "a.yaml").read_text() == CONFIG


@pytest.mark.parametrize("args", [("-",), (".", "--write-baseline", "known.json")])
def test_what_cannot_be_written_back_is_refused(tmp_path: Path, args: tuple[str, ...]) -> None:
    done = process("krmfn", "check", *args, "--fix", cwd=plant(tmp_path, {"a.yaml": CONFIG}), stdin=CONFIG)
    assert "cannot be combined with --fix or --diff" in done.refused()


def test_only_what_is_shown_is_mended(tmp_path: Path) -> None:
    text = CONFIG.replace("driverVersion", "driverVerson")
    check(plant(tmp_path, {"a.yaml": text}), "--fix", "--select", "KRM139").ended(1, "")
    assert content(tmp_path) == {"a.yaml": text}
    check(tmp_path, "--write-baseline", "known.json").ended(0)
    check(tmp_path, "--fix", "--baseline", "known.json")
    assert content(tmp_path)["a.yaml"] == text


def test_nothing_is_mended_beside_what_cannot_be_read(tmp_path: Path) -> None:
    files = {"a.yaml": CONFIG.replace("driverVersion", "driverVerson"), "b.yaml": "kind: [\napiVersion: v1\n"}
    done = check(plant(tmp_path, files), "--fix").ended(2)
    assert done.err == "error: nothing is fixed: not all can be read, so what else would change is not known\n"
    assert content(tmp_path) == files
