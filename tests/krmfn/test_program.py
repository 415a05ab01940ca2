"""Functions with a config: what they read, what they refuse, and what they say of themselves."""

from __future__ import annotations

import json
import subprocess
import sys
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

import krmfn
from krmfn import Doc, Refused, ResourceList, Rest, about, error, function, info
from krmfn.program import KrmFunction, Run
from krmfn.schema import check
from krmfn.yamltext import emit, load

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
POD = """\
- apiVersion: v1
  kind: Pod
  metadata:
    name: web
    annotations:
      internal.config.kubernetes.io/path: pods/web.yaml
  spec:
    containers:
    - name: app
      image: app:1 # kpt-set: app
"""


@dataclass(frozen=True)
class Extra:
    path: str
    create: bool = False


@dataclass(frozen=True)
class SetImage:
    """Set an image by its name."""

    name: Annotated[str, Doc("image without tag")]
    new_tag: Annotated[str, Doc("what stands behind the colon")] = ""
    most: int = 10
    ratio: float = 1.5
    dry: bool = False
    mode: Literal["all", "first"] = "all"
    extra: list[Extra] = field(default_factory=list)
    note: str | None = None

    def __post_init__(self) -> None:
        if self.name == self.new_tag:
            raise ValueError("name and newTag must differ")


@function(config=SetImage, group="fn.example.com", version="v1")
def set_image(resources: ResourceList, config: SetImage) -> None:
    """Set images."""
    seen.append(config)
    for item in resources.where(kind=("Pod", "Deployment"), local=False):
        for image in item.each("spec.**.containers[*].image"):
            image.value = f"{config.name}:{config.new_tag}"
            resources.report(info("image set", at=image))


@dataclass
class Labels:
    labels: Annotated[dict[str, str], Rest()] = field(default_factory=dict)


@function(config=Labels, group="fn.example.com", fields="top", kind=("SetLabels", "Legacy"))
def label(resources: ResourceList, config: Labels) -> None:
    seen.append(config)


seen: list[Any] = []


def ran(program: KrmFunction[Any], config: str) -> Run:
    seen.clear()
    return program.run((HEAD + POD + (f"functionConfig:\n{config}" if config else "")).encode())


def custom(spec: str, kind: str = "SetImage", version: str = "fn.example.com/v1") -> str:
    return f"  apiVersion: {version}\n  kind: {kind}\n  metadata: {{name: c}}\n{spec}"


def config_map(data: str) -> str:
    return f"  apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: c}}\n  data: {data}\n"


def test_an_own_kind_and_a_config_map_are_read_into_the_same_values() -> None:
    spec = '{name: app, newTag: "2", most: 3, ratio: 2, dry: true, mode: first, extra: [{path: a, create: true}]}'
    done = ran(set_image, custom(f"  spec: {spec}\n"))
    assert done.code == 0, done.stderr
    texts = (
        '{name: app, new-tag: "2", most: "3", ratio: "2", dry: "true", mode: first, extra: "[{path: a, create: true}]"}'
    )
    first = seen[0]
    assert ran(set_image, config_map(texts)).output.startswith(done.output.partition(b"functionConfig")[0])
    assert seen == [first]
    assert first == SetImage("app", "2", 3, 2.0, True, "first", [Extra("a", True)])
    assert type(first.ratio) is float


def test_a_finding_at_a_field_names_resource_field_and_path() -> None:
    done = ran(set_image, config_map('{name: app, newTag: "2"}'))
    assert b"      image: app:2 # kpt-set: app\n" in done.output
    assert [result.to_manifest() for result in done.results] == [
        {
            "message": "image set",
            "severity": "info",
            "resourceRef": {"apiVersion": "v1", "kind": "Pod", "name": "web"},
            "field": {"path": "spec.containers[0].image", "currentValue": "app:2"},
            "file": {"path": "pods/web.yaml", "index": 0},
        }
    ]


WRONG = {
    "": "the functionConfig is missing; pass SetImage (fn.example.com/v1) or a ConfigMap (v1)\n",
    custom("  spec: {}\n"): "spec.name: is required: image without tag",
    custom(""): "spec.name: is required: image without tag",
    custom("  spec: 1\n"): "spec: must be a mapping",
    custom("  spec: {name: a, newtag: b}\n"): "spec.newtag: unknown field 'newtag'; did you mean 'newTag'?",
    custom("  spec: {name: a, x/y: b}\n"): "spec[x/y]: unknown field 'x/y'; known here",
    custom("  spec: {name: 1}\n"): 'spec.name: is the number 1; must be a string; write it in quotes, "1"',
    custom("  spec: {name: a, mode: last}\n"): "spec.mode: is 'last'; must be one of 'all', 'first'",
    custom("  spec: {name: a, extra: [{}]}\n"): "spec.extra[0].path: is required",
    custom("  spec: {name: a, newTag: a}\n"): "name and newTag must differ",
    custom("  spec: {name: a}\n", kind="SetImages"): "or a ConfigMap (v1), not SetImages",
    custom("  spec: {name: a}\n", version="example.com/v1"): "must be SetImage",
    config_map("{name: a, most: many}"): "data.most: is the string 'many'; must be a whole number",
    config_map('{name: a, dry: "yes"}'): "data.dry: is the string 'yes'; must be true or false",
    config_map("{name: a, new_tags: b}"): "data.new_tags: unknown field 'new_tags'; did you mean 'newTag'?",
    config_map("{name: a, extra: '[a: b: c'}"): "data.extra",
    custom("  spec: {name: a}\n  most: 3\n"): "most: is not read: only what is below spec is; move it there if",
    custom("  spec: {name: a}\n  data: {}\n"): "data: is not read: only what is below spec is",
    custom("  name: a\n"): "name: is not read: only what is below spec is",
    config_map("{name: a}") + "  spec: {most: 3}\n": "spec: is not read: only what is below data is",
    custom("  spec: {name: a}\n", version="fn.example.com/v2"): ": must be fn.example.com/v1, not fn.example.com/v2",
}


@pytest.mark.parametrize("config", WRONG)
def test_what_is_wrong_with_the_config_is_found_and_nothing_else_happens(config: str) -> None:
    done = ran(set_image, config)
    assert (done.code, seen) == (1, [])
    assert done.output.startswith((HEAD + POD).encode())
    assert WRONG[config] in done.stderr
    assert all(result.severity == "error" for result in done.results)
    names = {(result.ref.kind, result.ref.name) for result in done.results if result.ref}
    assert names <= {("ConfigMap", "c"), ("SetImage", "c"), ("SetImages", "c")}


def test_the_place_of_the_config_is_that_of_its_file() -> None:
    text = custom("  spec: {}\n").replace(
        "{name: c}", "{name: c, annotations: {internal.config.kubernetes.io/path: fn.yaml}}"
    )
    assert ran(set_image, text).stderr.startswith("fn.yaml: error: SetImage c: spec.name: is required")


def test_the_rest_of_a_config_map_is_one_field() -> None:
    assert ran(label, config_map("{a-b: c, labels: d}")).code == 0
    assert seen == [Labels({"a-b": "c", "labels": "d"})]
    for kind in ("SetLabels", "Legacy"):
        assert ran(label, custom("  labels: {a: b}\n", kind, "fn.example.com/v1alpha1")).code == 0
        assert seen == [Labels({"a": "b"})]
    done = ran(label, custom("  label: {a: b}\n", "SetLabels", "fn.example.com/v1alpha1"))
    assert "label: unknown field 'label'; did you mean 'labels'?" in done.stderr


def test_without_a_config_defaults_are_taken() -> None:
    assert ran(label, "").code == 0
    assert seen == [Labels()]


@pytest.mark.parametrize("raised", [Refused("not so", at=None), krmfn.KrmfnError("not so")])
def test_a_refusal_is_an_error_result_over_the_untouched_input(raised: Exception) -> None:
    @function
    def refuse(resources: ResourceList) -> None:
        resources.items[0]["metadata.name"] = "other"
        raise raised

    done = refuse.run((HEAD + POD).encode())
    assert (done.code, done.stderr) == (1, "error: not so\n")
    assert done.output == (HEAD + POD + "results:\n- message: not so\n  severity: error\n").encode()


def test_a_refusal_at_a_field_names_it() -> None:
    @function
    def refuse(resources: ResourceList) -> None:
        raise Refused("too old", at=resources.items[0].at("spec.containers[0].image"))

    done = refuse.run((HEAD + POD).encode())
    assert done.stderr == "pods/web.yaml: error: Pod web: spec.containers[0].image: too old\n"


def test_a_finding_with_a_field_and_no_resource_is_a_bug() -> None:
    @function
    def wrong(resources: ResourceList) -> None:
        resources.report(error("no", field=krmfn.Field("spec")))

    with pytest.raises(ValueError, match="a finding about spec names no resource; pass at=field"):
        wrong.run((HEAD + POD).encode())


@pytest.mark.parametrize("program", [set_image, label])
def test_the_example_fits_the_schema_and_is_taken(
    program: KrmFunction[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    answers = {}
    for arg in ("--example", "--schema", "--metadata", "--help", "--version"):
        with pytest.raises(SystemExit) as ended:
            program.main([arg])
        assert ended.value.code == 0
        answers[arg] = capsys.readouterr().out
    example = load.read(answers["--example"].encode())
    assert check(example, json.loads(answers["--schema"])) == []
    assert ran(program, emit.dump(example, 2)).code == 0
    assert load.read(answers["--metadata"].encode())["image"] == f"example.com/{program.name}"
    assert program.doc in answers["--help"]
    assert answers["--version"] == f"{program.name} dev\n"


def test_help_names_every_field() -> None:
    from krmfn.about import text

    lines = text(set_image).split("\n")
    assert ["name", "string", "image", "without", "tag", "(required)"] in [line.split() for line in lines]
    assert ["most", "integer", "(default:", "10)"] in [line.split() for line in lines]


@pytest.mark.parametrize("args", [["--helo"], ["--help", "x"], ["--dry-run"], [""]])
def test_an_unknown_argument_is_an_error(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        set_image.main(args)
    assert ended.value.code == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: unknown argument")


FILE = """\
from dataclasses import dataclass
from krmfn import ResourceList, function

@dataclass
class Name:
    name: str

@function(config=Name, group="fn.example.com")
def rename(resources: ResourceList, config: Name) -> None:
    for item in resources.items:
        item.name = config.name

if __name__ == "__main__":
    rename.main()
"""


def test_a_file_is_a_program(tmp_path: Path) -> None:
    path = tmp_path / "rename.py"
    path.write_text(FILE)
    text = HEAD + POD + "functionConfig:\n" + config_map("{name: shop}")
    done = subprocess.run([sys.executable, path], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "updated 1 Pod\n")
    assert done.stdout == text.replace("name: web\n", "name: shop\n")
    bad = subprocess.run([sys.executable, path], input="", capture_output=True, text=True, check=False)
    assert (bad.returncode, bad.stdout) == (1, "")
    assert bad.stderr.startswith("error: stdin is empty")


def test_a_config_s_field_has_a_type_that_yaml_has() -> None:
    @dataclass
    class Odd:
        when: complex

    with pytest.raises(TypeError, match=r"^Odd\.when: .*complex'> cannot be the type of a config's field"):
        function(config=Odd, group="fn.example.com")(lambda resources, config: None)
    with pytest.raises(TypeError, match="is no dataclass; put @dataclass"):
        function(config=str, group="fn.example.com")(lambda resources, config: None)


@dataclass
class Rule:
    path: Annotated[str, Doc("where it holds")]
    strict: bool = False


def test_help_says_types_choices_and_what_is_below() -> None:
    @dataclass
    class Shown:
        rules: list[Rule]
        answer: Literal["deny", "warn"] = "deny"
        notes: dict[str, int] = field(default_factory=dict)
        more: list[str] | None = None

    shown: Any = function(config=Shown, group="fn.example.com", name="show")(lambda resources, config: None)
    lines = [" ".join(line.split()) for line in about.text(shown).split("\n")]
    assert lines[7:14] == [
        "functionConfig: Shown (fn.example.com/v1alpha1) or a ConfigMap (v1)",
        "",
        "rules list of mapping (required)",
        "rules[].path string where it holds (required)",
        "rules[].strict boolean (default: false)",
        "answer deny | warn (default: deny)",
        "notes map of integer",
    ]
    assert lines[14] == "more list of string | null"
    assert shown.name == "show"


def test_krmfn_has_no_other_names() -> None:
    assert [name for name in krmfn.__all__ if not getattr(krmfn, name)] == []
    with pytest.raises(AttributeError, match="module 'krmfn' has no attribute 'functio'"):
        _ = getattr(krmfn, "functio")  # noqa: B009 - mypy knows that it is not there


def test_a_function_without_a_config_has_no_schema_and_no_example(capsys: pytest.CaptureFixture[str]) -> None:
    @function
    def validate(resources: ResourceList) -> None:
        """Look."""

    for arg in ("--schema", "--example"):
        with pytest.raises(SystemExit):
            validate.main([arg])
        assert capsys.readouterr().err.startswith(f"error: unknown argument '{arg}'; take a folder, or one of --help, ")
    with pytest.raises(SystemExit):
        validate.main(["--help"])
    assert "functionConfig" not in capsys.readouterr().out


@dataclass
class Perhaps:
    text: str | None = None
    number: int | None = None
    switch: bool | None = None
    ratio: float | None = None
    names: list[str] | None = None


@function(config=Perhaps, group="fn.example.com")
def perhaps(resources: ResourceList, config: Perhaps) -> None:
    seen.append(config)


def test_a_config_map_gives_what_may_be_none() -> None:
    done = ran(perhaps, config_map('{text: "1", number: "2", switch: "true", ratio: "1.5", names: "[a, b]"}'))
    assert (done.code, seen) == (0, [Perhaps("1", 2, True, 1.5, ["a", "b"])])
    assert "data.number: is the string 'x'" in ran(perhaps, config_map('{number: "x"}')).stderr


def test_a_status_and_an_immutable_config_map_are_no_fields() -> None:
    assert ran(set_image, custom("  spec: {name: a}\n  status: {}\n")).code == 0
    assert ran(set_image, config_map("{name: a}") + "  immutable: true\n").code == 0


def test_a_function_returns_nothing() -> None:
    def answers(resources: ResourceList) -> Any:
        resources.items[0].name = "x"
        return [error("lost")]

    def yields(resources: ResourceList) -> Any:
        yield error("lost")

    for call, kind in ((answers, "list"), (yields, "generator")):
        configured = copy(label)
        configured.call = lambda listed, _, call=call: call(listed)
        for program in (function(call), configured):
            done = program.run((HEAD + POD).encode())
            assert (done.code, done.output.startswith((HEAD + POD).encode())) == (1, True)
            assert f"the function returns a {kind}; it must neither return nor yield: report() adds" in done.stderr


def test_a_severity_that_is_none_is_a_bug() -> None:
    odd: Any = "fatal"
    with pytest.raises(ValueError, match="'fatal' is no severity; take error, warning or info"):
        ResourceList().report(krmfn.Result("no", odd))
