"""An error about a line or field names the item, its file and the field, in words and as a result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from krmfn import Item, KrmfnError, Refused, ResourceList, error, field_spec, function, package
from tests.krmfn.test_envelope import HEAD

WEB = """\
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: web
    annotations:
      internal.config.kubernetes.io/path: web.yaml
      internal.config.kubernetes.io/index: "3"
  spec: {replicas: 1}
"""
BROKEN = WEB.replace("spec: {replicas: 1}", "spec: a: b")
ALIAS = WEB.replace("spec: {replicas: 1}", "spec: *x")


def removed_twice(resources: ResourceList, item: Item) -> None:
    resources.remove(item)
    resources.remove(item)


def with_nan(resources: ResourceList, item: Item) -> None:
    item.manifest["spec"]["replicas"] = float("nan")


DONE: dict[str, tuple[Callable[[ResourceList, Item], object], str]] = {
    "write": (lambda _, item: item.at("spec.replicas.a").delete(), "spec.replicas.a: cannot be deleted: there is no"),
    "below": (lambda _, item: setattr(item.at("spec.replicas.a"), "value", 1), "spec.replicas.a: cannot be written"),
    "comment": (lambda _, item: setattr(item.at("spec.x"), "comment", "a"), "spec.x: can have no comment"),
    "type": (lambda _, item: item.get("spec.replicas", str), "spec.replicas: must be a string, not 1"),
    "pattern": (lambda _, item: item.each("spec.replicas[*]"), "spec.replicas: is no mapping and no list"),
    "fieldSpec": (lambda _, item: field_spec(item, "spec/replicas/a"), "spec.replicas: is no mapping and no list"),
    "path": (lambda _, item: item["a..b"], "'a..b' is no field path"),
    "removed": (removed_twice, "cannot be removed: it is not in the list"),
    "data": (with_nan, "spec.replicas is nan; a manifest may contain only what JSON has"),
}


@pytest.mark.parametrize("name", DONE)
def test_what_cannot_be_done_says_where(name: str) -> None:
    do, message = DONE[name]

    @function
    def doing(resources: ResourceList) -> None:
        do(resources, resources.items[0])

    done = doing.run((HEAD + "items:\n" + WEB).encode())
    assert done.stderr.startswith(f"web.yaml: error: Deployment web: {message}"), done.stderr
    (result,) = done.results
    assert (str(result.ref), result.place and result.place[:2]) == ("Deployment web", ("web.yaml", 3))
    assert (result.field is not None) == message.startswith(("spec.replicas:", "spec.replicas.a", "spec.x"))
    with pytest.raises(KrmfnError, match=r"^web.yaml: Deployment web"):
        do(resources := ResourceList.parse((HEAD + "items:\n" + WEB).encode()), resources.items[0])
        resources.to_bytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BROKEN, "line 11: mapping values"),
        (ALIAS, "line 11: this alias"),
        (BROKEN.replace("  kind", "  odd"), "line 11"),
    ],
)
def test_what_cannot_be_read_names_the_item_the_file_and_the_line(text: str, message: str) -> None:
    @function
    def reading(resources: ResourceList) -> None:
        resources.report(error("read", at=resources.items[0].at("spec")))

    done = reading.run((HEAD + "items:\n" + text).encode())
    name = "web (web.yaml)" if "odd" in text else "Deployment web (web.yaml)"
    assert done.stderr.startswith(f"error: {name}, in the ResourceList: {message}"), done.stderr


def test_a_functionconfig_that_cannot_be_read_is_named() -> None:
    with pytest.raises(KrmfnError, match=r"^functionConfig: line 13: mapping values"):
        _ = ResourceList.parse((HEAD + "items:\n" + WEB + "functionConfig:\n  a: b: c\n").encode()).function_config


def test_a_refusal_has_the_file_and_line_of_its_item_or_field(tmp_path: Path) -> None:
    """Also in `tentative`, where an author reports it, or counts it, and goes on."""
    (tmp_path / "w.yaml").write_text("a: 1\n---\napiVersion: v1\nkind: A\nmetadata: {name: a}\na: &x 1\nb: *x\n")
    files, _ = package.read(tmp_path)
    [item] = [part.item for part in files["w.yaml"] if part.item]
    with pytest.raises(Refused) as refused, item.tentative():
        item["a"] = 2
    assert (refused.value.file, refused.value.line, refused.value.at.path) == ("w.yaml", 6, "a")
    assert str(refused.value).startswith("w.yaml: line 6: A a: a cannot be changed: the anchor &x is there")
    assert (Refused("no", item).file, Refused("no", item).line, Refused("no").line) == ("w.yaml", 2, 0)
