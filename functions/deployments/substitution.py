"""Variables of Flux's `postBuild`, put into data as kustomize-controller puts them into the YAML text of an object.

Only `${NAME}`, with or without a default, and `$$` are read here: of other forms nothing is known. A text that YAML
writes without quotes may become a number then, which is why whole values are read again.
Source: fluxcd/pkg kustomize 1.35.6, kustomize_varsub.go; envsubst 1.7.1; kustomize-controller 1.9,
docs/spec/v1/kustomizations.md, Post build variable substitution.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from krmfn import KrmfnError, Manifest
from krmfn.typed import Any, NamedTuple

from ..kmm.lookup import leaves, strings, table, tables, text
from ..kmm.module import VARIABLES

Pairs = tuple[tuple[str, str], ...]
SIGN = "-of-flux"
"""How a word ends that stands for a value which nobody knows."""
_VARIABLE = re.compile(r"\$\$|\$\{([A-Za-z_]\w*)(?:(?::?=|:-)([^${}]*))?\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = re.compile(r"[A-Za-z0-9$./_](?:[^\n:#]|:(?=[^\s])|(?<=\S)#)*")
"""A text that is written without quotes."""
_QUOTED = re.compile(r"[^\n'\"\\]*")


class Variables(NamedTuple):
    """What is known of the variables of one Kustomization."""

    values: Pairs
    is_open: bool = False
    """Whether objects that are not known may hold others."""


class Finish(NamedTuple):
    """What an engine does with the resources of a root after they are built."""

    variables: Variables | None = None
    labels: Pairs = ()
    annotations: Pairs = ()


NO_FINISH = Finish()


def variables(build: Manifest, data_of: Callable[[str], Mapping[str, Any] | None]) -> Variables | None:
    """Return the variables of a `postBuild`; None for none, and where Flux refuses them.

    `data_of` returns the data of the ConfigMap with a name, None where it is not known. What comes before it may have
    another value then.
    """
    values, is_open = dict[str, str](), False
    for _, source in tables(build, "substituteFrom"):
        data = data_of(text(source, "name")) if text(source, "kind") == "ConfigMap" else None
        if data is None:
            values, is_open = {}, True
        else:
            values |= _texts(data)
    values |= _texts(table(build, "substitute"))
    if not all(map(_NAME.fullmatch, values)) or not (values or is_open):
        return None
    return Variables(tuple(sorted(values.items())), is_open)


def _texts(data: Mapping[str, Any]) -> dict[str, str]:
    return {key: value.replace("\n", "") for key, value in data.items() if isinstance(value, str)}


def replacements(manifest: Manifest, known: Variables) -> Sequence[tuple[tuple[str | int, ...], Any]] | None:
    """Return the new value of each text in an object with variables, by its path; None where it is not known."""
    values, changes = dict(known.values), list[tuple[tuple[str | int, ...], Any]]()
    if any("$" in word for _, word, is_key in strings(manifest) if is_key):
        return None
    for path, leaf in leaves(manifest):
        if isinstance(leaf, str) and "$" in leaf:
            filled = _filled(leaf, values, known.is_open)
            value = None if filled is None else _value(leaf, filled)
            if filled is None or (value is None and filled):
                return None
            changes.append((path, value))
    return changes


def _filled(leaf: str, values: Mapping[str, str], is_open: bool) -> str | None:
    """Return a text with its variables filled in; those without a value stay. None for what is no variable."""
    if "${" in _VARIABLE.sub("", leaf):
        return None

    def value(match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        if not name:
            return "$"
        if is_open and name not in values and name not in VARIABLES:
            return f"{name.lower().replace('_', '-')}{SIGN}"
        return values.get(name) or (default if default is not None or name in values else match[0]) or ""

    return _VARIABLE.sub(value, leaf)


def _value(leaf: str, filled: str) -> Any:
    """Return what a reader of YAML makes of a text with its variables filled in; None where it is no single value."""
    if not _PLAIN.fullmatch(leaf) or leaf != leaf.strip():
        return filled if _QUOTED.fullmatch(filled) or "\n" in leaf else None
    if filled and not _PLAIN.fullmatch(filled):
        return None
    from krmfn.yamltext import load  # imported here: few repositories have variables

    try:
        value = load.read(filled.encode())
    except KrmfnError:
        return None
    return value if isinstance(value, (str, int, float, bool)) else None
