"""The examples of rules, run: written into a folder as a person would have them, and judged by the command line.

An example is YAML. Its first line may be `# kmm: main`, the KMM version of the cluster, `# kustomize: FLAGS`, which
`check` gets, or `# served: LIST`, which is KUBE_API_VERSIONS. Each document may begin with a
comment that says what it is, alone on its line:

* `# <file>` (`# overlays/kustomization.yaml`): that file, as it is written when it has an apiVersion or no kind; those
  below `theirs/` are another folder, which `check` is given with --against;
* `# before`, `# after`: part of the old or the new state; with one of them the example is a change, and `diff` runs.
  A document without a comment is then part of both;
* `# 1001 of these, NUMBER from 1`: as many documents, with the number in place of the word;
* `# LETTERS is 1024 letters`: a text of that length in place of the word.

A document without an apiVersion is filled in from the least resource of its kind, and one without a kind is of the
usual kind of the rule's family. An example wins over the least resource, mapping by mapping; selectors are replaced,
and `null` takes a field of the least resource away. With a kustomization.yaml at the top kustomize builds the folder.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from krmfn_functions.command_line import main
from krmfn_functions.commands.catalogue import usual_kind
from krmfn_functions.rule import Rule

from krmfn import Item
from tests.tables import table

LEAST: dict[str, dict[str, Any]] = {resource["kind"]: resource for resource in table(__file__, "least.yaml")}
"""The least valid resource of each kind that an example may leave out parts of."""

_SELECTORS = frozenset({"nodeSelector", "selector", "matchLabels", "clusterSelector"})
_HEADING = re.compile(
    r"# (?:(?P<state>before|after)|(?P<number>\d+) of these, (?P<word>\w+) from 1"
    r"|(?P<text>\w+) is (?P<length>\d+) letters|(?P<file>\S+))\n"
)
_KMM = re.compile(r"\A# kmm: (\S+)\n")
_FLAGS = re.compile(r"\A# kustomize: (.+)\n")
_FROM = re.compile(r"\A# profiles-from: (.+)\n")
_SERVED = re.compile(r"\A# served: (.+)\n")
_FILE = re.compile(r"(?:.*/)?(?:[^/]+\.(?:yaml|yml|json)|Kptfile)")


class Finding(NamedTuple):
    """What was reported about an example."""

    rule: str
    severity: str
    message: str
    remedy: str


class Document(NamedTuple):
    """A document of an example: the states that it is part of, the file, and its text."""

    states: tuple[str, ...]
    file: str
    text: str


def findings(rule: Rule, example: str) -> list[Finding]:
    """Return what `check` or `diff` reports about an example of a rule. Fails when it cannot even be read."""
    flags = [f"--kustomize={match[1]}" for match in _FLAGS.finditer(example)]
    trusted = [match[1] for match in _FROM.finditer(example)]
    example = _FROM.sub("", example)
    served = {"KUBE_API_VERSIONS": match[1]} if (match := _SERVED.match(example)) else {}
    example = _SERVED.sub("", _FLAGS.sub("", example))
    with mock.patch.dict(os.environ, served), tempfile.TemporaryDirectory() as name:
        folder = Path(name, "here")
        folder.mkdir()
        flags += [f"--profiles-from={folder / path}" for path in trusted]
        paths = plant(folder, rule, example)
        command = ["diff", *paths] if len(paths) > 1 else ["check", "--root", str(folder), *paths]
        if (folder / "theirs").exists():
            (folder / "theirs").rename(Path(name, "theirs"))
            flags += ["--against", f"{name}/theirs", "--root", name]
        code, out = run([*command, *flags, "--format", "json"])
        assert code in ((0, 1, 2) if rule.id.startswith("KRM5") else (0, 1)), f"exit code {code} for:\n{example}"
        report = json.loads(out)
        entries = report["notes"] if len(paths) > 1 else report["findings"]
        _are_told_apart(entries)
        return [
            Finding(
                entry["rule"],
                entry["severity"],
                entry["message"].replace(f"{name}/", ""),
                (entry["remedy"] or "").replace(f"{name}/", ""),
            )
            for entry in entries
        ]


known_findings = cache(findings)
"""`findings` where nothing is changed of the program: equal calls run once."""


def without_remedy(rule: Rule, reported: Sequence[Finding]) -> list[Finding]:
    """Return the findings of a rule that do not say what to do."""
    return [finding for finding in reported if finding.rule == rule.id and not finding.remedy]


LONGEST = 160
"""Characters of a message, as the house has them for one sentence; what to do is the remedy's, and not counted."""
_ADVICE = re.compile(r"; (?!must )(?:or )?(?:add|change|correct|leave|move|name|put|regenerate|remove|set|use|write)\b")


def faults_of(message: str) -> list[str]:
    """Return why a message is not one sentence that says what is wrong, and leaves to the remedy what to do."""
    faults = {
        "has two sentences": re.search(r"\. [A-Z]", message),
        "ends with a full stop": re.search(r"[^.]\.$", message),
        "says what to do": _ADVICE.search(message),
        "is long": len(message) > LONGEST,
    }
    return [fault for fault, is_there in faults.items() if is_there]


def _are_told_apart(entries: list[dict[str, Any]]) -> None:
    """Assert that two findings of one id at one place say the same: else a baseline, or a format, loses one of them."""
    messages: dict[tuple[object, ...], str] = {}
    for entry in entries:
        key = (entry["id"], entry["severity"], entry["file"], entry["line"], entry["column"])
        assert messages.setdefault(key, entry["message"]) == entry["message"], f"a fact is missing: {entry}"


def plant(folder: Path, rule: Rule, example: str) -> list[str]:
    """Write an example of a rule, and return its PATHs: two, the old and the new state, when it is about a change."""
    return [str(folder / state) for state in _write(folder, list(documents(example, rule.id)))]


def needs_kustomize(rule: Rule) -> bool:
    """Return True when an example of the rule has to be built."""
    return any("\n# kustomization.yaml\n" in f"\n{example}" for example in (rule.good, rule.bad))


def documents(example: str, rule: str) -> Iterator[Document]:
    """Yield the documents of an example, filled in."""
    parts = re.split(r"^---\n", with_settings(example), flags=re.MULTILINE)
    headings = [_heading(part) for part in parts]
    both = ("before", "after") if any(heading.get("state") for heading in headings) else ("",)
    for part, heading in zip(parts, headings, strict=True):
        states = (heading["state"],) if heading.get("state") else both
        for number in range(1, int(heading.get("number") or 1) + 1):
            text = part.replace(heading["word"], str(number)) if heading.get("word") else part
            text = text.replace(heading["text"], "x" * int(heading["length"])) if heading.get("text") else text
            yield Document(states, heading.get("file") or "resources.yaml", _filled_in(text, rule, heading))


def with_settings(example: str) -> str:
    """Return the example with its KMM version as a functionConfig."""
    return _KMM.sub(r'kind: RenderDeviceConfigs\nspec: {kmm: {version: "\1"}}\n---\n', example, count=1)


def _heading(text: str) -> dict[str, str]:
    match = _HEADING.match(text)
    if not match or (match["file"] and not _FILE.fullmatch(match["file"])):
        return {}
    return {key: value for key, value in match.groupdict().items() if value}


def _filled_in(text: str, rule: str, heading: dict[str, str]) -> str:
    """Return a document with what every resource of its kind needs."""
    if "file" in heading and re.search("^apiVersion:", text, re.MULTILINE):
        return text  # perhaps no YAML: that may be the point
    encoded = text.encode()
    example = Item(encoded, 0, len(encoded), -2).manifest
    if "apiVersion" in example or ("file" in heading and "kind" not in example):
        return text
    return json.dumps(_over(LEAST[example.get("kind", usual_kind(rule))], example)) + "\n"


def _over(least: dict[str, Any], example: dict[str, Any]) -> dict[str, Any]:
    merged = dict(least)
    for key, value in example.items():
        if value is None and key in least:
            del merged[key]
        elif value and isinstance(value, dict) and isinstance(least.get(key), dict) and key not in _SELECTORS:
            merged[key] = _over(least[key], value)
        else:
            merged[key] = value
    return merged


def _write(folder: Path, parts: list[Document]) -> list[str]:
    """Write the files of an example, and return the folders of its states."""
    texts: dict[str, str] = {}
    for part in parts:
        for state in part.states:
            path = f"{state}/{part.file}".lstrip("/")
            assert ".." not in path, path
            texts[path] = f"{texts[path]}---\n{part.text}" if path in texts else part.text
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    states = sorted({state for part in parts for state in part.states}, reverse=True)
    if states != [""]:
        states = ["before", "after"]
        for state in states:
            (folder / state).mkdir(exist_ok=True)
    return states


def run(arguments: Sequence[str]) -> tuple[int, str]:
    """Run a command in this process, and return its exit code and what it printed: it closes its stdout."""
    stdout = os.dup(1)
    with tempfile.TemporaryFile() as printed:
        try:
            os.dup2(printed.fileno(), 1)
            code = main.main(arguments)
        finally:
            os.dup2(stdout, 1)
            os.close(stdout)
        printed.seek(0)
        return code, printed.read().decode()
