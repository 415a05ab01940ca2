"""The YAML documents of a file that kustomize reads, with their places; a finding for a file that is not YAML."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.resource import Place
from krmfn.results import Result, error
from krmfn.yamltext import documents as yaml_documents
from krmfn.yamltext import split

from ..paths import files, manifests
from ..paths.disk import File


def documents(name: str, text: bytes, first: int = 1, column: int = 0, is_composed: bool = True) -> Iterator[Item]:
    """Yield the documents of a text, which begins at line `first` of the file `name`, each line at `column`.

    With `is_composed` their YAML nodes are read, too. Raises KrmfnError, with the line, for a text that is not YAML.
    """
    from ..paths import syntax

    text = text.removeprefix(b"\xef\xbb\xbf")
    split.check_encoding(text)
    for index, document in enumerate(yaml_documents.documents(text)):
        line = first + document.line - 1
        syntax.check(document.text, line - 1)
        item = Item(document.text, 0, len(document.text), -2, False, Place(name, index, line, column))
        _ = item.content.manifest, is_composed and item.content.composed  # raises the errors here, and only once
        yield item


def resources_in(file: File) -> list[Item]:
    """Return the resources in a file, the items of a List one by one; [] when it cannot be read any more."""
    with suppress(KrmfnError):
        return manifests.read_stream(files.read_regular(file.real, file.name), file.name).items
    return []


def unreadable(failure: KrmfnError, name: str, rule: str) -> Result:
    """Return the finding about a file that cannot be read or is not YAML, at the line that the error names."""
    if failure.file not in ("", name):
        return error(str(failure), rule=rule, place=Place(name))
    return error(failure.sentence, rule=rule, place=Place(name, 0, failure.line))
