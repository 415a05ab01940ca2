"""The clusters that other machines have judged, read from what `nodes` and `check` print with --format json.

The files together are the fleet. A file that was cut off, that another program wrote or that a later krmfn prints in
another way is refused, and so is one that leaves nodes or findings out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from krmfn import Field, KrmfnError, Place, Ref, Result
from krmfn.results import UNLISTED, Severity, in_order
from krmfn.typed import Any, NamedTuple, TypeVar

from ..fleet import wording
from ..formats.findings import FORMAT as CHECK
from . import states
from .local import alike
from .parts import FORMAT as NODES
from .parts import Alike, Clash, Gets, Kernel, Part, Pulled, Side, Used, unknown

T = TypeVar("T")
_NEEDED: Any = object()
"""In place of a default: the field has to be there."""
_SEVERITIES: dict[str, Severity] = {"error": "error", "warning": "warning", "info": "info"}
_ABSENT = "none of the given files was printed by `krmfn {} --format json` for it"


class Fields:
    """The fields of one file, read with their types."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, holder: Any, key: str, kind: type[T], default: Any = _NEEDED) -> T:
        """Return a field; the default where it is null or missing. Raises KrmfnError for another type."""
        value = holder.get(key) if isinstance(holder, dict) else None
        if value is None and default is not _NEEDED:
            return default  # type: ignore[no-any-return]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise KrmfnError(f"{self.name}: the field {key!r} is {value!r:.60}, which krmfn does not print")
        return value

    def each(self, holder: Any, key: str) -> list[dict[str, Any]]:
        """Return a list of mappings."""
        values = self(holder, key, list)
        if not all(isinstance(value, dict) for value in values):
            raise KrmfnError(f"{self.name}: the field {key!r} holds something that krmfn does not print")
        return values

    def texts(self, holder: Any, key: str) -> list[str]:
        """Return a list of texts."""
        values = self(holder, key, list)
        if not all(isinstance(value, str) for value in values):
            raise KrmfnError(f"{self.name}: the field {key!r} holds something that is not a string")
        return values


class File(NamedTuple):
    """A file that is read: its name and its text."""

    name: str
    text: str


def read(files: Iterable[File]) -> list[Part]:
    """Return the clusters that some files are about, in the files' order.

    Raises KrmfnError for a file that was not printed by `nodes` or `check`, or not whole, and for a cluster that two
    files are about.
    """
    nodes: dict[str, tuple[str, Part]] = {}
    findings: dict[str, tuple[str, list[Result]]] = {}
    names: dict[str, None] = {}
    for file in files:
        document = _document(file)
        found = _parts(file, document) if document["format"] == NODES else []
        for part in found:
            _once(nodes, part.name, file, part)
        for name, results in _findings(file, document).items() if document["format"] == CHECK else ():
            _once(findings, name, file, results)
            names[name] = None
        names |= dict.fromkeys(part.name for part in found)
    return [_merged(name, nodes.get(name), findings.get(name)) for name in names]


def _once(known: dict[str, tuple[str, T]], name: str, file: File, value: T) -> None:
    if name in known:
        raise KrmfnError(
            f"{known[name][0]} and {file.name} are both about the cluster {name}; leave one of them out, or give the "
            "clusters different names, with --cluster NAME=PATH, where the files are printed"
        )
    known[name] = file.name, value


def _merged(name: str, nodes: tuple[str, Part] | None, findings: tuple[str, list[Result]] | None) -> Part:
    part = nodes[1] if nodes else unknown(name, _ABSENT.format("nodes"))
    if findings is None:
        return part._replace(unchecked=_ABSENT.format("check"))
    if nodes and part.has_errors and not any(one.severity == "error" for one in findings[1]):
        raise KrmfnError(
            f"{nodes[0]} says that {name} has errors, but {findings[0]} has none for it, so they are not about the "
            "same input; regenerate both"
        )
    return part._replace(findings=in_order(findings[1]))


def _document(file: File) -> dict[str, Any]:
    """Return the document of a file. Raises KrmfnError for one that is not whole, or that something else printed."""
    if not file.text.strip():
        raise KrmfnError(f"{file.name}: is empty; the command that should have written it failed")
    try:
        document = json.loads(file.text)
    except (ValueError, RecursionError) as failure:
        raise KrmfnError(f"{file.name}: is not JSON, or is incomplete: {failure}") from failure
    form = document.get("format") if isinstance(document, dict) else None
    if isinstance(document, dict) and form in (NODES, CHECK):
        return document
    if isinstance(form, str) and form.startswith("krmfn.dev/"):
        raise KrmfnError(f"{file.name}: has the format {form}, and this krmfn reads {NODES} and {CHECK}")
    raise KrmfnError(f"{file.name}: is not the output of `krmfn nodes` or `krmfn check` with --format json")


def _parts(file: File, document: dict[str, Any]) -> list[Part]:
    """Return the clusters of a file of `nodes`."""
    read = Fields(file.name)
    if read(document, "kernel", str, None):
        raise KrmfnError(
            f"{file.name}: shows what would happen with --kernel {document['kernel']}, not the current state"
        )
    if not read(document, "whole", bool):
        raise KrmfnError(
            f"{file.name}: was printed with --label, --node, --owner or --problems, so not all nodes are in it"
        )
    return [_part(read, one) for one in read.each(document, "clusters")]


def _part(read: Fields, one: dict[str, Any]) -> Part:
    modules = [_used(read, module) for module in read.each(one, "modules")]
    return Part(
        read(one, "cluster", str),
        modules,
        alike(_groups(read, one, {module.ref: at for at, module in enumerate(modules)})),
        read(one, "hasNodes", bool),
        read(one, "notKnown", str, None) or "",
        [_clash(read, clash) for clash in read.each(one, "conflicts")],
        read(one, "furtherConflicts", int),
        [_pulled(read, image) for image in read.each(one, "images")],
        read(one, "imagesNotKnown", str, None) or "",
        [_ref(read, ref) for ref in read.each(one, "configsWithoutModule")],
        has_errors=read(one, "hasErrors", bool),
    )


def _used(read: Fields, one: dict[str, Any]) -> Used:
    kernels = tuple(
        Kernel(
            *(read(kernel, "kernel", str, None) or "", read(kernel, "nodes", int), read(kernel, "mapping", int, None)),
            read(kernel, "failure", str, None) or "",
        )
        for kernel in read.each(one, "kernels")
    )
    return Used(_ref(read, one.get("module")), read(one, "madeFrom", str), tuple(read.texts(one, "mappings")), kernels)


def _groups(read: Fields, one: dict[str, Any], positions: Mapping[Ref, int]) -> Iterator[Alike]:
    """Yield the nodes of a cluster, each with what it gets; its rows follow one another."""
    gets: dict[tuple[str | None, str], list[Gets]] = {}
    kernels: dict[tuple[str | None, str], str] = {}
    for row in read.each(one, "rows"):
        node = (read(row, "cluster", str, None), read(row, "node", str))
        kernels[node] = read(row, "kernel", str, None) or ""
        of_node = gets.setdefault(node, [])
        state = read(row, "state", str)
        if state not in states.RANK:
            raise KrmfnError(f"{read.name}: the state {state!r} of node {node[1]} is not one that this krmfn knows")
        if row.get("module") is not None:
            module = _ref(read, row["module"])
            if module not in positions:
                raise KrmfnError(f"{read.name}: {module} of node {node[1]} is not among the Modules of the cluster")
            position = positions[module]
            reason, image = (read(row, key, str, None) or "" for key in ("reason", "image"))
            what = wording.in_words(reason, image, read.texts(row, "inTreeModulesToRemove"))
            of_node.append(Gets(position, state, read(row, "mappingText", str, None) or "", what))
    for key, found in gets.items():
        yield Alike((key[1],), kernels[key], tuple(found))


def _clash(read: Fields, one: dict[str, Any]) -> Clash:
    sides = [Side(read(side, "who", str), read(side, "where", str)) for side in read.each(one, "sides")]
    labels = [(read(label, "key", str), _values(read, label)) for label in read.each(one, "labels")]
    severity, rule, law = (read(one, key, str) for key in ("severity", "rule", "law"))
    return Clash(severity, rule, law, read.texts(one, "nodes"), sides, read(one, "more", int), labels)


def _values(read: Fields, label: dict[str, Any]) -> list[str | None]:
    values = read(label, "values", list)
    if not all(value is None or isinstance(value, str) for value in values):
        raise KrmfnError(f"{read.name}: a label of a conflict has values that are not strings")
    return values


def _pulled(read: Fields, one: dict[str, Any]) -> Pulled:
    needs = tuple((_ref(read, need), read(need, "for", str)) for need in read.each(one, "neededBy"))
    return Pulled(read(one, "image", str), read(one, "nodes", int, None), read(one, "madeInCluster", bool), needs)


def _ref(read: Fields, one: Any) -> Ref:
    return Ref(*(read(one, key, str) for key in ("apiVersion", "kind", "namespace", "name")))


def _findings(file: File, document: dict[str, Any]) -> dict[str, list[Result]]:
    """Return the findings of each cluster in a file of `check`; those of none are the first one's, or the file's."""
    read = Fields(file.name)
    if read(read(document, "summary", dict), "baseline", int):
        raise KrmfnError(f"{file.name}: was printed with --baseline, which leaves findings out; print it without")
    if read(read(document, "summary", dict), "hidden", int):
        raise KrmfnError(f"{file.name}: was printed with --select or --min-severity; print it without")
    names = read.texts(document, "clusters")
    found: dict[str, list[Result]] = {name: [] for name in names or [file.name]}
    for one in read.each(document, "findings"):
        for name in read.texts(one, "clusters") or [next(iter(found))]:
            found.setdefault(name, []).append(_result(read, one))
    return found


def _result(read: Fields, one: dict[str, Any]) -> Result:
    severity = _SEVERITIES.get(read(one, "severity", str))
    if severity is None:
        raise KrmfnError(f"{read.name}: a finding has the severity {one['severity']!r}")
    ref = _ref(read, one["ref"]) if one.get("ref") is not None else None
    path, file = read(one, "path", str, None), read(one, "file", str, None)
    line, column = (read(one, key, int, None) or 0 for key in ("line", "column"))
    place = Place(file, 0, line, column) if file else None
    rule = read(one, "rule", str, None) or ""
    tags = ((UNLISTED, str(number)),) if (number := read(one, UNLISTED, int, None)) else ()
    return Result(read(one, "message", str), severity, rule, ref, Field(path) if path else None, place, tags)
