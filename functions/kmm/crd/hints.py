"""Hints for a fix: the field that was meant, the quotes that are missing."""

from __future__ import annotations

from collections.abc import Iterable

from krmfn.fieldpath import FieldPath
from krmfn.typed import Any

from ..versions import TARGETS
from .facts import Fact, module_facts


def known_fields(path: FieldPath, fields: Iterable[str]) -> str:
    """Return `did you mean 'kernelMappings'?`, the KMM versions that have the field, or the known fields."""
    from difflib import get_close_matches

    elsewhere = [name for name, known in TARGETS.items() if not known.fork and _has(path, known.structure)]
    if elsewhere:
        return f"KMM {' and '.join(elsewhere)} {'has' if len(elsewhere) == 1 else 'have'} it, this version does not"
    folded = {name.lower(): name for name in fields}
    close = get_close_matches(str(path[-1]).lower(), folded, 1, 0.6)
    if close:
        return f"did you mean '{folded[close[0]]}'?"
    return f"known here: {', '.join(sorted(folded.values()))}" if folded else "nothing is known here"


def _has(path: FieldPath, structure: str) -> bool:
    node: Fact | None = module_facts(structure)
    for part in path:
        if node is None:
            return False
        node = node.item if isinstance(part, int) else (node.fields or {}).get(part, node.item)
    return node is not None


def in_quotes(value: Any, types: Iterable[str]) -> str:
    """Return how to write a string that YAML takes for another type; "" when that is not the mistake."""
    if "string" not in types or isinstance(value, (dict, list, str)) or value is None:
        return ""
    if isinstance(value, bool):
        shown = str(value).lower()
        return f'write the string in quotes, "{shown}": YAML reads yes, no, on, off, y, n, true and false as booleans'
    if not isinstance(value, float):
        return f'write it in quotes, "{value}"'
    shown = f"{value:.15g}"
    if value.is_integer():
        return f"write it in quotes: a YAML reader turns it into {shown}"
    return f'write it in quotes, "{shown}"; a YAML reader turns 1.10 into 1.1'
