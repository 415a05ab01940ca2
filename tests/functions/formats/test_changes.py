"""How changes are printed: as text, as JSON, as a comment."""

from __future__ import annotations

import html
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.formats import grouped
from krmfn_functions.formats.changes import as_json, text
from krmfn_functions.formats.comment import LIMIT, markdown
from krmfn_functions.formats.markup import inline
from krmfn_functions.plan import Comparison, Effect, OnNodes, Opening, Plan, plan
from krmfn_functions.sentence import Topic, named

from krmfn import Result, warning
from krmfn.resource import Place, ref
from krmfn.results import Field
from tests.functions.test_plan import compared, thing

TEXTS = ["@team", "(@a/b)", "x @a", "#1", "a/b#1", "!2", "$3", "&4", "/close", "\n/close"]
"""What GitHub and GitLab take for a mention, a reference or an order where they show it as text."""
NASTY = [
    *("\x1b[31m", "a\nb", "a\r\nb", "%0A::error::x", "]]>", "<b>&\"'", "😀", "\u2028\u202e", "```\n````", "|*_`\\"),
    *TEXTS,
]
OLD = [
    thing("gone"),
    thing("same"),
    thing("image", spec={"image": "x:1", "args": ["--a"], "text": "one\ntwo\nthree\n", "selector": {"a": "b"}}),
]
NEW = [
    thing("fresh", data={"key": "value"}),
    thing("same"),
    thing("image", spec={"image": "x:2", "args": ["--a", "--b"], "text": "one\n2\nthree\n", "mounts": [{"a": 1}]}),
]
NOTE = warning("loads at once", rule="KRM401", ref=ref(NEW[2]), field=Field("spec.image"))

TEXT = """\
+ ConfigMap n/fresh
~ ConfigMap n/image: 5 fields
    spec.image
      - "x:1"
      + "x:2"
    spec.args[1]
      + "--b"
    spec.text
      @@ -1,3 +1,3 @@
       one
      -two
      +2
       three
    spec.mounts
      + - a: 1
    spec.selector
      - a: b
- ConfigMap n/gone

warning: ConfigMap n/image: spec.image: loads at once [KRM401]

1 created, 1 changed, 1 deleted, 1 unchanged
"""


def test_text() -> None:
    assert text(compared(plan(OLD, NEW), [NOTE])) == TEXT
    assert text(compared(plan(OLD, OLD), [])) == "nothing changes, 3 unchanged\n"
    assert text(compared(plan([], []), [])) == "nothing changes\n"


def test_a_text_that_differs_in_its_last_newline_only() -> None:
    assert "      -\n" in text(compared(plan([thing(spec="one\n")], [thing(spec="one")]), []))


def test_json() -> None:
    document = json.loads(as_json(compared(plan(OLD, NEW), [NOTE])))
    changes = [(change["change"], change["ref"]["name"]) for change in document["changes"]]
    assert changes == [("created", "fresh"), ("changed", "image"), ("deleted", "gone")]
    assert document["changes"][1]["fields"][:2] == [
        {"path": "spec.image", "old": "x:1", "new": "x:2"},
        {"path": "spec.args[1]", "new": "--b"},
    ]
    assert document["notes"][0]["rule"] == "KRM401"
    counts = dict.fromkeys(("created", "changed", "deleted", "unchanged", "warning"), 1)
    assert document["summary"] == {**counts, "error": 0, "info": 0}


def test_json_of_a_fleet() -> None:
    """Also the headline of its text: what both clusters keep."""
    on_node = OnNodes(("n1",), ("Load a",), "a", None)
    message = ("keeps 2.0 on ", named(["n1"]))
    effect = Effect(ref(NEW[2]), "kept", ("n1",), message, "its label says so", (on_node,), version="2.0")
    fleet = [Comparison(name, Plan([], [], (), 1, (effect,)), hidden=2) for name in "ab"]
    document = json.loads(as_json(fleet))
    numbers = {"gained": 0, "lost": 0, "reloaded": 0, "kept": 1}
    assert document["clusters"] == [{"name": name, "nodes": numbers} for name in "ab"]
    before = {"nodes": ["n1"], "events": ["Load a"], "reason": "its label says so", "before": "a", "after": None}
    shared = {"effect": "kept", "ref": document["effects"][0]["ref"], **before, "message": effect.message}
    assert document["effects"] == [{"cluster": name, **shared} for name in "ab"]
    none = dict.fromkeys(("created", "changed", "deleted", "error", "warning", "info"), 0)
    assert document["summary"] == {**none, "unchanged": 2, "hidden": 4}
    assert text(fleet).startswith("2 nodes keep 2.0\n")


def test_markdown_is_a_table_and_a_fold_per_object() -> None:
    comment = markdown(compared(plan(OLD, NEW), [NOTE]))
    assert comment.startswith("**1 created, 1 changed, 1 deleted, 1 unchanged**\n\n- **warning** ConfigMap n/image: ")
    assert "| changed | ConfigMap n/image | 5 fields |\n" in comment
    assert comment.count("<details><summary>") == comment.count("</details>") == 3
    assert '```diff\n@@ spec.image @@\n- "x:1"\n+ "x:2"\n' in comment
    assert "```yaml\napiVersion: v1\n" in comment
    assert markdown(compared(plan([], []), [])) == "**nothing changes**\n"


def test_markdown_fits_into_a_comment() -> None:
    many = [thing(f"object-{number}", data={"key": "x" * 500}) for number in range(300)]
    comment = markdown(compared(plan([], many), []))
    assert len(comment) <= LIMIT
    cut = re.search(r"The details of (\d+) more do not fit into a comment\.\n$", comment)
    assert cut
    assert comment.count("<details>") + int(cut[1]) == 300
    assert comment.count("| created |") == 300


def test_one_huge_object_hides_no_other() -> None:
    objects = [thing("huge", data={"key": "x" * LIMIT}), thing("small", data={"a": "b"})]
    comment = markdown(compared(plan([], objects)))
    assert "<summary>created: ConfigMap n/small</summary>" in comment
    assert comment.endswith("The details of 1 more do not fit into a comment.\n")
    alone = markdown(compared(plan([], objects[:1])))
    assert alone.endswith("\nThe details of 1 do not fit into a comment.\n")


SIZES = st.sampled_from([0, 1, 10, 200, 3_000, 70_000])


@given(st.lists(st.tuples(SIZES, SIZES, SIZES, st.integers(0, 40)), min_size=1, max_size=80))
def test_however_much_there_is_it_fits_and_all_is_counted(sizes: list[tuple[int, int, int, int]]) -> None:
    """Clusters with names, messages, object names and contents of any size."""
    clusters = []
    for number, (name, message, content, objects) in enumerate(sizes):
        new = [thing(f"{at}{'n' * (name % 3_000)}", data={"k": "x" * content}) for at in range(objects)]
        notes = [warning("m" * message, ref=ref(entry)) for entry in new[:5]]
        clusters.append(Comparison(f"{number}-{'c' * name}", plan([], new), notes))
    comment = markdown(clusters)
    assert len(comment) <= LIMIT
    telling = sum(bool(entry.plan.changes) for entry in clusters)
    if len(clusters) > 1:
        table = comment.split("\n\n")[1].split("\n")[2:]
        hidden = [int(match[1].replace(",", "")) for row in table if (match := re.match(r"\| and ([\d,]+) more", row))]
        alike = [
            int(match[1].replace(",", "")) - 1 for row in table if (match := re.search(r": ([\d,]+) clusters", row))
        ]
        assert len(table) - len(hidden) + sum(hidden) + sum(alike) == max(telling, 1)
    cut = re.findall(r"\| \| and ([\d,]+) more", comment)
    rows = comment.count("\n| created |") + sum(int(number.replace(",", "")) for number in cut)
    assert rows == len(grouped.changes([entry for entry in clusters if entry.plan.changes]))
    unmarked(comment)


def test_a_line_that_one_cluster_has_twice_names_that_cluster_alone() -> None:
    twice = Comparison("a", plan([], [thing("x")]), first=(Opening("new right: r"),) * 2)
    assert text([twice, Comparison("b", plan([], []))]).startswith("! new right: r (a)\n\n")


def test_a_note_of_one_cluster_is_none_about_another() -> None:
    """What stands first of a cluster stays, though a note of another cluster is about the same."""
    topic = Topic("folders")
    a, b = (Comparison(name, plan([], []), first=(Opening(f"{name} moves", topic),)) for name in "ab")
    with_note = a._replace(notes=[warning((topic, "a moves"))])
    assert text([with_note, b]).startswith("! b moves (b)\n") or "\n! b moves (b)\n" in text([with_note, b])
    assert "! a moves (a)\n" not in text([with_note, b])
    assert text([a, b]).startswith("! a moves (a)\n! b moves (b)\n")


def test_notes_without_a_resource_are_told_apart_by_their_places() -> None:
    """The place stood there with the colon that a line begins with."""
    sides = [Comparison(name, plan([], []), [warning("x", place=Place(f"{name}.yaml", 0, 4, 1))]) for name in "ab"]
    assert "a.yaml:4:1: warning: x; the same for b.yaml:4:1 in b (all 2 clusters)\n" in text(sides)


def test_clusters_without_a_change_are_counted() -> None:
    still = [Comparison(name, plan(OLD, OLD)) for name in "abc"]
    comment = markdown([still[0], Comparison("x", plan(OLD, NEW)), *still[1:]])
    first = comment.split("\n\n")[0]
    assert first == "**what happens on the nodes of x is not known**"
    assert "| x | ? | ? | ? | ? | 1 created, 1 changed, 1 deleted, 1 unchanged |\n" in comment
    assert comment.endswith("\nNothing changes in 3 other clusters.\n")
    assert markdown(still).endswith("| nothing changes, 3 unchanged |\n\nNothing changes in 2 other clusters.\n")


def test_what_could_not_be_rendered_is_in_the_comment() -> None:
    """With the file, as text."""
    note = Result("line 2: <b>", place=Place("a`b.yaml"))
    comment = markdown([Comparison("", plan([], []), [note], failed=True)])
    head, line = comment.split("\n\n")
    assert head == "**cannot be rendered, so what changes is not known**"
    assert line == "- **error** ``a`b.yaml`` line 2: `<b>`\n"


@pytest.mark.parametrize("nasty", NASTY)
def test_nothing_in_a_manifest_breaks_out(nasty: str) -> None:
    old, new = thing(nasty, data={nasty: nasty}), thing(nasty, data={nasty: f"{nasty}!"})
    note = Result(nasty, "warning", ref=ref(new), field=Field(nasty))
    for before, after in (([old], [new]), ([], [new]), ([old], [])):
        planned = plan(before, after)
        lines = text(compared(planned, [note])).split("\n")
        assert all(line.isprintable() for line in lines)
        assert not any(line.startswith("::") for line in lines)
        assert json.loads(as_json(compared(planned, [note])))["notes"][0]["message"] == nasty
        unbroken(markdown(compared(planned, [note])))


def unbroken(comment: str) -> None:
    """Folds and fences of a comment open and close as they should, and nothing outside of fences is markup."""
    outside = unmarked(comment)
    assert [row.count("|") for row in outside if row.startswith("|")] == [4, 4, 4]
    assert comment.count("<details>") == comment.count("</details>") == comment.count("</summary>") == 1


_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)[^\n]+?(?<!`)\1(?!`)")
"""As CommonMark has it: two runs of backticks of one length."""


def unmarked(comment: str) -> list[str]:
    """The lines outside of fences, none of which has markup of its own."""
    fence, outside = "", []
    for line in comment.split("\n"):
        opened = re.fullmatch(r"(`{3,})(diff|yaml)", line)
        if not fence and opened:
            fence = opened[1]
        elif fence and re.fullmatch(rf" {{0,3}}`{{{len(fence)},}}\s*", line):
            assert line == fence
            fence = ""
        elif not fence:
            outside.append(line)
    assert not fence
    assert not any(line.startswith("/") for line in comment.split("\n")), "GitLab does what such a line says"
    rendered = html.unescape(_CODE_SPAN.sub("code", "\n".join(outside)))
    assert not re.search(r"(?<!\w)@\w|[#!$&]\d", rendered), rendered
    rest = "\n".join(_CODE_SPAN.sub("code", line) for line in outside if not line.startswith("<details><summary>"))
    rest = rest.replace("</details>", "").replace("**", "").replace("--:|", "").replace("---|", "")
    assert not re.search(r"[<>*_`\[\]]", rest.replace("|---|", "")), rest
    return outside


def test_an_image_by_digest_can_be_copied_out_of_a_comment() -> None:
    """A zero width space stands only where a mention could begin."""
    image = "r.example.com/a@sha256:0123"
    comment = markdown(compared(Plan((), (), (), 0), [warning(image)]))
    (line,) = [row for row in comment.splitlines() if image[:5] in row]
    assert line == f"- **warning** `{image}`"


def test_a_question_in_a_message_is_no_code() -> None:
    assert inline("(did you mean a.com/gpu, which it holds?), so") == "(did you mean a.com/gpu, which it holds?), so"
