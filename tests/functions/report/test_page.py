"""The page of `report`: what it says, that it says no more than is known, and that names in it stay text."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import example, given, settings
from krmfn_functions import all_kinds
from krmfn_functions.commands import catalogue
from krmfn_functions.formats.verdict import Verdict
from krmfn_functions.plan import Comparison, Effect, plan
from krmfn_functions.report import states, tallies
from krmfn_functions.report.cluster_view import join, part
from krmfn_functions.report.page import page
from krmfn_functions.report.parts import Part
from krmfn_functions.rule import Rule
from krmfn_functions.settings import CHECK, Settings

from krmfn import Manifest, Ref
from krmfn.printing import visible
from krmfn.resource import Place
from krmfn.results import Field, Result
from tests import rule_examples
from tests.builders import SPEC, applied, device_config, edited, function_config, module, node
from tests.examples import EXAMPLES, some_of
from tests.functions.report import fleets
from tests.functions.report.pages import Page, told_of

RULES = {rule.id: rule for rule in catalogue.rules()}
EL9 = "5.14.0-503.11.1.el9_5.x86_64"
KERNEL = ("status.nodeInfo.kernelVersion", EL9)


def gpu(name: str, *edits: Any, **labels: str) -> Manifest:
    """A node that the config of the builders selects."""
    return edited(node(name, gpu="a", **labels), KERNEL, *edits)


OTHER_KERNEL = device_config({**SPEC, "kernelMappings": [{"literal": "6.1.0-x", "image": "r/a:1"}]})
TAINTED = gpu("n1", ("spec.taints", [{"key": "k", "effect": "NoSchedule"}]))


def part_of(*items: Manifest, name: str = "lab", config: Manifest | None = None) -> Part:
    resources = applied(
        all_kinds.krmfn, *items, function_config=config, settings=Settings(CHECK._replace(shows_errors=True))
    )
    return part(join(name, resources))


def page_text(parts: Sequence[Part], comparisons: Sequence[Comparison] = ()) -> str:
    return page(parts, RULES, "1.2.3", told_of(parts, comparisons))


def page_of(*parts: Part) -> Page:
    return Page(page_text(parts))


def test_a_link_leads_to_the_file_of_a_place_whatever_its_name_ends_with() -> None:
    places = [Place("pool:7"), Place("pool:7", line=3), Place("a.yaml", line=3, column=5)]
    lab = part_of()._replace(findings=[Result(f"problem {at}", place=place) for at, place in enumerate(places)])
    html = page([lab], RULES, "1.2.3", told_of([lab], ()), lambda name: f"./{name}")
    texts = re.findall(r'<a href="\./([^"]*)">([^<]*)</a>', html)
    assert texts == [("pool:7", "pool:7"), ("pool:7", "pool:7:3"), ("a.yaml", "a.yaml:3:5")]


def verdict(*parts: Part) -> tuple[str | None, str]:
    html = page_text(parts)
    heading = html.partition("<h1>")[2].partition("</h1>")[0]
    return next(attributes["class"] for tag, attributes in Page(html).elements if tag == "body"), heading


@pytest.mark.parametrize(
    ("items", "tone", "sentence"),
    [
        ([device_config(), gpu("n1"), gpu("n2")], "fine", "Every selected node gets its driver: 2 nodes."),
        ([device_config(), gpu("n1"), node("n2", gpu="a")], "open", "Whether 1 of 2 selected nodes gets its driver"),
        ([device_config(), node("n1", gpu="b")], "open", "No selector selects a node."),
        ([device_config()], "open", "It is not known which node gets what."),
        ([gpu("n1")], "open", "No selector selects a node."),
        ([device_config({**SPEC, "moduleName": None}), gpu("n1")], "bad", "1 error: this cannot be merged as it is."),
        ([device_config({**SPEC, "profile": "none"}), gpu("n1")], "bad", "1 error"),
        ([device_config(), gpu("n1"), gpu("n1")], "bad", "1 error"),
        ([device_config(), device_config(name="other"), gpu("n1")], "bad", "1 of 1 selected node gets no driver."),
        ([OTHER_KERNEL, gpu("n1"), gpu("n2")], "bad", "2 of 2 selected nodes get no driver."),
        ([device_config(), TAINTED], "bad", "1 of 1 selected node gets no driver."),
    ],
)
def test_the_first_sentence_is_fine_only_when_all_is_known_and_runs(
    items: list[Manifest], tone: str, sentence: str
) -> None:
    colour, text = verdict(part_of(*items))
    assert colour == f"tone-{tone}"
    assert text.startswith(sentence)


def test_one_cluster_that_is_not_known_keeps_the_page_from_being_fine() -> None:
    known, unknown = part_of(device_config(), gpu("n1")), part_of(device_config(), name="east")
    assert verdict(known)[0] == "tone-fine"
    assert verdict(known, unknown) == ("tone-open", "In 1 of 2 clusters it is not known which node gets what.")


def test_a_config_of_which_nothing_is_made_is_said_at_the_head() -> None:
    text = page_of(part_of(device_config({**SPEC, "profile": "none"}), gpu("n1"))).text
    assert "1 config without a Module: DeviceConfig kmm/dc" in text
    assert "its nodes were not evaluated" not in text


def test_with_exclusivity_turned_off_nothing_is_a_conflict() -> None:
    items = [device_config(), device_config(name="other"), gpu("n1")]
    lab = part_of(*items, config=function_config(exclusivity={"mode": "off"}))
    assert lab.clashes == []
    assert "Conflict" not in page_of(lab).nodes.values()
    assert page_of(part_of(*items)).nodes == {"n1": "Conflict"}


def test_conflicts_show_the_selectors_side_by_side() -> None:
    other = device_config({**SPEC, "nodeSelector": {"zone": "z"}}, name="other")
    text = page_of(part_of(device_config(), other, gpu("n1", zone="z"))).text
    beside = text.partition("Label")[2].partition("n1")[0]
    assert " ".join(beside.split()) == "DeviceConfig kmm/dc DeviceConfig kmm/other gpu a any zone any z"


@pytest.mark.parametrize("mode", ["auto", "nodes", "selectors", "off"])
@pytest.mark.parametrize("rule", ["KRM301", "KRM302", "KRM303", "KRM304"])
def test_there_is_a_conflict_where_there_is_a_finding(rule: str, mode: str, tmp_path: Path) -> None:
    (path,) = rule_examples.plant(tmp_path, RULES[rule], RULES[rule].bad)
    (tmp_path / "settings.yaml").write_text(
        f"apiVersion: krmfn.dev/v1alpha1\nkind: RenderDeviceConfigs\nmetadata: {{name: s}}\n"
        f"spec: {{exclusivity: {{mode: '{mode}'}}}}\n"
    )
    _, html = rule_examples.run(["report", path])
    _, checked = rule_examples.run(["check", path, "--format", "json"])
    reported = {finding["rule"] for finding in json.loads(checked)["findings"]} & RULES.keys()
    conflicts = html.partition('<section id="conflicts"')[2].partition("</section>")[0]
    assert {name for name in RULES if f" {name}" in conflicts} == {
        name for name in reported if "KRM3" < name < "KRM305"
    }


NEED_KUSTOMIZE = [rule for rule in RULES.values() if rule_examples.needs_kustomize(rule)]


@pytest.mark.parametrize(
    "rule", some_of([rule for rule in RULES.values() if rule not in NEED_KUSTOMIZE]), ids=lambda rule: rule.id
)
def test_the_page_has_every_finding_of_check(rule: Rule, tmp_path: Path) -> None:
    """Each bad example of each rule: whatever is wrong, the page is written, and is silent about nothing of it."""
    paths = rule_examples.plant(tmp_path, rule, rule.bad)
    code, html = rule_examples.run(["report", "--root", str(tmp_path), *paths])
    checked, report = rule_examples.run(["check", "--root", str(tmp_path), *paths, "--format", "json"])
    findings = json.loads(report)["findings"]
    if code == 2:  # nothing to show at all, or not of all clusters, which is an error on the page
        assert not html or 'class="tone-bad"' in html
        return
    assert code == checked
    document = Page(html)
    for severity in ("error", "warning"):
        for finding in findings[:20]:
            if finding["severity"] == severity:
                assert solid(finding["message"]) in solid(document.text)
                assert solid(finding["remedy"] or "") in solid(document.text)
    if any(finding["severity"] == "error" for finding in findings):
        assert 'class="tone-bad"' in html


def solid(text: str) -> str:
    """A text without its white space and backticks: what stands between those is code on the page."""
    return re.sub(r"[\s`]+", "", text)


def test_numbers_agree_with_nodes(tmp_path: Path) -> None:
    folders = [str(folder) for folder in fleets.plant(tmp_path, 60, 2)]
    code, html = rule_examples.run(["report", *folders])
    assert code == 1
    _, printed = rule_examples.run(["nodes", *folders, "--format", "json"])
    labels = {state.key: state.label for state in states.STATES}
    rows = [row for cluster in json.loads(printed)["clusters"] for row in cluster["rows"]]
    expected = {row["node"]: labels[row["state"]] for row in rows}
    assert len(expected) == 60
    assert Page(html).nodes == expected


LETTERS = st.sampled_from("<>&\"'/!- `\\{}%a\u2028") | st.characters(
    codec="utf-8", max_codepoint=0xFFFD, min_codepoint=32
)
NASTY = st.text(LETTERS, min_size=1, max_size=12) | st.sampled_from(
    ["</script><script>alert(1)</script>", "<!--<script>", "]]>", "{{ 7*7 }}", '" onmouseover="alert(1)', "&lt;b&gt;"]
)


@settings(max_examples=EXAMPLES // 2)  # a page or two for each
@given(NASTY)
@example("\ufe00")
def test_names_stay_text(nasty: str) -> None:
    """Wherever a name of the input is shown, the page has the elements and attributes that it has with another name."""

    def with_name(name: str) -> Page:
        bad = {**SPEC, "driverImage": f"r/{name}", "nodeSelector": {"gpu": "a"}, "daemonSets": [{"name": name}]}
        config, twin = device_config(SPEC, name=name), device_config(SPEC, name="twin")
        hand = edited(module(selector={"gpu": name}), ("spec.selector", {"gpu": "a", name: "x"}))
        nodes = [gpu("n1"), edited(gpu("n2"), ("status.nodeInfo.kernelVersion", name), ("metadata.labels.gpu", name))]
        lab = part_of(config, twin, device_config(bad, name="bad"), hand, *nodes, name=name)
        return page_of(lab, part_of(gpu("n3")))

    with_nasty, plain = with_name(nasty), with_name("plain")
    assert set(with_nasty.tags) <= {*plain.tags, "br"}
    assert with_nasty.attributes <= plain.attributes | {"colspan"}
    assert with_nasty.tags["script"] == 2
    assert visible(nasty) in with_nasty.data["kernels"] or not nasty.strip()


@settings(max_examples=EXAMPLES // 2)  # a page or two for each
@given(NASTY)
def test_what_changes_stays_text(nasty: str) -> None:
    def with_name(name: str) -> Page:
        old = [device_config(name=name), module(name="m")]
        new = [edited(module(name="m"), (("spec", name), name), (("metadata", "labels"), {"a": f"a\n{name}"}))]
        note = Result(name, "warning", "KRM401", Ref("v1", name, name, name), Field(name), Place(name, 0, 1, 1))
        effect = Effect(Ref("v1", name, name, name), name, (name,), (name,))
        compared = [Comparison(name, plan(old, new)._replace(effects=(effect,)), [note])]
        return Page(page_text([part_of(device_config(), gpu("n1"))], compared))

    with_nasty, plain = with_name(nasty), with_name("plain")
    assert {*with_nasty.tags} == {*plain.tags}
    assert with_nasty.attributes == plain.attributes
    assert with_nasty.tags["script"] == 2


def test_an_error_about_a_change_is_not_fine() -> None:
    refused = Comparison("", plan([], []), [Result("the cluster refuses it")])
    html = page_text([part_of(device_config(), gpu("n1"))], [refused])
    assert "tone-bad" in html
    assert '<p class="state">1 error: this cannot be merged as it is.</p>' in html, "the headline is the change"


def test_a_change_is_fine_only_when_it_is_known_and_nodes_are_selected() -> None:
    """Green are a change that is known, and clusters as they will be; one of both alone is not."""
    driven, idle = part_of(device_config(), gpu("n1")), part_of(device_config(), node("n1", gpu="b"))
    same, unknown = Comparison("", plan([], [])), Comparison("", plan([], [module(name="m")]))
    assert '<body class="tone-fine">' in page_text([driven], [same])
    assert '<body class="tone-open">' in page_text([driven], [unknown]), "nobody knows what happens on the nodes"
    html = page_text([idle], [same])
    assert '<body class="tone-open">' in html
    assert '<p class="state">No selector selects a node.</p>' in html


def test_a_node_that_runs_something_else_is_not_fine_beside_a_change() -> None:
    compared = Verdict(0, 0, 0, headline="1 changed")
    opening = tallies.opening([part_of(device_config(), gpu("n1"))], Counter({states.DIFFERS: 1}), compared)
    assert opening.tone == "open"
    assert opening.state == "1 of 1 selected node runs a driver that is not as planned."


def test_an_error_that_keeps_the_change_from_being_known_counts_once() -> None:
    wrong = Result("is wrong", rule="KRM101")
    part = part_of(device_config(), gpu("n1"))._replace(findings=[wrong])
    html = page_text([part], [Comparison("", plan([], []), [wrong], failed=True)])
    assert '<p class="state">1 error: this cannot be merged as it is.</p>' in html


def test_a_picture_is_said_in_words() -> None:
    html = page_text([part_of(device_config(), gpu("n1"), gpu("n2"))])
    assert html.count("2 nodes. Planned: 2") == 1, "of the field of squares"
    assert html.count('aria-label="Planned: 2"') == 1, "of the bar"


def test_nothing_is_fetched_and_nothing_of_the_input_can_run() -> None:
    html = page_text([part_of(device_config(), gpu("n1"))])
    document = Page(html)
    assert document.attributes & {"src", "srcset", "style", "action", "data", "poster"} == set()
    assert not [name for name in document.attributes if name.startswith("on")]
    assert {target for _, attributes in document.elements if (target := attributes.get("href"))} <= {
        f"#{name}" for name in ("main", "fleet", "map", "kernels", "conflicts", "findings", "nodes", "images")
    }
    (policy,) = [attributes["content"] for tag, attributes in document.elements if "http-equiv" in attributes]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert "http:" not in html
    assert "https:" not in html


def test_equal_input_makes_equal_bytes() -> None:
    items = [device_config(), device_config(name="other"), *(gpu(f"n{at}") for at in range(5))]
    assert page_text([part_of(*items)]) == page_text([part_of(*items[:2], *reversed(items[2:]))])


def test_every_table_and_control_has_a_label() -> None:
    """Regions that scroll have a name and take the keyboard; header cells say what they head; pictures have a text."""
    document = page_of(part_of(device_config(), device_config(name="b"), gpu("n1")), part_of(gpu("n2"), name="east"))
    for tag, attributes in document.elements:
        if attributes.get("role") in ("region", "img"):
            assert {"aria-label", "aria-labelledby"} & attributes.keys(), (tag, attributes)
        if attributes.get("role") == "region":
            assert attributes["tabindex"] == "0"
        if tag == "th":
            assert attributes["scope"] in ("row", "col")
    fields = [attributes for tag, attributes in document.elements if tag == "input"]
    labelled = {attributes.get("for") for tag, attributes in document.elements if tag == "label"}
    assert {field["id"] for field in fields if "id" in field} <= labelled
    assert [attributes for tag, attributes in document.elements if tag == "html"] == [{"lang": "en"}]


def test_the_map_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Module of every cluster is in it, or counted; whichever are more go down the page."""
    parts = [part_of(device_config(), gpu("n1"), name=f"c{at}") for at in range(12)]
    parts.append(part_of(device_config(), device_config({**SPEC, "nodeSelector": {"b": "c"}}, name="b"), name="c12"))
    lines = tallies.lines(parts)
    by_part = [states.of_nodes(entry.groups) for entry in parts]
    table = tallies.map_of(lines, parts, by_part)
    assert [head.name for head, _ in table.rows] == [f"c{at}" for at in range(13)]
    assert {head.name: cells for head, cells in table.rows}["c12"] == ["not known", "not known"]
    assert [cells for _, cells in table.rows[:12]] == [[{"planned": 1}, None]] * 12
    assert (table.more_rows, table.more_columns) == (0, 0)
    few = tallies.map_of(lines, parts[:2], by_part[:2])
    assert [head.name for head, _ in few.rows] == ["kmm/dc", "kmm/b"]
    monkeypatch.setattr(tallies, "COLUMNS", 1)
    monkeypatch.setattr(tallies, "ROWS", 3)
    short = tallies.map_of(lines, parts, by_part)
    assert (short.more_rows, short.more_columns) == (10, 1)
    assert short.rows[0][0].name == "c12", "what is not known stands first"


def test_the_fleet_comes_first_then_what_changes_told_once() -> None:
    old, new = [module(name="m")], [edited(module(name="m"), (("metadata", "labels"), {"a": "b"}))]
    effect = Effect(Ref("v1", "Module", "kmm", "m"), "reloaded", ("n1",), ("reloaded on 1 node (n1): r/a:2",))
    note = Result("write `upgrade: {ordered: true}` <b>", "warning", "KRM401", Ref("v1", "Module", "kmm", "m"))
    change = plan(old, new)._replace(effects=(effect,))
    compared = [Comparison(name, change, [note], knows_nodes=True) for name in ("dev", "lab")]
    html = page_text([part_of(device_config(), gpu("n1"))], compared)
    starts = [html.index(f'<section id="{name}"') for name in ("fleet", "changes", "findings")]
    assert starts == sorted(starts)
    changes = html.partition('<section id="changes"')[2].partition("</section>")[0]
    assert "<h1>2 nodes in 2 clusters reload at once.</h1>" in html
    assert "reload at once" not in changes, "the headline says it"
    assert changes.count("<details") == changes.count('class="note"') == changes.count('<li class="e-reloaded">') == 1
    assert "write <code>upgrade: {ordered: true}</code> &lt;b&gt;" in changes
    assert changes.count("all 2 clusters") == 2


def test_a_node_stands_with_its_cluster_where_there_are_several() -> None:
    parts = [part_of(device_config(), gpu("n1"), name=name) for name in ("lab", "prod")]
    titles = [page_text(parts[:number]).partition("<title>")[2].partition("</title>")[0] for number in (1, 2)]
    assert titles == ["lab: Fleet report", "Fleet report"]


def test_a_page_about_the_folder_that_it_is_called_in_names_no_dot() -> None:
    html = page_text([part_of(device_config(), gpu("n1"), name=".")])
    assert "<title>Fleet report</title>" in html
    assert "Made by krmfn 1.2.3. Nothing" in html
    assert '<figcaption><span class="mono">this folder</span> 1</figcaption>' in html
    assert "<div><dt>node</dt><dd>1</dd></div>" in html


def test_a_name_with_a_hyphen_is_broken_only_where_it_does_not_fit() -> None:
    doubtful = Comparison("prod-a", plan([], [module(name="m")]), knows_nodes=False)
    html = page_text(
        [part_of(device_config(), gpu("n1"), name="prod-a")],
        [doubtful, Comparison("lab", plan([], []), knows_nodes=True)],
    )
    assert '<span class="name">prod-a</span>' in html.partition("<h1>")[2].partition("</h1>")[0]
    gaps = html.partition('<ul class="gaps">')[2].partition("</ul>")[0]
    assert gaps.count("prod-a") == gaps.count('<span class="name">prod-a') > 0


def test_a_finding_names_the_clusters_that_have_it() -> None:
    finding = Result("is wrong", "warning", "KRM605", place=Place("a.yaml", 0, 3))
    parts = [
        part_of(device_config(), gpu("n1"))._replace(name=name, findings=[finding]) for name in ("dev", "lab", "prod")
    ]
    html = page_text([*parts, part_of(device_config(), gpu("n1"))._replace(name="x", findings=[])])
    findings = html.partition('<section id="findings"')[2].partition("</section>")[0]
    assert findings.count("is wrong") == 1
    assert "dev, lab, prod" in findings
