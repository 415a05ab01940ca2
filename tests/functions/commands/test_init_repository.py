"""The command `init` in a repository: CI with its pin, a layout that is there, and what it says instead of a guess."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from functions.commands import init_ci
from functions.importing.recipes import Pin
from krmfn import KrmfnError
from tests.commands import ROOT, Done, process
from tests.functions.importing.manifests import DUMPED_GPU
from tests.trees import plant

COMMIT = "0123456789abcdef0123456789abcdef01234567"
COPY = "https://git.example.com/team/krmfn"
PIN = ("--pin", f"{COPY}@{COMMIT}")
WORKFLOW, ACTION = ".github/workflows/krmfn.yaml", ".github/actions/krmfn/action.yaml"
CLUSTERS = {
    ".krmfn.yaml": "clusters:\n  dev: [clusters/dev]\n  prod: [clusters/prod]\n",
    "base/kustomization.yaml": "resources: [gpu.yaml]\n",
    "base/gpu.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gpu}\n",
    "clusters/dev/kustomization.yaml": "resources: [../../base]\n",
    "clusters/prod/kustomization.yaml": "resources: [../../base, more.yaml]\n",
    "clusters/prod/more.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n",
}
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: drivers-dev, namespace: argocd}
spec:
  source: {repoURL: "https://git.example.com/fleet.git", path: clusters/dev, plugin: {name: krmfn}}
  destination: {server: "https://dev.example.com:6443", namespace: kmm}
"""


def run(folder: Path, *args: str) -> Done:
    return process("krmfn", "init", *args, cwd=folder)


def git(folder: Path, *args: str) -> str:
    who = ("-c", "user.name=me", "-c", "user.email=me@example.com")
    return subprocess.run(["git", *who, *args], cwd=folder, check=True, capture_output=True, text=True).stdout


def repository(folder: Path, files: Mapping[str, str], remote: str = "") -> Path:
    git(folder, "init", "-q")
    plant(folder, files)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def new(folder: Path) -> set[str]:
    return set(git(folder, "ls-files", "--others", "--exclude-standard").splitlines())


@pytest.mark.parametrize(
    ("files", "remote", "expected", "says"),
    [
        ({}, "git@github.com:team/fleet.git", {WORKFLOW, ACTION}, ""),
        ({}, "https://gitlab.example.com/team/fleet.git", {".gitlab-ci.yml"}, ""),
        ({}, "ssh://git@gitlab.com:22/team/fleet", {".gitlab-ci.yml"}, ""),
        ({".github/CODEOWNERS": "* @team\n"}, "", {WORKFLOW, ACTION}, ""),
        ({".github/CODEOWNERS": "", ".gitlab-ci.yml": ""}, "https://github.com/team/fleet", {WORKFLOW, ACTION}, ""),
        ({".gitlab-ci.yml": "a: {script: [b]}\n"}, "", {"krmfn.gitlab-ci.yml"}, ""),
        ({ACTION: "mine"}, "", {WORKFLOW}, ""),
        ({WORKFLOW: "mine", ACTION: "mine"}, "", set(), ""),
        ({".gitlab-ci.yml": 'variables: {KRMFN_REVISION: "1"}\n'}, "", set(), ""),
        ({}, "", set(), "which"),
        ({}, "https://git.example.com/github/fleet", set(), "which"),
        ({".github/CODEOWNERS": "", ".gitlab-ci.yml": ""}, "", set(), "which"),
    ],
)
def test_ci_is_for_the_server_that_the_repository_has(
    files: dict[str, str], remote: str, expected: set[str], says: str, tmp_path: Path
) -> None:
    done = run(repository(tmp_path, files, remote), *PIN).ended(0, "")
    assert new(tmp_path) - {"deviceconfig.yaml", "kustomization.yaml"} == expected
    says_so = "\nno file for CI: nothing here says which server runs it; pass --ci github or --ci gitlab\n" in done.text
    assert says_so == (says == "which")


def test_the_files_for_ci_have_the_real_pin(tmp_path: Path) -> None:
    """They are what gitops/ci has but for the copy of krmfn and its commit."""
    run(repository(tmp_path, {}), "--ci", "github", *PIN).ended(0, "")
    steps = yaml.safe_load((tmp_path / WORKFLOW).read_text())["jobs"]["krmfn"]["steps"]
    (given,) = (step["with"] for step in steps if step.get("uses") == "./.github/actions/krmfn")
    assert (given["repository"], given["revision"]) == (COPY, COMMIT)
    assert (tmp_path / ACTION).read_bytes() == (ROOT / "gitops/ci/github/actions/krmfn/action.yaml").read_bytes()
    run(tmp_path, "--ci", "gitlab", *PIN).ended(2)
    (tmp_path / "deviceconfig.yaml").unlink()
    (tmp_path / "kustomization.yaml").unlink()
    run(tmp_path, "--ci", "gitlab", *PIN).ended(0, "")
    variables = yaml.safe_load((tmp_path / ".gitlab-ci.yml").read_text())["variables"]
    assert (variables["KRMFN_REPOSITORY"], variables["KRMFN_REVISION"]) == (COPY, COMMIT)


@pytest.mark.parametrize("branch", ["main", "trunk"])
def test_where_no_branch_is_main_that_is_told(branch: str, tmp_path: Path) -> None:
    repository(tmp_path, {"a": "b"})
    git(tmp_path, "branch", "-M", branch)
    done = run(tmp_path, "--ci", "github", *PIN).ended(0, "")
    told_so = "pushes to main, and no branch has that name: write yours there (trunk)" in done.text
    assert told_so == (branch == "trunk")


def test_a_lost_driver_fails_where_the_nodes_are_known_and_nowhere_else(tmp_path: Path) -> None:
    """Without inventories every change of a Module would fail by it."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"gpu": "a"}}}
    node |= {"status": {"nodeInfo": {"kernelVersion": "6.1.0", "kubeletVersion": "v1.31.2"}}}
    dump = json.dumps({"apiVersion": "v1", "kind": "List", "items": [DUMPED_GPU, node]})
    for name, args in {"with": ("--live", "a=dump.json"), "without": ()}.items():
        folder = tmp_path / name
        folder.mkdir()
        repository(folder, {"dump.json": dump})
        run(folder, "--ci", "github", *PIN, *args).ended(0)
        steps = yaml.safe_load((folder / WORKFLOW).read_text())["jobs"]["krmfn"]["steps"]
        given = next(step["with"] for step in steps if step.get("uses") == "./.github/actions/krmfn")
        assert given.get("fail-on") == ("lost" if name == "with" else None)
    gitlab = repository_of(tmp_path / "gitlab")
    run(gitlab, "--ci", "gitlab", *PIN).ended(0, "")
    assert yaml.safe_load((gitlab / ".gitlab-ci.yml").read_text())["variables"]["KRMFN_FAIL_ON"] == ""


def test_without_inventories_the_files_for_ci_offer_what_a_lost_driver_fails(tmp_path: Path) -> None:
    """Without its mark the comment is the line of the recipe."""
    done = run(repository(tmp_path, {}), "--ci", "github", *PIN).ended(0, "")
    assert "with the first inventory, switch on `fail-on: lost` in it" in done.text
    offered = (tmp_path / WORKFLOW).read_text().replace("# fail-on:", "fail-on:")
    steps = yaml.safe_load(offered)["jobs"]["krmfn"]["steps"]
    given = next(step["with"] for step in steps if step.get("uses") == "./.github/actions/krmfn")
    assert given["fail-on"] == "lost"
    gitlab = repository_of(tmp_path / "gitlab")
    told = run(gitlab, "--ci", "gitlab", *PIN).ended(0, "").text
    assert "with the first inventory, switch on `KRMFN_FAIL_ON: lost` in it" in told
    assert '  KRMFN_FAIL_ON: "" # with inventories: lost\n' in (gitlab / ".gitlab-ci.yml").read_text()


def repository_of(folder: Path) -> Path:
    folder.mkdir()
    return repository(folder, {})


@pytest.mark.parametrize("text", ["x", f"{COPY}@main", f"{COPY}@{'0' * 40}", f"git@git.example.com:a@{COMMIT}"])
def test_a_pin_of_another_form_is_an_error(text: str, tmp_path: Path) -> None:
    done = run(repository(tmp_path, {}), "--ci", "github", "--pin", text).ended(2)
    assert f"--pin {text!r} must be https://HOST/PATH@COMMIT" in done.err
    assert not new(tmp_path)


def test_the_pin_of_a_clone_is_its_remote_and_a_commit_that_is_pushed(tmp_path: Path) -> None:
    clone = repository(tmp_path, {"a": "b"})
    assert "has no remote" in str(init_ci.pin_of_clone(str(clone)))
    git(clone, "remote", "add", "origin", COPY)
    assert "is not pushed" in str(init_ci.pin_of_clone(str(clone)))
    commit = git(clone, "rev-parse", "HEAD").strip()
    git(clone, "update-ref", "refs/remotes/origin/main", commit)
    assert init_ci.pin_of_clone(str(clone)) == Pin(COPY, commit)
    git(clone, "remote", "set-url", "origin", "https://me:secret@git.example.com/krmfn")
    refused = str(init_ci.pin_of_clone(str(clone)))
    assert refused.endswith(
        "from an https:// URL without a password, and this copy is from https://git.example.com/krmfn"
    )
    git(clone, "remote", "set-url", "origin", "../krmfn")
    assert str(init_ci.pin_of_clone(str(clone))).endswith("and this copy is from ../krmfn")
    assert "Git does not say" in str(init_ci.pin_of_clone(str(tmp_path / "a")))


def test_without_a_pin_no_file_for_ci_is_written_and_the_rest_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(init_ci, "pin_here", lambda: "which krmfn CI installs is not known: x")
    repository(tmp_path, {})
    (tmp_path / ".github").mkdir()
    lines = init_ci.pipeline(str(tmp_path), None, None, True).lines
    assert lines == (
        ["", "no file for CI: which krmfn CI installs is not known: x; pass --pin https://HOST/PATH@COMMIT"]
    )
    with pytest.raises(KrmfnError, match=r"no file for CI can be written: .*; pass --pin"):
        init_ci.pipeline(str(tmp_path), "github", None, True)


def test_a_new_cluster_stands_beside_the_others_and_lists_what_all_of_them_list(tmp_path: Path) -> None:
    done = run(repository(tmp_path, CLUSTERS), "--cluster", "lab").ended(0, "")
    assert new(tmp_path) == {"clusters/lab/kustomization.yaml"}
    assert yaml.safe_load((tmp_path / "clusters/lab/kustomization.yaml").read_text()) == {"resources": ["../../base"]}
    assert ".krmfn.yaml is there; let it have these lines:\nclusters:\n  lab:\n  - clusters/lab\n" in done.text
    assert git(tmp_path, "diff", "--stat") == ""


def test_a_cluster_that_is_there_gets_files_in_its_folder(tmp_path: Path) -> None:
    done = run(repository(tmp_path, CLUSTERS), "--cluster", "prod", "--vendor", "amd-gpu").ended(0, "")
    assert "clusters/prod/amd-gpu-profile.yaml" in new(tmp_path)
    assert all(path.startswith("clusters/prod/") for path in new(tmp_path))
    names = sorted(path.rpartition("/")[2] for path in new(tmp_path))
    lines = "".join(f"- {name}\n" for name in names)
    assert f"clusters/prod/kustomization.yaml is there; let it have these lines:\nresources:\n{lines}" in done.text
    assert git(tmp_path, "diff", "--stat") == ""


def test_a_vendor_s_product_goes_to_a_cluster_that_is_named(tmp_path: Path) -> None:
    done = run(repository(tmp_path, CLUSTERS), "--vendor", "amd-gpu").ended(2)
    assert done.err == "error: which cluster gets it? pass --cluster; there are dev, prod\n"
    assert not new(tmp_path)


def test_the_same_line_twice_adds_what_was_missing_and_no_second_config(tmp_path: Path) -> None:
    """The first time no commit for CI was known: people repeat the line with it."""
    line = ("--cluster", "dev", "--cluster", "prod")
    repository(tmp_path, {"a.txt": ""})
    run(tmp_path, *line).ended(0, "")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "a")
    done = run(tmp_path, *line, "--ci", "github", *PIN).ended(0, "")
    assert sorted(new(tmp_path)) == sorted([ACTION, WORKFLOW])
    assert "\ndev has a config, so it gets no other one\n" in done.text
    assert run(tmp_path, "--cluster", "dev", "--vendor", "amd-gpu").ended(0, "").text.startswith("clusters/dev/amd-gpu")


def test_where_nothing_is_left_to_write_it_says_so(tmp_path: Path) -> None:
    done = run(repository(tmp_path, CLUSTERS), "--ci", "none").ended(2)
    assert "nothing is left to write here; name a cluster with --cluster, or a server with --ci" in done.err


def test_clusters_that_stand_nowhere_alike_say_no_place_for_a_new_one(tmp_path: Path) -> None:
    files = CLUSTERS | {".krmfn.yaml": "clusters:\n  a: [other/dev]\n  b: [clusters/prod]\n"}
    done = run(repository(tmp_path, files), "--cluster", "lab").ended(2)
    assert "where lab will stand is not known: the clusters stand a in other/dev, b in clusters/prod" in done.err


def test_a_cluster_that_is_only_named_yet_gets_its_folder(tmp_path: Path) -> None:
    named = CLUSTERS[".krmfn.yaml"] + "  lab: [clusters/lab]\n"
    done = run(repository(tmp_path, CLUSTERS | {".krmfn.yaml": named}), "--cluster", "lab").ended(0, "")
    assert "clusters/lab/kustomization.yaml" in new(tmp_path)
    assert ".krmfn.yaml is there" not in done.text


def test_a_broken_configuration_file_is_told(tmp_path: Path) -> None:
    files = CLUSTERS | {".krmfn.yaml": "clusters: 1\n"}
    done = run(repository(tmp_path, files), "--cluster", "lab").ended(2)
    assert ".krmfn.yaml cannot be read, so where clusters stand is not known: " in done.err
    assert not new(tmp_path)


def test_an_application_is_written_after_the_neighbour_s_and_deploys_the_new_cluster(tmp_path: Path) -> None:
    files = {name: text for name, text in CLUSTERS.items() if name != ".krmfn.yaml"}
    repository(tmp_path, files | {"apps/dev.yaml": APPLICATION})
    done = run(tmp_path, "--cluster", "lab").ended(0, "")
    assert new(tmp_path) == {"apps/lab.yaml", "clusters/lab/kustomization.yaml"}
    written = yaml.safe_load((tmp_path / "apps/lab.yaml").read_text())
    assert written["metadata"]["name"] == "drivers-lab"
    assert written["spec"]["source"]["path"] == "clusters/lab"
    assert written["spec"]["destination"] == {"name": "lab", "namespace": "kmm"}
    listing = json.loads(process("krmfn", "clusters", "--format", "json", cwd=tmp_path).out)
    assert {"lab": ["clusters/lab"]}.items() <= {
        entry["name"]: [root["path"] for root in entry["roots"]] for entry in listing["clusters"]
    }.items()
    assert "nothing deploys" not in done.text
    assert "apps/lab.yaml: deploys clusters/lab to the cluster that Argo CD calls lab" in done.text


FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: NAME, namespace: flux-system}
spec: {path: ./clusters/CLUSTER, prune: true, interval: 10m, sourceRef: {kind: GitRepository, name: fleet}}
"""


@pytest.mark.parametrize(
    ("path", "name"), [("flux/drivers-{}.yaml", "drivers-{}"), ("flux/{}/drivers.yaml", "drivers"), ("{}/d.yaml", "d")]
)
def test_a_flux_kustomization_is_written_after_the_neighbour_s(path: str, name: str, tmp_path: Path) -> None:
    """Each cluster has one named after it, for its kubeConfig, or one in the folder that Flux reads there."""
    files = {file: text for file, text in CLUSTERS.items() if file != ".krmfn.yaml"}
    for cluster in ("dev", "prod"):
        text = FLUX.replace("NAME", name.format(cluster)).replace("CLUSTER", cluster)
        config = f"{text.rstrip()[:-1]}, kubeConfig: {{secretRef: {{name: {cluster}-kubeconfig}}}}}}\n"
        files[path.format(cluster)] = config if "{}" in name else text
    repository(tmp_path, files)
    done = run(tmp_path, "--cluster", "lab").ended(0, "")
    assert new(tmp_path) == {path.format("lab"), "clusters/lab/kustomization.yaml"}
    written = yaml.safe_load((tmp_path / path.format("lab")).read_text())
    assert (written["metadata"]["name"], written["spec"]["path"]) == (name.format("lab"), "./clusters/lab")
    if "{}" in name:
        assert written["spec"]["kubeConfig"] == {"secretRef": {"name": "lab-kubeconfig"}}
    listing = json.loads(process("krmfn", "clusters", "--format", "json", cwd=tmp_path).out)
    deployed = {entry["name"]: {root["path"] for root in entry["roots"]} for entry in listing["clusters"]}
    assert "clusters/lab" in deployed["lab"]
    assert (
        f"{path.format('lab')}: deploys clusters/lab by Flux, as " in done.text and "nothing deploys" not in done.text
    )


def test_what_no_object_deploys_yet_is_told(tmp_path: Path) -> None:
    files = {name: text for name, text in CLUSTERS.items() if name != ".krmfn.yaml"}
    repository(tmp_path, files | {"apps/all.yaml": APPLICATION})
    done = run(tmp_path, "--cluster", "lab").ended(0, "")
    assert new(tmp_path) == {"clusters/lab/kustomization.yaml"}
    line = "nothing deploys clusters/lab yet: give it an object such as Application drivers-dev (apps/all.yaml:1)"
    assert line in done.text


def test_where_engines_say_it_no_configuration_file_takes_their_place(tmp_path: Path) -> None:
    files = {name: text for name, text in CLUSTERS.items() if name != ".krmfn.yaml"}
    repository(tmp_path, files | {"apps/dev.yaml": APPLICATION})
    done = run(tmp_path, "more", "--cluster", "lab").ended(2)
    assert "the objects of argocd say which folder a cluster gets" in done.err
    assert not new(tmp_path)


def test_a_dump_of_a_cluster_that_is_there_goes_into_its_folder(tmp_path: Path) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"gpu": "a"}}}
    node |= {"status": {"nodeInfo": {"kernelVersion": "6.1.0", "kubeletVersion": "v1.31.2"}}}
    inventory = "apiVersion: krmfn.dev/v1alpha1\nkind: NodeInventory\nmetadata: {name: prod}\n"
    repository(tmp_path, CLUSTERS | {"inventories/prod.yaml": inventory})
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [DUMPED_GPU, node]})
    plant(tmp_path, {"dev.json": text, "prod.json": text})
    done = run(tmp_path, "--live", "dev=dev.json", "--live", "prod=prod.json").ended(0)
    assert {"clusters/dev/inventory.yaml", "clusters/dev/deviceconfig-gpu.yaml"} < new(tmp_path)
    assert "clusters/prod/inventory.yaml" not in new(tmp_path)
    assert "inventories/prod.yaml has the nodes of prod, and stays; `krmfn inventory` renews it" in done.text
    assert "dev.json is a dump of a cluster: keep it out of Git, since it may hold secrets" in done.text


def test_in_a_dirty_tree_what_is_not_committed_is_named(tmp_path: Path) -> None:
    """A file with a new time and its old content is not."""
    repository(tmp_path, {"a": "1", "b": "1", "c": "1"})
    for name, text in {"a": "2", "b": "1", "d": "1"}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "c").write_text("3")
    git(tmp_path, "add", "c")
    done = run(tmp_path, "--ci", "none").ended(0, "")
    assert "\nnot committed before this: a, c, d; commit what is written now by itself\n" in done.text


def test_in_no_repository_that_is_told_and_nothing_is_written_for_ci(tmp_path: Path) -> None:
    done = run(tmp_path, "--ci", "github", *PIN).ended(0, "")
    assert {path.name for path in tmp_path.iterdir()} == {"deviceconfig.yaml", "kustomization.yaml"}
    assert "this is no Git repository: run `git init` here, and `krmfn init` again for the files of CI" in done.text


@pytest.mark.parametrize("args", [(), ("--cluster", "dev", "--cluster", "prod"), ("--vendor", "amd-gpu")])
def test_plain_files_need_no_kustomize_and_are_clean(args: tuple[str, ...], tmp_path: Path) -> None:
    repository(tmp_path, {})
    run(tmp_path, "--plain", "--ci", "none", *args).ended(0, "")
    assert not [path for path in new(tmp_path) if path.endswith("kustomization.yaml")]
    done = process("krmfn", "check", cwd=tmp_path, PATH="/nowhere")
    assert "error" not in done.text, done.text
    assert done.code == 0
    if "--cluster" in args:
        expected = {"clusters": {"dev": ["base"], "prod": ["base"]}}
        assert yaml.safe_load((tmp_path / ".krmfn.yaml").read_text()) == expected
