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
    whole, before = read(text)
    assert all(one.rule.startswith("KRM6") for one in before if one.severity == "error"), list(map(str, before))
    results = [one for one in before if one.rule.startswith("KRM6")]
    results += rules.check(whole, today)
    return list({(one.rule, one.ref, one.message): one for one in results}.values())
