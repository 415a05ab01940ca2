"""A Profile is checked without any config: with its defaults, each option, each `when`, and pairs of these."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
import yaml
from krmfn_functions.all_kinds import krmfn
from krmfn_functions.deviceconfig import profiles
from krmfn_functions.profile.samples import sample
from krmfn_functions.settings import CHECK, Settings

from krmfn import Manifest
from tests.builders import applied, edited
from tests.commands import Done, process
from tests.functions.profile.schemas import judged
from tests.functions.profile.vendor import PROFILE, options, profile

PLUGIN = "{devicePlugin: {image: 'registry.example.com/amd/plugin:1'}}"


def checked(tmp_path: Path, product: Manifest | str) -> Done:
    """Return what `check` says of a Profile alone."""
    text = product if isinstance(product, str) else yaml.safe_dump(product)
    (tmp_path / "profile.yaml").write_text(text)
    return process("krmfn", "check", str(tmp_path / "profile.yaml"))


def with_options(schemas: str, config: str) -> Manifest:
    """Return the Profile with more options, and more fields in its config."""
    product: Manifest = yaml.safe_load(PROFILE)
    product["spec"]["schema"]["properties"]["spec"]["required"] = ["driver"]
    options(product).update(yaml.safe_load(schemas))
    product["spec"]["config"] |= yaml.safe_load(config)
    return product


@pytest.mark.parametrize(
    ("schemas", "config", "words"),
    [
        ("{a: {type: string}}", "{serviceAccountName: '${spec.a}'}", ""),
        ("{a: {type: string, pattern: '^v[0-9]$'}}", "{dirName: '${spec.a}'}", ""),  # x is a made sample, and no path
        ("{a: {type: string, enum: [x, /y]}}", "{dirName: '${spec.a}'}", "spec.schema.properties.spec.properties.a: "),
        ("{a: {type: string, default: x}}", "{dirName: '${spec.a}'}", "spec.config.dirName: "),
        ("{a: {type: string, maxLength: 1, default: xy}}", "{dirName: '/${spec.a}'}", "breaks its own schema"),
        ("{a: {type: array, items: {type: string}}}", "{unloadArgs: '${spec.a}', rawLoadArgs: [x]}", "rawLoadArgs"),
        ("{a: {type: string}}", "{x: '${spec.a}'}", "spec.config.x: "),  # whatever the option holds
        ("{a: {type: string}}", "{allNodes: '${spec.a}'}", "spec.config.allNodes: "),
        ("{a: {type: object}}", "{tolerations: [{key: '${spec.a}'}]}", "spec.config.tolerations[0].key: "),
    ],
)
def test_each_option_alone(tmp_path: Path, schemas: str, config: str, words: str) -> None:
    done = checked(tmp_path, with_options(schemas, config))
    assert (done.code, words in done.text) == (int(bool(words)), True), done.text


@pytest.mark.parametrize(("condition", "code"), [("{spec.b: true}", 1), ("{spec.b: true, spec.a: false}", 0)])
def test_two_whens_that_set_one_field(tmp_path: Path, condition: str, code: int) -> None:
    product = with_options("{a: {type: boolean, default: false}, b: {type: boolean}}", PLUGIN)
    in_tree = {"if": {"spec.a": True}, "config": {"inTreeDriver": True}, "unset": ["moduleName", "parameters"]}
    other = {"moduleName": "gim", "kernelMappings": [{"regexp": "^6", "image": "x/y:1-$KERNEL_FULL_VERSION"}]}
    product["spec"]["when"] += [in_tree, {"if": yaml.safe_load(condition), "config": other}]
    done = checked(tmp_path, product)
    assert (done.code, "inTreeDriver and kernelMappings exclude" in done.text) == (code, bool(code)), done.text


@pytest.mark.parametrize("is_one_option", [False, True])
def test_of_a_thousand_pairs_the_rest_is_counted(tmp_path: Path, is_one_option: bool) -> None:
    product = with_options("{a: {type: string}, b: {type: object, additionalProperties: true}}", PLUGIN)
    conditions = [{"spec.a": f"x{at}"} if is_one_option else {f"spec.b.x{at}": True} for at in range(46)]
    whens = [{"if": condition, "config": {"nodeSelector": {"z": f"x{at}"}}} for at, condition in enumerate(conditions)]
    done = checked(tmp_path, edited(product, ("spec.when", whens)))
    assert "spec.when[37]: from this `when` on, 35 pairs of" in done.text or is_one_option, done.text
    assert ("not tried" in done.text) is not is_one_option, done.text


def test_what_no_option_gives_is_an_error(tmp_path: Path) -> None:
    product = profile("    moduleName: amd_gpu\n", "")
    text = checked(tmp_path, product).ended(1).text
    assert "spec.config: the kernel module's name is missing" in text
    assert "so no config of this Profile is right" in text
    del product["spec"]["for"]  # a DeviceConfig may write it
    checked(tmp_path, product).ended(0)


@pytest.mark.parametrize(("name", "code"), [("moduleName", 1), ("nodeSelector", 1), ("parameters", 0)])
def test_a_when_that_unsets_what_is_needed_is_an_error_where_it_does(tmp_path: Path, name: str, code: int) -> None:
    done = checked(tmp_path, f"{PROFILE}  - if: {{spec.exporter.level: bare}}\n    unset: [{name}]\n")
    finding = "profile.yaml:51:5: error: Profile amd-gpu: spec.when[1].unset: "
    assert (done.code, finding in done.text) == (code, bool(code))


@pytest.mark.parametrize("when", ["", "  - if: {spec.exporter.level: bare}\n    unset: [driverVersion]\n"])
def test_an_image_that_is_made_up_may_have_a_tag(tmp_path: Path, when: str) -> None:
    product = with_options("{}", PLUGIN)
    if not when:
        product["spec"]["config"].pop("driverVersion")
    product["spec"]["when"] += yaml.safe_load(when) or []
    checked(tmp_path, product).ended(0)


@pytest.mark.parametrize("is_sound", [True, False])
def test_texts_are_replaced_once_for_one_error(monkeypatch: pytest.MonkeyPatch, is_sound: bool) -> None:
    trials, judge = count(1), profiles.judge
    monkeypatch.setattr(profiles, "judge", lambda *args: (next(trials), judge(*args))[1])
    names = [f"r{at}" for at in range(20)]
    product = with_options(f"{{{', '.join(f'{name}: {{type: string}}' for name in names)}}}", PLUGIN)
    product["spec"]["schema"]["properties"]["spec"]["required"] += names
    product["spec"]["config"].pop("driverVersion" if is_sound else "moduleName")  # a made image has no tag, then
    product["spec"]["when"] += [{"if": {"spec.exporter.port": at}, "unset": ["parameters"]} for at in range(1, 21)]
    assert applied(krmfn, product, settings=Settings(CHECK)).failed is not is_sound
    assert 40 < next(trials) < 120, "not twenty for each of those"


@pytest.mark.parametrize(("most", "options", "whens", "finding"), [
    (100, 90, 9, ""),
    (1000, 900, 100,
     "spec.schema.properties.spec.properties.o899: not tried: from here on 1 option, since at most 1,000"),
    (100, 130, 0, "spec.schema.properties.spec.properties.o99: not tried: from here on 31 options, since at most 100"),
    (100, 9, 110, "spec.when[99]: not tried: from here on 11 `when`s and 9 options, since at most 100"),
])  # fmt: skip
def test_at_most_a_thousand_options_are_tried_and_the_rest_is_said(
    monkeypatch: pytest.MonkeyPatch, most: int, options: int, whens: int, finding: str
) -> None:
    trials, judge = count(1), profiles.judge
    monkeypatch.setattr(profiles, "judge", lambda *args: (next(trials), judge(*args))[1])
    if most < 1000:  # what is said is the same of any number, and a thousand trials take long
        monkeypatch.setattr("krmfn_functions.deviceconfig.trials._MOST", most)
    schema = {"type": "object", "properties": {f"o{at}": {"type": "string"} for at in range(options)}}
    product = with_options("{a: {type: string}}", PLUGIN)
    product["spec"]["schema"]["properties"]["spec"] = schema
    product["spec"] |= {
        "config": {"driverImage": "r/x:1", "moduleName": "x", "nodeSelector": {"a": "b"}},
        "when": [{"if": {"spec.o1": f"a{at}"}, "config": {"nodeSelector": {"z": "x"}}} for at in range(whens)],
    }
    for unused in ("texts", *(() if whens else ("when",))):
        del product["spec"][unused]
    findings = applied(krmfn, product, settings=Settings(CHECK)).results
    assert next(trials) - 1 <= most
    said = [f"{f.field.path}: {f.text}" for f in findings if f.field and "not tried: " in f.text]
    assert [line[: len(finding)] for line in said] == [finding] * bool(finding)


def test_of_a_large_profile_fewer_options_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    trials, judge = count(1), profiles.judge
    monkeypatch.setattr(profiles, "judge", lambda *args: (next(trials), judge(*args))[1])
    product = with_options("{a: {type: string}}", PLUGIN)
    properties = {f"o{at}": {"type": "string", "description": "x" * 2_000} for at in range(1_000)}
    product["spec"]["schema"]["properties"]["spec"] = {"type": "object", "properties": properties}
    product["spec"]["config"] = {"driverImage": "r/x:1", "moduleName": "x", "nodeSelector": {"a": "b"}}
    del product["spec"]["texts"], product["spec"]["when"]
    findings = applied(krmfn, product, settings=Settings(CHECK)).results
    assert next(trials) - 1 < 100, "each trial renders two megabytes"
    assert [f.text for f in findings if f.rule == "KRM180"] == [
        "not tried: from here on 905 options, since at most 96 are tried, the least first"
    ]


OPEN = "x: {type: object, x-kubernetes-preserve-unknown-fields: true}"


def test_what_reads_an_open_object_is_not_tried(tmp_path: Path) -> None:
    """It was said that no config is right: the name was missing from each that was tried."""
    product = with_options(f"{{{OPEN}}}", "{moduleName: '${spec.x.name}', dirName: '${spec.x.folder}'}")
    (finding,) = [line for line in checked(tmp_path, product).ended(0).text.splitlines() if "KRM180]" in line]
    words = "2 options that the schema says nothing about cannot be tried (the first: spec.x.folder)"
    assert f"info: Profile amd-gpu: spec.config.dirName: {words}; all that was tried has KRM121 [KRM180]" in finding


@pytest.mark.parametrize("words", ["x-kubernetes-preserve-unknown-fields: true", "additionalProperties: true"])
def test_an_open_object_that_is_read_as_a_whole_is_tried(tmp_path: Path, words: str) -> None:
    product = with_options(f"{{x: {{type: object, {words}}}}}", "{labels: '${spec.x}'}")
    assert "KRM180" not in checked(tmp_path, product).ended(0).text


def test_the_least_options_may_run_nothing(tmp_path: Path) -> None:
    """What runs is chosen by options that are off by default."""
    options = "{a: {type: boolean, default: false}, b: {type: boolean, default: false}}"
    product = with_options(options, "{inTreeDriver: true, parameters: null}")
    for name in ("moduleName", "parameters", "driverImage", "driverVersion"):
        del product["spec"]["config"][name]
    product["spec"]["config"]["daemonSets"] = [
        {"name": name, "image": "x/y:1", "enabled": f"${{spec.{name}}}"} for name in "ab"
    ]
    del product["spec"]["when"], product["spec"]["texts"]
    ignored = ["spec.driver.image", "spec.driver.version", "spec.driver.parameters", "spec.exporter"]
    product["spec"]["ignored"] = dict.fromkeys(ignored, "not here")
    assert "error" not in checked(tmp_path, product).ended(0).text.replace("no errors", "")
    product["spec"]["config"]["daemonSets"] = []
    product["spec"]["ignored"] |= {"spec.a": "not here", "spec.b": "not here"}
    text = checked(tmp_path, product).ended(1).text
    assert (
        "nothing would run (with every option that was tried, so no config of this Profile is right) [KRM130]" in text
    )


@pytest.mark.parametrize(
    "schema",
    [
        "{type: object, minProperties: 2, additionalProperties: {type: string}}",
        "{type: object, minProperties: 1, properties: {b: {type: string}, c: {type: string}}}",
        "{type: object, minProperties: 3, x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: string}}}",
        "{type: object, minProperties: 2, required: [c], properties: {b: {type: integer}, c: {type: string}}}",
        "{type: array, minItems: 2, items: {type: object, minProperties: 1, properties: {b: {type: string}}}}",
    ],
)
def test_samples_have_as_many_fields_as_the_schema_asks_for(schema: str) -> None:
    node = yaml.safe_load(schema)
    assert judged(node, sample(node)).refusals == ()
