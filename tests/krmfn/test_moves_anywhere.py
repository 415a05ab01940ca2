"""Values that move between items, into new ones, or were built anew keep their comments, or are refused."""

from __future__ import annotations

import gc
import json
import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krmfn import KrmfnError, ResourceList, parse_all
from krmfn.yamltext import rebuilt
from tests.commands import ROOT
from tests.examples import EXAMPLES, IS_EACH
from tests.krmfn import documents
from tests.test_corpus import ACCEPTED

SEED = os.environ.get("KRMFN_FUZZ_SEED", "9")
HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
GIVER = """\
- apiVersion: v1
  kind: A
  metadata:
    name: a
  spec:
    # above old
    old: # of old
      # in it
      cron: '0 3' # kpt-set: ${cron}
    # above size
    size: "3" # of size
    first:
    # before all
    - name: fetch # slow
      image: "fetch:1" # kpt-set: ${tag}
    - name: write
    words:
    # about one
    - 'one' # kept
    - two
    script: | # bash
      echo
"""
TAKER = """\
- apiVersion: v1
  kind: B
  metadata:
    name: b
  spec:
    things:
    - name: x
"""
FETCH = '    # before all\n    - name: fetch # slow\n      image: "fetch:1" # kpt-set: ${tag}\n'
OLD = "    # above old\n    old: # of old\n      # in it\n      cron: '0 3' # kpt-set: ${cron}\n"
TAKEN = OLD.replace("old: #", "taken: #")
LOST = r"would be lost|nothing says which|an alias elsewhere needs it|`<<` brings it|comments or spellings"
LOST += "|entries change places, and one has the comment|moves with its value onto"
NAMED = r"\S+ \S+: (?!it )\S+ cannot be [a-z]+: .{20}"
"""An item, the path of a field in it, and why."""
TEMPLATE = """\
apiVersion: v1
kind: T
metadata: {name: t}
spec:
  # above rule
  rule: # of rule
    host: 'h' # of host
"""


def append_to_other(giver: Any, taker: Any) -> None:
    taker.manifest["spec"]["things"].append(giver.manifest["spec"]["first"].pop(0))


def put_by_path(giver: Any, taker: Any) -> None:
    taker["spec.taken"] = giver["spec.old"]
    del giver["spec.old"]


def put_after_giver_is_written(giver: Any, taker: Any) -> None:
    taken = giver.manifest["spec"].pop("old")
    assert giver.at("spec.old").comment == ""
    taker.manifest["spec"]["taken"] = taken


@pytest.mark.parametrize(
    ("move", "giver", "taker"),
    [
        (append_to_other, GIVER.replace(FETCH, ""), TAKER + FETCH),
        (put_by_path, GIVER.replace(OLD, ""), TAKER + TAKEN),
        (put_after_giver_is_written, GIVER.replace(OLD, ""), TAKER + TAKEN),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_value_of_another_item_keeps_its_lines(move: Any, giver: str, taker: str, is_first: bool) -> None:
    resources = ResourceList.parse((HEAD + (GIVER + TAKER if is_first else TAKER + GIVER)).encode())
    move(*(resources.items if is_first else reversed(resources.items)))
    assert resources.to_bytes().decode() == HEAD + (giver + taker if is_first else taker + giver)


def test_a_value_that_was_taken_two_texts_ago_keeps_its_lines() -> None:
    resources = ResourceList.parse((HEAD + GIVER + TAKER).encode())
    giver, taker = resources.items
    taken = giver.manifest["spec"].pop("old")
    assert giver.at("spec.old").comment == ""
    giver["spec.size"] = "4"
    assert giver.at("spec.size").comment == "of size"
    taker.manifest["spec"]["taken"] = taken
    assert resources.to_bytes().decode() == HEAD + GIVER.replace(OLD, "").replace('"3"', '"4"') + TAKER + TAKEN


def test_a_comment_that_was_written_before_a_move_goes_along() -> None:
    resources = ResourceList.parse((HEAD + GIVER).encode())
    item = resources.items[0]
    spec = item.manifest["spec"]
    item.at("spec.old").comment = "written"
    assert item.text
    spec["taken"] = spec.pop("old")
    assert resources.to_bytes().decode() == HEAD + GIVER.replace(OLD, "") + TAKEN.replace("of old", "written")


def test_a_value_that_is_copied_into_another_item_stays_where_it_was_too() -> None:
    def copy(giver: Any, taker: Any) -> None:
        taker["spec.taken"] = giver["spec.old"]
        taker["spec.taken.cron"] = "0 4"

    resources = ResourceList.parse((HEAD + GIVER + TAKER).encode())
    copy(*resources.items)
    assert resources.to_bytes().decode() == HEAD + GIVER + TAKER + TAKEN.replace("0 3", "0 4")


def test_what_an_anchor_ties_to_its_item_is_refused_with_its_name() -> None:
    giver = GIVER.replace("cron: '0 3'", "cron: &when '0 3'") + "    again: *when\n"
    resources = ResourceList.parse((HEAD + giver + TAKER).encode())
    resources.items[1]["spec.taken"] = resources.items[0]["spec.old"]
    with pytest.raises(KrmfnError, match=r"^B b: .*comment '# above old' would be lost, since its anchor &when stays"):
        resources.to_bytes()


def test_a_new_item_takes_the_lines_of_what_is_in_it() -> None:
    resources = ResourceList.parse((HEAD + GIVER).encode())
    spec = resources.items[0]["spec.old"]
    resources.append({"apiVersion": "v1", "kind": "C", "metadata": {"name": "c"}, "spec": spec})
    new = "- apiVersion: v1\n  kind: C\n  metadata:\n    name: c\n"
    lines = TAKEN.replace("    taken", "    spec").replace("\n  ", "\n")[2:]
    assert resources.to_bytes().decode() == HEAD + GIVER + new + lines


@pytest.mark.parametrize("way", ["append", "upsert", "own"])
def test_a_manifest_of_a_template_is_put_in_with_its_comments(way: str) -> None:
    resources = ResourceList.parse((HEAD + GIVER).encode())
    (manifest,) = parse_all(TEMPLATE)
    manifest["spec"]["rules"] = [manifest["spec"].pop("rule")]
    if way == "own":
        resources.own(owner=resources.items[0], manifests=[manifest])
    else:
        getattr(resources, way)(manifest)
    rules = "  spec:\n    rules:\n    # above rule\n    - # of rule\n      host: 'h' # of host\n"
    assert resources.to_bytes().decode().endswith(rules)


def test_a_part_of_a_template_is_put_into_an_item() -> None:
    resources = ResourceList.parse((HEAD + TAKER).encode())
    resources.items[0]["spec.rule"] = parse_all(TEMPLATE)[0]["spec"]["rule"]
    rule = "    # above rule\n    rule: # of rule\n      host: 'h' # of host\n"
    assert resources.to_bytes().decode() == HEAD + TAKER + rule


def wrap(spec: Any) -> None:
    spec["new"] = {"in": spec.pop("old")}


def move_entry(spec: Any) -> None:
    spec["second"] = [spec["first"].pop(0)]


def rename_and_edit(spec: Any) -> None:
    spec["second"] = spec.pop("first")
    spec["second"][1]["name"] = "other"


WRAPPED = "    new:\n      # above old\n      in: # of old\n        # in it\n        cron: '0 3' # kpt-set: ${cron}\n"
LIST = GIVER[GIVER.index("    first:") : GIVER.index("    words:")]
SCRIPT = "    script: | # bash\n      echo\n"
SIZE = '    # above size\n    size: "3" # of size\n'
REBUILT: dict[str, tuple[Callable[[Any], None], str]] = {
    "wrapped": (wrap, GIVER.replace(OLD, "") + WRAPPED),
    "an entry": (move_entry, GIVER.replace(FETCH, "") + "    second:\n" + FETCH),
    "a text in a list": (
        lambda spec: spec.update(others=[spec["words"].pop(0)]),
        GIVER.replace("    # about one\n    - 'one' # kept\n", "")
        + "    others:\n    # about one\n    - 'one' # kept\n",
    ),
    "a list that is edited, too": (
        rename_and_edit,
        GIVER.replace(LIST, "") + LIST.replace("first:", "second:").replace("name: write", "name: other"),
    ),
    "a scalar": (
        lambda spec: spec.update(count=spec.pop("size")),
        GIVER.replace(SIZE, "") + SIZE.replace("size:", "count:"),
    ),
    "a block": (
        lambda spec: spec["old"].update(run=spec.pop("script")),
        GIVER.replace(SCRIPT, "").replace(
            "${cron}\n",
            "${cron}\n" + SCRIPT.replace("script", "run").replace("    ", "      ").replace("  e", "  e"),
            1,
        ),
    ),
}


@pytest.mark.parametrize("is_rebuilt", [True, False], ids=["replace", "in place"])
@pytest.mark.parametrize("name", REBUILT)
def test_what_was_built_anew_is_known_by_what_it_holds(name: str, is_rebuilt: bool) -> None:
    edit, expected = REBUILT[name]
    resources = ResourceList.parse((HEAD + GIVER).encode())
    item = resources.items[0]
    manifest = json.loads(json.dumps(item.manifest)) if is_rebuilt else item.manifest
    edit(manifest["spec"])
    if is_rebuilt:
        resources.replace(item, manifest)
    assert resources.to_bytes().decode() == HEAD + expected


@pytest.mark.parametrize("around", ["- {}", "w: {}"])
def test_what_is_wrapped_at_its_place_has_its_comments_once(around: str) -> None:
    resources = ResourceList.parse((HEAD + GIVER).encode())
    spec = resources.items[0].manifest["spec"]
    is_list = around[0] == "-"
    spec["words"] = [spec["words"]] if is_list else {"w": spec["words"]}
    spec["first"][0] = [spec["first"][0]] if is_list else {"w": spec["first"][0]}
    out = resources.to_bytes().decode()
    assert [item.manifest["spec"] for item in ResourceList.parse(out.encode())] == [spec]
    assert comments(out) == comments(GIVER)


def test_an_entry_with_one_key_is_known_by_what_is_under_it() -> None:
    """It is behind a new one, and was edited: nothing in it is as it was but a part of the value of its key."""
    entry = "    # above\n    - # behind\n      b: # of b\n      - 'x' # of x\n      - w # of w\n"
    spec = f"  spec:\n    l:\n    - a: 1\n{entry}"
    text = f"{HEAD}- apiVersion: v1\n  kind: A\n  metadata: {{name: a}}\n{spec}"
    resources = ResourceList.parse(text.encode())
    manifest = json.loads(json.dumps(resources.items[0].manifest))
    manifest["spec"]["l"].insert(1, manifest["spec"]["l"][1]["b"].pop(0))
    resources.replace(resources.items[0], manifest)
    out = resources.to_bytes().decode()
    assert comments(out) == comments(text)
    assert [entry.manifest for entry in ResourceList.parse(out.encode())] == [manifest]


@pytest.mark.parametrize("value", ["true", "1", "x", "null"])
@pytest.mark.parametrize("comments", [(" # of a", " # of b"), (" # of a", ""), (" # same", " # same"), ("", "")])
def test_of_two_equal_values_that_went_where_one_came_nobody_guesses(value: str, comments: tuple[str, str]) -> None:
    spec_text = f"  spec:\n    a: {value}{comments[0]}\n    b: {value}{comments[1]}\n    c: z\n"
    text = f"- apiVersion: v1\n  kind: A\n  metadata: {{name: a}}\n{spec_text}"
    resources = ResourceList.parse((HEAD + text).encode())
    spec = resources.items[0].manifest["spec"]
    spec["d"] = spec.pop("a")
    del spec["b"]
    if comments[0] != comments[1]:
        with pytest.raises(KrmfnError, match=r"A a: spec.d cannot be written: 2 equal values went, .* '# of a'"):
            resources.to_bytes()
        return
    assert resources.to_bytes().decode().endswith(f"  spec:\n    c: z\n    d: {value}{comments[0]}\n")


def test_a_word_that_readers_read_differently_is_not_taken_along() -> None:
    text = "- apiVersion: v1\n  kind: A\n  metadata: {name: a}\n  spec:\n    a: [yes, 'no']\n    b: 1\n"
    resources = ResourceList.parse((HEAD + text).encode())
    resources.items[0]["spec.a"] = True
    assert resources.to_bytes().decode() == HEAD + text.replace("[yes, 'no']", "true")


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each mapping and list in a value, with each of its keys and indexes."""
    if isinstance(value, (dict, list)):
        for name in value if isinstance(value, dict) else range(len(value)):
            yield value, name
            yield from places(value[name])


def move(rng: random.Random, giver: Any, taker: Any) -> bool:
    """Move a value to another place, perhaps under another name, perhaps wrapped; False where nothing moves.

    A mapping that lost its only key is another one.
    """
    movable = [(data, name) for data, name in places(giver) if isinstance(data, list) or len(data) > 1]
    if not movable:
        return False
    data, name = rng.choice(movable)
    value = data.pop(name)
    targets = [taker, *(part[key] for part, key in places(taker) if isinstance(part[key], (dict, list)))]
    target = rng.choice(targets)
    value = {"wrap": value} if rng.random() < 0.25 else value
    if isinstance(target, list):
        target.insert(rng.randint(0, len(target)), value)
    else:
        free = next(key for key in map("renamed{}".format, ("", *range(9))) if key not in target)
        target[name if isinstance(name, str) and name not in target and rng.random() < 0.5 else free] = value
    return True


def check(text: str, way: str, rng: random.Random, edit: Callable[[random.Random, Any, Any], bool] = move) -> None:
    """Assert that a random move, or other edits, keep data and comments, or are refused."""
    resources = ResourceList.parse(text.encode())
    first, last = resources.items[0], resources.items[-1]
    manifest = json.loads(json.dumps(first.manifest)) if way == "replace" else first.manifest
    if not edit(rng, manifest.get("spec"), last.manifest.get("spec") if way == "other item" else manifest.get("spec")):
        return
    if way == "replace":
        resources.replace(first, manifest)
    wanted = json.loads(json.dumps([item.manifest for item in resources]))
    try:
        out = resources.to_bytes()
    except KrmfnError as failure:
        assert re.search(LOST, str(failure)), failure
        assert re.match(NAMED, str(failure)), failure
        return
    assert [item.manifest for item in ResourceList.parse(out)] == wanted
    assert not comments(text) - comments(out.decode()), out.decode()
    assert remarked(text) == remarked(out.decode()), out.decode()
    assert words(text) == words(out.decode()), out.decode()


def words(text: str) -> Counter[str]:
    """The words that readers read differently that have comments, with these.

    A date that JSON made has quotes; the comment of what was wrapped at its place is that of its key.
    """
    lines = re.sub(r"([:-])( # of .*)\n +wrap: (\S+)$", r"\1 \3\2", text, flags=re.MULTILINE)
    lines = re.sub(r"\n *, #", ", #", lines)
    found = re.findall(r'(?m)(?<= )["\']?(yes|on|No|200\d-\d\d-\d\d)["\']?,?( # .*)', lines)
    return Counter(map("".join, found))


def remarked(text: str) -> Counter[str]:
    """Each scalar of a list with the comment on its line; one that was wrapped at its place with that of its key."""
    fields = [field for item in ResourceList.parse(text.encode()) for field in item.each("spec.**")]
    pairs = ((field.value, field.comment) for field in fields if field.comment)
    values = ((value.get("wrap", value) if isinstance(value, dict) else value, words) for value, words in pairs)
    return Counter(f"{value!r} # {words}" for value, words in values if not isinstance(value, (dict, list)))


def comments(text: str) -> Counter[str]:
    return Counter(re.findall(r"(?m)(?:^|(?<= ))# .*", text))


def wrap_document(text: str) -> ResourceList:
    """Append each document as a part of a resource."""
    resources = ResourceList.parse(f"{HEAD}[]\n".replace("\n[]", " []").encode())
    for manifest in parse_all(text):
        resources.append({"apiVersion": "v1", "kind": "W", "metadata": {"name": "w"}, "spec": {"template": manifest}})
    return resources


def label_document(text: str) -> ResourceList:
    """Append the documents, and write a label and a name to each."""
    resources = ResourceList.parse(f"{HEAD}[]\n".replace("\n[]", " []").encode())
    for manifest in parse_all(text):
        if isinstance(metadata := manifest.setdefault("metadata", {}), dict):
            metadata |= {"name": "w", "labels": {"a": "b"}}
        resources.append(manifest)
    return resources


@pytest.mark.parametrize("name", [path.name for path in ACCEPTED])
@pytest.mark.parametrize("way", [wrap_document, label_document])
def test_a_refusal_names_path_and_cause(name: str, way: Callable[[str], ResourceList]) -> None:
    text = next(path for path in ACCEPTED if path.name == name).read_bytes().decode("utf-8", "replace")
    try:
        parse_all(text)
    except KrmfnError:
        return  # no resources
    try:
        way(text).to_bytes()
    except KrmfnError as failure:
        assert re.match(NAMED, str(failure)), failure


@given(way=st.sampled_from(["in place", "replace", "other item"]), seed=st.integers(0, 1 << 32))
def test_random_moves_of_generated_documents_keep_each_comment(way: str, seed: int) -> None:
    rng = random.Random(seed)
    check(HEAD + documents.item(rng, "a") + documents.item(rng, "b"), way, rng)


@pytest.mark.parametrize("way", ["in place", "replace", "other item"])
def test_generated_documents(way: str) -> None:
    for seed in range(EXAMPLES * 5):
        rng = random.Random(seed)
        check(HEAD + documents.item(rng, "a") + documents.item(rng, "b"), way, rng)


@pytest.mark.parametrize("way", ["in place", "replace", "other item"])
def test_documents_whose_values_say_little(way: str) -> None:
    for seed in range(EXAMPLES * 2):
        rng = random.Random(seed)
        check(HEAD + documents.with_small(rng, documents.item(rng, "a") + documents.item(rng, "b")), way, rng)


FORMS: dict[str, tuple[Callable[[random.Random, str], str], ...]] = {
    "words": (documents.with_words,),
    "brackets": (documents.over_lines,),
    "words in brackets": (documents.over_lines, documents.with_words),
    "all": (documents.over_lines, documents.with_words, documents.with_small),
    "comments behind brackets": (documents.over_lines, documents.behind_brackets),
}
"""What is made of drawn documents. A comment behind a bracket is no field's."""


def drawn(rng: random.Random, form: str) -> str:
    text = documents.item(rng, "a") + documents.item(rng, "b")
    for change in FORMS[form]:
        text = change(rng, text)
    return HEAD + text


@pytest.mark.parametrize("way", ["in place", "replace", "other item"])
@pytest.mark.parametrize("form", FORMS)
def test_documents_with_words_and_brackets_over_lines(form: str, way: str) -> None:
    for seed in range(EXAMPLES * 5):
        rng = random.Random(f"{SEED} {seed}")
        check(drawn(rng, form), way, rng)


def entries() -> list[str]:
    """Return each document with a `spec` in the files of examples/ as an entry of a list."""
    texts: list[str] = []
    for path in sorted((ROOT / "examples").rglob("*.yaml")):
        for text in re.split(r"^---.*\n", path.read_text(), flags=re.MULTILINE):
            body = re.sub(r"\A(?:#.*\n|\s)+", "", text).rstrip("\n")
            if re.search(r"^spec:$", body, re.MULTILINE):
                texts.append("- " + body.replace("\n", "\n  ") + "\n")
    return texts


def test_random_moves_of_the_examples_keep_each_comment() -> None:
    texts = entries()
    assert len(texts) > 40
    assert sum(" # " in text for text in texts) > 5, "without comments nothing can be lost"
    for at, text in enumerate(texts):
        for seed in range(3) if IS_EACH else [at % 3]:
            way = ["in place", "replace", "other item"][seed]
            check(HEAD + text + texts[at - 1], way, random.Random(seed))


def test_a_field_that_is_added_or_written_costs_no_search_for_what_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in most functions; the search takes three times what the edit does."""
    monkeypatch.setattr(rebuilt, "_Changes", None)
    resources = ResourceList.parse((HEAD + GIVER).encode())
    item = resources.items[0]
    item.labels["team"] = "x"
    item["spec.size"] = "4"
    item["spec.first[1].image"] = "write:1"
    item["spec.new"] = {"a": ["b"]}
    assert b"new:\n      a:\n      - b\n" in resources.to_bytes()


SIZE_TAKEN = '    # above size\n    taken: "3" # of size\n'
CRON = "      cron: '0 3' # kpt-set: ${cron}\n"


def put_size(giver: Any, taker: Any) -> None:
    taker.manifest["spec"]["taken"] = giver.manifest["spec"].pop("size")


def put_size_by_path(giver: Any, taker: Any) -> None:
    taker["spec.taken"] = giver["spec.size"]
    del giver["spec.size"]


def put_size_after_the_giver_is_written(giver: Any, taker: Any) -> None:
    size = giver.manifest["spec"].pop("size")
    assert giver.at("spec.size").comment == ""
    taker.manifest["spec"]["taken"] = size


def put_size_before_the_taker_is_written(giver: Any, taker: Any) -> None:
    put_size(giver, taker)
    assert taker.at("spec.taken").comment == ""


@pytest.mark.parametrize(
    "put",
    [put_size, put_size_by_path, put_size_after_the_giver_is_written, put_size_before_the_taker_is_written],
)
@pytest.mark.parametrize("size", ['"3"', "3", "true", "null", "'a long one'", "2.5"])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_scalar_of_another_item_takes_its_comments_and_quotes(put: Any, size: str, is_first: bool) -> None:
    giver_text, taken = GIVER.replace('"3"', size), SIZE_TAKEN.replace('"3"', size)
    resources = ResourceList.parse((HEAD + (giver_text + TAKER if is_first else TAKER + giver_text)).encode())
    put(*(resources.items if is_first else reversed(resources.items)))
    giver, taker = GIVER.replace(SIZE, ""), TAKER + taken
    assert resources.to_bytes().decode() == HEAD + (giver + taker if is_first else taker + giver)
    assert resources.to_bytes().decode() == HEAD + (giver + taker if is_first else taker + giver)


def test_a_scalar_of_an_item_that_goes_takes_its_comment_into_a_new_one() -> None:
    resources = ResourceList.parse((HEAD + TAKER + GIVER).encode())
    giver = resources.items[1]
    new = {"apiVersion": "v1", "kind": "C", "metadata": {"name": "c"}, "spec": [giver.manifest["spec"]["old"]["cron"]]}
    resources.remove(giver)
    resources.append(new)
    lines = "- apiVersion: v1\n  kind: C\n  metadata:\n    name: c\n  spec:\n  # in it\n  - '0 3' # kpt-set: ${cron}\n"
    assert resources.to_bytes().decode() == HEAD + TAKER + lines


def test_a_scalar_that_is_copied_or_deleted_leaves_its_comment_where_it_was() -> None:
    resources = ResourceList.parse((HEAD + GIVER + TAKER).encode())
    giver, taker = resources.items
    taker["spec.taken"] = giver["spec.old.cron"]
    del giver["spec.size"]
    taker["spec.other"] = "4"
    assert resources.to_bytes().decode() == HEAD + GIVER.replace(SIZE, "") + TAKER + '    taken: 0 3\n    other: "4"\n'


def size_and_ports(value: Any, is_inner: bool) -> ResourceList:
    """Take `size` away, which has comments, where two equal values have come, in one item or in another one."""
    resources = ResourceList.parse((HEAD + GIVER.replace('"3"', json.dumps(value)) + TAKER).encode())
    giver, taker = resources.items
    size = giver.manifest["spec"].pop("size")
    (giver if is_inner else taker)["spec.ports"] = [{"port": size}, {"other": json.loads(json.dumps(value))}]
    return resources


@pytest.mark.parametrize("is_inner", [True, False], ids=["one item", "other item"])
@pytest.mark.parametrize("value", [3, 8080, "3", 2.5, True, False, None, ""])
def test_where_one_value_went_and_two_have_come_nobody_guesses(value: Any, is_inner: bool) -> None:
    cause = r"a value went, 2 equal ones have come, and nothing says which has the comment '# "
    with pytest.raises(KrmfnError, match=rf"spec.ports\[0\].port cannot be written: {cause}"):
        size_and_ports(value, is_inner).to_bytes()


@pytest.mark.parametrize("target", [0, 1])
def test_of_a_scalar_that_moved_beside_an_equal_one_no_comment_goes_in_silence(target: int) -> None:
    for seed in range(60):
        rng = random.Random(seed)
        text = HEAD + documents.with_small(rng, documents.item(rng, "a") + documents.item(rng, "b"))
        resources = ResourceList.parse(text.encode())
        spec, other = resources.items[0].manifest["spec"], resources.items[target].manifest["spec"]
        movable = [(data, name) for data, name in places(spec) if isinstance(data, dict) and len(data) > 1]
        scalars = [(data, name) for data, name in movable if not isinstance(data[name], (dict, list))]
        if not scalars:
            continue
        data, name = rng.choice(scalars)
        other["least"] = value = data.pop(name)
        other["most"] = json.loads(json.dumps(value))
        try:
            out = resources.to_bytes().decode()
        except KrmfnError as failure:
            assert re.search(LOST, str(failure)), failure
            continue
        assert not comments(text) - comments(out), out


def test_a_scalar_whose_comment_has_no_place_is_refused_with_path_and_cause() -> None:
    resources = ResourceList.parse((HEAD + GIVER + TAKER.replace("- name: x", "  of: [x]")).encode())
    giver, taker = resources.items
    taker.manifest["spec"]["things"]["of"].append(giver.manifest["spec"].pop("size"))
    cause = r"the comment '# of size' of A a would be lost, since it has no line here; write it over lines first"
    with pytest.raises(KrmfnError, match=rf"^B b: spec.things.of\[1\] cannot be written: {cause}"):
        resources.to_bytes()


@pytest.mark.parametrize("are_both", [True, False], ids=["two items", "one item"])
def test_of_equal_values_that_went_nobody_guesses_which_is_which(are_both: bool) -> None:
    giver = GIVER.replace('"3"', "3").replace("  first:", "  count: 3 # of count\n    first:")
    resources = ResourceList.parse((HEAD + giver + TAKER).encode())
    spec = resources.items[0].manifest["spec"]
    target = resources.items[1].manifest["spec"] if are_both else spec["old"]
    target["one"], target["two"] = spec.pop("count"), spec.pop("size")
    with pytest.raises(KrmfnError, match=r": 2 equal values went, and nothing says which has the comment"):
        resources.to_bytes()
    resources = ResourceList.parse((HEAD + giver + TAKER).encode())
    item, taker = resources.items
    for name in ("count", "size"):
        item.at(f"spec.{name}").comment = item.at(f"spec.{name}").head_comment = ""
    spec, other = item.manifest["spec"], taker.manifest["spec"]
    target = other if are_both else spec["old"]
    target["one"], target["two"] = spec.pop("count"), spec.pop("size")
    assert b"of size" not in resources.to_bytes()


@pytest.mark.parametrize("comments", [("of a", "of b"), ("same", "same")])
@pytest.mark.parametrize("names", [("a", "b"), ("x", "z")])
def test_the_same_move_in_many_items(comments: tuple[str, str], names: tuple[str, str]) -> None:
    """Equal values belong to items of one name, and of values with the same comment each has that."""
    head = "- apiVersion: v1\n  kind: A\n  metadata:\n    name: {}\n  spec:\n    other: x\n"
    givers = [head.format(name) + f"    size: 3 # {words}\n" for name, words in zip("ab", comments, strict=True)]
    resources = ResourceList.parse((HEAD + "".join(givers)).encode())
    for item, name in zip([*resources], names, strict=True):
        least = {"least": item.manifest["spec"].pop("size")}
        resources.append({"apiVersion": "v1", "kind": "B", "metadata": {"name": name}, "spec": least})
    if names == ("x", "z") and comments == ("of a", "of b"):
        with pytest.raises(KrmfnError, match="2 equal values went"):
            resources.to_bytes()
        return
    new = (
        head.format(name).replace("A", "B").replace("other: x", f"least: 3 # {words}")
        for name, words in zip(names, comments, strict=True)
    )
    assert resources.to_bytes().decode() == HEAD + "".join(map(head.format, "ab")) + "".join(new)


def test_an_edit_leaves_no_circles_behind() -> None:
    gc.collect()
    gc.disable()
    try:
        for way in (wrap, move_entry):
            resources = ResourceList.parse((HEAD + GIVER + TAKER).encode())
            way(resources.items[0].manifest["spec"])
            resources.items[1]["spec.taken"] = resources.items[0].manifest
            walks = len([thing for thing in gc.get_objects() if type(thing).__name__ == "Walk"])
            resources.to_bytes()
            assert len([thing for thing in gc.get_objects() if type(thing).__name__ == "Walk"]) == walks
    finally:
        gc.enable()
