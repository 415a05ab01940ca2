"""Argo CD's Applications in the input, and inventories that are copies: what nobody notices before it hurts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.cluster.test_one_result import config
from tests.functions.comparing.test_base import repository, run_git
from tests.trees import plant

FILES = {
    ".git/x": "",
    ".krmfn.yaml": "clusters:\n  dev: [clusters/dev, inventories/dev.yaml]\n  lab: [clusters/lab]\n",
    "base/kustomization.yaml": "resources: [a.yaml]\n",
    "base/a.yaml": config("a", "card: x"),
    **{f"clusters/{name}/kustomization.yaml": "resources: [../../base]\n" for name in ("dev", "lab")},
}
WITH_TWO = {".krmfn.yaml": FILES[".krmfn.yaml"].replace("clusters/lab", "clusters/lab, inventories/lab.yaml")}
"""The configuration file with an inventory for each of the two clusters."""
SET = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: all, namespace: argocd}
spec:
  generators:
  - git: {directories: [{path: clusters/*}, {path: clusters/lab, exclude: true}]}
  template:
    metadata:
      annotations: {argocd.argoproj.io/manifest-generate-paths: "PATHS"}
    spec:
      source: {path: "{{.path.path}}", plugin: {name: krmfn}}
"""
ONE = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: dev, namespace: argocd, annotations: {argocd.argoproj.io/manifest-generate-paths: "PATHS"}}
spec:
  source: {path: clusters/dev}
"""


def inventory(cluster: str, *nodes: str) -> str:
    lines = "".join(f"      {node} card=x\n" for node in nodes)
    return (
        f"apiVersion: krmfn.dev/v1alpha1\nkind: NodeInventory\nmetadata: {{name: {cluster}}}\n"
        f"spec:\n  labelKeys: [card]\n  groups:\n  - nodes: |\n{lines}"
    )


def lines_of(folder: Path, rule: str) -> list[str]:
    done = process("krmfn", "check", ".", cwd=folder)
    return [line for line in done.text.splitlines() if f"[{rule}]" in line]


@pytest.mark.parametrize(
    ("text", "paths", "gap"),
    [
        (SET, ".;/.krmfn.yaml;/base;/inventories", ""),
        (SET, "/", ""),
        (SET, "", ""),
        (SET, "/{{.path.path}}; /base/*.yaml ;/inventories/dev.yaml;../../.krmfn.yaml", ""),
        (SET, ".;/{{.values.more}}", ""),
        (SET, ".;/bas", "/base, /.krmfn.yaml, /inventories"),
        (SET.replace("{{.path.path}}", "{{ path }}"), "/{{ path }};/base;/inventories", "/.krmfn.yaml"),
        (SET.replace("clusters/*", "*"), ".", ""),
        (ONE, ".;/inventories", "/base"),
        (ONE, "/clusters;/base", ""),
        (ONE, "/*;/clusters/*", "/clusters/dev, /base"),
        (SET, "/clusters/dev/*.yaml;/clusters/lab/*;/base/*;/inventories/*;/.krmfn.*", ""),
        (ONE.replace("path: clusters/dev", "chart: x"), "/docs", ""),
        (ONE.replace("clusters/dev", "clusters/gone"), ".", ""),
    ],
)
def test_argo_cd_watches_what_a_cluster_is_made_of(tmp_path: Path, text: str, paths: str, gap: str) -> None:
    plant(tmp_path, {**FILES, "argocd/a.yaml": text.replace("PATHS", paths)})
    plant(tmp_path, {"inventories/dev.yaml": inventory("dev", "n-1 5.14.0-503.el9.x86_64")})
    lines = lines_of(tmp_path, "KRM529")
    assert len(lines) == bool(gap), lines
    assert all(f": does not name {gap}, which clusters/dev is made of: " in line for line in lines), lines


@pytest.mark.parametrize(("pattern", "is_near"), [("/ba*", True), ("/*", True), ("/b/*", False), ("/inven*", False)])
def test_a_pattern_that_matches_a_folder_alone_is_named(pattern: str, is_near: bool, tmp_path: Path) -> None:
    """Argo CD matches each changed file, and `*` of filepath.Match no `/`, so what is in the folder is not seen."""
    plant(tmp_path, {**FILES, "argocd/a.yaml": ONE.replace("PATHS", f".;/inventories;{pattern}")})
    done = process("krmfn", "check", ".", cwd=tmp_path).text
    assert "does not name /base" in done, done
    assert (f"add `;/base`; {pattern} matches the folder alone" in done) is is_near, done


URL = "https://git.example.com/fleet.git"
PLAIN = "source: {path: clusters/dev}"
SOURCES = {
    "one source": (f"source: {{path: clusters/dev, repoURL: {URL}}}", True),
    "sources": (f"sources: [{{ref: v, repoURL: {URL}}}, {{path: clusters/dev, repoURL: {URL}}}]", True),
    "hydrator": (f"sourceHydrator: {{drySource: {{path: clusters/dev, repoURL: {URL}}}}}", True),
    "another repository": ("source: {path: clusters/dev, repoURL: https://git.example.com/other.git}", False),
}


@pytest.mark.parametrize(("source", "is_told"), SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("has_config", [True, False])
def test_each_source_counts_with_and_without_a_configuration_file(
    source: str, is_told: bool, has_config: bool, tmp_path: Path
) -> None:
    held = ".krmfn.yaml" if not has_config else ""
    files = {name: text for name, text in FILES.items() if name not in {".git/x", held}}
    lists = "generators: [{list: {elements: [{name: dev}]}}]\n"
    application = ONE.replace(PLAIN, f"destination: {{name: dev}}\n  {source}")
    repository(tmp_path, {**files, "argocd/a.yaml": application.replace("PATHS", ".;/.krmfn.yaml;/inventories")})
    run_git(tmp_path, "remote", "add", "origin", URL)
    assert len(lines_of(tmp_path, "KRM529")) == is_told
    in_set = lists + "  template:\n    metadata:\n      annotations: {argocd.argoproj.io/manifest-generate-paths: .}\n"
    spec = f"    spec:\n      destination: {{name: '{{{{name}}}}'}}\n      {source}\n".replace(
        "clusters/dev", "'clusters/{{name}}'"
    )
    text = f"apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: s}}\nspec:\n  {in_set}{spec}"
    plant(tmp_path, {"argocd/a.yaml": text})
    assert len(lines_of(tmp_path, "KRM529")) == is_told


def test_an_inventory_that_was_copied_is_told(tmp_path: Path) -> None:
    """Its name was changed, so that nothing else tells: the drivers of dev were planned for lab."""
    nodes = [f"worker-{at} 5.14.0-503.el9.x86_64" for at in range(3)]
    plant(tmp_path, {**FILES, **WITH_TWO, "inventories/dev.yaml": inventory("dev", *nodes)})
    for held, is_copy in (
        (nodes, True),
        ([*nodes[:2], "lab-1 5.14.0-503.el9.x86_64"], True),
        ([nodes[0], "lab-1 5.14.0-503.el9.x86_64"], False),
        ([node.replace("503", "570") for node in nodes], False),
    ):
        plant(tmp_path, {"inventories/lab.yaml": inventory("lab", *held)})
        lines = lines_of(tmp_path, "KRM613")
        assert [line.startswith("inventories/lab.yaml:") for line in lines] == [True] * is_copy, lines


def test_nodes_with_the_same_names_are_no_copy_for_ever(tmp_path: Path) -> None:
    """The nodes of small clusters that are alike may have the same names: it is turned off, and that is no finding."""
    held = {f"inventories/{name}.yaml": inventory(name, "node-1 5.14.0-503.el9.x86_64") for name in ("dev", "lab")}
    off = {"krmfn.dev/ignore": "KRM613: each site has a node-1"}
    annotated = held["inventories/lab.yaml"].replace("{name: lab}", f"{{name: lab, annotations: {off}}}")
    plant(tmp_path, {**FILES, **held, **WITH_TWO})
    assert lines_of(tmp_path, "KRM613")
    plant(tmp_path, {"inventories/lab.yaml": annotated})
    done = process("krmfn", "check", ".", cwd=tmp_path)
    assert (done.code, done.reported.count("\n")) == (0, 1), done.text
    assert done.reported.startswith("no findings: ")
    assert "; 1 finding turned off" in done.text


def test_an_application_of_another_source_is_not_that_of_the_whole_repository(tmp_path: Path) -> None:
    """A chart has no path, which is not the folder of a cluster that is all of the repository."""
    files = {".git/x": "", ".krmfn.yaml": "clusters: {all: [.]}\n"}
    plant(tmp_path, files | {"kustomization.yaml": "resources: [a.yaml]\n"})
    for source, is_told in (("chart: x", False), ("path: .", True), ("path: ./", True)):
        application = ONE.replace("path: clusters/dev", source).replace("PATHS", "/docs")
        plant(tmp_path, {"a.yaml": config("a", "card: x") + "---\n" + application})
        assert len(lines_of(tmp_path, "KRM529")) == is_told


def test_resources_of_stdin_are_in_no_folder(tmp_path: Path) -> None:
    plant(tmp_path, {".git/x": "", "argocd/a.yaml": ONE.replace("PATHS", ".")})
    text = config("a", "card: x").encode()
    done = process("krmfn", "check", "--cluster", "a=-", "--cluster", "b=argocd", cwd=tmp_path, stdin=text)
    assert done.code == 0, done.text
    plant(tmp_path, {".krmfn.yaml": "clusters: {b: [argocd]}\n"})
    assert process("krmfn", "check", ".", "-", cwd=tmp_path, stdin=text).code < 2


@pytest.mark.parametrize("directory", ["{}", "{path: .}", "{path: 3}", "{path: ''}"])
def test_a_directory_that_names_nothing_is_no_pattern(tmp_path: Path, directory: str) -> None:
    """An empty pattern ended in a traceback where the folder of a cluster is in none."""
    plant(tmp_path, {".git/x": "", ".krmfn.yaml": "clusters: {lab: [lab]}\n", "lab/a.yaml": config("a", "card: x")})
    plant(tmp_path, {"argocd/a.yaml": SET.replace("{path: clusters/*}", directory).replace("PATHS", ".")})
    done = process("krmfn", "check", ".", cwd=tmp_path)
    assert (done.code, "KRM529" in done.text) == (0, False), done.text
