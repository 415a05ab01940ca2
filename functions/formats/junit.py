"""Findings as a JUnit report, which CI servers show as tests. A clean run has a test that passed."""

from __future__ import annotations

from krmfn.counts import counted, extent

from .checked import Checked, whose
from .rules import Rules


def junit(checked: Checked, rules: Rules = None) -> str:
    """Return a JUnit report: a failed test case per error or warning, and a passed one when there is neither."""
    from xml.etree import ElementTree as xml

    remedies = {rule.id: rule.remedy for rule in rules()} if rules and checked.results else {}
    failures = [result for result in checked.results if result.severity != "info"]
    suite = xml.Element(
        "testsuite", name="krmfn", tests=str(len(failures) or 1), failures=str(len(failures)), errors="0"
    )
    for result in failures:
        # the name has the place: the schema of Jenkins knows no attributes for file and line
        name = f"{result}{whose(result)}"
        attributes = {"classname": _printable(result.rule or "krmfn"), "name": _printable(name)}
        case = xml.SubElement(suite, "testcase", attributes)
        failure = xml.SubElement(case, "failure", type=result.severity, message=_printable(result.message))
        failure.text = _printable("\n".join(filter(None, (str(result), remedies.get(result.rule)))))
    if not failures:
        infos = f"no errors or warnings, {counted(len(checked.results), 'info')}" if checked.results else ""
        passed = f"{infos or 'no findings'} in {extent(checked.resources, checked.files)}"
        xml.SubElement(suite, "testcase", classname="krmfn", name=passed)
    xml.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(suite, encoding="unicode") + "\n"


def _printable(text: str) -> str:
    """Return text without control characters: XML 1.0 has none, escaped or not."""
    return "".join(char if char.isprintable() or char in "\n\t" else "�" for char in text)
