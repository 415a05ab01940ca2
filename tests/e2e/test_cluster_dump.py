"""A dump of a real API server against the files that were applied: what servers write is no change, all else is one."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from krmfn_functions.kmm.versions import DEFAULT
from krmfn_functions.programs import defaults

from krmfn import Manifest
from krmfn.cli import manifests
from krmfn.plan import plan
from krmfn.resource import ref
from krmfn.yamltext import emit
from tests import kmm_crds
from tests.commands import process

from .kube import Cluster
from .test_apiserver import SOURCES, is_kmm

MANIFESTS = Path(__file__).parent / "dumped.yaml"
one_version = pytest.mark.parametrize("kmm", kmm_crds.every(DEFAULT), indirect=True, ids=str)
newest = pytest.mark.parametrize("kmm", kmm_crds.every(kmm_crds.NEWEST), indirect=True, ids=str)


def written(file: Path = MANIFESTS) -> list[Manifest]:
    return [one for one in yaml.safe_load_all(file.read_text()) if one]


def dumped(cluster: Cluster, applied: list[Manifest], *options: str) -> bytes:
    """What kubectl prints of these objects, in one List."""
    names: dict[tuple[str, str], list[str]] = {}
    for one in map(ref, applied):
        names.setdefault((f"{one.kind}.{one.group}", one.namespace), []).append(one.name)
    items: list[Manifest] = []
    for (kind, namespace), of_kind in names.items():
        done = cluster.kubectl("get", kind, *of_kind, *(["-n", namespace] if namespace else []), "-o", "json", *options)
        assert done.code == 0, done.err
        answer = json.loads(done.out)
        items += answer.get("items", [answer])
    return emit.dump({"apiVersion": "v1", "kind": "List", "items": items}).encode()


def applied(cluster: Cluster, file: Path, *options: str) -> None:
    done = cluster.kubectl("apply", f"--filename={file}", *options)
    assert done.code == 0, done.err


@newest
@pytest.mark.parametrize("how", [(), ("--server-side", "--force-conflicts")], ids=["kubectl", "server-side"])
@pytest.mark.parametrize("shown", [(), ("--show-managed-fields",)], ids=["plain", "managed-fields"])
def test_what_was_applied_is_no_change(
    kmm: Cluster, how: tuple[str, ...], shown: tuple[str, ...], tmp_path: Path
) -> None:
    applied(kmm, MANIFESTS, *how)
    dump = dumped(kmm, written(), *shown)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.yaml").write_text(MANIFESTS.read_text())
    done = process("krmfn", "diff", "-", "files", "--quiet", cwd=tmp_path, stdin=dump)
    assert (done.code, done.text) == (0, f"nothing changes, {len(written())} unchanged\n")
    done = process("krmfn", "diff", "files", "-", "--quiet", cwd=tmp_path, stdin=dump)
    assert (done.code, done.text) == (0, f"nothing changes, {len(written())} unchanged\n")


@one_version
def test_what_we_generate_is_no_change(kmm: Cluster, tmp_path: Path) -> None:
    """All that examples and cases render, applied and dumped."""
    made = [(source, item) for source in SOURCES for item in source.objects()]
    of_others = "monitoring.coreos.com"  # the server has no CRD of theirs
    plain = {item.ref.id: item for _, item in made if not is_kmm(item) and item.group != of_others}
    modules = [(source, item) for source, item in made if item.kind == "Module"]
    of_version = {item.ref.id: item for source, item in modules if source.kmm_version() == DEFAULT}
    items = [*plain.values(), *of_version.values()]
    for namespace in sorted({item.ref.namespace for item in items} - {""}):
        kmm.namespace(namespace)
    objects = [item.manifest for item in items]
    assert {"DaemonSet", "Service", "Module"} <= {one["kind"] for one in objects}
    file = tmp_path / "a.yaml"
    file.write_text("---\n".join(map(emit.dump, objects)))
    try:
        applied(kmm, file)  # an apply of the server would read U+0085 in a text as a line break
        old = [item.manifest for item in manifests.read_stream(dumped(kmm, objects)).items]
    finally:  # other tests apply some of them in another way
        kmm.kubectl("delete", "--ignore-not-found", "--wait=false", "--filename", file)
    changes = plan(old, objects, defaults(), (True, False)).changes
    assert [(str(change.ref), field) for change in changes for field in change.fields or [None]] == []


def leaves(value: Any, parts: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Each place in a manifest that holds a scalar or nothing more."""
    if isinstance(value, dict | list) and value:
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(child, (*parts, key))
    else:
        yield parts


def edited(manifest: Manifest, parts: tuple[Any, ...], change: Any) -> Manifest:
    """A copy with another value at a place, or without it."""
    made = copy.deepcopy(manifest)
    holder: Any = made
    for part in parts[:-1]:
        holder = holder[part]
    if change is None:
        del holder[parts[-1]]
    else:
        holder[parts[-1]] = change(holder[parts[-1]])
    return made


def another(value: Any) -> Any:
    """Return another value of the same type, as far as it has one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return f"{value or 'x'}9" if isinstance(value, str) or not value else value


IDENTITY = {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")}


@newest
def test_every_other_edit_is_a_change(kmm: Cluster) -> None:
    """Each field that somebody wrote, with another value and without it; what means nothing is left out by hand."""
    applied(kmm, MANIFESTS)
    new = written()
    old = {ref(one).id: one for one in (item.manifest for item in manifests.read_stream(dumped(kmm, new)).items)}
    unseen, edits = [], 0
    for manifest in new:
        for parts in leaves(manifest):
            if parts in IDENTITY:
                continue
            for change in (another, None):
                edits += 1
                if not plan(
                    [old[ref(manifest).id]], [edited(manifest, parts, change)], defaults(), (True, False)
                ).changes:
                    unseen.append(
                        (manifest["kind"], ".".join(map(str, parts)), "removed" if change is None else "other")
                    )
    assert edits > 300
    assert [one for one in unseen if not means_nothing(one)] == []


def means_nothing(edit: tuple[str, str, str]) -> bool:
    """Return True for the removal of what is empty anyway, or of what the server would fill in again."""
    _, path, how = edit
    empty = ("labels", "annotations", "command", "rules", "subjects", "env.1.value", "volumes.1.emptyDir", "items")
    filled = ("keySecret", "dockerfileConfigMap", "livenessProbe.httpGet.path", "spec.type")
    return how == "removed" and path.endswith(empty + filled)
