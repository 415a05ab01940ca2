"""Twice the references, names, arguments or stages are about twice the work of the rules about them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest
from krmfn_functions.final.judge import judge
from krmfn_functions.kmm import dockerfile
from krmfn_functions.run import Transformed, note

from krmfn import Manifest
from tests.builders import manifest, module, resource_list
from tests.call_counts import call_count

SECRET_RULE, LABEL_RULE, ARGUMENT_RULE, KEY_RULE = "KRM703", "KRM701", "KRM616", "KMM083"
LEVEL_RULE = "KRM717"


def secrets(number: int) -> list[Manifest]:
    """Pods that name Secrets which are not there, beside as many Secrets."""
    manifests = []
    for at in range(number):
        spec = {"imagePullSecrets": [{"name": f"missing{at}"}], "containers": [{"name": "a", "image": "r/a:1"}]}
        manifests += [manifest("v1", "Secret", f"s{at}", "kmm"), {**manifest("v1", "Pod", f"p{at}"), "spec": spec}]
    return manifests


def labels(number: int) -> list[Manifest]:
    """Pods that wait for Modules which are not there, beside as many Modules."""
    manifests: list[Manifest] = []
    for at in range(number):
        spec = {"nodeSelector": {f"kmm.node.kubernetes.io/kmm.missing{at}.ready": ""}, "containers": []}
        manifests.append(module({"regexp": "^.+$", "containerImage": "r/a:1"}, name=f"m{at}"))
        manifests.append({**manifest("v1", "Pod", f"p{at}"), "spec": spec})
    return manifests


def arguments(number: int) -> list[Manifest]:
    """A Module with so many kernel mappings and build arguments, none of which the Dockerfile takes."""
    entries = [{"name": f"A{at}", "value": "1"} for at in range(number)]
    section = {"dockerfileConfigMap": {"name": "recipe"}}
    mappings = [{"literal": f"6.{at}", "containerImage": f"r/a:{at}", "build": section} for at in range(number)]
    builder = module(*mappings, name="gpu", build={**section, "buildArgs": entries})
    recipe = {**manifest("v1", "ConfigMap", "recipe"), "data": {"dockerfile": "FROM sdk\nRUN make\n"}}
    return [builder, recipe]


def places(number: int) -> list[Manifest]:
    """Modules that build from a ConfigMap which stands in other namespaces only."""
    manifests: list[Manifest] = []
    for at in range(number):
        section = {"dockerfileConfigMap": {"name": "recipe"}}
        manifests.append(module({"regexp": "^.+$", "containerImage": "r/a:1", "build": section}, name=f"m{at}"))
        manifests.append(manifest("v1", "ConfigMap", "recipe", f"other{at}"))
    return manifests


def namespaces(number: int) -> list[Manifest]:
    """Namespaces that take no privileged pods, each with a Module and with a pod of its driver."""
    manifests: list[Manifest] = []
    for at in range(number):
        labels = {"pod-security.kubernetes.io/enforce": "baseline"}
        spec = {"nodeSelector": {f"kmm.node.kubernetes.io/ns{at}.m{at}.ready": ""}, "containers": []}
        driver = module({"regexp": "^.+$", "containerImage": "r/a:1"}, name=f"m{at}")
        driver["metadata"] = {**driver["metadata"], "namespace": f"ns{at}"}
        manifests.append(manifest("v1", "Namespace", f"ns{at}", "", labels=labels))
        manifests += [driver, {**manifest("v1", "Pod", f"p{at}", f"ns{at}"), "spec": spec}]
    return manifests


def calls(manifests: list[Manifest], rule: str) -> int:
    """How many functions are called to judge a final list that has findings of a rule."""
    resources = resource_list(*manifests)
    note(resources, transformed=Transformed(prefixes=("a-", "b-"), suffixes=("-x",)))
    findings, number = call_count(lambda: [*judge(resources, resources.items)])
    assert rule in {finding.rule for finding in findings}
    return number


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (secrets, SECRET_RULE),
        (labels, LABEL_RULE),
        (arguments, ARGUMENT_RULE),
        (places, KEY_RULE),
        (namespaces, LEVEL_RULE),
    ],
)
def test_the_work_of_a_rule_is_linear(make: Callable[[int], list[Manifest]], rule: str) -> None:
    calls(make(5), rule)  # what is loaded and compiled once
    assert calls(make(160), rule) < 2.5 * calls(make(80), rule)


def test_stages_that_are_based_on_each_other_are_read_in_little_memory() -> None:
    def peak(number: int) -> int:
        chain = "".join(f"FROM s{at} AS s{at + 1}\nARG A{at}\nRUN make $MISSING\n" for at in range(number))
        read = dockerfile.dockerfile_of(f"FROM sdk AS s0\n{chain}")
        tracemalloc.start()
        assert len([*read.undeclared(frozenset({"MISSING", "A0"}))]) == number
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(10)
    # the least of three: other threads of the tests take memory, too
    fewer, more = (min(peak(number) for _ in range(3)) for number in (400, 800))
    assert more < 2.5 * fewer, "no copy of the names for each stage"
