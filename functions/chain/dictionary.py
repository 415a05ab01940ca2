"""What is known of a word that a person has seen in the output of kubectl, of a log, of KMM or of `why`."""

import re
from collections.abc import Iterator, Mapping

from krmfn.typed import NamedTuple

from .incidents import INCIDENTS
from .kernel_words import WORDS


class Known(NamedTuple):
    """What is known of a word."""

    sense: str
    """The word, and what it means."""
    facts: Mapping[str, str]
    """What else, by its label."""

    def lines(self) -> list[str]:
        """Return the facts, a line each."""
        return [f"  {label}: {text}" for label, text in self.facts.items()]


def of_word(word: str) -> Iterator[Known]:
    """Yield what is known of a word that a person has seen: an incident, or a sentence of the kernel.

    The word may be the name of a link, or a sentence that has a known word in it, such as a line of kubectl or `why`.
    """
    lower = word.lower()
    for incident in INCIDENTS:
        if any(_is_seen(known, word) for known in incident.words) or lower == incident.link:
            facts = {"link": incident.link, "why says": incident.reason, "type": incident.command}
            yield Known(f"{incident.words[0]}: {incident.sense}", facts)
    for entry in WORDS:
        if any(sign in lower or (" " in lower and lower in sign) for sign in entry.signs):
            yield Known(f"{word}, in a worker's log: {entry.sense}", {"do": entry.remedy})


def _is_seen(known: str, text: str) -> bool:
    """Return True for a text that is a known word, or a sentence with it; `"..."` in it is any name, or none."""
    pattern = rf"(?<![\w-]){re.escape(known)}(?![\w-])".replace(r'"\.\.\."\ ', r"(?:\S+ )?")
    seen = re.search(pattern, text, re.IGNORECASE)
    return seen is not None and (" " in text or seen[0] == text)


def words() -> list[str]:
    """Return every word that `of_word` knows, but for sentences of the kernel."""
    return [word for incident in INCIDENTS for word in incident.words]
