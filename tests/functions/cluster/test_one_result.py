"""One result, whichever folder of a repository is rendered: the parts of its cluster count wherever they stand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.commands import Done, process
from tests.examples import EXAMPLES
from tests.functions.comparing.test_base import OWN, repository
from tests.trees import plant


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
    done = render(here, "clusters/lab")
    assert (done.code, done.out) == (1, b"")
    assert "node gpu-1 is selected by DeviceConfig kmm/a" in done.err
    assert "[KRM301]" in done.err
    plant(here, APART)
    assert process("krmfn", "check", ".", cwd=here).code == 0
    done = render(here, "clusters/lab")
    assert (done.code, done.text.count("kind: Module\n")) == (0, 2), done.err


def test_the_folder_of_argo_cd_has_no_git(tmp_path: Path) -> None:
    """The plugin runs in a copy of the repository, in the Application's folder."""
    plant(tmp_path, TWO | APART | LISTED)
    done = render(tmp_path, "clusters/lab", ARGOCD_APP_SOURCE_PATH="clusters/lab")
    assert done.code == 0, done.err
    plant(tmp_path, BOTH)
    done = render(tmp_path, "clusters/lab", ARGOCD_APP_SOURCE_PATH="clusters/lab")
    assert (done.code, "[KRM301]" in done.err) == (1, True), done.err


def test_a_functionconfig_elsewhere_counts(here: Path) -> None:
    listed = {".krmfn.yaml": "clusters:\n  lab: [clusters/lab, inventories/lab.yaml, settings]\n"}
    plant(here, TWO | APART | listed | {"settings/config.yaml": FUNCTION})
    done = render(here, "clusters/lab")
    assert (done.code, done.text.count("imagePullPolicy: Always")) == (0, 2), done.err


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
    done = render(here, "clusters/lab")
    assert (done.code, done.out, "inventories/gone.yaml: No such file" in done.err) == (2, b"", True)


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
    first = (
        ".krmfn.yaml:3:23: error: inventories belongs to the clusters dev and lab: which of them its objects or nodes"
    )
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
    done = render(here, "clusters/lab")
    assert (done.code, done.out, "[KRM302]" in done.err) == (1, b"", True), done.err
    done = process("krmfn", "check", ".", cwd=here)
    assert (done.code, "[KRM302]" in done.text, "[KRM603]" in done.text) == (1, True, True), done.text


KEYS = ("card", "pool")
PLACES = st.sampled_from(["beside", "elsewhere", "nowhere"])


@settings(
    max_examples=max(EXAMPLES // 12, 5), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_check_diff_and_render_agree(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whichever PATH is given: an error of `check .` about a cluster stops its render, and nothing else does."""
    here = tmp_path_factory.mktemp("repo")
    values = st.sampled_from(["a", "b"])
    files: dict[str, str] = {}
    listed = []
    for cluster in ("dev", "lab"):
        for name in data.draw(st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, unique=True)):
            selector = f"{data.draw(st.sampled_from(KEYS))}: {data.draw(values)}"
            files[f"clusters/{cluster}/{name}.yaml"] = config(f"{cluster}-{name}", selector, name)
        nodes = [
            node(f"{cluster}-{at}", **{key: data.draw(values) for key in data.draw(st.sets(st.sampled_from(KEYS)))})
            for at in range(data.draw(st.integers(1, 2)))
        ]
        where = data.draw(PLACES)
        members = [f"clusters/{cluster}"]
        if where == "beside":
            files[f"clusters/{cluster}/nodes.yaml"] = "---\n".join(nodes)
        elif where == "elsewhere":
            files[f"inventories/{cluster}.yaml"] = "---\n".join(nodes)
            members.append(f"inventories/{cluster}.yaml")
        if data.draw(st.booleans()):
            files["settings/config.yaml"] = FUNCTION
            members.append("settings")
        listed.append(f"  {cluster}: [{', '.join(members)}]\n")
    files["settings/notes.yaml"] = FUNCTION if "settings/config.yaml" not in files else ""
    if "settings" not in "".join(listed):
        files.pop("settings/notes.yaml")
    repository(here, files | {".krmfn.yaml": f"clusters:\n{''.join(listed)}"})
    checked = json.loads(process("krmfn", "check", ".", "--format", "json", cwd=here).text)["findings"]
    whole = process("krmfn", "render", ".", "--output-dir", "out", cwd=here, **OWN)
    refused = set()
    for cluster in ("dev", "lab"):
        errors = {
            one["rule"]
            for one in checked
            if one["severity"] == "error" and cluster in one["clusters"] and not one["rule"].startswith("KRM6")
        }
        done = render(here, f"clusters/{cluster}")
        alone = process("krmfn", "check", f"clusters/{cluster}", "--format", "json", cwd=here)
        own = {
            one["rule"]
            for one in json.loads(alone.text)["findings"]
            if one["severity"] == "error" and not one["rule"].startswith("KRM6")
        }
        assert (done.code != 0) == bool(errors), (done.err, checked)
        assert own == errors
        changed = process("krmfn", "diff", "--base", "HEAD", f"clusters/{cluster}", cwd=here, **OWN)
        assert (changed.code == 2) == bool(errors), changed.text + changed.err
        refused |= {cluster} if errors else set()
        if whole.code == 0:
            assert "kind: Module\n" in done.text
    assert (whole.code != 0) == bool(refused)


def test_an_inventory_of_another_cluster_is_an_error(here: Path) -> None:
    """Of two with the same labels and other nodes, nothing else tells that they were swapped."""
    inventory = (
        "apiVersion: krmfn.dev/v1alpha1\nkind: NodeInventory\nmetadata: {{name: {0}}}\n"
        "spec:\n  labelKeys: [card]\n  groups:\n"
        "  - labels: {{card: a}}\n    nodes: |\n      {0}-1 5.14.0-503.el9.x86_64\n"
    )
    files = {f"inventories/{name}.yaml": inventory.format(name) for name in ("lab", "prod")}
    files |= {f"{name}/a.yaml": config("a", "card: a") for name in ("lab", "prod")}
    right = "clusters:\n  lab: [lab, inventories/lab.yaml]\n  prod: [prod, inventories/prod.yaml]\n"
    plant(here, files | {".krmfn.yaml": right})
    assert process("krmfn", "check", ".", cwd=here).code == 0
    swapped = right.replace("s/lab", "s/x").replace("s/prod", "s/lab").replace("s/x", "s/prod")
    plant(here, {".krmfn.yaml": swapped})
    done = process("krmfn", "check", ".", cwd=here)
    assert done.code == 1
    assert "inventories/prod.yaml:3:12: error: NodeInventory prod: metadata.name: the inventory is in the" in done.text
    assert done.text.count("[KRM601]") == 2
    rendered = render(here, "lab")
    assert (rendered.code, "warning: NodeInventory prod" in rendered.err) == (0, True), rendered.err
