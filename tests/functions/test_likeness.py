"""The words that are similar to one are found among many without a comparison of each two."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.likeness import similar_words

from krmfn.printing import is_similar
from tests.call_counts import call_count

WORDS = st.text("abAB", max_size=5)


@given(WORDS, st.frozensets(WORDS))
def test_the_same_words_as_a_comparison_of_each_finds(word: str, known: frozenset[str]) -> None:
    assert similar_words(word, known) == sorted(name for name in known if is_similar(word, name))


def test_twice_the_words_and_questions_are_twice_the_work() -> None:
    def calls(number: int) -> int:
        known = frozenset(f"policy-{at:06}-{at % 7}" for at in range(0, 100 * number, 100))
        similar, count = call_count(lambda: [similar_words(f"x{name}", known) for name in known])
        assert all(len(names) == 1 for names in similar)
        return count

    assert calls(400) < 2.5 * calls(200)
