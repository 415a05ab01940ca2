"""Edit a text at the places of its nodes: values are replaced, added, removed or moved, with their comments.

`edit` reads the result back; `losses` says what would be lost by it, and refuses that.
"""

from functools import cached_property
from itertools import pairwise

from ..resource import same
from ..typed import Any
from . import emit, inline, linetree, losses, moves, remarks, rows, simple
from .align import Lists, match_entries
from .inline import TooMuch
from .positions import key_name
from .simple import is_merge

__all__ = ["patched"]


def patched(text: str, new: Any, lists: Lists | None = None, may_rewrite: bool = True) -> str | None:
    """Return `text` changed to the data `new`; None when that needs more than edits of its parts.

    `lists`: see `align.match_entries`; `may_rewrite`: an item, an entry of the list at the root, may be written anew.
    Raises WouldLose for an edit that would lose a comment of what stays, or an anchor that an alias needs.
    """
    root: Any
    old = simple.read(text)
    if old is not None:
        root = linetree.tree(text)
    else:
        from . import load, values

        root = load.compose(text.encode())
        old = values.build(root)
    walk = _Walk(text, root, lists, may_rewrite)
    walk.values = (old, new)
    return remarks.patched(text, walk.patches) if walk.is_edited(root, old, new) else None


class _Walk:
    """One walk over a node tree, next to the data that it should hold."""

    def __init__(self, text: str, root: Any, lists: Lists | None, may_rewrite: bool) -> None:
        self.text, self.root, self.lists, self.may_rewrite = text, root, lists, may_rewrite
        self.rows = rows.Rows(text, root)
        self.patches: list[tuple[int, int, str]] = []
        self.path: list[str] = []
        self.values: tuple[Any, Any] = (None, None)
        self.kept_keys: set[int] = set()
        """The keys whose values are written anew: their comments stay where they are."""
        self.anew_values: set[int] = set()
        """The values that are written anew at their own place."""
        self.moved: list[tuple[int, int]] = []
        """Where the values stood that stand elsewhere now."""

    @cached_property
    def shared(self) -> Any:
        """How often each node stands in the tree that has an alias."""
        return losses.shared(self.text, self.root)

    @cached_property
    def origins(self) -> dict[int, moves.Origin]:
        """Where each collection stood, by the identity that it had."""
        old, new = self.values
        is_list = isinstance(new, list) and len(new) == 1 and self.root.id == "sequence"
        node, old, new = (self.root.value[0], old[0], new[0]) if is_list else (self.root, old, new)
        known = (self.lists or {}).get(id(new))
        return dict(moves.origins(self, node, old, known.origin)) if known else {}

    def origin(self, value: Any) -> moves.Origin | None:
        """Return where a collection stood; None for one that is new."""
        known = (self.lists or {}).get(id(value)) if id(value) not in self.anew_values else None
        return self.origins.get(id(known.origin)) if known and value else None

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
        elif old and getattr(node, "flow_style", False) and isinstance(new, (dict, list)):
            piece = inline.flow(self, node, old, new)
            self.patches.append((node.start_mark.index, node.end_mark.index, piece))
        else:
            raise TooMuch

    def check_anchors(self, *nodes: Any) -> None:
        """Raise WouldLose when nodes that go hold an anchor that an alias elsewhere needs."""
        losses.check_anchors(self.text, nodes, self.shared, tuple(self.path))

    def mapping(self, node: Any, old: dict[str, Any], new: dict[str, Any]) -> None:
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
                self.remove(key, value, after)
                continue
            if written != name:
                self.patches.append((key.start_mark.index, key.end_mark.index, emit.quoted(written)))
            if not same(old[name], new[written]):
                self.path.append(written)
                self.child(key, value, old[name], new[written], column)
                self.path.pop()
        kept = names | {*renamed.values()} | {key for key, value in merged.items() if same(value, new[key])}
        added = {key: value for key, value in new.items() if key not in kept or key in renamed}
        if added:
            at, piece = self.rows.end(node.value[-1]), moves.dump(self, added, column)
            is_ended = not at or self.text[at - 1] == "\n"
            self.patches.append((at, at, piece if is_ended else "\n" + piece.rstrip("\n")))

    def remove(self, key: Any, value: Any, after: Any) -> None:
        """Add the patch that removes a key; behind a dash the next key takes its place."""
        if value.start_mark.index >= key.end_mark.index:
            self.check_anchors(key, value)
        begin = self.rows.begin(key.start_mark.index)
        end = self.rows.begin(after.start_mark.index) if after else self.rows.end((key, value))
        if self.text[self.text.rfind("\n", 0, begin) + 1 : begin].strip():
            if not after:
                raise TooMuch
            end = remarks.above(self.text, self.root, after.start_mark.index)
        self.patches.append((begin, end, ""))

    def child(self, key: Any, value: Any, old: Any, new: Any, column: int) -> None:
        """Add the patches below a key; where edits are not enough, the value is written anew behind its key."""
        is_alias = value.start_mark.index < key.end_mark.index
        if not is_alias and self.is_edited(value, old, new):
            return
        start, end = int(key.start_mark.index), self.rows.end((key, value))
        stop = remarks.stop(self.text, key, value)
        name = self.text[start : key.end_mark.index]
        if (
            stop < 0
            or "\n" in name
            or self.text[self.text.rfind("\n", 0, start) + 1 : start].strip(" ").startswith("?")
        ):
            raise TooMuch
        self.kept_keys.add(id(key))
        self.anew_values.add(id(new))
        piece = name + moves.dump(self, {"k": new}, column)[column + 1 :]
        nodes = () if is_alias else (value,)
        self.patches.append((start, end, self.anew(nodes, (key.end_mark.index, stop, end), (old, new), piece)))

    def anew(self, nodes: tuple[Any, ...], span: tuple[int, int, int], values: tuple[Any, Any], piece: str) -> str:
        """Return the text of a value that is written anew, `piece`, with the comment that may begin at span[1].

        Raises WouldLose for what else is lost in the span: comments, anchors. `nodes`: the value; () of an alias.
        """
        line = remarks.rest(self.text, span[1])
        if nodes:
            self.check_anchors(*nodes)
            spans = losses.comments(self.text, self.root, span[0], span[2])
            kept = [*self.moved, line or (0, 0)]
            lost = [place for place in spans if not any(start <= place[0] < end for start, end in kept)]
            if problem := losses.reason(self.text, nodes[0], lost, values):
                raise losses.WouldLose(problem, tuple(self.path))
        comment = self.text[line[0] : line[1]].strip() if line else ""
        first, *rest = piece.split("\n")
        return "\n".join([f"{first} {comment}" if comment else first, *rest])

    def sequence(self, node: Any, old: list[Any], new: list[Any]) -> None:
        column = node.start_mark.column
        dashes = [self.rows.dash(node, number, entry) for number, entry in enumerate(node.value)]
        if dashes != sorted({*dashes}) or dashes[0] < 0:
            raise TooMuch
        is_item = node is self.root and len(old) == len(new) == 1  # it is itself, whatever is left of it
        matches = [0] if is_item else match_entries(old, new, self.lists)
        if matches == [*range(len(old))]:  # nothing moves
            for number, entry in enumerate(old):
                self.entry(node, number, entry, new[number], dashes)
            return
        for number in {*range(len(old))} - {*matches}:
            if (id(node), number) not in self.rows.aliases:
                self.check_anchors(node.value[number])
        end, pieces, outer = self.rows.end((None, node)), list[str](), self.patches
        begins = [*map(self.rows.begin, dashes), end]
        for value, match in zip(new, matches, strict=True):
            self.patches = []
            if match is None:
                pieces.append(moves.dump(self, [value], column))
                continue
            self.entry(node, match, old[match], value, dashes)
            begin, until = begins[match : match + 2]
            piece = remarks.patched(self.text[begin:until], self.patches, begin)
            pieces.append(piece.removesuffix("\n") + "\n")
        pieces = self.behind_dash(pieces, column) if self.is_behind(dashes[0], column) else pieces
        is_ended = self.text.endswith("\n", 0, end) or matches[: len(old)] != [*range(len(old))]
        self.patches = [*outer, (begins[0], end, "".join(pieces) if is_ended else "".join(pieces)[:-1])]

    def is_behind(self, dash: int, column: int) -> bool:
        """Return True for the first dash of a list that stands behind another dash, on its line."""
        return bool(self.text[dash - column : dash].strip())

    def behind_dash(self, pieces: list[str], column: int) -> list[str]:
        """Return the entries of a list whose first one goes on behind another dash."""
        first, *others = (piece.lstrip(" ") for piece in pieces)
        if first.startswith("#"):
            raise TooMuch
        return [first, *(" " * column + piece for piece in others)]

    def entry(self, node: Any, number: int, old: Any, new: Any, dashes: list[int]) -> None:
        """Add the patches of an entry of a list; where edits are not enough, the entry is written anew."""
        if same(old, new):
            return
        depth = len(self.path)
        self.path += [str(number)] if node is not self.root or len(node.value) > 1 else []
        value, alias = node.value[number], self.rows.aliases.get((id(node), number))
        if alias or not self.is_edited(value, old, new):
            if node is self.root and not self.may_rewrite:
                raise TooMuch
            end = self.rows.begin(dashes[number + 1]) if number + 1 < len(dashes) else self.rows.end((None, node))
            column, stop = node.start_mark.column, alias[1] if alias else remarks.stop(self.text, None, value)
            self.anew_values.add(id(new))
            piece, span = moves.dump(self, [new], column)[column:], (dashes[number] + 1, stop, end)
            self.patches.append((dashes[number], end, self.anew(() if alias else (value,), span, (old, new), piece)))
        del self.path[depth:]
