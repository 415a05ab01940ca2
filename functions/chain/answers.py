"""The answers of `why` about a node: for each Module the chain, its first broken link, and who else has that break."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap

from krmfn.printing import counted
from krmfn.typed import Any, NamedTuple

from ..exclusivity.node import Node
from ..fleet import explanation
from ..fleet.coverage import Group, Outcome
from ..fleet.drivers import Drivers
from ..fleet.explanation import Answer
from ..fleet.live import Live, nothing
from ..sentence import text, without
from . import log_doubts, selected, synced
from .first_line import fitted
from .link import Link, Subject, kubectl, on_the_node
from .walk import SELECTED, SYNCED, first, gaps, headline, is_fine, predicate, walk
from .worker_log import Log


class Fleet(NamedTuple):
    """A cluster as a dump shows it, with what its nodes get, and what the inventory has."""

    name: str
    drivers: Drivers
    groups: Sequence[Group]
    live: Live
    committed: Mapping[str, Node]
    """The nodes of the inventory by their names."""
    log: Log = Log()
    """The log of a worker pod on the node that is asked for, or lines of dmesg there."""


def answers(fleet: Fleet, node: Node, outcomes: Sequence[Outcome]) -> list[Answer]:
    """Return the answers about a live node, those about what it lacks first."""
    all_answers = [*_losses(fleet, node)]
    troubles = fleet.live.troubles.get(node.name, ())
    command = (kubectl("describe", "node", node.name),)
    all_answers += [Answer(False, f"{node.name}: {trouble}", command) for trouble in troubles]
    doubt = log_doubts.of_other_node(fleet.log, node)
    log = Log() if doubt else fleet.log
    subjects = [Subject(node, fleet.drivers, outcome, fleet.live, fleet.name, log) for outcome in outcomes]
    all_answers += [_answer(fleet, subject) for subject in log_doubts.told_apart(subjects)]
    if not all_answers or (len(all_answers) == len(troubles) and not outcomes):
        local = [driver for driver in fleet.drivers if driver.cluster == node.cluster]
        all_answers.append(explanation.unselected_answer(node, local, fleet.live, fleet.committed.get(node.name)))
    ordered = sorted(all_answers, key=lambda answer: answer.holds)
    return log_doubts.joined(node, ordered, doubt or text(log_doubts.of_nothing(subjects)))


def _losses(fleet: Fleet, node: Node) -> Iterator[Answer]:
    """Yield the answers about Modules that select the committed node, and not the live one."""
    committed = fleet.committed.get(node.name)
    for driver in fleet.drivers if committed else ():
        is_former = driver.cluster == node.cluster and committed and not driver.missing_labels(committed.labels)
        if is_former and driver.missing_labels(node.labels):
            other = synced.judge_selector(fleet.live, driver, fleet.name)
            link = other or selected.judge(node, driver, fleet.live, [*fleet.committed.values()])
            place = SYNCED if other else SELECTED
            name = f"{driver.module.ref.namespace}/{driver.module.ref.name}"
            yield _with_steps(f"{node.name}: {name} {link.reason}", False, {place: link}, place, "")


def _answer(fleet: Fleet, subject: Subject) -> Answer:
    """Return the answer about a Module that selects a node."""
    links = walk(subject)
    name, reason = headline(links), predicate(subject, links)
    colon = ":" if name and links[name].has_subject else ""
    others = _others(fleet, subject, links[name]) if name else ""
    if (diagnosis := subject.diagnosis) and name not in ("worker", "unload"):
        reason = (*reason, f"; the log says that {diagnosis.word.sense}")
    sources = [links[name]] if name else [*links.values()]
    below = " ".join(line for link in sources for line in (link.command, *link.evidence))
    sentence = fitted(subject, f"{subject.node.name}: {'/'.join(subject.module)}{colon} ", reason, below)
    return _with_steps(sentence, is_fine(subject, links), links, name, others)


def _with_steps(sentence: str, holds: bool, links: Mapping[str, Link], name: str, others: str) -> Answer:
    """Return an answer: the command and the evidence of the broken link that is told stand below the sentence."""
    link = links[name] if name else None
    steps = [link.command] if link and link.command else []
    steps += [others] if others else []
    first_name = first(links)
    before = [known for key, known in links.items() if [*links].index(key) < [*links].index(name)] if name else []
    steps += [gap] if (gap := gaps(before)) else []
    if link and name != first_name:
        steps += [f"also, the Module {links[first_name].reason}", *links[first_name].evidence[:2]]
    steps += link.evidence if link else [line for known in links.values() for line in known.evidence]
    data, lines = [_record(*pair) for pair in links.items()], tuple(starmap(_line, links.items()))
    return Answer(holds, sentence, tuple(steps), first_name, tuple(data), name, lines)


def _record(name: str, link: Link) -> dict[str, Any]:
    """Return a link as JSON data."""
    texts = {"evidence": "; ".join(link.evidence), "reason": link.reason, "command": link.command}
    return {"link": name, "state": link.state, **texts}


def _line(name: str, link: Link) -> str:
    """Return a link as a line: its state, and the evidence or what nothing is known for."""
    evidence = link.gap or "; ".join(link.evidence)
    return f"{name}: {link.state}{': ' if evidence else ''}{evidence}"


def _others(fleet: Fleet, subject: Subject, link: Link) -> str:
    """Return on how many other nodes the same thing breaks the chain of the Module; "" for none."""
    if not link.cause:
        return ""
    names = [
        node.name
        for group in fleet.groups
        for outcome in group.outcomes
        if outcome.driver == subject.outcome.driver
        for node in group.nodes
        if node.name != subject.node.name
        and _cause(subject._replace(node=node, outcome=outcome, log=Log())) == link.cause
    ]
    return f"and {counted(len(names), 'more node')}: the same {link.shared}".rstrip() if names else ""


def _cause(subject: Subject) -> str:
    links = walk(subject)
    name = headline(links)
    return links[name].cause if name else ""


def by_log(node: Node, drivers: Drivers, outcomes: Sequence[Outcome], log: Log) -> Iterator[Answer]:
    """Yield what a log says of the Modules that select a node, where no dump says how they are.

    One that nobody knows gives an answer that does not hold, too: it is not known why a Module is not loaded.
    """
    if doubt := log_doubts.of_other_node(log, node):
        yield Answer(False, f"{node.name}: not known: {doubt}")
        return
    is_known, subjects = False, list[Subject]()
    for outcome in outcomes:
        subject = Subject(node, drivers, outcome, nothing(), "", log)
        subjects.append(subject)
        if diagnosis := subject.diagnosis:
            is_known = True
            steps = (on_the_node(subject, diagnosis), diagnosis.word.remedy, f"the log: {diagnosis.line}")
            yield Answer(False, f"{node.name}: {'/'.join(subject.module)} is not loaded: {diagnosis.word.sense}", steps)
    if not is_known:
        doubt = text(without(log_doubts.of_nothing(subjects), log_doubts.NOT_KNOWN.about))
        yield Answer(False, f"{node.name}: {log_doubts.NOT_KNOWN}{doubt}")
