"""Scalars that went from one item to another: each takes its comments and its spelling along, or the edit is refused.

A scalar has no identity that lasts, as equal lines of a list may share one object; so what items have lost is compared
with what others have got, once, when the list is written. Within an item `yamltext.rebuilt` does the same.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator

from . import aliased, itemtext, spelling
from .departures import arrived, common, displaced, had, lost, without
from .item import Item
from .spelling import Standing, standing_of
from .strays import Stray, got, is_new, last_text, losing
from .yamltext import align, losses, replaced

__all__ = ["carry"]


def carry(items: list[Item], before: Iterable[Item]) -> None:
    """Write the comments of scalars that went from one item to another; `before` are the items as they came.

    Raises Refused where there is no line for a comment, and where several equal ones went: nobody knows which is which.
    """
    losers, removed = losing(items, before)
    if not removed and not losers:
        return
    carried: set[int] = set()
    getters = [item for item in items if itemtext.has_changed(item) or is_new(item)]
    aliased.refuse(losers, getters)
    fresh = {id(item): arrived(item, carried) for item in getters}
    if not any(fresh.values()):
        return
    gone = {id(item): [*lost(item, carried)] for item in losers}
    direct = Counter(align.text_of(stray.value) for strays in gone.values() for stray in strays if not stray.is_part)
    for item in (item for item in losers if id(item) in fresh):
        gone[id(item)], fresh[id(item)] = _without_moved(item, gone[id(item)], fresh[id(item)], direct)
    went = [stray for strays in gone.values() for stray in strays]
    for item in removed:
        went += (stray._replace(is_removed=True) for stray in had(item, carried))
    for (source, target), how in _moves(went, [stray for strays in fresh.values() for stray in strays]):
        _write(source, target, how)


def _moves(went: list[Stray], come: list[Stray]) -> list[tuple[tuple[Stray, Stray], Standing]]:
    """Return what went with what has come of it, and how it stood, before anything is written. Raises Refused."""
    moves = list[tuple[tuple[Stray, Stray], Standing]]()
    while went and come:
        pairs = [*_pairs(went, come)]
        targets = {id(target) for _, target in pairs}
        come = [stray for stray in come if id(stray) not in targets]
        latest = [(pair, standing_of(pair[0])) for pair in pairs]
        # whose comments make way for others went from its place, too
        onto = [target for (_, target), how in latest if how.has_comments]
        went = [target.former._replace(parts=target.parts) for target in onto if target.former]
        moves += latest
    return [move for move in moves if any(move[1])]


def _without_moved(
    item: Item, gone: list[Stray], fresh: list[Stray], direct: Counter[str]
) -> tuple[list[Stray], list[Stray]]:
    """Return both without what went from a place of the item and came at another one of it, with its comments.

    `direct`: what went by itself, of all items. Where that is from another one, what went as a part is no reason.
    """
    content, numbers = item.content, Counter(align.text_of(stray.value) for stray in gone if not stray.is_part)
    others = {text for text, number in direct.items() if number > numbers[text]}
    earlier = [stray for stray in gone if stray.is_earlier or (stray.is_part and align.text_of(stray.value) in others)]
    known = {id(stray) for stray in earlier}
    latest = [stray for stray in gone if id(stray) not in known]
    source = last_text(content)
    come = fresh if content.first is source else [*got(item, source, set())]
    moved = common(latest, come)
    latest += displaced(latest, come, source.text.decode()) if source else []
    all_moved = sum((departure.moved for departure in content.departures), moved)
    return [*earlier, *without(latest, moved)], fresh if is_new(item) else [*without(fresh, all_moved)]


def _pairs(went: Iterable[Stray], come: Iterable[Stray]) -> Iterator[tuple[Stray, Stray]]:
    """Yield what went with what has come of it. Raises Refused."""
    sources, targets = defaultdict[str, list[Stray]](list), defaultdict[str, list[Stray]](list)
    for strays, by_text in ((went, sources), (come, targets)):
        for stray in strays:
            by_text[align.text_of(stray.value)].append(stray)
    for text in filter(sources.__contains__, targets):  # in the order of the list
        new, onto = ([stray for stray in targets[text] if stray.is_onto is is_onto] for is_onto in (False, True))
        matches = [*_matched(sources[text], new)]
        moved = {id(source) for source, _ in matches}
        yield from matches
        yield from _matched([source for source in sources[text] if id(source) not in moved], onto)


def _matched(sources: list[Stray], targets: list[Stray]) -> Iterator[tuple[Stray, Stray]]:
    """Yield pairs of equal scalars: the same object, else of the same key or of items of one name, else the only ones.

    Others are plain data. Raises Refused where nobody knows which of those that went is there, or where it is.
    """
    for trait in (_object_and_name, _object_and_item, _object, _name_and_item, _name, _item):
        by_trait = _by_trait(trait, sources, targets)
        rest, used = list[Stray](), set[int]()
        for target in targets:
            if same_trait := by_trait.get(trait(target)):
                used.add(id(same_trait[0]))
                yield same_trait.popleft(), target
            else:
                rest.append(target)
        targets, sources = rest, [source for source in sources if id(source) not in used]
    sources = [source for source in sources if not source.is_removed or _object(source) is not None]
    if len(targets) == 1 and len(sources) == 1:
        yield sources[0], targets[0]
    elif movable := _movable(sources, targets):
        standing = [*map(standing_of, movable)]
        comment = next((how.comment or how.head for how in standing if how.comment or how.head), "")
        if len({*standing}) == 1 and len(targets) <= len(movable):
            yield from zip(movable, targets, strict=False)
        elif comment:
            problem = losses.unknown(len(movable), f"# {comment}", len(targets))
            raise targets[0].item.at(targets[0].parts).failure(problem)


def _by_trait(
    trait: Callable[[Stray], Hashable], sources: list[Stray], targets: list[Stray]
) -> dict[Hashable, deque[Stray]]:
    """Return what went by a trait; where more came than went, only what surely moved, and in its item at all times.

    That is what went by itself, where no more came with its trait.
    """
    is_new = trait in (_name_and_item, _name, _item) and len(targets) > len(sources)
    is_new = is_new or (trait is _item and not all(source.is_part for source in sources))
    by_trait = defaultdict[Hashable, deque[Stray]](deque)
    for source in sources:
        if trait(source) is not None and not (is_new and source.is_part):
            by_trait[trait(source)].append(source)
    counts = Counter(map(trait, targets)) if is_new else Counter()
    return {name: strays for name, strays in by_trait.items() if counts[name] <= len(strays)}


def _movable(sources: list[Stray], targets: list[Stray]) -> list[Stray]:
    """Return what went and may be one of the equal scalars that have come; what a whole item had went with it.

    Where more came than went, what went with a mapping or list around it counts only if all came into one item, and the
    value is said of few (see `losses.is_said_of_many`).
    """
    sources = [source for source in sources if not source.is_removed] if targets else []
    if len(targets) <= len(sources):
        return sources
    is_set = any(target.is_onto or target.item is not targets[0].item for target in targets)
    is_set = is_set or (bool(targets) and losses.is_said_of_many(targets[0].value))
    return [source for source in sources if not (source.is_part and is_set)]


def _object(stray: Stray) -> Hashable:
    """Return the identity of a value that is made anew for strays text or line; None for a word that all share."""
    is_shared = isinstance(stray.value, (bool, int)) or not stray.value or (len(str(stray.value)) < 2)
    return None if is_shared else id(stray.value)


def _object_and_name(stray: Stray) -> Hashable:
    return _object(stray) and (id(stray.value), stray.name)


def _object_and_item(stray: Stray) -> Hashable:
    return _object(stray) and (id(stray.value), stray.item.name)


def _name(stray: Stray) -> Hashable:
    return stray.name or None if not stray.is_removed else None


def _name_and_item(stray: Stray) -> Hashable:
    return _name(stray) and (stray.name, stray.item.name)


def _item(stray: Stray) -> Hashable:
    return stray.item.name or None if not stray.is_removed else None


def _write(source: Stray, target: Stray, how: Standing) -> None:
    """Give a scalar the comments and quotes that it had. Raises Refused where it has no line for a comment."""
    content = target.item.content
    content.settle(target.item)
    spelling.spell(target, how.spelled)
    field, is_entry = target.item.at(target.parts), target.is_onto and not target.name and not target.has_moved
    for words, is_head in ((how.comment, False), (how.head, True)):
        old = field.head_comment if is_head else field.comment
        if not words and is_entry and how.has_comments:  # what is there belongs to the entry that went
            content.remark(field.parts, "", is_head)
        if not words or words in old.split("\n" if is_head else " # "):
            continue
        if old and not is_head and (replaced.is_little(target.value) or not target.is_onto or target.has_moved):
            moved = f"the comment {f'# {words}'[:40]!r} moves with its value onto {f'# {old}'[:40]!r}"
            advice = "or one of them would be lost; clear one first by `field.comment`"
            raise field.failure(f"cannot be written: {moved}, {advice}")
        lines = f"{old}\n{words}" if old and is_head and not is_entry else words
        if not content.remark(field.parts, lines, is_head):
            problem = f"the comment {f'# {words}'[:40]!r} of {source.item.ref} would be lost, since it has no line here"
            raise field.failure(f"cannot be written: {problem}; write it over lines first")
