"""Node exclusivity, on real and on possible nodes: conflicts, messages, brute-force oracles, the work bound."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions import exclusivity
from krmfn_functions.exclusivity import Claim, Conflict, Node, check, claim, conflicts, messages, selectors

from krmfn.resource import Place, Ref
from krmfn.results import Field, Result

A, B, C = ({"gpu": value} for value in "abc")
ALL: dict[str, str] = {}


def ref(name: str, kind: str = "DeviceConfig") -> Ref:
    group = "kmm.sigs.x-k8s.io/v1beta1" if kind == "Module" else "krmfn.dev/v1alpha1"
    return Ref(group, kind, "kmm", name)


def config(name: str, selector: Mapping[str, str], domain: str | None = "", modules: str = "drv") -> Claim:
    loaded = frozenset(modules.split())
    return Claim(ref(name), selector, domain=domain, kernel_modules=loaded, place=Place(f"{name}.yaml"))


def pool(name: str, pool: str, number: int, selector: Mapping[str, str]) -> Claim:
    field = f"spec.nodePools[{number}].nodeSelector"
    return Claim(ref(name), selector, field, "", frozenset({"drv"}), pool, Place(f"{name}.yaml"))


def module(name: str, selector: Mapping[str, str], modules: str = "drv") -> Claim:
    return Claim(ref(name, "Module"), selector, "spec.selector", None, frozenset(modules.split()))


def rules(results: Sequence[Result]) -> list[tuple[str, str]]:
    return [(result.severity, result.rule) for result in results]


@pytest.mark.parametrize(
    ("mode", "nodes", "expected"),
    [
        ("auto", None, [("error", "KRM302")]),
        ("auto", [], [("error", "KRM302")]),
        ("auto", [Node("n", {"gpu": "a", "zone": "1"})], [("error", "KRM301")]),
        ("auto", [Node("n", A), Node("m", {"zone": "1"})], [("warning", "KRM302")]),
        ("nodes", [Node("n", {"gpu": "a", "zone": "1"})], [("error", "KRM301")]),
        ("nodes", [Node("n", A)], []),
        ("nodes", None, [("error", "KRM305")]),
        ("nodes", [], [("error", "KRM305")]),
        ("selectors", None, [("error", "KRM302")]),
        ("selectors", [Node("n", A)], [("error", "KRM302")]),
        ("off", [Node("n", {"gpu": "a", "zone": "1"})], []),
        ("off", None, []),
    ],
)
def test_modes(mode: str, nodes: list[Node] | None, expected: list[tuple[str, str]]) -> None:
    assert rules(check([config("a", A), config("b", {"zone": "1"})], nodes, mode)) == expected


def test_nothing_to_decide_needs_no_nodes() -> None:
    assert check([], None, "nodes") == check([config("a", A)], None, "nodes") == []
    assert check([config("a", ALL, "gpu", "x"), config("b", ALL, "nic", "y")], None, "nodes") == []


def test_an_unknown_mode_is_a_bug_of_the_caller() -> None:
    with pytest.raises(ValueError, match="strict"):
        check([], None, "strict")


def test_all_conflicts_are_reported_errors_first() -> None:
    claims = [config("a", A), config("b", A), config("c", B), config("d", {"zone": "1"}), module("m", C, "x")]
    nodes = [Node("n1", A), Node("n2", {"gpu": "b", "zone": "1"}), Node("n3", C)]
    results = check([*claims, module("o", C, "x")], nodes)
    assert rules(results) == [*[("error", "KRM301")] * 2, ("error", "KRM304"), ("warning", "KRM302")]
    assert [result.ref for result in results] == [ref("a"), ref("c"), ref("m", "Module"), ref("d")]


# Messages. Read them aloud.

LAW = "a node can be managed by only one DeviceConfig"
MENDED = "let each selector ask for a different value of the same label key"


def message(claims: Sequence[Claim], nodes: Sequence[Node] | None = None, mode: str = "auto") -> str:
    (result,) = check(claims, nodes, mode)
    return result.text


def test_message_for_a_node() -> None:
    (result,) = check([config("b", A), config("a", A)._replace(place=Place("a.yaml", 0, 7))], [Node("gpu-1", A)])
    assert result.text == (
        "node gpu-1 is selected by DeviceConfig kmm/a (spec.nodeSelector)"
        f" and DeviceConfig kmm/b (b.yaml, spec.nodeSelector); {MENDED}: {LAW}"
    )
    assert result[1:6] == ("error", "KRM301", ref("a"), Field("spec.nodeSelector"), Place("a.yaml", 0, 7))


@pytest.mark.parametrize(
    ("number", "start"),
    [
        (1, "node n00 is selected by"),
        (2, "nodes n00 and n01 are selected by"),
        (5, "nodes n00, n01, n02, n03 and n04 are selected by"),
        (6, "6 nodes (n00, n01, n02, n03, n04 and 1 more) are selected by"),
        (1200, "1,200 nodes (n00, n01, n02, n03, n04 and 1,195 more) are selected by"),
    ],
)
def test_message_for_many_nodes(number: int, start: str) -> None:
    nodes = [Node(f"n{i:02}", {"gpu": "a", "zone": str(i % 3)}) for i in reversed(range(number))]
    claims = [config("a", A), config("b", A), config("z", {"zone": "1", "gpu": "c"})]
    assert message(claims, nodes).startswith(start)


def test_message_for_many_owners() -> None:
    assert message([config(f"c{i}", A) for i in range(9)], [Node("n", A)]) == (
        "node n is selected by DeviceConfig kmm/c0 (spec.nodeSelector), "
        + ", ".join(f"DeviceConfig kmm/c{i} (c{i}.yaml, spec.nodeSelector)" for i in range(1, 5))
        + f" and 4 more; {MENDED}: {LAW}"
    )


def test_message_without_files() -> None:
    claims = [config(name, A)._replace(place=None) for name in "ab"]
    assert message(claims, [Node("n", A)]) == (
        "node n is selected by DeviceConfig kmm/a (spec.nodeSelector) and DeviceConfig kmm/b (spec.nodeSelector); "
        f"{MENDED}: {LAW}"
    )


@pytest.mark.parametrize(
    ("selector", "nodes", "witness"),
    [
        (A, None, ", for example one with the label gpu=a"),
        ({"zone": ""}, None, ', for example one with the labels gpu=a and zone=""'),
        (
            {"zone": "1"},
            [Node("n", {})],
            " (no node in the input has such labels), for example one with the labels gpu=a and zone=1",
        ),
    ],
)
def test_message_for_selectors(selector: Mapping[str, str], nodes: list[Node] | None, witness: str) -> None:
    assert message([config("a", A), config("b", selector)], nodes) == (
        "DeviceConfig kmm/a (spec.nodeSelector) and DeviceConfig kmm/b (b.yaml, spec.nodeSelector)"
        f" can select the same node{witness}; {MENDED}: {LAW}"
    )


def test_message_for_every_node() -> None:
    assert message([config("a", ALL), config("b", ALL)]) == (
        "DeviceConfig kmm/a (spec.nodeSelector is {}, every node)"
        " and DeviceConfig kmm/b (b.yaml, spec.nodeSelector is {}, every node)"
        f" can select the same node, any node at all; {MENDED}: {LAW}"
    )


def test_message_for_one_against_many() -> None:
    claims = [config("a", A), config("b", B), config("z", ALL)]
    (result,) = check(claims, None)
    assert result.ref == ref("z")
    assert result.text == (
        "DeviceConfig kmm/z (spec.nodeSelector is {}, every node) can select the same node as each of"
        " DeviceConfig kmm/a (a.yaml, spec.nodeSelector) and DeviceConfig kmm/b (b.yaml, spec.nodeSelector),"
        f" for example one with the label gpu=a; {MENDED}: {LAW}"
    )
    many = message([*claims[:2], config("y", {"zone": "1"}), config("x", {"zone": "2"})])
    assert many.startswith("each of DeviceConfig kmm/a (spec.nodeSelector) and DeviceConfig kmm/b")
    assert " can select the same node as each of DeviceConfig kmm/x (x.yaml, spec.nodeSelector) and" in many


def test_message_for_pools() -> None:
    big, small = pool("a", "big", 0, A), pool("a", "small", 1, {"zone": "1"})
    owners = (
        "pool big of DeviceConfig kmm/a (spec.nodePools[0].nodeSelector)"
        " and pool small of DeviceConfig kmm/a (a.yaml, spec.nodePools[1].nodeSelector)"
    )
    law = f"{MENDED}: a node can be in only one pool of a config"
    assert message([small, big]) == (
        f"{owners} can select the same node, for example one with the labels gpu=a and zone=1; {law}"
    )
    assert message([small, big], [Node("n", {"gpu": "a", "zone": "1"})]) == f"node n is selected by {owners}; {law}"


def test_message_for_kernel_modules() -> None:
    by_config, by_hand = config("a", A, "", "ib-core drv x e d c"), module("m", A, "drv ib_core e c d")
    assert message([by_hand, by_config], [Node("n", A)]) == (
        "node n is selected by Module kmm/m (spec.selector) and DeviceConfig kmm/a (a.yaml, spec.nodeSelector); "
        f"remove Module kmm/m, or {MENDED}: both load the kernel modules c, d, drv, e and ib_core, but a node can "
        "load each from only one of them"
    )
    three = message([config("a", A, ""), module("m", A, "drv"), module("n", A, "drv")])
    assert f"; {MENDED}: all load the kernel module drv, but a node can load it from only one of them" in three


def test_message_for_nodes_that_are_missing() -> None:
    assert message([config("a", A), config("b", B)], None, "nodes") == (
        "node exclusivity could not be decided for 2 node selectors: the mode is `nodes`, but no Node objects"
        " are given; add them, or use mode `auto`"
    )


# Brute force. The oracle is the definition: every pair of claims, every node.

LABELS = st.dictionaries(st.sampled_from("xyz"), st.sampled_from(["", "1", "2"]), max_size=3)


@st.composite
def claim_lists(draw: st.DrawFn) -> list[Claim]:
    """Claims of up to five resources; `field` is unique, so that messages can be read back."""
    domain = {name: draw(st.sampled_from([None, "", "gpu"])) for name in "abcde"}
    drawn = draw(st.lists(st.tuples(st.sampled_from("abcde"), LABELS, st.sets(st.sampled_from(["m-1", "m_1", "n"])))))
    return [
        Claim(ref(name), selector, f"spec.f{i}", domain[name], frozenset(loaded), f"p{i}")
        for i, (name, selector, loaded) in enumerate(drawn)
    ]


NODES = st.lists(LABELS, max_size=6).map(lambda drawn: [Node(f"n{i}", labels) for i, labels in enumerate(drawn)])


def excludes(claim: Claim, other: Claim) -> str | None:
    if claim.ref == other.ref:
        return "pool"
    if claim.domain is not None and claim.domain == other.domain:
        return "driver"
    loaded = [{name.replace("-", "_") for name in item.kernel_modules} for item in (claim, other)]
    return "module" if loaded[0] & loaded[1] else None


def selects(claim: Claim, node: Node) -> bool:
    return all(key in node.labels and node.labels[key] == value for key, value in claim.selector.items())


def may_meet(claim: Claim, other: Claim) -> bool:
    return all(other.selector.get(key, value) == value for key, value in claim.selector.items())


def read_back(result: Result, claims: Sequence[Claim]) -> tuple[str, list[str], list[tuple[Claim, Claim]]]:
    """kind, nodes and pairs of claims of a message."""
    kind = {"KRM301": "driver", "KRM302": "driver", "KRM303": "pool", "KRM304": "module"}[result.rule]
    by_field = {claim.field: claim for claim in claims}
    facts = result.message.split("; ")[0]
    groups = [
        [by_field[field] for field in re.findall(r"spec\.f\d+", part)]
        for part in facts.split(" can select the same node as each of ")
    ]
    nodes = re.findall(r"n\d+", facts.split(" selected by ")[0]) if " selected by " in facts else []
    first, *second = groups
    return kind, nodes, [*(product(first, *second) if second else combinations(first, 2))]


everything_shown = patch.object(messages, "SHOWN", 1000)


def key(pair: tuple[Claim, Claim], by_claim: bool) -> frozenset[object]:
    return frozenset(claim.field if by_claim else claim.ref for claim in pair)


@given(claim_lists(), NODES)
def test_exact_pass_against_brute_force(claims: list[Claim], nodes: list[Node]) -> None:
    expected = {
        (excludes(claim, other), node.name, key((claim, other), True))
        for node in nodes
        for claim, other in combinations(claims, 2)
        if excludes(claim, other) and selects(claim, node) and selects(other, node)
    }
    reported = set()
    with everything_shown:
        results = check(claims, nodes, "nodes") if nodes else []
    by_name = {node.name: node for node in nodes}
    for result in results:
        kind, names, pairs = read_back(result, claims)
        assert result.severity == "error" and names and any(excludes(*pair) == kind for pair in pairs)
        for name, pair in product(names, pairs):
            assert all(selects(owner, by_name[name]) for owner in pair)
            if excludes(*pair) == kind:
                # By kernel module it may be reported twice: once per set of owners that share a module.
                assert kind == "module" or (kind, name, key(pair, True)) not in reported
                reported.add((kind, name, key(pair, True)))
    assert reported == expected


@given(claim_lists(), NODES)
def test_static_pass_against_brute_force(claims: list[Claim], nodes: list[Node]) -> None:
    def met(claim: Claim, other: Claim) -> bool:
        return any(selects(claim, node) and selects(other, node) for node in nodes)

    expected = {
        (kind, key((claim, other), kind == "pool"))
        for claim, other in combinations(claims, 2)
        if (kind := excludes(claim, other)) and may_meet(claim, other) and not met(claim, other)
    }
    with everything_shown:
        results = check(claims, nodes)
    reported = set()
    for result in results:
        kind, names, pairs = read_back(result, claims)
        if names:
            continue
        assert result.severity == ("warning" if nodes or kind == "pool" else "error")
        assert any(excludes(*pair) == kind for pair in pairs)
        for pair in pairs:
            assert may_meet(*pair)
            if excludes(*pair) == kind:
                assert not met(*pair)
                reported.add((kind, key(pair, kind == "pool")))
    assert reported == expected


@given(claim_lists())
def test_the_witness_is_selected(claims: list[Claim]) -> None:
    """All of a group, or the first of left and right, select the node that the message describes."""
    with everything_shown:
        results = check(claims, None)
    for result in results:
        _, _, pairs = read_back(result, claims)
        described = re.search(r"with the labels? (.*)\Z", result.message)
        labels = re.split(", | and ", described[1]) if described else []
        node = Node("w", {label[0]: label[2:].strip('"') for label in labels})
        owners = pairs[:1] if "as each of" in result.message else pairs
        assert all(selects(claim, node) for pair in owners for claim in pair)


@given(claim_lists(), NODES, st.randoms(use_true_random=False), st.sampled_from([40, 5_000_000]))
def test_order_of_input_does_not_matter(claims: list[Claim], nodes: list[Node], random: object, steps: int) -> None:
    shuffled, shuffled_nodes = list(claims), list(nodes)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    random.shuffle(shuffled_nodes)  # type: ignore[attr-defined]
    with patch.object(exclusivity, "STEPS", steps):
        assert check(claims, nodes) == check(shuffled, shuffled_nodes)


PAIRSETS = st.lists(LABELS.map(lambda labels: frozenset(labels.items())), max_size=12, unique=True)


@given(PAIRSETS)
def test_overlaps_gives_each_pair_once(sets: list[selectors.Labels]) -> None:
    reported, alone = [], []
    for first, second in selectors.overlaps(sets, selectors.Work(10**6)):
        reported += [frozenset(pair) for pair in (product(first, second) if second else combinations(first, 2))]
        alone += [] if second else first
    expected = {
        frozenset({i, j})
        for i, j in combinations(range(len(sets)), 2)
        if not any(key == other and value != rival for (key, value), (other, rival) in product(sets[i], sets[j]))
    }
    assert len(reported) == len(set(reported)) and set(reported) == expected
    assert sorted(alone) == list(range(len(sets)))


# The bound on the work, counted in steps.


class Counted(selectors.Work):
    spent = 0

    def spend(self, steps: int) -> None:
        Counted.spent += steps
        super().spend(steps)


def cost(claims: Sequence[Claim], nodes: Sequence[Node] | None, mode: str = "auto") -> tuple[int, list[Result]]:
    Counted.spent = 0
    with patch.object(exclusivity, "Work", Counted):
        results = check(claims, nodes, mode)
    return Counted.spent, results


def rack(i: int) -> Claim:
    return config(f"c{i:05}", {"rack": str(i)})


SHAPES = {
    "one label": rack,
    "two labels, in two ways": lambda i: config(f"c{i:05}", {"rack": str(i), "gpu" if i % 2 else "zone": "1"}),
    "own key and a common one": lambda i: config(f"c{i:05}", {f"key-{i}": "1", "rack": str(i)}),
    "kernel modules": lambda i: module(f"c{i:05}", {"rack": str(i)}),
    "pools": lambda i: pool(f"c{i // 2:05}", f"p{i % 2}", i % 2, {"rack": str(i)}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_good_selectors_cost_linear_work(shape: str) -> None:
    def spent(size: int) -> int:
        labels = [{"rack": str(i), "gpu": "1", "zone": "2", "host": str(i)} for i in range(2 * size)]
        steps, results = cost([*map(SHAPES[shape], range(size))], [Node(f"n{i}", all) for i, all in enumerate(labels)])
        assert results == []
        return steps

    small, large = spent(500), spent(1000)
    assert small <= 500 * 20
    assert large <= 2.1 * small


HOSTILE = {
    "all {}": lambda i: config(f"c{i:05}", ALL),
    "all keys differ": lambda i: config(f"c{i:05}", {f"key-{i}": "1"}),
    "one {}": lambda i: config(f"c{i:05}", {"rack": str(i)} if i else ALL),
    "half {}": lambda i: config(f"c{i:05}", {"rack": str(i)} if i % 2 else ALL),
    "two families": lambda i: config(f"c{i:05}", {"rack" if i % 2 else "zone": str(i)}),
}


@pytest.mark.parametrize("shape", HOSTILE)
def test_hostile_selectors_are_few_findings(shape: str) -> None:
    steps, results = cost([*map(HOSTILE[shape], range(3000))], None)
    assert 1 <= len(results) <= 2 and {result.severity for result in results} == {"error"}
    assert "KRM305" not in {result.rule for result in results}
    assert steps <= 50 * 3000


UNDECIDABLE = {
    "a key per pair": lambda i: config(f"c{i:05}", {f"key-{i // 2}": str(i % 2)}),
    "all but one label": lambda i: config(f"c{i:05}", {f"key-{b}": str(i >> b & 1) for b in range(10) if i % 7 != b}),
}


@pytest.mark.parametrize("shape", UNDECIDABLE)
def test_what_is_not_decided_is_an_error(shape: str) -> None:
    claims = [*map(UNDECIDABLE[shape], range(600))]
    with patch.object(exclusivity, "STEPS", 10_000):
        steps, results = cost(claims, None)
    assert rules(results)[-1] == ("error", "KRM305")
    start = "node exclusivity could not be decided for every pair of 600 node selectors: "
    assert results[-1].message.startswith(start)
    assert steps <= 10_000 + 20 * 600


@pytest.mark.parametrize(
    ("claims", "nodes", "mode"),
    [
        # Nodes: selectors that are tried and do not match; selectors that match, all on each node.
        (
            [config(f"c{i:03}", {f"a{i // 30}": "1", f"b{i % 30}": "1"}) for i in range(900)],
            [Node(f"n{i:03}", {f"a{i // 30}": "1", f"b{i % 30}": "1"}) for i in range(900)],
            "nodes",
        ),
        (
            [config(f"c{i:03}", {"host": str(i)} if i % 2 else ALL) for i in range(400)],
            [Node(f"n{i:03}", {"host": str(i)}) for i in range(400)],
            "nodes",
        ),
        # Selectors: few different ones, each by many claims; many claims that have met some of each other.
        ([config(f"c{i:03}", {f"key-{i % 40 // 2}": str(i % 2)}) for i in range(4000)], None, "auto"),
        (
            [config(f"c{i:03}", {f"key-{i}": "1"}) for i in range(400)],
            [Node(f"n{i:03}", {f"key-{2 * i}": "1", f"key-{2 * i + 1}": "1"}) for i in range(200)],
            "auto",
        ),
    ],
)
def test_every_kind_of_work_is_counted(claims: list[Claim], nodes: list[Node] | None, mode: str) -> None:
    with patch.object(exclusivity, "STEPS", 15_000):
        results = check(claims, nodes, mode)
        assert "KRM305" in {result.rule for result in results}
        assert results == check(claims[::-1], nodes and nodes[::-1], mode)
    assert "KRM305" not in {result.rule for result in check(claims, nodes, mode)}


def test_nodes_that_are_not_decided_are_an_error() -> None:
    """Selectors that match all nodes, on nodes that all look different: as many steps as claims times nodes."""
    claims = [config(f"c{i:03}", {f"key-{bit}": "1" for bit in range(8) if i >> bit & 1}) for i in range(256)]
    labels = {f"key-{bit}": "1" for bit in range(8)}
    nodes = [Node(f"n{i:03}", labels | {"host": str((i * 7 + i // 150) % 150)}) for i in range(300)]
    claims += [config(f"h{i:03}", {"host": str(i)}) for i in range(300)]
    with patch.object(exclusivity, "STEPS", 10_000):
        steps, results = cost(claims, nodes, "nodes")
        assert results == check(claims[::-1], nodes[::-1], "nodes")
        auto = check(claims, nodes)
    assert rules(results)[0] == ("error", "KRM301") and rules(results)[-1] == ("error", "KRM305")
    assert re.match(r"node exclusivity could not be decided for \d+ of 300 nodes: too many", results[-1].message)
    assert steps <= 10_000 + 2 * len(claims)
    # Nobody may say "no node shows it" when not all nodes were looked at.
    assert {result.severity for result in auto} == {"error"}


def test_undecided_selectors_only_warn_beside_decided_nodes() -> None:
    claims = [*map(UNDECIDABLE["a key per pair"], range(600))]
    with patch.object(exclusivity, "STEPS", 10_000):
        results = check(claims, [Node("n", {"key-1": "1"})])
    assert {result.severity for result in results} == {"warning"} and results[-1].rule == "KRM305"


def test_the_number_of_findings_is_bounded_and_the_rest_counted() -> None:
    claims = [config(f"c{i:05}", {"rack": str(i // 2)}) for i in range(2400)]
    nodes = [Node(f"n{i}", {"rack": str(i)}) for i in range(1200)]
    results = check(claims, nodes)
    assert len(results) == 1001 and results[-1].severity == "error" and results[-1].rule == "KRM306"
    rest = "1,000 conflicts about nodes are listed, 200 more are not; correct these, then run again"
    assert results[-1].text == rest
    assert " 1 more is not; " in check(claims[:2002], nodes)[-1].text


@given(claim_lists(), NODES, st.sets(st.sampled_from("abcde")))
def test_of_two_sides_every_pair_across_is_reported_and_none_of_theirs_alone(
    claims: list[Claim], nodes: list[Node], elsewhere: set[str]
) -> None:
    """Against pairs decided one by one: what is here with what is elsewhere; nothing that is elsewhere by itself."""
    claims = [claim._replace(external="theirs" if claim.ref.name in elsewhere else "") for claim in claims]
    ours, externals = ([claim for claim in claims if bool(claim.external) == side] for side in (False, True))
    results, _ = conflicts(claims, nodes)
    reported = set()
    for conflict in filter(None, map(claim.local_conflict, results)):
        first, *_ = conflict.first
        assert not first.external, "the finding stands at what is here"
        sides = product(conflict.first, conflict.second) if conflict.second else combinations(conflict.first, 2)
        reported |= {frozenset((local.ref, remote.ref)) for local, remote in sides if local.external != remote.external}
    clashing = (pair for pair in product(ours, externals) if check(pair, nodes))
    expected = {frozenset(claim.ref for claim in pair) for pair in clashing}
    assert expected <= reported
    for pair in reported:
        of_pair = [claim for claim in claims if claim.ref in pair]
        assert any(conflict.kind != "pool" for conflict in conflicts(of_pair, nodes)[0])


# Claims on one node, and claims that stand elsewhere.

LOADING = st.lists(st.sampled_from([("", "a"), ("", "b"), ("x", "a"), (None, "a"), (None, "a b")]), max_size=6)


@given(LOADING, st.data())
def test_claims_on_one_node_clash_as_each_pair_does(loading: list[tuple[str | None, str]], data: st.DataObject) -> None:
    claims = [config(str(at), A, domain, modules) for at, (domain, modules) in enumerate(loading)]
    present = data.draw(st.sets(st.sampled_from(range(len(claims))))) if claims else set[int]()
    expected = {
        number
        for pair in combinations(sorted(present), 2)
        for number in pair
        if conflicts([claims[at] for at in pair], None)[0]
    }
    rivals = claim.index_rivals(claims)(sorted(present))
    assert rivals.keys() == expected
    for number, members in rivals.items():
        others = {at for at in present - {number} if conflicts([claims[number], claims[at]], None)[0]}
        assert number in members and others <= members <= present


def test_a_conflict_is_told_of_pairs_with_a_claim_from_here() -> None:
    local, *others = config("a", A), config("b", B), config("c", ALL)
    remote, other = (claim._replace(external="x") for claim in others)
    cases = [((remote, local), (other,)), ((other,), (remote, local)), ((remote,), (other,)), ((remote, local), ())]
    assert [claim.local_conflict(Conflict("driver", *sides)) for sides in cases] == [
        *[Conflict("driver", (local,), (other,))] * 2,
        None,
        Conflict("driver", (local, remote)),
    ]


def test_claims_that_differ_only_in_their_place_have_an_order() -> None:
    twins = [config("a", A)._replace(place=Place(f"{name}.yaml")) for name in "xy"]
    assert check([*twins, config("b", A)], None) == check([*twins[::-1], config("b", A)], None)


def test_configs_with_one_selector_are_told_apart_only_for_what_is_new_on_a_node() -> None:
    # a rack that a selector names tells the nodes apart, but no zone fits: the same 50 configs meet on each of them
    many = [config(f"a{at}", A) for at in range(50)]
    racks = [config(f"b{at}", {"rack": str(at), "zone": "x"}) for at in range(20)]
    selected: list[int] = []

    def match(*args: object) -> Iterator[tuple[Sequence[object], list[str]]]:
        for selecting, names in selectors.match(*args):  # type: ignore[arg-type]
            selected.append(len(selecting))
            yield selecting, names

    with patch.object(exclusivity, "match", match):
        check([*many, *racks], [Node(f"n{at}", {**A, "rack": str(at)}) for at in range(20)])
    assert selected == [1] * 20
