"""The chain: a cluster that is well, with each link broken in each way, gives that link first, with its words."""

from __future__ import annotations

import copy
import json
import re
from random import Random
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from krmfn_functions.chain import first_line
from krmfn_functions.chain.answers import Fleet, answers
from krmfn_functions.chain.walk import LINKS
from krmfn_functions.commands.why import steps
from krmfn_functions.fleet import live, nodes
from krmfn_functions.fleet.cluster import with_consumers, workloads
from krmfn_functions.fleet.coverage import coverage
from krmfn_functions.fleet.drivers import driver
from krmfn_functions.fleet.pod_status import PodStatus

from krmfn import KrmfnError, ResourceList
from krmfn.item import Item
from krmfn.yamltext import emit
from tests.builders import manifest
from tests.functions.chain import clusters
from tests.functions.chain.clusters import OPERATOR, READY, drop, find, healthy, planned, pod, seen
from tests.functions.chain.nights import (
    APPLICATION,
    CRASH,
    FLUX,
    NIGHTS,
    OPERATOR_LOG,
    PLANS,
    REFUSED,
    VERSIONED,
    field,
    maker,
    played,
    unload_image,
)


@given(number=st.integers(1, 4), version=st.sampled_from(["", "1", "2.0"]), order=st.randoms())
def test_a_cluster_that_is_well_has_no_broken_link(number: int, version: str, order: Any) -> None:
    objects = healthy(number, version)
    order.shuffle(objects)
    for at in range(1, number + 1):
        links, first, is_fine = seen(objects, f"n{at}")
        assert (first, is_fine) == ("", True)
        assert {link.state for link in links.values()} == {"holds"}


@pytest.mark.parametrize("name", NIGHTS)
def test_a_break_is_the_first_link_with_its_words_and_its_command(name: str) -> None:
    links, first, is_fine = seen(played(name), wanted=PLANS.get(name))
    assert (first, is_fine) == (NIGHTS[name].link, False), links[first] if first else links
    assert NIGHTS[name].reason in links[first].reason
    assert links[first].command.startswith(NIGHTS[name].command)
    assert len(f"n1: kmm/simple {links[first].reason}") <= 120 + len(OPERATOR) * (first == "operator")


@given(name=st.sampled_from(sorted(NIGHTS)), number=st.integers(2, 4), order=st.randoms())
def test_neither_the_order_of_the_dump_nor_other_nodes_count(name: str, number: int, order: Any) -> None:
    objects = played(name, number)
    order.shuffle(objects)
    assert seen(objects, wanted=PLANS.get(name))[1] == NIGHTS[name].link


@given(data=st.data(), name=st.sampled_from(sorted({*NIGHTS} - {*VERSIONED, "other boot"})))
def test_of_two_breaks_the_earlier_link_is_first(data: st.DataObject, name: str) -> None:
    """A night of the pods' own, which leaves the node and KMM's objects alone, beside any other."""
    other = data.draw(st.sampled_from(["plugin crashes", "no plugin", "own DaemonSet"]))
    objects = played(name)
    if other == "plugin crashes" and not [item for item in objects if item["metadata"]["name"] == "plugin-1"]:
        return
    NIGHTS[other].edit(objects)
    order = [*LINKS]
    wanted = min(NIGHTS[name].link, NIGHTS[other].link, key=order.index)
    assert seen(objects, wanted=PLANS.get(name))[1] == wanted


def test_an_ordered_upgrade_keeps_what_runs_until_the_label_changes() -> None:
    objects = healthy(2, "2")
    wanted = copy.deepcopy(objects[0])
    container = wanted["spec"]["moduleLoader"]["container"]
    container["version"] = "3"
    container["kernelMappings"][0]["containerImage"] = "example.com/simple:3-$KERNEL_FULL_VERSION"
    objects[0] = copy.deepcopy(wanted)
    links, first, is_fine = seen(objects, wanted=wanted)
    assert (first, is_fine) == ("version", True)
    assert links[first].reason == "runs 2 until its label changes; wanted 3"
    assert links[first].command == "", "nobody has to act"
    ((_, *below),) = told(objects, wanted)
    assert below[0] == "nothing is wrong: the node waits for its turn in the ordered upgrade"
    field("Pod", "plugin-1", "status", {"phase": "Running", **CRASH})(objects)
    assert seen(objects, wanted=wanted)[1:] == ("plugin", False)


@pytest.mark.parametrize(
    ("build", "state", "words"),
    [
        ({"build": {}}, "NeedsBuilding", "has to be built"),
        ({"sign": {}}, "NeedsSigning", "has to be signed"),
        ({"build": {}, "sign": {}}, "NeedsBuilding", "has to be built"),
        ({"build": {}, "sign": {}}, "NeedsSigning", "has to be signed"),
    ],
)
def test_an_image_that_nobody_makes(build: Any, state: str, words: str) -> None:
    objects = healthy()
    objects[0]["spec"]["moduleLoader"]["container"] |= build
    unload_image(objects, state)
    links, first, _ = seen(objects, wanted=objects[0])
    assert first == "image" and words in links[first].reason and links[first].command == OPERATOR_LOG


EVENT = manifest("v1", "Event", "e")
STARTING = {
    **pod("exporter", {"krmfn.dev/daemonset": "e"}, "n1", phase="Pending"),
    "spec": {"nodeName": "n1", "nodeSelector": {READY: ""}},
}


def test_a_pod_that_starts_is_on_its_way_and_one_that_crashes_is_not() -> None:
    """Without events it is not known whether anything keeps a pod that is pending."""
    objects = [*healthy(), STARTING]
    assert seen(objects)[1:] == ("workloads", False)
    assert seen([*objects, EVENT])[1:] == ("workloads", True)
    find(objects, "Pod", "plugin-1")["status"] = {"phase": "Pending"}
    assert seen([*objects, EVENT])[1:] == ("plugin", True)
    find(objects, "Pod", "exporter")["status"] = {"phase": "Running", **CRASH}
    assert seen([*objects, EVENT])[1:] == ("workloads", False)


@pytest.mark.parametrize(
    ("night", "kind", "gap"),
    [("own DaemonSet", "Module", "modules"), ("worker crashes", "Module", "modules"), ("", "Pod", "pods")],
)
def test_what_is_not_known_is_said_with_the_kind_that_the_dump_lacks(night: str, kind: str, gap: str) -> None:
    """In the line about what is fine, and below the line about what is broken, where it stands before that."""
    objects = played(night) if night else healthy()
    drop(objects, kind)
    assert f"not known: the dump has no {gap}" in "\n".join(told(objects)[0]), told(objects)


def test_a_worker_s_exit_code_is_told() -> None:
    assert any("CrashLoopBackOff" in line and "(exit code 1)" in line for line in told(played("worker crashes"))[0])


@pytest.mark.parametrize(
    ("kind", "link"),
    [("Module", "synced"), ("NodeModulesConfig", "loaded"), ("Pod", "operator"), ("Pod", "plugin"), ("Pod", "unload")],
)
def test_a_kind_that_the_dump_lacks_is_not_known_and_named(kind: str, link: str) -> None:
    objects = healthy()
    drop(objects, kind)
    links, first, is_fine = seen(objects)
    assert (first, links[link].state) == ("", "not known")
    assert "the dump has no " in links[link].evidence[0]
    assert is_fine is (kind != "NodeModulesConfig")


ODD: tuple[Any, ...] = (None, "", "x", 7, True, [], {}, [None], [{}], {"a": None}, [["x"]])
KEPT = ("name", "namespace", "kind", "apiVersion")


def retyped(value: Any, random: Random) -> Any:
    """Return a value with some of its parts of other types; what an object is called stays."""
    if isinstance(value, list):
        return [retyped(entry, random) for entry in value]
    if not isinstance(value, dict):
        return value
    parts = {key: part if key in KEPT else retyped(part, random) for key, part in value.items()}
    return {key: part if key in KEPT or random.random() > 0.05 else random.choice(ODD) for key, part in parts.items()}


@given(data=st.data(), name=st.sampled_from(sorted(NIGHTS)), random=st.randoms())
def test_nothing_is_fine_without_the_ready_label_whatever_the_dump_lacks(
    data: st.DataObject, name: str, random: Random
) -> None:
    objects = played(name)
    labels = find(objects, "Node", "n1")["metadata"]["labels"]
    kinds = sorted({item["kind"] for item in objects} - {"Node"})
    lost = data.draw(st.sets(st.sampled_from(kinds), max_size=3))
    objects = [item for item in objects if item["kind"] not in lost]
    objects = [item if item["kind"] == "Node" else retyped(item, random) for item in objects]
    try:
        is_fine = seen(objects, wanted=healthy(2, "2" if name in VERSIONED else "")[0])[2]
    except KrmfnError:
        return
    assert not is_fine or READY in labels, json.dumps(objects)


def told(objects: list[Any], wanted: Any = None, name: str = "n1") -> list[list[str]]:
    """What `why` prints of a node: the lines of each driver."""
    dump, drivers = live.read(copy.deepcopy(objects), ""), [driver(wanted or planned())]
    texts = (emit.dump(item).encode() for item in dump.nodes.values())
    groups = coverage(nodes.read(ResourceList([Item(text, 0, len(text), -2) for text in texts])).nodes, drivers, True)
    fleet = Fleet("lab", drivers, groups, dump, {})
    at = [(node, group.outcomes) for group in groups for node in group.nodes if node.name == name]
    return [[answer.sentence, *steps(answer)] for node, outcomes in at for answer in answers(fleet, node, outcomes)]


SAME = {
    "old Module": "Module",
    "operator": "operator",
    "pull refused": "pull pod",
    "build runs": "build pod",
}
"""Nights that are the same on every node, with what the nodes share."""


@pytest.mark.parametrize("name", sorted({*NIGHTS} - {*VERSIONED}))
def test_a_driver_has_at_most_six_lines_and_its_command_is_the_second(name: str) -> None:
    for lines in told(played(name, 3), PLANS.get(name)):
        assert len(lines) <= 6 and lines[1].startswith(NIGHTS[name].command or lines[1])
        if name in SAME and name not in ("operator", "pull refused", "build runs"):
            assert f"and 2 more nodes: the same {SAME[name]}" in lines


@pytest.mark.parametrize("name", ["pull refused", "build runs", "operator"])
def test_nodes_that_wait_for_the_same_pod_are_counted(name: str) -> None:
    """Each of them as it is on the first."""
    objects = played(name, 3)
    for node in ("n2", "n3"):
        of_one = json.loads(json.dumps(objects).replace('"n1"', f'"{node}"'))
        for kind in ("Node", "NodeModulesConfig"):
            find(objects, kind, node).update(find(of_one, kind, node))
    (lines,) = told(objects)
    assert f"and 2 more nodes: the same {SAME[name]}" in lines


def test_what_keeps_what_is_being_deleted_and_what_refuses_a_module_is_told() -> None:
    objects = played("deleted, held", 1)
    holder = find(objects, "Pod", "watcher")
    holder["metadata"] |= {"deletionTimestamp": "2026-11-28T01:05:00Z", "finalizers": ["example.com/flush"]}
    words = "team/watcher is being deleted since 2026-11-28 01:05, and does not go: finalizer example.com/flush"
    assert any(words in line for line in told(objects)[0])
    (lines,) = told(played("webhook", 1), PLANS.get("webhook"))
    assert any(
        "KMM's webhook refuses Modules: the pod kmm-operator-system/kmm-operator-webhook-1" in line for line in lines
    )
    ready = pod("kmm-operator-webhook-2", {}, namespace="kmm-operator-system")
    assert "webhook" not in " ".join(told([*played("webhook", 1), ready])[0]), "one that is ready is enough"


def test_what_crashes_while_a_new_image_is_built_is_told_first() -> None:
    objects = healthy()
    wanted = copy.deepcopy(objects[0])
    mapping = wanted["spec"]["moduleLoader"]["container"]["kernelMappings"][0]
    mapping |= {"containerImage": "example.com/simple:2-$KERNEL_FULL_VERSION", "build": {}}
    objects[0] = copy.deepcopy(wanted)
    objects.append(maker("BuildImage"))
    assert seen(objects, wanted=wanted)[1:] == ("image", True)
    NIGHTS["own DaemonSet"].edit(objects)
    assert seen(objects, wanted=wanted)[1:] == ("workloads", False)


def test_of_two_daemonsets_refused_alike_the_plugin_s_is_named() -> None:
    other = copy.deepcopy(REFUSED)
    other["metadata"]["name"], other["involvedObject"]["name"] = "refused-2", "exporter"
    for objects in ([*played("no plugin is made"), other], [other, *played("no plugin is made")]):
        links, first, _ = seen(objects)
        assert first == "plugin"
        assert links[first].command == "kubectl describe daemonset -n kmm simple-device-plugin-x7k2p"


APPLIED = {"group": "kmm.sigs.x-k8s.io", "kind": "Module", "namespace": "kmm", "name": "simple"}
APPLYING = {**APPLICATION, "status": {**APPLICATION["status"], "resources": [APPLIED]}}
"""An Application that lists the Module among what it applies."""


@pytest.mark.parametrize(
    ("engine", "name"), [(APPLYING, "Application argocd/lab"), (FLUX, "Kustomization flux-system/lab")]
)
def test_a_checkout_that_the_engine_may_not_apply_is_told(engine: Any, name: str) -> None:
    """What runs is what an old checkout renders, and the engine fails to apply a newer commit: that is no all-clear."""
    objects = [*healthy(2), copy.deepcopy(engine)]
    links, first, is_fine = seen(objects)
    assert (links["synced"].state, first, is_fine) == ("not known", "", True)
    ((sentence, *_),) = told(objects)
    stranger = {**APPLICATION, "metadata": {"name": "shop", "namespace": "argocd"}}
    assert seen([*healthy(2), stranger])[0]["synced"].state == "holds", "nothing says that it applies the Module"
    assert f"is loaded: simple:1-6.1.0-1.x86_64; {name} has not applied all of Git: is this its commit?" in sentence, (
        sentence
    )


def test_a_plugin_of_which_the_dump_has_no_pod_is_not_known() -> None:
    objects = healthy(1)
    drop(objects, "Pod", "plugin-1")
    link = seen(objects)[0]["plugin"]
    assert (link.state, link.evidence) == ("not known", ("not known: no pod of its plugin is in the dump",))


NODE, MODULE = "ip-10-0-133-17.eu-west-1.compute.internal", ("accelerators", "accelerator")
LONG = {
    r"(?<![a-z])n1(?![a-z0-9])": NODE,
    r'(?<=["_/])kmm(?=["_/])|(?<=[/.])kmm(?=\.simple)': MODULE[0],
    r"example.com/(?=simple:)": f"{'x' * 30}.example.com/team-a/",
    r"(?<![a-z])simple(?![a-z0-9])": MODULE[1],
}
"""Names as long as those of a cloud, for the short ones of the nights."""


@pytest.mark.parametrize("name", sorted({*NIGHTS} - {*VERSIONED}))
def test_names_that_stand_below_are_shortened_in_a_long_first_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of the node and of the Module stay, and what is left is short; no name of a pod is lost."""
    texts = [json.dumps(played(name, 3)), json.dumps(PLANS.get(name) or planned())]
    for pattern, long in LONG.items():
        texts = [re.sub(pattern, long, text) for text in texts]
    objects, wanted = map(json.loads, texts)
    (lines,) = told(objects, wanted, NODE)
    head = f"{NODE}: {'/'.join(MODULE)}"
    assert lines[0].startswith(head) and len(lines[0]) <= len(head) + 100, lines[0]
    monkeypatch.setattr(first_line, "FITS", 1_000)
    (whole,) = told(objects, wanted, NODE)
    pods = [item["metadata"]["name"] for item in objects if item["kind"] == "Pod"]
    named = [pod for pod in pods if pod in whole[0]]
    assert all(pod in " ".join(lines) for pod in named), (whole[0], lines)


def test_another_module_is_named_where_the_module_is_not_on_the_cluster() -> None:
    """A sync alone would not load it then."""
    lines, *_ = told(played("no Module"))
    assert "Module vendor/other loads simple on this node, too; not synced yet" in lines[0], lines


@pytest.mark.parametrize("spec", [None, "text", []])
def test_a_module_without_a_spec_is_not_said_to_be_git_s(spec: object) -> None:
    """A dump that was cut, or printed with chosen columns, does not have it."""
    objects = healthy()
    module = find(objects, "Module", "simple")
    wanted = copy.deepcopy(module)
    del module["spec"]
    module |= {"spec": spec} if spec is not None else {}
    links, first, _ = seen(objects, wanted=wanted)
    assert (links["synced"].state, first) == ("not known", "")
    assert "it is not known whether it is what Git renders" in told(objects, wanted)[0][0]


EXPORTER = {
    **manifest("apps/v1", "DaemonSet", "simple-exporter", "kmm"),
    "spec": {"template": {"spec": {"nodeSelector": {READY: "", "gpu": "a"}}}},
}
"""A DaemonSet of the config, which waits for its driver."""


def refusal(words: str, at: str, **times: Any) -> Any:
    """Return the event of a DaemonSet whose pod is refused."""
    event = copy.deepcopy(REFUSED)
    event["metadata"]["name"] = f"e{at}"
    return event | {"message": words, "involvedObject": {**event["involvedObject"], "name": "simple-exporter"}, **times}


def seen_with(objects: list[Any], *consumers: Any) -> tuple[Any, str, bool]:
    """Return the chain on n1 where Git has these DaemonSets, too."""
    with_daemon_sets = with_consumers([driver(planned())], workloads(consumers))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "driver", lambda manifest: with_daemon_sets[0])
        return seen(objects)


def test_a_daemonset_of_the_config_that_makes_no_pod_is_told() -> None:
    quota = refusal(
        'pods "simple-exporter-" is forbidden: exceeded quota: q', "1", lastTimestamp="2026-11-28T01:00:00Z"
    )
    links, first, is_fine = seen_with([*healthy(), quota], EXPORTER)
    assert (first, is_fine) == ("workloads", False)
    assert links[first].reason.startswith(
        "is loaded, but its DaemonSet kmm/simple-exporter has no pod here: FailedCrea"
    )
    assert links[first].reason.endswith("has no pod here: FailedCreate: exceeded quota: q")
    assert links[first].command == "kubectl describe daemonset -n kmm simple-exporter"
    assert seen_with([*healthy(), quota])[1:] == ("", True), "no DaemonSet of Git's"
    assert seen_with(healthy(), EXPORTER)[1:] == ("", True), "nothing refuses it"


def test_a_daemonset_that_has_its_pod_or_does_not_want_one_on_the_node_is_no_break() -> None:
    quota = refusal("exceeded quota", "1")
    daemon = pod("simple-exporter-x7", {"krmfn.dev/daemonset": "e"}, "n1")
    daemon["spec"]["nodeSelector"] = {READY: "", "gpu": "a"}
    daemon["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "name": "simple-exporter"}]
    assert seen_with([*healthy(), quota, daemon], EXPORTER)[1:] == ("", True)
    other = copy.deepcopy(EXPORTER)
    other["spec"]["template"]["spec"]["nodeSelector"]["pool"] = "b"
    assert seen_with([*healthy(), quota], other)[1:] == ("", True)
    tainted = [*healthy(), quota]
    find(tainted, "Node", "n1")["spec"]["taints"] = [{"key": "team", "value": "b", "effect": "NoSchedule"}]
    assert seen_with(tainted, EXPORTER)[1] == "taints"


@pytest.mark.parametrize("key", ["lastTimestamp", "eventTime", "deprecatedLastTimestamp", "series"])
def test_the_newest_warning_of_a_daemonset_counts_in_whichever_order_they_stand(key: str) -> None:
    times = ("2026-11-28T01:00:00Z", "2026-11-28T02:00:00Z")
    values = [{"lastObservedTime": time} if key == "series" else time for time in times]
    old, new = (refusal(words, words, **{key: value}) for words, value in zip(("before", "after"), values, strict=True))
    for events in ([old, new], [new, old]):
        links, first, _ = seen_with([*healthy(), *events], EXPORTER)
        assert links[first].evidence == ("FailedCreate: after",)


@pytest.mark.parametrize("name", NIGHTS)
def test_no_link_reads_the_sentence_about_a_pod(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state decides, and the cluster's own words: Kubernetes says in words alone why a pod is stuck."""

    def judged() -> list[tuple[str, str, str, bool]]:
        links, *_ = seen(played(name), wanted=PLANS.get(name))
        return [(at, link.state, link.command, link.waits) for at, link in links.items()]

    plain = judged()
    monkeypatch.setattr(PodStatus, "sentence", lambda *_: "ghij")
    assert judged() == plain
