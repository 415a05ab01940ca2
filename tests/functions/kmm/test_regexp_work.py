"""The work over the regexps of a Module: it grows with the text, and a part that is not judged is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from krmfn_functions.kmm import regexp_work, regexps, resolution
from krmfn_functions.kmm.lints import mapping_lints
from krmfn_functions.kmm.module import Module
from krmfn_functions.kmm.resolution import NotJudged, resolver
from krmfn_functions.kmm.webhook import loader

from krmfn.errors import KrmfnError
from krmfn.results import Result
from tests.builders import edited, module
from tests.call_counts import call_count

KERNELS = [f"6.1.{at}-13.el9.x86_64" for at in range(100)]


def judge(manifest: dict[str, Any]) -> list[Result]:
    """Return the findings about a Module, and find the mapping of each kernel."""
    view = Module(manifest)
    find = resolver(view)
    for kernel in KERNELS:
        try:
            find(kernel)
        except KrmfnError as failure:
            assert "is not judged" in str(failure) or "too large" in str(failure)
    return [*loader.check(view), *mapping_lints.check(view, KERNELS)]


def calls(manifest: dict[str, Any]) -> int:
    """Return how many functions are called, those of RE2 included, while a Module is judged."""
    for cached in (regexps.refusal, regexps._compile, regexps.judged, resolution._finder):
        cached.cache_clear()
    return call_count(lambda: judge(manifest))[1]


def mapping(**fields: str) -> dict[str, str]:
    return {**fields, "containerImage": "registry.example.com/a:1"}


Make = Callable[[int], dict[str, Any]]
MANY: dict[str, Make] = {
    "literals behind regexps": lambda n: module(
        *(mapping(regexp=f"^{at}a$") for at in range(n)), *(mapping(literal=f"6.1.{at}-x") for at in range(n))
    ),
    "regexps that no kernel reaches": lambda n: module(*(mapping(regexp=rf"^6\.1\..+{at}$") for at in range(n))),
    "the same regexp": lambda n: module(*(mapping(regexp=rf"^6\.1\..+{at % 3}$") for at in range(n))),
    "large ones": lambda n: module(*(mapping(regexp=f"^(.?.?){{100}}{at}$") for at in range(n))),
    "ones that RE2 refuses": lambda n: module(*(mapping(regexp=rf"\pL{{20}}{at}") for at in range(n))),
}


@pytest.mark.parametrize("make", MANY.values(), ids=MANY)
def test_twice_the_regexps_are_twice_the_work(make: Make) -> None:
    judge(make(3))  # what is imported once
    assert calls(make(1600)) < 2.5 * calls(make(800))


def instructions(manifest: dict[str, Any]) -> int:
    """Return how many of RE2's instructions are compiled for a Module."""
    found, make = list[str](), regexps._compile.__wrapped__

    def noted(regexp: str) -> Any:
        found.append(regexp)
        return make(regexp)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regexps, "_compile", noted)
        judge(manifest)
    compiled = [make(regexp) for regexp in dict.fromkeys(found)]
    return sum(500 if isinstance(program, regexps.Refusal) else program.programsize for program in compiled)


@pytest.mark.parametrize("name", ["large ones", "ones that RE2 refuses"])
def test_what_is_compiled_is_bounded_and_the_rest_is_said_once(name: str) -> None:
    manifest = MANY[name](2000)
    resolution._finder.cache_clear()
    regexps.judged.cache_clear()
    assert instructions(manifest) < 65_000
    findings = [finding for finding in judge(manifest) if finding.message == regexps.TOO_MANY]
    assert [(finding.rule, finding.severity) for finding in findings] == [("KRM216", "error")]


def test_a_kernel_that_no_judged_regexp_takes_has_no_answer() -> None:
    resolve = resolver(Module(MANY["large ones"](2000)))
    assert resolve("6.1.0").mapping == 0
    with pytest.raises(NotJudged, match=r"the regexp .* is not judged, since those before it are too large together$"):
        resolve("6.1.x")


def test_a_run_matches_no_more_than_it_may_and_says_so() -> None:
    first, *others = (module(mapping(regexp=rf"^6\.1\.{at}-.+$")) for at in range(3))
    with regexp_work.bounded(20 + 20):
        assert resolver(Module(first))("6.1.0-1").mapping == 0
        same = edited(first, ("metadata.name", "other"))
        assert [resolver(Module(same))("6.1.0-1").mapping for _ in range(9)] == [0] * 9, "each pair costs once"
        for manifest in others:
            with pytest.raises(NotJudged, match="the regexps and kernels of this run are too many to be judged"):
                [resolver(Module(manifest))(f"6.1.{kernel}-1") for kernel in range(9)]
        (finding,) = mapping_lints.check(Module(others[1]), ["6.1.9-1"])
        assert (finding.rule, finding.severity) == ("KRM216", "warning"), "what is not said of kernels"
    assert resolver(Module(others[1]))("6.1.2-1").mapping == 0, "without a bound"


def test_many_usual_regexps_are_judged() -> None:
    usual = module(*(mapping(regexp=rf"^6\.1\.{at}-.+\.el9\.x86_64$") for at in range(1000)))
    assert [finding for finding in judge(usual) if finding.severity == "error"] == []
    assert resolver(Module(usual))("6.1.999-13.el9.x86_64").mapping == 999


def test_a_literal_behind_thousands_of_regexps_is_said_to_be_taken() -> None:
    """Only the first thousand were looked at, and nothing said so."""
    far = [mapping(regexp=rf"^6\.1\.{at}$") for at in range(1500)]
    findings = judge(module(*far, mapping(literal="6.1.1499")))
    assert [finding.message for finding in findings if finding.rule == "KRM211"] == [
        r'never reached: kernelMappings[1499] ("^6\\.1\\.1499$") takes this kernel first'
    ]


def test_mappings_that_are_not_compared_are_said_without_nodes_too() -> None:
    """The two findings about what no kernel reaches ended in silence."""
    manifest = module(mapping(regexp="^6.+$"), mapping(literal="6.1.0"), mapping(literal="6.1.1"))
    rules = ["KRM211", "KRM211"]
    assert [finding.rule for finding in mapping_lints.check(Module(manifest))] == rules
    for instructions, told in ((0, 0), (20, 1)):
        with regexp_work.bounded(instructions):
            *findings, last = mapping_lints.check(Module(manifest))
        assert [finding.rule for finding in findings] == rules[:told]
        assert (last.rule, last.severity, last.field and last.field.path) == (
            "KRM216",
            "warning",
            "spec.moduleLoader.container.kernelMappings",
        )
        assert last.message.startswith("the mappings are not compared with each other: ")
