"""What `explain` and docs/reference/fields.md say of the fields: every field, examples that fit, ends that are seen."""

from __future__ import annotations

import pytest
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.reference import ends, fields
from krmfn_functions.reference.fields import KINDS, Entry, definitions, entries

from krmfn import schema
from tests.builders import SPEC, applied, device_config, generated
from tests.functions.deviceconfig.test_every_field import FIELDS

ENTRIES = [entry for kind in KINDS for entry in entries(kind)]
BY_NAME = {f"{entry.kind}.{entry.name}": entry for entry in ENTRIES}
SEEN = {name: ends.ends(entry) for name, entry in BY_NAME.items() if len(entry.path) == 2}


def test_every_field_of_the_table_of_effects_is_here() -> None:
    assert {f"deviceconfig.spec.{name}" for name in FIELDS} <= BY_NAME.keys()


@pytest.mark.parametrize("number", [0, 1])
def test_the_examples_fit_the_schema(number: int) -> None:
    wrong = []
    for name, entry in BY_NAME.items():
        value = fields.specimen(entry.node, definitions(entry.kind), entry.path[-1], number)
        root = {"$defs": definitions(entry.kind), "type": "object", "properties": {"x": entry.node}}
        wrong += [f"{name}: {value}: {finding.message}" for finding in schema.check({"x": value}, root, "X")]
    unfit = ("is required", "has 1 field", "must have at least", "must be at least")  # an example says one thing
    assert [text for text in wrong if not any(reason in text for reason in unfit)] == []


OTHER_CONFIGS = {"nodePools", "daemonSets", "serviceAccount", "hub", "driverVersion"}
"""Fields that are looked at in other configs than in the table: with an ordered upgrade, for example."""
NOWHERE = {"profile", "options", "unset", "allNodes"}
"""Fields that no object shows: which layers count, what they are given, and what is confirmed."""


def test_a_field_of_the_defaults_alone_is_seen_in_a_config() -> None:
    of_defaults = [entry for name, entry in BY_NAME.items() if name.startswith("renderdeviceconfigs.spec.defaults.")]
    (entry,) = (entry for entry in of_defaults if len(entry.path) == 3)
    assert entry.path[2] == "extraObjects" and ends.ends(entry)


def test_the_fields_that_end_up_nowhere() -> None:
    none = {name.rpartition(".")[2] for name, seen in SEEN.items() if name.startswith("deviceconfig.") and not seen}
    assert none == NOWHERE
    deeper = {
        entry.path[-1]
        for name, entry in BY_NAME.items()
        if entry.kind == "deviceconfig" and len(entry.path) == 3 and not ends.ends(entry)
    }
    assert deeper <= {"enabled", "podSecurity", "allNodes", "versionsComplete", "rollOnConfigChange", "namespace"}


@pytest.mark.parametrize("name", sorted(FIELDS.keys() - NOWHERE - OTHER_CONFIGS))
def test_the_ends_are_those_of_the_table_of_effects(name: str) -> None:
    """Two ways to the same: a table that people wrote, and what is seen."""
    paths = [text.partition(": ") for text in FIELDS[name][1]]
    expected = {(text.split()[0], path.replace("[0]", "[]").replace("[1]", "[]")) for text, _, path in paths}
    for end in SEEN[f"deviceconfig.spec.{name}"]:
        assert any(kind == end.kind and path.startswith(end.path) for kind, path in expected), (end, expected)


@pytest.mark.parametrize(
    ("name", "since"),
    [
        ("deviceconfig.spec.moduleName", "2.4"),
        ("deviceconfig.spec.devicePlugin.automountServiceAccountToken", "2.6"),
        ("deviceconfig.spec.dra.driverName", "main"),
        ("deviceconfig.spec.daemonSets[].hostPID", ""),
    ],
)
def test_the_first_kmm_that_has_a_field(name: str, since: str) -> None:
    assert ends.since(ends.ends(BY_NAME[name])) == since


def test_a_default_is_what_stands_there_without_the_field() -> None:
    entry = BY_NAME["deviceconfig.spec.dirName"]
    assert ends.default(entry, ends.ends(entry)) == "/opt"
    (module,) = generated(applied(deviceconfig, device_config(SPEC)))
    assert module["spec"]["moduleLoader"]["container"]["modprobe"]["dirName"] == "/opt"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("spec.nodeSelector", "the stronger one's"),
        ("spec.labels", "key by key"),
        ("spec.devicePlugin", "key by key, `enabled: false` switches it off"),
        ("spec.daemonSets", "entry by entry, by name"),
        ("spec.devicePlugin.volumes", "entry by entry, by name, each whole"),
        ("spec.driverImage", "the stronger one's, also over driverImageParts"),
        ("spec.tolerations", "the stronger one's"),
    ],
)
def test_a_row_of_the_merge_table_in_words(name: str, words: str) -> None:
    entry: Entry = BY_NAME[f"deviceconfig.{name}"]
    assert entry.merge == words


def test_a_kind_without_layers_has_no_row() -> None:
    assert {entry.merge for entry in ENTRIES if entry.kind in ("ptemplate", "nodeinventory")} == {""}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("spec.modulesLoadingOrder", "list of texts"),
        ("spec.nodeSelector", "mapping to texts"),
        ("spec.daemonSets", "list of objects"),
        ("spec.allNodes", "true or false"),
    ],
)
def test_a_type_in_words(name: str, words: str) -> None:
    assert BY_NAME[f"deviceconfig.{name}"].type == words
