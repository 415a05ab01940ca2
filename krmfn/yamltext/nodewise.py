"""Edit a text at the places of its nodes: values are replaced, added, removed or moved, with their comments.

`edit` reads the result back; `losses` says what would be lost by it, and refuses that.
"""

from functools import cached_property
from itertools import pairwise

from ..resource import same
from ..typed import Any
from . import aliases, emit, inline, linetree, losses, remarks, simple
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
    return remarks.patched(text, walk.patches) if walk.is_edited(root, old, new) else None


class _Walk:
    """One walk over a node tree, next to the data that it should hold."""

    def __init__(self, text: str, root: Any, lists: Lists | None, may_rewrite: bool) -> None:
        self.text, self.root, self.lists, self.may_rewrite = text, root, lists, may_rewrite
        self.patches: list[tuple[int, int, str]] = []
        self.path: list[str] = []

    @cached_property
    def aliases(self) -> aliases.Places:
        """Where the aliases stand."""
        return aliases.places(self.text, self.root)

    @cached_property
    def shared(self) -> Any:
        """How often each node stands in the tree that has an alias."""
        return losses.shared(self.text, self.root)

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
        renamed = inline.respelled(node, new)
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
            at, piece = self.end(node.value[-1]), emit.dump(added, column)
            is_ended = not at or self.text[at - 1] == "\n"
            self.patches.append((at, at, piece if is_ended else "\n" + piece.rstrip("\n")))

    def remove(self, key: Any, value: Any, after: Any) -> None:
        """Add the patch that removes a key; behind a dash the next key takes its place."""
        if value.start_mark.index >= key.end_mark.index:
            self.check_anchors(key, value)
        begin = self.begin(key.start_mark.index)
        end = self.begin(after.start_mark.index) if after else self.end((key, value))
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
        start, end = int(key.start_mark.index), self.end((key, value))
        stop = remarks.stop(self.text, key, value)
        name = self.text[start : key.end_mark.index]
        if (
            stop < 0
            or "\n" in name
            or self.text[self.text.rfind("\n", 0, start) + 1 : start].strip(" ").startswith("?")
        ):
            raise TooMuch
        piece = name + emit.dump({"k": new}, column)[column + 1 :]
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
            lost = [place for place in spans if not line or not line[0] <= place[0] < line[1]]
            if problem := losses.reason(self.text, nodes[0], lost, values):
                raise losses.WouldLose(problem, tuple(self.path))
        comment = self.text[line[0] : line[1]].strip() if line else ""
        first, *rest = piece.split("\n")
        return "\n".join([f"{first} {comment}" if comment else first, *rest])

    def sequence(self, node: Any, old: list[Any], new: list[Any]) -> None:
        column = node.start_mark.column
        dashes = [self.dash(node, number, entry) for number, entry in enumerate(node.value)]
        if dashes != sorted({*dashes}) or dashes[0] < 0:
            raise TooMuch
        is_item = node is self.root and len(old) == len(new) == 1  # it is itself, whatever is left of it
        matches = [0] if is_item else match_entries(old, new, self.lists)
        if matches == [*range(len(old))]:  # nothing moves
            for number, entry in enumerate(old):
                self.entry(node, number, entry, new[number], dashes)
            return
        for number in {*range(len(old))} - {*matches}:
            if (id(node), number) not in self.aliases:
                self.check_anchors(node.value[number])
        end, pieces, outer = self.end((None, node)), list[str](), self.patches
        begins = [*map(self.begin, dashes), end]
        for value, match in zip(new, matches, strict=True):
            self.patches = []
            if match is None:
                pieces.append(emit.dump([value], column))
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
        value, alias = node.value[number], self.aliases.get((id(node), number))
        if alias or not self.is_edited(value, old, new):
            if node is self.root and not self.may_rewrite:
                raise TooMuch
            end = self.begin(dashes[number + 1]) if number + 1 < len(dashes) else self.end((None, node))
            column, stop = node.start_mark.column, alias[1] if alias else remarks.stop(self.text, None, value)
            piece, span = emit.dump([new], column)[column:], (dashes[number] + 1, stop, end)
            self.patches.append((dashes[number], end, self.anew(() if alias else (value,), span, (old, new), piece)))
        del self.path[depth:]

    def dash(self, node: Any, number: int, entry: Any) -> int:
        """Return where the dash of an entry is; -1 for none."""
        alias = self.aliases.get((id(node), number))
        return remarks.dash(self.text, node, alias[0] if alias else entry.start_mark.index)

    def begin(self, at: int) -> int:
        """Return where the lines of a key or dash begin: comment lines above belong to it."""
        above = remarks.above(self.text, self.root, at)
        rows = [self.text.rfind("\n", 0, place) + 1 for place in (at, above)]
        dashed = self.text[rows[0] : at].strip() or self.text[rows[1] : above].strip()
        return at if dashed else rows[1]

    def end(self, entry: tuple[Any, Any]) -> int:
        """Return where the lines of a key or entry with its value end."""
        key, node = entry
        alias = 0
        while not alias and not (key is not None and node.start_mark.index < key.start_mark.index):
            if node.id == "scalar" or node.flow_style:
                break
            last, parent = node.value[-1], node
            key, node = last if isinstance(last, tuple) else (None, last)
            alias = self.aliases.get((id(parent), len(parent.value) - 1), (0, 0))[1] if key is None else 0
        is_key = key is not None and node.start_mark.index < key.start_mark.index
        at = int(alias or (key if is_key else node).end_mark.index)
        return at if at and self.text[at - 1] == "\n" else self.text.find("\n", at) + 1 or len(self.text)
