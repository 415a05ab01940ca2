"""`diff` of repositories with several clusters, with their base and folder against folder."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from krmfn_functions.comparing import against_base

from tests.commands import Done, process
from tests.functions.cluster.test_one_result import FUNCTION, config
from tests.trees import config_map, plant

from .test_base import OVERLAY, changed, commit, commit_to_main, diff, repository, run_git

FILES = {
    "base/kustomization.yaml": "resources: [a.yaml]\n",
    "base/a.yaml": config_map("a"),
    "lab/kustomization.yaml": OVERLAY.format("lab"),
    "prod/kustomization.yaml": OVERLAY.format("prod"),
    "loose/b.yaml": config_map("b"),
    "values.yaml": "replicas: 1\n",
}

SAME = "nothing changes: its files are those of the base"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Two overlays over one base, and a loose file."""
    return repository(tmp_path / "repo", FILES)


def inventory(name: str, node: str, *labels: str) -> str:
    """Return a NodeInventory of one node with the labels `card` and a version label."""
    held = " ".join(("card=x", *labels))
    return (
        f"apiVersion: krmfn.dev/v1alpha1\nkind: NodeInventory\nmetadata: {{name: {name}}}\nspec:\n"
        "  labelKeys: [card, kmm.node.kubernetes.io/version-module.kmm.a]\n"
        f"  groups:\n  - nodes: |\n      {node} 5.14.0-503.el9.x86_64 {held}\n"
    )


def sections(done: Done) -> dict[str, str]:
    """The summary of each cluster by its name, from the table of the fleet."""
    (table,) = [part.splitlines()[1:] for part in done.text.split("\n\n") if part.startswith("CLUSTER ")]
    return {row.split()[0]: re.split(r"  +", row, maxsplit=5)[5] for row in table}


def test_each_root_is_compared_with_itself(repo: Path) -> None:
    assert sections(diff(repo)) == {".": "nothing changes, 1 unchanged", "lab": SAME, "prod": SAME}
    plant(repo, {"base/a.yaml": config_map("a").replace("b}", "c}"), "prod/kustomization.yaml": OVERLAY.format("p")})
    done = diff(repo, "--format", "json")
    changes = {(*row["clusters"], row["change"], row["ref"]["name"]) for row in json.loads(done.out)["changes"]}
    assert changes == {("lab", "changed", "lab-a"), ("prod", "created", "p-a"), ("prod", "deleted", "prod-a")}


def test_a_cluster_that_is_new_or_gone(repo: Path) -> None:
    (repo / "lab" / "kustomization.yaml").unlink()
    (repo / "lab").rmdir()
    plant(repo, {"new/kustomization.yaml": OVERLAY.format("new")})
    assert sections(diff(repo)) == {
        ".": "nothing changes, 1 unchanged",
        "new": "1 created",
        "prod": SAME,
        "lab": "1 deleted",
    }
    assert sections(diff(repo / "prod", "../new", "../lab")) == {"../new": "1 created", "../lab": "1 deleted"}


OURS = {"lab/gpu.yaml": config("gpu", "card: x")}
BROKEN = OURS | {"lab/kustomization.yaml": "resources: [../base, gpu.yaml, nowhere.yaml]\n"}


def test_what_is_broken_in_the_base_hides_its_own_cluster_only(repo: Path) -> None:
    commit_to_main(repo, BROKEN)
    plant(repo, {"lab/kustomization.yaml": OVERLAY.format("lab")})
    done = diff(repo)
    assert {name: line.split(",")[0] for name, line in sections(done).items()} == {
        ".": "nothing changes",
        "lab": "1 unknown",
        "prod": SAME,
    }
    assert "nowhere.yaml" in done.text
    assert "/krmfn-" not in done.text


def test_what_is_broken_in_the_new_side_hides_its_own_cluster_only(repo: Path) -> None:
    plant(repo, BROKEN)
    done = diff(repo).ended(2)
    assert sections(done)["lab"] == "cannot be rendered, so what changes is not known"
    assert sections(done)["prod"] == SAME
    assert json.loads(diff(repo, "--format", "json").out)["failed"] == ["lab"]


CLUSTERS = "clusters: {both: [lab, loose]}\n"


def test_clusters_of_the_configuration_file_are_those_of_their_time(repo: Path) -> None:
    plant(repo, {".krmfn.yaml": CLUSTERS})
    assert sections(diff(repo).ended(1))["prod"] == "nothing changes, 1 unchanged"
    commit_to_main(repo)
    assert sections(diff(repo)) == {"both": SAME, "prod": SAME}
    plant(repo, {"loose/b.yaml": config_map("c")})
    assert sections(diff(repo))["both"] == "1 created, 1 deleted, 1 unchanged"


CONFIG = "clusters: {dev: [lab], both: [prod, loose]}\n"
TOP = {"top/kustomization.yaml": "resources: [../lab]\n"}
DEEP = OVERLAY.format("x").replace("../base", "../../base")
MOVES: dict[str, tuple[dict[str, str], dict[str, str], str, bool]] = {
    "a folder on top": ({}, TOP | {".krmfn.yaml": CONFIG.replace("lab", "top")}, "no longer lab, now top", True),
    "one more": ({}, {"x/a.yaml": config_map("c"), ".krmfn.yaml": CONFIG.replace("[lab", "[lab, x")}, "(now x)", True),
    "places": ({}, {".krmfn.yaml": "clusters: {dev: [prod], both: [lab, loose]}"}, "no longer lab, now prod", True),
    "no configuration file": ({".krmfn.yaml": "exclude: [a]\n"}, TOP, "no longer lab", True),
    "below": ({"prod/x/kustomization.yaml": DEEP}, {"prod/kustomization.yaml": "resources: [x]\n"}, "prod/x", True),
    "a new root": ({}, {"loose/x/kustomization.yaml": DEEP}, "(now loose/x)", False),
    "a new cluster": (
        {},
        {".krmfn.yaml": f"{CONFIG[:-2]}, new: [more]}}\n", "more/a.yaml": config_map("c")},
        "changes",
        False,
    ),
}


@pytest.mark.parametrize("name", MOVES)
def test_folders_that_move_are_told_first(name: str, repo: Path) -> None:
    """Who writes .krmfn.yaml, or a kustomization on top, chooses what is compared."""
    before, after, says, is_doubtful = MOVES[name]
    commit_to_main(repo, {".krmfn.yaml": CONFIG, **before})
    plant(repo, after)
    process("krmfn", "ci", "--base", "main", "--out", "out", "--fail-on", "lost", cwd=repo).ended(is_doubtful)
    result = json.loads((repo / "out" / "result.json").read_text())
    assert (result["changes"], says in result["diff"]["first"][0]) == (True, True), result["diff"]["first"]


def test_a_configuration_file_that_was_broken(repo: Path) -> None:
    """Which clusters were meant is not known, so nothing is."""
    commit_to_main(repo, {".krmfn.yaml": "cluster: {}\n"})
    plant(repo, {".krmfn.yaml": CLUSTERS})
    done = diff(repo).ended(1)
    assert {line.split(" ")[1] for line in sections(done).values()} == {"unknown"}
    assert ":.krmfn.yaml:1:" in done.text
    commit(repo, {".krmfn.yaml": "cluster: {}\n"})
    assert ".krmfn.yaml:1:" in diff(repo).ended(2).text


def test_a_configuration_file_that_is_broken_on_both_sides_is_told_once(repo: Path) -> None:
    """Nobody knows the clusters; each error was one without a name, and one more for the base."""
    commit_to_main(repo, {".krmfn.yaml": "clusters: {dev: dev, lab: lab}\n"})
    plant(repo, {"lab/b.yaml": config_map("b")})
    done = diff(repo).ended(2)
    assert done.text.count("[KRM521]") == 2 and "CLUSTER" not in done.text, done.text
    assert 'help: write it as a list, ["dev"]' in done.text


def test_a_wrong_line_of_the_configuration_file_hides_its_own_cluster_only(repo: Path) -> None:
    """And what is wrong is said once: on stdout where a person reads that, else on stderr, too."""
    right = "clusters:\n  both: [lab, loose]\n  far: [prod]\n"
    commit_to_main(repo, {".krmfn.yaml": right})
    plant(repo, {".krmfn.yaml": right.replace("prod", "prod, nodes.yaml")})
    done = diff(repo)
    both = {"both": "nothing changes, 2 unchanged"}
    assert (done.code, sections(done)) == (2, both | {"far": "cannot be rendered, so what changes is not known"})
    assert done.text.count("nodes.yaml: No such file") == 1
    assert "nodes.yaml" not in done.err
    for_programs = diff(repo, "--format", "json")
    assert json.loads(for_programs.out)["failed"] == ["far"]
    assert "nodes.yaml: No such file" in for_programs.err
    commit_to_main(repo)
    plant(repo, {".krmfn.yaml": right})
    assert sections(diff(repo)) == both | {"far": "1 unknown"}


def test_clusters_that_the_command_line_joins(repo: Path) -> None:
    plant(repo, {"loose/b.yaml": config_map("c")})
    done = diff(repo, "--cluster", "x=lab,loose", "--format", "json")
    assert changed(done) == {"b": "deleted", "c": "created"}
    run_git(repo, "rm", "--quiet", "-r", "--force", "loose")
    assert changed(diff(repo, "--cluster", "x=lab,loose", "--format", "json")).get("b") == "deleted"
    assert "it with --base" in process("krmfn", "diff", "lab", "prod", "--cluster", "x=lab", cwd=repo).ended(2).err


def test_two_folders_with_the_same_clusters(repo: Path) -> None:
    plant(repo, {f"{side}/{name}": text for side in ("next", "last") for name, text in FILES.items()})
    plant(repo, {"next/base/a.yaml": config_map("a").replace("b}", "c}")})
    done = process("krmfn", "diff", "last", "next", "--quiet", cwd=repo)
    assert sections(done) == {
        "next": "nothing changes, 1 unchanged",
        "next/lab": "1 changed",
        "next/prod": "1 changed",
    }


OFF = 'spec: {exclusivity: {mode: "off"}}\n'


def test_a_label_that_no_inventory_holds_hides_no_change(tmp_path: Path) -> None:
    """The typo, and what mends it; with an error about nodes all drivers were "lost", and the base not rendered.

    What mends it may be merged, unless it takes another driver away or the Module with it.
    """
    line = "      b 5.14.0-503.el9.x86_64 card=z\n"
    files = {f"{name}/n.yaml": inventory(name, "a") + line for name in ("dev", "lab")}
    files |= {f"{name}/b.yaml": config("b", "card: z", "nic") for name in ("dev", "lab")}
    files |= {f"{name}/c.yaml": FUNCTION.partition("spec")[0] + OFF for name in ("dev", "lab")}
    good, typo = ({f"{name}/a.yaml": config("a", f"{key}: x") for name in ("dev", "lab")} for key in ("card", "crad"))
    repo = repository(tmp_path / "repo", files | good | {".krmfn.yaml": "clusters: {dev: [dev], lab: [lab]}\n"})
    reason = "the NodeInventory of each cluster does not hold the label crad (did you mean card, which it holds?)"

    def fails() -> bool:
        ci = process("krmfn", "ci", "--base", "main", "--out", "../out", "--fail-on", "lost", cwd=repo)
        is_said = f"\nerror: what happens on the nodes is not known (--fail-on lost): {head}; " in f"\n{ci.text}"
        assert ci.code == is_said, ci.text
        return is_said

    for state, head, severity in ((typo, reason, "warning"), (good, f"before this change {reason}", "info")):
        plant(repo, state)
        done = diff(repo)
        assert done.code == 1
        assert done.text.startswith("what happens on the nodes of all 2 clusters is not known\n\nCLUSTER ")
        assert set(sections(done).values()) == {"1 changed, 1 unchanged"}
        assert f"\n{severity}: what happens on the nodes is not known: {head}; " in done.text
        assert fails() == (state is typo)
        if state is typo:
            commit_to_main(repo)
    plant(repo, {f"{name}/n.yaml": inventory(name, "a") for name in ("dev", "lab")})
    assert fails(), "a node is gone"
    plant(repo, files)
    for gone in "ba":
        for name in ("dev", "lab"):
            (repo / name / f"{gone}.yaml").unlink()
        if gone == "a":
            plant(repo, {name: text for name, text in files.items() if name.endswith("b.yaml")})
        assert fails(), gone


def test_what_mends_an_inventory_hides_no_lost_node(tmp_path: Path) -> None:
    """One bad line in the base's inventory: a node that goes with the mend, or its label, counted as never there."""
    bad = inventory("lab", "a") + "      b 5.14.0-503.el9.x86_64 card=x card=y\n"
    repo = repository(tmp_path / "repo", {"n.yaml": bad, "a.yaml": config("a", "card: x")})
    for mended in (inventory("lab", "c"), inventory("lab", "a").replace("card=x", "card=y")):
        plant(repo, {"n.yaml": mended, "a.yaml": config("a", "card: x") + "  labels: {b: c}\n"})
        for command in (("diff",), ("ci", "--out", "../out")):
            done = process("krmfn", *command, "--base", "main", "--fail-on", "lost", ".", cwd=repo)
            assert done.code, done.text
            reason = "what happens on the nodes is not known (--fail-on lost): before this change "
            assert reason in done.text + done.err


def test_nodes_of_which_it_is_not_known_are_not_called_unaffected(tmp_path: Path) -> None:
    mappings = "  upgrade: {ordered: true}\n"
    label = "kmm.node.kubernetes.io/version-module.kmm.a"
    files = {f"{name}/a.yaml": config("a", "card: x") + mappings for name in ("dev", "lab")}
    files |= {f"{name}/n.yaml": inventory(name, "a") for name in ("dev", "lab")} | {
        ".krmfn.yaml": "clusters: {dev: [dev], lab: [lab]}\n"
    }
    repo = repository(tmp_path / "repo", files)
    plant(repo, {"dev/n.yaml": inventory("dev", "a", f"{label}=1")})
    done = diff(repo)
    assert done.text.startswith("what happens on 1 node in 1 cluster is not known\n\nCLUSTER "), done.text
    assert diff(repo, "dev").text.endswith("no object changes, 1 unchanged, what happens on 1 node is not known\n")


def test_what_a_change_does_stands_where_it_is_written(tmp_path: Path) -> None:
    """Each note stood at the first line of the config in the base; a patch, or the Profile, had been changed."""
    profile = (
        "apiVersion: krmfn.dev/v1alpha1\nkind: Profile\nmetadata: {name: p}\nspec:\n  config:\n    moduleName: gpu\n"
        "    kernelMappings:\n    - regexp: ^5\n    devicePlugin: {image: r.example.com/p:1}\n"
    )
    owned = config("a", "card: x").replace("  moduleName: gpu\n", "  profile: p\n")
    files = {"base/kustomization.yaml": "resources: [a.yaml, p.yaml]\n", "base/a.yaml": owned, "base/p.yaml": profile}
    files |= {"lab/kustomization.yaml": "resources: [../base, n.yaml]\n", "lab/n.yaml": inventory("lab", "n")}
    patch = "patches:\n- target: {kind: KIND}\n  patch: |\n    - {op: replace, path: PATH, value: VALUE}\n"
    repo = repository(tmp_path / "repo", files)
    for kind, path, value, rules in (
        ("DeviceConfig", "/spec/driverVersion", '"2"', {"KRM401"}),
        ("Profile", "/spec/config/devicePlugin/image", "r.example.com/p:2", {"KRM413"}),
        ("Profile", "/spec/config/kernelMappings/0/regexp", "^6", {"KRM409"}),
    ):
        text = patch.replace("KIND", kind).replace("PATH", path).replace("VALUE", value)
        plant(repo, {"lab/kustomization.yaml": files["lab/kustomization.yaml"] + text})
        notes = json.loads(diff(repo, "lab", "--format", "json").out)["notes"]
        places = {note["rule"]: f"{note['file']}:{note['line']}" for note in notes}
        assert places == dict.fromkeys(rules, "lab/kustomization.yaml:5")
    plant(repo, {**files, "base/p.yaml": profile.replace("^5", "^6")})
    assert "\nbase/p.yaml:8:7: warning: Module kmm/a: lost by 1 node" in diff(repo, "lab").text


def test_profiles_of_the_configuration_file_count_for_one_folder(tmp_path: Path) -> None:
    """`diff --base main lab` said that the base cannot be rendered: the Profiles were not read from Git."""
    profile = "apiVersion: krmfn.dev/v1alpha1\nkind: Profile\nmetadata: {name: p}\nspec: {config: {moduleName: gpu}}\n"
    owned = config("a", "card: x").replace("  moduleName: gpu\n", "  profile: p\n")
    files = {".krmfn.yaml": "profiles: [profiles]\nclusters: {lab: [lab]}\n", "profiles/p/p.yaml": profile}
    repo = repository(tmp_path / "repo", files | {"lab/a.yaml": owned})
    plant(repo, {"lab/a.yaml": owned.replace('"1"', '"2"')})
    assert diff(repo, "lab").text.endswith("\n1 changed\n")


@pytest.mark.parametrize(("old", "new", "is_same"), [("a", "a", True), ("a", "b", False), (None, None, False)])
def test_a_file_that_neither_side_can_read_is_not_the_same(
    old: str | None, new: str | None, is_same: bool, tmp_path: Path
) -> None:
    for name, text in (("old", old), ("new", new)):
        if text is None:
            (tmp_path / name).mkdir()
        else:
            (tmp_path / name).write_text(text)
    assert against_base._is_same(str(tmp_path / "old"), str(tmp_path / "new")) == is_same
