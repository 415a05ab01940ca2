"""One result, whichever folder of a repository is rendered: the parts of its cluster count wherever they stand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.commands import ROOT, Done, process
from tests.examples import EXAMPLES
from tests.functions.comparing.test_base import OWN, repository
from tests.trees import config_map, plant


def config(name: str, selector: str, module: str = "gpu") -> str:
    """Return a DeviceConfig with a selector `key: value`."""
    return (
        "apiVersion: krmfn.dev/v1alpha1\nkind: DeviceConfig\n"
        f"metadata: {{name: {name}, namespace: kmm}}\nspec:\n  moduleName: {module}\n"
        f'  driverImage: registry.example.com/{name}\n  driverVersion: "1"\n  nodeSelector: {{{selector}}}\n'
    )


def node(name: str, **labels: str) -> str:
    """Return a Node."""
    pairs = ", ".join(f"{key}: '{value}'" for key, value in labels.items())
    return (
        f"apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{{pairs}}}}}\n"
        "status: {nodeInfo: {kernelVersion: 5.14.0-503.el9.x86_64}}\n"
    )


FUNCTION = (
    "apiVersion: krmfn.dev/v1alpha1\nkind: RenderDeviceConfigs\nmetadata: {name: config}\n"
    "spec: {defaults: {imagePullPolicy: Always}}\n"
)
TWO = {"clusters/lab/a.yaml": config("a", "card: a"), "clusters/lab/b.yaml": config("b", "pool: b")}
BOTH = {"inventories/lab.yaml": node("gpu-1", card="a", pool="b")}
APART = {"inventories/lab.yaml": "---\n".join((node("gpu-1", card="a", pool="x"), node("gpu-2", card="x", pool="b")))}
LISTED = {".krmfn.yaml": "clusters:\n  lab: [clusters/lab, inventories/lab.yaml]\n"}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository."""
    (tmp_path / ".git").mkdir()
    return tmp_path


def render(folder: Path, path: str, **env: str) -> Done:
    return process("krmfn", "render", ".", cwd=folder / path, **env)


def test_an_inventory_elsewhere_counts_for_the_folder_that_is_rendered(repo: Path) -> None:
    """Else CI is red and the sync green, or CI green and the sync refused: without nodes selectors decide."""
    plant(repo, TWO | BOTH | LISTED)
    refusal = render(repo, "clusters/lab").refused(1)
    assert "node gpu-1 is selected by DeviceConfig kmm/a" in refusal
    assert "[KRM301]" in refusal
    plant(repo, APART)
    assert process("krmfn", "check", ".", cwd=repo).code == 0
    assert render(repo, "clusters/lab").ended(0).text.count("kind: Module\n") == 2


def test_the_folder_of_argo_cd_has_no_git(tmp_path: Path) -> None:
    """The plugin runs in a copy of the repository, in the Application's folder."""
    plant(tmp_path, TWO | APART | LISTED)
    render(tmp_path, "clusters/lab", ARGOCD_APP_SOURCE_PATH="clusters/lab").ended(0)
    plant(tmp_path, BOTH)
    assert "[KRM301]" in render(tmp_path, "clusters/lab", ARGOCD_APP_SOURCE_PATH="clusters/lab").ended(1).err


@pytest.mark.parametrize("name", ["lab", "other"])
def test_nodes_count_for_a_kustomization_whatever_the_cluster_is_called(name: str, repo: Path) -> None:
    """Of loose files that are one more part of a cluster `lab` the kustomization lab saw no nodes."""
    files = {"more.yaml": config_map("a"), "nodes.yaml": APART["inventories/lab.yaml"]}
    files |= {"lab/a.yaml": config("a", "card: a"), "lab/b.yaml": config("b", "pool: b")}
    files["lab/kustomization.yaml"] = "resources: [a.yaml, b.yaml]\n"
    plant(repo, files | {".krmfn.yaml": f"clusters:\n  {name}: [lab, nodes.yaml, more.yaml]\n"})
    assert "no node in the input has such labels" in process("krmfn", "check", ".", cwd=repo).ended(0).text


def test_a_functionconfig_elsewhere_counts(repo: Path) -> None:
    listed = {".krmfn.yaml": "clusters:\n  lab: [clusters/lab, inventories/lab.yaml, settings]\n"}
    plant(repo, TWO | APART | listed | {"settings/config.yaml": FUNCTION})
    assert render(repo, "clusters/lab").ended(0).text.count("imagePullPolicy: Always") == 2


def test_a_part_that_gives_objects_is_a_warning(repo: Path) -> None:
    plant(repo, TWO | APART | {"other/c.yaml": config("c", "card: c")})
    plant(repo, {".krmfn.yaml": "clusters:\n  lab: [clusters/lab, inventories/lab.yaml, other]\n"})
    done = render(repo, "clusters/lab").ended(0)
    assert done.text.count("kind: Module\n") == 2
    text = "warning: other also belongs to the cluster lab, but is not among the PATHs; pass it as a PATH, too [KRM522]"
    assert f"../../.krmfn.yaml:2:45: {text}" in done.err


def test_a_stale_line_about_dev_does_not_stop_prod(repo: Path) -> None:
    text = "clusters:\n  dev: [clusters/dev]\n  lab: [clusters/lab, inventories/lab.yaml]\n"
    plant(repo, TWO | APART | {".krmfn.yaml": text})
    assert render(repo, "clusters/lab").code == 0
    done = process("krmfn", "check", ".", cwd=repo).ended(2)
    first = ".krmfn.yaml:2:9: error: clusters.dev[0]: clusters/dev: No such file or directory [KRM522]"
    assert done.text.splitlines()[0] == first
    plant(repo, {".krmfn.yaml": text.replace("lab.yaml]", "gone.yaml]")})
    assert "inventories/gone.yaml: No such file" in render(repo, "clusters/lab").refused()


def test_a_path_in_two_clusters_is_judged_for_each(repo: Path) -> None:
    """What it renders is the same for both, so that it can be printed."""
    text = "clusters:\n  dev: [clusters/lab]\n  lab: [clusters/lab, inventories/lab.yaml]\n"
    plant(repo, TWO | APART | {".krmfn.yaml": text})
    done = process("krmfn", "check", ".", cwd=repo).ended(1)  # no node is known of dev, and some are of lab
    assert ("[KRM302] (dev)" in done.text, "warning: DeviceConfig kmm/a" in done.text) == (True, True), done.text
    plant(repo, {".krmfn.yaml": "clusters: {dev: [clusters/lab], lab: [clusters/lab]}\n"})
    plant(repo, {"clusters/lab/b.yaml": config_map("b")})
    assert render(repo, "clusters/lab").ended(0).text.count("kind: Module\n") == 1


def test_an_inventory_in_two_clusters_is_an_error_and_a_functionconfig_is_not(repo: Path) -> None:
    text = "clusters:\n  dev: [clusters/dev, inventories, settings]\n  lab: [clusters/lab, inventories, settings]\n"
    files = TWO | APART | {"clusters/dev/c.yaml": config("c", "card: c"), "settings/config.yaml": FUNCTION}
    plant(repo, files | {".krmfn.yaml": text})
    done = process("krmfn", "check", ".", cwd=repo)
    first = ".krmfn.yaml:3:23: error: inventories belongs to the clusters dev and lab, so it is not known which of them"
    assert (done.code, done.text.startswith(first)) == (2, True), done.text
    plant(repo, {".krmfn.yaml": text.replace("dev, inventories", "dev")})
    assert process("krmfn", "check", ".", cwd=repo).code == 0


INVENTORY = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: nodes}
spec:
  validUntil: "2020-01-01"
  nodeCount: 1
  labelKeys: [card]
  groups:
  - labels: {card: a}
    nodes: |
      gpu-1 5.14.0-503.el9.x86_64
"""


def test_what_is_found_about_nodes_never_stops_a_render(repo: Path) -> None:
    """An expired inventory, a kernel that no mapping takes, a label that is not held: `check` fails, `render` warns."""
    plant(repo, {"clusters/lab/a.yaml": config("a", "card: a"), "inventories/lab.yaml": INVENTORY} | LISTED)
    for rule, text in (("KRM602", INVENTORY), ("KRM603", INVENTORY.replace("card", "pool").replace("2020", "2999"))):
        plant(repo, {"inventories/lab.yaml": text})
        done = process("krmfn", "check", ".", cwd=repo)
        assert (done.code, f"[{rule}]" in done.text) == (1, True), done.text
        done = render(repo, "clusters/lab")
        assert (done.code, done.text.count("kind: Module\n")) == (0, 1), done.err
        assert any(line.endswith(f"[{rule}]") and " warning: " in line for line in done.err.splitlines()), done.err


def test_without_known_labels_selectors_decide(repo: Path) -> None:
    """Nodes that are not known well enough are none: `render` must not take two drivers for one node as fine."""
    plant(repo, TWO | LISTED | {"inventories/lab.yaml": INVENTORY.replace("2020", "2999")})
    assert "[KRM302]" in render(repo, "clusters/lab").refused(1)
    done = process("krmfn", "check", ".", cwd=repo)
    assert (done.code, "[KRM302]" in done.text, "[KRM603]" in done.text) == (1, True, True), done.text


def test_a_label_that_is_not_known_is_told_once_of_each_config(repo: Path) -> None:
    """Who may drive a node is judged, and what the node gets: both ask for the label, at the line of the selector."""
    text = "---\n".join((INVENTORY.replace("2020", "2999"), config("a", "card: a"), config("b", "pool: b")))
    plant(repo, {"all.yaml": text})
    done = process("krmfn", "check", ".", "--format", "json", cwd=repo)
    unknown = [finding for finding in json.loads(done.out)["findings"] if finding["rule"] == "KRM603"]
    assert [finding["ref"]["name"] for finding in unknown] == ["b"]
    assert "pool: b" in text.splitlines()[unknown[0]["line"] - 1]


KEYS = ("card", "pool")
CLUSTERS = ("dev", "lab")
PROFILE = (
    "apiVersion: krmfn.dev/v1alpha1\nkind: Profile\nmetadata: {name: base}\nspec: {config: {imagePullPolicy: Always}}\n"
)
SHARED = {"settings/config.yaml": FUNCTION, "profiles/base.yaml": PROFILE}
PLUGIN = next(
    document["spec"]["generate"]["command"]
    for document in yaml.safe_load_all((ROOT / "gitops/argocd/plugin.yaml").read_text())
    if document and document["kind"] == "ConfigManagementPlugin"
)


@st.composite
def repositories(draw: st.DrawFn, is_built: bool = False) -> dict[str, str]:
    """Return a repository of two clusters, whose nodes stand beside the configs, elsewhere, in both or nowhere."""
    values = st.sampled_from(["a", "b"])
    files: dict[str, str] = {}
    members = {cluster: [f"clusters/{cluster}"] for cluster in CLUSTERS}
    for cluster, parts in members.items():
        shared = sorted(draw(st.sets(st.sampled_from([*SHARED]))))
        names = draw(st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, unique=True))
        for name in names:
            selector = f"{draw(st.sampled_from(KEYS))}: {draw(values)}"
            text = config(f"{cluster}-{name}", selector, name)
            text += "  profile: base\n" if "profiles/base.yaml" in shared else ""
            files[f"clusters/{cluster}/{name}.yaml"] = text
        if is_built:
            listed = ", ".join(f"{name}.yaml" for name in names)
            files[f"clusters/{cluster}/kustomization.yaml"] = f"resources: [{listed}]\n"
        places = st.sampled_from([f"clusters/{cluster}", "inventories"])
        for at, place in enumerate(draw(st.lists(places, max_size=2))):
            labels = {key: draw(values) for key in draw(st.sets(st.sampled_from(KEYS)))}
            files[path := f"{place}/{cluster}-node-{at}.yaml"] = node(f"{cluster}-{at}", **labels)
            parts += [path] if place == "inventories" else []
        for path in shared:
            files[path] = SHARED[path]
            parts.append(path)
    lines = (f"  {cluster}: [{', '.join(parts)}]\n" for cluster, parts in members.items())
    return files | {".krmfn.yaml": f"clusters:\n{''.join(lines)}"}


def names_of(stream: str) -> list[str]:
    """Return the names of the Modules in a stream."""
    items = filter(None, yaml.safe_load_all(stream))
    return sorted(item["metadata"]["name"] for item in items if item["kind"] == "Module")


def errors_of(text: str, cluster: str) -> set[str]:
    """Return the rules of the errors about a cluster in the JSON of `check`, but for those about single nodes."""
    errors = (finding for finding in json.loads(text)["findings"] if finding["severity"] == "error")
    rules = {finding["rule"] for finding in errors if cluster in finding["clusters"]}
    return {rule for rule in rules if not rule.startswith("KRM6")}


def agree(repo: Path, files: dict[str, str], **env: str) -> Counter[str]:
    """Hold all ways in against each other, and return what has been seen."""
    repository(repo, {"README.md": "a fleet\n"})
    plant(repo, files)
    seen = Counter[str]()
    checked = process("krmfn", "check", ".", "--format", "json", cwd=repo, **env).text
    all_of_it = process("krmfn", "render", ".", "--output-dir", "out", cwd=repo, **env)
    for cluster in CLUSTERS:
        folder = f"clusters/{cluster}"
        errors = errors_of(checked, cluster)
        done = process("krmfn", "render", ".", cwd=repo / folder, **env)
        assert (done.code != 0) == bool(errors), (done.err, checked)
        alone = process("krmfn", "check", folder, "--format", "json", cwd=repo, **env)
        assert errors_of(alone.text.replace(f'"{folder}"', f'"{cluster}"'), cluster) == errors
        plugin = process("/bin/sh", *PLUGIN[1:], cwd=repo / folder, ARGOCD_APP_SOURCE_PATH=folder, **env)
        assert (plugin.code, plugin.out) == (done.code, done.out), plugin.err
        changed = process("krmfn", "diff", "--base", "main", folder, "--format", "json", cwd=repo, **env)
        assert (changed.code == 2) == bool(errors), changed.text + changed.err
        seen["refused" if errors else "green"] += 1
        seen["elsewhere, " + ("refused" if errors else "green")] += f"inventories/{cluster}" in files[".krmfn.yaml"]
        if errors:
            continue
        modules = names_of(done.text)
        assert modules == sorted(change["ref"]["name"] for change in json.loads(changed.text)["changes"])
        assert modules == sorted(f"{cluster}-{Path(path).stem}" for path in files if is_config(path, cluster))
        if all_of_it.code == 0:
            assert modules == names_of("---\n".join(map(Path.read_text, (repo / "out" / cluster).glob("*.yaml"))))
            seen["whole"] += 1
    assert (all_of_it.code != 0) == bool(seen["refused"]), all_of_it.err
    return seen


def is_config(path: str, cluster: str) -> bool:
    return path.startswith(f"clusters/{cluster}/") and "node" not in path and "kustomization" not in path


def hold(folders: Callable[[str], Path], examples: int, is_built: bool = False, **env: str) -> None:
    """Try generated repositories, and see that they were no empty ones: both ends, also by nodes elsewhere."""
    seen = Counter[str]()

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(repositories(is_built))
    def tried(files: dict[str, str]) -> None:
        seen.update(agree(folders("repo"), files, **OWN, **env))

    assert PLUGIN[0] == "sh"
    tried()
    for outcome in ("green", "refused", "elsewhere, green", "elsewhere, refused", "whole"):
        assert seen[outcome], seen


def test_check_diff_render_and_the_plugin_agree(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whichever PATH is given: an error of `check .` about a cluster stops its render, and nothing else does."""
    hold(tmp_path_factory.mktemp, max(EXAMPLES // 6, 10))


@pytest.mark.parametrize("name", ["text", "github", "json"])
def test_what_cannot_be_read_names_its_cluster(name: str, repo: Path) -> None:
    plant(repo, {"dev/kustomization.yaml": "resources: [gone.yaml]\n", "lab/a.yaml": config("a", "card: a")})
    plant(repo, {".krmfn.yaml": "clusters:\n  south: [dev]\n  north: [lab]\n"})
    done = process("krmfn", "check", ".", "--format", name, cwd=repo).ended(2)
    if name == "json":
        assert [finding["clusters"] for finding in json.loads(done.text)["findings"]] == [["south"]]
    else:
        [error] = [line for line in done.text.splitlines() if "gone.yaml: No such file" in line]
        assert error.endswith("(south)"), error


@pytest.mark.parametrize(
    ("dev", "error"),
    [
        ("gone", "gone: No such file or directory"),
        ("dev, inventories/gone.yaml", "inventories/gone.yaml: No such file or directory"),
        ("dev, lab", "lab belongs to the clusters dev and lab"),
    ],
)
def test_a_wrong_line_about_one_cluster_hides_no_other(dev: str, error: str, repo: Path) -> None:
    """Of one that lacks a part, or may have that of another, nothing is told, nor of what no line names."""
    for name in ("dev", "lab", "prod"):
        nodes = node(f"{name}-1", card=name)
        plant(repo, {f"{name}/a.yaml": config("a", f"card: {name}"), f"{name}/nodes.yaml": nodes})
    lines = (f"  {name}: [{name}]\n" for name in ("lab", "prod"))
    plant(repo, {".krmfn.yaml": f"clusters:\n  dev: [{dev}]\n{''.join(lines)}"})
    done = process("krmfn", "nodes", ".", "--wide", cwd=repo)
    assert (done.code, error in done.err, "prod-1" in done.text) == (2, True, True), done.err
    assert ("dev-1" in done.text, "lab-1" in done.text) == (False, dev != "dev, lab"), done.text
    assert "not all of this cluster can be read" in process("krmfn", "report", ".", cwd=repo).ended(2).text
    checked = json.loads(process("krmfn", "check", ".", "--format", "json", cwd=repo).text)["findings"]
    [finding] = [finding for finding in checked if (finding["rule"], finding["severity"]) == ("KRM522", "error")]
    assert finding["clusters"] == (["dev", "lab"] if dev == "dev, lab" else ["dev"])


NAMED = (
    "apiVersion: krmfn.dev/v1alpha1\nkind: NodeInventory\nmetadata: {{name: {0}}}\n"
    "spec:\n  labelKeys: [card]\n  groups:\n"
    "  - labels: {{card: a}}\n    nodes: |\n      {0}-1 5.14.0-503.el9.x86_64\n"
)


def test_an_inventory_of_another_cluster_is_an_error(repo: Path) -> None:
    """Of two with the same labels and other nodes, nothing else tells that they were swapped."""
    files = {f"inventories/{name}.yaml": NAMED.format(name) for name in ("lab", "prod")}
    files |= {f"{name}/a.yaml": config("a", "card: a") for name in ("lab", "prod")}
    right = "clusters:\n  lab: [lab, inventories/lab.yaml]\n  prod: [prod, inventories/prod.yaml]\n"
    plant(repo, files | {".krmfn.yaml": right})
    assert process("krmfn", "check", ".", cwd=repo).code == 0
    swapped = right.replace("s/lab", "s/x").replace("s/prod", "s/lab").replace("s/x", "s/prod")
    plant(repo, {".krmfn.yaml": swapped})
    done = process("krmfn", "check", ".", cwd=repo).ended(1)
    assert "inventories/prod.yaml:3:12: error: NodeInventory prod: metadata.name: the inventory is in the" in done.text
    assert done.text.count("[KRM601]") == 2
    plant(repo, {".krmfn.yaml": right.replace(", inventories/lab.yaml", "")})
    done = process("krmfn", "check", ".", cwd=repo)
    hint = "metadata.name: has the name of a cluster in .krmfn.yaml, which does not list it [KRM601]\n"
    hint += "  help: write `- inventories/lab.yaml` below `lab:` there"
    assert (done.code, hint in done.text) == (1, True), done.text
    (repo / "inventories/lab.yaml").unlink()
    shown = process("krmfn", "check", ".", "-", cwd=repo, stdin=NAMED.format("lab")).ended(1).text
    assert "help: list its file there" in shown, "of stdin there is no line to write"
    plant(repo, files | {".krmfn.yaml": swapped})
    assert "warning: NodeInventory prod" in render(repo, "lab").ended(0).err


@pytest.mark.parametrize("line", ["", "  prod: [prod]\n"], ids=["no cluster", "a cluster without its inventory"])
def test_a_cluster_without_nodes_beside_one_that_has_some_is_no_green(line: str, repo: Path) -> None:
    """Whoever loses a line of .krmfn.yaml, or a part of one, is told of it; `nodes` shows the rest."""
    files = {f"inventories/{name}.yaml": NAMED.format(name) for name in ("lab", "prd")}
    files |= {f"{name}/a.yaml": config("a", "card: a") for name in ("lab", "prod")}
    plant(repo, files | {".krmfn.yaml": f"clusters:\n  lab: [lab, inventories/lab.yaml]\n{line}"})
    done = process("krmfn", "check", cwd=repo).ended(0)
    assert "inventories/prd.yaml:1: warning: NodeInventory prd: no cluster of .krmfn.yaml has this" in done.text
    warning = (
        ".krmfn.yaml:3:10: warning: prod has 1 Module and no nodes, so it is not known which nodes get a driver (lab"
    )
    assert (warning in done.text) == bool(line), done.text
    assert "nothing in " not in done.text
    assert process("krmfn", "check", "prod", cwd=repo).reported.startswith("no findings"), (
        "nobody knows of any node here"
    )
    done = process("krmfn", "nodes", "--wide", cwd=repo)
    assert (done.code, "lab-1" in done.text, "warning: no nodes are known in prod" in done.err) == (0, True, bool(line))
    assert process("krmfn", "nodes", "--fail-on", "uncovered", cwd=repo).code == int(bool(line))
    assert process("krmfn", "nodes", "prod", cwd=repo).code == 2


def test_a_kustomization_that_cannot_be_built_is_not_said_to_hold_nothing(repo: Path) -> None:
    files = {"prod/kustomization.yaml": "resources: []\n", "nodes.yaml": NAMED.format("prod")}
    plant(repo, files | {".krmfn.yaml": "clusters:\n  prod: [prod, nodes.yaml]\n"})
    done = process("krmfn", "check", "prod", cwd=repo, PATH="/nowhere")
    assert (done.code, "neither kustomize nor kubectl" in done.err, "KRM109" in done.text) == (2, True, False)


def test_a_cluster_of_which_nothing_is_left_is_no_green(repo: Path) -> None:
    """Whoever removes its last config hears in CI what Argo CD's plugin will say."""
    files = {"lab/a.yaml": config("a", "card: a"), "prod/function.yaml": FUNCTION}
    plant(repo, files | {".krmfn.yaml": "clusters:\n  lab: [lab]\n  prod: [prod]\n"})
    warning = ".krmfn.yaml:3:10: warning: nothing in prod would reach the cluster"
    for path in (".", "prod"):
        done = process("krmfn", "check", path, cwd=repo)
        assert (done.code, warning in done.text, "KRM522" in done.text) == (0, True, True), done.text
    assert "KRM522" not in process("krmfn", "check", "lab", cwd=repo).text
    assert (render(repo, "prod").code, render(repo, "lab").code) == (2, 0)
