"""Names of fields in any case, as kustomize reads them: encoding/json of Go matches the names of fields so.

Names of labels, annotations and Helm values are no fields, and count as they are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from krmfn.resource import Manifest
from krmfn.typed import Any


def usual_text(text: str, node: Any, rules: Mapping[str, Any]) -> str:
    """Return a text with the names of fields in the usual case; `rules` is the schema of its node tree.

    Nothing moves: a name has the same length in any case. Of two spellings of one field in a mapping both stay.
    """
    for start, end, name in {*_unusual(text, node, rules)}:
        text = text[:start] + name + text[end:]
    return text


def _unusual(text: str, node: Any, rules: Mapping[str, Any]) -> Iterator[tuple[int, int, str]]:
    """Yield where each name stands that is not in the usual case, and how it is usually written."""
    if node.id == "sequence":
        for entry in node.value:
            yield from _unusual(text, entry, rules.get("items", {}))
    elif node.id == "mapping" and (known := rules.get("properties")):
        usual = {name.casefold(): name for name in known}
        counts = Counter(str(key.value).casefold() for key, _ in node.value)
        for key, value in node.value:
            name = usual.get(str(key.value).casefold(), "")
            start, end = key.start_mark.index + bool(key.style), key.end_mark.index - bool(key.style)
            if name not in ("", key.value) and counts[name.casefold()] == 1 and text[start:end] == key.value:
                yield start, end, name
            yield from _unusual(text, value, known.get(name, {}))


def usual_manifest(manifest: Manifest, usual: Mapping[str, str]) -> Manifest:
    """Return a mapping with its keys as they are usually written; `usual` has these by their names in lower case.

    Of two spellings of one field both stay.
    """
    counts = Counter(key.casefold() for key in manifest)
    return {usual.get(key.casefold(), key) if counts[key.casefold()] == 1 else key: manifest[key] for key in manifest}
