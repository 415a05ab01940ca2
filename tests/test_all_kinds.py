"""krmfn as a KRM function: what `deviceconfig` and then `ptemplate` in a pipeline give, in one run."""

from __future__ import annotations

import pytest
from krmfn_functions.all_kinds import krmfn
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.ptemplate import ptemplate
from test_cases import BAD, GOOD, Case, objects

from krmfn import KrmfnError, ResourceList, Result


def one_after_the_other(data: bytes) -> tuple[bytes, int]:
    """What a pipeline makes of a list: it stops at the first function that fails."""
    for function in (deviceconfig, ptemplate):
        resources = ResourceList.parse(data)
        function(resources)
        data = resources.to_bytes()
        if resources.failed:
            return data, 1
    return data, 0


def errors(resources: ResourceList) -> set[tuple[str, str]]:
    return {_named(result) for result in resources.results if result.severity == "error"}


def _named(result: Result) -> tuple[str, str]:
    return result.rule, str(result.ref)


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_it_gives_what_the_two_functions_give(case: Case) -> None:
    resources, out = case.applied(case.data)
    if case.function == "krmfn":
        both, code = one_after_the_other(case.data)
        if code == 0:
            assert objects(out) == objects(both)
        return
    together = ResourceList.parse(case.data)
    krmfn(together)
    if case.function == "ptemplate" and together.failed:
        pytest.fail(f"{errors(together)}")
    assert not together.failed, errors(together)
    assert objects(together.to_bytes()) == objects(one_after_the_other(case.data)[0])
    assert set(together.changes) >= set(resources.changes)


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_it_refuses_what_one_of_them_refuses(case: Case) -> None:
    if case.function == "krmfn":
        return
    try:
        alone = ResourceList.parse(case.data)
        case_function = {"deviceconfig": deviceconfig, "ptemplate": ptemplate}[case.function]
        case_function(alone)
    except KrmfnError:
        return
    together = ResourceList.parse(case.data)
    krmfn(together)
    assert together.failed
    assert errors(alone) <= errors(together)
    assert together.changes == []
