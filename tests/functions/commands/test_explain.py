"""The commands `explain` and `rules`, the reference page, and the texts of rules in reports."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as xml

import pytest
import yaml
from krmfn_functions.commands import catalogue, explain
from krmfn_functions.formats.checked import Checked
from krmfn_functions.formats.servers import junit, sarif
from krmfn_functions.rule import Rule
from rules import CHAPTERS, pages

from krmfn import KrmfnError
from krmfn.results import error, info
from tests.commands import process

RULES = catalogue.rules()
CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec: {driverImage: "registry.example.com/gpu:1.0", moduleName: gpu, nodeSelector: {gpu: "true"}}
"""


def explained(*names: str) -> str:
    return explain.explanations(names)


def one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_an_explanation_holds_every_text_of_the_rule(rule: Rule) -> None:
    text = explained(rule.id)
    for part in (rule.id, rule.sentence, rule.remedy, catalogue.turning_off(rule)):
        assert one_line(part) in one_line(text)
    blocks = [block for block in re.split(r"\n\n(?=\S)", text) if "\n\n    " in block]
    assert [block.partition(":")[0] for block in blocks] == ["Bad", "Good"]
    for block, example in zip(blocks, (rule.bad, rule.good), strict=True):
        lines = block.partition("\n\n")[2].rstrip().splitlines()
        assert [line[4:] for line in lines] == example.rstrip().splitlines()
    prose = [line for line in text.splitlines() if not line.startswith("    ")]
    assert max(map(len, prose)) <= 100


def test_several_rules_and_small_letters() -> None:
    assert explained("krm301", "KRM302", "KRM301") == f"{explained('KRM301')}\n\n{explained('KRM302')}"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("KRM3O1", "did you mean KRM301?"),
        ("krm41", "did you mean KRM141 or KRM401"),
        ("spec.drvierImage", "did you mean deviceconfig.spec.drvierImage?"),
        ("nowhere", "`krmfn rules` prints all rules"),
    ],
)
def test_an_unknown_rule(name: str, hint: str) -> None:
    with pytest.raises(KrmfnError) as raised:
        explained("KRM301", name)
    assert re.fullmatch(rf"unknown word or rule {re.escape(name)}; .*", str(raised.value), re.IGNORECASE)
    assert hint in str(raised.value)


def test_the_command() -> None:
    done = process("krmfn", "explain", "krm301").ended(0, "")
    assert done.text.startswith("KRM301: a node must be managed by only one DeviceConfig per profile (exact, on")
    assert "did you mean KRM301?" in process("krmfn", "explain", "KRM301", "KRM3O1").refused()
    assert process("krmfn", "explain").code == 2


def test_the_list_for_programs() -> None:
    listed = json.loads(process("krmfn", "rules", "--format", "json").out)
    assert [entry["severities"] for entry in listed if entry["id"] == "KRM701"] == [["warning", "error"]]
    for entry, rule in zip(listed, RULES, strict=True):
        texts = {"sentence": rule.sentence, "good": rule.good, "bad": rule.bad, "remedy": rule.remedy}
        others = {"id": rule.id, "severities": list(rule.severities), "canBeTurnedOff": rule.advice}
        assert entry == {**texts, **others, "heldBy": rule.held._asdict() | {"test": rule.held.test or None}}


def test_the_page_has_an_entry_per_rule_with_both_examples() -> None:
    text = "".join(f"## {page}" for page in pages().values())
    entries = dict(re.findall(r"^### (K\w+)\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL))
    assert list(entries) == [rule.id for prefix, _, _ in CHAPTERS for rule in RULES if rule.id.startswith(prefix)]
    for rule in RULES:
        examples = re.findall(r"^```yaml\n(.*?)^```$", entries[rule.id], re.MULTILINE | re.DOTALL)
        assert examples == [rule.bad, rule.good]
        assert rule.remedy in entries[rule.id]
        assert list(yaml.safe_load_all(rule.good))


def test_the_contents_lead_to_each_page() -> None:
    written = pages()
    linked = re.findall(r"^\* \[.+?\]\((.+?)\)", written["README.md"], re.MULTILINE)
    assert linked == [f"{prefix}.md" for prefix, _, _ in CHAPTERS]
    assert {*linked, "README.md"} == written.keys()


# Reports.

FOUND = Checked([error("no", rule="KRM301"), info("so", rule="KRM407"), error("what", rule="OTHER")])


def test_a_check_names_the_command_explain_once() -> None:
    bad = CONFIG.replace("moduleName: gpu", "allNodes: true")
    done = process("krmfn", "check", "-", stdin=bad).ended(1)
    assert done.text.endswith("\nmore about these: krmfn explain KRM121 KRM123\n")
    clean = process("krmfn", "check", "-", stdin=CONFIG.replace("1.0", "1.0-$KERNEL_FULL_VERSION"))
    assert (clean.code, "explain" in clean.text) == (0, False)


def test_sarif_links_each_rule_to_its_entry_on_a_page() -> None:
    url, written = "https://git.example.com/rules/", pages()
    checked = Checked([error("x", rule=rule.id) for rule in RULES], rules_url=url)
    driver = json.loads(sarif(checked, catalogue.rules))["runs"][0]["tool"]["driver"]
    assert len(driver["rules"]) == len(RULES)
    for rule in driver["rules"]:
        page, _, anchor = rule["helpUri"].removeprefix(url).partition("#")
        assert f"### {rule['id']}\n" in written[page]
        assert anchor == rule["id"].lower()
    run = json.loads(sarif(checked._replace(rules_url=""), catalogue.rules))["runs"][0]
    assert not any("helpUri" in rule for rule in run["tool"]["driver"]["rules"]), "nobody has named a place"


def test_a_place_of_pages_is_a_url() -> None:
    refused = process("krmfn", "check", "--rules-url", "docs/rules", ".")
    assert (refused.code, "is no URL that begins with https://" in refused.err) == (2, True)


def test_sarif_carries_the_texts_of_the_rules_that_it_names() -> None:
    driver = json.loads(sarif(FOUND, catalogue.rules))["runs"][0]["tool"]["driver"]
    by_id = {rule["id"]: rule for rule in driver["rules"]}
    assert list(by_id) == ["KRM301", "KRM407", "OTHER"]
    rule = next(rule for rule in RULES if rule.id == "KRM301")
    assert by_id["KRM301"]["shortDescription"]["text"].lower() == f"{rule.sentence}.".lower()
    assert rule.remedy in by_id["KRM301"]["help"]["markdown"]
    assert f"```yaml\n{rule.bad}```" in by_id["KRM301"]["help"]["markdown"]
    assert one_line(rule.remedy) in one_line(by_id["KRM301"]["help"]["text"])
    assert "helpUri" not in by_id["KRM301"], "SARIF wants an absolute one, and there is no host to name"
    assert by_id["OTHER"] == {"id": "OTHER"}


def test_junit_says_what_to_do() -> None:
    suite = xml.fromstring(junit(FOUND, catalogue.rules))
    first, second = (failure.text or "" for failure in suite.iter("failure"))
    assert first.endswith(next(rule for rule in RULES if rule.id == "KRM301").remedy)
    assert second == "error: what [OTHER]"
