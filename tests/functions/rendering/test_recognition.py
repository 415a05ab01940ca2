"""Everything of ours, and nearly ours, is understood: one letter changed anywhere is a finding, never a silence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from krmfn_functions.commands.catalogue import rules
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.deviceconfig.daemonsets import CONFIG_HASH
from krmfn_functions.ptemplate import ptemplate
from krmfn_functions.rendering import recognition
from krmfn_functions.rendering.ignoring import IGNORE
from krmfn_functions.rendering.kinds import KNOWN as KINDS
from krmfn_functions.rendering.kinds import PROFILE_MARK
from krmfn_functions.rendering.metadata_checks import KNOWN
from krmfn_functions.settings import FUNCTION, Intent, Settings

from krmfn import Function, Manifest, ResourceList, Result
from krmfn.printing import is_similar
from tests.builders import SPEC, applied, device_config, edited, function_config, manifest

FUNCTIONS: list[Function] = [deviceconfig, ptemplate]
EVERYTHING = [
    (f"{group}/{version}", kind)
    for group, kinds in KINDS.items()
    for kind, versions in kinds.items()
    for version in versions
]
EVERY = [manifest(*pair) for pair in EVERYTHING]
both = pytest.mark.parametrize("function", FUNCTIONS, ids=["deviceconfig", "ptemplate"])


def slips(word: str) -> Iterator[str]:
    """Every word with one letter left out, doubled, swapped with the next one, or written in the other case."""
    variants = set()
    for at, letter in enumerate(word):
        variants |= {
            word[:at] + word[at + 1 :],
            word[:at] + letter + word[at:],
            word[:at] + word[at + 1 : at + 2] + letter + word[at + 2 :],
            word[:at] + letter.swapcase() + word[at + 1 :],
        }
    yield from sorted(variants - {word})


def findings(
    function: Function, *items: Manifest, intent: Intent = FUNCTION, function_config: Manifest | None = None
) -> list[Result]:
    return applied(function, *items, function_config=function_config, settings=Settings(intent)).results


def names(results: list[Result], *rules: str) -> set[str]:
    """Return the names of the items that errors of some rules are about."""
    return {result.ref.name for result in results if result.ref and result.severity == "error" and result.rule in rules}


def missing(function: Function, items: list[dict[str, Any]], *rules: str) -> list[tuple[str, str]]:
    """Return the items that no error is about."""
    reported = names(findings(function, *items), *rules)
    return [(item["apiVersion"], item["kind"]) for item in items if item["metadata"]["name"] not in reported]


# One changed letter makes nothing somebody else's: there are no exceptions to the next two tests.


@both
@pytest.mark.parametrize(("api_version", "kind"), EVERYTHING, ids=lambda word: word)
def test_one_letter_of_a_kind_changed_is_an_error(function: Function, api_version: str, kind: str) -> None:
    items = [manifest(api_version, slip, f"n{at}") for at, slip in enumerate(slips(kind))]
    assert missing(function, items, "KRM108") == []


@both
@pytest.mark.parametrize(("api_version", "kind"), EVERYTHING, ids=lambda word: word)
def test_one_letter_of_a_group_or_version_changed_is_an_error(function: Function, api_version: str, kind: str) -> None:
    items = [manifest(slip, kind, f"n{at}") for at, slip in enumerate(slips(api_version))]
    assert missing(function, items, "KRM108", "KRM101", "KRM601") == []


@both
@pytest.mark.parametrize(
    "api_version",
    [
        *("krmfn.io/v1alpha1", "krmfn.dev", "krmfn.dev/v1", "krmfn.dev/v1alpha", "krmfn/v1alpha1", "x.krmfn.dev/v1"),
        *("v1", ""),
    ],
)
@pytest.mark.parametrize("kind", ["DeviceConfig", "RenderDeviceConfigs"])
def test_groups_and_versions_that_are_nearly_ours(function: Function, api_version: str, kind: str) -> None:
    assert missing(function, [manifest(api_version, kind)], "KRM108", "KRM101") == []


@both
@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("acme.com/v1", "RenderDeviceConfigs"),
        ("krmfn.dev/v1alpha1", "Driver"),
        ("pt.example.com/v1alpha1", "Consumer"),
        ("pt.example.com/v1alpha1", "DeviceConfig"),
        ("pt.example.org/v1alpha1", "Ptemplate"),
        ("krmfn.dev/v1alpha1", "Ptemplate"),
        ("example.org/v1alpha1", "DeviceConfig"),
        ("kmm.sigs.k8s.io/v1beta1", "Module"),
        ("v1", "Module"),
    ],
)
def test_more_that_is_nearly_ours(function: Function, api_version: str, kind: str) -> None:
    assert missing(function, [manifest(api_version, kind)], "KRM108") == []


@both
@pytest.mark.parametrize(("api_version", "kind"), EVERYTHING, ids=lambda word: word)
def test_what_exists_is_no_mistake(function: Function, api_version: str, kind: str) -> None:
    assert names(findings(function, manifest(api_version, kind)), "KRM107", "KRM108") == set()


@both
@pytest.mark.parametrize("kind", ["NodeInventory", "NodeInventry", "nodeinventory"])
@pytest.mark.parametrize("api_version", ["krmfn.dev/v1", "krmfn.dev", "krmfn.dve/v1alpha1"])
def test_a_node_inventory_that_nobody_reads_is_an_error(function: Function, api_version: str, kind: str) -> None:
    (finding,) = findings(function, manifest(api_version, kind))
    if (api_version, kind) == ("krmfn.dev/v1", "NodeInventory"):
        rule, words = "KRM601", "reads krmfn.dev/v1alpha1, not krmfn.dev/v1"
    else:
        rule, words = "KRM108", "mean krmfn.dev/v1alpha1 NodeInventory?"
    assert (finding.rule, finding.severity, words in finding.text) == (rule, "error", True)


@pytest.mark.parametrize(
    ("api_version", "kind", "outcome"),
    [
        ("kmm.sigs.x-k8s.io/v1beta1", "Modul", "so the cluster refuses it; "),
        ("krmfn.dev/v1alpha1", "DeviceConfg", "so nothing is generated from it; "),
    ],
)
def test_what_becomes_of_a_kind_that_is_not_there_is_said(api_version: str, kind: str, outcome: str) -> None:
    (finding,) = findings(FUNCTIONS[0], manifest(api_version, kind))
    assert outcome in finding.text


@both
def test_the_kinds_of_others_are_left_alone(function: Function) -> None:
    others = [
        manifest("example.com/v1", "Widget"),
        manifest("kmm.sigs.x-k8s.io/v1", "SomethingNew"),
        manifest("tf.example.net/v1", "Module"),
        manifest("inventory.io/v1", "NodeInventory"),
        manifest("acme.io/v1", "Ptemplate"),
        manifest("v1", "Node"),
    ]
    assert findings(function, *others) == []


def test_another_vendors_kind_is_reported_once_for_each_group() -> None:
    configs = [manifest("amd.com/v1alpha1", "DeviceConfig", name) for name in "abc"]
    results = findings(deviceconfig, *configs, manifest("habana.ai/v1", "DeviceConfig", "d"))
    assert [(result.rule, result.severity) for result in results] == [("KRM107", "info")] * 2
    assert [result.ref.name for result in results if result.ref] == ["a", "d"]
    assert "amd.com" in results[0].text
    assert "2 more" in results[0].text
    assert findings(ptemplate, *configs) == []
    (finding,) = findings(deviceconfig, manifest("acme.example.com/v1", "DeviceConfig"))
    assert finding.rule == "KRM107"


def listed(kind: str, api_version: str, *items: Manifest) -> Manifest:
    return {"apiVersion": api_version, "kind": kind, "metadata": {}, "items": list(items)}


MODULE_LIST = listed("ModuleList", "kmm.sigs.x-k8s.io/v1beta1", {"metadata": {"name": "a", "namespace": "kmm"}})
ROLE_LIST = listed("RoleList", "rbac.authorization.k8s.io/v1", {"metadata": {"name": "reader"}})


@pytest.mark.parametrize(
    "item", [MODULE_LIST, listed("List", "v1", device_config(SPEC, "a")), listed("List", "v1", *EVERY)]
)
def test_a_list_that_stands_as_one_item_is_an_error(item: Manifest) -> None:
    (finding,) = findings(deviceconfig, item)
    assert (finding.rule, finding.severity, finding.remedy) == ("KRM108", "error", "pass each as an item of its own")
    assert f"nothing reads the {len(item['items'])} resource" in finding.text


@pytest.mark.parametrize("item", [ROLE_LIST, listed("List", "v1", manifest("v1", "ConfigMap")), listed("List", "v1")])
def test_a_list_of_others_is_left_alone(item: Manifest) -> None:
    assert findings(deviceconfig, item) == []


# Annotations and labels.


KEYS = [(part, key) for part, keys in KNOWN.items() for key in keys]
OURS = [("krmfn.dev/v1alpha1", "DeviceConfig"), ("kmm.sigs.x-k8s.io/v1beta1", "Module")]


def with_key(of: Manifest, part: str, key: str) -> Manifest:
    """Return a copy with one label or annotation."""
    return edited(of, (("metadata", part, key), "KRM213: why"))


@both
@pytest.mark.parametrize(("part", "key"), KEYS, ids=lambda word: word)
@pytest.mark.parametrize(("api_version", "kind"), OURS, ids=lambda word: word)
def test_one_letter_of_a_key_changed_is_an_error(
    function: Function, part: str, key: str, api_version: str, kind: str
) -> None:
    items = [with_key(manifest(api_version, kind, f"n{at}"), part, slip) for at, slip in enumerate(slips(key))]
    assert missing(function, items, "KRM118") == []


@pytest.mark.parametrize("key", ["krmfn.io/profile", "krmfn/profile", "x.krmfn.dev/profile", "krmfn.dev./x"])
def test_prefixes_that_are_nearly_ours(key: str) -> None:
    for api_version, kind in OURS:
        assert missing(deviceconfig, [manifest(api_version, kind, annotations={key: "x"})], "KRM118") == []


def test_the_prefixes_of_others_are_left_alone() -> None:
    keys = ("example.com/x", "kmm.node.kubernetes.io/x", "profile", "config.kubernetes.io/index")
    assert names(findings(deviceconfig, config(annotations=dict.fromkeys(keys, "x"))), "KRM118") == set()


@both
@pytest.mark.parametrize(("part", "key"), KEYS, ids=lambda word: word)
def test_one_letter_behind_the_prefix_changed_is_an_error_on_anything(function: Function, part: str, key: str) -> None:
    keys = [slip for slip in slips(key) if slip.startswith("krmfn.dev/")]
    items = [with_key(manifest("v1", "ConfigMap", f"n{at}"), part, slip) for at, slip in enumerate(keys)]
    assert keys
    assert missing(function, items, "KRM118") == []


@both
@pytest.mark.parametrize(("part", "key"), KEYS, ids=lambda word: word)
def test_a_key_of_ours_counts_where_it_belongs_only(function: Function, part: str, key: str) -> None:
    right, wrong = (with_key(manifest("v1", "ConfigMap"), where, key) for where in ("annotations", "labels"))
    right, wrong = (right, wrong) if part == "annotations" else (wrong, right)
    assert names(findings(function, right)) == set()
    assert names(findings(function, wrong), "KRM118") == {"a"}


def test_the_keys_that_are_known_are_those_that_the_code_writes_and_reads() -> None:
    """A key in the code that is not in the table would be an error for whoever uses it."""
    import re
    from pathlib import Path

    root = Path(recognition.__file__).parents[1]
    texts = [path.read_text() for folder in (root, root.parent / "krmfn") for path in folder.rglob("*.py")]
    written = {key for text in texts for key in re.findall(r'"(krmfn\.dev/[a-z-]+)"', text)}
    assert written <= {*(key for keys in KNOWN.values() for key in keys), CONFIG_HASH}  # that one is a pod's
    assert len(written) > 3


@pytest.mark.parametrize(("api", "kind"), [("apps/v1", "Deployment"), ("kmm.sigs.x-k8s.io/v1beta1", "Module")])
def test_a_profile_on_what_has_none_is_a_warning(api: str, kind: str) -> None:
    (finding,) = findings(deviceconfig, manifest(api, kind, annotations={PROFILE_MARK: "x"}))
    assert (finding.rule, finding.severity) == ("KRM118", "warning")


# Rules that are turned off.


def config(**metadata: Any) -> Manifest:
    spec = SPEC | {"driverImage": "registry.example.com/d:1.0", "driverVersion": None}
    return device_config(spec, "a", **metadata)


def off(*ids: str) -> list[Result]:
    """Return what is said of entries that turn these rules off, in an annotation."""
    text = "; ".join(f"{rule}: why" for rule in ids)
    return [result for result in findings(deviceconfig, config(annotations={IGNORE: text})) if result.rule == "KRM119"]


def off_in_function_config(kind: str, *ids: str) -> list[Result]:
    data = {f"ignore.{rule}": "why" for rule in ids}
    config_map = {**manifest("v1", kind, "settings", ""), "data": data}
    ours = function_config(ignore=dict.fromkeys(ids, "why"))
    settings = config_map if kind == "ConfigMap" else ours
    return [result for result in findings(deviceconfig, config(), function_config=settings) if result.rule == "KRM119"]


EVERY_RULE = [rule.id for rule in rules()]
LINTS = [rule.id for rule in rules() if rule.advice]


def test_every_rule_is_turned_off_or_refused() -> None:
    refused = [result.field.current for result in off(*EVERY_RULE) if result.field]
    assert refused == [rule for rule in EVERY_RULE if rule not in LINTS]
    assert len(LINTS) > 40


@pytest.mark.parametrize("kind", ["RenderDeviceConfigs", "ConfigMap"])
def test_so_in_the_function_config(kind: str) -> None:
    refused = off_in_function_config(kind, *EVERY_RULE)
    assert len(refused) == len(EVERY_RULE) - len(LINTS)
    assert {result.ref.kind for result in refused if result.ref} == {kind}


def test_one_letter_of_a_rule_changed_is_an_error() -> None:
    for rule in LINTS:
        ids = [slip for slip in slips(rule) if slip not in LINTS]
        assert {result.field.current for result in off(*ids) if result.field} == set(ids)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("KMM003", "because the cluster itself refuses"),
        ("KRM403", "because the cluster itself refuses"),
        ("KRM121", "is not a rule that can be turned off"),
        ("KRM999", "`krmfn rules` lists all rules"),
        ("krm211", "did you mean KRM211?"),
        ("KRM240", "did you mean KRM204?"),
        ("KRM301", 'turned off as a whole; write `exclusivity: {mode: "off"}`'),
    ],
)
def test_messages_about_rules_that_are_turned_off(rule: str, text: str) -> None:
    (finding,) = off(rule)
    assert text in finding.text


# The cheap look.


def test_a_list_with_nothing_of_ours_is_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("an item that is not ours was read")

    text = b"""apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: Node
  metadata:
    name: a
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: a
functionConfig:
  apiVersion: krmfn.dev/v1alpha1
  kind: RenderDeviceConfigs
"""
    resources = ResourceList.parse(text)
    monkeypatch.setattr("krmfn.itemtext.mapping", refuse)
    for function in FUNCTIONS:
        function(resources)
    assert resources.to_bytes() == text


def test_near_is_one_step() -> None:
    for slip in slips("Module"):
        assert is_similar(slip, "Module")
        assert is_similar("Module", slip)
    for other in ("Mode", "Modle2", "Modem", "", "Moduless", "oModuel"):
        assert not is_similar(other, "Module")
