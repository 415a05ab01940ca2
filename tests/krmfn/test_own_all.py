"""What is made of all owners of a kind: kept while its owner is there, and removed with it."""

from __future__ import annotations

from typing import Any

import pytest

from krmfn import ResourceList, function
from krmfn.ownership import OWNER

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
GROUP, PREVIOUS = "example.com", "internal.config.kubernetes.io/previous"
PART = "internal.config.k8s.io/kpt-resource-id: x"


def tenant(name: str, *rooms: str, notes: str = "", group: str = GROUP) -> str:
    head = f"- apiVersion: {group}/v1\n  kind: Tenant\n  metadata:\n    name: {name}\n"
    return f"{head}    annotations: {{{notes}}}\n  spec: {{rooms: [{', '.join(rooms)}]}}\n"


def listed(*items: str) -> bytes:
    return (HEAD + "".join(items)).encode()


def room(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


@function(name="tenants")
def tenants(resources: ResourceList) -> None:
    owners = resources.where(kind="Tenant", group=GROUP)
    manifests = {item: [room(name) for name in item["spec.rooms"]] for item in owners}
    resources.own_all(manifests, kind="Tenant", group=GROUP)


def names(output: bytes) -> list[str]:
    return [item.name for item in ResourceList.parse(output).items if item.kind == "ConfigMap"]


def without(output: bytes, *owners: str) -> bytes:
    resources = ResourceList.parse(output)
    for owner in owners:
        [item] = resources.where(kind="Tenant", name=owner)
        resources.remove(item)
    return resources.to_bytes()


def test_what_was_made_of_an_owner_goes_with_it() -> None:
    first = tenants.run(listed(tenant("a", "x", "w"), tenant("b", "z")))
    assert names(first.output) == ["x", "w", "z"]
    assert tenants.run(first.output).output == first.output
    assert names(tenants.run(without(first.output, "a")).output) == ["z"]
    assert names(tenants.run(without(first.output, "a", "b")).output) == []


def test_nothing_goes_that_this_function_did_not_make_of_this_kind_under_this_name() -> None:
    """A copy, one that somebody else made, another function's, one of an owner of another group, and of a config."""
    first = tenants.run(listed(tenant("a", "x"))).output
    mark = ResourceList.parse(first).items[1].annotations[OWNER]
    marks = {
        "copy": mark,
        "other": mark.replace("tenants ", "others ").replace("|x", "|other"),
        "group": mark.replace(GROUP, "other.com").replace("|x", "|group"),
        "kind": mark.replace("Tenant", "Team").replace("|x", "|kind"),
        "config": mark.replace("|a ", "|config ").replace("|x", "|config"),
        "none": "tenants",
    }
    resources = ResourceList.parse(without(first, "a"))
    for name, text in marks.items():
        resources.append(room(name)).annotations[OWNER] = text
    resources.append(room("by-hand"))
    config = f"functionConfig: {{apiVersion: {GROUP}/v1, kind: Tenant, metadata: {{name: config}}}}\n"
    done = tenants.run(resources.to_bytes() + config.encode())
    assert names(done.output) == [*marks, "by-hand"], done.stderr


def test_an_owner_that_is_not_asked_for_keeps_what_was_made_of_it() -> None:
    @function(name="tenants")
    def some(resources: ResourceList) -> None:
        owners = resources.where(kind="Tenant", group=GROUP, name="b")
        resources.own_all({item: room("new") for item in owners}, kind="Tenant", group=GROUP)

    first = tenants.run(listed(tenant("a", "x"), tenant("b", "z"), tenant("c", "q"))).output
    assert names(some.run(without(first, "c")).output) == ["x", "new"]


def test_an_object_goes_from_one_owner_to_another_and_keeps_its_comments() -> None:
    """From one that is gone or renamed, and between two that are there, in either order."""
    first = tenants.run(listed(tenant("a", "x"), tenant("b", "z"))).output.replace(b"name: x\n", b"name: x # mine\n")
    renamed = tenants.run(first.replace(b"name: a\n", b"name: new\n"))
    assert b"name: x # mine" in renamed.output and names(renamed.output) == ["x", "z"]
    for old, new in ((b"[x]", b"[z]"), (b"[z]", b"[x]")), ((b"[x]", b"[]"), (b"[z]", b"[z, x]")):
        changed = first.replace(*(old[0], b"@")).replace(*new).replace(b"@", old[1])
        done = tenants.run(changed)
        assert b"name: x # mine" in done.output and names(done.output) == ["x", "z"], done.stderr
        assert tenants.run(done.output).output == done.output


def test_an_owner_that_kustomize_renamed_is_there() -> None:
    first = tenants.run(listed(tenant("a", "x"))).output
    former = f"annotations: {{{PREVIOUS}Names: a, {PREVIOUS}Namespaces: default}}".encode()
    renamed = first.replace(b"name: a\n", b"name: prod-a\n").replace(b"annotations: {}", former)
    done = tenants.run(renamed)
    assert names(done.output) == ["x"] and b"Tenant||prod-a |ConfigMap||x" in done.output, done.stderr


@pytest.mark.parametrize("rooms", [("x",), ()])
def test_a_part_of_a_package_is_refused(rooms: tuple[str, ...]) -> None:
    """Where kpt's selectors hide the owners, all that was made of them would go."""
    first = tenants.run(listed(tenant("a", "x"))).output
    part = without(first, "a").replace(b"annotations:\n", f"annotations:\n      {PART}\n".encode())
    if rooms:
        part += tenant("b", *rooms).encode()
    done = tenants.run(part)
    assert done.code == 1 and done.output.startswith(part)
    assert "ConfigMap x: comes in a part of a package, which may lack owners: remove `selectors` (and" in done.stderr


def test_an_owner_of_another_kind_is_refused() -> None:
    @function(name="tenants")
    def wrong(resources: ResourceList) -> None:
        resources.own_all({item: room("x") for item in resources}, kind="Tenant", group=GROUP)

    done = wrong.run(listed(tenant("a", group="other.com")))
    assert done.code == 1 and "Tenant a: cannot be an owner here: own_all was called for" in done.stderr


def test_two_owners_of_one_object_are_refused() -> None:
    done = tenants.run(listed(tenant("a", "x"), tenant("b", "x")))
    assert "Tenant b: cannot make ConfigMap x: Tenant a makes it, too" in done.stderr


def test_what_somebody_else_made_is_taken_over_where_the_function_says_so() -> None:
    @function(name="tenants")
    def adopting(resources: ResourceList) -> None:
        manifests = {item: room("x") for item in resources.where(kind="Tenant")}
        resources.own_all(manifests, kind="Tenant", group=GROUP, adopt=lambda item: "old" in item.labels)

    foreign = "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: x\n    labels: {old: '1'}\n"
    done = adopting.run(listed(tenant("a"), foreign))
    assert done.code == 0 and b"Tenant||a |ConfigMap||x" in done.output
    refused = adopting.run(listed(tenant("a"), foreign.replace("old", "other")))
    assert "ConfigMap x: is there, and was not made from Tenant a" in refused.stderr
