"""What an edit writes is read back, as Kubernetes reads it and as kustomize (go-yaml v3) does, before anybody gets it.

To Kubernetes it is the data that was meant. To kustomize nothing is another word than before where nothing was edited:
a plain `yes` that becomes `true` is the same to Kubernetes alone.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from ..errors import KrmfnError
from ..resource import same
from ..typed import Any
from . import inline, losses, positions, simple
from .align import Lists, match_entries
from .positions import key_name
from .remarks import Parts
from .simple import OLD, PLAIN, differs, is_merge

__all__ = ["doubtful", "holds", "misread"]

_MARKS = str.maketrans(dict.fromkeys("[]{},:", " "))
"""What may stand beside a plain scalar."""
_Pair = tuple[Any, Any]
"""The same of the text before the edit, and of the one after it."""


def holds(text: str, data: Any, before: str = "", lists: Lists | None = None) -> bool:
    """Return True when a text is YAML of this data to Kubernetes, and nothing else has changed to kustomize.

    `before` is the text as it was, "" for none; `lists`: see `align.match_entries`.
    """
    known, root = simple.read(text), None
    if known is None:
        from . import load, values

        try:
            root = load.compose(text.encode())
            known = values.build(root)
        except KrmfnError:
            return False
    return same(known, data) and not (before and _difference((text, root), data, before, lists))


def misread(text: str, data: Any, before: str, lists: Lists | None = None) -> losses.WouldLose | None:
    """Return what kustomize would read otherwise than in the text before, though no edit says so; None for nothing.

    `text` is YAML of this data to Kubernetes. What is new in it has no word that the two read differently, but for
    those of lines that came from elsewhere, and dates, which have one spelling.
    """
    return _difference((text, _odd_tree(text)), data, before, lists)


def _difference(after: tuple[str, Any], data: Any, before: str, lists: Lists | None) -> losses.WouldLose | None:
    """Return the same for a text with its node tree; None for that of a text in which nothing is odd."""
    roots = _odd_tree(before), after[1]
    if roots == (None, None):
        return None
    from . import load, values

    words = doubtful(roots[0]), doubtful(roots[1])
    if words[1] is None:
        return losses.WouldLose("cannot be written: to kustomize a key would stand there twice; remove one of them")
    if words[0] is None:  # so one does already, and kustomize reads nothing of it
        return None
    come = words[1].keys() - words[0].keys() - _lent_words(lists)
    unmeant = sorted(word for word in come if type(simple.scalar(word)) is not simple.Timestamp)
    places: Iterator[tuple[str, Parts]] = ((word, ()) for word in unmeant)
    if words[0] and (root := load.compose(before.encode())):
        nodes = root, roots[1] or load.compose(after[0].encode())
        places = chain(_changed(nodes, (values.build(root), data), (), lists), places)
    word, parts = next(places, ("", ()))
    problem = f"to kustomize the word {word} there would become another one, which nobody edited"
    return losses.WouldLose(f'cannot be written: {problem}; put it in quotes first: "{word}"', parts) if word else None


def _lent_words(lists: Lists | None) -> set[str]:
    """Return the words that the two read differently in the texts that lent a value: their lines may come along."""
    words = set[str]()
    for source in {id(known.source): known.source for known in (lists or {}).values() if known.source}.values():
        words |= (doubtful(_odd_tree(source.text.decode())) or Counter()).keys()
    return words


def _odd_tree(text: str) -> Any:
    """Return the node tree of a text; None where Kubernetes and kustomize surely read it alike."""
    words = text.translate(_MARKS).split()
    may_differ = not OLD.isdisjoint(words) or any(word[4:5] == "-" and word[:4].isdigit() for word in words)
    if not may_differ or simple.read(text) is not None:
        return None
    from . import load

    return load.compose(text.encode())


def doubtful(root: Any) -> Counter[str] | None:
    """Return the plain scalars that kustomize (go-yaml v3) reads otherwise than Kubernetes, keys among them.

    None when a key stands twice in a mapping: as text, as kustomize compares keys.
    """
    counts: Counter[str] = Counter()
    for node in positions.nodes(root):
        if node.id == "mapping":
            names = [str(key.value) for key, _ in node.value if not is_merge(key)]
            if len({*names}) < len(names):
                return None
        elif word := _word(node):
            counts[word] += 1
    return counts


def _word(node: Any) -> str:
    """Return a plain scalar that the two read differently; "" for anything else."""
    is_odd = node is not None and node.id == "scalar" and node.tag == PLAIN and differs(node.value)
    return str(node.value) if is_odd else ""


def _changed(nodes: _Pair, data: _Pair, parts: Parts, lists: Lists | None) -> Iterator[tuple[str, Parts]]:
    """Yield each word that is another one to kustomize now, and is the same to Kubernetes, with its place."""
    (old_node, new_node), (old, new) = nodes, data
    if _is_another(old, new, lists):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        members = _members(old_node), _members(new_node)
        names = {name: str(name) for name in old} | inline.renamed({*old}, new, lists)
        for name, written in names.items():
            if written not in new:
                continue
            (old_key, old_value), (new_key, new_value) = members[0][name], members[1][written]
            if written == name and _word(old_key) != _word(new_key):
                word = _word(old_key) or _word(new_key)
                yield word, (*parts, word)
            yield from _changed((old_value, new_value), (old[name], new[written]), (*parts, written), lists)
    elif isinstance(old, list) and isinstance(new, list):
        for at, match in enumerate(match_entries(old, new, lists)):
            if match is not None:
                entries = old_node.value[match], new_node.value[at]
                yield from _changed(entries, (old[match], new[at]), (*parts, str(at)), lists)
    elif same(old, new) and _word(old_node) != _word(new_node):
        yield _word(old_node) or _word(new_node), parts


def _is_another(old: Any, new: Any, lists: Lists | None) -> bool:
    """Return True for a collection that came to the place of another one, with its own words."""
    known = (lists or {}).get(id(new))
    if known is None or known.value is not new or type(known.entries) is not type(old):
        return False
    names: Any = (old, known.entries) if isinstance(old, dict) else (range(len(old)), range(len(known.entries)))
    if [*names[0]] != [*names[1]]:
        return True
    pairs = ((old[name], known.entries[name]) for name in names[0])
    return any(not isinstance(part, (dict, list)) and not same(part, other) for part, other in pairs)


def _members(node: Any) -> dict[str, _Pair]:
    """Return key and value of what a mapping holds by its names to Kubernetes, with what `<<` brings."""
    merged: dict[str, _Pair] = {}
    entries: dict[str, _Pair] = {}
    for key, value in node.value:
        if not is_merge(key):
            entries[key_name(key)] = key, value
            continue
        for source in value.value if value.id == "sequence" else [value]:
            merged = _members(source) | merged
    return merged | entries
