"""Edit a text at the places of its nodes: values are replaced, added, removed or moved, with their comments.

`edit` reads the result back; `losses` says what would be lost by it, and refuses that.
"""

from functools import cached_property
from itertools import pairwise

from ..resource import same
from ..typed import Any
from . import anew, emit, flows, inline, losses, moves, rebuilt, remarks, rows, spans, trees
from .align import Lists, match_entries
from .inline import TooMuch
from .origins import Origin, known_below
from .positions import key_name
from .simple import is_merge

__all__ = ["Walk", "patched", "written"]


def patched(text: str, new: Any, lists: Lists | None = None, may_rewrite: bool = True) -> str | None:
    """Return `text` changed to the data `new`; None when that needs more than edits of its parts.

    `lists`: see `align.match_entries`; `may_rewrite`: an item, an entry of the list at the root, may be written anew.
    Raises WouldLose for an edit that would lose a comment of what stays, or an anchor that an alias needs.
    """
    walk = Walk(text, lists or {}, may_rewrite)
    walk.new = new
    try:
        return remarks.patched(text, walk.patches) if walk.is_edited(walk.root, walk.old, new) else None
    finally:
        walk.forget()


def written(data: Any, column: int, lists: Lists) -> str:
    """Return the text of new data, as `emit.dump` does, but what was lent from a text with its lines.

    Raises WouldLose where a comment would be lost.
    """
    names = data if isinstance(data, dict) else range(len(data))
    walk = Walk("", lists, may_rewrite=True)
    try:
        return moves.dump(walk, data, names, column)
    finally:
        walk.forget()


class Walk:
    """One walk over a node tree, next to the data that it should hold."""

    def __init__(self, text: str, lists: Lists, may_rewrite: bool, source: Any = None) -> None:
        self.lists, self.may_rewrite, self.source = lists, may_rewrite, source
        self.take(text, *trees.read(text))
        self.patches: list[tuple[int, int, str]] = []
        self.path: list[str] = []
        self.new: Any = None
        self.kept: set[int] = set()
        """The keys and entries that stay while their values change, with their comments."""
        self.anew_places: set[tuple[int, Any]] = set()
        """The places of values that are written anew: a collection's identity, and a key or an index."""
        self.moved = spans.Spans()  # where the values stood that stand elsewhere now
        self.replaced: set[tuple[int, Any]] = set()
        """The places in `rebuilt` where other values were."""
        self.held: dict[int, set[int]] = {}  # see `lent.has_left`
        self.gone: list[Any] = []  # what `rebuilt` has found gone
        self.others: dict[int, Walk] = {id(source): self}  # over all texts, by the identities of their sources

    def take(self, text: str, root: Any, old: Any = None) -> None:
        """Take the text with its node tree, and what it holds."""
        self.text, self.root, self.old, self.rows = text, root, old, rows.Rows(text, root)

    @cached_property
    def shared(self) -> Any:
        """How often each node stands in the tree that has an alias."""
        return losses.shared(self.text, self.root)

    @cached_property
    def origins(self) -> dict[int, Origin]:
        """Where each collection stood, by the identity that it had."""
        is_list = self.source.indent >= 0 if self.source else isinstance(self.new, list) and len(self.new) == 1
        is_list = is_list and self.root.id == "sequence"
        node, old = (self.root.value[0], self.old[0]) if is_list else (self.root, self.old)
        if self.source:
            return dict(known_below(self, node, old, self.source.root, self.source.lists))
        known = self.lists.get(id(self.new[0] if is_list else self.new))
        return dict(known_below(self, node, old, known.origin, self.lists)) if known and self.root else {}

    @cached_property
    def rebuilt(self) -> dict[tuple[int, Any], Origin]:
        """Where values stood that moved and were built anew."""
        return rebuilt.origins_of(self) if self.root and not self.source else {}

    @cached_property
    def went(self) -> dict[int, Origin]:
        """Where all stood that is not at its place any more, by the identities of the nodes."""
        return rebuilt.went(self.gone) if self.rebuilt or self.gone else {}

    def known(self, value: Any) -> Origin | None:
        """Return where a collection stood, by its identity; None for one that is new."""
        known = self.lists.get(id(value)) if isinstance(value, (dict, list)) else None
        return self.walk_of(known.source).origins.get(id(known.origin)) if known else None

    def walk_of(self, source: Any) -> "Walk":
        """Return the walk over the text that something was lent from; None stands for the edited text."""
        if id(source) not in self.others:
            walk = Walk(source.text.decode().replace("\r\n", "\n"), self.lists, self.may_rewrite, source)
            walk.others, walk.path = self.others, self.path
            self.others[id(source)] = walk
        return self.others[id(source)]

    def origin(self, data: Any, name: Any) -> Origin | None:
        """Return where a part of a collection stood, when that was elsewhere; None for one that is new."""
        if (id(data), name) in self.anew_places:
            return None
        return self.known(data[name]) or self.rebuilt.get((id(data), name))

    def forget(self) -> None:
        """Forget where values stood: each knows its walk, and such circles wait for Python's collector."""
        for walk in (self, *self.others.values()):
            for name in ("origins", "rebuilt", "went", "gone"):
                walk.__dict__.pop(name, None)
        self.others.clear()

    def is_edited(self, node: Any, old: Any, new: Any) -> bool:
        """Add the patches of a value; return False, and add none, where it must be written anew."""
        count, depth = len(self.patches), len(self.path)
        try:
            self.value(node, old, new)
        except TooMuch:
            del self.patches[count:], self.path[depth:]
            return False
        return True

    def value(self, node: Any, old: Any, new: Any) -> None:
        """Add the patches of a value. Raises TooMuch where it must be written anew with its key or dash."""
        if id(node) in self.shared:
            self.check_anchors(node)
        if node.id == "scalar" and not isinstance(new, (dict, list)):
            self.patches.append(inline.scalar_patch(self.text, node, new))
        elif node.id == "mapping" and isinstance(new, dict) and new and not node.flow_style:
            self.mapping(node, old, new)
        elif node.id == "sequence" and isinstance(new, list) and new and not node.flow_style:
            self.sequence(node, old, new)
        elif isinstance(new, (dict, list)) and flows.are_edited(self.text, node, old):
            piece = flows.edited(self, node, old, new)
            self.patches.append((node.start_mark.index, node.end_mark.index, piece))
        else:
            raise TooMuch

    def check_anchors(self, *nodes: Any) -> None:
        """Raise WouldLose when nodes that go hold an anchor that an alias elsewhere needs."""
        losses.check_anchors(self.text, nodes, self.shared, tuple(self.path))

    def mapping(self, node: Any, old: dict[str, Any], new: dict[str, Any]) -> None:
        """Add the patches of a mapping over lines."""
        following = pairwise([*node.value, (None, None)])
        entries = [(key_name(key), key, value, after) for (key, value), (after, _) in following if not is_merge(key)]
        names = {name for name, *_ in entries}
        merged = {key: value for key, value in old.items() if key not in names}  # what `<<` brings
        inline.check_keys(node, new, self.path)
        renamed = inline.respelled(node, new) | inline.renamed(names, new, self.lists)
        is_known = len(names) == len(entries) and old.keys() >= names
        if not is_known or not (renamed or new.keys() & names):
            raise TooMuch
        for key in merged.keys() - new.keys():
            raise losses.WouldLose("cannot be deleted: `<<` brings it; write the values out there", (*self.path, key))
        column = node.value[0][0].start_mark.column
        for name, key, value, after in entries:
            written = renamed.get(name, name)
            if written not in new:
                anew.remove(self, key, value, after)
                continue
            if written != name:
                self.patches.append((key.start_mark.index, key.end_mark.index, emit.quoted(written)))
            if not anew.is_as_it_was(self, key, old[name], new[written]):
                self.path.append(written)
                self.child((key, value), old[name], (new, written), column)
                self.path.pop()
        kept = names | {*renamed.values()} | {key for key, value in merged.items() if same(value, new[key])}
        added = [key for key in new if key not in kept or key in renamed]
        if added:
            at, piece = self.rows.end(node.value[-1]), moves.dump(self, new, added, column)
            is_ended = not at or self.text[at - 1] == "\n"
            self.patches.append((at, at, piece if is_ended else "\n" + piece.rstrip("\n")))

    def child(self, entry: tuple[Any, Any], old: Any, place: tuple[Any, str], column: int) -> None:
        """Add the patches below a key; where edits are not enough, the value is written anew behind its key."""
        (key, value), new = entry, place[0][place[1]]
        is_alias = value.start_mark.index < key.end_mark.index
        if not anew.is_taken(self, key, place) and not is_alias and self.is_edited(value, old, new):
            return
        start, end = int(key.start_mark.index), self.rows.end((key, value))
        stop = remarks.stop(self.text, key, value)
        name = self.text[start : key.end_mark.index]
        line = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        if stop < 0 or "\n" in name or line.strip(" ").startswith("?"):
            raise TooMuch
        anew.note_anew(self, value, place)
        piece = moves.dump(self, place[0], [place[1]], column, f"{name}:")[column:]
        nodes = () if is_alias else (value,)
        piece = anew.with_comment(self, nodes, (key.end_mark.index, stop, end), (old, place), piece)
        self.patches.append((start, end, piece))

    def sequence(self, node: Any, old: list[Any], new: list[Any]) -> None:
        """Add the patches of a list over lines."""
        column = remarks.column(self.text, node)
        dashes = [self.rows.dash(node, number, entry) for number, entry in enumerate(node.value)]
        if dashes != sorted({*dashes}) or dashes[0] < 0:
            raise TooMuch
        is_item = node is self.root and len(old) == len(new) == 1  # it is itself, whatever is left of it
        matches = [0] if is_item else match_entries(old, new, self.lists)
        if matches == [*range(len(old))]:  # nothing moves
            for number, entry in enumerate(old):
                self.entry(node, number, (entry, new, number), dashes)
            return
        for number in {*range(len(old))} - {*matches}:
            if not self.rows.alias(node, number):
                self.check_anchors(node.value[number])
        end, pieces, outer = self.rows.end((None, node)), list[str](), self.patches
        begins = [*map(self.rows.begin, dashes), end]
        for at, match in enumerate(matches):
            self.patches = []
            if match is None:
                pieces.append(moves.dump(self, new, [at], column))
                continue
            self.entry(node, match, (old[match], new, at), dashes)
            begin, until = begins[match : match + 2]
            piece = remarks.patched(self.text[begin:until], self.patches, begin)
            pieces.append(piece.removesuffix("\n") + "\n")
        pieces = anew.behind_dash(pieces, column) if anew.is_behind(self.text, dashes[0], column) else pieces
        is_ended = self.text.endswith("\n", 0, end) or matches[: len(old)] != [*range(len(old))]
        self.patches = [*outer, (begins[0], end, "".join(pieces) if is_ended else "".join(pieces)[:-1])]

    def entry(self, node: Any, number: int, values: tuple[Any, list[Any], int], dashes: list[int]) -> None:
        """Add the patches of an entry of a list; where edits are not enough, the entry is written anew.

        `values`: the old one, the new list, and where the new one is in that.
        """
        old, new = values[0], values[1][values[2]]
        depth, value, alias = len(self.path), node.value[number], self.rows.alias(node, number)
        if anew.is_as_it_was(self, value, old, new):
            return
        self.path += [str(number)] if node is not self.root or len(node.value) > 1 else []
        if anew.is_taken(self, value, values[1:]) or alias or not self.is_edited(value, old, new):
            if node is self.root and not self.may_rewrite:
                raise TooMuch
            self.patches.append(anew.entry(self, node, number, values, dashes))
        del self.path[depth:]
