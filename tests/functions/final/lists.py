"""FinalList lists as tests need them."""

from __future__ import annotations

from krmfn_functions.final.judge import judge
from krmfn_functions.kmm.lookup import POD_KINDS
from krmfn_functions.run import Transformed, note

from krmfn import Manifest, Result
from tests.builders import edited, manifest, resource_list

API = {"": "v1", "apps": "apps/v1", "batch": "batch/v1"}
PREFIXED = Transformed(("lab-",), ("-v2",), ("lab",))
"""What an overlay has done to names."""


def judged(
    *manifests: Manifest, transformed: Transformed = PREFIXED, inputs: tuple[Manifest, ...] = ()
) -> list[Result]:
    """Return what is found in a final list."""
    resources = resource_list(*inputs, *manifests)
    note(resources, transformed=transformed)
    return list(judge(resources, resources.items[len(inputs) :]))


def levels(results: list[Result]) -> list[tuple[str, str]]:
    """Return rule and severity of each finding."""
    return [(result.rule, result.severity) for result in results]


def rows(results: list[Result]) -> list[tuple[str, str, str]]:
    """Return rule, severity and field of each finding."""
    return [(result.rule, result.severity, result.field.path if result.field else "") for result in results]


def workload(pod: Manifest, kind: tuple[str, str] = ("apps", "DaemonSet"), name: str = "user") -> Manifest:
    """Return a resource of a kind that makes pods; a DaemonSet is as whole as the API server wants it."""
    if kind != ("apps", "DaemonSet"):
        return edited(manifest(API[kind[0]], kind[1], name), (POD_KINDS[kind], pod))
    labels = {"app": name}
    spec = {"containers": [{"name": "main", "image": "registry.example.com/main:1"}], **pod}
    template = {"metadata": {"labels": labels}, "spec": spec}
    whole = {"selector": {"matchLabels": labels}, "template": template}
    return {**manifest(API[kind[0]], kind[1], name), "spec": whole}
