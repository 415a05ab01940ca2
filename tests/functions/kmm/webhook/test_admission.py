"""Each webhook rule on both sides of its border, with KMM's exact text, per KMM version where it changes."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.kmm.names import dns_label_errors, label_key_errors, label_value_errors
from krmfn_functions.kmm.rule import clean, quote, tag
from krmfn_functions.kmm.rules import REFUSALS
from krmfn_functions.kmm.versions import TARGETS, target

from krmfn.errors import KrmfnError
from tests.builders import DROP, edited, module
from tests.tables import table

from ..manifests import refused_by_webhook as check
from ..manifests import refused_update as check_update

ALL = tuple(TARGETS)
MAIN = tuple(name for name, kmm in TARGETS.items() if kmm.long_texts)
RELEASED = tuple(name for name in TARGETS if name not in MAIN)
SIGNS = tuple(name for name, kmm in TARGETS.items() if kmm.sign_files)
FOUR = tuple(name for name, kmm in TARGETS.items() if len(kmm.host_paths) == 4)
"""The versions of OpenShift that bound the host paths of device plugins to four folders."""
VERSIONS = {"all": ALL, "main": MAIN, "released": RELEASED, "signs": SIGNS, "four": FOUR}
C = "spec.moduleLoader.container"
SIGN = {"keySecret": {"name": "k"}, "certSecret": {"name": "c"}}


class Case(NamedTuple):
    rule: str
    bad: dict[str, Any]
    text: str
    good: dict[str, Any]
    path: str
    versions: str = "all"
    current: Any = None


MAPPING, MODPROBE = f"{C}.kernelMappings[0]", f"{C}.modprobe"


def dra(**fields: Any) -> dict[str, Any]:
    return edited(module(), ("spec.dra", {"driverName": "gpu.example.com", "container": {"image": "i:1"}, **fields}))


def sign(where: str, *files: str, directory: str | None = None) -> dict[str, Any]:
    edits: list[tuple[str, Any]] = [(f"{where}.sign", {**SIGN, "filesToSign": list(files)})]
    if directory is not None:
        edits.append((f"{MODPROBE}.dirName", directory))
    return edited(module(), *edits)


CASES = [
    Case(**row | {side: edited(module(), *row[side].items()) for side in ("bad", "good")})
    for row in table(__file__, "admission.yaml")
]
"""`bad` and `good` are what a Module without findings has at other paths."""


def hint(rule: str, text: str) -> str:
    """What we add to the cluster's message."""
    if rule != "KMM003":
        return ""
    length, limit = map(int, re.findall(r"\d+", text))
    return f"; shorten the name or the namespace by {length - limit}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_both_sides_of_a_rule_in_every_version(case: Case) -> None:
    for version in ALL:
        by_rule = {result.rule: result for result in check(case.bad, version)}
        text = case.text
        text = text.replace("failed to validate modprobe: ", TARGETS[version].modprobe_prefix)
        if version in VERSIONS[case.versions]:
            assert by_rule[case.rule].text == text + hint(case.rule, text)
            assert tag(by_rule[case.rule], "admission") == text
            field = by_rule[case.rule].field
            assert field and (field.path, field.current) == (case.path, case.current)
        else:
            assert not any(result.message.startswith(text) for result in by_rule.values())
    for version in VERSIONS[case.versions]:
        assert check(case.good, version) == []


def test_a_patch_release_before_the_check_of_host_paths() -> None:
    volumes = [{"name": "a", "hostPath": {"path": "/run/x"}}]
    mounted = edited(module(), ("spec.devicePlugin", {"container": {"image": "i:1"}, "volumes": volumes}))
    refusing = [
        name
        for name in ("openshift-2.5.1", "openshift-2.5.2", "openshift-2.6.0", "openshift-2.6.1")
        if check(mounted, name)
    ]
    assert refusing == ["openshift-2.5.2", "openshift-2.6.1"]
    assert FOUR == ("openshift-2.5", "openshift-2.6")


def test_every_rule_has_a_case() -> None:
    tested = {case.rule for case in CASES} | {"KMM001", "KMM002", "KMM040"}
    assert {rule.id for rule in REFUSALS if rule.id < "KMM05" or rule.id == "KMM084"} == tested


def test_all_is_reported_and_the_webhooks_own_is_first() -> None:
    bad = edited(module(name="n" * 60), (f"{MAPPING}.containerImage", "x"), (f"{MODPROBE}.modulesLoadingOrder", []))
    results = check(bad)
    assert [result.rule for result in results] == ["KMM003", "KMM025", "KMM030"]
    assert [tag(result, "first") for result in results] == ["true", None, None]
    assert {str(result.ref) for result in results} == {f"Module kmm/{'n' * 60}"}


def test_mapping_by_mapping_not_rule_by_rule() -> None:
    bad = edited(module(), (f"{C}.kernelMappings", [{"regexp": "a", "containerImage": "x"}, {"containerImage": "y:1"}]))
    assert [result.rule for result in check(bad)] == ["KMM025", "KMM022"]


def test_without_a_loader_or_a_spec_the_rest_is_accepted() -> None:
    bare = edited(module(), ("spec.moduleLoader", DROP))
    assert check(bare) == []
    del bare["spec"]
    assert check(bare) == []


VERSIONED, UNVERSIONED = edited(module(), (f"{C}.version", "1")), edited(module(), (f"{C}.version", ""))
LOADERLESS = edited(module(), ("spec.moduleLoader", DROP))


@pytest.mark.parametrize(
    ("old", "new", "refused"),
    [
        (VERSIONED, UNVERSIONED, True),
        (module(), VERSIONED, True),
        (VERSIONED, edited(module(), (f"{C}.version", "2")), False),
        (UNVERSIONED, module(), False),
        (LOADERLESS, VERSIONED, False),
        (VERSIONED, LOADERLESS, False),
    ],
)
def test_update(old: dict[str, Any], new: dict[str, Any], refused: bool) -> None:
    text = "cannot update to or from an empty version; please delete the Module and create it again"
    results = check_update(old, new)
    assert [result.message for result in results] == [text] * refused
    current = None if new is UNVERSIONED else "1"
    assert [result.field and result.field.current for result in results] == [current] * refused


@pytest.mark.parametrize("mode", [2**31 - 1, -(2**31)])
def test_32_bits(mode: int) -> None:
    def volume(mode: int) -> dict[str, Any]:
        items = {"items": [{"mode": mode}]}
        return edited(module(), ("spec.devicePlugin.volumes", [{"secret": {"defaultMode": mode, **items}}]))

    assert check(volume(mode)) == []
    beyond = mode + (1 if mode > 0 else -1)
    assert [result.message for result in check(volume(beyond))] == [
        f"json: cannot unmarshal number {beyond} into Go struct field SecretVolumeSource.spec.devicePlugin.volumes."
        "VolumeSource.secret.defaultMode of type int32",
        f"json: cannot unmarshal number {beyond} into Go struct field KeyToPath.spec.devicePlugin.volumes."
        "VolumeSource.secret.items.mode of type int32",
    ]


@pytest.mark.parametrize(
    ("quantity", "text"),
    [
        ("1e3", None),
        ("1E", None),
        ("1e1.5", r"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
        ("1e9223372036854775808", "unable to parse quantity's suffix"),
    ],
)
def test_quantities(quantity: str, text: str | None) -> None:
    manifest = edited(module(), ("spec.devicePlugin.container.resources.limits", {"cpu": quantity}))
    assert [result.message for result in check(manifest)] == ([text] if text else [])


def test_versions_by_their_long_names() -> None:
    assert target("v2.6").name == target("2.6.0").name == target().name == "2.6"
    with pytest.raises(KrmfnError, match=re.escape(f"'2.0' is not known; write one of {', '.join(TARGETS)}")):
        target("2.0")


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("a b", '"a b"'),
        ('"\\\n', r'"\"\\\n"'),
        ("é\u00a0\x7f\x00", '"é\\u00a0\\x7f\\x00"'),
        ("\U000e0001", '"\\U000e0001"'),
        *((char, f'"{written}"') for char, written in (("\x1f", r"\x1f"), ("\x80", r"\u0080"), ("\uffff", r"\uffff"))),
        ("\U0010ffff", r'"\U0010ffff"'),
    ],
)
def test_quote_as_go(text: str, quoted: str) -> None:
    assert quote(text) == quoted


@pytest.mark.parametrize(
    ("path", "short"), [("", "."), ("//a", "/a"), ("/a/./b/../c/", "/a/c"), ("/..", "/"), ("a/../..", "..")]
)
def test_clean_as_go(path: str, short: str) -> None:
    assert clean(path) == short


def test_a_field_that_is_not_there_has_no_value() -> None:
    for entry, rule in (({}, "KMM005"), ({"operator": "Exists", "tolerationSeconds": 1}, "KMM006")):
        [finding] = check(edited(module(), ("spec.tolerations", [entry])))
        assert finding.field and (finding.rule, finding.field.current) == (rule, None)


def test_label_syntax() -> None:
    assert label_key_errors("example.com/a_b.C") == label_key_errors("a" * 63) == []
    assert all(map(label_key_errors, ["", "a/", "/a", "A/b", "a b", "a\n", "é", "x" * 64, "a" * 254 + "/b"]))
    assert not any(map(label_value_errors, ["", "1.2-rc_1"]))
    assert all(map(label_value_errors, ["1.2+build", "-a", "a-", "a" * 64, "a\n"]))
    assert dns_label_errors("a-1") == [] and len(dns_label_errors("A" * 64)) == 2


@given(st.text(alphabet="aA1-_./", max_size=12))
def test_a_label_value_is_a_key_without_prefix(text: str) -> None:
    assert (not label_value_errors(text)) == (text == "" or ("/" not in text and not label_key_errors(text)))
