"""Merge patches and JSON patches of an item."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from krmfn import Refused
from krmfn.item import Item

DEPLOYMENT = """\
# of the shop
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web # the name
  finalizers: [a] # first
spec:
  replicas: 2 # few
  template:
    spec:
      containers:
      # serves pages
      - name: page # p
        image: page:1 # pinned
        args: [a] # all
        env:
        - name: MODE # how
          value: fast # v
        ports:
        - containerPort: 80 # public
      # writes logs
      - name: log # l
        image: log:1
      tolerations: # here
      - key: spot # cheap
"""
POD = ("spec", "template", "spec")


def item_of(text: str) -> Item:
    return Item(text.encode(), 0, len(text.encode()), -2)


def merged(patch: dict[str, Any], text: str = DEPLOYMENT) -> str:
    item = item_of(text)
    item.merge(patch)
    return item.document.decode()


def pod(patch: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"template": {"spec": patch}}}


@pytest.mark.parametrize(
    ("patch", "old", "new"),
    [
        ({"spec": {"replicas": 3}}, "replicas: 2", "replicas: 3"),
        ({"spec": {"replicas": None}}, "  replicas: 2 # few\n", ""),
        ({"metadata": {"finalizers": ["a", "b"]}}, "[a] # first", "[a, b] # first"),
        (pod({"containers": [{"name": "page", "image": "page:2"}]}), "page:1", "page:2"),
        (pod({"containers": [{"name": "page", "args": ["b", "c"]}]}), "[a] # all", "[b, c] # all"),
        (pod({"containers": [{"name": "page", "env": [{"name": "MODE", "value": "slow"}]}]}), "fast", "slow"),
        (
            pod({"containers": [{"name": "page", "ports": [{"containerPort": 80, "protocol": "TCP"}]}]}),
            "80 # public\n",
            "80 # public\n          protocol: TCP\n",
        ),
        (
            pod({"containers": [{"name": "log", "$patch": "delete"}]}),
            "      # writes logs\n      - name: log # l\n        image: log:1\n",
            "",
        ),
        (
            pod({"tolerations": [{"key": "spot"}, {"key": "b", "value": None}]}),
            "- key: spot # cheap\n",
            "- key: spot # cheap\n      - key: b\n",
        ),
        (
            pod({"containers": [{"name": "x", "env": None, "args": []}]}),
            "        image: log:1\n",
            "        image: log:1\n      - name: x\n        args: []\n",
        ),
    ],
    ids=str,
)
def test_a_merge_changes_what_it_names_and_keeps_every_other_line(patch: dict[str, Any], old: str, new: str) -> None:
    assert merged(patch) == DEPLOYMENT.replace(old, new, 1)


def test_a_patch_that_changes_nothing_is_no_edit() -> None:
    item = item_of(DEPLOYMENT)
    item.merge({"spec": {"replicas": 2}, "metadata": {"labels": None}})
    item.patch_json6902([{"op": "test", "path": "/spec/replicas", "value": 2}])
    assert not item.is_edited
    assert item.document.decode() == DEPLOYMENT


def test_a_list_and_a_mapping_are_replaced_where_the_patch_says_so() -> None:
    data = yaml.safe_load(merged(pod({"containers": [{"$patch": "replace"}, {"name": "one"}]})))
    assert data["spec"]["template"]["spec"]["containers"] == [{"name": "one"}]
    data = yaml.safe_load(merged({"spec": {"template": {"$patch": "replace", "a": None, "b": {"c": 1}}}}))
    assert data["spec"] == {"replicas": 2, "template": {"b": {"c": 1}}}
    assert "template" not in yaml.safe_load(merged({"spec": {"template": {"$patch": "delete"}}}))["spec"]


def test_the_lists_of_a_custom_resource_are_replaced() -> None:
    text = "apiVersion: example.com/v1\nkind: A\nmetadata: {name: a}\nspec:\n  containers:\n  - {name: a, image: x}\n"
    data = yaml.safe_load(merged({"spec": {"containers": [{"name": "a", "args": ["b"]}]}}, text))
    assert data["spec"]["containers"] == [{"name": "a", "args": ["b"]}]


def test_the_ports_of_a_service_go_by_their_number() -> None:
    text = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  ports:\n  - port: 80 # p\n    name: web\n"
    assert merged({"spec": {"ports": [{"port": 80, "name": "w"}]}}, text) == text.replace("name: web", "name: w")


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        ({"$patch": "delete"}, "a patch of the whole resource"),
        (pod({"containers": [{"image": "x"}]}), "spec.template.spec.containers[0]: this entry needs its name"),
        ({"spec": {"$retainKeys": ["a"]}}, "this directive is not read here"),
        ({"spec": {"strategy": {"$setElementOrder/x": []}}}, "this directive is not read here"),
        ({"spec": {"replicas": float("nan")}}, "spec.replicas"),
        ({"spec": {"replicas": 3, "template": {"spec": {"volumes": ["a"], "containers": ["a"]}}}}, "needs its name"),
    ],
)
def test_a_merge_that_is_refused_changes_nothing(patch: dict[str, Any], words: str) -> None:
    item = item_of(DEPLOYMENT)
    with pytest.raises(Refused, match=r"^Deployment web: ") as failure:
        item.merge(patch)
    assert words in str(failure.value)
    assert item.document.decode() == DEPLOYMENT


def patched(*operations: dict[str, Any]) -> str:
    item = item_of(DEPLOYMENT)
    item.patch_json6902(operations)
    return item.document.decode()


CONTAINERS = "/spec/template/spec/containers"


@pytest.mark.parametrize(
    ("operation", "old", "new"),
    [
        ({"op": "replace", "path": "/spec/replicas", "value": 3}, "replicas: 2", "replicas: 3"),
        ({"op": "remove", "path": "/spec/replicas"}, "  replicas: 2 # few\n", ""),
        ({"op": "add", "path": f"{CONTAINERS}/0/args/-", "value": "b"}, "[a] # all", "[a, b] # all"),
        ({"op": "add", "path": f"{CONTAINERS}/0/args/0", "value": "b"}, "[a] # all", "[b, a] # all"),
        (
            {"op": "add", "path": "/metadata/labels", "value": {"a.b/c": "x"}},
            "[a] # first\n",
            "[a] # first\n  labels:\n    a.b/c: x\n",
        ),
        ({"op": "test", "path": "/spec/replicas", "value": 2}, "", ""),
    ],
    ids=str,
)
def test_an_operation_changes_what_it_names(operation: dict[str, Any], old: str, new: str) -> None:
    assert patched(operation) == DEPLOYMENT.replace(old, new, 1)


def test_what_a_patch_moves_takes_its_comments_along() -> None:
    text = patched({"op": "move", "from": f"{CONTAINERS}/1", "path": f"{CONTAINERS}/0"})
    log = "      # writes logs\n      - name: log # l\n        image: log:1\n"
    above = "      containers:\n"
    assert text == DEPLOYMENT.replace(log, "").replace(above, above + log)
    data = yaml.safe_load(patched({"op": "copy", "from": "/spec/replicas", "path": "/spec/a~1b~0c"}))
    assert data["spec"]["a/b~c"] == data["spec"]["replicas"] == 2


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        ({"op": "test", "path": "/spec/replicas", "value": "2"}, "test of /spec/replicas fails"),
        ({"op": "test", "path": "/spec/replicas", "value": True}, "test of /spec/replicas fails"),
        ({"op": "remove", "path": "/spec/none"}, "path /spec/none is not there"),
        ({"op": "replace", "path": f"{CONTAINERS}/2", "value": {}}, f"path {CONTAINERS}/2 is not there"),
        ({"op": "replace", "path": f"{CONTAINERS}/-", "value": {}}, f"path {CONTAINERS}/- is not there"),
        ({"op": "add", "path": f"{CONTAINERS}/01", "value": {}}, f"path {CONTAINERS}/01 is not there"),
        ({"op": "add", "path": "/spec/replicas/a", "value": 1}, "path /spec/replicas/a is not there"),
        ({"op": "add", "path": "spec/a", "value": 1}, "'spec/a' is no path of a JSON patch"),
        ({"op": "remove", "path": ""}, "'' is no path of a JSON patch"),
        ({"op": "add", "path": "/spec/a"}, "the operation add at /spec/a needs `value`"),
        ({"op": "copy", "path": "/spec/a"}, "the operation copy at /spec/a needs `from`"),
        ({"op": "set", "path": "/spec/a"}, "'set' is no operation of a JSON patch"),
        ({"op": "move", "from": "/spec", "path": "/spec/a"}, "moves /spec into itself"),
    ],
    ids=str,
)
def test_a_patch_that_is_refused_changes_nothing(operation: dict[str, Any], words: str) -> None:
    item = item_of(DEPLOYMENT)
    first = {"op": "add", "path": "/spec/paused", "value": True}
    with pytest.raises(Refused, match=r"^Deployment web: ") as failure:
        item.patch_json6902([first, operation])
    assert words in str(failure.value)
    assert item.document.decode() == DEPLOYMENT


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
MAPS = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)


def merge_patch(target: Any, patch: Any) -> Any:
    """JSON merge patch as RFC 7386 writes it, section 2."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


@given(data=MAPS, patch=MAPS)
def test_a_merge_of_a_custom_resource_is_that_of_rfc_7386(data: dict[str, Any], patch: dict[str, Any]) -> None:
    head = {"apiVersion": "example.com/v1", "kind": "A", "metadata": {"name": "a"}}
    item = item_of(yaml.safe_dump({**head, "spec": data}))
    item.merge({"spec": patch})
    assert yaml.safe_load(item.document) == {**head, "spec": merge_patch(data, patch)}
