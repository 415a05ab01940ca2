"""Whether a log is the one that was asked for: a log of another node, pod or kernel module explains nothing here."""

from collections.abc import Iterable, Sequence

from krmfn.printing import some

from ..exclusivity.node import Node
from ..fleet.explanation import Answer
from ..sentence import Aside, Sentence
from .link import Subject
from .worker_log import Log, last_line, other_modules, stranger

NOT_KNOWN = Aside("not known: ", "not known")
"""How a sentence begins where nothing is known."""


def of_other_node(log: Log, node: Node) -> str:
    """Return that a log is one of another node, in a sentence; "" for one of this node, or where it does not say."""
    name = stranger(log, node.name)
    return f"the log names {name}, and not this node, so it does not count: is it the log of that one?" if name else ""


def told_apart(subjects: Sequence[Subject]) -> Sequence[Subject]:
    """Return the Modules on a node without the log for one that is loaded where the log is another one's.

    It is where another one's worker crashes, and the line that says why names no kernel module.
    """
    is_of_other = any(
        subject.diagnosis and not subject.is_done and subject.key in subject.live.workers for subject in subjects
    )
    if not is_of_other:
        return subjects
    pairs = [(subject, subject.diagnosis) for subject in subjects]
    return [
        subject._replace(log=Log()) if subject.is_done and diagnosis and not diagnosis.is_named else subject
        for subject, diagnosis in pairs
    ]


def of_nothing(subjects: Sequence[Subject]) -> Sentence:
    """Return that a log says nothing of any Module on a node; () where it says something."""
    log = subjects[0].log if subjects else Log()
    if not log or any(subject.diagnosis for subject in subjects):
        return ()
    modules = {name for subject in subjects for name in subject.driver.module.loads}
    names = some(sorted(modules), len(modules))
    if others := other_modules(log, modules):
        return (f"the log is about {some(others, len(others))}, and not about {names}",)
    return NOT_KNOWN, f"the log says nothing that is known of {names}; last: {last_line(log)}"


def joined(node: Node, answers: Iterable[Answer], doubt: str) -> list[Answer]:
    """Return the answers about a node with a doubt about the log: below the first that does not hold, else at the end.

    A node that has what is planned has it whatever the log says.
    """
    all_answers = [*answers]
    for at, answer in enumerate(all_answers if doubt else ()):
        if not answer.holds:
            all_answers[at] = answer._replace(steps=(*answer.steps[:1], doubt, *answer.steps[1:]))
            return all_answers
    return [*all_answers, Answer(True, f"{node.name}: {doubt}")] if doubt else all_answers
