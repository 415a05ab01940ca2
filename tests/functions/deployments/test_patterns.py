"""Patterns of folders and files, as Go's path.Match and `git ls-files` answer them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from krmfn_functions.deployments.patterns import of_files, of_folders

FOLDERS = {
    # by a Go program that calls path.Match
    ("sites/*", "sites/lab"): True,
    ("sites/*", "sites/lab/gpu"): False,
    ("./sites/*", "sites/lab"): False,
    ("sites/*/", "sites/lab"): False,
    ("sites", "sites"): True,
    ("sites/[^o]*", "sites/lab"): True,
    ("sites/[!o]*", "sites/lab"): False,
    ("sites/[!o]*", "sites/!"): True,
    ("sites/[a-m]*", "sites/lab"): True,
    ("sites/[m-a]*", "sites/lab"): False,
    ("sites/la[]b]", "sites/lab"): False,
    ("*[^]a", "ba"): False,
    ("sites/la[", "sites/la["): False,
    ("sites/la?", "sites/lab"): True,
    ("sites?lab", "sites/lab"): False,
    ("sites[^a]lab", "sites/lab"): True,
    ("sites/\\*", "sites/*"): True,
    ("sites/**", "sites/lab/gpu"): False,
    ("sites\\", "sites\\"): False,
}
FILES = ("a", "b/a", "b/c/a", "b/c/b", "^/a", "!", "a-b", "]")


@pytest.mark.parametrize(("pattern", "path"), FOLDERS)
def test_a_folder_is_chosen_as_by_go(pattern: str, path: str) -> None:
    assert of_folders(path, pattern) is FOLDERS[pattern, path]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with some files in its index."""
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    rows = "".join(f"100644 {'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'} 0\t{file}\n" for file in FILES)
    subprocess.run(["git", "update-index", "--index-info"], cwd=folder, input=rows, text=True, check=True)
    return folder


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(pattern=st.text("abc/*?[]!^-\\.", min_size=1, max_size=6))
def test_a_file_is_chosen_as_by_git(repository: Path, pattern: str) -> None:
    command = ["git", "ls-files", "-z", "--", pattern]
    answer = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False).stdout
    if ".." not in pattern:  # of what is outside, Git prints nothing, and no file is named so
        assert {file for file in FILES if of_files(file, pattern)} == {*filter(None, answer.split("\0"))}


@given(st.text(max_size=20) | st.text("ab*?[]!^-\\/", max_size=20), st.text(max_size=20))
def test_any_pattern_is_answered(pattern: str, path: str) -> None:
    assert of_files(path, pattern) in (True, False)
    assert of_folders(path, pattern) in (True, False)
