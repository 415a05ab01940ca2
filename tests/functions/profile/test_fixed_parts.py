"""What of a Profile is the same for each config is not walked for each, and nothing comes out differently."""

from __future__ import annotations

from pathlib import Path

import pytest
from krmfn_functions.profile import samples
from krmfn_functions.profile.expansion import Expansion, expand
from krmfn_functions.profile.product import Profile, product
from krmfn_functions.rendering.kinds import schema

from krmfn import Ref, ResourceList
from krmfn.resource import FieldPath
from tests.commands import ROOT
from tests.functions.profile.vendor import PROFILE

FILES = sorted((ROOT / "examples/vendor-profiles").glob("*/profile.yaml"))
ROOT_SCHEMA = schema("renderdeviceconfigs")
ODD = """
    loadArgs: []
    tolerations: [{key: "${spec.exporter.level}"}, {key: fixed, operator: Exists}]
    nodePools: [{name: a, nodeSelector: {a: b}, parameters: []}]
"""
"""An empty list, and one entry that goes when an option is not written, before one that stays."""


def profile_of(text: str) -> Profile:
    head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
    lines = text.splitlines(keepends=True)
    (item,) = ResourceList.parse(f"{head}- {'  '.join(lines)}".encode()).items
    return product(item)


def results(profile: Profile) -> list[tuple[Expansion, list[FieldPath]]]:
    """Return the expansions for the least and the fullest options, with where each list entry comes from."""
    node = profile.options["properties"]["spec"]
    outcomes = []
    for written in (samples.least_trial(profile).options, samples.full_sample(node)):
        expansion = expand(profile, written, Ref("krmfn.dev", "DeviceConfig", "kmm", "x"), {}, ROOT_SCHEMA, True)
        entries = [
            layer.origin((name, index))
            for layer in expansion.layers
            for name, value in layer.fields.items()
            for index, _ in enumerate(value if isinstance(value, list) else ())
        ]
        layers = tuple(part._replace(moves={}) for part in expansion.layers)  # `origin` is what they are for
        outcomes.append((expansion._replace(layers=layers), entries))
    return outcomes


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_a_shipped_profile_gives_the_same(path: Path) -> None:
    profile = profile_of(path.read_text())
    assert profile.fixed
    assert results(profile) == results(profile._replace(fixed={}))


def test_empty_lists_and_entries_that_move_give_the_same() -> None:
    profile = profile_of(PROFILE.replace("    daemonSets:\n", f"{ODD.lstrip(chr(10))}    daemonSets:\n"))
    assert results(profile) == results(profile._replace(fixed={}))
    (expansion, entries), _ = results(profile)
    assert ("tolerations", 1) in entries
    assert "loadArgs" in expansion.layers[-1].fields
