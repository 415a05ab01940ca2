"""A node tree to data as Kubernetes reads it, bounded: keys, tags, merges and aliases.

Data that YAML readers read differently is refused, but for scalars: these are read as Kubernetes reads them.
"""

import binascii
import re
from contextlib import suppress

from yaml.nodes import Node, ScalarNode, SequenceNode

from ..errors import KrmfnError
from ..resource import same
from ..typed import Any
from . import simple
from .simple import MAX_DEPTH, PLAIN, is_merge

__all__ = ["BINARY", "STRING", "build", "too_deep"]

_MAX_EXPANSION = 8
"""Values that a document with aliases may have for each of its characters, beside the first thousand."""

_CORE = "tag:yaml.org,2002:"
STRING, BINARY = f"{_CORE}str", f"{_CORE}binary"
_TIMESTAMP = f"{_CORE}timestamp"
_TAGS = {"int": int, "float": float, "bool": bool, "null": type(None)}
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def too_deep(line: int) -> KrmfnError:
    """Return the error for nesting deeper than MAX_DEPTH."""
    return KrmfnError(f"nested deeper than {MAX_DEPTH} levels; no Kubernetes object is", line=line)


def build(node: Node | None, most: int = simple.MAX_NODES) -> Any:
    """Return the data of a node tree, plain scalars read as Kubernetes reads them; the last of duplicate keys wins.

    Raises KrmfnError when aliases expand to more than _MAX_EXPANSION allows or an alias holds itself.
    """
    # A value takes a character at least: beyond the text's length only aliases can lead.
    length = node.end_mark.index if node is not None else 0
    return _Builder(min(1_000 + _MAX_EXPANSION * length, _MAX_EXPANSION * most)).value(node)


class _Builder:
    """One walk over a node tree; counts what aliases expand to."""

    def __init__(self, limit: int) -> None:
        self.limit = self.budget = limit
        self.open: set[int] = set()

    def value(self, node: Node | None) -> Any:
        self.budget -= 1
        if self.budget < 0:
            raise self.failure(node, f"aliases expand to more than {self.limit:,} values here; write the values out")
        if node is None:
            return None
        if isinstance(node, ScalarNode):
            return self.scalar(node)
        if id(node) in self.open:
            raise self.failure(node, "an alias is inside the value that it refers to")
        if len(self.open) > MAX_DEPTH:  # aliases can nest deeper than the text does
            raise too_deep(int(node.start_mark.line) + 1)
        self.open.add(id(node))
        data = [self.value(child) for child in node.value] if isinstance(node, SequenceNode) else self.mapping(node)
        self.open.discard(id(node))
        return data

    def mapping(self, node: Node) -> dict[Any, Any]:
        entries: dict[Any, Any] = {}
        merged: dict[Any, Any] = {}
        texts: set[str] = set()
        for key, value in node.value:
            if is_merge(key):
                inherited = self.merged(value)
                repeated = (name for name in inherited if name in entries)
                clash = next((name for name in repeated if not same(entries[name], inherited[name])), None)
                if clash is not None:
                    problem = f"`<<` after the key {clash} brings another value for it"
                    advice = "and YAML readers disagree about which one counts; put `<<` first"
                    raise self.failure(key, f"{problem}, {advice}")
                merged.update(inherited)
            else:
                name, is_text = self.key(key)
                if name in entries and not (is_text and name in texts):
                    raise self.failure(key, f"the key {name} is already here, spelled differently")
                texts.update((name,) if is_text else ())
                entries[name] = self.value(value)
        return {**merged, **entries} if merged else entries

    def merged(self, node: Node) -> dict[Any, Any]:
        """Return what `<<` takes in: a mapping, or several merged, of which the first that has a key wins."""
        value = self.value(node)
        inherited: dict[Any, Any] = {}
        for part in reversed(value if isinstance(value, list) else [value]):
            if not isinstance(part, dict):
                raise self.failure(node, "`<<` takes a mapping or a list of mappings")
            inherited.update(part)
        return inherited

    def key(self, node: Node) -> tuple[str, bool]:
        """Return a key as Kubernetes reads it (`yes` is "true", `012` is "10"), and whether it was a string before."""
        if not isinstance(node, ScalarNode):
            raise self.failure(node, "a key must be a word, not a list or a mapping")
        value = self.scalar(node)
        if isinstance(value, str):
            return value, True
        if isinstance(value, int) and value < 1 << 63:  # True is 1 to Python
            return str(value).lower(), False
        raise self.failure(node, f"the key {node.value or 'null'} is not a string to Kubernetes; put it in quotes")

    def scalar(self, node: ScalarNode) -> Any:
        """Return the value of a scalar node: quoted and `!!str` are strings, plain ones as `simple.scalar`."""
        if node.tag == PLAIN:
            return simple.scalar(node.value)
        if not node.value and not node.style:  # to Kubernetes the comma of `[!x, a]` belongs to the tag
            raise self.failure(node, "a tag has no value; write a value after it, or ''")
        if node.tag == BINARY:
            return self.binary(node)
        if node.tag == _TIMESTAMP:
            # Kubernetes refuses most of these, and makes a string in a form of its own of others
            raise self.failure(node, "YAML readers disagree about !!timestamp; remove it, and put the value in quotes")
        kind = _TAGS.get(node.tag.removeprefix(_CORE)) if node.tag.startswith(_CORE) else None
        if kind is None:  # a tag that Kubernetes does not know makes a string, too
            return node.value
        value = simple.scalar(node.value)
        if kind is float and type(value) is int:
            return float(value)
        if type(value) is kind:
            return value
        raise self.failure(node, f"{node.value!r} is not a valid {node.tag.removeprefix(_CORE)}")

    def binary(self, node: ScalarNode) -> str:
        """Return the text that `!!binary` gives in base64."""
        code = node.value.replace("\n", "").replace("\r", "")
        with suppress(ValueError):
            if _BASE64.fullmatch(code):
                return binascii.a2b_base64(code).decode()
        raise self.failure(node, "this !!binary is not base64 of UTF-8 text")

    def failure(self, node: Node | None, problem: str) -> KrmfnError:
        """Return the error about a node, with its line."""
        return KrmfnError(problem, line=node.start_mark.line + 1 if node is not None else 1)
