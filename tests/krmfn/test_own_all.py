"""What is made of all owners of a kind: kept while its owner is there, and removed with it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from krmfn import KrmfnError, ResourceList, function
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


def test_what_is_removed_may_share_its_annotations_by_an_anchor() -> None:
    first = tenants.run(listed(tenant("a", "x"), tenant("b", "z"))).output
    mark = ResourceList.parse(first).items[2].annotations[OWNER].encode()
    head, tail = first.split(b"    annotations:\n      " + OWNER.encode() + b": " + mark + b"\n")
    shared = head + b"    annotations: &x {" + OWNER.encode() + b": " + mark + b"}\n    labels: *x\n" + tail
    done = tenants.run(without(shared, "a"))
    assert names(done.output) == ["z"], done.stderr


@pytest.mark.parametrize("left", [("sub", "deep"), ("sub",), ()])
def test_an_owner_that_goes_with_its_own_owner_leaves_nothing(left: tuple[str, ...]) -> None:
    """Be it asked for in this run or not; in chains, too."""
    chain = {"a": "sub", "sub": "deep"}

    @function(name="tenants")
    def nested(resources: ResourceList) -> None:
        owners = [item for item in resources.where(kind="Tenant") if item.name in ("a", "b", *left)]
        manifests = {
            item: [room(f"of-{item.name}"), *(made(chain[item.name]) for _ in (1,) if item.name in chain)]
            for item in owners
        }
        resources.own_all(manifests, kind="Tenant", group=GROUP)

    def made(name: str) -> dict[str, Any]:
        return {"apiVersion": f"{GROUP}/v1", "kind": "Tenant", "metadata": {"name": name}}

    everyone, left = left, ("sub", "deep")
    output = listed(tenant("a"), tenant("b"))
    for _ in range(3):
        output = nested.run(output).output
    assert names(output) == ["of-a", "of-b", "of-sub", "of-deep"]
    left = everyone
    done = nested.run(without(output, "a"))
    assert [item.name for item in done.items] == ["b", "of-b"], done.stderr


def test_an_owner_that_is_not_in_the_list_is_refused() -> None:
    resources = ResourceList.parse(listed(tenant("a")))
    [owner] = resources.where(kind="Tenant")
    resources.remove(owner)
    with pytest.raises(KrmfnError, match=r"Tenant a cannot be an owner here, since it is not in the list: leave it"):
        resources.own_all({owner: room("x")}, kind="Tenant", group=GROUP)
    assert not resources.items


def test_an_owner_that_is_there_twice_is_refused() -> None:
    done = tenants.run(listed(tenant("a", "x"), tenant("a", "y")))
    assert done.code == 1 and "Tenant a: is an owner here twice: leave one of the two out" in done.stderr


FOREIGN = "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: q\n"


@pytest.mark.parametrize(
    ("rooms", "problem"),
    [
        (["new", "q"], "was not made from Tenant b"),
        (["new", "x", "x"], "is among the manifests twice"),
        (["new", "of-c"], " makes it, too"),
        (["new", "a|b"], "cannot be part of the mark"),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_nothing_changes_where_something_is_refused(rooms: list[str], problem: str, is_first: bool) -> None:
    first = tenants.run(listed(tenant("a", "x"), tenant("b", "z"), tenant("c"), FOREIGN)).output
    data = without(first, "a")
    resources = ResourceList.parse(data)
    resources.function = "tenants"
    [b, c] = resources.where(kind="Tenant")
    made = {b: [room(name) for name in rooms], c: [room("of-c")]}
    if not is_first:
        made = {c: made[c], b: made[b]}
    with pytest.raises(KrmfnError, match=re.escape(problem)):
        resources.own_all(made, kind="Tenant", group=GROUP)
    assert not resources.changes and resources.to_bytes() == data
    resources.own_all({b: room("z"), c: ()}, kind="Tenant", group=GROUP)
    assert names(resources.to_bytes()) == ["q", "z"]
