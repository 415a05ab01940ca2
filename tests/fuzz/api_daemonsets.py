"""The target `daemonsets`: krmfn and a real API server say the same of DaemonSets, field by field.

An input is `{"edits": [[PATH, VALUE], ...]}`, what is written over in the right DaemonSet of tests/functions/pods. The
server is asked by a dry run.
"""

from __future__ import annotations

import json
import re
from typing import Any

from krmfn_functions.kmm.lookup import leaves
from krmfn_functions.pods import daemon_set, rolling_update
from krmfn_functions.profile import structural

from krmfn import Manifest
from tests.e2e.kube import Cluster
from tests.functions.pods.daemon_sets import edited
from tests.functions.pods.test_daemon_set import difference, is_same, refused

from .findings import Finding, Refused, watched
from .readers import Readers

NAMESPACE = "kmm"
DAEMON_SETS, PODS = (f"{root}/namespaces/{NAMESPACE}" for root in ("/apis/apps/v1", "/api/v1"))
DRY_RUN = "fieldValidation=Strict&dryRun=All"
_OF_A_POD = re.compile(r"\.image$")
"""What another rule says of the image of a container."""
_NOT_JUDGED = re.compile(
    r"\.affinity\.pod(Anti)?Affinity|\.topologySpreadConstraints|\.dnsConfig|\.resourceClaims|\.sysctls|\.claims"
    r"|\.(ephemeral|projected)\b|fileKeyRef|resourceFieldRef\.divisor|windowsOptions|template\.spec\.resources|\.os\b|RestartPolicyRules"
)
"""Fields that krmfn leaves to the server; docs/internals/engines.md lists them."""

_ADMITTED = ("nodeName", "overhead", "preemptionPolicy", "priority", "priorityClassName", "runtimeClassName")
_UNREADABLE = re.compile(r"cannot be handled|strict decoding error|unable to (decode|parse)|cannot unmarshal")


def run(text: bytes, readers: Readers) -> None:
    """Hold krmfn against the server on the DaemonSet of an input."""
    manifest = parsed(text)
    with watched():
        ours = judged(manifest)
    fields = answered(readers.cluster, manifest)
    if any(map(_NOT_JUDGED.search, (*fields, json.dumps(manifest)))):
        raise Refused("something that krmfn leaves to the server")
    found = difference(manifest, fields)
    if found or not fields:
        of_pod = of_pods(readers.cluster, manifest)
        if fields:  # a pod has more defaults, about which the mistakes of the DaemonSet say enough
            of_pod = [field for field in of_pod if any(is_same(field, path) for path in refused(manifest))]
        found = difference(manifest, [*fields, *of_pod])
    if found:
        raise Finding("a DaemonSet is judged alike", krmfn=ours, server=fields, difference=found, manifest=manifest)
    if fields:
        raise Refused("as the server does")


def parsed(text: bytes) -> Manifest:
    """Return the DaemonSet of an input; raises Refused for a text that holds none."""
    try:
        edits = [(tuple(path), value) for path, value in json.loads(text)["edits"]]
        manifest = edited(edits)
        numbers = [number for _, number in leaves(manifest)]
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        raise Refused("no edits") from None
    if not all(map(structural.is_finite, numbers)):
        raise Refused("a number that neither JSON nor Go has")
    return manifest


def judged(manifest: Manifest) -> list[str]:
    """Return what krmfn says of a DaemonSet."""
    return [str(finding) for check in (daemon_set.check, rolling_update.check) for finding in check(manifest)]


def answered(cluster: Cluster, manifest: Manifest) -> list[str]:
    """Return the fields that the server refuses; raises Refused for types that it cannot read."""
    code, answer = _asked(cluster, DAEMON_SETS, "daemonsets", manifest)
    if code == 400 and _UNREADABLE.search(answer["message"]):
        raise Refused("types that the server cannot read")
    if code not in (201, 422):
        raise Finding("the server judges a DaemonSet", code=code, answer=answer, manifest=manifest)
    return _causes(code, answer)


def of_pods(cluster: Cluster, manifest: Manifest) -> list[str]:
    """Return the fields of the template that the server refuses in a pod of it, which it may take in a DaemonSet.

    What makes the server look for another object is left out.
    """
    template: Any = (manifest.get("spec") or {}).get("template") or {}
    spec = {name: value for name, value in (template.get("spec") or {}).items() if name not in _ADMITTED}
    pod = {**template, "apiVersion": "v1", "kind": "Pod", "spec": spec}
    pod["metadata"] = {**(template.get("metadata") or {}), "name": "judged", "namespace": NAMESPACE}
    code, answer = _asked(cluster, PODS, "pods", pod)
    if code not in (201, 422):
        raise Finding("the server judges a pod", code=code, answer=answer, manifest=pod)
    fields = [f"spec.template.{field}" for field in _causes(code, answer)]
    return [field for field in fields if not _OF_A_POD.search(field)]


def _asked(cluster: Cluster, place: str, plural: str, manifest: Any) -> tuple[int, Any]:
    """Return the code and the answer of the server; the namespace is made once."""
    body, path = json.dumps(manifest).encode(), f"{place}/{plural}?{DRY_RUN}"
    code, answer = cluster.request("POST", path, body)
    if code == 404:
        cluster.namespace(NAMESPACE)
        code, answer = cluster.request("POST", path, body)
    return code, answer


def _causes(code: int, answer: Any) -> list[str]:
    causes: Any = answer.get("details", {}).get("causes", []) if code == 422 else []
    return [cause["field"] for cause in causes]


def work(text: bytes) -> None:
    """Judge the DaemonSet of an input, by krmfn alone."""
    judged(parsed(text))
