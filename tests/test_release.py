"""The tool behind `make release`: what it refuses, what it pins, and what its bytes follow from."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions import VERSION
from krmfn_functions.kmm.versions import TARGETS
from release import __main__ as make
from release import archives, check, gitops, images, provenance, source, sums
from release.process import Refusal

from tests.commands import COMMANDS, ROOT, execute
from tests.trees import plant

GIT = ("git", "-c", "user.name=me", "-c", "user.email=me@example.com")
PIN = re.compile(r"^(\S+?)(?:\[.*\])?==(\S+) ", re.MULTILINE)


def git(folder: Path, *args: str) -> None:
    subprocess.run([*GIT, *args], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clean checkout with gitops/ and a version."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    plant(folder, {"pyproject.toml": '[project]\nversion = "1.2.3"\n', ".gitignore": "dist/\n"})
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


def test_a_clean_checkout_is_its_commit(checkout: Path) -> None:
    git(checkout, "tag", "v1.2.3")
    git(checkout, "tag", "another-name")
    commit = source.read(checkout)
    assert (len(commit.commit), commit.version) == (40, "1.2.3")
    assert commit.epoch > 1_000_000_000


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda folder: (folder / "new").touch(), r"not clean; commit or remove:\n\?\? new"),
        (lambda folder: (folder / ".gitignore").unlink(), r"not clean; commit or remove:\n D .gitignore"),
        (
            lambda folder: git(folder, "tag", "v1.2.4"),
            "the tag of this commit is v1.2.4, and pyproject.toml says 1.2.3",
        ),
    ],
    ids=["new", "removed", "tag"],
)
def test_a_dirty_checkout_or_another_tag_makes_nothing(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], change: object, words: str
) -> None:
    plant(checkout, {"dist/former": ""})
    assert callable(change)
    change(checkout)
    monkeypatch.setattr(make, "ROOT", checkout)
    former = os.umask(0o022)
    try:
        assert make.main(["--registry", "r.example.com"]) == 1
    finally:
        os.umask(former)
    output = capsys.readouterr()
    assert re.search(words, output.err)
    assert output.out == ""
    assert [path.name for path in (checkout / "dist").iterdir()] == ["former"]


def test_a_failing_program_is_named_and_makes_nothing(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The checkout has no build backend."""
    monkeypatch.setattr(make, "ROOT", checkout)
    assert make.main(["--registry", "r.example.com", "--without-images"]) == 1
    assert re.match(r"no release: .*-m build .*: exit code 1\n", capsys.readouterr().err)
    assert not (checkout / "dist").exists()


@pytest.mark.parametrize(
    ("programs", "base", "words"),
    [
        ([], "", "not on PATH: buildah, go, debootstrap"),
        (["go", "debootstrap"], "", "not on PATH: buildah"),
        (["buildah"], f"python@sha256:{'0' * 64}", "not on PATH: go"),
        ([], "python:3.12", "BASE is python:3.12; it must name a digest"),
    ],
    ids=["none", "buildah", "go", "base-by-tag"],
)
def test_a_missing_tool_is_named_and_makes_nothing(
    checkout: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    programs: list[str],
    base: str,
    words: str,
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in programs:
        plant(tools, {name: "#!/bin/sh\nexit 1\n"})
    monkeypatch.setattr(make, "ROOT", checkout)
    monkeypatch.setattr(images, "_path", lambda: str(tools))
    assert make.main(["--registry", "r.example.com", "--base", base]) == 1
    assert capsys.readouterr().err.startswith(f"no release: {words}")
    assert not (checkout / "dist").exists()


def test_an_export_has_modes_and_times_of_its_own(checkout: Path, tmp_path: Path) -> None:
    (checkout / "pyproject.toml").chmod(0o600)
    os.utime(checkout / "pyproject.toml", (1, 1))
    commit = source.read(checkout)
    source.export(commit, tmp_path / "tree")
    seen = (tmp_path / "tree" / "pyproject.toml").stat()
    assert (seen.st_mode & 0o777, seen.st_mtime) == (0o644, commit.epoch)


FILES = st.dictionaries(
    st.text("abc/", min_size=1).map(lambda name: name.replace("/", "-")),
    st.builds(archives.File, st.binary(), st.booleans()),
)


@given(FILES, st.integers(0, 2**31))
def test_an_archive_follows_from_names_and_contents(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, archives.File], epoch: int
) -> None:
    folder = tmp_path_factory.mktemp("archives")
    archives.write(folder / "one", files, epoch)
    archives.write(folder / "other", dict(reversed(files.items())), epoch)
    assert (folder / "one").read_bytes() == (folder / "other").read_bytes()
    assert archives.read(folder / "one") == files


def commit(version: str = "9.8.7") -> source.Source:
    return source.Source(ROOT, "0" * 40, 1, version)


def test_gitops_is_pinned_and_otherwise_unchanged(tmp_path: Path) -> None:
    images = []
    for path in gitops.write(commit(), ROOT, tmp_path, "r.example.com/team"):
        name = path.name.split("-")[1]
        for file, written in archives.read(path).items():
            mine = ROOT / "gitops" / name / file.partition("/")[2]
            mine = ROOT / "docs" / "engines" / f"{name}.md" if mine.name == "README.md" else mine
            text = written.content.decode()
            if mine.name == "render-branch":
                continue
            images += re.findall(r"\S+/krmfn(?:-argocd)?:\d\S+", text)
            restored = re.sub(r"r\.example\.com/team/(krmfn\S*):9\.8\.7", rf"registry.example.com/\1:{VERSION}", text)
            assert restored == mine.read_text(), file
    assert set(images) == {"r.example.com/team/krmfn:9.8.7", "r.example.com/team/krmfn-argocd:9.8.7"} | {
        "registry.example.com/mine/krmfn-argocd:0.1.0"  # the reader's own
    }


def test_gitops_names_this_version() -> None:
    """What is copied from the repository in place of a release."""
    for path in (ROOT / "gitops").rglob("*.yaml"):
        assert set(re.findall(r"example\.com/krmfn[\w-]*:(\S+)", path.read_text())) <= {VERSION}


@pytest.mark.parametrize(("name", "file"), [(name, file) for name, files in gitops.PINNED.items() for file in files])
def test_a_file_that_names_no_version_makes_nothing(tmp_path: Path, name: str, file: str) -> None:
    for folder in ("docs/engines", *(f"gitops/{name}" for name in gitops.PINNED)):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file():
                copy = tmp_path / path.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(path.read_bytes())
    target = tmp_path / "gitops" / name / file
    target.write_text(target.read_text().replace("registry.example.com/krmfn", "elsewhere/krmfn").replace("set -e", ""))
    with pytest.raises(Refusal, match=f"gitops/{name}/{file} names no version of krmfn"):
        gitops.write(commit(), tmp_path, tmp_path, "r.example.com")
    target.unlink()
    with pytest.raises(Refusal, match=f"gitops/{name} has no {file}"):
        gitops.write(commit(), tmp_path, tmp_path, "r.example.com")


@pytest.mark.parametrize(
    ("version", "words"), [("9.8.7", "this script is from krmfn 9.8.7"), (VERSION, "name the PATH")]
)
def test_the_script_for_flux_runs_with_its_own_version_only(version: str, words: str) -> None:
    text = gitops.pinned((ROOT / "gitops" / "flux" / "render-branch").read_text(), version, "r.example.com")
    env = os.environ | {"PATH": f"{COMMANDS}{os.pathsep}{os.environ['PATH']}"}
    assert words in execute("bash", "-c", text, env=env).ended(1).err


def test_sums_are_those_of_sha256sum(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    paths = [tmp_path / "b" / "c", tmp_path / "a"]
    for path in paths:
        path.write_text(path.name)
    sums.write(tmp_path, "SHA256SUMS", paths)
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    assert execute(*command, cwd=tmp_path).ended(0).text == "a: OK\nb/c: OK\n"
    paths[0].write_text("tampered")
    execute(*command, cwd=tmp_path).ended(1)


def test_the_statement_names_what_was_made_from_what() -> None:
    statement = provenance.statement(commit(), ROOT, {"b": "1", "a": "2"}, {"registry": "r.example.com"})
    assert statement["subject"] == [{"name": "a", "digest": {"sha256": "2"}}, {"name": "b", "digest": {"sha256": "1"}}]
    materials = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert materials[0] == {"name": "krmfn", "digest": {"gitCommit": "0" * 40}}
    assert len([item for item in materials if item.get("uri", "").startswith("pkg:pypi/")]) == 4


def test_what_differs_between_two_clones_is_named(tmp_path: Path) -> None:
    first, other = tmp_path / "one", tmp_path / "other"
    for folder in (first, other):
        folder.mkdir()
    assert list(check.compare(first, other)) == ["nothing was made"]
    for folder in (first, other):
        (folder / "wheel").write_text("same")
    assert list(check.compare(first, other)) == []
    (other / "wheel").write_text("not the same")
    (first / "sdist").touch()
    assert list(check.compare(first, other)) == ["sdist: only one clone makes it", "wheel: differs"]


def test_a_tool_has_one_version_in_all_locks() -> None:
    """The wheel of a release is made by the setuptools that the image, CI and the tests make it with."""
    locks = [dict(PIN.findall(path.read_text())) for path in sorted((ROOT / "requirements").glob("*.txt"))]
    assert sum("setuptools" in lock for lock in locks) == 3
    for name in set().union(*locks):
        assert len({lock[name] for lock in locks if name in lock}) == 1, name


def supported() -> dict[str, set[str]]:
    """What the table in docs/reference/compatibility.md lists: versions by program."""
    page = (ROOT / "docs" / "reference" / "compatibility.md").read_text()
    text = page.partition("## What is supported")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:2] == "| "]
    return {row[0]: set(row[1].split(", ")) for row in rows[1:]}


def test_what_is_supported_is_what_ran() -> None:
    table = supported()
    nox = re.findall(r'"(3\.\d+)"', (ROOT / "noxfile.py").read_text())
    classified = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    assert table.pop("Python") == set(nox) == set(classified)
    assert f'requires-python = ">={nox[0]}"' in (ROOT / "pyproject.toml").read_text()
    assert table.pop("KMM") == set(TARGETS)
    engines = (ROOT / "docs" / "internals" / "engines.md").read_text()
    seen = re.findall(r"^\| (\S[^|]*?) \| ([^|]+?) \|", engines, re.MULTILINE)
    names = {"Kubernetes": "kube-apiserver", "Argo CD": "argocd-repo-server", "Flux": "kustomize-controller"}
    assert len(table) == 5
    for program, versions in table.items():
        name = names.get(program.partition(" (")[0], program)
        assert versions in [{version} for engine, version in seen if engine.startswith(name)], program


def test_the_image_has_the_kustomize_of_the_tests() -> None:
    module = (ROOT / "requirements" / "kustomize" / "go.mod").read_text()
    [version] = re.findall(r"kustomize/v5 (v\S+)", module)
    assert f"\nkustomize={version}\n" in (ROOT / "tests" / "e2e" / "install").read_text()
