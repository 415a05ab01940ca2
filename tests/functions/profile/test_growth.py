"""Twice the Profiles, each with configs of its own kind, are about twice the work."""

from __future__ import annotations

from krmfn_functions.all_kinds import krmfn

from krmfn import Manifest
from tests.builders import manifest, resource_list
from tests.call_counts import call_count

SCHEMA = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"image": {"type": "string"}}}}}


def vendors(number: int) -> list[Manifest]:
    """So many products, each with a config."""
    manifests: list[Manifest] = []
    for at in range(number):
        group, kind = f"npu{at}.example.org", f"Npu{at:04}Policy{at:04}"
        target = {"group": group, "versions": ["v1"], "kind": kind}
        mappings = [{"regexp": "^.+$", "image": "${spec.image}"}]
        config = {"nodeSelector": {"npu": str(at)}, "moduleName": f"npu{at}", "kernelMappings": mappings}
        profile = manifest("krmfn.dev/v1alpha1", "Profile", f"npu{at}", "")
        written = manifest(f"{group}/v1", kind, "main", f"ns{at}")
        manifests.append({**profile, "spec": {"version": "1", "for": target, "schema": SCHEMA, "config": config}})
        manifests.append({**written, "spec": {"image": "r.example.com/npu:1-${KERNEL_FULL_VERSION}"}})
    return manifests


def calls(number: int) -> int:
    resources = resource_list(*vendors(number))
    _, count = call_count(lambda: krmfn(resources))
    assert not resources.failed, [str(result) for result in resources.results]
    assert len(resources.where(kind="Module")) == number
    return count


def test_twice_the_products_are_twice_the_work() -> None:
    calls(2)  # what is imported, and compiled, once
    assert calls(80) < 2.5 * calls(40)
