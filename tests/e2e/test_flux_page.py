"""gitops/flux/render-branch on a real repository: what it pushes, and when it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import CONFIG
from tests.commands import ROOT, Done
from tests.trees import plant

from .engines import must, path_of, run

SCRIPT = ROOT / "gitops" / "flux" / "render-branch"


class Repository:
    """A clone in CI, and the remote that Flux reads."""

    def __init__(self, folder: Path) -> None:
        self.remote, self.clone = folder / "remote.git", folder / "clone"
        self.env = path_of() | {"GIT_CONFIG_GLOBAL": str(folder / "gitconfig"), "GIT_CONFIG_SYSTEM": "/dev/null"}
        (folder / "gitconfig").write_text("[user]\nname = ci\nemail = ci@example.com\n[init]\ndefaultBranch = main\n")
        must("git", "init", "--quiet", "--bare", self.remote, env=self.env)
        must("git", "clone", "--quiet", self.remote, self.clone, env=self.env)

    def commit(self, **configs: str) -> None:
        plant(self.clone, {f"clusters/{name}/config.yaml": text for name, text in configs.items()})
        must("git", "add", "--all", cwd=self.clone, env=self.env)
        must("git", "commit", "--quiet", "--message", "change", cwd=self.clone, env=self.env)

    def render(self, *clusters: str) -> Done:
        done = run(SCRIPT, *(f"clusters/{name}" for name in clusters), cwd=self.clone, env=self.env)
        listed = must("git", "worktree", "list", cwd=self.clone, env=self.env).splitlines()
        assert len(listed) == 1, "no work tree is left behind"
        assert must("git", "status", "--porcelain", cwd=self.clone, env=self.env) == b""
        return done

    def branch(self) -> list[str]:
        """Return the commits of the branch, the newest first; [] without one."""
        done = run("git", "--git-dir", self.remote, "rev-list", "rendered", env=self.env)
        return done.text.split() if done.code == 0 else []

    def files(self) -> set[str]:
        listed = must("git", "--git-dir", self.remote, "ls-tree", "-r", "--name-only", "rendered", env=self.env)
        return {name for name in listed.decode().split() if not name.endswith("kustomization.yaml")}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_what_is_rendered_becomes_a_commit_when_it_has_changed(repository: Repository) -> None:
    repository.commit(lab=CONFIG, prod=CONFIG)
    assert repository.render("lab", "prod").code == 0
    assert repository.files() == {f"{name}/modules/kmm_kmm_module_drv.yaml" for name in ("lab", "prod")}
    first = repository.branch()
    assert len(first) == 1

    repository.commit(other=CONFIG)
    assert repository.render("lab", "prod").ended(0).text == "rendered is up to date\n"
    assert repository.branch() == first

    repository.commit(lab=CONFIG.replace("name: drv,", "name: fpga,"))
    assert repository.render("lab", "prod").code == 0
    assert repository.files() == {"lab/modules/kmm_kmm_module_fpga.yaml", "prod/modules/kmm_kmm_module_drv.yaml"}
    assert repository.branch()[1:] == first


def test_with_an_error_in_one_cluster_nothing_is_pushed(repository: Repository) -> None:
    repository.commit(lab=CONFIG, prod=CONFIG)
    assert repository.render("lab", "prod").code == 0
    first = repository.branch()
    repository.commit(lab=CONFIG.replace('"1"', '"2"'), prod=CONFIG.replace("driverVersion", "driverVersoin"))
    assert "driverVersoin" in repository.render("lab", "prod").ended(1).err
    assert repository.branch() == first


def test_one_cluster_has_a_folder_of_its_name(repository: Repository) -> None:
    repository.commit(lab=CONFIG)
    for _ in range(2):
        assert repository.render("lab").code == 0
    assert repository.files() == {"lab/modules/kmm_kmm_module_drv.yaml"}
    assert repository.render().code != 0


def test_the_clone_of_ci_is_enough(repository: Repository) -> None:
    """Shallow, on a detached head: as CI checks out."""
    for version in "12":
        repository.commit(lab=CONFIG.replace('"1"', f'"{version}"'))
    must("git", "push", "--quiet", "origin", "HEAD:main", cwd=repository.clone, env=repository.env)
    shallow = repository.clone.parent / "shallow"
    must("git", "clone", "--quiet", "--depth", "1", repository.remote.as_uri(), shallow, env=repository.env)
    must("git", "checkout", "--quiet", "--detach", cwd=shallow, env=repository.env)
    repository.clone = shallow
    for commits in (1, 1):
        repository.render("lab").ended(0)
        assert len(repository.branch()) == commits
    assert repository.files() == {"lab/modules/kmm_kmm_module_drv.yaml"}


def test_what_is_not_committed_is_not_pushed(repository: Repository) -> None:
    """Elsewhere in the clone it does not matter: CI puts files there."""
    repository.commit(lab=CONFIG)
    plant(repository.clone, {"cache/x": "", "clusters/lab/other.yaml": CONFIG.replace("drv", "npu")})
    done = run(SCRIPT, "clusters/lab", cwd=repository.clone, env=repository.env)
    sentence = "not committed, so no commit would say what is rendered:\n?? clusters/lab/other.yaml\n"
    assert (done.code, done.text, done.err) == (1, "", sentence)
    assert repository.branch() == []
    (repository.clone / "clusters" / "lab" / "other.yaml").unlink()
    assert run(SCRIPT, "clusters/lab", cwd=repository.clone, env=repository.env).code == 0
    assert len(repository.branch()) == 1
