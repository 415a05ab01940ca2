"""One run of `ci`, one verdict: stdout, comment, page, JUnit, SARIF, annotations and JSON have the same numbers."""

from __future__ import annotations

import json
import re
import tempfile
import xml.etree.ElementTree as xml
from collections import Counter
from collections.abc import Iterable
from html import unescape
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis.strategies as st
import pytest
from hypothesis import Phase, example, given, settings
from krmfn_functions.formats import grouped
from krmfn_functions.formats.comment import FORMATS as DIFFS
from krmfn_functions.formats.findings import FORMATS
from krmfn_functions.formats.unjudged import Gap, sentence

from tests.commands import process
from tests.examples import EXAMPLES
from tests.functions.comparing.test_base import commit, repository
from tests.functions.report.pages import Page

TRIED = (Phase.explicit, Phase.generate)
"""Each try runs a command four times over, so what fails is not made smaller."""
EL9, EL10 = "5.14.0-503.11.1.el9_5.x86_64", "6.12.0-55.9.1.el10_0.x86_64"
CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {{name: {name}, namespace: kmm}}
spec:
  moduleName: {name}
  driverImage: registry.example.com/{name}
  driverVersion: "{version}"
  nodeSelector: {{example.com/{label}: "true"}}
  kernelMappings: [{{regexp: {regexp}}}]
  upgrade: {{ordered: {ordered}}}
  devicePlugin: {{image: "registry.example.com/{name}/plugin:{version}"}}
"""
INVENTORY = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {{name: {name}}}
spec:
  nodeCount: {count}
  labelKeys: [{keys}]
  groups:
  - labels: {{{labels}}}
    nodes: |
{nodes}
"""

WORK = """\
apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: site, namespace: site-1}
spec: {workload: {manifests: [{apiVersion: kmm.sigs.x-k8s.io/v1beta1, kind: Module, metadata: {name: a}}]}}
"""
SEVERITIES = ("error", "warning", "info")
EFFECTS = ("gained", "lost", "reloaded", "kept")


class Cluster(NamedTuple):
    """A cluster of a generated fleet."""

    nodes: int = 3
    ordered: bool = False
    moves: bool = True
    """The change brings another version."""
    lost: int = 0
    """How many nodes boot a kernel without a mapping."""
    unknown: bool = False
    """A second config asks for a label that the inventory does not hold."""
    rival: bool = False
    """The change adds a second config for the same nodes."""
    idle: bool = False
    """A mapping that no node has a kernel for, which is an info."""
    broken: bool = False
    """The base cannot be rendered: its file is no YAML, which the change mends."""
    wraps: bool = False
    """A Module stands inside of another object, where nobody judges it."""

    def files(self, name: str, is_new: bool) -> dict[str, str]:
        """The files of one side."""
        version, regexp = "2" if is_new and self.moves else "1", ".*el9.*"
        ordered = str(self.ordered).lower()
        config = CONFIG.format(name="gpu", label="gpu", version=version, regexp=regexp, ordered=ordered)
        documents = [config.replace("[{regexp", "[{regexp: ^4}, {regexp") if self.idle else config]
        documents += [WORK] if self.wraps else []
        if self.unknown:
            documents.append(CONFIG.format(name="nic", label="nic", version="1", regexp=".+", ordered="false"))
        if self.rival and is_new:
            documents.append(CONFIG.format(name="other", label="gpu", version="1", regexp=".+", ordered="false"))
        keys, labels = "example.com/gpu", 'example.com/gpu: "true"'
        if self.ordered:
            keys += ", kmm.node.kubernetes.io/version-module.kmm.gpu"
            labels += ', kmm.node.kubernetes.io/version-module.kmm.gpu: "1"'
        rows = [f"      {name}-{at} {EL10 if is_new and at < self.lost else EL9}" for at in range(self.nodes)]
        inventory = INVENTORY.format(name=name, count=self.nodes, keys=keys, labels=labels, nodes="\n".join(rows))
        documents += ["a: [\n"] if self.broken and not is_new else []
        return {f"{name}/all.yaml": "---\n".join(documents), f"{name}/nodes.yaml": inventory}


CLUSTERS = st.builds(
    Cluster,
    nodes=st.integers(2, 5),
    ordered=st.booleans(),
    moves=st.booleans(),
    lost=st.sampled_from([0, 0, 1]),
    unknown=st.sampled_from([False, False, False, True]),
    rival=st.sampled_from([False, False, False, True]),
    idle=st.booleans(),
    broken=st.sampled_from([False, False, False, True]),
    wraps=st.sampled_from([False, False, True]),
)


class Outputs(NamedTuple):
    """What commands say of a change of a fleet."""

    out: Path
    """The folder of `ci`."""
    stdout: str
    report: str
    """The page of `report --base`."""
    code: int
    """The exit code of `ci`."""


def outputs(fleet: list[Cluster], *args: str) -> Outputs:
    folder = Path(tempfile.mkdtemp())
    names = [f"c{at}" for at in range(len(fleet))]
    config = "clusters:\n" + "".join(f"  {name}: [{name}]\n" for name in names)
    sides = [
        {
            path: text
            for name, cluster in zip(names, fleet, strict=True)
            for path, text in cluster.files(name, new).items()
        }
        for new in (False, True)
    ]
    repo = repository(folder / "repo", {".krmfn.yaml": config, **sides[0]})
    commit(repo, sides[1])
    done = process("krmfn", "ci", "--base", "main", "--out", "../out", *args, cwd=repo)
    page = process("krmfn", "report", "--base", "main", cwd=repo)
    return Outputs(folder / "out", done.text, page.text, done.code)


def counted(text: str, word: str) -> int:
    """The number before a word in a line: 2 for `2 errors, 1 warning` and `error`."""
    match = re.search(rf"([\d,]+) {word}s?\b", text)
    return int(match[1].replace(",", "")) if match else 0


def head_of(text: str) -> str:
    """The counts in the line `check: ...` of a text."""
    line = next(line for line in text.splitlines() if line.startswith("check: "))
    return line.removeprefix("check: ").partition(": ")[0]


def shown(html: str) -> str:
    """What a piece of a page shows, without its elements."""
    return unescape(re.sub("<[^>]*>", "", html))


def pills(page: str) -> str:
    return " ".join(re.findall(r'class="pill \w+" href="#findings">([^<]*)<', page))


HOLDERS = re.compile(r" \(((?:c\d, )*c\d|all \d clusters(?: but c\d)?)\)$")
"""The clusters that have a finding, at the end of its text."""
LEVELS = {"notice": "info", "note": "info", "critical": "error", "minor": "warning"}
Findings = Counter[tuple[str, str]]
"""How many findings there are, by severity and by the clusters that have them."""


def counts_of(pairs: Iterable[tuple[str, str]]) -> Findings:
    """Count findings, given severity and text of each: a text ends with its clusters."""
    holders = ((LEVELS.get(word, word), HOLDERS.search(text)) for word, text in pairs)
    return Counter((word, match[1] if match else "") for word, match in holders)


def listed(out: Path, page: str) -> dict[str, Findings]:
    """The findings as each output lists them; JUnit has no infos."""
    sarif = json.loads((out / "findings.sarif").read_text())["runs"][0]["results"]
    quality = json.loads((out / "codequality.json").read_text())
    checked = json.loads((out / "result.json").read_text())["check"]
    annotations = re.findall(
        r"^::(\w+) (?!title=not judged).*?::(.*)", (out / "annotations.txt").read_text(), re.MULTILINE
    )
    comment = re.findall(r"^- \*\*(\w+)\*\* (.*)", (out / "comment.md").read_text(), re.MULTILINE)
    suite = xml.fromstring((out / "junit.xml").read_text())
    cases = [case for case in suite.iter("testcase") if case.get("classname") != "krmfn" or len(case)]
    texts = [(case.find("failure") is not None, (case[0].text or "").split("\n")[0]) for case in cases]
    return {
        "json": counts_of((entry["severity"], f" ({holders(checked, entry)})") for entry in checked["findings"]),
        "sarif": counts_of((entry["level"], entry["message"]["text"]) for entry in sarif),
        "gitlab": counts_of((entry["severity"], entry["description"]) for entry in quality),
        "github": counts_of((word, text) for word, text in annotations),
        "comment": counts_of((word, text.replace("`", "")) for word, text in comment if word != "rights"),
        "junit": counts_of(("error" if fails else "warning", text) for fails, text in texts),
        "page": on_page(page),
    }


def spread(counts: Findings, known: Findings, clusters: list[str]) -> Findings:
    """The findings of a comment with those of each cluster: what is alike but for its place is one line there."""
    spread_counts: Findings = Counter()
    for (word, names), number in counts.items():
        each = clusters if names.startswith("all ") else names.split(", ")
        spread_counts.update({(word, name): number for name in ([names] if (word, names) in known else each)})
    return spread_counts


def holders(checked: Any, entry: Any) -> str:
    """The clusters of a finding in JSON, in words."""
    names, every = entry["clusters"], checked["clusters"]
    return grouped.where(names, every) if every[1:] else ""


def on_page(page: str) -> Findings:
    """The findings of a page: each names its clusters first."""
    section = page.partition('<section id="findings"')[2].partition("</section>")[0]
    pairs = []
    for article in section.split("<article")[1:]:
        (word,) = re.findall(r'^ class="card (\w+)"', article)
        for entry in re.findall("<li>(.*?)</li>", article, re.DOTALL):
            first = re.match('<span class="mono where">([^<]*)</span>', entry)
            pairs.append((word, f" ({first[1]})" if first else ""))
    return counts_of(pairs)


def numbers(told: Outputs) -> dict[str, Counter[str]]:
    """How many errors, warnings and infos the head of each output has."""
    out = told.out
    result = json.loads((out / "result.json").read_text())
    return {
        "verdict": Counter({word: result["verdict"][f"{word}s"] for word in SEVERITIES}),
        "json": Counter({word: result["check"]["summary"][word] for word in SEVERITIES}),
        "stdout": Counter({word: counted(head_of(told.stdout), word) for word in SEVERITIES}),
        "comment": Counter({word: counted(head_of((out / "comment.md").read_text()), word) for word in SEVERITIES}),
        "page": Counter({word: counted(pills((out / "report.html").read_text()), word) for word in SEVERITIES}),
    }


def of_stdout(text: str) -> Findings:
    return counts_of(re.findall(r"^(?:[^ ]+: )?(error|warning|info): (?!check: )(.*)$", text, re.MULTILINE))


def gaps(told: Outputs) -> dict[str, str]:
    """What each output says is not judged; GitLab's format has no place for it."""
    out, pattern = told.out, re.compile(r"^not judged: (.*)$", re.MULTILINE)
    (run,) = json.loads((out / "findings.sarif").read_text())["runs"]
    notes = [
        note["message"]["text"] for entry in run.get("invocations", ()) for note in entry["toolExecutionNotifications"]
    ]
    texts = {
        "stdout": told.stdout,
        "comment": (out / "comment.md").read_text().replace("`", ""),
        "junit": "".join(
            element.text or "" for element in xml.parse(out / "junit.xml").getroot().findall("system-out")
        ),
        "sarif": "\n".join(notes),
        "github": (out / "annotations.txt").read_text().replace("::notice title=not judged::", ""),
    }
    said = {name: "".join(pattern.findall(text)) for name, text in texts.items()}
    for name, html in {"page": (out / "report.html").read_text(), "report": told.report}.items():
        section = html.partition('<ul class="gaps">')[2].partition("</ul>")[0]
        said[name] = "; ".join(map(shown, re.findall("<li>(.*?)</li>", section)))
    result = json.loads((out / "result.json").read_text())
    for name, entries in {"verdict": result["verdict"], "json": result["check"]}.items():
        known = [Gap(e["kind"], e["subject"], e["reason"], tuple(e["names"])) for e in entries["notJudged"]]
        said[name] = "; ".join(map(sentence, known))
    return said


def effects(told: Outputs) -> dict[str, dict[str, int]]:
    """How many nodes each effect has, in the outputs that have a table of clusters; `?` counts none."""
    comment, page = (told.out / "comment.md").read_text(), (told.out / "report.html").read_text()
    table = takewhile(lambda line: "|" in line, comment.partition("| cluster |")[2].splitlines())
    head, _, *rows = [*table] or ["", ""]
    words = [word.strip() for word in head.split("|")]
    cells = [dict(zip(words, (cell.strip() for cell in row.split("|")[2:]), strict=False)) for row in rows]
    return {
        "comment": {word: sum(int(row[word]) for row in cells if row.get(word, "?") != "?") for word in EFFECTS},
        **{
            name: {word: sum(map(int, re.findall(f'data-label="{word}">(\\d+)<', html))) for word in EFFECTS}
            for name, html in {"page": page, "report": told.report}.items()
        },
    }


def node_numbers(out: Path) -> Any:
    return json.loads((out / "result.json").read_text())["verdict"]["nodes"]


@given(st.lists(CLUSTERS, min_size=1, max_size=3))
@example([Cluster(), Cluster(nodes=4, ordered=True)])
@example([Cluster(lost=1), Cluster(unknown=True)])
@example([Cluster(rival=True)])
@example([Cluster(broken=True)])
@example([Cluster(), Cluster(broken=True), Cluster(broken=True, lost=1)])
@example([Cluster(moves=False), Cluster(nodes=2)])
@example([Cluster(idle=True, wraps=True), Cluster(wraps=True, lost=1)])
@settings(max_examples=max(2, EXAMPLES // 100), deadline=None, derandomize=True, database=None, phases=TRIED)
def test_every_output_has_the_same_numbers(fleet: list[Cluster]) -> None:
    told = outputs(fleet, "--fail-on", "lost")
    out = told.out
    by_output, said = numbers(told), gaps(told)
    assert {name: counts for name, counts in by_output.items() if counts != by_output["verdict"]} == {}
    assert {name: text for name, text in said.items() if text != said["verdict"]} == {}
    page = (out / "report.html").read_text()
    by_list = {**listed(out, page), "stdout": of_stdout(told.stdout)}
    every = by_list["json"]
    assert sum(every.values()) == sum(by_output["verdict"].values()), "each finding of the head is in the list"
    no_infos = Counter({key: number for key, number in every.items() if key[0] != "info"})
    due = {name: no_infos if name == "junit" else every for name in by_list}
    by_list["comment"] = spread(by_list["comment"], every, [f"c{at}" for at in range(len(fleet))])
    assert {name: counts for name, counts in by_list.items() if counts != due[name]} == {}
    result = json.loads((out / "result.json").read_text())
    notes = result["diff"]["notes"]
    known = {(finding["severity"], finding["id"]) for finding in result["check"]["findings"]}
    assert [note for note in notes if (note["severity"], note["id"]) not in known] == [], "what is shown is counted"
    totals = Counter({word: result["diff"]["summary"][word] for word in SEVERITIES})
    assert totals == Counter(note["severity"] for note in notes)
    shown_notes = Counter(re.findall('<p class="note"><span class="pill (\\w+)"', page))
    assert shown_notes == Counter(note["severity"] for note in notes)
    names = [f"c{at}" for at in range(len(fleet))]
    if fleet[1:]:
        assert [cluster["name"] for cluster in result["verdict"]["clusters"]] == names
        figures = re.findall('<figcaption><span class="mono">([^<]*)</span>', page)
        assert figures == names, "the pictures of all clusters, with their names"
    of_report = {word: counted(pills(told.report), word) for word in SEVERITIES}
    added = [finding for finding in result["check"]["findings"] if "(--fail-on " in finding["message"]]
    assert of_report["error"] == by_output["verdict"]["error"] - len(added)
    assert of_report["info"] == by_output["verdict"]["info"]
    raised = {finding["message"].partition(" (--fail-on ")[0] for finding in added if finding["rule"]}
    assert raised.isdisjoint(finding["message"] for finding in result["check"]["findings"]), "each is told once"
    assert (of_report["warning"] > by_output["verdict"]["warning"]) == bool(raised), "a warning that makes a run fail"
    assert said["verdict"].count("what others wrap") == any(cluster.wraps for cluster in fleet)
    is_broken = any(cluster.broken for cluster in fleet)
    assert ("a side cannot be rendered" in said["verdict"]) >= is_broken, "a base that does not build is told"
    lost = [entry for entry in result["check"]["findings"] if entry["message"].startswith("lost by ")]
    assert [entry for entry in lost if not (entry["file"] and entry["line"] and entry["rule"])] == []
    verdict = result["verdict"]
    assert f"**{verdict['headline']}**" in (out / "comment.md").read_text()
    unknown, nodes = verdict["nodes"]["unknown"], verdict["nodes"]
    assert nodes["known"] + unknown == sum(cluster.nodes for cluster in fleet)
    assert unknown == sum(cluster.nodes for cluster in fleet if cluster.unknown)
    for key in nodes:
        assert nodes[key] == sum(cluster["nodes"][key] for cluster in verdict["clusters"])
    if fleet[1:]:
        ours = {word: nodes[word] for word in EFFECTS}
        assert effects(told) == {"comment": ours, "page": ours, "report": ours}
    for page in ((out / "report.html").read_text(), told.report):
        assert f"<h1>{verdict['headline']}.</h1>" in page
        assert f"<dt>nodes</dt><dd>{nodes['known'] + unknown}</dd>" in page
        assert (f"<dt>not known</dt><dd>{unknown}</dd>" in page) == (unknown > 0)
        assert "%<" not in page or not unknown, "no share of what is not all known"
        assert ('class="ring grey"' in page) == (unknown > 0)
        assert 'class="tone-fine"' not in page or not (unknown or verdict["errors"])
        assert 'class="tone-fine"' not in page or not any(cluster.wraps for cluster in fleet)


def test_the_headline_is_the_change_and_the_badge_what_is_counted() -> None:
    """A warning alone: nodes that keep a version by their label are known to keep it."""
    out, *_ = outputs([Cluster(nodes=5), Cluster(nodes=2, ordered=True)])
    html = (out / "report.html").read_text()
    text = Page(html).text
    assert "5 nodes in 1 cluster reload at once, 2 keep 1." in text
    assert "1 warning" in text
    assert "no findings" not in text
    assert "is not known" not in text
    assert "have a driver" not in text
    nodes = node_numbers(out)
    assert (nodes["reloaded"], nodes["kept"], nodes["lost"], nodes["waiting"]) == (5, 2, 0, 2)


def test_no_share_and_no_green_where_the_largest_cluster_is_not_known() -> None:
    out, *_ = outputs([Cluster(moves=False), Cluster(nodes=5, moves=False, unknown=True)])
    html = (out / "report.html").read_text()
    assert "%</text>" not in html
    assert '<text x="64" y="74" text-anchor="middle">5</text>' in html
    assert "<figcaption>of 8 nodes not known</figcaption>" in html
    assert 's-not-evaluated"' in html, "they are in the pictures, in grey"
    assert "<div><dt>nodes</dt><dd>8</dd></div>" in html


LOSING = [Cluster(40, lost=1)] * 4
"""Four clusters that change alike: each has an error and a lost driver."""


@pytest.mark.parametrize(
    ("fleet", "most", "errors"),
    [
        ([Cluster(40)] * 4, 4_096, 0),
        ([Cluster(40, rival=True)] * 4, 4_096, 4),
        (LOSING, 4_096, 8),
        ([*LOSING[1:], Cluster(40, ordered=True, rival=True)], 8_192, 7),
        ([Cluster(6)] * 63 + [Cluster(6, lost=2, ordered=True)], 12_288, 2),
    ],
    ids=["alike", "four conflicts", "four that lose", "one differs", "64"],
)
def test_a_comment_is_short_and_has_each_error(fleet: list[Cluster], most: int, errors: int) -> None:
    folder = outputs(fleet, "--fail-on", "lost").out
    comment = (folder / "comment.md").read_bytes()
    assert len(comment) <= most
    found = json.loads((folder / "result.json").read_text())["check"]["findings"]
    told = [finding["message"] for finding in found if finding["severity"] == "error"]
    assert (comment.count(b"- **error** "), len(told)) == (errors, errors)


def _places(out: Path) -> list[tuple[str, list[str]]]:
    """File and line of each error in the SARIF log, and those of its related locations."""
    (run,) = json.loads((out / "findings.sarif").read_text())["runs"]

    def place(location: Any) -> str:
        physical = location["physicalLocation"]
        return f"{physical['artifactLocation']['uri']}:{physical['region']['startLine']}"

    errors = [entry for entry in run["results"] if entry["level"] == "error"]
    return [(place(entry["locations"][0]), [*map(place, entry.get("relatedLocations", []))]) for entry in errors]


def test_a_conflict_stands_where_the_change_adds_it() -> None:
    """In a file of its own, and as a document of a file that stays else as it is; the other place is told, too."""
    label = "example.com/gpu"
    driver = CONFIG.format(name="gpu", label="gpu", version="1", regexp=".+", ordered="false")
    rival = driver.replace("name: gpu,", "name: canary,")
    inventory = INVENTORY.format(name="c", count=1, keys=label, labels=f'{label}: "true"', nodes=f"      n1 {EL9}")
    line = next(at for at, text in enumerate(driver.splitlines(), 1) if "nodeSelector" in text)
    after = line + len(driver.splitlines()) + 1
    sides = {
        f"a-new.yaml:{line}": {"a-new.yaml": rival, "z.yaml": driver},
        f"z-new.yaml:{line}": {"z-new.yaml": rival, "z.yaml": driver},
        f"z.yaml:{after}": {"z.yaml": f"{driver}---\n{rival}"},
    }
    for place, files in sides.items():
        repo = repository(Path(tempfile.mkdtemp()), {"z.yaml": driver, "nodes.yaml": inventory})
        for name, text in files.items():
            (repo / name).write_text(text)  # nothing is committed: what is untracked is new
        process("krmfn", "ci", "--base", "main", "--out", "out", cwd=repo)
        assert _places(repo / "out") == [(place, [f"z.yaml:{line}"])]
        annotation = (repo / "out" / "annotations.txt").read_text()
        assert f"file={place.partition(':')[0]},line={place.partition(':')[2]}," in annotation
        assert f"z.yaml:{line}" in annotation.partition("::DeviceConfig")[2]
        (entry,) = json.loads((repo / "out" / "codequality.json").read_text())
        location = entry["location"]
        assert f"{location['path']}:{location['lines']['begin']}" == place
        (finding,) = json.loads((repo / "out" / "result.json").read_text())["check"]["findings"]
        assert f"{finding['file']}:{finding['line']}" == place
        assert [f"{other['file']}:{other['line']}" for other in finding["related"]] == [f"z.yaml:{line}"]
        (note,) = json.loads(process("krmfn", "diff", "--base", "main", "--format", "json", cwd=repo).out)["notes"]
        assert f"{note['file']}:{note['line']}" == place, "and in each command that compares"
        page = process("krmfn", "report", "--base", "main", cwd=repo).text
        assert {*re.findall(r'<span class="mono where">([^<]*?:\d+)(?::\d+)?</span>', page)} == {place}
        plain = json.loads(process("krmfn", "check", "--format", "sarif", cwd=repo).out)["runs"][0]["results"]
        ours = json.loads((repo / "out" / "findings.sarif").read_text())["runs"][0]["results"]
        assert [entry["partialFingerprints"] for entry in plain] == [entry["partialFingerprints"] for entry in ours]


def test_each_file_that_is_read_counts_once(tmp_path: Path) -> None:
    """Also what a kustomization lists, itself, and what two clusters share; not what nothing reads."""
    config = CONFIG.format(name="gpu", version="1", label="gpu", regexp="'^.+$'", ordered="true")
    files = {"base/kustomization.yaml": "resources: [gpu.yaml]\n", "base/gpu.yaml": config, "README.md": "# x\n"}
    files |= {f"{name}/kustomization.yaml": "resources: [../base]\n" for name in ("a", "b")}
    configuration = {".krmfn.yaml": "clusters: {a: [a], b: [b]}\n"}
    repo = repository(tmp_path / "repo", {**files, **configuration})
    done = process("krmfn", "check", "--format", "json", cwd=repo)
    assert json.loads(done.out)["summary"]["files"] == len({**files, **configuration}) - 1
    assert ", 4 files" in process("krmfn", "check", "a", cwd=repo).text, "the configuration file, too"


@given(st.lists(CLUSTERS, min_size=1, max_size=3))
@example([Cluster(lost=1, idle=True), Cluster(unknown=True)])
@example([Cluster(), Cluster(idle=True)])
@example([Cluster(rival=True)])
@settings(max_examples=max(1, EXAMPLES // 100), deadline=None, derandomize=True, database=None, phases=TRIED)
def test_every_format_ends_with_the_same_code(fleet: list[Cluster]) -> None:
    """Of `check`, of `diff`, and of `ci`, whose files say it, too: JUnit by a failure."""
    told = outputs(fleet)
    repo, out = told.out.parent / "repo", told.out
    code = json.loads((out / "result.json").read_text())["exit"]
    checks = {name: process("krmfn", "check", "--format", name, cwd=repo).code for name in FORMATS}
    assert {*checks.values()} == {int(any(cluster.rival or cluster.lost or cluster.unknown for cluster in fleet))}
    diffs = {name: process("krmfn", "diff", "--base", "main", "--format", name, cwd=repo) for name in DIFFS}
    assert len({done.code for done in diffs.values()}) == 1
    data = json.loads(diffs["json"].text)
    notes = {name: listed_notes(diffs[name].text) for name in ("text", "markdown")}
    severities = Counter(note["severity"] for note in data["notes"])
    assert notes == {"text": severities, "markdown": severities}
    junit = xml.fromstring((out / "junit.xml").read_text())
    is_red = "**This makes the job fail**" in (out / "comment.md").read_text()
    assert (told.code, int(junit.get("failures") != "0"), int(is_red)) == (code, code, code)


def listed_notes(text: str) -> Counter[str]:
    """How many findings of each severity stand in the text or the Markdown of `diff`."""
    return Counter(re.findall(r"^(?:- \*\*|(?:[^ ]+: )?)(error|warning|info)(?:\*\* |: )", text, re.MULTILINE))


APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: kmm, namespace: argocd}
spec: {generators: [{list: {elements: []}}], template: {metadata: {name: kmm}, spec: {project: default}}}
"""


def test_files_about_clusters_are_no_cluster_of_a_comparison(tmp_path: Path) -> None:
    """What they make is in every cluster, or in none: `ci` and `report` say it of the same clusters."""
    names = ["a", "b"]
    sides = [
        {path: text for name in names for path, text in Cluster(3).files(name, is_new).items()}
        for is_new in (False, True)
    ]
    config = "clusters:\n" + "".join(f"  {name}: [{name}]\n" for name in names)
    repo = repository(tmp_path / "repo", {".krmfn.yaml": config, "argocd/set.yaml": APPLICATION, **sides[0]})
    commit(repo, sides[1])
    page = process("krmfn", "report", "--base", "main", cwd=repo).ended(0).text
    process("krmfn", "ci", "--base", "main", "--out", "../out", cwd=repo).ended(0)
    headlines = [re.findall("<h1>(.*?)</h1>", html) for html in (page, (tmp_path / "out/report.html").read_text())]
    assert headlines == [["6 nodes in 2 clusters reload at once."]] * 2


def test_a_page_has_one_answer_to_a_conflict(tmp_path: Path) -> None:
    """What its two sections say to do about a canary is the same."""
    label = "example.com/gpu"
    driver = CONFIG.format(name="gpu", label="gpu", version="1", regexp=".+", ordered="false")
    canary = driver.replace("name: gpu,", "name: canary,").replace('driverVersion: "1"', 'driverVersion: "2"')
    inventory = INVENTORY.format(name="c", count=1, keys=label, labels=f'{label}: "true"', nodes=f"      n1 {EL9}")
    repo = repository(tmp_path / "repo", {"a.yaml": driver, "b.yaml": canary, "nodes.yaml": inventory})
    page = process("krmfn", "report", cwd=repo).text
    (remedy,) = json.loads(process("krmfn", "check", "--format", "json", cwd=repo).out)["findings"]
    sections = [shown(page.partition(f'<section id="{name}"')[2].partition("</section>")[0]) for name in CHAPTERS]
    assert [remedy["remedy"].replace("`", "") in section for section in sections] == [True, True]
    assert "different value of the same label" not in sections[0]


CHAPTERS = ("conflicts", "findings")


def test_the_share_of_a_change_has_what_nodes_keep() -> None:
    """Nodes that keep a version, as the headline says, are no hole in the ring."""
    out, *_ = outputs([Cluster(nodes=5), Cluster(nodes=2, ordered=True)])
    page = (out / "report.html").read_text()
    assert '<text x="64" y="74" text-anchor="middle">100%</text>' in page
    assert "<figcaption>of selected nodes keep a driver or are planned to get one</figcaption>" in page
