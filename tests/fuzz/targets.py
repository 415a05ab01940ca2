"""What is fuzzed: each target takes an input, holds krmfn against the real readers, and raises Finding."""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from krmfn_functions.all_kinds import krmfn
from krmfn_functions.command_line import main
from krmfn_functions.kmm.module import MODULE_GROUP, MODULE_KIND
from krmfn_functions.kustomization import reading, values
from krmfn_functions.kustomization.builds import decide
from krmfn_functions.paths import manifests, output
from krmfn_functions.paths.lists import KINDS as LISTS
from krmfn_functions.rendering.kinds import INPUTS, OWNERS

from krmfn import KrmfnError, ResourceList
from krmfn.item import Item
from krmfn.ownership import OWNER
from krmfn.resource import annotations_of, ref
from krmfn.yamltext import load
from tests.trees import OURS, files_of

from . import api_daemonsets, api_schemas, archive, edits
from .findings import Finding, Refused, Work, alike, watched
from .readers import Readers, Reading

MOST_FINDINGS = 1_001
"""How many findings of one rule a file may have: a thousand, and one that says how many more there are."""


class Target(NamedTuple):
    """A kind of input."""

    run: Callable[[bytes, Readers], None]
    """Raises Finding for a property that does not hold, Refused for an input that krmfn does not take."""
    work: Work
    """The work of krmfn alone, for inputs that are made larger and larger."""


def streams(text: bytes, readers: Readers) -> None:
    """The objects that krmfn judges are those that Kubernetes gets from the text, and from what krmfn prints."""
    with watched():
        resources = manifests.read_stream(text)
        judged = [_data(item) for item in resources.items]
        if resources.failed:
            raise Refused("an error finding")
        printed = output.dump(resources.items)
    kubernetes, kyaml = readers.stream(text)
    if not kubernetes.error and text.endswith(b"\n"):  # Kubernetes ends the last line itself, in a literal, too
        _compare("the input is read as Kubernetes does", judged, kubernetes, text)
    _compare("the output is read as it was judged", judged, readers.stream(printed)[0], printed)
    _compare_rendered(text, judged, readers)
    _compare_interpreted(text, kubernetes, kyaml)


def _data(item: Item) -> Any:
    """Return an item's data, once it is sure that what is said of it without a parser is the same."""
    data, quick = item.manifest, Item(item.text, 0, len(item.text), item.indent)
    named = ref(data) if isinstance(data, dict) else None
    if named and (quick.ref, item.ref, quick.kind) != (named, named, named.kind):
        raise Finding("the quick reading is the reading", quick=[quick.ref, item.ref], parsed=named)
    texts = {key: text for key, text in annotations_of(data).items() if isinstance(text, str)} if named else {}
    if named and quick.annotations != texts:
        raise Finding("the quick reading is the reading", quick=quick.annotations, parsed=data)
    return data


def _compare(rule: str, judged: list[Any], kubernetes: Reading, text: bytes) -> None:
    objects = [item for data in kubernetes.objects for item in _resources(data)]
    if any(re.search(error, kubernetes.error) and re.search(sign, text) for error, sign in _TOLD):
        raise Refused("by who applies it, which is known")
    if kubernetes.error or not alike(judged, objects):
        raise Finding(rule, krmfn=judged, kubernetes=kubernetes.error or objects, text=text)


_TOLD = (
    ("unsupported value: [NI+-]", rb"(?i)\.(nan|inf)"),
    ("did not find expected ','", rb"[\[{,][^\[{,]*[^\s,\[{]\s*\?"),
    ("unknown escape character", rb"\\/"),
)
"""What krmfn passes on and Kubernetes refuses with an error, and so never reads otherwise: numbers that JSON lacks, a
`?` within a plain word in brackets, the escape of a slash. By the error, and by what is in the text."""


def _resources(data: Any) -> Iterator[Any]:
    """Yield the resources in an object as kubectl and Argo CD take lists apart; what is no resource is nobody's."""
    if not isinstance(data, dict):
        return
    version, kind, metadata = (data.get(key) for key in ("apiVersion", "kind", "metadata"))
    kind = kind if isinstance(kind, str) else ""
    if not (isinstance(version, str) and version) and not (kind and (metadata or "items" in data)):
        return  # no cluster takes a kind alone, or one that is no text: a file of CI may have one
    is_named = isinstance(metadata, dict) and bool(metadata.get("name"))
    items = data.get("items", "none")
    is_empty = items is None and kind.endswith("List") and (kind in LISTS or not is_named)
    if is_empty or isinstance(items, list):  # whatever its kind
        for item in items or ():
            yield from _resources(_headed(item, version, kind))
    else:
        yield data


def _headed(item: Any, version: Any, kind: str) -> Any:
    """Return an item of a list with the apiVersion and kind that kubectl takes from the list, where it has neither."""
    is_named = isinstance(item, dict) and isinstance(item.get("metadata"), dict) and item["metadata"].get("name")
    if not is_named or item.get("apiVersion") or item.get("kind") or kind in LISTS or not kind.endswith("List"):
        return item
    return {**item, **({"apiVersion": version} if version else {}), "kind": kind.removesuffix("List")}


def _command(*arguments: str, stdin: bytes = b"") -> tuple[int, bytes]:
    """Return the exit code and stdout of a command of krmfn's, run in this process."""
    out: list[bytes] = []
    err = io.StringIO()

    def written(data: str | bytes) -> None:
        out.append(data if isinstance(data, bytes) else data.encode(errors="backslashreplace"))

    with (
        watched(),
        redirect_stderr(err),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin))),
        mock.patch.object(output, "write_stdout", written),
    ):
        code = main.main(arguments)
    if "Traceback" in err.getvalue():
        raise Finding("no traceback", stderr=err.getvalue()[-3000:])
    return code, b"".join(out)


def _compare_rendered(text: bytes, judged: list[Any], readers: Readers) -> None:
    """Where `render` prints the stream, what krmfn has not made is in it, unchanged."""
    code, out = _command("render", "-", "--include-inputs", "--allow-empty", stdin=text) if judged else (2, b"")
    inputs = [] if code else [item for item in judged if not _is_marked(item)]
    kubernetes = readers.stream(out)[0]
    rest = iter(kubernetes.objects)
    if not all(any(alike(item, other) for other in rest) for item in inputs):
        raise Finding("render prints what it was given", given=inputs, printed=kubernetes.objects)


def _is_marked(manifest: Any) -> bool:
    return isinstance(manifest, dict) and OWNER in annotations_of(manifest)


def _compare_interpreted(text: bytes, kubernetes: Reading, kyaml: Reading) -> None:
    """Of what krmfn interprets, kustomize and Kubernetes read alike what it selects and names by, or `check` says so.

    Where nothing is made from the stream, nothing of it is interpreted. In place of a marked Module a new one is made.
    """
    first, second = ([item for data in reader.objects for item in _resources(data)] for reader in (kubernetes, kyaml))
    kinds = [(ref(item).group, ref(item).kind) for item in first]
    if len(first) != len(second) or not {*OWNERS, (MODULE_GROUP, MODULE_KIND)}.intersection(kinds):
        return
    for item, other, kind in zip(first, second, kinds, strict=True):
        seen = {"kubernetes": _naming(item), "kyaml": _naming(other)}
        if (
            kind in INPUTS | {(MODULE_GROUP, MODULE_KIND)}
            and not _is_marked(item)
            and not alike(*seen.values())
            and _command("check", "-", stdin=text)[0] == 0
        ):
            raise Finding("what is interpreted has one reading", **seen)


def _naming(manifest: Any) -> Any:
    metadata, spec = manifest.get("metadata"), manifest.get("spec")
    metadata, spec = (part if isinstance(part, dict) else {} for part in (metadata, spec))
    named = [manifest.get("kind"), *(metadata.get(key) for key in ("name", "namespace", "labels"))]
    return _without_null([*named, *(spec.get(key) for key in ("selector", "nodeSelector", "driverVersion", "taints"))])


def _without_null(data: Any) -> Any:
    """Return the data with "" for null, as kyaml has it where a text is expected."""
    if isinstance(data, dict):
        return {key: _without_null(value) for key, value in data.items()}
    return [_without_null(value) for value in data] if isinstance(data, list) else "" if data is None else data


def kustomizations(text: bytes, readers: Readers) -> None:
    """What krmfn lets kustomize build calls, reads and fetches nothing but what the graph names."""
    with tempfile.TemporaryDirectory(prefix="krmfn-fuzz-") as temporary:
        root = Path(os.path.realpath(temporary))
        folder = root / "app"
        archive.plant(str(root), archive.parse(text))
        with watched(root):
            graph = reading.read([str(folder)], str(root), OURS, absolute=True)
            if str(folder) not in graph.kustomizations:
                raise Refused("no kustomization")
            decision = decide(graph, str(folder))
            if decision.refused:
                raise Refused(str(decision.refused[0]))
            named, calls = set(files_of(graph, str(folder))), {call.image or call.program for call in decision.calls}
        build = readers.build(folder)
        seen = {"kustomize": build.built.error or "builds it", "graph": [sorted(calls), sorted(named)]}
        if build.fetched:
            raise Finding("nothing is fetched", fetched=build.fetched, **seen)
        started = {_program(command) for command in build.started}
        if started - calls or (started != calls and not build.built.error):
            raise Finding("the functions that are called are those of the graph", started=build.started, **seen)
        if build.files - named:
            raise Finding("the files that are read are those of the graph", read=sorted(build.files - named), **seen)
        if build.built.error:
            return
        with watched(root):
            resources = manifests.read_stream(build.text)
            judged = [item.manifest for item in resources.items]
            for item in resources.items:  # where a finding would look for the line of a field
                list(values.changes("metadata.name", item.manifest, {item.name}, graph.below(str(folder)), _patches))
        if not resources.failed:
            _compare("what is built is read as Kubernetes does", judged, readers.stream(build.text)[0], build.text)


_patches = values.documents_of


def _program(command: tuple[str, ...]) -> str:
    """Return what a command is in the graph: a bare name, an image; all else as it is."""
    if command[:2] == ("docker", "run") and "--mount" not in command and "host" not in command:
        return command[-1]
    return command[0] if len(command) == 1 else " ".join(command)


def lists(text: bytes, readers: Readers) -> None:
    """Nothing is lost between stdin and stdout of a function, whatever it does to some of the items."""
    before = readers.stream(text)[0]
    for function in (_nothing, krmfn, _touch):
        with watched(), redirect_stderr(io.StringIO()):
            resources = ResourceList.parse(text)
            items = [(item, item.text) for item in resources.items]
            function(resources)
            out = resources.to_bytes()
        _count(resources)
        if not out.strip():
            raise Finding("exit 0 with nothing printed" if not resources.failed else "nothing printed", text=text)
        if function is _nothing and out != text:
            raise Finding("a function that does nothing changes nothing", before=text, after=out)
        kept = {id(item) for item in resources.items}
        kept -= {id(item) for item, _ in items[:1] if function is _touch}
        for item, lines in items if not resources.failed else ():
            is_updated = function is krmfn and _is_generated(item)  # in its place
            if id(item) in kept and not is_updated and lines.rstrip() not in out:
                raise Finding("an item that is not changed leaves byte for byte", item=lines, after=out)
        if not before.error and text.endswith(b"\n") and not _is_by_chance(text):  # see `streams`
            _compare_lists(before, readers.stream(out)[0], resources.failed, function is _touch)


def _is_generated(item: Item) -> bool:
    """Return True for an item with a mark of ours; what no reader takes has none."""
    try:
        return OWNER in item.annotations
    except KrmfnError:
        return False


def _is_by_chance(text: bytes) -> bool:
    """Return True for a text with a key in two spellings, `1` and `"1"`: Go takes one of them by chance."""
    try:
        load.read(text)
    except KrmfnError as failure:
        return "spelled differently" in str(failure)
    return False


def _count(resources: ResourceList) -> None:
    most = Counter(result.rule for result in resources.results).most_common(1)
    if most and most[0][1] > MOST_FINDINGS:
        raise Finding("no rule says more than it may", rule_and_count=most)


def _compare_lists(old: Reading, new: Reading, failed: bool, touched: bool) -> None:
    before, after = (_items(reading) for reading in (old, new))
    if failed:
        if not new.error and not alike(before, after):  # nobody takes what comes with an exit code of 1
            raise Finding("with an error the items leave as they came", before=before, after=after)
        return
    rest = iter(after)
    for at, item in enumerate(before):
        if (touched and at == 0) or _is_marked(item):
            continue
        if new.error or not any(alike(item, other) for other in rest):
            raise Finding("nothing is lost", lost=item, after=new.error or after)


def _items(reading: Reading) -> list[Any]:
    items = reading.objects[0].get("items") if reading.objects and isinstance(reading.objects[0], dict) else None
    return items if isinstance(items, list) else []


def _nothing(resources: ResourceList) -> None:
    """Be a function that does nothing."""


def _touch(resources: ResourceList) -> None:
    """Be a function that changes the first item, and adds one."""
    for item in resources.items[:1]:
        resources.upsert([{**item.manifest, "touched": "yes"}])
    resources.upsert([{"apiVersion": "v1", "kind": "Touched", "metadata": {"name": "new"}}])


def _read_stream(text: bytes) -> None:
    resources = manifests.read_stream(text)
    output.dump(resources.items)
    _ = [item.manifest for item in resources.items]


def _read_graph(text: bytes) -> None:
    with tempfile.TemporaryDirectory(prefix="krmfn-fuzz-") as temporary:
        root = Path(os.path.realpath(temporary))
        archive.plant(str(root), archive.parse(text))
        decide(reading.read([str(root / "app")], str(root), OURS, absolute=True), str(root / "app"))


def _run_function(text: bytes) -> None:
    resources = ResourceList.parse(text)
    with redirect_stderr(io.StringIO()):
        krmfn(resources)
    resources.to_bytes()
    _count(resources)


TARGETS = {
    "streams": Target(streams, _read_stream),
    "kustomizations": Target(kustomizations, _read_graph),
    "lists": Target(lists, _run_function),
    "edits": Target(edits.run, edits.work),
    "schemas": Target(api_schemas.run, api_schemas.work),
    "daemonsets": Target(api_daemonsets.run, api_daemonsets.work),
}
