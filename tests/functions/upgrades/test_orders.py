"""What is said of a change holds in every order of KMM's pods: held against a machine that tries them all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.exclusivity.node import Node
from krmfn_functions.fleet import drivers as fleet_drivers
from krmfn_functions.fleet import moves
from krmfn_functions.fleet.coverage import coverage
from krmfn_functions.kmm.module import version_label
from krmfn_functions.upgrades import node_effects

from tests.functions.upgrades.kmm_machine import Driver, Machine, Phase, State, play
from tests.functions.upgrades.test_node_effects import EL9, EL10, drv

NAMES = ("one", "two", "three")
POOLS: tuple[dict[str, str], ...] = ({"use": "a"}, {"use": "b"}, {})
SELECTORS: tuple[dict[str, str], ...] = (*POOLS[:2], {"use": "a"})
VERSIONS = st.sampled_from(["", "", "1", "2"])
Words = dict[tuple[str, str], tuple[str, bool, bool]]
"""The effect on a node and a Module, whether it is sure, and whether a rival is named."""


@st.composite
def phases(draw: st.DrawFn) -> tuple[Phase, Phase]:
    """A fleet before and after a change of anything: selectors, images, kernel modules, labels, kernels, versions."""

    def driver(name: str, values: st.SearchStrategy[str] = VERSIONS) -> Driver:
        image = draw(st.sampled_from([f"r/{name}:1", f"r/{name}:2", f"r/{name}:1-KERNEL"]))
        kernel_module = draw(st.sampled_from(["drv", "drv", "other"]))
        return Driver(name, kernel_module, draw(st.sampled_from(SELECTORS)), image, draw(values))

    def changed(former: Driver) -> Driver:
        """Return another Module of the name; where it becomes ordered, a label that was there before is not known."""
        return driver(former.name, st.sampled_from(["1", "2"]) if former.version else st.just(""))

    def versions() -> dict[str, str]:
        """The version labels of a node; "" is none."""
        return {name: value for name in NAMES if (value := draw(VERSIONS))}

    old = [driver(name) for name in NAMES if draw(st.booleans())]
    new = [kept if draw(st.booleans()) else changed(kept) for kept in old if draw(st.integers(0, 3))]
    new += [driver(name) for name in NAMES if name not in {kept.name for kept in old} and draw(st.booleans())]
    former = {kept.name: kept.kernel_module for kept in old}
    # what KMM does of an old image after a reboot depends on how long it looks for the new one
    is_other = any(former.get(driver.name, driver.kernel_module) != driver.kernel_module for driver in new)
    kernels = [EL9] if is_other else [EL9, EL9, EL10]
    machines = [Machine(name, EL9, draw(st.sampled_from(POOLS)), versions()) for name in ("a", "b")]
    moved = [
        machine._replace(
            labels=draw(st.sampled_from([machine.labels, *POOLS])),
            kernel=draw(st.sampled_from(kernels)),
            versions=machine.versions if draw(st.booleans()) else versions(),
        )
        for machine in machines
    ]
    return (old, machines), (new, moved)


def side(phase: Phase) -> moves.Side:
    """Return the state of a phase as krmfn has it, without node exclusivity."""
    members = [
        fleet_drivers.driver(
            drv(
                driver.name,
                dict(driver.selector),
                ".",
                image=driver.image.replace("KERNEL", "$KERNEL_FULL_VERSION"),
                modprobe={"moduleName": driver.kernel_module},
                **({"version": driver.version} if driver.version else {}),
            )
        )
        for driver in phase[0]
    ]
    nodes = []
    for machine in phase[1]:
        labels = {version_label("kmm", name): value for name, value in machine.versions.items()}
        nodes.append(Node(machine.name, {**machine.labels, **labels}, machine.kernel))
    return moves.side(coverage(nodes, members, exclusive=False), members)


def words(old: Phase, new: Phase) -> Words:
    """Return what krmfn says of a change."""
    return {
        (node, effect.ref.name): (effect.word, part.is_known, effect.rival is not None)
        for effect in node_effects.of_sides(side(old), side(new))
        for part in effect.parts
        for node in part.nodes
    }


def is_there(state: State, name: str, kernel: str) -> bool:
    """Return True where KMM has loaded a Module for this kernel, and the kernel has it in truth."""
    _, loaded_for, kernel_module = dict(state.loaded).get(name, ("", "", ""))
    return loaded_for == kernel and kernel_module in state.kernel


def is_gone(state: State, name: str) -> bool:
    """Return True where KMM has it as loaded and the kernel has it not: nobody would see that."""
    loaded = dict(state.loaded)
    return name in loaded and loaded[name][2] not in state.kernel


@given(phases())
def test_what_is_said_holds_in_every_order(change: tuple[Phase, Phase]) -> None:
    """And that both run at once is said only where some order loses the driver."""
    old, new = change
    before, after = play(old, new)
    effects = words(old, new)
    former = {driver.name: driver.kernel_module for driver in old[0]}
    modules = former | {driver.name: driver.kernel_module for driver in new[0]}
    for machine in new[1]:
        ends, starts = after[machine.name], before[machine.name]
        for name in modules:
            word, is_sure, has_rival = effects.get((machine.name, name), ("none", True, False))
            had = any(name in dict(state.loaded) for state in starts)
            subject = (machine.name, name, word, sorted(map(repr, starts)), sorted(map(repr, ends)))
            if word in ("gained", "kept"):
                assert all(is_there(state, name, machine.kernel) for state in ends), subject
                assert had == (word == "kept") or not is_sure, subject
            elif word == "reloaded":
                assert had or not is_sure, subject
                is_loaded = any(name in dict(state.loaded) for state in ends)
                loaded = modules[name] if is_loaded else former.get(name)  # another Module loads the former one
                assert all(loaded in state.kernel for state in ends), subject
            elif word == "none" and not had:
                assert not any(name in dict(state.loaded) for state in ends), subject
            elif word == "lost":
                assert had or not is_sure, subject
                assert not any(is_there(state, name, machine.kernel) for state in ends), subject
            if any(is_gone(state, name) for state in ends):
                assert word == "unknown", subject
            if has_rival and len(modules) == 2:  # a third one may load it again later
                assert any(is_gone(state, other) for state in ends for other in modules), subject
