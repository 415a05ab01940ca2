"""Kernel matching, variables and regexps, held against what the real Go libraries answered."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from krmfn_functions.kmm import regexps
from krmfn_functions.kmm.envsubst import substitute, variables
from krmfn_functions.kmm.lints import mapping_lints
from krmfn_functions.kmm.module import EVERY_KERNEL, Module
from krmfn_functions.kmm.regexps import Refusal, matcher, matches, refusal, tokens
from krmfn_functions.kmm.resolution import Resolution, compared_fields
from krmfn_functions.kmm.webhook import loader

from krmfn.errors import KrmfnError
from krmfn.results import Result
from tests.builders import module
from tests.tables import table

from .manifests import resolve, resolver

LIBRARIES = table(__file__, "libraries.yaml")
KERNEL = "5.14.0-427.13.1.el9_4.x86_64"


def image(template: str, kernel: str = KERNEL) -> str | None:
    return resolve(module({"regexp": ".", "containerImage": template}), kernel).image


@pytest.mark.parametrize(("mappings", "container", "answers"), LIBRARIES["resolved"])
def test_what_a_kernel_takes(mappings: list[Any], container: Any, answers: dict[str, list[Any]]) -> None:
    resolve_kernel = resolver(module(*mappings, **container))
    for kernel, (mapping, filled, in_tree) in answers.items():
        assert resolve_kernel(kernel) == Resolution(mapping, filled, tuple(in_tree))


def test_what_a_difference_of_reloads_a_node() -> None:
    mapping = {"regexp": ".", "containerImage": "i:1"}
    view = Module(module(mapping, registryTLS={"insecure": True}, imagePullPolicy="Always"))
    fields = compared_fields(view, view.mappings[0])
    assert {name: value for name, value in fields.items() if name != "containerImage"} == {
        "inTreeModulesToRemove": (),
        "imagePullPolicy": "Always",
        "registryTLS": True,
        "modprobe": {"moduleName": "simple", "dirName": "/opt"},
    }


@pytest.mark.parametrize("kernel", ["6.8", "", "6,8,1", "6_8_1", "6.8+"])
def test_fewer_than_three_parts_is_an_error(kernel: str) -> None:
    version = kernel.removesuffix("+")
    text = f"invalid kernel version {version.replace(',', '_')}: expected at least three components (major.minor.patch)"
    with pytest.raises(KrmfnError, match=f"^{re.escape(text)}$"):
        variables(version)
    if kernel:
        with pytest.raises(KrmfnError, match=r"at least three components"):
            image("no-variable:1", kernel)


def test_parts_may_be_split_by_dashes() -> None:
    assert variables("6.8-1") == {
        "KERNEL_FULL_VERSION": "6.8-1",
        "KERNEL_VERSION": "6.8-1",
        "KERNEL_XYZ": "6.8.1",
        "KERNEL_X": "6",
        "KERNEL_Y": "8",
        "KERNEL_Z": "1",
    }


def test_an_unclosed_brace_fails_with_kmms_text() -> None:
    reason = 'failed to substitute "i:${KERNEL_X": closing brace expected'
    text = f"failed to substitute templates in the ContainerImage field: {reason}"
    with pytest.raises(KrmfnError, match=f"^{re.escape(text)}$"):
        image("i:${KERNEL_X")


def test_a_regexp_that_does_not_compile_fails_when_it_is_matched() -> None:
    manifest = module({"literal": "6.1.0-a", "containerImage": "i:0"}, {"regexp": "(", "containerImage": "i:1"})
    assert resolve(manifest, "6.1.0-a").mapping == 0
    with pytest.raises(KrmfnError, match=r'could not match regexp "\(" against kernel "6\.1\.0-b": error parsing'):
        resolve(manifest, "6.1.0-b")


def test_without_a_loader_nothing_matches() -> None:
    assert resolve({"metadata": {}, "spec": {}}, KERNEL) == resolve({}, KERNEL) == Resolution()


def test_sixty_mappings_and_ten_thousand_kernels() -> None:
    regexps = (rf"^6\.{at}\.0-[0-9]+\.el9(_\d+)?$" for at in range(60))
    mappings = ({"regexp": regexp, "containerImage": f"i:{at}-${{KERNEL_X}}"} for at, regexp in enumerate(regexps))
    resolve_kernel = resolver(module(*mappings))
    answers = [resolve_kernel(f"6.{at % 70}.0-{at}.el9_2") for at in range(10_000)]
    assert [answer.mapping for answer in answers] == [at % 70 if at % 70 < 60 else None for at in range(10_000)]


@pytest.mark.parametrize(("template", "expected"), LIBRARIES["substituted"])
def test_substitution_as_the_library(template: str, expected: str | None) -> None:
    values = {"A": "va", "B": "", "A_B": "ab"}
    if expected is None:
        with pytest.raises(KrmfnError, match="closing brace expected"):
            substitute(template, values)
    else:
        assert substitute(template, values) == expected


@given(st.text(alphabet="$${}AB_:-+=?x1 \n", max_size=20))
def test_any_template_ends_in_text_or_in_one_error(template: str) -> None:
    try:
        substitute(template, {"A": "1"})
    except KrmfnError as failure:
        assert str(failure) == "closing brace expected"


@given(st.text(alphabet="ab{}:-/.", max_size=20))
def test_a_template_without_a_dollar_is_itself(template: str) -> None:
    assert substitute(template, {}) == template


COMPILED = [
    *LIBRARIES["compiled"],
    ("(" * 999 + ")" * 999, None),
    ("(" * 1000 + ")" * 1000, "expression nests too deeply: `" + "(" * 1000 + ")" * 1000 + "`"),
]


@pytest.mark.parametrize(("regexp", "reason"), COMPILED, ids=lambda value: str(value)[:20])
def test_compile_errors_have_the_text_of_go(regexp: str, reason: str | None) -> None:
    assert refusal(regexp) == (Refusal(f"error parsing regexp: {reason}") if reason else None)


@pytest.mark.parametrize(
    ("regexp", "text", "hit"),
    [
        ("el9", KERNEL, True),
        ("a$", "a\n", False),
        ("(?m)a$", "a\n", True),
        (r"a\z", "a\n", False),
        (r"\d", "٣", False),
        (".", "\n", False),
        (r"\.el\d_?\d?\.", ".el8_10.", False),
        (r"^.+\fc37\.x86_64$", "6.0.15-300.fc37.x86_64", False),
        ("(?i)EL9", KERNEL, True),
        ("", "", True),
    ],
)
def test_matching_as_go(regexp: str, text: str, hit: bool) -> None:
    assert matches(regexp, text) is hit
    assert matcher([regexp])(text) == [0] * hit


@given(st.lists(st.sampled_from(["a", "^b", "c$", "[ab]+$", "", "a.c"]), max_size=6), st.text("abc", max_size=5))
def test_a_set_answers_as_each_alone(regexps: list[str], text: str) -> None:
    alone = [at for at, regexp in enumerate(regexps) if matches(regexp, text)]
    assert sorted(matcher(regexps)(text)) == alone
    with patch("re2.Set.SearchSet", return_value=_Silent()):
        assert matcher(regexps)(text) == alone


class _Silent:
    """A set that ran out of memory."""

    def Add(self, regexp: str) -> int:
        return len(regexp)

    def Compile(self) -> None:
        pass

    def Match(self, text: str) -> list[int]:
        return []


@given(st.text(alphabet="ab()[]|*+?\\^$.{}1,:P<>Q", max_size=12))
def test_any_regexp_compiles_or_has_a_reason(regexp: str) -> None:
    reason = refusal(regexp)
    assert reason is None or (reason.is_of_go and reason.message.startswith("error parsing regexp: "))
    assert "".join(token.text for token in tokens(regexp)) == regexp


def test_a_backtracking_trap_is_answered() -> None:
    """Python's `re` would be at it until the end of days."""
    assert resolve(module({"regexp": "^(a+)+$"}), "a" * 50_000 + "b").mapping is None


# What nobody's kernel needs.


def lints(manifest: dict[str, Any]) -> list[Result]:
    return list(mapping_lints.check(Module(manifest), ["5.14.0-503.el9.x86_64"]))


@pytest.mark.parametrize(
    ("regexps", "refused"),
    [
        ([rf"^\pL{{{1000 - at}}}$" for at in range(64)], 64),
        (["^" + "a|" * 500_000 + "$"], 1),
        (["^" + "(" * 500 + "a" + ")" * 500 + "$"], 0),
        (["(" * 500 + "^a$" + ")" * 500], 0),
        (["(" * 900 + "a|b" + ")" * 900], 0),
    ],
    ids=["costly", "long", "nested", "nested round the anchors", "nested deeper"],
)
def test_costly_regexps_cost_little(regexps: list[str], refused: int) -> None:
    """Compiled as Go would, the first of these take half a minute and a gigabyte."""
    manifest = module(*({"regexp": regexp, "containerImage": "i:1"} for regexp in regexps))
    results = [*lints(manifest), *loader.check(Module(manifest))]
    assert [finding.rule for finding in results if finding.severity == "error"] == ["KRM216"] * refused
    assert all("too large to be judged" in finding.message for finding in results if finding.rule == "KRM216")
    if refused:
        with pytest.raises(KrmfnError, match=r"the regexp .* is too large to be judged") as failure:
            resolve(manifest, "5.14.0-503.el9.x86_64")
        assert len(str(failure.value)) < 1000
    else:
        resolve(manifest, "5.14.0-503.el9.x86_64")


def test_regexps_that_are_too_large_together_are_matched_one_by_one() -> None:
    regexps = [rf"^{at}\pL{{8}}x$" for at in range(300)]
    matching = matcher(regexps)
    assert matching.__name__ == "match_each"
    assert matching("299abcdefghx") == [299]


def test_twenty_thousand_mappings_are_judged() -> None:
    manifest = module(*({"literal": f"5.14.{at}", "containerImage": "i:1"} for at in range(20_000)))
    assert lints(manifest) == []


SIMPLE = regexps._is_simple.__self__.pattern  # type: ignore[attr-defined]


@given(st.from_regex(rf"\A(?:{SIMPLE})\Z").filter(lambda text: len(text) <= regexps._SHORT))
@example("(" + ".+" * 127 + ")")
@example("(.+)" * 64)
@example(r"^.*\.el\d+(_\d+)?\..*$")
def test_a_simple_regexp_needs_no_engine(regexp: str) -> None:
    assert refusal(regexp) is regexps._refusal(regexp) is None


@pytest.mark.parametrize("regexp", sorted(EVERY_KERNEL))
def test_what_takes_every_kernel_compiles_and_does(regexp: str) -> None:
    assert regexps._refusal(regexp) is None
    assert all(matches(regexp, kernel) for kernel in (KERNEL, "6", "a~b"))


def test_a_simple_regexp_does_not_load_the_engine() -> None:
    code = (
        "import sys; from krmfn_functions.kmm import regexps\n"
        r"assert regexps.refusal(r'^.*\.el\d+(_\d+)?\..*$') is None; assert 're2' not in sys.modules" + "\n"
        "assert regexps.refusal('[') and 're2' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
