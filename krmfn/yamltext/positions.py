"""Where things stand in a node tree: the line and column of a field, and keys that stand twice."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from ..printing import joined
from ..resource import join, split
from ..typed import Any, NamedTuple
from .simple import OLD, PLAIN, Timestamp, differs, is_merge, scalar

__all__ = ["Ambiguous", "Node", "ambiguous", "children", "duplicate_keys", "entries", "key_name"]
__all__ += ["locate", "name_of", "nodes", "parts", "scalar_at", "shared_paths"]

Node = Any
"""A node of PyYAML's, or of `linetree`."""
_IDENTITY = r"(?:[sS]elector|[lL]abels?|[nN]ames?|[nN]amespaces?|[vV]ersion|[tT]aints|[tT]olerations|[kK]ind|Keys)\Z"
"""The end of a key under which each key and value decides what is selected, named or run."""


class Ambiguous(NamedTuple):
    """A plain scalar that Kubernetes and kustomize read differently."""

    path: str
    line: int
    """In its text, from 1."""
    text: str
    is_key: bool

    @property
    def message(self) -> str:
        """How Kubernetes and kustomize read it."""
        value, quoted = scalar(self.text), f'"{self.text}"'
        kubernetes = self.text if type(value) is Timestamp else str(value).lower()
        kubernetes = f'"{kubernetes}"' if self.is_key or type(value) is Timestamp else kubernetes
        kustomize = f"{quoted} to kustomize" if self.text in OLD else "refused by kustomize"
        kustomize = kustomize if self.is_key or self.text in OLD else "a time to kustomize"
        subject = f"the key {self.text}" if self.is_key else self.text
        return f"{subject} is {kubernetes} to Kubernetes and {kustomize}"

    @property
    def remedy(self) -> str:
        """What to write."""
        return f'put it in quotes: "{self.text}"'

    def __str__(self) -> str:
        """Return how Kubernetes and kustomize read it, and what to write."""
        return joined(self.message, self.remedy)


def nodes(root: Node | None) -> Iterator[Node]:
    """Yield the nodes of a document, keys among them; those behind aliases once."""
    seen, stack = set[int](), [root] if root is not None else []
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            stack.extend(parts(node))


def scalar_at(root: Node | None, place: int) -> Node | None:
    """Return the scalar that begins before a place, or there, and ends behind it; None for none.

    They are kept for the next call: each comment of a text is asked about.
    """
    if root is None:
        return None
    if "scalars" not in root.__dict__:
        marks = ((node.start_mark.index, node.end_mark.index, node) for node in nodes(root) if node.id == "scalar")
        known = sorted(marks, key=lambda mark: mark[:2])
        root.__dict__["scalars"] = [start for start, _, _ in known], known
    starts, known = root.__dict__["scalars"]
    at = bisect_right(starts, place) - 1
    return known[at][2] if at >= 0 and place < known[at][1] else None


def parts(node: Node) -> Iterator[Node]:
    """Yield what a collection holds, keys and values alike; nothing for a scalar."""
    for key, _, value in entries(node):
        yield from (value,) if key is None else (key, value)


def entries(node: Node) -> Iterator[tuple[Node | None, Any, Node]]:
    """Yield key (None in a list), its text or the index, and value of each entry of a collection; none of a scalar."""
    for at, entry in enumerate(() if node.id == "scalar" else node.value):
        key, value = entry if isinstance(entry, tuple) else (None, entry)
        yield key, at if key is None else str(key.value), value


def key_name(key: Any) -> str:
    """Return a key as Kubernetes reads it: `yes` is "true", `0x10` is "16" (see `values`)."""
    value = scalar(key.value) if key.tag == PLAIN else key.value
    return key.value if isinstance(value, str) else str(value).lower()


def name_of(root: Node | None, path: tuple[str, ...], spelling: str) -> str:
    """Return how Kubernetes reads a plain key of the mapping at `path` that is spelled so; the spelling without one."""
    node = root
    for part in path:
        known = children(node) if node is not None else {}
        node = known[part][1] if part in known else None
    for key, text, _ in entries(node) if node is not None else ():
        if key is not None and text == spelling:
            return key_name(key)
    return spelling


def locate(node: Node | None, path: str) -> tuple[int, int]:
    """Return line and column (from 1) of the field at `path`, or of the nearest parent that exists."""
    if node is None:
        return 1, 1
    mark = node.start_mark
    for part in split(path):
        if part not in (known := children(node)):
            break
        key, node = known[part]
        mark = (key or node).start_mark
    return mark.line + 1, mark.column + 1


def children(node: Node) -> dict[str, tuple[Node | None, Node]]:
    """Return key (None in a list) and value of what a collection holds by its parts of a path; the last of equal keys.

    A key that Kubernetes reads otherwise than it is spelled has both names. It is kept for the next call: for a mapping
    of 100,000 wrong keys there are 100,000 calls.
    """
    kept: dict[str, tuple[Node | None, Node]] | None = node.__dict__.get("children")
    if kept is None:
        kept = {str(name): (key, value) for key, name, value in entries(node)}
        kept |= {key_name(key): (key, value) for key, value in kept.values() if key is not None and _is_odd(key)}
        node.__dict__["children"] = kept
    return kept


def _is_odd(key: Node) -> bool:
    return bool(key.tag == PLAIN and key.id == "scalar" and key_name(key) != key.value)


def shared_paths(root: Node | None) -> frozenset[tuple[str, ...]]:
    """Return the paths of the collections that an anchor and its aliases share, merged ones (`<<`) included."""
    paths: dict[int, list[tuple[str, ...]]] = {}
    merged: set[int] = set()

    def visit(node: Node, path: tuple[str, ...], *, is_merged: bool = False) -> None:
        if node.id == "scalar":
            return
        if is_merged:  # what the keys hold is shared; a key itself can be written over
            merged.add(id(node))
        else:
            paths.setdefault(id(node), []).append(path)
        for key, name, value in entries(node):
            if key is None or not is_merge(key):
                visit(value, (*path, str(name)))
                continue
            for source in value.value if value.id == "sequence" else [value]:
                visit(source, path, is_merged=True)

    if root is not None:
        visit(root, ())
    several = (places for name, places in paths.items() if len(places) > 1 or name in merged)
    return frozenset(path for places in several for path in places)


def duplicate_keys(root: Node | None) -> list[str]:
    """Return the paths of keys that stand twice in one mapping, in the order of the text."""
    seen: set[int] = set()

    def visit(node: Node | None, path: tuple[str | int, ...]) -> Iterator[str]:
        if node is None or id(node) in seen:  # an alias: its anchor was visited
            return
        seen.add(id(node))
        names: set[str | int] = set()
        for key, name, value in entries(node):
            if name in names and not is_merge(key):
                yield join((*path, name))
            names.add(name)
            yield from visit(value, (*path, name))

    return list(visit(root, ()))


def ambiguous(root: Node | None) -> Iterator[Ambiguous]:
    """Yield each plain scalar in a selector, label, name, version, taint or kind that two readers read differently.

    The keys of `profiles` are names, too. A key that is no string to Kubernetes is refused by kustomize.
    """
    seen: set[tuple[int, bool]] = set()

    def visit(node: Node, path: tuple[str | int, ...], within: bool) -> Iterator[Ambiguous]:
        if node.id == "scalar":
            if within and node.tag == PLAIN and differs(node.value):
                yield Ambiguous(join(path), node.start_mark.line + 1, node.value, is_key=False)
        elif node is not None and (id(node), within) not in seen:  # an alias: its anchor was visited
            seen.add((id(node), within))
            for key, name, value in entries(node):
                at = path if key is not None and is_merge(key) else (*path, name)
                decides = at is not path and (within or path[-1:] == ("profiles",))
                if decides and key is not None and key.tag == PLAIN and type(scalar(name)) is not str:
                    yield Ambiguous(join(at), key.start_mark.line + 1, name, is_key=True)
                yield from visit(value, at, within or (key is not None and bool(re.search(_IDENTITY, name))))

    yield from visit(root, (), within=False)
