"""krmfn as a KRM function: what `deviceconfig` and then `ptemplate` in a pipeline give, in one run."""

from __future__ import annotations

import re

import pytest
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.ptemplate import ptemplate

from krmfn import KrmfnError, ResourceList, Result
from tests.test_cases import BAD, GOOD, Case, objects


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


ONLY_TOGETHER = {"krmfn-both-kinds-again"}
"""In a pipeline the first function takes the second one's Module of the run before for one that stays."""
ALONE = [case for case in BAD if case.function != "krmfn"]


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_it_gives_what_the_two_functions_give(case: Case) -> None:
    together = applied_to(case)
    assert not together.failed, errors(together)
    separate, code = one_after_the_other(case.data)
    assert (code == 1) == (case.name in ONLY_TOGETHER)
    if code == 0:
        assert objects(together.to_bytes()) == objects(separate)


@pytest.mark.parametrize("case", ALONE, ids=lambda case: case.name)
def test_it_refuses_what_one_of_them_refuses(case: Case) -> None:
    try:
        alone, _ = case.applied(case.data)
    except KrmfnError as refusal:
        with pytest.raises(KrmfnError, match=f"^{re.escape(str(refusal))}$"):
            applied_to(case)
        return
    together = applied_to(case)
    assert alone.failed
    assert together.failed
    assert errors(alone) <= errors(together)
    assert together.changes == []


def applied_to(case: Case) -> ResourceList:
    return case._replace(function="krmfn").applied(case.data)[0]
