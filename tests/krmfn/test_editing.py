"""Single items of a list: the item is what is meant, not its name."""

from __future__ import annotations

from typing import Any

import pytest

from krmfn import KrmfnError, Ref, Refused, ResourceList, error, function, run
from krmfn.annotations import PATH
from krmfn.ownership import OWNER
from krmfn.yamltext import load

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
FIRST = """\
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: a # first
"""
SECOND = FIRST.replace("first", "second")
TWO = FIRST + SECOND


def parsed(text: str = TWO) -> ResourceList:
    return ResourceList.parse((HEAD + text).encode())


def body(resources: ResourceList) -> str:
    return resources.to_bytes().decode().removeprefix(HEAD)


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def test_of_two_with_one_id_the_item_is_renamed_removed_and_replaced() -> None:
    for at in (0, 1):
        resources = parsed()
        resources.items[at].name = "b"
        assert body(resources) == TWO.replace(("a # first", "a # second")[at], ("b # first", "b # second")[at])
        resources = parsed()
        resources.remove(resources.items[at])
        assert body(resources) == (SECOND, FIRST)[at]
        resources = parsed()
        resources.replace(resources.items[at], config_map("a", x="y"))
        assert body(resources).count("x:") == 1
        assert ("first\n  data:\n    x:", "second\n  data:\n    x:")[at] in body(resources).replace('"', "")


def test_an_item_that_was_upserted_is_still_the_item() -> None:
    resources = parsed(FIRST)
    item = resources.items[0]
    resources.upsert(config_map("a", x="1"))
    item["data.x"] = "2"
    assert resources.items == [item]
    assert load.read(resources.to_bytes())["items"][0]["data"] == {"x": "2"}


def test_what_is_appended_is_an_item_like_all_others() -> None:
    resources = parsed(TWO)
    manifest = config_map("new")
    item = resources.append(manifest, path="sub/new.yaml")
    item["data.x"] = "1"
    assert manifest == config_map("new")
    assert resources.get("v1", "ConfigMap", "new") is item
    assert item.path == "sub/new.yaml"
    assert body(resources) == TWO + (
        "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: new\n    annotations:\n"
        f'      {PATH}: sub/new.yaml\n  data:\n    x: "1"\n'
    )
    resources.remove(item)
    assert body(resources) == TWO
    with pytest.raises(KrmfnError, match="ConfigMap new cannot be removed: it is not in the list"):
        resources.remove(item)


def test_get_finds_by_the_id_or_returns_none() -> None:
    resources = parsed("- apiVersion: apps/v1\n  kind: A\n  metadata: {name: a, namespace: ns}\n")
    assert resources.get("apps/v1", "A", "a", "ns") is resources.items[0]
    assert resources.get("apps/v1beta1", "A", "a", "ns") is resources.items[0]
    absent = [("v1", "A", "a", "ns"), ("apps/v1", "B", "a", "ns"), ("apps/v1", "A", "b", "ns"), ("apps/v1", "A", "a")]
    assert [resources.get(*other) for other in absent] == [None] * 4


@pytest.mark.parametrize("wrong", [{}, {"kind": "A"}, config_map(""), config_map("a") | {"x": {1}}])
def test_what_is_no_resource_is_refused_and_nothing_is_done(wrong: Any) -> None:
    resources = parsed()
    puts = (resources.append, resources.upsert, lambda manifest: resources.replace(resources.items[0], manifest))
    for put in puts if wrong.get("metadata") != {"name": ""} else (resources.upsert,):
        with pytest.raises(KrmfnError, match="cannot be put into the list"):
            put(wrong)
    assert body(resources) == TWO


def children(resources: ResourceList) -> None:
    for owner in resources.where(kind="Owner"):
        names = owner["spec.names"]
        resources.own(owner=owner, manifests=[config_map(name) for name in names])


def owner(*names: str, name: str = "o") -> str:
    return f"- apiVersion: e.com/v1\n  kind: Owner\n  metadata:\n    name: {name}\n  spec:\n    names: {[*names]}\n"


def test_what_is_owned_is_made_kept_and_removed() -> None:
    make = function(children)
    done = make.run((HEAD + owner("a", "b") + owner("z", name="p")).encode())
    assert [item.name for item in done.items[2:]] == ["a", "b", "z"]
    assert all(item.annotations[OWNER].startswith("children e.com|Owner||") for item in done.items[2:])
    assert make.run(done.output).output == done.output
    less = done.output.decode().replace("['a', 'b']", "['b']")
    assert [item.name for item in make.run(less.encode()).items[2:]] == ["b", "z"]


def test_what_somebody_else_made_is_not_owned() -> None:
    done = function(children).run((HEAD + owner("a") + FIRST).encode())
    assert (done.code, len(done.items)) == (1, 2)
    assert "ConfigMap a: is there, and was not made from Owner o" in done.stderr


def test_what_another_tool_made_is_adopted_where_the_function_says_so() -> None:
    """Its comments and what others put on it stay; it goes when its entry goes; a copy of ours is not asked about."""

    @function(name="rooms")
    def makes(resources: ResourceList) -> None:
        for item in resources.where(kind="Owner"):
            manifests = [config_map(name) for name in item["spec.names"]]
            resources.own(owner=item, manifests=manifests, adopt=lambda item: "old" in item.annotations)

    foreign = "    annotations: {old: 'yes'}\n    labels: {cost: '7'} # seven\n"
    text = HEAD + owner("a", "b") + FIRST.replace("# first\n", f"# first\n{foreign}", 1)
    done = makes.run(text.encode())
    assert (done.code, [item.name for item in done.items]) == (0, ["o", "a", "b"]), done.stderr
    assert b"{cost: '7'} # seven" in done.output and b"a # first" in done.output
    assert [item.mark.function for item in done.items[1:] if item.mark] == ["rooms", "rooms"]
    assert makes.run(done.output).output == done.output
    less = makes.run(done.output.replace(b"['a', 'b']", b"['b']"))
    assert [item.name for item in less.items] == ["o", "b"]
    refused = makes.run(text.replace("old:", "other:").encode())
    assert "ConfigMap a: is there, and was not made from Owner o: rename it, remove it, or let" in refused.stderr


def test_the_mark_has_the_prefix_that_the_author_chose() -> None:
    """Made, kept, removed by it; what has the mark of another prefix is somebody else's, also of the same name."""
    make, usual = function(name="children", prefix="fn.example.com")(children), function(children)
    done = make.run((HEAD + owner("a", "b")).encode())
    key, mark = "fn.example.com/owner", "children e.com|Owner||o |ConfigMap||"
    assert [item.annotations for item in done.items[1:]] == [{key: f"{mark}a"}, {key: f"{mark}b"}]
    assert b"krmfn.dev" not in done.output
    assert make.run(done.output).output == done.output
    less = done.output.replace(b"['a', 'b']", b"['b']")
    assert [item.name for item in make.run(less).items] == ["o", "b"]
    renamed = make.run(done.output.replace(b"name: o\n", b"name: p\n"))
    assert "ConfigMap a: was made from Owner o, which is not in the list, and not from Owner p" in renamed.stderr
    assert "ConfigMap a: is there, and was not made from Owner o" in usual.run(done.output).stderr


def test_an_author_s_new_prefix_takes_over_what_has_the_old_one() -> None:
    @function(name="children", prefix="fn.example.com")
    def makes(resources: ResourceList) -> None:
        for item in resources.where(kind="Owner"):
            manifests = [config_map(name) for name in item["spec.names"]]
            resources.own(owner=item, manifests=manifests, adopt=lambda item: OWNER in item.annotations)

    old = function(children).run((HEAD + owner("a")).encode()).output
    done = makes.run(old)
    assert (done.code, list(done.items[1].annotations)) == (0, [OWNER, "fn.example.com/owner"]), done.stderr
    assert makes.run(done.output).output == done.output
    assert [item.name for item in makes.run(done.output.replace(b"['a']", b"[]")).items] == ["o"]


@pytest.mark.parametrize("prefix", ["", "fn.example.com/", "Fn.example.com", "a b", "-a", "a..b", "a" * 254])
def test_what_cannot_begin_an_annotation_is_no_prefix(prefix: str) -> None:
    with pytest.raises(ValueError, match="cannot begin an annotation; take a domain"):
        function(prefix=prefix)(children)


def test_an_owner_that_is_not_there_makes_nothing() -> None:
    done = function(children).run((HEAD + owner("a")).encode())
    renamed = done.output.replace(b"name: o\n", b"name: p\n")
    message = "ConfigMap a: was made from Owner o, which is not in the list, and not from Owner p: remove it, or adopt"
    assert message in function(children).run(renamed).stderr


def test_results_over_an_untouched_input_name_what_it_holds() -> None:
    def rename(resources: ResourceList) -> None:
        item = resources.items[1]
        item.name, item.path = "new", "new.yaml"
        resources.report(error("no", at=item))
        raise Refused("no more", at=item.at("metadata.name"))

    output, code = run(rename, (HEAD + TWO).encode())
    results = load.read(output)["results"]
    assert code == 1
    assert output.startswith((HEAD + TWO).encode())
    named = [(result["message"], result["resourceRef"]["name"], "file" in result) for result in results]
    assert named == [("no", "a", False), ("no more", "a", False)]


def test_a_change_in_place_that_json_does_not_have_is_refused_with_item_and_field() -> None:
    def wrong(resources: ResourceList) -> None:
        resources.items[0].name = "c"
        resources.items[1].manifest["data"] = {"x": {1}}

    output, code = run(wrong, (HEAD + TWO).encode())
    assert code == 1
    results = "- message: data.x is a Python set; a manifest may contain only what JSON has\n  severity: error\n"
    about = "  resourceRef:\n    apiVersion: v1\n    kind: ConfigMap\n    name: a\n"
    assert output.decode() == f"{HEAD}{TWO}results:\n{results}{about}"


def test_every_reader_sees_a_change_in_place() -> None:
    resources = parsed()
    item = resources.items[0]
    assert (item.name, item.labels, item.annotations, item.kind) == ("a", {}, {}, "ConfigMap")  # read before
    item.manifest["metadata"].update(
        name="x", labels={"a": "b"}, annotations={"config.kubernetes.io/local-config": "true"}
    )
    item.manifest["kind"] = "Secret"
    assert (item.name, item.labels, item.kind, item.ref) == ("x", {"a": "b"}, "Secret", Ref("v1", "Secret", "", "x"))
    assert item.is_local
    assert resources.where(kind="Secret", local=True) == [item]
    assert [entry["kind"] for entry in load.read(resources.to_bytes())["items"]] == ["Secret", "ConfigMap"]


PORTS = """\
- apiVersion: v1
  kind: Service
  metadata:
    name: a
  spec:
    ports:
    # the first
    - port: 80 # http
    # the second
    - port: 443 # https
    names: {a: "b", c: d} # in brackets
    more: [one, # of one
      two]
  base: &b {x: y}
  merged:
    <<: *b # taken
    z: 1 # own
"""


def test_an_entry_that_gets_another_key_is_the_entry_that_it_was() -> None:
    resources = parsed(PORTS)
    item = resources.items[0]
    item["spec.ports[1].port"] = 8443
    item.manifest["spec"]["ports"].reverse()
    item["spec.ports[0].port"] = 9443
    ports = "    # the second\n    - port: 9443 # https\n    # the first\n    - port: 80 # http\n"
    start, end = PORTS.index("    # the first"), PORTS.index("    names:")
    assert body(resources) == PORTS[:start] + ports + PORTS[end:]


def test_what_stands_in_brackets_over_lines_and_beside_a_merge_stays() -> None:
    resources = parsed(PORTS)
    item = resources.items[0]
    item["spec.names.a"], item["spec.more[1]"] = "e", "three"
    item["merged.z"], item["merged.w"] = 2, 3
    expected = PORTS.replace('"b"', '"e"').replace("two]", "three]").replace("z: 1 # own\n", "z: 2 # own\n    w: 3\n")
    assert body(resources) == expected


def test_many_owners_do_not_look_through_the_list_each() -> None:
    """1,400 Namespaces with a quota each took 15 s, since each looked through all items."""
    resources = parsed(owner("x") + owner("y", name="other"))
    first, second = resources.items
    resources.own(owner=first, manifests=[config_map("p"), config_map("q")])
    index = resources.index
    resources.own(owner=second, manifests=[config_map("r")])
    with pytest.raises(KrmfnError, match=r"^Owner o was an owner before: call own once, with all that is made"):
        resources.own(owner=first, manifests=[config_map("q")])
    resources.owners.clear()  # as in the next run
    resources.own(owner=first, manifests=[config_map("q")])
    resources.owners.clear()
    assert resources.index is index
    assert [item.name for item in resources.where(kind="ConfigMap")][-2:] == ["q", "r"]
    stranger = resources.append(config_map("d"))
    with pytest.raises(Refused, match="ConfigMap d is there, and was not made from"):
        resources.own(owner=first, manifests=[config_map("d")])
    stranger.name = "e"
    resources.own(owner=first, manifests=[config_map("d")])
    resources.owners.clear()
    with pytest.raises(Refused, match="ConfigMap e is there, and was not made from"):
        resources.own(owner=first, manifests=[config_map("e")])
    assert resources.index is not index


def test_get_and_upsert_do_not_look_through_the_list_each() -> None:
    """1,400 calls of upsert took 3 s, and 45 s over edited items."""
    resources = parsed(owner("x"))
    resources.upsert(config_map("a"))
    index = resources.index
    resources.upsert(config_map("b"))
    resources.append(config_map("c"))
    assert [resources.get("v1", "ConfigMap", name) for name in "abc"] == resources.where(kind="ConfigMap")
    assert resources.index is index
    resources.items[-1].name = "d"
    assert resources.get("v1", "ConfigMap", "c") is None
    assert resources.index is not index


@pytest.mark.parametrize("change", ["twin", "renamed", "swapped"])
def test_what_the_function_did_not_make_is_refused_however_it_came(change: str) -> None:
    """Behind one of ours with its id, renamed in place, or put into the list in place of another item."""
    resources = parsed(owner("x") + owner("y", name="other"))
    first, second = resources.items[:2]
    stranger = resources.append(config_map("s", foreign="yes"))
    resources.own(owner=first, manifests=[config_map("p")])
    if change == "twin":
        stranger.manifest["metadata"]["name"] = "p"
        resources.items.append(resources.items.pop(2))
    elif change == "renamed":
        stranger.manifest["metadata"]["name"] = "q"
    else:
        resources.items[2] = parsed("- {apiVersion: v1, kind: ConfigMap, metadata: {name: q}}\n").items[0]
    resources.owners.clear()
    name, by = ("p", first) if change == "twin" else ("q", second)
    with pytest.raises(Refused, match="was not made from"):
        resources.own(owner=by, manifests=[config_map(name, new="yes")])


FILES = """\
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: a # first
    annotations:
      config.kubernetes.io/index: "0"
      config.kubernetes.io/path: my/a.yaml
      internal.config.kubernetes.io/index: "0"
      internal.config.kubernetes.io/path: my/a.yaml
      kustomize.config.k8s.io/id: "1"
      note: goes
"""


@pytest.mark.parametrize("put", ["upsert", "replace"])
def test_what_is_put_in_the_place_of_an_item_stays_in_its_file(put: str) -> None:
    def ran(manifest: dict[str, Any]) -> str:
        resources = parsed(FILES)
        if put == "replace":
            resources.replace(resources.items[0], manifest)
        else:
            resources.upsert(manifest)
        return body(resources)

    kept = FILES.replace("      note: goes\n", "")
    assert ran(config_map("a", x="why")) == kept + "  data:\n    x: why\n"
    other = config_map("a", x="why")
    other["metadata"]["annotations"] = {PATH: "other.yaml"}
    internal = f"{PATH}: "
    assert ran(other) == kept.replace(f"{internal}my/a.yaml", f"{internal}other.yaml") + "  data:\n    x: why\n"
    assert other["metadata"]["annotations"] == {PATH: "other.yaml"}


def test_two_manifests_of_one_id_are_refused() -> None:
    resources = parsed(owner())
    for put in (resources.upsert, lambda some: resources.own(owner=resources.items[0], manifests=some)):
        with pytest.raises(KrmfnError, match="ConfigMap a is among the manifests twice"):
            put([config_map("a", x="1"), config_map("a", x="2")])
    assert len(resources.items) == 1


@pytest.mark.parametrize("name", ["", " ", None])
def test_what_has_no_name_cannot_be_owned(name: Any) -> None:
    resources = parsed(owner())
    with pytest.raises(KrmfnError, match=r"ConfigMap .*cannot be put into the list: it has no metadata.name"):
        resources.own(owner=resources.items[0], manifests=config_map(name))
    with pytest.raises(KrmfnError, match="'a b' cannot be part of the mark"):
        resources.own(owner=resources.items[0], manifests=config_map("a b"))


def test_an_object_of_two_owners_names_both() -> None:
    done = function(children).run((HEAD + owner("a") + owner("a", name="p")).encode())
    assert done.code == 1
    assert "Owner p: cannot make ConfigMap a: Owner o makes it, too" in done.stderr


def test_the_function_config_owns_what_is_made_from_it() -> None:
    def generate(resources: ResourceList) -> None:
        assert resources.function_config
        names = resources.function_config["spec"]["names"]
        resources.own(owner=resources.function_config, manifests=[config_map(name) for name in names])

    make = function(generate)
    config = "functionConfig: {apiVersion: e.com/v1, kind: Make, metadata: {name: m}, spec: {names: [a, b]}}\n"
    done = make.run(f"{HEAD}{FIRST.replace('name: a', 'name: z')}{config}".encode())
    assert [item.name for item in done.items] == ["z", "a", "b"]
    assert make.run(done.output).output == done.output
    assert [item.name for item in make.run(done.output.replace(b"[a, b]", b"[b]")).items] == ["z", "b"]


def test_none_owns_nothing() -> None:
    """As the functionConfig of a run without one is."""
    with pytest.raises(KrmfnError, match="own needs an owner, and got None: pass an item, or the functionConfig of"):
        parsed().own(owner=parsed().function_config, manifests=[config_map("made")])  # type: ignore[arg-type]


@pytest.mark.parametrize("owner", [{}, {"apiVersion": "v1", "kind": "Team", "metadata": {}}])
def test_an_owner_without_a_name_owns_nothing(owner: Any) -> None:
    with pytest.raises(KrmfnError, match="cannot own anything: give its metadata a name"):
        parsed().own(owner=owner, manifests=[config_map("made")])
