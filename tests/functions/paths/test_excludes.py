"""What `exclude` and --exclude leave out: what a .gitignore would ignore, and patterns that leave nothing out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.cluster import layout
from krmfn_functions.options import RunOptions
from krmfn_functions.paths.excludes import check, excluder, unused_patterns

from krmfn import KrmfnError
from tests import bounded
from tests.builders import CONFIG
from tests.commands import process
from tests.functions.comparing.test_base import run_git
from tests.trees import plant


def fits(path: str, *patterns: str) -> bool:
    return excluder(patterns)("/repo", path)


@pytest.mark.parametrize(
    ("path", "patterns", "expected"),
    [
        ("a/b/c.yaml", ["b"], True),
        ("a/b/c.yaml", ["b/"], True),
        ("b", ["b/"], False),
        ("b/", ["b/"], True),
        ("a/b/c.yaml", ["*.yaml"], True),
        ("a/b/c.yaml", ["./a/b/"], True),
        ("a/b/c.yaml", ["/b"], False),
        ("a/b/c.yaml", ["b/c.yaml"], False),
        ("a/b/c.yaml", ["**/c.yaml"], True),
        ("a/B/c.yaml", ["b"], False),
        ("a/b/c.yaml", ["a/*", "!a/b"], False),
        ("a/b/c.yaml", ["!a/b", "a/*"], True),
        ("a/\udcff/c.yaml", ["\udcff"], True),
        ("a/é/c.yaml", ["?/c.yaml", "a/?/"], True),
        ("[a]", [r"\[a]"], True),
        ("a/[", ["[[b]"], True),
        ("/repo/a/b/c.yaml", ["a/b"], True),
        ("/repo/a/b/", ["b/"], True),
        ("/repo/a/b", ["b/"], False),
    ],
)
def test_a_pattern(path: str, patterns: list[str], expected: bool) -> None:
    assert fits(path, *patterns) is expected


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repo")
    run_git(folder, "init", "--quiet")
    return folder


PATHS = st.lists(st.text("ab.", min_size=1, max_size=3).filter(lambda name: set(name) != {"."}), min_size=1, max_size=3)
PATTERNS = st.from_regex(r"!?/?(?:\*\*/)?[ab.*?]{1,3}(?:/[ab*?]{1,2}){0,2}/?", fullmatch=True)


SHARED = PATTERNS.filter(lambda text: "***" not in text and not text.startswith("./"))  # git matches nothing with ./


@given(st.lists(SHARED, min_size=1, max_size=4), PATHS.map("/".join))
def test_patterns_mean_what_they_mean_to_git(repo: Path, patterns: list[str], path: str) -> None:
    """A `!` may bring back more than it does for git, which does not look into a folder that is ignored."""
    (repo / ".gitignore").write_text("\n".join([*patterns, "/z"]))  # git fails where nothing is ignored
    ignored = run_git(repo, "check-ignore", "--no-index", "--verbose", path, "z")
    by = [line.partition("\t")[0].split(":", 2)[2] for line in ignored.split("\n")]
    is_ignored = len(by) == 2 and not by[0].startswith("!")
    if any(pattern.startswith("!") for pattern in patterns):
        assert is_ignored or not fits(path, *patterns)
    else:
        assert fits(path, *patterns) is is_ignored


ODD = st.text("ab*?[]!-.\\/# é\udcff^:", max_size=6)


@given(st.lists(ODD, max_size=5), st.lists(st.text("ab[]!é\udcff", min_size=1)))
def test_any_pattern_is_used_or_refused(patterns: list[str], names: list[str]) -> None:
    wrong = [*check(patterns)]
    if wrong:
        with pytest.raises(KrmfnError, match=r"is not a valid \.gitignore pattern"):
            fits("/".join(names), *patterns)
    else:
        fits("/".join(names), *patterns)


@pytest.mark.parametrize(
    "patterns",
    [["a"] * 1001, ["*" * 251], ["[a-z]"] * 200 + ["?"] * 51, ["a" * 16_385], ["é" * 8193]],
)
def test_patterns_are_few(patterns: list[str]) -> None:
    assert [at for at, _ in check(patterns)] == [None]
    with pytest.raises(KrmfnError, match="more than 1,000 patterns, 16,384 characters or 250 wildcards"):
        fits("a", *patterns)


def test_no_exclude_takes_long() -> None:
    """As many patterns as are taken, of a kind over which Python's `re` would take for ever, and all are compiled."""
    code = """
from krmfn_functions.paths.excludes import check, excluder
for patterns in (
    ["*a" * 250 + "b"], ["**/" * 125 + "b"], ["*a" * 8 + "b"] * 31, ["[" + chr(256) + "-" + chr(65535) + "]"] * 250,
    ["?" * 250], ["a" * 16] * 1000 + [], [chr(233) * 8] * 1000, ["a" * 16_384], ["/a" * 8192], ["!" + "a" * 15] * 1000,
    ["[" * 250], ["[!" + chr(233) + "]"] * 250, [f"{number:016}" for number in range(1000)], ["*" + "a" * 15] * 250,
):
    assert not [*check(patterns)], patterns[0]
    matches = excluder(tuple(patterns))
    for number in range(100):
        matches("/repo", "/".join([("a" * 50 + str(number)) * 4] * 4))
"""
    done = bounded.python(code, 20)
    assert done.returncode == 0, done.stderr


FILES = {
    "prod/a.yaml": CONFIG,
    "lab/docs/readme.md": "",
    "lab/a.yaml": CONFIG,
    ".github/ci.yaml": "",
    "docs/b.yaml": CONFIG,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository as working folder, in a folder with nothing else."""
    folder = tmp_path / "repository"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return plant(folder, FILES)


@pytest.mark.parametrize(
    ("patterns", "idle"),
    [
        (["expriments/", "!prod"], [0, 1]),
        (["prod", "lab/**/readme.md", "docs/", ".github", "*.md"], []),
        (["*", "!prod"], [1]),
        (["prod/", "!prod/a.yaml"], []),
        (["!prod/a.yaml", "prod/"], [0]),
        (["prod/*", "!prod/a.yaml", "/a.yaml", "a.yaml/"], [2, 3]),
        (["# prod", "[prod", "./lab"], [0, 1]),
        (["HEAD", ".git/"], [0, 1]),
        (["#"], [0]),
    ],
)
def test_patterns_that_leave_nothing_out(folder: Path, patterns: list[str], idle: list[int]) -> None:
    (folder / ".git" / "HEAD").write_text("")
    assert unused_patterns(patterns, str(folder)) == idle


def test_a_pattern_that_matches_nothing_is_said_where_all_is_read(folder: Path) -> None:
    plant(folder, {".krmfn.yaml": "exclude:\n- expriments/\n- '!prod'\n- docs\n"})
    expected = [
        ".krmfn.yaml:2:3: info: exclude[0]: expriments/ matches nothing; correct the pattern (.gitignore syntax, "
        "relative to this file), or remove it [KRM522]",
        ".krmfn.yaml:3:3: info: exclude[1]: !prod re-includes nothing that an earlier pattern excludes; correct "
        "the pattern (.gitignore syntax, relative to this file), or remove it [KRM522]",
    ]
    for paths in (["."], ["lab", str(folder)], [str(folder.parent)]):
        laid = layout.layout(paths, RunOptions(root=str(folder.parent) if paths == [str(folder.parent)] else None), {})
        assert [str(finding) for finding in laid.findings] == (expected if laid.config.name else []), paths
    for paths in (["lab"], ["prod", "lab", "docs"], ["-"]):
        assert layout.layout(paths, RunOptions(), {}).findings == []


def test_the_command_counts_what_is_left_out_and_says_what_is_not(folder: Path) -> None:
    plant(folder, {".krmfn.yaml": "exclude: ['*', '!prod', '!/prod/**', expriments/]\n"})
    done = process("krmfn", "check", ".", cwd=folder).ended(0)
    assert "expriments/ matches nothing" in done.text
    assert "2 files (excluded" in done.text
    assert "KRM522" not in process("krmfn", "render", "lab", cwd=folder).err


def test_a_pattern_that_matches_nothing_hides_no_other_finding(folder: Path) -> None:
    plant(folder, {".krmfn.yaml": "exclude: [prod, lab, docs, expriments]\n"})
    done = process("krmfn", "check", ".", cwd=folder)
    assert "expriments matches nothing" in done.text
    assert "so there is nothing to do [KRM109]" in done.text


def test_a_folder_that_may_not_be_read_can_be_left_out_by_its_name(folder: Path) -> None:
    (folder / "vendor").symlink_to("/usr")
    assert [str(finding) for finding in layout.layout(["."], RunOptions(), {}).findings] != []
    for pattern in ("vendor", "vendor/"):
        assert layout.layout(["."], RunOptions(exclude=(pattern,)), {}).findings == []


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        ("[a, '[z-a]']", "1:14: error: exclude[1]: is not a valid .gitignore pattern; escape"),
        (f"[{'*' * 251!r}]", "1:1: error: exclude: has more than 1,000 patterns, 16,384 characters or 250 wildcards"),
    ],
)
def test_patterns_that_cannot_be_used_are_errors_of_the_file(folder: Path, patterns: str, message: str) -> None:
    plant(folder, {".krmfn.yaml": f"exclude: {patterns}\n"})
    laid = layout.layout(["."], RunOptions(), {})
    assert [str(finding).startswith(f".krmfn.yaml:{message}") for finding in laid.findings] == [True], laid.findings
    assert laid.clusters == []
    process("krmfn", "check", "lab", "--exclude", "[z-a]", cwd=folder).ended(2)
