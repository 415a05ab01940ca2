"""`diff --plan` from a dump: an upgrade that has begun goes on with the waves that are left."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.fleet import live
from krmfn_functions.formats import rollout as written
from krmfn_functions.plan import Rollout
from krmfn_functions.run import note
from krmfn_functions.upgrades.waves import rollout

from krmfn import KrmfnError, Manifest
from tests.builders import manifest
from tests.commands import process
from tests.functions.upgrades.test_node_effects import EL9, GPU, LABEL, drv, fleet, node
from tests.functions.upgrades.test_waves import CONFIG, NEW_CONFIG, ONE, TWO, compared, labelled
from tests.kmm_dumps import modules_config
from tests.trees import plant

READY = "kmm.node.kubernetes.io/kmm.drv.ready"
IMAGES = {"1": "r:1", "2": "r:2"}


def loaded(name: str, version: str) -> Manifest:
    """Return the NodeModulesConfig of a node that runs a version."""
    image = IMAGES.get(version, "")
    return modules_config(image, image, module=("kmm", "drv"), kernel=EL9, node=name)


def dumped(versions: dict[str, tuple[str, str]], module: Manifest = TWO) -> tuple[list[Manifest], live.Live]:
    """Return the nodes, each with its version label and the version that runs, and the dump that has them."""
    nodes = []
    for name, (label, runs) in versions.items():
        item = labelled(name, label) if label else node(name)
        item["metadata"]["labels"] = {**item["metadata"]["labels"], **({READY: ""} if runs else {})}
        nodes.append(item)
    configs = [loaded(name, runs) for name, (_, runs) in versions.items()]
    return nodes, live.read([*nodes, module, *configs], "dump.json")


def planned(versions: dict[str, tuple[str, str]], share: str = "10%", module: Manifest = TWO) -> Rollout | str:
    """Return the plan that goes on from a dump, or why there is none."""
    nodes, dump = dumped(versions, module)
    both = compared([ONE, *nodes], [TWO, *nodes])
    for side in both.sides or ():
        note(side, live=dump)
    try:
        return rollout(both, share)
    except KrmfnError as failure:
        return str(failure)


STANDS = {
    "a": ("2", "2"),  # done
    "b": ("2", "1"),  # on its way, or held
    "c": ("", ""),  # has lost its label
    "d": ("22", ""),  # a slip of the pen
    "e": ("1", "1"),
    "f": ("1", "1"),
}


def test_a_plan_goes_on_where_the_cluster_stands() -> None:
    plan = planned(STANDS)
    assert isinstance(plan, Rollout), plan
    assert (plan.waves, plan.done, plan.moved, plan.others) == ((("e",), ("f",)), ("a",), ("b",), ("c", "d"))
    text = written.text(plan)
    head, back = text.split("# The way back")
    assert "NEW is applied on the cluster, and the plan goes on from there: 1 run 2.\n" in head
    assert f"Without a driver until they have the label {LABEL}=2: 2 nodes: c, d.\n" in head
    first, second, last = (line for line in head.splitlines() if line.startswith("kubectl wait"))
    assert first.startswith("kubectl wait node/b --for=jsonpath='{.metadata.labels.kmm")
    assert (second.split()[2], last.split()[2]) == ("node/e", "node/f")
    assert f"#   kubectl label node a b {LABEL}=1 --overwrite\n" in back
    document = json.loads(written.as_json(plan))
    assert (document["is_begun"], document["done"], document["moved"]) == (True, ["a"], ["b"])


NAMES = [f"n{number}" for number in range(8)]


@given(number=st.integers(1, 8), size=st.integers(1, 4), over=st.integers(0, 8), late=st.integers(0, 2))
def test_what_is_left_of_a_plan_is_the_plan_of_what_is_left(number: int, size: int, over: int, late: int) -> None:
    """Play some waves, let the last ones not be through, and ask again: the same waves follow."""
    names = NAMES[:number]
    start = planned(dict.fromkeys(names, ("1", "1")), str(size))
    assert isinstance(start, Rollout), start
    gone = [name for wave in start.waves[:over] for name in wave]
    slow = gone[len(gone) - late :] if late else []
    now = {name: state(name, gone, slow) for name in names}
    plan = planned(now, str(size))
    if len(gone) == number and not slow:
        assert plan == f"no plan: all {number} nodes run version 2 of Module kmm/drv already"
        return
    assert isinstance(plan, Rollout), plan
    assert plan.waves == start.waves[over:]
    assert plan.done == tuple(name for name in gone if name not in slow)
    assert plan.moved == tuple(slow)


def state(name: str, gone: Collection[str], slow: Collection[str]) -> tuple[str, str]:
    """Return the label of a node and the version that it runs."""
    return ("2" if name in gone else "1", "2" if name in gone and name not in slow else "1")


def test_a_cluster_that_has_not_taken_the_change_begins_at_the_beginning() -> None:
    plan = planned(dict.fromkeys(["a", "b"], ("1", "1")), module=ONE)
    assert isinstance(plan, Rollout), plan
    assert (plan.is_begun, plan.waves) == (False, (("a",), ("b",)))
    assert "Apply NEW first" in written.text(plan)


def test_a_third_version_on_the_cluster_is_no_state_of_this_upgrade() -> None:
    answer = planned({"a": ("1", "1")}, module=drv(version="3", image="r:3"))
    assert answer == (
        "no plan: Module kmm/drv has version 3 on the cluster, neither 1 nor 2; compare with what is synced there"
    )


def test_nodes_that_the_module_does_not_select_have_not_gone_over() -> None:
    nodes, dump = dumped({"a": ("1", "1"), "z": ("2", "2")})
    other = [{**item, "metadata": {**item["metadata"], "labels": {LABEL: "2"}}} for item in nodes[1:]]
    both = compared([ONE, nodes[0], *other], [TWO, nodes[0], *other])
    for side in both.sides or ():
        note(side, live=dump)
    plan = rollout(both)
    assert (plan.waves, plan.done, plan.moved) == ((("a",),), (), ())


@pytest.mark.parametrize("has_configs", [True, False])
def test_the_command_takes_a_dump(has_configs: bool, tmp_path: Path) -> None:
    """Without NodeModulesConfigs the label that says which version is loaded decides."""
    ready = {"kmm.node.kubernetes.io/kmm.drv.version.ready": "2", READY: ""}
    nodes = [
        labelled("n0", "2", labels={**GPU, **ready}),
        labelled("n1", "2"),
        labelled("n2"),
    ]
    plant(tmp_path, {"old/dc.yaml": CONFIG, "new/dc.yaml": NEW_CONFIG})
    inventory = fleet(*(labelled(f"n{number}") for number in range(3)))
    plant(tmp_path, {"old/nodes.yaml": inventory, "new/nodes.yaml": inventory})
    image = f"r.example.com/drv:2-{EL9}"
    module = {**manifest("kmm.sigs.x-k8s.io/v1beta1", "Module", "drv")}
    module["spec"] = {"moduleLoader": {"container": {"version": "2"}}}
    config = modules_config(image, image, module=("kmm", "drv"), kernel=EL9, node="n0")
    dump = [*nodes, module, *([config] if has_configs else [])]
    args = ("old", "new", "--plan", "--live", "-")
    done = process("krmfn", "diff", *args, cwd=tmp_path, stdin=json.dumps(dump)).ended(1)
    commands = [line.strip() for line in done.text.splitlines() if line.strip().startswith("kubectl")]
    assert commands[0].startswith("kubectl wait node/n1 ")
    assert commands[1] == f"kubectl label node n2 {LABEL}=2 --overwrite"
    assert len(commands) == 3
