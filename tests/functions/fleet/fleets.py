"""A cluster from the text of its files, as a command reads it."""

from __future__ import annotations

from krmfn_functions import all_kinds
from krmfn_functions.fleet import cluster, rules
from krmfn_functions.paths import manifests
from krmfn_functions.run import note
from krmfn_functions.settings import LOOK, Settings

from krmfn import Result


def read(text: str) -> tuple[cluster.Cluster, list[Result]]:
    """The cluster after the function has run, and what the function found."""
    resources = manifests.read("-", text.encode())
    note(resources, settings=Settings(LOOK._replace(shows_errors=True)))
    all_kinds.krmfn(resources)
    return cluster.of_list(resources, lambda _: None), resources.results


def findings(text: str, today: str = "2026-01-01") -> list[Result]:
    """What is said about the fleet, each once: by the function, and by the rules."""
    whole_cluster, before = read(text)
    of_fleet = [result for result in before if result.rule.startswith("KRM6")]
    assert all(result in of_fleet for result in before if result.severity == "error"), list(map(str, before))
    of_fleet += rules.check(whole_cluster, today)
    return list({(result.rule, result.ref, result.message): result for result in of_fleet}.values())
