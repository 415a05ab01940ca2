"""A rule for readers: text for a terminal, Markdown for pages and code scanning."""

from collections.abc import Callable, Sequence

from ..rule import Rule

Rules = Callable[[], Sequence[Rule]] | None
"""Returns all rules that findings may name; None where findings are not explained."""


def text(rule: Rule, notes: Sequence[str] = (), width: int = 80) -> str:
    """Return the rule, its bad and its good example, the remedy and the notes, in lines of a terminal's width."""
    from functools import partial
    from textwrap import fill, indent

    wrap = partial(fill, width=width, break_on_hyphens=False, break_long_words=False)
    parts = [
        wrap(f"{rule.id}: {rule.sentence}", subsequent_indent=" " * (len(rule.id) + 2)),
        f"Bad:\n\n{indent(rule.bad.rstrip(), '    ')}",
        f"Good:\n\n{indent(rule.good.rstrip(), '    ')}",
        *map(wrap, (rule.remedy, *notes)),
    ]
    return "\n\n".join(parts) + "\n"


def markdown(rule: Rule) -> str:
    """Return the bad and the good example and the remedy; the sentence is the heading's or the table's."""
    bad, good = (f"```yaml\n{example.rstrip()}\n```" for example in (rule.bad, rule.good))
    return f"Bad:\n\n{bad}\n\nGood:\n\n{good}\n\n{rule.remedy}\n"


def page(rule_id: str) -> str:
    """Return the entry of a rule in docs/reference/rules: a page for each group, and its heading."""
    group = rule_id[:3] if rule_id.startswith("KMM") else rule_id[:4]
    return f"{group}.md#{rule_id.lower()}"


def sentence(rule: Rule) -> str:
    """Return what must hold as a sentence: with a full stop, and a capital unless it begins with a field's name."""
    first = rule.sentence.partition(" ")[0]
    text = rule.sentence if first != first.lower() else f"{first.capitalize()}{rule.sentence[len(first) :]}"
    return f"{text}."
