"""The rules about Modules by their examples: each is reached, and no walk leaves out a rule that would fire."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from krmfn_functions.kmm.lints import (
    image_lints,
    in_tree_lints,
    mapping_lints,
    module_lints,
    neighbours,
    regexp_lints,
    section_lints,
)
from krmfn_functions.kmm.module import EVERY_KERNEL, HUB_KIND, KERNEL_VARIABLES, VARIABLES, Module, module_of
from krmfn_functions.kmm.rules import RULES
from krmfn_functions.kmm.versions import DEFAULT, TARGETS, Target, target
from krmfn_functions.kmm.webhook import admission, decoding, kernel_modules, loader, plugins, sign, tolerations
from krmfn_functions.rendering import module_checks
from krmfn_functions.rule import Rule, apply

from krmfn import Manifest, Result
from tests.builders import edited, leaves
from tests.rule_examples import documents

KERNELS = ["5.14.0-503.el9.x86_64", "6.1.0-13-amd64"]


def parts(rule: Rule, example: str) -> tuple[str, list[Manifest]]:
    """Return the KMM version of an example, and its Modules as they are written, an old one before the new one."""
    version, modules = DEFAULT, []
    for document in documents(example, rule.id):
        manifest: Manifest = yaml.safe_load(document.text)
        if manifest["kind"] in ("Module", HUB_KIND):
            modules.append(manifest)
        else:
            version = str(manifest["spec"]["kmm"]["version"])
    return version, modules


def judged(rule: Rule, example: str) -> list[Result]:
    """Return what is found by the function that answers for such an example."""
    version, manifests = parts(rule, example)
    modules = [Module(manifest) for manifest in manifests]
    if manifests[0]["kind"] == HUB_KIND:
        brought = module_of(manifests[0])
        return module_checks.of_hub(manifests[0], brought, version) if brought else []
    if rule.id == "KMM002":
        return list(apply(admission.UPDATE_RULES, *modules))
    return neighbours.check(modules) if rule in neighbours.RULES else module_checks.of_written(modules[0], version)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_bad_example_is_reached_and_the_good_one_is_fine(rule: Rule) -> None:
    assert rule.id in [finding.rule for finding in judged(rule, rule.bad)]
    good = judged(rule, rule.good)
    assert [finding for finding in good if finding.rule == rule.id or finding.severity == "error"] == []


# The walks load the rules about a part only for a Module that has the part. Here every rule is asked.


def asked_by_the_webhook(module: Module, kmm: Target) -> Iterator[Result]:
    yield from decoding.check(module)
    yield from apply(admission.NAME_RULES, module, kmm)
    yield from tolerations.check(module, kmm)
    if kmm.host_paths:
        yield from plugins.check(module, kmm)
    yield from loader.check(module)
    yield from kernel_modules.check(module, kmm)
    if kmm.sign_files:
        yield from sign.check(module)


def asked_by_lints(module: Module, kmm: Target) -> Iterator[Result]:
    yield from apply(module_lints.RULES, module)
    yield from apply(section_lints.RULES, module, kmm, ())
    yield from in_tree_lints.check(module)
    yield from mapping_lints.check(module, KERNELS)
    yield from image_lints.check(module)


def bare(findings: Any) -> list[Result]:
    return [
        finding._replace(ref=None, tags=tuple(tag for tag in finding.tags if tag[0] != "first")) for finding in findings
    ]


def compare(manifest: Manifest, version: str) -> None:
    module, kmm = Module(manifest), target(version)
    assert bare(admission.check(module, version)) == bare(asked_by_the_webhook(module, kmm))
    assert bare(module_lints.check(module, version, KERNELS)) == bare(asked_by_lints(module, kmm))


EXAMPLES = [(rule, example) for rule in RULES for example in (rule.good, rule.bad)]
MODULES = [manifest for rule, example in EXAMPLES for manifest in parts(rule, example)[1]]


@pytest.mark.parametrize("version", TARGETS)
def test_the_walks_leave_nothing_out_of_an_example(version: str) -> None:
    for manifest in MODULES:
        compare(manifest, version)


def over(base: Any, other: Any) -> Any:
    """Return two Modules laid over each other, their lists joined."""
    if isinstance(base, dict) and isinstance(other, dict):
        return {**base, **{key: over(base[key], value) if key in base else value for key, value in other.items()}}
    return [*base, *other] if isinstance(base, list) and isinstance(other, list) else other


JUNK: Any = st.sampled_from([None, 3, 1.5, True, "", "x", [], {}, [None], ["x"], [[]], {"a": None}, {"a": []}])
VALUES: Any = st.one_of(JUNK, st.sampled_from([value for manifest in MODULES for _, value in leaves(manifest)]))


@st.composite
def modules(draw: Any) -> Manifest:
    """Draw a Module of several examples, in which some fields hold something else, or a branch is cut short."""
    manifest: Any = copy.deepcopy(draw(st.sampled_from(MODULES)))
    for other in draw(st.lists(st.sampled_from(MODULES), max_size=4)):
        manifest = over(manifest, copy.deepcopy(other))
    for _ in range(draw(st.integers(0, 3))):
        path, _ = draw(st.sampled_from([leaf for leaf in leaves(manifest) if leaf[0]] or [(("spec",), None)]))
        manifest = edited(manifest, (path[: draw(st.integers(1, len(path)))], draw(VALUES)))
    return manifest  # type: ignore[no-any-return]


@given(modules(), st.sampled_from([*TARGETS]))
def test_the_walks_leave_nothing_out(manifest: Manifest, version: str) -> None:
    compare(manifest, version)


TEXTS = st.text(alphabet="$${}AB_:-+=@/.xKERNL1", max_size=12) | st.lists(
    st.sampled_from(["$", "{", "}", ":", "@", "/", "-", ":-", "x", "latest", *VARIABLES, "KERNEL_"]), max_size=8
).map("".join)


@example("$MOD_NAME:1", VARIABLES, False, "gpu")
@example("x:${MOD_NAMESPACE}", VARIABLES, False, "gpu")
@given(TEXTS, st.sampled_from([(), KERNEL_VARIABLES, VARIABLES]), st.booleans(), st.sampled_from(["", "gpu", "a.b"]))
def test_an_image_is_judged_as_if_no_equal_one_had_been(
    text: str, known: tuple[str, ...], is_for_all: bool, name: str
) -> None:
    template = image_lints.Template(text, known, takes_every_kernel=is_for_all)
    fresh = image_lints._findings.__wrapped__(template, name or "x", name or "x")
    assert [finding._replace(field=None) for finding in image_lints._located("p", template, name, name)] == list(fresh)


def test_every_rule_is_in_one_file_that_a_walk_asks() -> None:
    files = [decoding, admission, tolerations, plugins, loader, kernel_modules, sign]
    files += [module_lints, section_lints, mapping_lints, regexp_lints, image_lints, neighbours]
    rules = [rule for file in files for rule in file.RULES]
    assert [rule for rule in RULES if rule.id < "KMM05" or rule.id == "KMM084" or rule.id.startswith("KRM")] == rules
    assert EVERY_KERNEL


_PATCH = re.compile(r"(\d+\.\d+)\.\d+")
"""A patch release of OpenShift's fork that a sentence names, without the number of the patch."""
_SINCE = re.compile(r"KMM (\d+\.\d+)\+|(all) KMM versions|after KMM (\d+\.\d+)")


@pytest.mark.parametrize("rule", [rule for rule in RULES if _SINCE.search(rule.sentence)], ids=lambda rule: rule.id)
def test_a_sentence_says_for_which_versions_a_rule_holds(rule: Rule) -> None:
    """A rule that ends names its last version, too: `(KMM 1.1 to 2.6)`."""
    matches = list(_SINCE.finditer(rule.sentence))
    match = next((match for match in matches if not match[3]), matches[0])
    numbers = {name: name.removeprefix("openshift-") for name in TARGETS}
    backports = {f"openshift-{number}" for number in _PATCH.findall(rule.sentence)}
    names = [name for name, text in numbers.items() if match[2] or not text[0].isdigit() or _is_in(text, match)]
    names = [name for name in TARGETS if name in {*names, *backports}]
    _, (*_, manifest) = parts(rule, rule.bad)
    if rule.id != "KMM002":  # which is about a change
        results = {name: module_checks.of_written(Module(manifest), name) for name in TARGETS}
        judging = [name for name in TARGETS if rule.id in {result.rule for result in results[name]}]
        # what is "after" a version is main's: the next version need not have it yet
        is_right = judging == names or (match[3] and "main" in judging and {*judging} <= {*names})
        assert is_right, f"the sentence of the rule says {names}, and {judging} have it"


def _is_in(name: str, match: re.Match[str]) -> bool:
    version, since = (tuple(map(int, text.split("."))) for text in (name, match[1] or match[3]))
    return version > since or (bool(match[1]) and version == since)
