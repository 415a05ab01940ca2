"""Clusters that the engines' objects make, without any .krmfn.yaml."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from krmfn_functions.cluster import engines
from krmfn_functions.cluster.engine_files import Seen
from krmfn_functions.kustomization import reading
from krmfn_functions.kustomization.graph import Graph
from krmfn_functions.options import RunOptions
from krmfn_functions.paths import disk

from krmfn.ownership import OWNER
from tests.commands import Done, process
from tests.functions.cluster.test_one_result import config
from tests.functions.comparing.test_base import repository
from tests.trees import OURS, config_map, plant

ROLE = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r, namespace: kmm}\nrules: []\n"
LISTED = "resources: [a.yaml]\n"
MODULE = """\
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: Module
metadata: {name: gpu, namespace: kmm}
spec:
  selector: {card: x}
  moduleLoader:
    container:
      modprobe: {moduleName: gpu}
      kernelMappings: [{literal: 5.14.0-1.el9.x86_64, containerImage: "registry.example.com/gpu:1"}]
"""


def application(path: str, cluster: str, source: str = "plugin: {name: krmfn}", namespace: str = "kmm") -> str:
    return (
        f"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {path.replace('/', '-')}}}\nspec:\n"
        f"  source: {{repoURL: 'https://git.example.com/fleet.git', path: {path}, {source}}}\n"
        f"  destination: {{name: {cluster}, namespace: {namespace}}}\n"
    )


def kustomization(path: str) -> str:
    return (
        f"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {path}, namespace: f}}\n"
        f"spec: {{path: ./{path}, sourceRef: {{kind: GitRepository, name: f}}}}\n"
    )


def root(name: str, text: str) -> dict[str, str]:
    return {f"{name}/kustomization.yaml": LISTED, f"{name}/a.yaml": text}


A, B = config("a", "card: x"), config("b", "card: x")
CONFIGS = root("a", A) | root("b", B)
FILES: dict[str, tuple[dict[str, str], list[str]]] = {
    "one cluster": (
        CONFIGS | {"apps/a.yaml": application("a", "lab"), "apps/b.yaml": application("b", "lab")},
        ["KRM302"],
    ),
    "two clusters": (CONFIGS | {"apps/a.yaml": application("a", "lab"), "apps/b.yaml": application("b", "prod")}, []),
    "one of them": (CONFIGS | {"apps/a.yaml": application("a", "lab")}, []),
    "the configuration file decides": (
        CONFIGS
        | {"apps/a.yaml": application("a", "lab"), "apps/b.yaml": application("b", "lab")}
        | {".krmfn.yaml": "clusters: {lab: [a], prod: [b], apps: [apps]}\n"},
        [],
    ),
    "a base and its overlay": (
        root("a", A)
        | {"over/kustomization.yaml": "resources: [../a]\n"}
        | {"apps/a.yaml": application("a", "lab"), "apps/b.yaml": application("over", "prod")},
        [],
    ),
    "both in one cluster": (
        root("a", A)
        | {"over/kustomization.yaml": "resources: [../a]\n"}
        | {"apps/a.yaml": application("a", "lab"), "apps/b.yaml": application("over", "lab")},
        ["KRM103"],
    ),
    "one root, two clusters": (
        root("a", A) | {"clusters/x/ks.yaml": kustomization("a"), "clusters/y/ks.yaml": kustomization("a")},
        ["KRM545"],
    ),
    "the same names in two folders of clusters": (
        root("a", config_map("a"))
        | {"clusters/x/ks.yaml": kustomization("a"), "clusters/y/ks.yaml": kustomization("a")},
        [],
    ),
    "applied as it is": (root("a", A) | {"apps/a.yaml": application("a", "lab", "directory: {}")}, ["KRM545"]),
    "loose files, beside the engine's": ({"x/ks.yaml": kustomization("a"), "a/a.yaml": A}, ["KRM545"]),
    "loose files, in a cluster that is called as a root is": (
        {"lab/kustomization.yaml": LISTED, "lab/a.yaml": config_map("a"), "b/a.yaml": A, "c/a.yaml": config_map("c")}
        | {"apps/a.yaml": application("lab", "lab", "directory: {}")}
        | {f"apps/{name}.yaml": application(name, "lab") for name in "bc"},
        [],
    ),
    "a link to a file": (
        {"lab/b.yaml": config_map("b"), "apps/a.yaml": application("lab", "lab", "directory: {}")}
        | {"shared/kustomization.yaml": LISTED, "shared/a.yaml": A, "apps/b.yaml": application("shared", "prod")},
        ["KRM545"],
    ),
    "two namespaces": (
        {"a/w.yaml": config_map("w"), "b/w.yaml": config_map("w")}
        | {"apps/a.yaml": application("a", "lab", "directory: {}", "one")}
        | {"apps/b.yaml": application("b", "lab", "directory: {}", "two")},
        [],
    ),
    "one namespace": (
        {"a/w.yaml": config_map("w"), "b/w.yaml": config_map("w")}
        | {"apps/a.yaml": application("a", "lab", "directory: {}")}
        | {"apps/b.yaml": application("b", "lab", "directory: {}")},
        ["KRM705"],
    ),
}


def check(repo: Path) -> Done:
    """Judge all of a repository, what does not concern krmfn included."""
    return process("krmfn", "check", ".", "--all", cwd=repo)


@pytest.mark.parametrize("name", FILES)
def test_what_reaches_one_cluster_is_judged_together(name: str, tmp_path: Path) -> None:
    files, rules = FILES[name]
    repo = repository(tmp_path / "repo", files)
    if name == "a link to a file":
        (repo / "lab/a.yaml").symlink_to("../shared/a.yaml")
    done = check(repo).ended(int(bool(rules)))
    assert {rule for rule in ("KRM103", "KRM302", "KRM545", "KRM705") if f"[{rule}]" in done.text} == {*rules}, (
        done.text
    )


def test_what_two_applications_bring_to_one_cluster_has_a_remedy_at_both(tmp_path: Path) -> None:
    """Who copies an Application and forgets its destination has two roots in one cluster."""
    apps = {f"apps/{name}.yaml": application(name, "lab") for name in ("a", "b")}
    text = check(repository(tmp_path, root("a", A) | root("b", A) | apps)).ended(1).text
    assert "help: remove or rename one, or correct `spec.destination`: apps/a.yaml, apps/b.yaml deploy to lab" in text


DIRECTORY: dict[str, tuple[dict[str, str], str, bool]] = {
    "a name with a dot": ({"site/.r.yaml": ROLE}, "recurse: true", True),
    "beside a chart": (
        {"site/x/Chart.yaml": "apiVersion: v2\n", "site/x/r.yaml": ROLE},
        "recurse: true",
        True,
    ),
    "not listed": ({"site/x/kustomization.yaml": "resources: []\n", "site/x/r.yaml": ROLE}, "recurse: true", True),
    "below, without recurse": ({"site/x/r.yaml": ROLE}, "recurse: false", False),
    "excluded": ({"site/r.yaml": ROLE}, "recurse: true, exclude: 'r.*'", False),
    "included": ({"site/r.yaml": ROLE}, "recurse: true, include: '{a.yaml,r.yaml}'", True),
    "included in braces within": ({"site/x/r.yaml": ROLE}, "recurse: true, include: '{a,x/{r,s}}.yaml'", True),
    "excluded by any folder": ({"site/x/r.yaml": ROLE}, "recurse: true, exclude: '*r.yaml'", False),
    "another case": ({"site/r.yaml": ROLE}, "recurse: true, exclude: 'R.yaml'", True),
    "with a mark": ({"site/r.yaml": f"# +argocd:skip-file-rendering\n{ROLE}"}, "recurse: true", False),
    "a link to a file": ({"more/r.yaml": ROLE, "site/r.yaml": "-> ../more/r.yaml"}, "recurse: true", True),
    "of another sort": ({"site/r.yaml.bak": ROLE}, "recurse: true", False),
    "a kustomization": ({"site/kustomization.yaml": LISTED, "site/.r.yaml": ROLE}, "recurse: true", True),
    "a kustomization, no type": ({"site/kustomization.yaml": LISTED, "site/.r.yaml": ROLE}, "", False),
    "a link to a folder": ({"more/r.yaml": ROLE, "site/x": "-> ../more"}, "recurse: true", False),
}


@pytest.mark.parametrize("name", DIRECTORY)
def test_a_directory_holds_what_argo_cd_applies(name: str, tmp_path: Path) -> None:
    files, directory, is_applied = DIRECTORY[name]
    apps = {"apps/a.yaml": application("site", "lab", f"directory: {{{directory}}}"), "site/a.yaml": config_map("a")}
    repo = repository(tmp_path / "repo", apps | files)
    before = repository(tmp_path / "before", apps)
    done = process("krmfn", "diff", str(before), str(repo), "--format", "json")
    changes = [(row["ref"]["kind"], "lab" in row["clusters"]) for row in json.loads(done.out)["changes"]]
    assert (("Role", True) in changes) is is_applied, changes


JSONNET = {
    "a file": ("directory: {}", {"site/b.jsonnet": "{}"}, True),
    "below": ("directory: {recurse: true}", {"site/x/b.jsonnet": "{}"}, True),
    "below, without recurse": ("directory: {}", {"site/x/b.jsonnet": "{}"}, False),
    "excluded": ("directory: {exclude: '*.jsonnet'}", {"site/b.jsonnet": "{}"}, False),
    "a library": ("directory: {}", {"site/b.libsonnet": "{}"}, False),
}


@pytest.mark.parametrize("name", JSONNET)
def test_jsonnet_that_argo_cd_runs_is_named(name: str, tmp_path: Path) -> None:
    source, files, is_run = JSONNET[name]
    apps = {"apps/a.yaml": application("site", "lab", source), "site/a.yaml": MODULE}
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, apps | files)).ended(0)
    words = "warning: Argo CD runs this, and krmfn does not: what it gives to site is not judged"
    assert (f"{next(iter(files))}: {words}" in done.text) is is_run, done.text


def test_a_directory_with_hidden_files_only_is_read(tmp_path: Path) -> None:
    apps = {"apps/a.yaml": application("site", "lab", "directory: {}"), "site/.a.yaml": A}
    assert "[KRM545]" in check(repository(tmp_path, apps)).text


def test_a_base_has_the_clusters_of_its_own_objects(tmp_path: Path) -> None:
    apps = {"apps/a.yaml": application("a", "lab"), "apps/b.yaml": application("b", "prod")}
    repo = repository(tmp_path / "repo", CONFIGS | apps)
    plant(repo, {"a/a.yaml": A.replace('"1"', '"2"')})
    text = process("krmfn", "diff", "--base", "main", "a", cwd=repo).text
    assert "~ Module" in text and "- Module" not in text, text
    plant(repo, {"apps/a.yaml": application("a", "prod")})
    done = process("krmfn", "diff", "--base", "main", cwd=repo)
    assert "can select the same node" in done.text, done.text


def test_roots_that_nothing_deploys_are_judged_apart_and_that_is_said(tmp_path: Path) -> None:
    files = root("c", config_map("c")) | {"apps/c.yaml": application("c", "lab")}
    repo = repository(tmp_path / "repo", CONFIGS | files)
    done = check(repo).ended(0)
    assert "judged apart [KRM544]" in done.text, done.text
    assert "help: if they reach one cluster, write `clusters: {NAME: [a, b]}` into .krmfn.yaml" in done.text, done.text


def test_beside_a_file_outside_of_a_repository_nothing_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of a home folder, or of /tmp: what lies below may be a whole disk."""
    plant(tmp_path, root("a", A) | {"a.yaml": A, "apps/a.yaml": application("a", "lab")})
    of_folder = process("krmfn", "clusters", ".", cwd=tmp_path)
    assert "apps/a.yaml" in of_folder.text + of_folder.err
    of_file = process("krmfn", "clusters", "a.yaml", cwd=tmp_path)
    assert "apps/a.yaml" not in of_file.text + of_file.err

    def walk(*_: object) -> None:
        raise AssertionError("the neighbours of a file are read")

    monkeypatch.setattr(disk, "files_below", walk)
    found = engines.of_paths({"a.yaml": str(tmp_path / "a.yaml")}, RunOptions(), lambda *_: False, OURS, Seen(()))
    assert found == engines.Engines()


@pytest.mark.parametrize(("text", "is_ours"), [(A, True), (MODULE, True), (config_map("a"), False)])
def test_an_absolute_path_is_refused_by_argo_cd(text: str, is_ours: bool, tmp_path: Path) -> None:
    """Of what is not ours nothing is said."""
    files = root("a", text) | root("b", B) | {"apps/b.yaml": application("b", "lab")}
    app = application("a", "prod", "plugin: {name: krmfn}").replace("path: a", "path: /a")
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, files | {"apps/a.yaml": app})).ended(int(is_ours))
    assert ("apps/a.yaml:1:1: error: Application a: Argo CD refuses the absolute path /a" in done.text) is is_ours
    assert ("help: write `path: a`" in done.text) is is_ours


def test_a_kustomization_that_no_object_deploys_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository may have thousands: reading all of them took half of the time of a check of one folder."""
    files = CONFIGS | {
        "a/kustomization.yaml": "resources: [../base]\n",
        "base/kustomization.yaml": LISTED,
        "base/a.yaml": A,
    }
    plant(tmp_path, files | {"apps/a.yaml": application("a", "lab")})
    read, entered = reading.read, list[str]()

    def noted(folders: Iterable[str], *args: Any) -> Graph:
        graph = read(folders, *args)
        entered.extend(graph.kustomizations)
        return graph

    monkeypatch.setattr(reading, "read", noted)
    found = engines.of_paths({".": str(tmp_path)}, RunOptions(), lambda *_: False, OURS, Seen(()))
    assert found.folders == {str(tmp_path / "a")}
    assert sorted(entered) == [str(tmp_path / name) for name in ("a", "base")]


def test_what_krmfn_rendered_and_nothing_deploys_is_told(tmp_path: Path) -> None:
    """Modules with an owner alone: their configs stand elsewhere."""
    rendered = MODULE.replace("kmm}", f"kmm, annotations: {{{OWNER}: krmfn.dev/DeviceConfig/kmm/gpu}}}}")
    files = root("a", rendered) | root("b", config_map("b")) | {"apps/b.yaml": application("b", "lab")}
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, files)).ended(0)
    assert "a/a.yaml:1: warning: Module kmm/gpu: no object of an engine deploys it" in done.text
