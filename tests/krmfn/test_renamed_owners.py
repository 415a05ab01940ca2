"""Owners that kustomize renamed, beside others: the name says whose an object is, and nothing of another one's goes."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from krmfn import KrmfnError, ResourceList, parse_all
from krmfn.ownership import mark_on
from tests.krmfn.test_own_all import GROUP, HEAD, PREVIOUS, listed, names, room, tenant, tenants


def renamed(name: str, former: str) -> str:
    return tenant(name, notes=f"{PREVIOUS}Names: {former}, {PREVIOUS}Namespaces: default")


def made(*rooms: str) -> str:
    """What the function has made of an owner `a`."""
    output = tenants.run(listed(tenant("a", *rooms))).output
    return output.decode().removeprefix(HEAD + tenant("a", *rooms))


def own_all(data: bytes, manifests: Mapping[str, tuple[str, ...]]) -> ResourceList:
    resources = ResourceList.parse(data)
    resources.function = "tenants"
    owners = {item: [*map(room, manifests[item.name])] for item in resources if item.name in manifests}
    resources.own_all(owners, kind="Tenant", group=GROUP)
    return resources


def owners_of(resources: ResourceList) -> dict[str, str]:
    marks = {item.name: mark_on(item) for item in resources.where(kind="ConfigMap")}
    return {name: mark.owner[3] for name, mark in marks.items() if mark}


BOTH = [(tenant("a"), renamed("prod-a", "a")), (renamed("prod-a", "a"), tenant("a"))]
both = pytest.mark.parametrize("owners", BOTH, ids=["first", "last"])


@both
def test_what_both_make_is_whose_it_is(owners: tuple[str, ...]) -> None:
    data = listed(*owners, made("x", "w", "z"))
    assert owners_of(own_all(data, {"a": ("x",), "prod-a": ("w",)})) == {"x": "a", "w": "prod-a"}


@both
def test_the_owner_that_has_the_name_now_keeps_what_carries_it(owners: tuple[str, ...]) -> None:
    """Though own_all is not called for it, and the one that had the name makes nothing, or the same."""
    data = listed(*owners, made("x"))
    assert owners_of(own_all(data, {"prod-a": ()})) == {"x": "a"}
    with pytest.raises(KrmfnError, match=r"^Tenant prod-a cannot make ConfigMap x: Tenant a makes it, too$"):
        own_all(data, {"prod-a": ("x",)})


@both
def test_what_may_be_that_of_a_renamed_owner_is_not_removed_without_it(owners: tuple[str, ...]) -> None:
    data = listed(*owners, made("x", "w"))
    message = "ConfigMap w was made from Tenant a, as Tenant prod-a was named, too: call own_all for both, or remove it"
    with pytest.raises(KrmfnError, match=f"^{re.escape(message)}$"):
        own_all(data, {"a": ("x",)})
    assert owners_of(own_all(data, {"a": ("x", "w")})) == {"x": "a", "w": "a"}


def test_two_that_had_one_name_are_told_apart_by_what_they_make() -> None:
    data = listed(renamed("dev-a", "a"), renamed("prod-a", "a"), made("dev", "prod", "old"))
    assert owners_of(own_all(data, {"dev-a": ("dev",), "prod-a": ("prod",)})) == {"dev": "dev-a", "prod": "prod-a"}
    with pytest.raises(KrmfnError, match=r"^ConfigMap dev was made from Tenant a, as Tenant dev-a was named, too"):
        own_all(data, {"prod-a": ("prod", "old")})


def test_the_functionconfig_in_the_list_is_one_owner() -> None:
    config = f"functionConfig: {{apiVersion: {GROUP}/v1, kind: Tenant, metadata: {{name: a}}}}\n"
    resources = own_all(listed(tenant("a"), made("x", "w")) + config.encode(), {"a": ("x",)})
    assert owners_of(resources) == {"x": "a"}
    resources = ResourceList.parse(listed(tenant("a"), made("x", "w")) + config.encode())
    resources.function = "tenants"
    assert resources.function_config
    resources.own(owner=resources.function_config, manifests=room("w"))
    assert owners_of(resources) == {"w": "a"}


def own(data: bytes, *calls: tuple[str, tuple[str, ...]]) -> ResourceList:
    resources = ResourceList.parse(data)
    resources.function = "tenants"
    for name, rooms in calls:
        [owner] = resources.where(kind="Tenant", name=name)
        resources.own(owner=owner, manifests=[*map(room, rooms)])
    return resources


@both
def test_own_removes_nothing_that_carries_the_name_of_two(owners: tuple[str, ...]) -> None:
    data = listed(*owners, made("x", "w"))
    assert owners_of(own(data, ("prod-a", ()))) == {"x": "a", "w": "a"}
    assert owners_of(own(data, ("a", ("x",)))) == {"x": "a", "w": "a"}
    assert owners_of(own(data, ("a", ("x",)), ("prod-a", ("z",)))) == {"x": "a", "w": "a", "z": "prod-a"}
    with pytest.raises(KrmfnError, match="Tenant prod-a cannot make ConfigMap x: Tenant a makes it, too"):
        own(data, ("prod-a", ("x",)))


def test_own_takes_what_it_makes_of_what_two_may_have_made() -> None:
    data = listed(renamed("dev-a", "a"), renamed("prod-a", "a"), made("dev", "prod", "old"))
    resources = own(data, ("dev-a", ("dev",)), ("prod-a", ("prod",)))
    assert owners_of(resources) == {"dev": "dev-a", "prod": "prod-a", "old": "a"}
    assert [name for name, _ in resources.changes] == ["updated", "updated"]


def test_own_removes_what_a_renamed_owner_alone_has_made() -> None:
    resources = own(listed(renamed("prod-a", "a"), made("x", "w")), ("prod-a", ("x",)))
    assert owners_of(resources) == {"x": "prod-a"} and names(resources.to_bytes()) == ["x"]


@pytest.mark.parametrize("is_gone", [True, False])
def test_own_takes_no_owner_that_is_not_in_the_list(is_gone: bool) -> None:
    data = listed(tenant("a"), made("x"))
    resources, other = ResourceList.parse(data), ResourceList.parse(data)
    owner = (resources if is_gone else other).items[0]
    if is_gone:
        resources.remove(owner)
    before, changes = resources.to_bytes(), [*resources.changes]
    with pytest.raises(KrmfnError, match=r"^Tenant a cannot be an owner here, since it is not in the list: leave it"):
        resources.own(owner=owner, manifests=parse_all("{apiVersion: v1, kind: ConfigMap, metadata: {name: q}}"))
    assert resources.to_bytes() == before and resources.changes == changes and not resources.owners
