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
def here(tmp_path: Path) -> Path:
    """A repository."""
    (tmp_path / ".git").mkdir()
    return tmp_path


def render(folder: Path, path: str, **env: str) -> Done:
    return process("krmfn", "render", ".", cwd=folder / path, **env)


def test_an_inventory_elsewhere_counts_for_the_folder_that_is_rendered(here: Path) -> None:
    """Else CI is red and the sync green, or CI green and the sync refused: without nodes selectors decide."""
    plant(here, TWO | BOTH | LISTED)
    said = render(here, "clusters/lab").refused(1)
    assert "node gpu-1 is selected by DeviceConfig kmm/a" in said
    assert "[KRM301]" in said
    plant(here, APART)
    assert process("krmfn", "check", ".", cwd=here).code == 0
    assert render(here, "clusters/lab").ended(0).text.count("kind: Module\n") == 2


def test_the_folder_of_argo_cd_has_no_git(tmp_path: Path) -> None:
    """The plugin runs in a copy of the repository, in the Application's folder."""
    plant(tmp_path, TWO | APART | LISTED)
    render(tmp_path, "clusters/lab", ARGOCD_APP_SOURCE_PATH="clusters/lab").ended(0)
    plant(tmp_path, BOTH)
    assert "[KRM301]" in render(tmp_path, "clusters/lab", ARGOCD_APP_SOURCE_PATH="clusters/lab").ended(1).err


@pytest.mark.parametrize("name", ["lab", "other"])
def test_nodes_count_for_a_kustomization_whatever_the_cluster_is_called(name: str, here: Path) -> None:
    """Of loose files that are one more part of a cluster `lab` the kustomization lab saw no nodes."""
    files = {"more.yaml": config_map("a"), "nodes.yaml": APART["inventories/lab.yaml"]}
    files |= {"lab/a.yaml": config("a", "card: a"), "lab/b.yaml": config("b", "pool: b")}
    files["lab/kustomization.yaml"] = "resources: [a.yaml, b.yaml]\n"
    plant(here, files | {".krmfn.yaml": f"clusters:\n  {name}: [lab, nodes.yaml, more.yaml]\n"})
    assert "no node in the input has such labels" in process("krmfn", "check", ".", cwd=here).ended(0).text


def test_a_functionconfig_elsewhere_counts(here: Path) -> None:
    listed = {".krmfn.yaml": "clusters:\n  lab: [clusters/lab, inventories/lab.yaml, settings]\n"}
    plant(here, TWO | APART | listed | {"settings/config.yaml": FUNCTION})
    assert render(here, "clusters/lab").ended(0).text.count("imagePullPolicy: Always") == 2


def test_a_part_that_gives_objects_is_a_warning(here: Path) -> None:
    plant(here, TWO | APART | {"other/c.yaml": config("c", "card: c")})
    plant(here, {".krmfn.yaml": "clusters:\n  lab: [clusters/lab, inventories/lab.yaml, other]\n"})
    done = render(here, "clusters/lab")
    assert (done.code, done.text.count("kind: Module\n")) == (0, 2)
    told = "../../.krmfn.yaml:2:45: warning: other also belongs to the cluster lab, but is not among the PATHs [KRM522]"
    assert told in done.err


def test_a_stale_line_about_dev_does_not_stop_prod(here: Path) -> None:
    text = "clusters:\n  dev: [clusters/dev]\n  lab: [clusters/lab, inventories/lab.yaml]\n"
    plant(here, TWO | APART | {".krmfn.yaml": text})
    assert render(here, "clusters/lab").code == 0
    done = process("krmfn", "check", ".", cwd=here)
    assert (done.code, done.text.splitlines()[0]) == (
        2,
        ".krmfn.yaml:2:9: error: clusters.dev[0]: clusters/dev: No such file or directory [KRM522]",
    )
    plant(here, {".krmfn.yaml": text.replace("lab.yaml]", "gone.yaml]")})
    assert "inventories/gone.yaml: No such file" in render(here, "clusters/lab").refused()


def test_a_path_in_two_clusters_is_an_error(here: Path) -> None:
    text = "clusters:\n  dev: [clusters/lab]\n  lab: [clusters/lab, inventories/lab.yaml]\n"
    plant(here, TWO | APART | {".krmfn.yaml": text})
    for command, cwd in (("check", "."), ("render", "clusters/lab")):
        done = process("krmfn", command, ".", cwd=here / cwd)
        assert (done.code, "belongs to the clusters dev and lab" in done.text + done.err) == (2, True)


def test_an_inventory_in_two_clusters_is_an_error_and_a_functionconfig_is_not(here: Path) -> None:
    text = "clusters:\n  dev: [clusters/dev, inventories, settings]\n  lab: [clusters/lab, inventories, settings]\n"
    files = TWO | APART | {"clusters/dev/c.yaml": config("c", "card: c"), "settings/config.yaml": FUNCTION}
    plant(here, files | {".krmfn.yaml": text})
    done = process("krmfn", "check", ".", cwd=here)
    first = ".krmfn.yaml:3:23: error: inventories belongs to the clusters dev and lab, so it is not known which of them"
    assert (done.code, done.text.startswith(first)) == (2, True), done.text
    plant(here, {".krmfn.yaml": text.replace("dev, inventories", "dev")})
    assert process("krmfn", "check", ".", cwd=here).code == 0


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


def test_what_is_found_about_nodes_never_stops_a_render(here: Path) -> None:
    """An expired inventory, a kernel that no mapping takes, a label that is not held: `check` fails, `render` warns."""
    plant(here, {"clusters/lab/a.yaml": config("a", "card: a"), "inventories/lab.yaml": INVENTORY} | LISTED)
    for rule, text in (("KRM602", INVENTORY), ("KRM603", INVENTORY.replace("card", "pool").replace("2020", "2999"))):
        plant(here, {"inventories/lab.yaml": text})
        done = process("krmfn", "check", ".", cwd=here)
        assert (done.code, f"[{rule}]" in done.text) == (1, True), done.text
        done = render(here, "clusters/lab")
        assert (done.code, done.text.count("kind: Module\n")) == (0, 1), done.err
        assert any(line.endswith(f"[{rule}]") and " warning: " in line for line in done.err.splitlines()), done.err


def test_without_known_labels_selectors_decide(here: Path) -> None:
    """Nodes that are not known well enough are none: `render` must not take two drivers for one node as fine."""
    plant(here, TWO | LISTED | {"inventories/lab.yaml": INVENTORY.replace("2020", "2999")})
    assert "[KRM302]" in render(here, "clusters/lab").refused(1)
    done = process("krmfn", "check", ".", cwd=here)
    assert (done.code, "[KRM302]" in done.text, "[KRM603]" in done.text) == (1, True, True), done.text


KEYS = ("card", "pool")
CLUSTERS = ("dev", "lab")
PROFILE = (
    "apiVersion: krmfn.dev/v1alpha1\nkind: Profile\nmetadata: {name: base}\nspec: {config: {imagePullPolicy: Always}}\n"
)
SHARED = {"settings/config.yaml": FUNCTION, "profiles/base.yaml": PROFILE}
PLUGIN = next(
    one["spec"]["generate"]["command"]
    for one in yaml.safe_load_all((ROOT / "gitops/argocd/plugin.yaml").read_text())
    if one and one["kind"] == "ConfigManagementPlugin"
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
    return sorted(one["metadata"]["name"] for one in yaml.safe_load_all(stream) if one and one["kind"] == "Module")


def errors_of(text: str, cluster: str) -> set[str]:
    """Return the rules of the errors about a cluster in the JSON of `check`, but for those about single nodes."""
    found = [one for one in json.loads(text)["findings"] if one["severity"] == "error" and cluster in one["clusters"]]
    return {one["rule"] for one in found if not one["rule"].startswith("KRM6")}


def agree(here: Path, files: dict[str, str], **env: str) -> Counter[str]:
    """Hold all ways in against each other, and return what has been seen."""
    repository(here, {"README.md": "a fleet\n"})
    plant(here, files)
    seen = Counter[str]()
    checked = process("krmfn", "check", ".", "--format", "json", cwd=here, **env).text
    whole = process("krmfn", "render", ".", "--output-dir", "out", cwd=here, **env)
    for cluster in CLUSTERS:
        folder = f"clusters/{cluster}"
        errors = errors_of(checked, cluster)
        done = process("krmfn", "render", ".", cwd=here / folder, **env)
        assert (done.code != 0) == bool(errors), (done.err, checked)
        alone = process("krmfn", "check", folder, "--format", "json", cwd=here, **env)
        assert errors_of(alone.text.replace(f'"{folder}"', f'"{cluster}"'), cluster) == errors
        plugin = process("/bin/sh", *PLUGIN[1:], cwd=here / folder, ARGOCD_APP_SOURCE_PATH=folder, **env)
        assert (plugin.code, plugin.out) == (done.code, done.out), plugin.err
        changed = process("krmfn", "diff", "--base", "main", folder, "--format", "json", cwd=here, **env)
        assert (changed.code == 2) == bool(errors), changed.text + changed.err
        seen["refused" if errors else "green"] += 1
        seen["elsewhere, " + ("refused" if errors else "green")] += f"inventories/{cluster}" in files[".krmfn.yaml"]
        if errors:
            continue
        modules = names_of(done.text)
        assert modules == sorted(one["ref"]["name"] for one in json.loads(changed.text)["changes"])
        assert modules == sorted(f"{cluster}-{Path(path).stem}" for path in files if is_config(path, cluster))
        if whole.code == 0:
            assert modules == names_of("---\n".join(map(Path.read_text, (here / "out" / cluster).glob("*.yaml"))))
            seen["whole"] += 1
    assert (whole.code != 0) == bool(seen["refused"]), whole.err
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
    for what in ("green", "refused", "elsewhere, green", "elsewhere, refused", "whole"):
        assert seen[what], seen


def test_check_diff_render_and_the_plugin_agree(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whichever PATH is given: an error of `check .` about a cluster stops its render, and nothing else does."""
    hold(tmp_path_factory.mktemp, max(EXAMPLES // 6, 10))


@pytest.mark.parametrize("name", ["text", "github", "json"])
def test_what_cannot_be_read_names_its_cluster(name: str, here: Path) -> None:
    plant(here, {"dev/kustomization.yaml": "resources: [gone.yaml]\n", "lab/a.yaml": config("a", "card: a")})
    plant(here, {".krmfn.yaml": "clusters:\n  south: [dev]\n  north: [lab]\n"})
    done = process("krmfn", "check", ".", "--format", name, cwd=here).ended(2)
    if name == "json":
        assert [one["clusters"] for one in json.loads(done.text)["findings"]] == [["south"]]
    else:
        [told] = [line for line in done.text.splitlines() if "gone.yaml: No such file" in line]
        assert told.endswith("(south)"), told


@pytest.mark.parametrize(
    ("dev", "said"),
    [
        ("gone", "gone: No such file or directory"),
        ("dev, inventories/gone.yaml", "inventories/gone.yaml: No such file or directory"),
        ("dev, lab", "lab belongs to the clusters dev and lab"),
    ],
)
def test_a_wrong_line_about_one_cluster_hides_no_other(dev: str, said: str, here: Path) -> None:
    """Of one that lacks a part, or may have that of another, nothing is told, nor of what no line names."""
    for name in ("dev", "lab", "prod"):
        nodes = node(f"{name}-1", card=name)
        plant(here, {f"{name}/a.yaml": config("a", f"card: {name}"), f"{name}/nodes.yaml": nodes})
    lines = (f"  {name}: [{name}]\n" for name in ("lab", "prod"))
    plant(here, {".krmfn.yaml": f"clusters:\n  dev: [{dev}]\n{''.join(lines)}"})
    done = process("krmfn", "nodes", ".", "--wide", cwd=here)
    assert (done.code, said in done.err, "prod-1" in done.text) == (2, True, True), done.err
    assert ("dev-1" in done.text, "lab-1" in done.text) == (False, dev != "dev, lab"), done.text
    assert "not all of this cluster can be read" in process("krmfn", "report", ".", cwd=here).ended(2).text
    checked = json.loads(process("krmfn", "check", ".", "--format", "json", cwd=here).text)["findings"]
    [found] = [one for one in checked if one["rule"] == "KRM522" and one["severity"] == "error"]
    assert found["clusters"] == (["dev", "lab"] if dev == "dev, lab" else ["dev"])


NAMED = (
    "apiVersion: krmfn.dev/v1alpha1\nkind: NodeInventory\nmetadata: {{name: {0}}}\n"
    "spec:\n  labelKeys: [card]\n  groups:\n"
    "  - labels: {{card: a}}\n    nodes: |\n      {0}-1 5.14.0-503.el9.x86_64\n"
)


def test_an_inventory_of_another_cluster_is_an_error(here: Path) -> None:
    """Of two with the same labels and other nodes, nothing else tells that they were swapped."""
    files = {f"inventories/{name}.yaml": NAMED.format(name) for name in ("lab", "prod")}
    files |= {f"{name}/a.yaml": config("a", "card: a") for name in ("lab", "prod")}
    right = "clusters:\n  lab: [lab, inventories/lab.yaml]\n  prod: [prod, inventories/prod.yaml]\n"
    plant(here, files | {".krmfn.yaml": right})
    assert process("krmfn", "check", ".", cwd=here).code == 0
    swapped = right.replace("s/lab", "s/x").replace("s/prod", "s/lab").replace("s/x", "s/prod")
    plant(here, {".krmfn.yaml": swapped})
    done = process("krmfn", "check", ".", cwd=here).ended(1)
    assert "inventories/prod.yaml:3:12: error: NodeInventory prod: metadata.name: the inventory is in the" in done.text
    assert done.text.count("[KRM601]") == 2
    plant(here, {".krmfn.yaml": right.replace(", inventories/lab.yaml", "")})
    done = process("krmfn", "check", ".", cwd=here)
    told = "metadata.name: has the name of a cluster in .krmfn.yaml, which does not list it; add this path there"
    assert (done.code, told in done.text) == (1, True), done.text
    plant(here, {".krmfn.yaml": swapped})
    assert "warning: NodeInventory prod" in render(here, "lab").ended(0).err


@pytest.mark.parametrize("line", ["", "  prod: [prod]\n"], ids=["no cluster", "a cluster without its inventory"])
def test_a_cluster_without_nodes_beside_one_that_has_some_is_no_green(line: str, here: Path) -> None:
    """Whoever loses a line of .krmfn.yaml, or a part of one, is told of it; `nodes` shows the rest."""
    files = {f"inventories/{name}.yaml": NAMED.format(name) for name in ("lab", "prd")}
    files |= {f"{name}/a.yaml": config("a", "card: a") for name in ("lab", "prod")}
    plant(here, files | {".krmfn.yaml": f"clusters:\n  lab: [lab, inventories/lab.yaml]\n{line}"})
    done = process("krmfn", "check", cwd=here).ended(0)
    assert "inventories/prd.yaml:1: warning: NodeInventory prd: no cluster of .krmfn.yaml has this" in done.text
    told = ".krmfn.yaml:3:10: warning: prod has 1 Module and no nodes, so it is not known which nodes get a driver (lab"
    assert (told in done.text) == bool(line), done.text
    assert "nothing in " not in done.text
    told = ".krmfn.yaml: warning: prod is in no cluster of .krmfn.yaml, and has 1 Module and no nodes, so it is not"
    assert process("krmfn", "check", "prod", cwd=here).text.startswith("no findings"), "nobody knows of any node here"
    done = process("krmfn", "nodes", "--wide", cwd=here)
    assert (done.code, "lab-1" in done.text, "warning: no nodes are known in prod" in done.err) == (0, True, bool(line))
    assert process("krmfn", "nodes", "--fail-on", "uncovered", cwd=here).code == int(bool(line))
    assert process("krmfn", "nodes", "prod", cwd=here).code == 2


def test_a_kustomization_that_cannot_be_built_is_not_said_to_hold_nothing(here: Path) -> None:
    files = {"prod/kustomization.yaml": "resources: []\n", "nodes.yaml": NAMED.format("prod")}
    plant(here, files | {".krmfn.yaml": "clusters:\n  prod: [prod, nodes.yaml]\n"})
    done = process("krmfn", "check", "prod", cwd=here, PATH="/nowhere")
    assert (done.code, "neither kustomize nor kubectl" in done.err, "KRM109" in done.text) == (2, True, False)


def test_a_cluster_of_which_nothing_is_left_is_no_green(here: Path) -> None:
    """Whoever removes its last config hears in CI what Argo CD's plugin will say."""
    files = {"lab/a.yaml": config("a", "card: a"), "prod/function.yaml": FUNCTION}
    plant(here, files | {".krmfn.yaml": "clusters:\n  lab: [lab]\n  prod: [prod]\n"})
    told = ".krmfn.yaml:3:10: warning: nothing in prod would reach the cluster"
    for path in (".", "prod"):
        done = process("krmfn", "check", path, cwd=here)
        assert (done.code, told in done.text, "KRM522" in done.text) == (0, True, True), done.text
    assert "KRM522" not in process("krmfn", "check", "lab", cwd=here).text
    assert (render(here, "prod").code, render(here, "lab").code) == (2, 0)
