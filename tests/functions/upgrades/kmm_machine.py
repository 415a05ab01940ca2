"""KMM's controllers as a small machine that tries every order of the pods which run at the same time.

It plays two phases with plain facts and knows nothing of krmfn. The worker pods of different Modules on one node run
in any order. An image that KMM has not looked for yet is known when all pods have ended that do not need it.
Source: KMM main (de3f8c9), internal/controllers/module_reconciler.go (what is wanted), mic_reconciler.go (images),
node_label_module_version_reconciler.go (a version label that moves), nmc_reconciler.go and internal/worker/worker.go
(pods; modprobe loads nothing where the kernel has the module).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

Labels = Mapping[str, str]
_ROUNDS = 3
"""More than any change needs: what can be done at once, what needs an image, nothing."""


class Driver(NamedTuple):
    """A Module."""

    name: str
    kernel_module: str
    selector: Labels
    image: str
    """`KERNEL` in it stands for the node's kernel."""
    version: str = ""

    def selects(self, machine: Machine) -> bool:
        """Return True for a node with all labels of the selector."""
        return self.selector.items() <= machine.labels.items()

    def is_for(self, machine: Machine) -> bool:
        """Return True for a node that keeps what it has of the Module; an ordered one asks for some version label."""
        return self.selects(machine) and (not self.version or self.name in machine.versions)

    def entry(self, machine: Machine) -> Entry:
        """Return what KMM wants on a node."""
        return self.image.replace("KERNEL", machine.kernel), machine.kernel, self.kernel_module


Entry = tuple[str, str, str]
"""An image, the kernel that it is loaded for, and the kernel module."""


class Machine(NamedTuple):
    """A node in one phase."""

    name: str
    kernel: str
    labels: Labels
    versions: Labels = {}  # noqa: RUF012 - read only
    """The values of the version labels, by the Modules' names."""


class State(NamedTuple):
    """What is on a node: in the spec and the status of its NodeModulesConfig, and in its kernel."""

    wanted: frozenset[tuple[str, Entry]] = frozenset()
    loaded: frozenset[tuple[str, Entry]] = frozenset()
    kernel: frozenset[str] = frozenset()
    """The kernel modules that are loaded in truth."""
    stale: frozenset[str] = frozenset()
    """The Modules in the status that were loaded before a reboot."""


Phase = tuple[Sequence[Driver], Sequence[Machine]]
Images = dict[str, set[str]]
"""The images that KMM has looked for, by Module."""


def play(old: Phase, new: Phase) -> tuple[dict[str, set[State]], dict[str, set[State]]]:
    """Return by node in which states the first phase can end, and the second one after each of these."""
    looked_for: Images = {}
    before = {machine.name: _ends({State()}, old[0], machine, None, looked_for) for machine in old[1]}
    looked_for = _images(old)
    former = {machine.name: machine for machine in old[1]}
    after = {
        machine.name: _ends(before.get(machine.name, {State()}), new[0], machine, former.get(machine.name), looked_for)
        for machine in new[1]
    }
    return before, after


def _images(phase: Phase) -> Images:
    """Return the images of all nodes that the Modules of a phase select."""
    drivers, machines = phase
    return {
        driver.name: {driver.entry(machine)[0] for machine in machines if driver.selects(machine)} for driver in drivers
    }


def _ends(
    states: set[State],
    drivers: Sequence[Driver],
    machine: Machine,
    former: Machine | None,
    looked_for: Images,
) -> set[State]:
    """Return all states in which the rounds of a phase can end."""
    states = {_started(state, drivers, machine, former) for state in states}
    known = {name: set(images) for name, images in looked_for.items()}
    for _ in range(_ROUNDS):
        states = {end for state in states for end in _settled(_scheduled(state, drivers, machine, known))}
        for driver in drivers:
            known.setdefault(driver.name, set()).add(driver.entry(machine)[0])
    return states


def _started(state: State, drivers: Sequence[Driver], machine: Machine, former: Machine | None) -> State:
    """Return the state at the beginning of a phase: after a reboot, and without Modules whose version label moved.

    A reboot empties the kernel, and KMM sees it by the node's boot id.
    """
    if former and former.kernel != machine.kernel:
        state = state._replace(kernel=frozenset(), stale=frozenset(name for name, _ in state.loaded))
    for driver in drivers:
        moved = driver.version and former and former.versions.get(driver.name) != machine.versions.get(driver.name)
        if moved:
            state = state._replace(wanted=frozenset(pair for pair in state.wanted if pair[0] != driver.name))
    return state


def _scheduled(state: State, drivers: Sequence[Driver], machine: Machine, known: Images) -> State:
    """Return the state after the Module reconciler: what is wanted on the node."""
    wanted = dict(state.wanted)
    present = {driver.name: driver for driver in drivers}
    for name in [*wanted]:
        if name not in present or not present[name].is_for(machine):
            del wanted[name]
    for driver in drivers:
        is_chosen = not driver.version or machine.versions.get(driver.name) == driver.version
        entry = driver.entry(machine)
        if driver.selects(machine) and is_chosen and entry[0] in known.get(driver.name, ()):
            wanted[driver.name] = entry
    # what was loaded before a reboot and is not wanted any more is forgotten without a pod
    loaded = frozenset(pair for pair in state.loaded if pair[0] not in state.stale or pair[0] in wanted)
    stale = state.stale & frozenset(name for name, _ in loaded)
    return state._replace(wanted=frozenset(wanted.items()), loaded=loaded, stale=stale)


def _settled(state: State) -> set[State]:
    """Return the states without a pod that has to run, for each order in which the pods can run."""
    ends, pending, seen = set[State](), [state], {state}
    while pending:
        present = pending.pop()
        results = {run(present, name) for run, name in _pods(present)}
        if not results:
            ends.add(present)
        pending += results - seen
        seen |= results
    return ends


def _pods(state: State) -> Iterator[tuple[Callable[[State, str], State], str]]:
    """Yield the next worker pod of each Module; one that is loaded otherwise is unloaded first."""
    wanted, loaded = dict(state.wanted), dict(state.loaded)
    for name in sorted({*wanted, *loaded}):
        if name not in wanted:
            yield _unload, name
        elif name not in loaded or name in state.stale:
            yield _load, name
        elif wanted[name] != loaded[name]:
            yield _unload, name


def _load(state: State, name: str) -> State:
    entry = dict(state.wanted)[name]
    others = frozenset(pair for pair in state.loaded if pair[0] != name)
    return State(state.wanted, others | {(name, entry)}, state.kernel | {entry[2]}, state.stale - {name})


def _unload(state: State, name: str) -> State:
    """Return the state without a Module: its unloader takes away what the Module was loaded with."""
    kernel_module = dict(state.loaded)[name][2]
    others = frozenset(pair for pair in state.loaded if pair[0] != name)
    return State(state.wanted, others, state.kernel - {kernel_module}, state.stale - {name})
