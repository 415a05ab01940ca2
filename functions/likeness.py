"""Which of many known words are similar to a word, without a comparison of each two of them."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from krmfn.printing import is_similar


def similar_words(word: str, known: frozenset[str]) -> list[str]:
    """Return the known words that `krmfn.printing.is_similar` takes for similar to this one, sorted.

    Two words that differ in one letter, or in the order of two neighbours, are equal once the right letter is left out
    of each. So only words with such a rest in common are compared.
    """
    by_rest = _by_rest(known)
    candidates = {name for rest in _rests(word) for name in by_rest.get(rest, ())}
    return sorted(name for name in candidates if is_similar(word, name))


@lru_cache(maxsize=8)
def _by_rest(known: frozenset[str]) -> Mapping[str, list[str]]:
    by_rest: dict[str, list[str]] = {}
    for name in known:
        for rest in _rests(name):
            by_rest.setdefault(rest, []).append(name)
    return by_rest


def _rests(word: str) -> Iterator[str]:
    """Yield a word in small letters, and what is left of it without each of its letters."""
    word = word.lower()
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]
