"""`diff --base`: the merge base out of Git's object database, whatever the clone and the commits are like."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from krmfn_functions.comparing import base
from krmfn_functions.paths import git, history

from krmfn import KrmfnError, error
from tests.commands import COMMANDS, Done, environment, execute, process
from tests.trees import altered, config_map, plant

OWN = {
    **{f"GIT_{role}_{field}": "a@example.com" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "file",
}


def run_git(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Run git as a person would, without any configuration of theirs; its stdout."""
    env = {**{key: value for key, value in os.environ.items() if not key.startswith("GIT_")}, **OWN}
    return (
        execute("git", "-c", "maintenance.auto=false", *arguments, cwd=folder, env=env, stdin=stdin)
        .ended(0)
        .text.strip()
    )


def commit(folder: Path, files: Mapping[str, str] | None = None) -> str:
    """Commit what is in a folder, with these files; the commit's name."""
    plant(folder, files or {})
    run_git(folder, "add", "--all", "--force")
    run_git(folder, "commit", "--quiet", "--allow-empty", "--message", "a commit")
    return run_git(folder, "rev-parse", "HEAD")


def commit_to_main(folder: Path, files: Mapping[str, str] | None = None) -> None:
    """Commit what is in a folder, with these files, and let the branch `main` have it, too."""
    commit(folder, files)
    run_git(folder, "branch", "--force", "main")


def repository(folder: Path, files: Mapping[str, str]) -> Path:
    """A repository whose branch `main` has these files, and `next` is checked out beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    run_git(folder, "init", "--quiet", "--initial-branch", "main")
    commit(folder, files)
    run_git(folder, "checkout", "--quiet", "-b", "next")
    return folder


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with two ConfigMaps in two folders."""
    return repository(tmp_path / "repo", {"lab/a.yaml": config_map("a"), "prod/b.yaml": config_map("b")})


def diff(folder: Path, *arguments: str, **env: str) -> Done:
    return process("krmfn", "diff", "--base", "main", *arguments, "--quiet", cwd=folder, **env)


def summaries(done: Done) -> tuple[dict[str, str], str]:
    """What is said of the objects of each cluster in the table of several clusters, and all that stands below it."""
    head, table, *below = done.text.split("\n\n")
    below = [part for part in below if not part.startswith("not judged: ")]
    if below and not below[-1].endswith("\n"):
        below[-1] += "\n"  # its own line end stood above the line of what is not judged
    cells = (re.split(" {2,}", row) for row in table.splitlines()[1:])
    rows = {row[0]: row[-1] for row in cells}
    moved = [name for name, text in rows.items() if not text.startswith("nothing changes")]
    clusters = "all 2 clusters" if len(moved) == 2 else ", ".join(moved)
    assert head == f"what happens on the nodes of {clusters} is not known", "there is no Node"
    return rows, "\n\n".join(below)


def changed(done: Done) -> dict[str, str]:
    """What happens to each object by its name, from the report in JSON."""
    return {change["ref"]["name"]: change["change"] for change in json.loads(done.out)["changes"]}


def test_only_what_the_branch_changed_counts(repo: Path) -> None:
    """Not what was changed on main since: that is no part of the pull request."""
    commit(repo, {"lab/new.yaml": config_map("new")})
    run_git(repo, "checkout", "--quiet", "main")
    commit(repo, {"lab/later.yaml": config_map("later")})
    run_git(repo, "checkout", "--quiet", "next")
    assert changed(diff(repo, "--format", "json").ended(1)) == {"new": "created"}


def test_the_new_side_is_judged_as_a_whole(repo: Path) -> None:
    plant(repo, {"lab/again.yaml": config_map("a")})
    done = diff(repo, "lab")
    assert (done.code, "cannot be rendered" in done.text, "[KRM705]" in done.text) == (2, True, True)


def test_a_path_that_is_new_or_gone_counts(repo: Path) -> None:
    (repo / "prod" / "b.yaml").rename(repo / "b.yaml")
    (repo / "prod").rmdir()
    done = diff(repo, "prod", "b.yaml").ended(1)
    assert summaries(done) == (
        {"b.yaml": "1 created", "prod": "1 deleted"},
        "b.yaml:\n+ ConfigMap b\n\nprod:\n- ConfigMap b\n",
    )


def test_from_below_and_from_outside(repo: Path, tmp_path: Path) -> None:
    (repo / "lab" / "a.yaml").unlink()
    assert changed(diff(repo / "lab", "--format", "json")) == {"a": "deleted"}
    assert changed(diff(repo / "prod", "../lab", "--format", "json")) == {"a": "deleted"}
    assert changed(diff(tmp_path, str(repo), "--format", "json")) == {"a": "deleted"}
    link = tmp_path / "link"
    link.symlink_to(repo / "lab")
    assert changed(diff(tmp_path, "link/.", "--format", "json")) == {"a": "deleted"}


def test_a_path_that_is_a_link_is_what_it_was(tmp_path: Path) -> None:
    files = {"one/a.yaml": config_map("a"), "two/b.yaml": config_map("b"), "current": "-> one"}
    repo = repository(tmp_path / "repo", files)
    (repo / "current").unlink()
    (repo / "current").symlink_to("two")
    assert changed(diff(repo, "current", "--format", "json")) == {"a": "deleted", "b": "created"}


OVERLAY = "resources: [../base]\nnamePrefix: {}-\n"


def test_a_kustomization_is_built_with_the_bases_of_its_time(tmp_path: Path) -> None:
    files = {
        "base/kustomization.yaml": "resources: [a.yaml]\n",
        "base/a.yaml": config_map("a"),
        "lab/kustomization.yaml": OVERLAY.format("lab"),
    }
    repo = repository(tmp_path / "repo", files)
    assert diff(repo, "lab").text == "nothing changes: its files are those of the base\n"
    (repo / "base" / "a.yaml").write_text(config_map("a").replace("b}", "c}"))
    assert changed(diff(repo, "lab", "--format", "json")) == {"lab-a": "changed"}


def test_what_is_not_all_in_the_repository_is_not_taken_for_the_same(tmp_path: Path) -> None:
    files = {"lab/kustomization.yaml": "resources: [a.yaml, https://example.com/b]\n", "lab/a.yaml": config_map("a")}
    repo = repository(tmp_path / "repo", files)
    assert "its files are those of the base" in diff(repo, "lab").text
    altered(repo / "lab/a.yaml", "a: b", "a: c")
    done = diff(repo, "lab")
    assert "its files are" not in done.text, done
    assert "lab cannot be built" in done.text, done


CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec: {profile: gpu, driverVersion: "1"}
"""
PROFILE = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: settings}
spec: {profiles: {gpu: {moduleName: gpu, driverImage: r.example.com/gpu, nodeSelector: {gpu: "true"}}}}
"""


def test_the_function_config_is_that_of_its_time(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {"lab/gpu.yaml": CONFIG, "profiles.yaml": PROFILE})
    arguments = ["lab", "--function-config", "profiles.yaml", "--format", "json"]
    assert diff(repo, *arguments).code == 0
    (repo / "profiles.yaml").write_text(PROFILE.replace("com/gpu", "com/gpu2"))
    assert changed(diff(repo, *arguments)) == {"gpu": "changed"}


def test_a_base_that_cannot_be_rendered_is_shown_and_the_new_side_told(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {"lab/a.yaml": "apiVersion: [", "prod/b.yaml": config_map("b")})
    commit(repo, {"lab/a.yaml": config_map("a"), "prod/b.yaml": config_map("c")})
    name = run_git(repo, "rev-parse", "main")[:12]
    done = diff(repo, "lab", "prod")
    rows, below = summaries(done)
    assert (done.code, rows) == (1, {"lab": "1 unknown", "prod": "1 created, 1 deleted"})
    assert below.startswith(
        "lab:\n? ConfigMap a\n\nprod:\n+ ConfigMap c\n- ConfigMap b\n\n"
        f"error: the base {name} cannot be rendered, so what changes is not known (lab)\n"
        f"{name}:lab/a.yaml:2: error: "
    )
    assert below.endswith(" (lab)\n"), "each finding names its cluster"
    assert diff(repo, "lab", "--fail-on", "error").code == 1
    assert diff(repo, "lab", "--exit-zero").code == 0
    assert str(tmp_path) not in done.text + done.err
    assert "/krmfn-" not in done.text + done.err, "nobody finds a file in a folder that is gone"


def test_a_finding_in_the_base_names_the_file_as_git_does(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {"lab/gpu.yaml": CONFIG})
    commit(repo, {"lab/profiles.yaml": PROFILE})
    name = run_git(repo, "rev-parse", "main")[:12]
    done = diff(repo, "lab")
    assert f"\n{name}:lab/gpu.yaml:4:" in done.text
    assert done.text.startswith("? Module kmm/gpu\n\n")


def test_a_new_side_that_cannot_be_rendered_hides_nothing_of_the_others(repo: Path) -> None:
    plant(repo, {"lab/a.yaml": "apiVersion: [", "prod/b.yaml": config_map("c")})
    done = diff(repo, "lab", "prod").ended(2)
    rows, below = summaries(done)
    assert rows == {"lab": "cannot be rendered, so what changes is not known", "prod": "1 created, 1 deleted"}
    assert below.startswith("prod:\n+ ConfigMap c\n- ConfigMap b\n\nlab/a.yaml:2: error: ")
    assert below.endswith(" [KRM523] (lab)\n")
    document = json.loads(diff(repo, "lab", "prod", "--format", "json").out)
    assert document["failed"] == ["lab"]
    assert diff(repo, "lab", "--exit-zero").code == 2


@pytest.mark.parametrize(
    ("least", "code"), [((), 1), (("--fail-on", "change"), 1), (("--fail-on", "warning"), 0), (("--exit-zero",), 0)]
)
def test_exit_codes_of_a_change_without_notes(least: tuple[str, ...], code: int, repo: Path) -> None:
    (repo / "lab" / "a.yaml").unlink()
    assert diff(repo, "lab", *least).code == code


def test_only_some_kinds(repo: Path) -> None:
    secret = config_map("s").replace("ConfigMap", "Secret")
    plant(repo, {"lab/a.yaml": config_map("a").replace("b}", "c}"), "lab/s.yaml": secret})
    assert diff(repo, "--kinds", "secret,Service").ended(1).text == "+ Secret s\n\n1 created, 1 change of other kinds\n"
    assert changed(diff(repo, "--kinds", "ConfigMap", "--format", "json")) == {"a": "changed"}
    assert diff(repo, "--kinds", "Service").ended(0).text == "nothing changes, 2 changes of other kinds\n"
    for wrong, message in (("ConfigMaps", "did you mean ConfigMap?"), (",", "names no kind")):
        assert message in diff(repo, "--kinds", wrong).refused()


@pytest.mark.parametrize("ref", ["--all", " ", "main:lab", "HEAD^{tree}", "a\nb"])
def test_what_is_no_commit_is_said(ref: str, repo: Path) -> None:
    refusal = process("krmfn", "diff", f"--base={ref}", cwd=repo).refused()
    assert " is not a commit in this clone; " in refusal or " is not a ref; " in refusal


def test_what_has_no_base_is_said(repo: Path, tmp_path: Path) -> None:
    other = repository(tmp_path / "other", {"a.yaml": config_map("a")})
    (tmp_path / "plain").mkdir()
    done = process("krmfn", "diff", "--base", "main", "plain", cwd=tmp_path)
    assert (done.code, done.err.startswith("error: plain is not in a Git work tree, so it has no base; ")) == (2, True)
    assert "are in different Git work trees" in diff(repo, "lab", str(other)).err
    assert "- is stdin, which has no base" in diff(repo, "-").err


def test_a_folder_that_only_looks_like_a_repository_is_none(tmp_path: Path) -> None:
    """A bare repository that somebody has committed must not say what the base is."""
    repo = repository(tmp_path / "repo", {"lab/a.yaml": config_map("a")})
    run_git(repo, "clone", "--quiet", "--bare", ".", "lab/inner")
    (repo / "lab" / "a.yaml").unlink()
    done = diff(repo / "lab" / "inner", "..", "--format", "json")
    assert changed(done) == {"a": "deleted"}
    (tmp_path / "bare").mkdir()
    run_git(repo, "clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    assert "is not in a Git work tree" in diff(tmp_path / "bare").err


# Clones that do not have everything.


def clone(repo: Path, *options: str, name: str = "clone") -> Path:
    run_git(repo.parent, "clone", "--quiet", "--branch", "next", *options, f"file://{repo}", name)
    return repo.parent / name


def test_a_shallow_clone_says_how_to_fetch_more(repo: Path) -> None:
    for number in range(3):
        commit(repo, {"lab/n.yaml": config_map(f"n{number}")})
    shallow = clone(repo, "--depth", "1")
    refusal = process("krmfn", "diff", "--base", "origin/main", cwd=shallow).refused()
    assert "origin/main is not a commit in this clone; the clone is shallow: " in refusal
    run_git(shallow, "fetch", "--quiet", "--depth", "1", "origin", "main:main")
    assert "HEAD and main have no commit in common; the clone is shallow: " in diff(shallow).err
    assert "fetch-depth: 0" in diff(shallow).err
    run_git(shallow, "fetch", "--quiet", "--unshallow", "origin", "main:main", "next")
    assert changed(diff(shallow, "--format", "json")) == {"n2": "created"}


def test_a_shallow_clone_that_holds_all_between_is_enough(repo: Path) -> None:
    commit(repo)
    run_git(repo, "checkout", "--quiet", "main")
    for number in range(3):
        commit(repo, {"lab/n.yaml": config_map(f"n{number}")})
    run_git(repo, "checkout", "--quiet", "-B", "next")
    commit(repo, {"lab/new.yaml": config_map("new")})
    shallow = clone(repo, "--depth", "3", "--no-single-branch")
    assert changed(process("krmfn", "diff", "--base", "origin/main", "--format", "json", cwd=shallow)) == {
        "new": "created"
    }


def test_a_shallow_clone_may_hide_the_right_base(repo: Path) -> None:
    """`next` has merged main once more, further back than the clone goes: what Git finds there is an older base."""
    run_git(repo, "checkout", "--quiet", "main")
    newer = commit(repo, {"lab/on-main.yaml": config_map("on-main")})
    run_git(repo, "checkout", "--quiet", "next")
    old = run_git(repo, "rev-parse", "HEAD")
    tree = run_git(repo, "rev-parse", "main^{tree}")
    long = newer
    for _ in range(4):
        long = run_git(repo, "commit-tree", tree, "-p", long, "-m", "long")
    run_git(repo, "update-ref", "HEAD", run_git(repo, "commit-tree", tree, "-p", long, "-p", old, "-m", "both"))
    assert history.merge_base(str(repo), "main") == newer
    shallow = clone(repo, "--depth", "2", "--no-single-branch")
    with pytest.raises(KrmfnError, match="may not reach back to where HEAD left origin/main: fetch its whole history"):
        history.merge_base(str(shallow), "origin/main")


def test_a_clone_without_the_blobs_fetches_none(repo: Path) -> None:
    run_git(repo, "config", "uploadpack.allowFilter", "true")
    run_git(repo, "config", "uploadpack.allowAnySHA1InWant", "true")
    commit(repo, {"lab/a.yaml": config_map("changed")})
    partial = clone(repo, "--filter=blob:none")
    before = run_git(partial, "count-objects", "-v")
    done = process("krmfn", "diff", "--base", "origin/main", "lab", "prod", cwd=partial).ended(1)
    assert run_git(partial, "count-objects", "-v") == before, "nothing was fetched"
    rows, below = summaries(done)
    assert rows == {"lab": "1 unknown", "prod": "nothing changes, 1 unchanged"}
    assert below.endswith(
        ":lab/a.yaml: is missing from this clone, which was made with `git clone --filter`; "
        "clone without a filter (lab)\n"
    )
    trees = clone(repo, "--filter=tree:0", name="trees")
    assert "git clone --filter" in process("krmfn", "diff", "--base", "origin/main", "lab", cwd=trees).refused()


# Commits that are made to harm, and clones that run programs.


def test_no_program_of_the_configuration_runs(repo: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    program = plant(tmp_path, {"program": f'#!/bin/sh\necho "$0 $@" >> {trace}\nexec cat\n'}) / "program"
    attributes = "* filter=evil diff=evil merge=evil text eol=crlf ident export-subst\n"
    commit(repo, {".gitattributes": attributes, "lab/new.yaml": config_map("new")})
    for key in (
        *("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy"),
        *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "diff.external"),
        *("alias.merge-base", "alias.ls-tree", "credential.helper", "gpg.program", "uploadpack.packObjectsHook"),
        *("remote.origin.uploadpack", "core.alternateRefsCommand", "sequence.editor", "merge.evil.driver"),
    ):
        run_git(repo, "config", key, f"!{program}" if key.startswith("alias") else str(program))
    hooks = plant(repo / ".git" / "hooks", {})
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"):
        (hooks / hook).unlink(missing_ok=True)
        (hooks / hook).symlink_to(program)
    run_git(repo, "config", "core.hooksPath", str(hooks))
    trace.unlink(missing_ok=True)
    done = diff(repo, "--format", "json", GIT_EXTERNAL_DIFF=str(program), GIT_PAGER=str(program))
    assert changed(done) == {"new": "created"}
    assert not trace.exists(), trace.read_text()
    subprocess.run(["git", "status"], cwd=repo, capture_output=True, check=False)
    assert trace.exists(), "a plain `git status` runs some of them"


def test_the_environment_of_a_hook_is_not_ours(repo: Path, tmp_path: Path) -> None:
    (repo / "lab" / "a.yaml").unlink()
    other = repository(tmp_path / "other", {"lab/z.yaml": config_map("z")})
    env = {"GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other), "GIT_INDEX_FILE": "nowhere"}
    assert changed(diff(repo, "lab", "--format", "json", **env)) == {"a": "deleted"}


def test_a_replaced_commit_is_read_as_it_was(repo: Path) -> None:
    base_ = run_git(repo, "rev-parse", "HEAD")
    (repo / "lab" / "a.yaml").unlink()
    other = commit(repo)
    run_git(repo, "replace", base_, other)
    assert changed(diff(repo, "lab", "--format", "json")) == {"a": "deleted"}


def tree(repo: Path, entries: list[tuple[str, str, str]]) -> str:
    """Make a tree of (mode, name, content or object), whatever Git itself would say about the names."""
    lines = b""
    for mode, name, content in entries:
        is_object = mode in ("40000", "160000")
        digest = content if is_object else run_git(repo, "hash-object", "-w", "--stdin", stdin=content.encode())
        lines += f"{mode} {name}".encode() + b"\0" + bytes.fromhex(digest)
    return run_git(repo, "hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=lines)


def written(repo: Path, entries: list[tuple[str, str, str]], folder: Path) -> dict[str, str]:
    """Write a commit of such a tree into a folder; what was skipped."""
    tip = run_git(repo, "commit-tree", tree(repo, entries), "-m", "made")
    folder.mkdir()
    root = str(repo)
    with git.objects(root) as objects:
        skipped = git.write(objects, git.entries(root, tip, ()), git.missing_objects(root, tip), str(folder), 1 << 20)
    return dict(skipped)


def test_names_and_links_stay_inside(repo: Path, tmp_path: Path) -> None:
    inner = tree(repo, [("100644", "evil", "x"), ("120000", "up", "../../out")])
    entries = [
        ("40000", "..", inner),
        ("40000", ".GIT", inner),
        ("100755", "a.sh", "x"),
        ("40000", "dir", inner),
        ("120000", "absolute", "/etc/passwd"),
        ("120000", "out", "../out"),
        ("120000", "in", "dir/evil"),
        ("160000", "module", "1" * 40),
    ]
    skipped = written(repo, entries, tmp_path / "folder")
    assert {name: message.split(",")[0] for name, message in skipped.items()} == {
        "../evil": "has a name that no work tree can have",
        "../up": "has a name that no work tree can have",
        ".GIT/evil": "has a name that no work tree can have",
        ".GIT/up": "has a name that no work tree can have",
        "absolute": "is a link to /etc/passwd",
        "dir/up": "is a link to ../../out",
        "out": "is a link to ../out",
        "module": "is a submodule",
    }
    files = {str(path.relative_to(tmp_path / "folder")) for path in (tmp_path / "folder").rglob("*")}
    assert files == {"a.sh", "dir", "dir/evil", "in"}
    assert not (tmp_path / "evil").exists()


def test_nothing_is_written_through_a_link(repo: Path, tmp_path: Path) -> None:
    """A tree with a link and a folder of one name, which no `git add` makes."""
    (tmp_path / "outside").mkdir()
    inner = tree(repo, [("100644", "evil", "x")])
    with pytest.raises(KrmfnError, match="cannot be written"):
        written(repo, [("120000", "a", "b"), ("40000", "a", inner)], tmp_path / "folder")
    assert list((tmp_path / "outside").iterdir()) == []


def test_two_links_of_one_name_are_refused(repo: Path, tmp_path: Path) -> None:
    with pytest.raises(KrmfnError, match="cannot be written"):
        written(repo, [("120000", "a", "b"), ("120000", "a", "c")], tmp_path / "folder")


def test_a_chain_of_links_that_leads_out_is_refused_where_it_is_read(repo: Path, tmp_path: Path) -> None:
    """Each link alone stays inside when it is read as text."""
    plant(tmp_path, {"tmp/secret.yaml": config_map("secret")})
    commit_to_main(repo, {"x/y/a": "", "x/y/hop": "-> ../..", "lab/s.yaml": "-> ../x/y/hop/../secret.yaml"})
    (repo / "lab" / "s.yaml").unlink()
    done = diff(repo, "lab", TMPDIR=str(tmp_path / "tmp"))
    assert done.text.startswith("? ConfigMap a\n\nerror: ")
    assert ":lab/s.yaml: error: is a link that leads out of " in done.text
    assert "ConfigMap secret" not in done.text


def test_what_is_skipped_below_a_path_fails_the_base(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    repo = repository(
        tmp_path / "repo", {"lab/a.yaml": config_map("a"), "lab/big.yaml": pointer, "prod/b.yaml": config_map("b")}
    )
    plant(repo, {"lab/big.yaml": config_map("fetched")})
    done = diff(repo, "lab", "prod")
    rows, below = summaries(done)
    assert (done.code, rows) == (1, {"lab": "2 unknown", "prod": "nothing changes, 1 unchanged"})
    assert below.startswith("lab:\n? ConfigMap a\n? ConfigMap fetched\n\n")
    assert below.endswith(":lab/big.yaml: is stored in Git LFS, so the commit contains only a pointer to it (lab)\n")


def test_no_more_is_written_than_allowed(tmp_path: Path) -> None:
    files = {"a-huge": "x" * 90_000, "lab/a.yaml": config_map("a"), "z": "x"}
    repo = repository(tmp_path / "repo", files)
    done = diff(repo, "lab", KRMFN_MAX_BYTES="50000")
    assert (done.code, done.text) == (0, "nothing changes, 1 unchanged\n"), "the PATHs' own files come first"
    assert "lab/a.yaml: error: is larger than 10 bytes" in diff(repo, "lab", KRMFN_MAX_BYTES="10").text


@pytest.mark.parametrize("path", [".", "lab"])
def test_the_base_is_never_read_as_the_new_side(path: str, repo: Path) -> None:
    """A temporary folder in the tree: what the branch deletes would still be there, in the copy of the base."""
    commit(repo, {"lab/goes.yaml": config_map("goes")})
    (repo / "lab" / "goes.yaml").unlink()
    (repo / "lab" / "tmp").mkdir()
    done = diff(repo, "--base", "HEAD", path, TMPDIR=str(repo / "lab" / "tmp")).ended(2)
    assert f"lab/tmp is in {path}, where temporary files would be read as your own" in done.err


def test_a_name_that_is_no_utf_8(repo: Path) -> None:
    name = os.fsdecode(b"lab/\xff.yaml")
    commit_to_main(repo, {name: config_map("odd")})
    (repo / name).unlink()
    assert changed(diff(repo, "lab", "--format", "json")) == {"odd": "deleted"}


def test_paths_of_the_base(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo / "lab")
    with base.check_out("main", ["."]) as checkout:
        assert checkout.path("a.yaml") == f"{checkout.folder}/lab/a.yaml"
        assert checkout.path(str(repo)) == checkout.folder
        assert checkout.with_git_names(f"{checkout.folder}/lab/a.yaml: x") == f"{checkout.name}:lab/a.yaml: x"
        assert checkout.with_git_names(f"{checkout.folder} is") == f"{checkout.name}:./ is"
        finding = checkout.located(error("is wrong", remedy=f"list it in {checkout.folder}/lab/kustomization.yaml"))
        assert finding.text == f"is wrong; list it in {checkout.name}:lab/kustomization.yaml"


CARDS = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: NAME, namespace: kmm}
spec: {moduleName: NAME, driverImage: r.example.com/NAME, driverVersion: "1", nodeSelector: {card: x}}
"""
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {card: x}}\n"
WRONG = {
    "configs in two files that select one node": {"b.yaml": CARDS.replace("NAME", "b")},
    "a node in two files": {"m.yaml": NODE},
    "a config in two files": {"b.yaml": CARDS.replace("NAME", "a")},
}


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_each_file_of_the_base_has_the_name_that_git_knows(wrong: dict[str, str], form: str, tmp_path: Path) -> None:
    files = {"a.yaml": CARDS.replace("NAME", "a"), "n.yaml": NODE, **wrong}
    repo = repository(tmp_path / "repo", {f"lab/{name}": text for name, text in files.items()})
    for name in wrong:
        (repo / "lab" / name).unlink()
    commit(repo, {"lab/a.yaml": files["a.yaml"].replace('"1"', '"2"')})
    done = diff(repo, "lab", "--format", form, TMPDIR=str(tmp_path))
    name = run_git(repo, "rev-parse", "--short=12", "main")
    assert f"{name}:lab/" in done.text
    assert "/krmfn-" not in done.text + done.err


def test_clusters_that_stay_are_named_in_one_order(tmp_path: Path) -> None:
    names = ("lab", "dev", "prod", "edge", "test")
    config = "clusters:\n" + "".join(f"  {name}: [{name}]\n" for name in names)
    files = {f"{name}/a.yaml": config_map(name) for name in names} | {".krmfn.yaml": config}
    files |= {f"{name}/kustomization.yaml": "resources: [a.yaml]\n" for name in names}
    repo = repository(tmp_path, files)
    (repo / "lab/a.yaml").write_text(config_map("other"))
    command = (COMMANDS / "krmfn", "diff", "--base", "main", ".", "--live", "n.yaml")
    runs = [execute(*command, cwd=repo, env=environment(PYTHONHASHSEED=str(seed))) for seed in range(4)]
    refusals = {done.refused() for done in runs}
    assert len(refusals) == 1
    assert "with one of 5 clusters: lab, dev, edge, prod, test" in refusals.pop(), refusals
