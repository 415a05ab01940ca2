"""Every format of `check` stays valid, whatever stands in a message; a clean run, too."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as xml
from importlib.metadata import version
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from krmfn_functions.commands.catalogue import rules
from krmfn_functions.formats.checked import Checked, tag_cluster
from krmfn_functions.formats.findings import FORMATS
from krmfn_functions.formats.servers import github, gitlab, junit, sarif

from krmfn import Place, Ref, Result, error, info, warning
from krmfn.printing import printable
from krmfn.results import Field

ABOUT = Ref("krmfn.dev/v1alpha1", "DeviceConfig", "kmm", "gaudi")
FOUND = [
    error("is wrong", rule="KRM101", ref=ABOUT, field=Field("spec.a"), place=Place("dir/a b.yaml", 1, 7, 3)),
    warning("is odd", rule="KRM225", ref=ABOUT._replace(namespace=""), place=Place("b.yaml", 0)),
    info("is so", rule="KRM407", ref=ABOUT),
    warning("nowhere"),
]
CHECKED = Checked(FOUND, 14, [(ABOUT, Result("", ref=ABOUT, place=Place("dir/a b.yaml", 1, 5)))])
CLEAN = Checked([], 14)
NASTY = [
    *("\x1b[31mred\x1b[0m", "bell\x07 nul\x00 del\x7f csi\x9b", "a\nb", "a\r\nb\rc", "a\u2028b\u2029c\x85d\x0b\x0ce"),
    *("😀 👩‍👩‍👧", "\u202eevil", "\"quotes\" and 'quotes'", "]]>", "<![CDATA[", "<!--", "-->", "&amp; <b>"),
    *("%0A::error::x", "\n::error::x", "a,b:c::d", "back\\slash \\n \\", "100% {label}", "#", "::error::x"),
    *("##[error]x", "##vso[task.logissue type=error]x", "\ufeff", "\ufffe\uffff", "\ud800 half", "", " "),
]


def nasty(text: str) -> Checked:
    """A finding that says `text` wherever a finding can say something, between two others."""
    named = Ref(text, text, text, text)
    results = [FOUND[0], Result(text, "error", text, named, Field(text), Place(text, 2, 3, 4)), FOUND[1]]
    return Checked(results, 14, [(ref, Result("", ref=ref)) for ref in (named, ABOUT)])


def printed(text: str) -> str:
    """The text as the command line writes it."""
    return text.encode(errors="backslashreplace").decode()


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_reports_every_finding(name: str) -> None:
    """Also a new one, which needs no more than its function and its row in the table."""
    assert printed(FORMATS[name](CLEAN, None)) != printed(FORMATS[name](CHECKED, None))
    for text in NASTY:
        assert printed(FORMATS[name](nasty(text), None)).endswith("\n")


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "prometheus"])
def test_a_format_says_what_each_finding_is_about(name: str) -> None:
    """A message says what is wrong, and hardly ever with what: that is the resource and the field."""
    text = FORMATS[name](Checked([FOUND[0]]), None)
    missing = [word for word in ("KRM101", "DeviceConfig", "gaudi", "spec.a", "is wrong") if word not in text]
    assert missing == [], "a finding has these: print `subject`, too"


# SARIF.


def sound(text: str, results: int) -> dict[str, Any]:
    """The log's run, when it is what SARIF 2.1.0 asks for (tests/e2e/test_sarif.py asks the schema itself)."""
    log = json.loads(text)
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    run: dict[str, Any] = log["runs"][0]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(ids) == len(set(ids))
    logged = run["results"]
    assert isinstance(logged, list)
    assert len(logged) == results
    for result in logged:
        assert result["level"] in ("none", "note", "warning", "error")
        assert isinstance(result["message"]["text"], str)
        assert result.get("ruleId") in [*ids, None]
        for location in result.get("locations", []):
            uri = location.get("physicalLocation", {}).get("artifactLocation", {}).get("uri")
            assert uri is None or re.fullmatch(r"[!-~]+", uri)
            assert uri is None or urlsplit(uri).scheme == ""
            region = location.get("physicalLocation", {}).get("region")
            assert region is None or (region["startLine"] >= 1 and region.get("startColumn", 1) >= 1)
    return run


def test_sarif() -> None:
    run = sound(sarif(CHECKED), 4)
    rules = [{"id": "KRM101"}, {"id": "KRM225"}, {"id": "KRM407"}]
    driver = {"name": "krmfn", "version": version("krmfn"), "rules": rules}
    assert run["tool"]["driver"] == driver
    first, second, third, fourth = run["results"]
    assert [first["level"], third["level"]] == ["error", "note"]
    assert first["message"] == {"text": "DeviceConfig kmm/gaudi: spec.a: is wrong"}
    (location,) = first["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "dir/a%20b.yaml"},
        "region": {"startLine": 7, "startColumn": 3},
    }
    assert location["logicalLocations"] == [{"fullyQualifiedName": "DeviceConfig/kmm/gaudi/spec.a"}]
    assert second["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": "b.yaml"}}
    assert "physicalLocation" not in third["locations"][0]
    assert "locations" not in fourth


def test_a_clean_sarif_log_has_results() -> None:
    assert sound(sarif(CLEAN), 0)["results"] == []


@pytest.mark.parametrize("text", NASTY)
def test_nothing_breaks_sarif(text: str) -> None:
    run = sound(printed(sarif(nasty(text))), 3)
    result = run["results"][1]
    assert result["message"]["text"].endswith(text)
    if text and "\ud800" not in text:
        location = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert unquote(location["uri"]) == text.replace("\\", "/")


# JUnit.


def test_junit() -> None:
    suite = xml.fromstring(junit(CHECKED))
    assert (suite.tag, suite.attrib) == ("testsuite", {"name": "krmfn", "tests": "3", "failures": "1", "errors": "0"})
    cases = list(suite)
    assert [case.get("classname") for case in cases] == ["KRM101", "KRM225", "krmfn"]
    assert {key for case in cases for key in case.attrib} == {"classname", "name"}
    assert cases[0].attrib["name"] == "DeviceConfig kmm/gaudi: spec.a"
    failure = cases[0].find("failure")
    assert failure is not None
    assert (failure.get("type"), failure.get("message")) == ("error", "is wrong")
    assert failure.text == "dir/a b.yaml:7:3: error: DeviceConfig kmm/gaudi: spec.a: is wrong [KRM101]"


def test_junit_says_once_what_to_do() -> None:
    """A finding's own remedy fits its case; the rule's stands there for one that has none."""
    advised = error("is wrong", rule="KRM604", remedy="label the node")
    texts = [junit(Checked([finding]), rules) for finding in (advised, advised._replace(remedy=""))]
    (general,) = [rule.remedy for rule in rules() if rule.id == "KRM604"]
    assert [("label the node" in text, general in text) for text in texts] == [(True, False), (False, True)]


def test_a_test_of_junit_keeps_its_name_while_numbers_lines_and_severities_change() -> None:
    changed = [
        result._replace(message=f"12 nodes {result.message}", place=result.place and result.place._replace(line=99))
        for result in FOUND
    ]
    names = [[case.attrib for case in xml.fromstring(junit(Checked(results, 14)))] for results in (FOUND, changed)]
    assert names[0] == names[1]
    twice = [case.get("name") for case in xml.fromstring(junit(Checked([FOUND[0], FOUND[0]], 14)))]
    assert twice == ["DeviceConfig kmm/gaudi: spec.a", "DeviceConfig kmm/gaudi: spec.a #2"]
    of_cluster = tag_cluster("lab", [FOUND[0]])
    assert xml.fromstring(junit(Checked(list(of_cluster), 14)))[0].get("name") == "DeviceConfig kmm/gaudi: spec.a (lab)"
    unnamed = list(tag_cluster(".", [FOUND[0]]))
    assert xml.fromstring(junit(Checked(unnamed, 14)))[0].get("name") == "DeviceConfig kmm/gaudi: spec.a"


def test_in_junit_a_warning_fails_only_where_it_fails_the_command() -> None:
    for failing, failures in ((("error",), [True, False, False]), (("error", "warning"), [True, True, True])):
        suite = xml.fromstring(junit(CHECKED._replace(failing=failing)))
        assert [case.find("failure") is not None for case in suite] == failures
        assert suite.get("failures") == str(sum(failures))
    text = xml.fromstring(junit(CHECKED))[1].findtext("system-out")
    assert text and "warning: " in text and "KRM225" in text


@pytest.mark.parametrize(
    ("results", "name"),
    [([], "no findings"), ([FOUND[2]], "no errors or warnings, 1 info")],
    ids=["clean", "infos only"],
)
def test_a_junit_report_without_failures_has_a_case_that_passed(results: list[Result], name: str) -> None:
    suite = xml.fromstring(junit(Checked(results, 14)))
    assert (suite.get("tests"), suite.get("failures"), len(suite), len(suite[0])) == ("1", "0", 1, 0)
    assert suite[0].get("name") == f"{name} in 14 resources"


@pytest.mark.parametrize("text", NASTY)
def test_nothing_breaks_junit(text: str) -> None:
    suite = xml.fromstring(printed(junit(nasty(text))).encode())
    assert (suite.get("tests"), len(suite)) == ("3", 3)
    failure = suite[1].find("failure")
    assert failure is not None
    if text.isprintable():
        assert failure.get("message") == text


# GitHub.


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Workflow commands as GitHub's runner reads them, one on each line that begins with two colons."""
    parsed = []
    for line in re.split(r"\r\n|\r|\n", text):
        read = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line)
        assert read or not line, line
        if read:
            pairs = (pair.partition("=") for pair in read[2].split(","))
            parsed.append((read[1], {key: unquote(value) for key, _, value in pairs}, unquote(read[3])))
    return parsed


def test_github() -> None:
    assert github(CHECKED).splitlines()[0] == (
        "::error file=dir/a b.yaml,line=7,col=3,title=KRM101::DeviceConfig kmm/gaudi: spec.a: is wrong"
    )
    assert [(level, known) for level, known, _ in commands(github(CHECKED))][1:] == [
        ("warning", {"file": "b.yaml", "title": "KRM225"}),
        ("notice", {"title": "KRM407"}),
        ("warning", {"title": "krmfn"}),
    ]
    assert github(CLEAN) == ""


@pytest.mark.parametrize(
    ("text", "message", "title"),
    [
        ("100%", "100%25", "100%25"),
        ("%0A", "%250A", "%250A"),
        ("a\nb", "a%0Ab", r"a\nb"),
        ("a\r\nb", r"a\r%0Ab", r"a\r\nb"),
        ("a\x1bb", r"a\x1bb", r"a\x1bb"),
        ("\u202e", r"\u202e", r"\u202e"),
        ("a,b:c", "a,b:c", "a%2Cb%3Ac"),
    ],
)
def test_github_escapes_a_property_more_than_a_message(text: str, message: str, title: str) -> None:
    assert github(Checked([error(text, rule=text)])) == f"::error title={title}::{message}\n"


@pytest.mark.parametrize("text", NASTY)
def test_nothing_breaks_github(text: str) -> None:
    parsed = commands(github(nasty(text)))
    assert [level for level, _, _ in parsed] == ["error", "error", "warning"]
    _, known, message = parsed[1]
    assert set(known) <= {"file", "line", "col", "title"}
    escaped = "\n".join(map(printable, text.split("\n")))
    assert message.endswith(escaped.removeprefix(r"\x3a:"))
    assert known["title"] == (printable(text) or "krmfn")
    assert github(nasty(text)).replace("\n", "").isprintable()


# GitLab.


def entries(text: str) -> list[dict[str, Any]]:
    """The entries, when each has what GitLab needs, and a fingerprint of its own."""
    read: list[dict[str, Any]] = json.loads(text)
    assert text.endswith("]\n")
    for entry in read:
        assert entry.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert all(isinstance(entry[key], str) for key in ("description", "check_name"))
        assert re.fullmatch("[0-9a-f]{64}", entry["fingerprint"])
        assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert entry["location"]["path"]
        assert entry["location"]["lines"]["begin"] >= 1
    assert len({entry["fingerprint"] for entry in read}) == len(read)
    return read


def test_gitlab() -> None:
    read = entries(gitlab(CHECKED))
    assert [(entry["check_name"], entry["severity"]) for entry in read] == [
        ("KRM101", "critical"),
        ("KRM225", "minor"),
        ("KRM407", "info"),
        ("krmfn", "minor"),
    ]
    assert read[0]["description"] == "DeviceConfig kmm/gaudi: spec.a: is wrong"
    assert [entry["location"] for entry in read] == [
        {"path": "dir/a b.yaml", "lines": {"begin": 7}},
        {"path": "b.yaml", "lines": {"begin": 1}},
        {"path": ".", "lines": {"begin": 1}},
        {"path": ".", "lines": {"begin": 1}},
    ]
    assert gitlab(CLEAN) == "[]\n"


def test_a_fingerprint_stays_when_lines_move_and_is_of_one_entry() -> None:
    moved = [result._replace(place=result.place and result.place._replace(line=99)) for result in FOUND]
    names = [entry["fingerprint"] for entry in entries(gitlab(CHECKED))]
    assert [entry["fingerprint"] for entry in entries(gitlab(Checked(moved)))] == names
    twice = [entry["fingerprint"] for entry in entries(gitlab(Checked([*FOUND, *FOUND])))]
    assert twice[: len(FOUND)] == names
    other = [result._replace(message="is wrong, too") for result in FOUND]
    assert not set(names) & {entry["fingerprint"] for entry in entries(gitlab(Checked(other)))}


@pytest.mark.parametrize("text", NASTY)
def test_nothing_breaks_gitlab(text: str) -> None:
    read = entries(printed(gitlab(nasty(text))))
    assert len(read) == 3
    assert read[1]["description"].endswith(text)
    assert read[1]["location"]["path"] == (text or ".")


# Prometheus.

LABEL = r'[a-z]+="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(rf"(krmfn_[a-z_]+)(?:\{{{LABEL}(?:,{LABEL})*\}})? (\d+)")


def samples(text: str) -> list[str]:
    """The samples of an exposition, when every line is one, or a HELP or TYPE before its own."""
    assert text.endswith("\n")
    kinds: list[str] = []
    lines = []
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("# HELP "):
            kinds.append(line.split(" ")[2])
        elif line.startswith("#"):
            assert line == f"# TYPE {kinds[-1]} gauge"
        else:
            read = SAMPLE.fullmatch(line)
            assert read and read[1] == kinds[-1], line
            lines.append(line)
    assert len(lines) == len(set(lines)), "a sample stands once"
    assert kinds == ["krmfn_config_failed", "krmfn_findings", "krmfn_resources", "krmfn_files", "krmfn_kinds"]
    return lines


def test_prometheus() -> None:
    assert samples(FORMATS["prometheus"](CHECKED, None)) == [
        'krmfn_config_failed{kind="DeviceConfig",namespace="kmm",name="gaudi"} 1',
        'krmfn_findings{rule="",severity="warning"} 1',
        'krmfn_findings{rule="KRM101",severity="error"} 1',
        'krmfn_findings{rule="KRM225",severity="warning"} 1',
        'krmfn_findings{rule="KRM407",severity="info"} 1',
        "krmfn_resources 14",
        "krmfn_files 0",
    ]
    clean = CLEAN._replace(files=2, kinds={"DeviceConfig": 3, "Module": 0})
    assert samples(FORMATS["prometheus"](clean, None)) == [
        "krmfn_resources 14",
        "krmfn_files 2",
        'krmfn_kinds{kind="DeviceConfig"} 3',
        'krmfn_kinds{kind="Module"} 0',
    ]


A, B = ABOUT._replace(name="a"), ABOUT._replace(name="b")


CHILD = Ref("kmm.sigs.x-k8s.io/v1beta1", "Module", "kmm", "a")
FAILED: dict[str, tuple[list[Result], list[str]]] = {
    "clean": ([], ["0", "0"]),
    "warning": ([warning("x", ref=A)], ["0", "0"]),
    "its own": ([error("x", ref=A)], ["1", "0"]),
    "version": ([error("x", ref=A._replace(api_version="krmfn.dev/v1"))], ["1", "0"]),
    "its child, by place": ([error("x", ref=CHILD._replace(name="z"), place=Place("b.yaml", 0, 9))], ["0", "1"]),
    "no config's": ([error("x", ref=CHILD)], ["1", "1"]),
    "another resource": ([error("x", place=Place("b.yaml", 1, 9))], ["1", "1"]),
    "the run's": ([error("x")], ["1", "1"]),
}


@pytest.mark.parametrize("name", FAILED)
def test_a_config_fails_by_an_error_of_its_own_or_of_no_config(name: str) -> None:
    results, failed = FAILED[name]
    places = {B: Place("b.yaml", 0, 1), A: Place("a.yaml", 0, 1)}
    checked = Checked(results, 2, [(ref, Result("", ref=ref, place=place)) for ref, place in places.items()])
    values = [line[-1] for line in samples(FORMATS["prometheus"](checked, None)) if "config_failed" in line]
    assert values == failed


@pytest.mark.parametrize("text", NASTY)
def test_nothing_breaks_prometheus(text: str) -> None:
    assert len(samples(printed(FORMATS["prometheus"](nasty(text), None)))) == 7


# Text and JSON.


@pytest.mark.parametrize("text", NASTY)
def test_nothing_breaks_the_text(text: str) -> None:
    lines = FORMATS["text"](nasty(text), None).split("\n")
    assert len(lines) == 5
    assert all(line.isprintable() for line in lines)
    assert not any(line.lstrip().startswith("::") for line in lines), "GitHub runs what begins so"
    assert not any(re.search(r"##\w*\[", line) for line in lines), "GitHub and Azure run what holds that"


@pytest.mark.parametrize("text", NASTY)
def test_nothing_breaks_json(text: str) -> None:
    assert json.loads(printed(FORMATS["json"](nasty(text), None)))["findings"][1]["message"] == text
