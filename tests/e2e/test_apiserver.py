"""A real API server judges: our reading of KMM's CRDs against its own, and every object that we generate."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from krmfn_functions.kmm.crd import structure
from krmfn_functions.kmm.module import Module
from krmfn_functions.kmm.versions import DEFAULT, target
from krmfn_functions.paths import manifests
from krmfn_functions.rendering.kinds import DEVICECONFIG, PTEMPLATE

from krmfn import Item, Manifest
from tests import kmm_crds
from tests.builders import manifest
from tests.commands import COMMANDS, ROOT

from .control_plane import wait
from .engines import EXAMPLES, RENDERED, must
from .kube import YAML, Cluster, Verdict, install_crd, one_version

MODULES = Path(__file__).parent / "modules"
"""Modules by what the newest KMM's CRD makes of them: valid, invalid, and dropped (apply silently loses a part)."""

every_version = pytest.mark.parametrize("kmm", kmm_crds.crds(), indirect=True, ids=str)
every_structure = pytest.mark.parametrize("kmm", kmm_crds.crds(*kmm_crds.DISTINCT), indirect=True, ids=str)
newest = pytest.mark.parametrize("kmm", kmm_crds.crds(kmm_crds.NEWEST), indirect=True, ids=str)


@cache
def corpus(*folders: str) -> dict[str, Item]:
    """The Modules of these folders by folder, file and name."""
    files = [path for folder in folders for path in sorted((MODULES / folder).glob("*.yaml"))]
    named = [(f"{path.parent.name}/{path.stem}", item) for path in files for item in manifests.read(str(path)).items]
    by_name = {f"{file}/{item.name}": item for file, item in named}
    assert len(by_name) == len(named) > 0, "names are unique in a file"
    return by_name


def place_of(cluster: Cluster, item: Item) -> str:
    return cluster.path_of(item.ref.api_version, item.kind, item.ref.namespace, item.name)


def verdict(cluster: Cluster, item: Item) -> Verdict:
    text = item.text
    return cluster.dry_run(place_of(cluster, item), text.replace(b"-", b" ", 1) if text.lstrip()[:2] == b"- " else text)


def findings(module: Manifest, version: str) -> list[str]:
    """What we say that the API server says, word for word."""
    errors = [result for result in structure.check(Module(module), version) if result.severity == "error"]
    return [dict(result.tags)["admission"] for result in errors]


def agree(table: list[tuple[str, str, list[str]]]) -> None:
    """Fail with the rows in which the server (its words) and we (our findings) do not both accept or both refuse."""
    rows = [(name, refusal, ours) for name, refusal, ours in table if bool(refusal) != bool(ours)]
    lines = [
        f"{name}\n  server: {refusal or 'accepted'}\n  we:     {ours or 'accepted'}" for name, refusal, ours in rows
    ]
    assert not rows, f"{len(rows)} of {len(table)} verdicts differ\n" + "\n".join(lines)


@every_version
def test_we_accept_and_refuse_what_the_server_does(kmm: Cluster) -> None:
    cases = corpus("valid", "invalid").items()
    agree([(name, verdict(kmm, item).refusal, findings(item.manifest, kmm.kmm)) for name, item in cases])


@newest
def test_the_modules_lie_in_the_right_folder(kmm: Cluster) -> None:
    """So that a mistake in the corpus itself is seen: a case is refused for what it is about, or not at all."""
    refusals = {name: verdict(kmm, item).refusal for name, item in corpus("valid", "invalid").items()}
    assert {name: refusal for name, refusal in refusals.items() if bool(refusal) == name.startswith("valid/")} == {}


def sentences(answer: dict[str, Any]) -> list[str]:
    """The single sentences of a refusal; none when the object was no JSON (`.inf`)."""
    if answer["reason"] == "Invalid":
        return [f"{cause['field']}: {cause['message']}" for cause in answer["details"]["causes"]]
    _, _, undecodable = answer["message"].partition(" cannot be handled as a Module: ")
    unknown = re.findall(r'unknown field "[^"]*"', undecodable)
    return [f"strict decoding error: {field}" for field in unknown] or [undecodable] if undecodable else []


def created(cluster: Cluster, item: Item) -> list[str]:
    """What a strict create says against a Module."""
    folder = place_of(cluster, item).rpartition("/")[0]
    code, answer = cluster.request("POST", f"{folder}?fieldValidation=Strict&dryRun=All", item.text, YAML)
    return sentences(answer) if code >= 400 else []


@every_version
def test_we_say_what_a_strict_create_says(kmm: Cluster) -> None:
    """Apply's own words depend on what else is wrong; those of a create are the CRD validation's. Ours are these."""
    missing = []
    for name, item in corpus("invalid", "dropped").items():
        ours = findings(item.manifest, kmm.kmm)
        missing += [f"{name}\n  server: {text}\n  we:     {ours}" for text in created(kmm, item) if text not in ours]
    assert not missing, "\n".join(missing)


@every_version
def test_first_is_what_a_strict_create_prints(kmm: Cluster) -> None:
    """All that it says, and nothing else, is marked `first`; what a create takes is refused by an apply alone."""
    wrong = []
    for name, item in corpus("invalid", "dropped").items():
        first = [dict(result.tags) for result in structure.check(Module(item.manifest), kmm.kmm)]
        ours = {tags["admission"] for tags in first if tags.get("first")}
        printed = set(created(kmm, item)) or set(findings(item.manifest, kmm.kmm))
        wrong += [f"{name}\n  server: {sorted(printed)}\n  first:  {sorted(ours)}"] if printed != ours else []
    assert not wrong, "\n".join(wrong)


@every_version
def test_what_apply_would_silently_drop_is_refused(kmm: Cluster) -> None:
    for name, item in corpus("dropped").items():
        assert verdict(kmm, item).accepted, name
        assert findings(item.manifest, kmm.kmm), name


@one_version
def test_kubectl_says_what_we_ask_the_server_directly(kmm: Cluster) -> None:
    files = [MODULES / "valid" / "volumes.yaml", MODULES / "invalid" / "bounds.yaml"]
    flags = ["apply", "--server-side", "--validate=strict", "--dry-run=server", "-o", "name"]
    done = kmm.kubectl(*flags, *(f"--filename={file}" for file in files))
    items = [item for file in files for item in manifests.read(str(file)).items]
    verdicts = {item.name: verdict(kmm, item) for item in items}
    accepted = {line.rpartition("/")[2] for line in done.out.decode().splitlines()}
    assert accepted == {name for name, answer in verdicts.items() if answer.accepted} != set()
    assert [answer.refusal for answer in verdicts.values() if answer.refusal not in done.err] == []


# Every field of the CRD, given every kind of value.

KINDS: tuple[Any, ...] = ("text", "", 1, 1.5, True, None, [], {}, {"noSuchField": 1})
Wrap = Callable[[Any], Any]


def smallest(schema: dict[str, Any]) -> Any:
    """The smallest value that a schema accepts."""
    if schema.get("x-kubernetes-int-or-string"):
        return "1"
    if schema["type"] == "array":
        return [smallest(schema["items"])] * schema.get("minItems", 0)
    fields = schema.get("properties", {})
    small = {"string": "a", "integer": 1, "boolean": True}
    return small.get(schema["type"]) or {key: smallest(fields[key]) for key in schema.get("required", ())}


def beside(others: dict[str, Any], key: str, wrap: Wrap) -> Wrap:
    return lambda value: wrap(others | {key: value})


def fields_of(schema: dict[str, Any], path: str, wrap: Wrap) -> Iterator[tuple[str, dict[str, Any], Wrap]]:
    """Each field below, with its schema and a way to make a whole that is valid but for that field."""
    yield path, schema, wrap
    if "properties" in schema:
        for key, child in schema["properties"].items():
            yield from fields_of(child, f"{path}.{key}", beside(smallest(schema), key, wrap))
    elif isinstance(schema.get("additionalProperties"), dict):
        yield from fields_of(schema["additionalProperties"], f"{path}.key", lambda value: wrap({"key": value}))
    elif schema.get("type") == "array":
        yield from fields_of(schema["items"], f"{path}[0]", lambda value: wrap([value]))


def silent(schema: dict[str, Any]) -> bool:
    """An object without fields: apply drops whatever it holds (see `dropped`)."""
    keys = {"properties", "additionalProperties", "x-kubernetes-preserve-unknown-fields"}
    return schema.get("type") == "object" and not keys & schema.keys()


@every_structure  # the CRDs of 2.4 and 2.5 are the same
def test_every_field_takes_the_kinds_of_values_that_the_server_takes(kmm: Cluster) -> None:
    assert kmm.crds
    [version] = kmm.crds.module()["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    head = manifest("kmm.sigs.x-k8s.io/v1beta1", "Module")
    place = kmm.place_of(head)
    table = []
    for path, schema, wrap in fields_of(spec, "spec", beside(head, "spec", dict)):
        for value in KINDS[:-1] if silent(schema) else KINDS:
            module = wrap(value)
            answer = kmm.dry_run(place, json.dumps(module).encode())
            table.append((f"{path} = {json.dumps(value)}", answer.refusal, findings(module, kmm.kmm)))
    assert len(table) > 4000
    agree(table)


# What we generate.


class Source(NamedTuple):
    """An example, or a case that a function accepts."""

    folder: Path

    def __str__(self) -> str:
        return str(self.folder.relative_to(ROOT))

    @property
    def golden(self) -> Path:
        return self.folder / "expected.yaml"

    def kmm_version(self) -> str:
        """The KMM version whose CRDs its functionConfig is for."""
        texts = [path.read_text(errors="replace") for path in sorted(self.folder.rglob("*.yaml"))]
        named = re.search(r"^ +kmm: *(?:\{ *|\n +)version: *[\"']?([\w.]+)", "\n".join(texts), re.M)
        version = target(named[1]).name if named else DEFAULT
        return version if version in kmm_crds.VERSIONS else kmm_crds.NEWEST

    @cache  # noqa: B019
    def objects(self) -> list[Item]:
        """What the functions have made of it."""
        streams = [self.golden.read_bytes()] if self.golden.exists() else list(self.rendered())
        items = [item for stream in streams for item in manifests.read_stream(stream).items]
        scopes = (DEVICECONFIG, PTEMPLATE)
        return [item for item in items if any(scope.has_generated(item.ref, item.annotations) for scope in scopes)]

    def rendered(self) -> Iterator[bytes]:
        yield must(COMMANDS / "krmfn", "render", self.folder)


def sources() -> list[Source]:
    examples = [EXAMPLES / name for name in RENDERED]
    cases = sorted(path.parent for path in (ROOT / "tests" / "cases").glob("*/valid/*/expected.yaml"))
    return [Source(folder) for folder in [*examples, *cases]]


SOURCES = sources()


OTHERS = ("monitoring.coreos.com", "nfd.openshift.io", "nfd.k8s-sigs.io")


def is_kmm(item: Item) -> bool:
    return item.group.endswith("kmm.sigs.x-k8s.io")


def install_others(cluster: Cluster, items: list[Item]) -> None:
    """Let the kinds of Prometheus' operator and of Node Feature Discovery among the items exist; any field is fine."""
    others = {(item.ref.api_version, item.kind, item.ref.namespace) for item in items if item.group in OTHERS}
    for api_version, kind, namespace in sorted(others):
        group, _, number = api_version.partition("/")
        names = {"kind": kind, "plural": f"{kind.lower()}s", "singular": kind.lower()}
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        version = {"name": number, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        scope = "Namespaced" if namespace else "Cluster"
        name = f"{names['plural']}.{group}"
        crd = manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, "")
        crd["spec"] = {"group": group, "names": names, "scope": scope, "versions": [version]}
        install_crd(cluster, json.dumps(crd).encode(), name)
        place = f"/apis/{api_version}{'/namespaces/kmm' if namespace else ''}/{names['plural']}"
        wait(f"{kind} is served", 30, partial(cluster.is_served, place))


def refused(cluster: Cluster, items: list[Item]) -> list[str]:
    """What the server says against these objects, in namespaces that exist."""
    for namespace in sorted({item.ref.namespace for item in items} - {""}):
        cluster.namespace(namespace)
    verdicts = [(item, verdict(cluster, item)) for item in items]
    return [f"{item.ref}: {answer.refusal}" for item, answer in verdicts if not answer.accepted]


@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_every_generated_workload_is_accepted(cluster: Cluster, source: Source) -> None:
    items = [item for item in source.objects() if not is_kmm(item)]
    install_others(cluster, items)
    assert refused(cluster, items) == []


JUDGED = [(crds, source) for source in SOURCES for crds in kmm_crds.crds(source.kmm_version())]


@pytest.mark.parametrize(("kmm", "source"), JUDGED, indirect=["kmm"], ids=str)
def test_every_generated_module_is_accepted(kmm: Cluster, source: Source) -> None:
    assert refused(kmm, [item for item in source.objects() if is_kmm(item)]) == []


def test_there_was_something_to_judge() -> None:
    items = [item for source in SOURCES for item in source.objects()]
    assert {"Module", "DaemonSet"} <= {item.kind for item in items}
