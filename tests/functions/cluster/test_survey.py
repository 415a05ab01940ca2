"""Which roots a PATH holds, and which files go with each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from krmfn_functions.cluster import survey as surveys
from krmfn_functions.paths.contents import has_resource
from krmfn_functions.paths.excludes import excluder

from krmfn import KrmfnError
from tests.builders import CONFIG
from tests.commands import process
from tests.trees import COMPONENT, OURS, config_map, plant

KPTFILE = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: a}\n"
BASE = "resources: [a.yaml]\n"
A = config_map("a")


@pytest.fixture(autouse=True)
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The top of a repository, as working folder."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def survey(files: dict[str, str], path: str = ".", exclude: tuple[str, ...] = ()) -> dict[str, list[str]]:
    """Return the files of each root below a PATH, by `kind name`; nothing is wrong outside of them."""
    plant(Path.cwd(), files)
    surveyed = surveys.survey(path, surveys.Scope(OURS, exclude=excluder(exclude)))
    assert surveyed.findings == []
    return {f"{root.kind} {root.name}": [file.name for file in root.files] for root in surveyed.roots}


REPOSITORY = {
    "clusters/lab/kustomization.yaml": "resources: [../../base]\npatches: [{path: patch.yaml}]\n",
    "clusters/lab/patch.yaml": A,
    "clusters/lab/inventory.yaml": "apiVersion: krmfn.dev/v1alpha1\nkind: NodeInventory\n",
    "clusters/prod/kustomization.yaml": "resources: [../../base]\ncomponents: [../../parts/gpu]\n",
    "clusters/prod/inventory/nodes.json": '{"apiVersion": "v1", "kind": "List", "items": []}',
    "base/kustomization.yaml": BASE,
    "base/a.yaml": A,
    "base/forgotten.yaml": A,
    "parts/gpu/kustomization.yaml": f"{COMPONENT}{BASE}configMapGenerator: [{{name: b, files: [data.yaml]}}]\n",
    "parts/gpu/a.yaml": A,
    "parts/gpu/data.yaml": A,
    "parts/unused/kustomization.yaml": f"{COMPONENT}{BASE}",
    "parts/unused/a.yaml": A,
    "packages/gpu/Kptfile": KPTFILE,
    "packages/gpu/config.yaml": CONFIG,
    "packages/gpu/sub/Kptfile": KPTFILE,
    "packages/gpu/sub/config.yaml": CONFIG,
    "charts/app/Chart.yaml": "apiVersion: v2\nname: app\n",
    "charts/app/values.yaml": "kind: {a: b}\n",
    "charts/app/templates/deployment.yaml": "apiVersion: apps/v1\nkind: {{ .Values.kind }}\n",
    "loose/config.yaml": CONFIG,
    ".github/workflows/ci.yaml": "on: push\n",
    "mkdocs.yml": "site_name: a\nplugins: !!python/name:x\n",
    "ci.yml": "jobs:\n- run: |\n    apiVersion: v1\n    kind: ConfigMap\n",
    "package.json": '{"name": "a", "config": {"apiVersion": "1", "kind": "x"}}',
    "values.yaml": "image: {{ broken\n",
    "README.md": CONFIG,
}


def test_the_roots_of_a_repository() -> None:
    assert survey(REPOSITORY) == {
        "files .": ["base/forgotten.yaml", "loose/config.yaml"],
        "kustomization clusters/lab": ["clusters/lab/inventory.yaml"],
        "kustomization clusters/prod": ["clusters/prod/inventory/nodes.json"],
        "package packages/gpu": ["packages/gpu/config.yaml", "packages/gpu/sub/config.yaml"],
    }


def test_a_part_of_a_repository(repo: Path) -> None:
    assert survey(REPOSITORY, "base") == {"kustomization base": ["base/forgotten.yaml"]}
    assert survey({}, "parts/gpu") == {"kustomization parts/gpu": []}
    files = ["packages/gpu/config.yaml", "packages/gpu/sub/config.yaml"]
    assert survey({}, "packages") == {"package packages/gpu": files}
    assert survey({}, "./clusters/../loose/") == {"files loose": ["./clusters/../loose/config.yaml"]}
    lab = {"kustomization clusters/lab": ["clusters/lab/inventory.yaml"]}
    assert survey({}, "clusters/lab/kustomization.yaml") == lab
    assert survey({}, "packages/gpu/Kptfile").keys() == {"package packages/gpu"}
    assert survey({}, "mkdocs.yml") == {"files mkdocs.yml": ["mkdocs.yml"]}
    assert survey({}, "-") == {"stream -": []}
    assert survey({}, str(repo / "loose")) == {f"files {repo}/loose": [f"{repo}/loose/config.yaml"]}
    with pytest.raises(KrmfnError, match="nowhere: No such file or directory"):
        survey({}, "nowhere")


@pytest.mark.parametrize(
    ("exclude", "names"),
    [
        (("clusters",), {"files .", "package packages/gpu", "kustomization base", "kustomization parts/gpu"}),
        (("/clusters/*/",), {"files .", "package packages/gpu", "kustomization base", "kustomization parts/gpu"}),
        (("lab", "g*"), {"files .", "kustomization clusters/prod"}),
        (("*.yaml", "*.json"), {"package packages/gpu"}),
        (("*",), set()),
    ],
)
def test_what_is_excluded_makes_no_root(exclude: tuple[str, ...], names: set[str]) -> None:
    """What another kustomization reads is read nevertheless; a Component is never a root of its own."""
    names = {name for name in names if "parts" not in name}
    assert set(survey(REPOSITORY, exclude=exclude)) == names
    graph = surveys.survey(".", surveys.Scope(OURS, exclude=excluder(exclude))).roots
    assert all("clusters/lab" not in root.graph.kustomizations for root in graph)


def test_a_pattern_is_held_against_the_path_from_the_repository_s_root() -> None:
    assert survey(REPOSITORY, "clusters", exclude=("clusters/prod",)).keys() == {"kustomization clusters/lab"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (A, True),
        (f"\ufeff{A}", True),
        (f"# c\n---\n{A}", True),
        (f"a: b\n---\n{A}", True),
        ("".join(f"  {line}\n" for line in A.splitlines()), True),
        (A.replace("\n", "\r\n"), True),
        (A.replace("\n", "\r"), True),
        ("{kind: A, apiVersion: v1}", True),
        ('{"\\u006bind": "A", "metadata": {}}', True),
        ('"apiVersio\\x6e": v1\n', True),
        ("? apiVersion\n: v1\n", True),
        ("kind: DeviceConfig\nmetadata: {name: forgot-the-version}\n", True),
        ("apiVersion: krmfn.dev/v1alpha1\n", True),
        ("apiVersion: [\n", True),
        ("a: {apiVersion: b\n", True),
        (A.encode("utf-16").decode("latin-1"), True),
        ("---# a: |\n  {apiVersion: v1, kind: A}\n", True),
        ("a: b\n---# c: |\n  {apiVersion: v1, kind: A}\n", True),
        ("a: b\n---# c: |\n  d: {apiVersion: v1, kind: A}\n", False),
        ("kind: pipeline\n", False),
        ("a: {apiVersion: v1, kind: A}\n", False),
        ("- apiVersion: v1\n  kind: A\n", False),
        ("a: |\n  apiVersion: v1\n  kind: A\n", False),
        ("# apiVersion, kind\na: b\n", False),
        ("a: [\n", False),
        ("", False),
    ],
)
def test_a_file_holds_a_resource_or_what_may_have_been_meant_as_one(text: str, expected: bool) -> None:
    encoding = "latin-1" if text[:1] == "\xff" else "utf-8"
    assert has_resource(text.encode(encoding)) is expected


def test_kustomizations_in_a_circle_are_roots_with_a_finding() -> None:
    files = {"a/kustomization.yaml": "resources: [../b]", "b/kustomization.yaml": "resources: [../a]"}
    assert survey(files) == {"kustomization a": []}
    (root,) = surveys.survey(".", surveys.Scope(OURS)).roots
    assert [finding.rule for finding in root.graph.findings(root.path)] == ["KRM505"]


def test_a_broken_kustomization_is_a_root_and_hides_no_other() -> None:
    plant(Path.cwd(), {**REPOSITORY, "base/kustomization.yaml": "resources: [a.yaml"})
    surveyed = surveys.survey(".", surveys.Scope(OURS))
    roots = (root for root in surveyed.roots if root.name != ".")
    actual = {root.name: [finding.rule for finding in root.graph.findings(root.path)] for root in roots}
    assert actual == {"clusters/lab": ["KRM502"], "clusters/prod": ["KRM502"], "packages/gpu": []}
    plant(Path.cwd(), {"base/kustomization.yaml": BASE, "clusters/lab/kustomization.yaml": "resources: ["})
    numbers = {
        root.name: len(root.graph.findings(root.path)) for root in surveys.survey(".", surveys.Scope(OURS)).roots
    }
    assert (numbers["clusters/lab"], numbers["clusters/prod"]) == (1, 0)


def test_a_component_that_nobody_lists_is_no_root_but_its_findings_count() -> None:
    plant(Path.cwd(), {"part/kustomization.yaml": f"{COMPONENT}resources: [a.yaml]"})
    surveyed = surveys.survey(".", surveys.Scope(OURS))
    assert surveyed.roots == []
    assert [finding.rule for finding in surveyed.findings] == ["KRM504"]


def test_with_a_kptfile_beside_it_the_kustomization_counts() -> None:
    files = {"app/Kptfile": KPTFILE, "app/kustomization.yaml": BASE, "app/a.yaml": A, "app/b.yaml": A}
    assert survey(files) == {"kustomization app": ["app/b.yaml"]}


def test_a_kustomization_in_a_package_has_its_own_files() -> None:
    files = {"p/Kptfile": KPTFILE, "p/b.yaml": A, "p/app/kustomization.yaml": BASE, "p/app/a.yaml": A}
    assert survey(files) == {"package p": ["p/b.yaml"], "kustomization p/app": []}


def test_a_folder_with_a_kustomization_can_be_that_root_and_no_other() -> None:
    """Whether one below lists it, as overlays do, or stands beside it: `render .` builds what is at PATH."""
    files = {"kustomization.yaml": BASE, "a.yaml": A, "lab/kustomization.yaml": "resources: [..]\n", "lab/b.yaml": A}
    plant(Path.cwd(), {**files, "other/kustomization.yaml": "namePrefix: a-\n", "inventory.yaml": A})
    kinds = [(root.kind, root.name) for root in surveys.survey(".", surveys.Scope(OURS)).roots]
    assert kinds == [("kustomization", name) for name in (".", "lab", "other")]
    (root,) = surveys.survey(".", surveys.Scope(OURS, as_root=True)).roots
    assert (root.kind, root.name, [file.name for file in root.files]) == ("kustomization", ".", ["inventory.yaml"])
    assert [root.name for root in surveys.survey("other", surveys.Scope(OURS, as_root=True)).roots] == ["other"]


def test_links(repo: Path) -> None:
    """A linked folder is read once, as what it is; a link that leads out is a finding and hides nothing."""
    plant(repo, {"app/kustomization.yaml": "resources: [../link]", "link": "-> base", "base/kustomization.yaml": BASE})
    plant(repo, {"base/a.yaml": A, "out.yaml": "-> /etc/hostname", "pipe.yaml/a.yaml": A, "twice": "-> app"})
    os.mkfifo(repo / "fifo.yaml")
    surveyed = surveys.survey(".", surveys.Scope(OURS))
    assert [(root.kind, root.name) for root in surveyed.roots] == [("files", "."), ("kustomization", "app")]
    assert [str(finding).split(";")[0] for finding in surveyed.findings] == [
        "fifo.yaml: error: is a pipe, not a file",
        f"out.yaml: error: is a link that leads out of {repo}, where nothing is read",
    ]


def test_a_kustomization_that_is_path_is_judged_by_itself_also_when_a_link_below_lists_it(repo: Path) -> None:
    """Without links kustomize refuses the circle; the one through the link may delete what PATH deploys."""
    files = {"app/kustomization.yaml": BASE, "app/a.yaml": A, "other/kustomization.yaml": "resources: [../app]\n"}
    plant(repo, {**files, "app/hide": "-> ../other"})
    assert {"app", "other"} == {root.name for root in surveys.survey("app", surveys.Scope(OURS)).roots}


def test_a_resource_in_a_chart_is_counted_as_left_out(repo: Path) -> None:
    plant(repo, {"app/Chart.yaml": "apiVersion: v2\nname: app\n", "app/values.yaml": "a: b\n", "app/crd.yaml": A})
    plant(repo, {"app/template.yaml": f"# {{{{ a comment hides nothing }}}}\n{A}", "b.yaml": A})
    surveyed = surveys.survey(".", surveys.Scope(OURS))
    assert [file.name for root in surveyed.roots for file in root.files] == ["b.yaml"]
    assert surveyed.excluded == {str((repo / "app" / name).resolve()) for name in ("crd.yaml", "template.yaml")}


def test_through_a_link_to_a_folder_names_are_those_of_the_folder(repo: Path) -> None:
    plant(repo, {"deep/app/kustomization.yaml": "resources: [../base]", "deep/base/kustomization.yaml": BASE})
    plant(repo, {"deep/base/a.yaml": A, "app": "-> deep/app"})
    (root,) = surveys.survey("app", surveys.Scope(OURS)).roots
    assert (root.kind, root.name) == ("kustomization", "deep/app")
    names = [kustomization.name for kustomization in root.graph.below(root.path)]
    assert names == [f"deep/{name}/kustomization.yaml" for name in ("app", "base")]


def test_outside_of_any_repository_a_base_may_lie_anywhere(repo: Path) -> None:
    (repo / ".git").rmdir()
    files = {"app/kustomization.yaml": "resources: [../base]", "base/kustomization.yaml": BASE, "base/a.yaml": A}
    assert survey(files, "app") == {"kustomization app": []}
    (root,) = surveys.survey("app", surveys.Scope(OURS, "app")).roots
    assert [finding.rule for finding in root.graph.findings(root.path)] == ["KRM508"]


@pytest.mark.parametrize("target", ["k.yaml", "b/kustomization.yaml"])
def test_a_kustomization_that_is_a_link_is_one(repo: Path, target: str) -> None:
    plant(repo, {"app/k.yaml": BASE, "app/a.yaml": A, "app/kustomization.yaml": f"-> {target}"})
    plant(repo, {"app/b/kustomization.yaml": "namePrefix: a-\n"})
    roots = {root.name: root for root in surveys.survey("app", surveys.Scope(OURS)).roots}
    assert roots["app"].kind == "kustomization"
    assert roots["app"].graph.kustomizations[roots["app"].path].findings == []


@pytest.mark.parametrize("name", [".argocd-source.yaml", ".argocd-source-krmfn.yaml"])
def test_what_argo_cd_merges_over_an_application_is_refused(name: str, tmp_path: Path) -> None:
    plant(tmp_path, {"lab/a.yaml": config_map("a"), f"lab/{name}": "plugin: {parameters: []}\n"})
    for command in ("check", "render"):
        done = process("krmfn", command, "lab", cwd=tmp_path)
        assert (done.code != 0, f"lab/{name}: error: Argo CD merges" in done.text + done.err) == (True, True)
    assert process("krmfn", "check", "lab", "--exclude", ".argocd-source*", cwd=tmp_path).code == 0
