"""One run of `ci`, one verdict: stdout, comment, page, JUnit, SARIF, annotations and JSON have the same numbers."""

from __future__ import annotations

import json
import re
import tempfile
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis.strategies as st
from hypothesis import Phase, example, given, settings

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

    def files(self, name: str, is_new: bool) -> dict[str, str]:
        """The files of one side."""
        version, regexp = "2" if is_new and self.moves else "1", ".*el9.*"
        ordered = str(self.ordered).lower()
        documents = [CONFIG.format(name="gpu", label="gpu", version=version, regexp=regexp, ordered=ordered)]
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
        return {f"{name}/all.yaml": "---\n".join(documents), f"{name}/nodes.yaml": inventory}


CLUSTERS = st.builds(
    Cluster,
    nodes=st.integers(2, 5),
    ordered=st.booleans(),
    moves=st.booleans(),
    lost=st.sampled_from([0, 0, 1]),
    unknown=st.sampled_from([False, False, False, True]),
    rival=st.sampled_from([False, False, False, True]),
)


def outputs(fleet: list[Cluster], *args: str) -> tuple[Path, str]:
    """The folder with what `ci` writes about a change of a fleet, and its stdout."""
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
    done = process("krmfn", "ci", "--base", "main", "--out", "out", *args, cwd=repo)
    return repo / "out", done.text


def counted(text: str, word: str) -> int:
    """The number before a word in a line: 2 for `2 errors, 1 warning` and `error`."""
    match = re.search(rf"([\d,]+) {word}s?\b", text)
    return int(match[1].replace(",", "")) if match else 0


def numbers(out: Path, stdout: str) -> dict[str, Counter[str]]:
    """How many errors and warnings each output has."""
    levels = {"notice": "info", "note": "info", "critical": "error", "minor": "warning"}
    result = json.loads((out / "result.json").read_text())
    comment = (out / "comment.md").read_text()
    sarif = json.loads((out / "findings.sarif").read_text())["runs"][0]["results"]
    quality = json.loads((out / "codequality.json").read_text())
    annotations = re.findall(r"^::(\w+) ", (out / "annotations.txt").read_text(), re.MULTILINE)
    pills = re.findall(r'class="pill \w+" href="#findings">([^<]*)<', (out / "report.html").read_text())
    suite = xml.fromstring((out / "junit.xml").read_text())
    cases = [case for case in suite if case.get("classname") != "krmfn" or len(case)]
    failures = [case for case in cases if case.find("failure") is not None]
    head = (
        next(line for line in stdout.splitlines() if line.startswith("check: ")).partition(": ")[2].partition(": ")[0]
    )
    first = (
        next(line for line in comment.splitlines() if line.startswith("check: ")).partition(": ")[2].partition(": ")[0]
    )
    every = {
        "verdict": {word: result["verdict"][f"{word}s"] for word in ("error", "warning")},
        "json": {word: result["check"]["summary"][word] for word in ("error", "warning")},
        "sarif": Counter(levels.get(entry["level"], entry["level"]) for entry in sarif),
        "gitlab": Counter(levels.get(entry["severity"], entry["severity"]) for entry in quality),
        "github": Counter(levels.get(word, word) for word in annotations),
        "junit": {"error": len(failures), "warning": len(cases) - len(failures)},
        "stdout": {word: counted(head, word) for word in ("error", "warning")},
        "comment": {word: counted(first, word) for word in ("error", "warning")},
        "page": {word: counted(" ".join(pills), word) for word in ("error", "warning")},
    }
    return {
        name: Counter({word: counts.get(word, 0) for word in ("error", "warning")}) for name, counts in every.items()
    }


def node_numbers(out: Path) -> Any:
    return json.loads((out / "result.json").read_text())["verdict"]["nodes"]


@given(st.lists(CLUSTERS, min_size=1, max_size=3))
@example([Cluster(), Cluster(nodes=4, ordered=True)])
@example([Cluster(lost=1), Cluster(unknown=True)])
@example([Cluster(rival=True)])
@example([Cluster(moves=False), Cluster(nodes=2)])
@settings(max_examples=max(2, EXAMPLES // 100), deadline=None, derandomize=True, database=None, phases=TRIED)
def test_every_output_has_the_same_numbers(fleet: list[Cluster]) -> None:
    out, stdout = outputs(fleet, "--fail-on", "lost")
    by_output = numbers(out, stdout)
    assert {name: counts for name, counts in by_output.items() if counts != by_output["verdict"]} == {}
    result = json.loads((out / "result.json").read_text())
    verdict = result["verdict"]
    assert f"**{verdict['headline']}**" in (out / "comment.md").read_text()
    page = (out / "report.html").read_text()
    assert f"<h1>{verdict['headline']}.</h1>" in page
    unknown = verdict["nodes"]["unknown"]
    assert verdict["nodes"]["known"] + unknown == sum(cluster.nodes for cluster in fleet)
    assert unknown == sum(cluster.nodes for cluster in fleet if cluster.unknown)
    assert "%<" not in page or not unknown, "no share of what is not all known"
    assert ('class="ring grey"' in page) == (unknown > 0)
    assert 'class="tone-fine"' not in page or not (unknown or verdict["errors"])


def test_the_headline_is_the_change_and_the_badge_what_is_counted() -> None:
    """A warning alone: nodes that keep a version by their label are known to keep it."""
    out, _ = outputs([Cluster(nodes=5), Cluster(nodes=2, ordered=True)])
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
    out, _ = outputs([Cluster(moves=False), Cluster(nodes=5, moves=False, unknown=True)])
    html = (out / "report.html").read_text()
    assert "%</text>" not in html
    assert '<text x="64" y="74" text-anchor="middle">5</text>' in html
    assert "<figcaption>of 8 nodes not known</figcaption>" in html
    assert 's-not-evaluated"' in html, "they are in the pictures, in grey"
    assert "<div><dt>nodes</dt><dd>8</dd></div>" in html


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
        plain = json.loads(process("krmfn", "check", "--format", "sarif", cwd=repo).out)["runs"][0]["results"]
        ours = json.loads((repo / "out" / "findings.sarif").read_text())["runs"][0]["results"]
        assert [entry["partialFingerprints"] for entry in plain] == [entry["partialFingerprints"] for entry in ours]
