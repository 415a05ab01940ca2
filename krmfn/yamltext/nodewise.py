"""Edit a text at the places of its nodes: values are replaced, added, removed or moved, with their comments.

`edit` reads the result back.
"""

import re
from itertools import pairwise

from ..resource import same
from ..typed import Any
from . import emit, linetree, remarks, simple
from .align import Lists, match_entries
from .simple import PLAIN, is_merge, scalar

__all__ = ["patched"]

_IN_FLOW = r"[^,\[\]{}#:]*"


def patched(text: str, new: Any, lists: Lists | None = None, may_rewrite: bool = True) -> str | None:
    """Return `text` changed to the data `new`; None when that needs more than edits of its parts.

    `lists`: see `align.match_entries`; `may_rewrite`: an item, an entry of the list at the root, may be written anew.
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


class _TooMuch(Exception):
    """Edits of parts cannot make the change: the value above must be written anew."""


class _Walk:
    """One walk over a node tree, next to the data that it should hold."""

    def __init__(self, text: str, root: Any, lists: Lists | None, may_rewrite: bool) -> None:
        self.text, self.root, self.lists, self.may_rewrite = text, root, lists, may_rewrite
        self.patches: list[tuple[int, int, str]] = []

    def is_edited(self, node: Any, old: Any, new: Any) -> bool:
        """Add the patches of a value; return False, and add none, where it must be written anew."""
        count = len(self.patches)
        try:
            self.value(node, old, new)
        except _TooMuch:
            del self.patches[count:]
            return False
        return True

    def value(self, node: Any, old: Any, new: Any) -> None:
        """Add the patches of a value. Raises _TooMuch where it must be written anew with its key or dash."""
        if node.id == "scalar" and not isinstance(new, (dict, list)) and node.style not in ("|", ">"):
            if node.value == "" and not node.style:
                raise _TooMuch  # a null without a word
            self.patch(node, _written(new, node.style or ""))
        elif node.id == "mapping" and isinstance(new, dict) and new and not node.flow_style:
            self.mapping(node, old, new)
        elif node.id == "sequence" and isinstance(new, list) and new and not node.flow_style:
            self.sequence(node, old, new)
        elif old and getattr(node, "flow_style", False) and isinstance(new, (dict, list)):
            self.patch(node, self.flow(node, old, new))
        else:
            raise _TooMuch

    def patch(self, node: Any, piece: str) -> None:
        self.patches.append((node.start_mark.index, node.end_mark.index, piece))

    def mapping(self, node: Any, old: dict[str, Any], new: dict[str, Any]) -> None:
        following = pairwise([*node.value, (None, None)])
        entries = [(_name(key), key, value, after) for (key, value), (after, _) in following if not is_merge(key)]
        names = {name for name, *_ in entries}
        merged = {key: value for key, value in old.items() if key not in names}  # what `<<` brings
        is_known = len(names) == len(entries) and old.keys() >= names
        if not is_known or not new.keys() & names or not merged.keys() <= new.keys():
            raise _TooMuch
        column = node.value[0][0].start_mark.column
        for name, key, value, after in entries:
            if name not in new:
                self.remove(key, value, after)
            elif not same(old[name], new[name]):
                self.child(key, value, old[name], {name: new[name]}, column)
        kept = names | {key for key, value in merged.items() if same(value, new[key])}
        added = {key: value for key, value in new.items() if key not in kept}
        if added:
            at, piece = self.end(node.value[-1]), emit.dump(added, column)
            is_ended = not at or self.text[at - 1] == "\n"
            self.patches.append((at, at, piece if is_ended else "\n" + piece.rstrip("\n")))

    def remove(self, key: Any, value: Any, after: Any) -> None:
        """Add the patch that removes a key; behind a dash the next key takes its place."""
        begin = self.begin(key.start_mark.index)
        end = self.begin(after.start_mark.index) if after else self.end((key, value))
        if self.text[self.text.rfind("\n", 0, begin) + 1 : begin].strip():
            if not after:
                raise _TooMuch
            end = remarks.above(self.text, self.root, after.start_mark.index)
        self.patches.append((begin, end, ""))

    def child(self, key: Any, value: Any, old: Any, new: dict[str, Any], column: int) -> None:
        """Add the patches below a key; where edits are not enough, the key is written anew with its value."""
        is_alias = value.start_mark.index < key.end_mark.index
        if is_alias or not self.is_edited(value, old, *new.values()):
            line = remarks.rest(self.text, remarks.stop(self.text, key, value))
            comment = self.text[line[0] : line[1]].strip() if line else ""
            first, *rest = emit.dump(new, column)[column:].split("\n")
            head = f"{first} {comment}" if comment else first
            self.patches.append((key.start_mark.index, self.end((key, value)), "\n".join([head, *rest])))

    def sequence(self, node: Any, old: list[Any], new: list[Any]) -> None:
        dashes = [remarks.dash(self.text, node, entry) for entry in node.value]
        column = node.start_mark.column
        if self.text[dashes[0] - column : dashes[0]].strip() or dashes != sorted({*dashes}):
            raise _TooMuch  # behind another dash, or with an alias
        is_item = node is self.root and len(old) == len(new) == 1  # it is itself, whatever is left of it
        matches = [0] if is_item else match_entries(old, new, self.lists)
        if matches == [*range(len(old))]:  # nothing moves
            for number, entry in enumerate(old):
                self.entry(node, number, entry, new[number], dashes)
            return
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
        is_ended = self.text.endswith("\n", 0, end) or matches[: len(old)] != [*range(len(old))]
        self.patches = [*outer, (begins[0], end, "".join(pieces) if is_ended else "".join(pieces)[:-1])]

    def entry(self, node: Any, number: int, old: Any, new: Any, dashes: list[int]) -> None:
        """Add the patches of an entry of a list; where edits are not enough, the entry is written anew."""
        if not same(old, new) and not self.is_edited(node.value[number], old, new):
            if node is self.root and not self.may_rewrite:
                raise _TooMuch
            end = self.begin(dashes[number + 1]) if number + 1 < len(dashes) else self.end((None, node))
            column = node.start_mark.column
            self.patches.append((dashes[number], end, emit.dump([new], column)[column:]))

    def flow(self, node: Any, old: Any, new: Any) -> str:
        """Return a value in brackets with other data; parts that stay are kept as they are written."""
        start, end = node.start_mark.index, node.end_mark.index
        if same(old, new):
            return self.text[start:end]
        if node.id == "scalar" or type(old) is not type(new):
            is_quoted = node.id == "scalar" and node.style and isinstance(new, str)
            return _written(new, node.style) if is_quoted else _flow(new)
        if isinstance(new, list):
            nodes, matches = dict[Any, Any](enumerate(node.value)), list[Any](match_entries(old, new, self.lists))
        else:
            nodes = {_name(key): child for key, child in node.value}
            matches = [key if key in nodes and key in old else None for key in new]
        if [*nodes] != matches:  # parts come, go or move
            if re.search(r"[#\n]", self.text[start:end]):
                raise _TooMuch
            values = new if isinstance(new, list) else new.values()
            inline = {match for match, child in nodes.items() if start < child.start_mark.index <= end}  # and no alias
            parts = [
                self.flow(nodes[match], old[match], value) if match in inline else _flow(value)
                for match, value in zip(matches, values, strict=True)
            ]
            if isinstance(new, list):
                return "[" + ", ".join(parts) + "]"
            odd = {name: key.value for key, _ in node.value if (name := _name(key)) != key.value}
            names = (odd.get(key) or _flow(key) for key in new)
            return "{" + ", ".join(map(": ".join, zip(names, parts, strict=True))) + "}"
        pieces, at = list[str](), start
        for key, child in nodes.items():
            if not same(old[key], new[key]):
                if not start < child.start_mark.index < child.end_mark.index <= end:
                    raise _TooMuch  # an alias, or nothing
                pieces += self.text[at : child.start_mark.index], self.flow(child, old[key], new[key])
                at = child.end_mark.index
        return "".join(pieces) + self.text[at:end]

    def begin(self, at: int) -> int:
        """Return where the lines of a key or dash begin: comment lines above belong to it."""
        above = remarks.above(self.text, self.root, at)
        rows = [self.text.rfind("\n", 0, place) + 1 for place in (at, above)]
        dashed = self.text[rows[0] : at].strip() or self.text[rows[1] : above].strip()
        return at if dashed else rows[1]

    def end(self, entry: tuple[Any, Any]) -> int:
        """Return where the lines of a key or entry with its value end."""
        key, node = entry
        while not (is_alias := key is not None and node.start_mark.index < key.start_mark.index):
            if node.id == "scalar" or node.flow_style:
                break
            last = node.value[-1]
            key, node = last if isinstance(last, tuple) else (None, last)
        at = int((key if is_alias else node).end_mark.index)
        return at if at and self.text[at - 1] == "\n" else self.text.find("\n", at) + 1 or len(self.text)


def _name(key: Any) -> str:
    """Return a key as Kubernetes reads it: `yes` is "true", `0x10` is "16" (see `values`)."""
    value = scalar(key.value) if key.tag == PLAIN else key.value
    return key.value if isinstance(value, str) else str(value).lower()


def _flow(value: Any) -> str:
    """Return a value as it is written in brackets."""
    if isinstance(value, str) and re.fullmatch(_IN_FLOW, value):
        return emit.quoted(value)
    return emit.dump_json(value)


def _written(value: Any, quote: str) -> str:
    """Return a scalar on one line, in the quotes of the old one."""
    text: str = emit.quoted(value) if type(value) is str else emit.dump(value).rstrip("\n")
    if text != value or not quote:
        return text
    escaped = text.replace("'", "''") if quote == "'" else text.replace("\\", "\\\\").replace('"', '\\"')
    return f"{quote}{escaped}{quote}"
