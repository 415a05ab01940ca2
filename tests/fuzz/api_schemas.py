"""The target `schemas`: krmfn and a real API server say the same of schemas, and of values for them.

An input is `{"cases": [{"schema": ..., "values": [...]}]}`, each schema that of a field. The server is asked for each
schema by a dry run of a CustomResourceDefinition. Those with values become one that is created, with a dry run of a
resource for each value.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from krmfn_functions.kmm.lookup import leaves
from krmfn_functions.profile import formats, keywords, misfits, structural

from tests.builders import manifest
from tests.e2e.control_plane import wait
from tests.e2e.kube import Cluster
from tests.functions.profile.schemas import Judged, judged

from .findings import Finding, Refused, alike, watched
from .readers import Readers

GROUP, NAMESPACE, FIELD = "judged.example.com", "judged", "x"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
STRICT = "fieldValidation=Strict&dryRun=All"
Node = dict[str, Any]
_numbers = itertools.count(os.getpid() * 1_000_000)
_STRICTER = re.compile(
    r"must fit 32 bits|as its format k8s-|must be a text, since it has a format|^is -?\d+\.\d+; must be one of"
)
"""What krmfn refuses of a value although the API server takes it: an operator reads an int32 with 32 bits; 1.35 judges
two formats more; in an enum with whole numbers the server takes 1.5 for 1 (kube-openapi, pkg/validation/validate)."""
_OF_OTHER_TYPE = re.compile(r"is (?:a list|the list|the string .*); must be (?!a whole number|a number)", re.DOTALL)
"""What the server takes in place of any type but a number where the schema has a format: it does not look at the type.

Source: k8s.io/kube-openapi, pkg/validation/validate/type.go (Validate).
"""
_CEL = "compilation failed"
"""What the server says of a CEL rule, which krmfn does not judge."""
_UNSEEN = re.compile(r"is not a keyword of a structural schema|the default breaks its own schema")
"""What krmfn refuses of a schema although the API server takes it: unknown words within `items`, which strict decoding
does not see, and defaults that it does not look at, below additionalProperties, in sets, of int-or-string."""


def run(text: bytes, readers: Readers) -> None:
    """Hold krmfn against the server on the schemas and the values of an input."""
    cases = parsed(text)
    taken = [case for case in cases if is_taken(readers.cluster, case["schema"])]
    with_values = [case for case in taken if case.get("values")]
    if with_values:
        compare_values(readers.cluster, with_values)
    if not taken:
        raise Refused("no schema is taken")


def parsed(text: bytes) -> list[Node]:
    """Return the cases of an input; raises Refused for a text that holds none."""
    try:
        cases = json.loads(text)["cases"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Refused("no cases") from None
    if not isinstance(cases, list) or not all(map(_is_case, cases)):
        raise Refused("no cases")
    if not all(structural.is_finite(number) for _, number in leaves(cases)):
        raise Refused("a number that neither JSON nor Go has")
    return cases


def _is_case(case: Any) -> bool:
    return isinstance(case, dict) and "schema" in case and isinstance(case.get("values", []), list)


def mistakes(schema: Any) -> list[str]:
    """Return what krmfn says of the schema of a field, of that which an API server refuses."""
    root = _config({FIELD: schema})
    with watched():
        found = list(keywords.refusals(root)) or list(misfits.broken_defaults(root))
    return [mistake.text for _, mistake in found]


def is_taken(cluster: Cluster, schema: Any) -> bool:
    """Return True for a schema that both take; raise Finding where they do not agree."""
    messages = mistakes(schema)
    crd = _crd("dry", _config({FIELD: schema}))
    code, answer = cluster.request("POST", f"{CRDS}?{STRICT}", json.dumps(crd).encode())
    if code not in (201, 400, 422):
        raise Finding("the server judges a schema", code=code, answer=answer, schema=schema)
    if code == 201 and messages and not all(map(_UNSEEN.search, messages)):
        raise Finding("a schema that the server takes is taken", krmfn=messages, schema=schema)
    if code != 201 and not messages and _CEL not in answer["message"]:
        raise Finding("a schema that the server refuses is refused", server=answer["message"], schema=schema)
    return code == 201 and not messages


def compare_values(cluster: Cluster, cases: list[Node]) -> None:
    """Raise Finding where krmfn and the server do not make the same of a value."""
    fields = {f"s{index}": _object({FIELD: case["schema"]}) for index, case in enumerate(cases)}
    for index, value, (code, answer) in _answers(cluster, fields, cases):
        schema = cases[index]["schema"]
        with watched():
            ours = judged(_object({FIELD: schema}), {FIELD: value})
        theirs = Judged(answer["spec"][f"s{index}"]) if code == 201 else Judged(None, (answer["message"],))
        if code not in (201, 400, 422):
            raise Finding("the server judges a value", code=code, answer=answer, schema=schema, value=value)
        if not alike(ours.becomes, theirs.becomes) and not _is_stricter(schema, ours):
            raise Finding("a value is judged alike", krmfn=ours, server=theirs, schema=schema, value=value)


def _is_stricter(schema: Node, ours: Judged) -> bool:
    """Return True when krmfn refuses only what no operator could use, though an API server takes it."""
    patterns = [_STRICTER]
    if any(formats.is_judged(node.get("format", "")) for _, node in structural.nodes(schema)):
        patterns.append(_OF_OTHER_TYPE)
    return bool(ours.refusals) and all(any(pattern.search(text) for pattern in patterns) for text in ours.refusals)


def _answers(cluster: Cluster, fields: Node, cases: list[Node]) -> Iterator[tuple[int, Any, tuple[int, Any]]]:
    """Create a kind with these fields, and yield (index of the case, value, the server's answer)."""
    singular = f"judged{next(_numbers)}"
    crd = _crd(singular, _config(fields))
    place = f"{CRDS}/{crd['metadata']['name']}"
    cluster.namespace(NAMESPACE)
    cluster.apply(place, json.dumps(crd).encode())
    resources = f"/apis/{GROUP}/v1/namespaces/{NAMESPACE}/{singular}s"
    try:
        wait(f"{resources} is served", 60, partial(cluster.is_served, resources))
        for index, case in enumerate(cases):
            for value in map(sent, case["values"]):
                resource = manifest(f"{GROUP}/v1", singular.capitalize(), "x", NAMESPACE)
                body = {**resource, "spec": {f"s{index}": {FIELD: value}}}
                yield index, value, cluster.request("POST", f"{resources}?{STRICT}", json.dumps(body).encode())
    finally:
        cluster.request("DELETE", place)


def sent(value: Any) -> Any:
    """Return a value as kubectl and Argo CD send what stands in a file: 1.0 is 1, and 2^63 a fraction."""
    if isinstance(value, dict):
        return {name: sent(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [sent(inner) for inner in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return int(value)
    return float(value) if type(value) is int and not -(2**63) <= value < 2**63 else value


def _object(fields: Node) -> Node:
    return {"type": "object", "properties": fields}


def _config(fields: Node) -> Node:
    return _object({"spec": _object(fields)})


def _crd(singular: str, schema: Node) -> Any:
    """Return a CustomResourceDefinition whose resources have this schema, with a status as `krmfn crd` gives them."""
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": f"{singular}s", "singular": singular, "kind": singular.capitalize()}
    versions = [{**version, "subresources": {"status": {}}}]
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": versions}
    return {**manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{singular}s.{GROUP}", ""), "spec": spec}


def work(text: bytes) -> None:
    """Judge the schemas and the values of an input, by krmfn alone."""
    for case in parsed(text):
        if not mistakes(case["schema"]):
            for value in case.get("values", ()):
                judged(_object({FIELD: case["schema"]}), {FIELD: value})
