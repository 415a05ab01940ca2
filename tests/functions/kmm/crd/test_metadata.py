"""What the API server says to metadata, in the text that tests/e2e/test_apiserver.py has from a real one."""

from __future__ import annotations

from typing import Any

import pytest
from krmfn_functions.kmm.crd.metadata import STRUCTS
from krmfn_functions.kmm.rule import tag

from ..manifests import refused_by_schema

JSON, INTO = "json: cannot unmarshal", "into Go struct field ObjectMeta"
OWNED = "into Go struct field OwnerReference.ownerReferences"
LABEL = "name part must consist of alphanumeric characters"
SUBDOMAIN = "a lowercase RFC 1123 subdomain must consist"
UNKNOWN = "strict decoding error: unknown field "
OWNER: dict[str, Any] = {"apiVersion": "v1", "kind": "Node", "name": "a", "uid": "u"}
OWNERS = "metadata.ownerReferences"
MERGE = "failed to create typed patch object (kmm/simple; kmm.sigs.x-k8s.io/v1beta1, Kind=Module): "


def texts(metadata: Any) -> list[str]:
    """The refusals of a Module with this metadata, to which a name and a namespace are added."""
    whole = {"name": "simple", "namespace": "kmm"} | metadata if isinstance(metadata, dict) else metadata
    made = {"apiVersion": "kmm.sigs.x-k8s.io/v1beta1", "kind": "Module", "metadata": whole}
    return [tag(result, "admission") or "" for result in refused_by_schema(made)]


@pytest.mark.parametrize(
    ("field", "value", "start"),
    [
        ("name", None, "metadata.name: Required value: name or generateName is required"),
        ("name", "A", f'metadata.name: Invalid value: "A": {SUBDOMAIN}'),
        ("name", "a" * 254, f'metadata.name: Invalid value: "{"a" * 254}": must be no more than 253'),
        ("generateName", "A", f'metadata.generateName: Invalid value: "A": {SUBDOMAIN}'),
        ("generateName", "a..", f'metadata.generateName: Invalid value: "a..": {SUBDOMAIN}'),
        ("generateName", "-", f'metadata.generateName: Invalid value: "-": {SUBDOMAIN}'),
        ("namespace", "a.b", 'metadata.namespace: Invalid value: "a.b": a lowercase RFC 1123 label must consist'),
        ("labels", {"a b": "c"}, f'metadata.labels: Invalid value: "a b": {LABEL}'),
        ("labels", {"a": "b c"}, 'metadata.labels: Invalid value: "b c": a valid label must be an empty string'),
        ("annotations", {"A/b c": ""}, f'metadata.annotations: Invalid value: "A/b c": {LABEL}'),
        ("finalizers", ["a b"], f'metadata.finalizers: Invalid value: "a b": {LABEL}'),
        ("finalizers", ["a/b/c"], 'metadata.finalizers: Invalid value: "a/b/c": a qualified name must consist'),
        (
            "finalizers",
            ["orphan", "foregroundDeletion"],
            'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: '
            "finalizer orphan and foregroundDeletion cannot be both set",
        ),
        ("finalizers", ["a", "a"], f'{MERGE}.metadata.finalizers: duplicate entries for key [="a"]'),
        ("managedFields", [], "metadata.managedFields must be nil"),
        ("managedFields", [{"manager": "a"}], "metadata.managedFields must be nil"),
        ("label", {}, f'{UNKNOWN}"metadata.label"'),
        ("clusterName", None, f'{UNKNOWN}"metadata.clusterName"'),
    ],
)
def test_values_of_bad_form(field: str, value: Any, start: str) -> None:
    [text] = texts({field: value})
    assert text.startswith(start)


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("labels", {"a": 1}, f"{JSON} number {INTO}.labels of type string"),
        ("annotations", {"a": True}, f"{JSON} bool {INTO}.annotations of type string"),
        ("labels", ["a"], f"{JSON} array {INTO}.labels of type map[string]string"),
        ("labels", "", f"{JSON} string {INTO}.labels of type map[string]string"),
        ("name", 7, f"{JSON} number {INTO}.name of type string"),
        ("generateName", 1, f"{JSON} number {INTO}.generateName of type string"),
        ("uid", 1, f"{JSON} number {INTO}.uid of type types.UID"),
        ("uid", [], f"{JSON} array {INTO}.uid of type types.UID"),
        ("resourceVersion", 1, f"{JSON} number {INTO}.resourceVersion of type string"),
        ("selfLink", {}, f"{JSON} object {INTO}.selfLink of type string"),
        ("creationTimestamp", 1.5, f"{JSON} number {INTO}.creationTimestamp of type string"),
        ("deletionTimestamp", [], f"{JSON} array {INTO}.deletionTimestamp of type string"),
        ("generation", "x", f"{JSON} string {INTO}.generation of type int64"),
        ("generation", True, f"{JSON} bool {INTO}.generation of type int64"),
        ("generation", 1.5, f"{JSON} number 1.5 {INTO}.generation of type int64"),
        ("deletionGracePeriodSeconds", "x", f"{JSON} string {INTO}.deletionGracePeriodSeconds of type int64"),
        ("finalizers", "a", f"{JSON} string {INTO}.finalizers of type []string"),
        ("finalizers", {}, f"{JSON} object {INTO}.finalizers of type []string"),
        ("finalizers", [1], f"{JSON} number {INTO}.finalizers of type string"),
        ("ownerReferences", "a", f"{JSON} string {INTO}.ownerReferences of type []v1.OwnerReference"),
        ("ownerReferences", [[]], f"{JSON} array {INTO}.ownerReferences of type v1.OwnerReference"),
        ("ownerReferences", [OWNER | {"uid": 1}], f"{JSON} number {OWNED}.uid of type types.UID"),
        ("ownerReferences", [OWNER | {"name": 1.5}], f"{JSON} number {OWNED}.name of type string"),
        ("ownerReferences", [OWNER | {"controller": "x"}], f"{JSON} string {OWNED}.controller of type bool"),
        ("managedFields", {}, f"{JSON} object {INTO}.managedFields of type []v1.ManagedFieldsEntry"),
    ],
)
def test_values_of_wrong_types(field: str, value: Any, text: str) -> None:
    assert texts({field: value}) == [text]


def test_managed_fields_are_read_before_they_are_refused() -> None:
    into = "into Go struct field ManagedFieldsEntry.managedFields"
    refusals = texts({"managedFields": [{"operation": 1, "fieldsV1": 1, "nope": None}]})
    assert refusals == [
        f"{JSON} number {into}.operation of type v1.ManagedFieldsOperationType",
        f'{UNKNOWN}"metadata.managedFields[0].nope"',
        "metadata.managedFields must be nil",
    ]


@pytest.mark.parametrize(("metadata", "given"), [([], "array"), ("a", "string"), (1, "number"), (True, "bool")])
def test_metadata_that_is_none(metadata: Any, given: str) -> None:
    assert texts(metadata) == [f"{JSON} {given} into Go value of type v1.ObjectMeta"]


def test_no_metadata_at_all() -> None:
    assert texts(None) == ["metadata.name: Required value: name or generateName is required"]


@pytest.mark.parametrize(
    "metadata",
    [
        {"name": None, "generateName": "a-", "labels": {"a": ""}, "annotations": {"Example.com/a": "any text"}},
        {"name": None, "generateName": "a--"},
        dict.fromkeys(set(STRUCTS["v1.ObjectMeta"]) - {"name"}),
        {"labels": {"a": None}, "annotations": {"a": None}, "finalizers": [], "ownerReferences": []},
        {"finalizers": ["a", "a.b/c", "orphan"], "resourceVersion": "1", "uid": "", "selfLink": "s"},
        {"generation": 1.0, "deletionGracePeriodSeconds": -1, "creationTimestamp": "2026-01-01T00:00:00Z"},
        {"ownerReferences": [OWNER, {**OWNER, "uid": "v", "controller": True, "blockOwnerDeletion": False}]},
        {"ownerReferences": [OWNER | {"apiVersion": "/v1", "kind": "No de", "controller": None}]},
        {"ownerReferences": [OWNER | {"apiVersion": "events.k8s.io/v1", "kind": "Event"}]},
    ],
)
def test_metadata_that_is_fine(metadata: dict[str, Any]) -> None:
    assert texts(metadata) == []


@pytest.mark.parametrize("owner", [{}, None, dict.fromkeys(OWNER, ""), dict.fromkeys(OWNER)])
def test_an_owner_without_anything(owner: Any) -> None:
    missing = ['apiVersion: Invalid value: "": version must not be empty']
    missing += [f'{key}: Invalid value: "": must not be empty' for key in ("kind", "name", "uid")]
    assert texts({"ownerReferences": [owner]}) == [f"{OWNERS}.{text}" for text in missing]


@pytest.mark.parametrize("api_version", ["", "/", "a/", "a/b/c"])
def test_an_owner_without_a_version(api_version: str) -> None:
    refusals = texts({"ownerReferences": [OWNER | {"apiVersion": api_version}]})
    assert refusals == [f'{OWNERS}.apiVersion: Invalid value: "{api_version}": version must not be empty']


def test_an_owner_with_fields_of_its_own() -> None:
    assert texts({"ownerReferences": [OWNER, OWNER | {"uid": "v", "nope": None}]}) == [f'{UNKNOWN}"{OWNERS}[1].nope"']


def test_an_event_owns_nothing() -> None:
    shown = '{"apiVersion":"v1","kind":"Event","name":"a","uid":"u","controller":false}'
    refusals = texts({"ownerReferences": [OWNER | {"controller": False, "kind": "Event"}]})
    assert refusals == [f"{OWNERS}: Invalid value: {shown}: /v1, Kind=Event is disallowed from being an owner"]


def test_one_owner_controls() -> None:
    owners = [
        OWNER | {"controller": True, "uid": uid, "name": name} for uid, name in (("u", "a"), ("v", "<"), ("w", "c"))
    ]
    shown = ",".join(
        f'{{"apiVersion":"v1","kind":"Node","name":"{name}","uid":"{uid}","controller":true}}'
        for uid, name in (("u", "a"), ("v", r"\u003c"), ("w", "c"))
    )
    only = 'Only one reference can have Controller set to true. Found "true" in references for Node/a and Node'
    assert texts({"ownerReferences": owners}) == [
        f"{OWNERS}: Invalid value: [{shown}]: {only}/{name}" for name in ("<", "c")
    ]


def test_owners_differ() -> None:
    twice = f'{MERGE}.{OWNERS}: duplicate entries for key [uid="u"]'
    assert texts({"ownerReferences": [OWNER, OWNER, OWNER | {"name": "b"}]}) == [twice, twice]


def test_a_finalizer_that_is_null_is_empty() -> None:
    refusals = texts({"finalizers": [None]})
    assert refusals[0] == 'metadata.finalizers: Invalid value: "": name part must be non-empty'
    assert refusals[1].startswith(f'metadata.finalizers: Invalid value: "": {LABEL}') and len(refusals) == 2


def test_annotations_are_short() -> None:
    limit = 256 * 1024
    assert texts({"annotations": {"a": "x" * (limit - 1)}}) == []
    assert texts({"annotations": {"a": "é" * (limit // 2 - 1), "b": None}}) == []
    text = f"metadata.annotations: Too long: may not be more than {limit} bytes"
    assert texts({"annotations": {"a": "x" * limit}}) == [text]
    assert texts({"annotations": {"a": "é" * (limit // 2)}}) == [text]
    assert texts({"annotations": {"a": "x" * (limit // 2), "b": "x" * (limit // 2 - 1)}}) == [text]


@pytest.mark.parametrize("metadata", [{"name": None}, {"annotations": {"a": "x" * 2**18}}])
def test_what_is_missing_or_too_long_blocks_the_cel_rules(metadata: dict[str, Any]) -> None:
    made = {"kind": "Module", "metadata": {"name": "a"} | metadata}
    assert [result.rule for result in refused_by_schema(made, "main")][1:] == ["KMM060"]


def test_a_generated_name_is_judged_with_its_end() -> None:
    [text] = texts({"name": None, "generateName": "A-"})
    assert text.startswith(f'metadata.name: Invalid value: "A-xxxxx": {SUBDOMAIN}')
    assert texts({"name": None, "generateName": "a" * 58 + "-"}) == []


@pytest.mark.parametrize("junk", [None, 3, 1.5, "x", [], {}, [None], ["x"], [[]], {"a": None}, {"a": []}, float("nan")])
def test_broken_metadata_raises_nothing(junk: Any) -> None:
    texts(junk)
    for field in STRUCTS["v1.ObjectMeta"]:
        texts({field: junk})
        texts({field: [junk, junk]})
    for key in STRUCTS["v1.OwnerReference"]:
        texts({"ownerReferences": [OWNER | {key: junk}, {key: junk}]})
