"""The places behind kustomize's notes: origins, documents, and what sets a field."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.kmm.lookup import MISSING, at
from krmfn_functions.kustomization import provenance, reading, values
from krmfn_functions.kustomization.documents import documents

from krmfn.item import Item
from krmfn.resource import Ref, join
from krmfn.yamltext import emit
from tests.trees import OURS, config_map, plant


def resource(annotations: dict[str, str]) -> bytes:
    metadata = {"annotations": annotations, "name": "a"} if annotations else {"name": "a"}
    return emit.dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}).encode()


def path_in_wrapper(path: str) -> str:
    return os.path.normpath(f"krmfn-x/{path}")


PARTS = st.lists(st.sampled_from(["..", "a", "b c", "#d", "krmfn", "1.10"]), max_size=4)
PATHS = PARTS.map(lambda parts: "/".join([*parts, "f.yaml"]))
TEXTS = st.text(st.sampled_from("a: |\n-#'\"/"), max_size=12).filter(lambda text: text == text.strip(" "))


@given(path=PATHS, others=st.dictionaries(st.sampled_from(["a", "zz", "config.kubernetes.io/x"]), TEXTS))
def test_paths_from_the_wrapper_become_those_from_the_folder(path: str, others: dict[str, str]) -> None:
    def noted(path: str, *steps: dict[str, str]) -> bytes:
        annotations = {provenance.ORIGIN: emit.dump({"path": path})}
        if steps:
            annotations[provenance.TRANSFORMATIONS] = emit.dump(list(steps))
        return resource(dict(sorted({**others, **annotations}.items())))

    wrapper = {"configuredIn": "kustomization.yaml"}  # the wrapper's
    inner, outer = path_in_wrapper(path), os.path.normpath(path)
    assert provenance.without_wrapper(noted(inner, wrapper), "krmfn-x") == noted(outer)
    step = {"configuredIn": f"{inner}/k.yaml"}
    assert provenance.without_wrapper(noted(inner, step, wrapper), "krmfn-x") == noted(
        outer, {"configuredIn": f"{outer}/k.yaml"}
    )
    fetched = resource({provenance.ORIGIN: emit.dump({"path": path, "repo": "https://example.com/a"})})
    assert provenance.without_wrapper(fetched, "krmfn-x") == fetched


def test_without_other_annotations_none_are_left() -> None:
    noted = resource({provenance.ORIGIN: emit.dump({"configuredIn": "kustomization.yaml"})})
    assert provenance.without_wrapper(noted, "krmfn-x") == resource({})


@given(paths=st.lists(PATHS, max_size=4), others=st.dictionaries(st.sampled_from(["a", "zz"]), TEXTS))
def test_the_notes_of_a_build_are_those_of_its_resources_in_order(paths: list[str], others: dict[str, str]) -> None:
    origins = [emit.dump({"path": path}) for path in paths]
    stream = b"---\n".join(resource({**others, provenance.ORIGIN: origin}) for origin in origins)
    assert [provenance.origin_of(notes) for notes in provenance.notes_in(stream)] == [{"path": path} for path in paths]
    assert [provenance.maker(notes) for notes in provenance.notes_in(resource(others))] == [""]


def test_an_origin_is_followed_as_kustomize_has_gone(tmp_path: Path) -> None:
    """A link is no part of the way: what lies beside its target is written as if beside the link."""
    files = {
        "app/kustomization.yaml": "resources: [link, own.yaml]",
        "app/own.yaml": config_map("own"),
        "app/link": "-> ../far/base",
        "far/base/kustomization.yaml": "resources: [../other, base.yaml]",
        "far/base/base.yaml": config_map("base"),
        "far/other/kustomization.yaml": "resources: [other.yaml]",
        "far/other/other.yaml": config_map("other"),
    }
    folder = os.path.realpath(plant(tmp_path, files) / "app")
    graph = reading.read([folder], str(tmp_path), OURS, absolute=True)
    result = provenance.origins(graph, folder, "x")
    assert {path: os.path.relpath(file.real, os.path.realpath(tmp_path)) for path, file in result.files.items()} == {
        "x/own.yaml": "app/own.yaml",
        "x/link/base.yaml": "far/base/base.yaml",
        "x/other/other.yaml": "far/other/other.yaml",
    }
    assert result.kustomizations["x/other/kustomization.yaml"].folder == os.path.realpath(tmp_path / "far" / "other")


def items(*names: str, namespace: str = "") -> list[Item]:
    space = f", namespace: {namespace}" if namespace else ""
    texts = (config_map(name).replace("}", f"{space}}}", 1) for name in names)
    return list(documents("a.yaml", "---\n".join(texts).encode()))


@pytest.mark.parametrize(
    ("candidates", "name", "names", "expected"),
    [
        (items("a", "b"), "lab-b", {"lab-b", "b"}, "b"),
        (items("a"), "other", {"other"}, "a"),  # a patch has renamed it, and there is no second one
        (items("a", "b"), "other", {"other"}, None),
        (items("b", "lab-b"), "lab-b", {"lab-b", "b"}, None),
        ([*items("a", namespace="x"), *items("a", namespace="kmm")], "a", {"a"}, "a"),
    ],
)
def test_a_document_is_found_or_not_certain(
    candidates: list[Item], name: str, names: set[str], expected: str | None
) -> None:
    document = provenance.document(provenance.by_kind(candidates), Ref("v1", "ConfigMap", "kmm", name), names)
    assert (document.name if document else None) == expected


NAMED = st.lists(st.sampled_from("abcdef"), unique=True, max_size=5).map(
    lambda names: [{"name": name, "value": [name, {"deep": name}]} for name in names]
)


@given(entries=NAMED, other=NAMED)
def test_entries_of_lists_are_known_by_their_names(entries: list[dict[str, str]], other: list[dict[str, str]]) -> None:
    for number, entry in enumerate(entries):
        parts = ("list", str(number), "value", "1", "deep")
        value = at({"list": other}, values.corresponding_path(parts, {"list": entries}, {"list": other}))
        assert value == (entry["name"] if entry in other else MISSING), join(parts)
