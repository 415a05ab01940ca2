"""`diff --against`, and `report --base` with it: both sides know what the cluster gets from elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.commands import Done, process
from tests.functions.comparing.test_base import commit, repository, summaries
from tests.trees import plant

from .test_against import APART, INVENTORY, MEET, OURS, POD, THEIRS, dump, rendered

KERNEL = "status: {nodeInfo: {kernelVersion: 6.1.0}}\n"
BOTH = MEET + KERNEL
"""A node that both select."""
BY_NAME = {"two PATHs": ("old", "ours"), "a base": ("--base", "main", "ours")}


@pytest.fixture(params=BY_NAME)
def form(request: pytest.FixtureRequest) -> str:
    """Each of the two ways to say what is compared."""
    return str(request.param)


def diff(
    folder: Path, form: str, old: dict[str, str], new: dict[str, str], *args: str, stdin: str = "", **others: str
) -> Done:
    """Compare two states of `ours`, given as the texts of files by their names, against a folder `theirs`."""
    repository(folder, {f"{name}/{file}.yaml": text for name in ("old", "ours") for file, text in old.items()})
    for file in old:
        (folder / "ours" / f"{file}.yaml").unlink()
    plant(folder, {f"ours/{file}.yaml": text for file, text in new.items()})
    plant(folder, {f"theirs/{file}.yaml": text for file, text in others.items()})
    (folder / "ours").mkdir(exist_ok=True)
    against = () if "--against" in args else ("--against", "theirs")
    return process("krmfn", "diff", *BY_NAME[form], *against, *args, cwd=folder, stdin=stdin)


def test_a_node_that_was_in_conflict_is_not_lost_by_the_change_that_mends_it(form: str, tmp_path: Path) -> None:
    mended = OURS.replace("card: gpu", "card: gpu, pool: main")
    done = diff(tmp_path, form, {"a": OURS, "n": BOTH}, {"a": mended, "n": BOTH}, "--format", "json", b=THEIRS).ended(1)
    assert done.err == "compared with 2 resources of theirs\n"
    assert json.loads(done.out)["effects"] == []
    alone = process("krmfn", "diff", *BY_NAME[form], "--format", "json", cwd=tmp_path)
    effects = json.loads(alone.out)["effects"]
    assert [(effect["effect"], effect["nodes"]) for effect in effects] == [("lost", ["n1"])]


def test_a_node_that_theirs_leaves_is_gained(form: str, tmp_path: Path) -> None:
    narrow = OURS.replace("card: gpu", "card: gpu, pool: none")
    done = diff(tmp_path, form, {"a": narrow, "n": BOTH}, {"a": OURS, "n": BOTH}, b=APART).ended(1)
    assert "gained by 1 node (n1)" in done.text
    assert "team-b" not in done.text


def test_what_would_be_in_conflict_is_no_change_but_an_error(form: str, tmp_path: Path) -> None:
    narrow = OURS.replace("card: gpu", "card: gpu, pool: none")
    done = diff(tmp_path, form, {"a": narrow, "n": BOTH}, {"a": OURS, "n": BOTH}, b=THEIRS).ended(2)
    assert "node n1 is selected by DeviceConfig kmm/gpu" in done.text + done.err
    assert "DeviceConfig team-b/gpu (from --against: theirs/b.yaml:8, spec.nodeSelector)" in done.text + done.err
    assert "gained" not in done.text


def test_their_pods_wait_for_the_module_that_is_deleted(form: str, tmp_path: Path) -> None:
    pod = POD.replace("namespace: kmm", "namespace: team-b").replace("team-b.gpu.ready", "kmm.gpu.ready")
    apart = OURS.replace("name: gpu", "name: nic").replace("card: gpu", "card: nic")
    done = diff(tmp_path, form, {"a": OURS, "b": apart}, {"b": apart}, b=pod).ended(1)
    message = "Module kmm/gpu: is deleted, but not DaemonSet team-b/agent (from --against): KMM unloads nothing"
    assert message in done.text


def test_what_the_old_side_has_on_the_cluster_is_nobody_else_s(form: str, tmp_path: Path) -> None:
    """A dump holds what the change removes: it claims no node beside what comes in its place."""
    config = OURS + "  daemonSets: [{name: agent, image: 'registry.example.com/a:1'}]\n"
    plant(tmp_path, {"ours/a.yaml": config})
    live = dump(*rendered(tmp_path), *yaml.safe_load_all(process("krmfn", "render", "-", stdin=APART).text))
    old, new = {"a": config, "n": BOTH}, {"b": OURS.replace("name: gpu", "name: other"), "n": BOTH}
    done = diff(tmp_path, form, old, new, "--against", "-", stdin=live).ended(1)
    assert "Module kmm/gpu: reloaded on 1 node (n1): Module kmm/other takes its place" in done.text
    assert "is deleted, but not" not in done.text
    assert done.err.startswith("compared with 1 resource of stdin; skipped 2 more")


def test_labels_that_the_inventory_lacks_are_said(form: str, tmp_path: Path) -> None:
    canary = APART.replace("card: other", "card: other, pool: canary")
    done = diff(tmp_path, form, {"n": INVENTORY}, {"a": OURS, "n": INVENTORY}, b=canary)
    assert "NodeInventory nodes does not hold the label pool" in done.text + done.err
    assert "gained" not in done.text


@pytest.mark.parametrize(
    ("manifests", "message"),
    [
        (THEIRS.replace("moduleName", "moduleNam"), "so it is not known which nodes it claims; the first error:"),
        ("kind: a\napiVersion: [\n", "theirs/b.yaml"),
    ],
)
def test_what_theirs_claims_has_to_be_known(form: str, manifests: str, message: str, tmp_path: Path) -> None:
    done = diff(tmp_path, form, {"a": OURS}, {"a": OURS}, b=manifests).ended(2)
    assert message in done.text + done.err
    assert "nothing changes" not in done.text


def test_of_several_clusters_it_is_said_which_is_meant(tmp_path: Path) -> None:
    files = {f"{name}/kustomization.yaml": "resources: [a.yaml]\n" for name in ("a", "b")}
    repository(tmp_path, files | {"a/a.yaml": OURS, "b/a.yaml": OURS, "theirs/t.yaml": THEIRS})
    plant(tmp_path, {"b/a.yaml": OURS.replace("card: gpu", "card: gpu, pool: canary")})
    several = process("krmfn", "diff", "--base", "main", "a", "b", "--against", "theirs", cwd=tmp_path).ended(2)
    assert "there are 2 clusters (a, b); name the one that it belongs to" in several.err
    named = process("krmfn", "diff", "--base", "main", "a", "b", "--against", "b=theirs", cwd=tmp_path).ended(2)
    rows, below = summaries(named)
    assert " [KRM302] (b)\n  help: let each selector" in below
    assert rows == {"a": "nothing changes, 1 unchanged", "b": "cannot be rendered, so what changes is not known"}


def test_a_cluster_that_is_gone(tmp_path: Path) -> None:
    repository(tmp_path, {"ours/a.yaml": OURS, "theirs/t.yaml": APART})
    (tmp_path / "ours" / "a.yaml").unlink()
    (tmp_path / "ours").rmdir()
    diff_of_gone = ("krmfn", "diff", "--base", "main", "ours", "--against", "theirs")
    assert "1 deleted" in process(*diff_of_gone, cwd=tmp_path).ended(1).text
    plant(tmp_path, {"theirs/t.yaml": APART.replace("moduleName", "moduleNam")})
    assert "so it is not known which nodes it claims" in process(*diff_of_gone, cwd=tmp_path).refused()


def test_stdin_is_read_once(tmp_path: Path) -> None:
    done = process("krmfn", "diff", "/dev/null", "-", "--against", "-", cwd=tmp_path, stdin=OURS).ended(2)
    assert "stdin can be read only once" in done.err


def test_a_page_with_its_base_knows_theirs_on_both_sides(tmp_path: Path) -> None:
    """What is elsewhere is read once, from stdin here, and its findings are said once."""
    repository(tmp_path, {"ours/a.yaml": OURS, "ours/n.yaml": BOTH})
    plant(tmp_path, {"ours/a.yaml": OURS.replace("card: gpu", "card: gpu, pool: main")})
    commit(tmp_path)
    live = process("krmfn", "render", "-", stdin=THEIRS).text
    done = process("krmfn", "report", "ours", "--base", "main", "--against", "-", cwd=tmp_path, stdin=live)
    done.ended(0, "compared with 1 resource of stdin\n")
    assert "1 changed" in done.text
    assert "lost by" not in done.text
