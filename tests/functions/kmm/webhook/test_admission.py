"""Each webhook rule on both sides of its border, with KMM's exact text, per KMM version where it changes."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.kmm.gotext import clean, quote
from krmfn_functions.kmm.names import dns_label_errors, is_label_value, label_key_errors
from krmfn_functions.kmm.rule import tag
from krmfn_functions.kmm.rules import REFUSALS
from krmfn_functions.kmm.versions import TARGETS, target

from krmfn.errors import KrmfnError
from tests.builders import DROP, edited, module

from ..manifests import refused_by_webhook as check
from ..manifests import refused_update as check_update

ALL = tuple(TARGETS)
MAIN = tuple(name for name, kmm in TARGETS.items() if kmm.long_texts)
RELEASED = tuple(name for name in TARGETS if name not in MAIN)
SIGNS = tuple(name for name, kmm in TARGETS.items() if kmm.sign_files)
C = "spec.moduleLoader.container"
SIGN = {"keySecret": {"name": "k"}, "certSecret": {"name": "c"}}


class Case(NamedTuple):
    rule: str
    bad: dict[str, Any]
    text: str
    good: dict[str, Any]
    versions: tuple[str, ...] = ALL
    path: str | None = None


MAPPING, MODPROBE = f"{C}.kernelMappings[0]", f"{C}.modprobe"
TOLERATIONS = "failed to validate Module's tolerations: Toleration[0] "
MAPPINGS = "failed to validate kernel mappings: "
MIXED = (
    f"{MAPPINGS}only one type if field (InTreeModuleToRemove or InTreeModulesToRemove) can be defined in KenrelMapping "
    "or Container"
)
UNTAGGED = MAPPINGS + "failed to validate image format: container image must explicitely set a tag or digest; got: "
LENGTH = (
    "module name and namespace have a combined length of {} characters, "
    "which exceeds the maximum of {} when version is set"
)
NAME_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
KEY_SHAPE = (
    NAME_TEXT.replace("name part ", "") + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)


def toleration(**fields: Any) -> dict[str, Any]:
    return edited(module(), ("spec.tolerations", [fields]))


def dra(**fields: Any) -> dict[str, Any]:
    return edited(module(), ("spec.dra", {"driverName": "gpu.example.com", "container": {"image": "i:1"}, **fields}))


def host_path(plugin: str, path: str) -> dict[str, Any]:
    holder = dra() if plugin == "dra" else module()
    holder["spec"].setdefault(plugin, {})["volumes"] = [
        {"name": "a", "emptyDir": {}},
        {"name": "b", "hostPath": {"path": path}},
    ]
    return holder


def sign(where: str, *files: str, directory: str | None = None) -> dict[str, Any]:
    edits: list[tuple[str, Any]] = [(f"{where}.sign", {**SIGN, "filesToSign": list(files)})]
    if directory is not None:
        edits.append((f"{MODPROBE}.dirName", directory))
    return edited(module(), *edits)


CASES = [
    Case("KMM003", module(name="n" * 38), LENGTH.format(41, 40), module(name="n" * 37), RELEASED, "metadata.name"),
    Case("KMM003", module(name="n" * 39), LENGTH.format(42, 41), module(name="n" * 38), MAIN, "metadata.name"),
    # Bytes are counted, not characters, and the missing namespace counts nothing.
    Case("KMM003", module(name="é" * 19), LENGTH.format(41, 40), module(name="é" * 18), RELEASED),
    Case(
        "KMM003",
        module(name="n" * 41, namespace=""),
        LENGTH.format(41, 40),
        module(name="n" * 40, namespace=""),
        RELEASED,
    ),
    Case(
        "KMM004",
        toleration(key="-", operator="Exists"),
        f"{TOLERATIONS}invalid key '-': {NAME_TEXT}",
        toleration(key="a/-b".replace("-", "x"), operator="Exists"),
        ALL,
        "spec.tolerations[0].key",
    ),
    Case(
        "KMM004",
        toleration(key="a/b/c"),
        f"{TOLERATIONS}invalid key 'a/b/c': a qualified name {KEY_SHAPE}".replace("name part ", ""),
        toleration(key="a/b"),
        RELEASED,
    ),
    Case(
        "KMM004",
        toleration(key="a/b/c"),
        f"{TOLERATIONS}invalid key 'a/b/c': a valid label key {KEY_SHAPE}",
        toleration(key="a/b"),
        MAIN,
    ),
    Case(
        "KMM004",
        toleration(key="k" * 64),
        f"{TOLERATIONS}invalid key '{'k' * 64}': name part must be no more than 63 characters",
        toleration(key="k" * 63),
        RELEASED,
    ),
    Case(
        "KMM004",
        toleration(key="k" * 64),
        f"{TOLERATIONS}invalid key '{'k' * 64}': name part must be no more than 63 bytes",
        toleration(key="k" * 63),
        MAIN,
    ),
    Case(
        "KMM004",
        toleration(key="/"),
        f"{TOLERATIONS}invalid key '/': prefix part must be non-empty; name part must be non-empty; {NAME_TEXT}",
        toleration(key="a/b"),
    ),
    Case(
        "KMM005",
        toleration(),
        f"{TOLERATIONS}operator must be 'Exists' when key is empty",
        toleration(operator="Exists"),
        ALL,
        "spec.tolerations[0].operator",
    ),
    Case(
        "KMM006",
        toleration(key="a", tolerationSeconds=0, effect="NoSchedule"),
        f"{TOLERATIONS}effect must be 'NoExecute' when tolerationSeconds is set",
        toleration(key="a", tolerationSeconds=0, effect="NoExecute"),
        ALL,
        "spec.tolerations[0].effect",
    ),
    Case(
        "KMM007",
        toleration(key="a", value="b c"),
        f"{TOLERATIONS}invalid value 'b c' for Equal operator {VALUE_TEXT}",
        toleration(key="a", value="b-c"),
        ALL,
        "spec.tolerations[0].value",
    ),
    Case(
        "KMM007",
        toleration(key="a", operator="Equal", value="v" * 63 + "-"),
        f"{TOLERATIONS}invalid value '{'v' * 63}-' for Equal operator must be no more than 63 characters; {VALUE_TEXT}",
        toleration(key="a", operator="Equal", value="v" * 63),
        RELEASED,
    ),
    Case(
        "KMM007",
        toleration(key="a", operator="Equal", value="v" * 64),
        f"{TOLERATIONS}invalid value '{'v' * 64}' for Equal operator must be no more than 63 bytes",
        toleration(key="a", operator="Equal", value=""),
        MAIN,
    ),
    Case(
        "KMM008",
        toleration(key="a", operator="Exists", value="b"),
        f"{TOLERATIONS}value must be empty when operator is 'Exists'",
        toleration(key="a", operator="Exists", value=""),
    ),
    Case(
        "KMM009",
        toleration(key="a", operator="equal"),
        f"{TOLERATIONS}invalid operator 'equal', allowed values are ['Equal', 'Exists']",
        toleration(key="a", operator="Equal"),
    ),
    Case(
        "KMM010",
        toleration(key="a", effect="noSchedule"),
        f"{TOLERATIONS}invalid effect 'noSchedule', allowed values are ['NoSchedule', 'PreferNoSchedule', 'NoExecute']",
        toleration(key="a", effect="PreferNoSchedule"),
    ),
    Case(
        "KMM012",
        dra(driverName=""),
        "failed to validate DRA: spec.dra.driverName is required",
        dra(),
        MAIN,
        "spec.dra.driverName",
    ),
    Case(
        "KMM013",
        dra(driverName="GPU"),
        f'failed to validate DRA: spec.dra.driverName "GPU" is not a valid DNS subdomain: {SUBDOMAIN_TEXT}',
        dra(driverName="gpu"),
        MAIN,
    ),
    Case(
        "KMM014",
        dra(deviceClasses=[{"name": ""}]),
        "failed to validate DRA: spec.dra.deviceClasses[0].name is required",
        dra(deviceClasses=[{"name": "a"}]),
        MAIN,
    ),
    Case(
        "KMM015",
        dra(deviceClasses=[{"name": "a" * 254}]),
        f'failed to validate DRA: spec.dra.deviceClasses[0].name "{"a" * 254}" is not a valid DNS subdomain: '
        "must be no more than 253 characters",
        dra(deviceClasses=[{"name": "a" * 253}]),
        MAIN,
    ),
    Case(
        "KMM016",
        dra(deviceClasses=[{"name": "a"}, {"name": "b"}, {"name": "a"}]),
        'failed to validate DRA: spec.dra.deviceClasses[2].name "a" is a duplicate',
        dra(deviceClasses=[{"name": "a"}, {"name": "b"}]),
        MAIN,
        "spec.dra.deviceClasses[2].name",
    ),
    Case(
        "KMM017",
        host_path("dra", "/etc"),
        'failed to validate DRA volumes: spec.dra.volumes[1]: hostPath "/etc" is not '
        "allowed; only /dev, /sys, /var, /opt and /run paths are permitted",
        host_path("dra", "/run"),
        MAIN,
    ),
    *(
        Case(
            "KMM018",
            host_path("devicePlugin", bad),
            f"failed to validate device plugin volumes: spec.devicePlugin.volumes[1]: "
            f'hostPath "{bad}" is not allowed; only /dev, /sys, /var, /opt and /run paths are permitted',
            host_path("devicePlugin", good),
            MAIN,
            "spec.devicePlugin.volumes[1].hostPath.path",
        )
        for bad, good in [
            ("/devious", "/dev"),
            ("/dev/../etc", "/etc/../dev/x"),
            ("var", "//var//lib"),
            ("", "/sys/"),
            ("/", "/opt/a"),
        ]
    ),
    Case(
        "KMM019",
        edited(module(), (f"{C}.inTreeModulesToRemove", []), (f"{C}.inTreeModuleToRemove", "x")),
        f"{MAPPINGS}only one of the Container's fields: InTreeModulesToRemove or InTreeModuleToRemove can be defined",
        edited(module(), (f"{C}.inTreeModulesToRemove", []), (f"{C}.inTreeModuleToRemove", "")),
    ),
    Case(
        "KMM020",
        edited(module(), (f"{C}.containerImage", "img")),
        f"{UNTAGGED}img",
        edited(module(), (f"{C}.containerImage", "registry:5000/img")),
    ),
    Case(
        "KMM021",
        edited(module(), (f"{MAPPING}.literal", "x")),
        f"{MAPPINGS}regexp and literal are mutually exclusive properties at kernelMappings[0]",
        edited(module(), (f"{MAPPING}.literal", "")),
    ),
    Case(
        "KMM022",
        edited(module(), (f"{MAPPING}.regexp", DROP)),
        f"{MAPPINGS}regexp or literal must be set at kernelMappings[0]",
        edited(module(), (f"{MAPPING}.regexp", DROP), (f"{MAPPING}.literal", "x")),
        ALL,
        MAPPING,
    ),
    Case(
        "KMM023",
        edited(module(), (f"{MAPPING}.regexp", "(")),
        f"{MAPPINGS}invalid regexp at index 0: error parsing regexp: missing closing ): `(`",
        edited(module(), (f"{MAPPING}.regexp", "()")),
        ALL,
        f"{MAPPING}.regexp",
    ),
    Case(
        "KMM023",
        edited(module(), (f"{MAPPING}.regexp", r"^.+\el9\.x86_64$")),
        f"{MAPPINGS}invalid regexp at index 0: error parsing regexp: invalid escape sequence: `\\e`",
        edited(module(), (f"{MAPPING}.regexp", r"^.+\fc37\.x86_64$")),
    ),
    Case(
        "KMM024",
        edited(module(), (f"{MAPPING}.containerImage", "")),
        f"{MAPPINGS}missing spec.moduleLoader.container.kernelMappings[0].containerImage",
        edited(module(), (f"{MAPPING}.containerImage", ""), (f"{C}.containerImage", "i:1")),
    ),
    Case(
        "KMM025",
        edited(module(), (f"{MAPPING}.containerImage", "a/b")),
        f"{UNTAGGED}a/b",
        edited(module(), (f"{MAPPING}.containerImage", "a/b@x")),
    ),
    Case(
        "KMM026",
        edited(module(), (f"{MAPPING}.inTreeModulesToRemove", ["x"]), (f"{MAPPING}.inTreeModuleToRemove", "x")),
        f"{MAPPINGS}only one of the KernelMapping fields: InTreeModulesToRemove or InTreeModuleToRemove can be defined",
        edited(module(), (f"{MAPPING}.inTreeModuleToRemove", "x")),
    ),
    Case(
        "KMM027",
        edited(module(), (f"{MAPPING}.inTreeModulesToRemove", []), (f"{C}.inTreeModuleToRemove", "x")),
        MIXED,
        edited(module(), (f"{MAPPING}.inTreeModulesToRemove", []), (f"{C}.inTreeModulesToRemove", ["x"])),
    ),
    Case(
        "KMM027",
        edited(module(), (f"{MAPPING}.inTreeModuleToRemove", "x"), (f"{C}.inTreeModulesToRemove", [])),
        MIXED,
        edited(module(), (f"{MAPPING}.inTreeModuleToRemove", "x"), (f"{C}.inTreeModuleToRemove", "y")),
    ),
    Case(
        "KMM028",
        edited(module(), (f"{MODPROBE}.rawArgs", {"unload": ["x"]})),
        "failed to validate modprobe: rawArgs cannot be set when moduleName is set",
        edited(module(), (f"{MODPROBE}.rawArgs", {"unload": []})),
    ),
    Case(
        "KMM029",
        edited(module(), (MODPROBE, {"rawArgs": {"load": ["x"]}})),
        "failed to validate modprobe: load and unload rawArgs must be set when moduleName is unset",
        edited(module(), (MODPROBE, {"rawArgs": {"load": ["x"], "unload": ["x"]}})),
    ),
    Case(
        "KMM030",
        edited(module(), (f"{MODPROBE}.modulesLoadingOrder", ["simple"])),
        "failed to validate modprobe: if a loading order is defined, at least two values must be defined",
        edited(module(), (f"{MODPROBE}.modulesLoadingOrder", ["simple", "b"])),
    ),
    Case(
        "KMM030",
        edited(module(), (f"{MODPROBE}.modulesLoadingOrder", [])),
        "failed to validate modprobe: if a loading order is defined, at least two values must be defined",
        module(),
    ),
    Case(
        "KMM031",
        edited(module(), (MODPROBE, {"rawArgs": {"load": ["x"], "unload": ["x"]}, "modulesLoadingOrder": ["a", "b"]})),
        "failed to validate modprobe: if a loading order is defined, moduleName must be set",
        edited(module(), (MODPROBE, {"moduleName": "a", "modulesLoadingOrder": ["a", "b"]})),
    ),
    Case(
        "KMM032",
        edited(module(), (f"{MODPROBE}.modulesLoadingOrder", ["b", "simple"])),
        "failed to validate modprobe: if a loading order is defined, the first element must be moduleName",
        edited(module(), (f"{MODPROBE}.modulesLoadingOrder", ["simple", "b"])),
    ),
    Case(
        "KMM033",
        edited(module(), (f"{MODPROBE}.modulesLoadingOrder", ["simple", "b", "b"])),
        'failed to validate modprobe: "b": duplicate value in the loading order list',
        edited(module(), (f"{MODPROBE}.modulesLoadingOrder", ["simple", "b", "c"])),
        ALL,
        f"{MODPROBE}.modulesLoadingOrder[2]",
    ),
    Case("KMM034", sign(C), "global Sign: filesToSign is required when Sign is set", sign(C, "/opt/a.ko"), SIGNS),
    Case(
        "KMM035",
        sign(C, "/opt/a.ko", "/optional/a.ko"),
        'global Sign: filesToSign["/optional/a.ko"] must be under dirName "/opt"',
        sign(C, "/opt/a.ko"),
        SIGNS,
        f"{C}.sign.filesToSign[1]",
    ),
    Case(
        "KMM035",
        sign(C, "/opt/a.ko", directory="/opt/"),
        'global Sign: filesToSign["/opt/a.ko"] must be under dirName "/opt/"',
        sign(C, "/opt//a.ko", directory="/opt/"),
        SIGNS,
    ),
    # An explicit "" is not defaulted: any absolute path passes.
    Case(
        "KMM035",
        sign(C, "a.ko", directory=""),
        'global Sign: filesToSign["a.ko"] must be under dirName ""',
        sign(C, "/a.ko", directory=""),
        SIGNS,
    ),
    Case(
        "KMM036",
        sign(MAPPING),
        "kernelMappings[0].Sign: filesToSign is required when Sign is set",
        sign(MAPPING, "/opt/a"),
        SIGNS,
    ),
    Case(
        "KMM037",
        sign(MAPPING, "x"),
        'kernelMappings[0].Sign: filesToSign["x"] must be under dirName "/opt"',
        sign(MAPPING, "/opt/x"),
        SIGNS,
    ),
]


def hint(rule: str, text: str) -> str:
    """What we add to the cluster's message."""
    if rule != "KMM003":
        return ""
    length, limit = map(int, re.findall(r"\d+", text))
    return f" ({length - limit} too many: shorten the name or the namespace by as much)"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_both_sides_of_a_rule_in_every_version(case: Case) -> None:
    for version in ALL:
        by_rule = {result.rule: result for result in check(case.bad, version)}
        text = case.text
        text = text.replace("failed to validate modprobe: ", TARGETS[version].modprobe_prefix)
        if version in case.versions:
            assert by_rule[case.rule].message == text + hint(case.rule, text)
            assert tag(by_rule[case.rule], "admission") == text
            assert case.path is None or (by_rule[case.rule].field or pytest.fail("no field")).path == case.path
        else:
            assert not any(result.message.startswith(text) for result in by_rule.values())
    for version in case.versions:
        assert check(case.good, version) == []


def test_every_rule_has_a_case() -> None:
    tested = {case.rule for case in CASES} | {"KMM001", "KMM002", "KMM040"}
    assert {rule.id for rule in REFUSALS if rule.id < "KMM05"} == tested


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
    made = edited(module(), ("spec.devicePlugin.container.resources.limits", {"cpu": quantity}))
    assert [result.message for result in check(made)] == ([text] if text else [])


@pytest.mark.parametrize("junk", [None, 3, "x", [], {}, [None], ["x"], [[]], {"a": None}])
def test_a_broken_module_raises_nothing(junk: Any) -> None:
    paths = (
        "spec",
        "spec.tolerations",
        "spec.moduleLoader",
        C,
        f"{C}.kernelMappings",
        MODPROBE,
        f"{C}.sign",
        "metadata",
    )
    for path in (*paths, f"{MODPROBE}.rawArgs", f"{MODPROBE}.modulesLoadingOrder", "spec.dra", "spec.devicePlugin"):
        for version in ALL:
            check(edited(module(), (path, junk)), version)
        check_update(edited(module(), (path, junk)), module())


def test_versions_by_their_long_names() -> None:
    assert target("v2.6").name == target("2.6.0").name == target().name == "2.6"
    with pytest.raises(KrmfnError, match=re.escape(f"'3.0' is not known; write one of {', '.join(TARGETS)}")):
        target("3.0")


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("a b", '"a b"'),
        ('"\\\n', r'"\"\\\n"'),
        ("é\u00a0\x7f\x00", '"é\\u00a0\\x7f\\x00"'),
        ("\U000e0001", '"\\U000e0001"'),
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
    assert is_label_value("") and is_label_value("1.2-rc_1")
    assert not any(map(is_label_value, ["1.2+build", "-a", "a-", "a" * 64, "a\n"]))
    assert dns_label_errors("a-1") == [] and len(dns_label_errors("A" * 64)) == 2


@given(st.text(alphabet="aA1-_./", max_size=12))
def test_a_label_value_is_a_key_without_prefix(text: str) -> None:
    assert is_label_value(text) == (text == "" or ("/" not in text and not label_key_errors(text)))


@pytest.mark.parametrize(
    ("char", "written"), [("\x1f", r"\x1f"), ("\x80", r"\u0080"), ("\uffff", r"\uffff"), ("\U0010ffff", r"\U0010ffff")]
)
def test_go_writes_what_is_not_printable_in_the_shortest_form(char: str, written: str) -> None:
    assert quote(char) == f'"{written}"'
