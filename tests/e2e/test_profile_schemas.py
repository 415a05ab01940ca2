"""A real API server judges schemas and configs of vendors' kinds as krmfn does, and gives them the same defaults."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings

from tests.builders import manifest
from tests.functions.profile import test_structural
from tests.functions.profile.schemas import GROUP, KIND, Case, Judged, cases, judged
from tests.fuzz import api_schemas, schemas

from .control_plane import wait
from .kube import Cluster, install_crd

RECORDED = Path(__file__).parents[1] / "functions" / "profile" / "defaulting.yaml"
PLURAL, NAMESPACE = "judgeds", "judged"
COUNT = 600
"""Schemas that are tried: all are fields of one CustomResourceDefinition."""


def drawn(count: int) -> list[Case]:
    """Return cases made at random, the same in each run."""
    collected: list[Case] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    @given(cases())
    def collect(case: Case) -> None:
        collected.append(case)

    collect()
    return collected


def served(cluster: Cluster, schemas: list[dict[str, Any]]) -> str:
    """Let a kind exist whose `spec` has a field for each of the schemas; return where its objects are kept."""
    fields = {f"s{index}": schema for index, schema in enumerate(schemas)}
    options = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
    crd = manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{PLURAL}.{GROUP}", "")
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": options}}
    names = {"plural": PLURAL, "singular": KIND.lower(), "kind": KIND}
    crd["spec"] = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
    install_crd(cluster, json.dumps(crd).encode(), f"{PLURAL}.{GROUP}")
    cluster.namespace(NAMESPACE)
    place = f"/apis/{GROUP}/v1/namespaces/{NAMESPACE}/{PLURAL}"
    wait(f"{place} is served", 30, partial(cluster.is_served, place))
    return place


def answered(cluster: Cluster, place: str, index: int, written: Any) -> Judged:
    """Return what the server makes of the field of one schema."""
    config = {**manifest(f"{GROUP}/v1", KIND, "x", NAMESPACE), "spec": {f"s{index}": written}}
    query = f"{place}?fieldValidation=Strict&dryRun=All"
    code, answer = cluster.request("POST", query, json.dumps(config).encode())
    if code == 201:
        return Judged(answer["spec"].get(f"s{index}"))
    assert code in (400, 422), f"the server judged nothing: {code}: {answer}"
    return Judged(None, (answer["message"],))


def test_configs_of_vendors_kinds_become_what_the_server_makes_of_them(cluster: Cluster) -> None:
    recorded = [Case(case["schema"], case["written"]) for case in yaml.safe_load(RECORDED.read_text())]
    tried = [*recorded, *drawn(COUNT)]
    place = served(cluster, [case.schema for case in tried])
    different = []
    for index, (schema, written) in enumerate(tried):
        ours, theirs = judged(schema, written), answered(cluster, place, index, written)
        if json.dumps(ours.becomes, sort_keys=True) != json.dumps(theirs.becomes, sort_keys=True):
            different.append({"schema": schema, "written": written, "ours": ours, "the server's": theirs})
    assert different == []


def test_the_recorded_schemas_are_refused_and_taken_by_the_server(cluster: Cluster) -> None:
    for case in test_structural.SCHEMAS:
        is_taken = not case["refused"] or case.get("server") == "taken"
        assert api_schemas.is_taken(cluster, case["schema"]) == is_taken, case


def test_the_recorded_values_are_refused_and_taken_by_the_server(cluster: Cluster) -> None:
    cases = [{"schema": case["schema"], "values": [case["written"]]} for case in test_structural.VALUES]
    api_schemas.compare_values(cluster, cases)


@pytest.mark.parametrize("seed", range(3))
def test_schemas_and_values_made_at_random_are_judged_alike(cluster: Cluster, seed: int) -> None:
    """`make fuzz` makes more of them."""
    rng = random.Random(seed)
    inputs = [json.loads(schemas.new(rng))["cases"] for _ in range(200)]
    taken = [case for cases in inputs for case in cases if api_schemas.is_taken(cluster, case["schema"])]
    values = [{**case, "values": [schemas.value_of(rng, case["schema"]) for _ in range(3)]} for case in taken]
    api_schemas.compare_values(cluster, values)
