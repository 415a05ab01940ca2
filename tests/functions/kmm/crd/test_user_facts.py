"""A CRD of the user's cluster in place of the built-in tables: the same facts of the same CRD, and what changes."""

from __future__ import annotations

from typing import Any

import pytest
from krmfn_functions.kmm.crd import structure, user_facts
from krmfn_functions.kmm.crd.facts import Fact, hub_facts, module_facts
from krmfn_functions.kmm.module import Module
from krmfn_functions.kmm.versions import TARGETS

from tests import kmm_crds
from tests.builders import edited, module


def plain(fact: Fact | None) -> Any:
    """The facts without where they are from."""
    if fact is None:
        return None
    fields = None if fact.fields is None else {key: plain(child) for key, child in fact.fields.items()}
    required = tuple(sorted(fact.required))
    return fact._replace(fields=fields, required=required, item=plain(fact.item), is_own=False)


@pytest.mark.parametrize("crds", kmm_crds.crds(), ids=str)
def test_the_facts_of_a_crd_are_those_of_our_table(crds: kmm_crds.Crds) -> None:
    own, name = user_facts.read([crds.module(), crds.hub()]), TARGETS[crds.version].structure
    assert plain(own.module) == plain(module_facts(name))
    assert plain(own.hub) == plain(hub_facts(name))


def with_plugin_field(name: str, schema: dict[str, Any]) -> Any:
    crd = kmm_crds.crds("2.6")[0].module()
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    container = spec["devicePlugin"]["properties"]["container"]["properties"]
    container[name] = schema
    return crd


PORT = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
PROBE = {"type": "object", "required": ["port"], "properties": {"port": PORT}}


@pytest.mark.parametrize(
    ("probe", "messages"),
    [
        ({"port": 8080}, []),
        ({"port": "http"}, []),
        ({"port": 1, "pert": 1}, ["; did you mean 'port'?"]),
        ({}, ["startupProbe.port: Required value"]),
        (
            {"port": True},
            ['must be of type integer,string: "boolean"', "(anyOf)", 'must be of type integer: "boolean"'],
        ),
    ],
    ids=str,
)
def test_a_field_that_only_the_cluster_knows_is_judged_by_its_crd(probe: Any, messages: list[str]) -> None:
    """Probes came to patch releases: a version does not say whether a cluster has them."""
    plugin = {"container": {"image": "i:1", "startupProbe": probe}}
    own = user_facts.read([with_plugin_field("startupProbe", PROBE)])
    given = Module(edited(module(), ("spec.devicePlugin", plugin)))
    found = list(structure.check(given, "2.6", own))
    assert len(found) == len(messages)
    assert all(text in finding.text for text, finding in zip(messages, found, strict=True))


def test_a_field_that_the_cluster_lacks_is_unknown() -> None:
    """And without a CRD the finding says how old the facts are, and what takes their place."""
    given = Module(edited(module(), ("spec.devicePlugin", {"container": {"image": "i:1", "resizePolicy": []}})))
    [unknown] = structure.check(given, "2.6")
    assert "facts of 2026-07-29, --kmm-crd FILE takes those of your cluster" in unknown.text
    [lacking] = structure.check(given, "2.6", user_facts.read([kmm_crds.crds("2.6")[0].module()]))
    assert lacking.text.endswith("; known here: args, command, env, image, imagePullPolicy, resources, volumeMounts")


def test_a_crd_without_a_schema_says_nothing() -> None:
    crd = edited(kmm_crds.crds("2.6")[0].module(), ("spec.versions", []))
    assert user_facts.is_crd(crd)
    assert user_facts.read([crd]) == user_facts.UserFacts()
