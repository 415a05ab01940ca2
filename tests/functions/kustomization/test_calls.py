"""Which functions are ours, to the letter; everything else is refused with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from krmfn_functions.kustomization import reading
from krmfn_functions.kustomization.calls import Call, Ours
from krmfn_functions.kustomization.graph import Graph

from tests.trees import COMPONENT, OURS, config_map, function, plant

MIRROR = "registry.example.com:5000/platform/krmfn"
DIGEST = f"sha256:{'0' * 64}"


def graph(tmp_path: Path, files: dict[str, str], ours: Ours = OURS) -> Graph:
    plant(tmp_path, {"kustomization.yaml": "transformers: [function.yaml]\n", **files})
    return reading.read([str(tmp_path)], None, ours, absolute=True)


def called(tmp_path: Path, text: str) -> Call:
    """Return the one call of a file that is listed under transformers."""
    ours = OURS._replace(repositories={MIRROR})
    (call,) = graph(tmp_path, {"function.yaml": text}, ours).calls(str(tmp_path.resolve()))
    return call


def refusal(tmp_path: Path, text: str) -> str:
    call = called(tmp_path, text)
    assert call.program == ""
    assert call.mistake
    return call.mistake.text


@pytest.mark.parametrize(
    ("spec", "program", "image"),
    [
        ("exec: {path: krmfn}", "krmfn", ""),
        ("exec:\n  path: deviceconfig # bare", "deviceconfig", ""),
        ('{"exec": {"path": "ptemplate"}}', "ptemplate", ""),
        ("container: {image: krmfn}", "krmfn", "krmfn"),
        ("container: {image: 'localhost/ptemplate:0.2'}", "ptemplate", "localhost/ptemplate:0.2"),
        (f"container: {{image: 'krmfn:1@{DIGEST}'}}", "krmfn", f"krmfn:1@{DIGEST}"),
        (f"container: {{image: '{MIRROR}:1.0'}}", "krmfn", f"{MIRROR}:1.0"),
    ],
)
def test_ours(tmp_path: Path, spec: str, program: str, image: str) -> None:
    call = called(tmp_path, function(spec))
    assert (call.field, call.program, call.image, call.mistake) == ("transformers[0]", program, image, None)
    assert called(tmp_path / "old", function(spec, key="config.k8s.io/function")).program == program


NOT_OURS = {
    "exec: {path: ./krmfn}": "calls './krmfn', which is not part of krmfn and is not run; its path must be the bare "
    "name of a krmfn program (deviceconfig, krmfn, ptemplate)",
    "exec: {path: /usr/bin/krmfn}": "calls '/usr/bin/krmfn', which is not part of krmfn",
    "exec: {path: krmfn/../sh}": "calls 'krmfn/../sh', which is not part of krmfn",
    "exec: {path: git}": "calls 'git', which is not part of krmfn",
    "exec: {path: 'krmfn '}": "calls 'krmfn ', which is not part of krmfn",
    "exec: {path: Krmfn}": "calls 'Krmfn', which is not part of krmfn",
    "exec: {path: krmfn, args: [render]}": "calls 'krmfn' with args; krmfn's functions are run without",
    "exec: {path: krmfn, envs: [A=b]}": "calls 'krmfn' with envs",
    "exec: {path: krmfn, PATH: sh}": "calls 'krmfn' with PATH",
    "exec: {path: krmfn}\ndeferFailure: true": "calls a function with exec, deferFailure; must be exec or container",
    "exec: {path: krmfn}\ncontainer: {image: krmfn}": "calls a function with exec, container",
    "exec: {path: [krmfn]}": "calls a function without path",
    "exec: krmfn": "calls a function without path",
    "exec:": "calls a function without path",
    "{}": "calls a function with nothing",
    "starlark: {path: krmfn.star}": "calls a function with starlark; must be exec or container",
    "container: {image: evil/krmfn}": "calls 'evil/krmfn', which is not part of krmfn and is not run; its image must "
    "be one of krmfn's (deviceconfig, krmfn, ptemplate), or be passed with --function-image",
    "container: {image: 'evil.example.com/krmfn:1'}": "calls 'evil.example.com/krmfn:1', which is not part of krmfn",
    "container: {image: 'registry.example.com:5000/platform/krmfn/krmfn'}": "which is not part of krmfn",
    "container: {image: 'registry.example.com/platform/krmfn'}": "which is not part of krmfn",
    "container: {image: krmfn/}": "calls 'krmfn/', which is not part of krmfn",
    "container: {image: 'krmfn:'}": "calls 'krmfn:', which is not part of krmfn",
    "container: {image: '--privileged krmfn'}": "calls '--privileged krmfn', which is not part of krmfn",
    "container: {image: krmfn, network: true}": "calls 'krmfn' with network",
    "container: {image: krmfn, mounts: [{type: bind, src: a, dst: b}]}": "calls 'krmfn' with mounts",
    "container: {image: krmfn, envs: [TOKEN]}": "calls 'krmfn' with envs",
    "exec: {path: krmfn, path: sh}": "has an annotation that does not define a function",
    "exec: &a {path: krmfn}": "has an annotation that does not define a function",
    "exec: {path: krmfn}\n---\nexec: {path: sh}": "has an annotation that does not define a function",
    "exec: {path: ": "has an annotation that does not define a function",
    "[]": "has an annotation that does not define a function",
    '{"exec": {"path": "\\u006brmfn"}}': "has an annotation that does not define a function",
}


@pytest.mark.parametrize("spec", NOT_OURS)
def test_not_ours(tmp_path: Path, spec: str) -> None:
    assert NOT_OURS[spec] in refusal(tmp_path, function(spec))


OURS_TOO = "config.kubernetes.io/function: 'exec: {path: krmfn}'"
HEAD = "apiVersion: a/v1\nkind: A\n"
CALLED = f"{HEAD}metadata: {{annotations: {{{OURS_TOO}}}}}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEAD}metadata: {{name: a}}\n", "is for the plugin a/v1 A, which is not part of krmfn"),
        (f"{HEAD}metadata: a\n", "is for the plugin a/v1 A"),
        (f"{HEAD}metadata: {{annotations: [a]}}\n", "is for the plugin a/v1 A"),
        (f"{HEAD}metadata: {{annotations: {{{OURS_TOO.replace(': ', ': {', 1)}}}}}}}\n", "does not define a function"),
        (CALLED.replace("}}", "}, configFn: {exec: {path: sh}}}"), "exactly once and plainly"),
        (CALLED.replace("}}", ", config.kubernetes.io/container: sh}}"), "exactly once and plainly"),
        (CALLED.replace("}}", ", config.k8s.io/function: a}}"), "exactly once and plainly"),
        (f"{CALLED}spec: {{{OURS_TOO}}}\n", "exactly once and plainly"),
        (f"{HEAD}spec: {{{OURS_TOO}}}\n", "exactly once and plainly"),
        (f"{CALLED}metadata: {{}}\n", "exactly once and plainly"),
        (f"{CALLED}kind: AList\n", "is not a functionConfig"),
        ("apiVersion: v1\nkind: List\nitems: []\n", "is not a functionConfig"),
        ("- a\n", "is not a functionConfig"),
    ],
)
def test_a_function_is_written_once_and_plainly(tmp_path: Path, text: str, message: str) -> None:
    assert message in refusal(tmp_path, text)


def findings(tmp_path: Path, files: dict[str, str]) -> list[str]:
    built = graph(tmp_path, files)
    return [str(finding).replace(f"{tmp_path.resolve()}/", "") for finding in built.findings(str(tmp_path.resolve()))]


def test_every_document_is_a_call_with_its_place(tmp_path: Path) -> None:
    text = f"{function('exec: {path: krmfn}')}--- # next\n{function('exec: {path: sh}')}"
    assert findings(tmp_path, {"function.yaml": text}) == [
        "function.yaml:8: error: RenderDeviceConfigs render: transformers[0]: calls 'sh', which is not part of krmfn "
        "and is not run; its path must be the bare name of a krmfn program (deviceconfig, krmfn, ptemplate) [KRM510]"
    ]


def test_a_function_that_is_written_out_has_its_line(tmp_path: Path) -> None:
    text = "transformers:\n- |\n" + "".join(f"  {line}\n" for line in function("exec: {path: sh}").splitlines())
    (finding,) = findings(tmp_path, {"kustomization.yaml": f"namePrefix: a-\n{text}"})
    assert finding.startswith("kustomization.yaml:4:3: error: RenderDeviceConfigs render: transformers[0]: calls 'sh'")
    (finding,) = findings(tmp_path, {"kustomization.yaml": "transformers: ['{a: b']"})
    assert finding.startswith("kustomization.yaml:1:16: error: transformers[0]: did not find expected")


@pytest.mark.parametrize(("field", "reason"), [("generators", "receives no resources"), ("validators", "refuses")])
def test_ours_have_no_effect_elsewhere(tmp_path: Path, field: str, reason: str) -> None:
    files = {"kustomization.yaml": f"{field}: [function.yaml]", "function.yaml": function("exec: {path: krmfn}")}
    (finding,) = findings(tmp_path, files)
    assert reason in finding
    assert finding.endswith("list it under transformers [KRM511]")


@pytest.mark.parametrize(
    ("image", "other"),
    [
        ("krmfn", ""),
        ("krmfn:latest", ""),
        ("krmfn:1.2.3", ""),
        ("krmfn:v1.2.3", ""),
        ("krmfn:1.2", "1.2"),
        ("localhost/krmfn:v1.2.4", "1.2.4"),
        (f"krmfn:1.3.0@{DIGEST}", "1.3.0"),
    ],
)
def test_an_image_of_another_version_may_render_otherwise(tmp_path: Path, image: str, other: str) -> None:
    results = findings(tmp_path, {"function.yaml": function(f"container: {{image: '{image}'}}")})
    message = f"transformers[0]: calls version {other}, but 1.2.3 runs here and may render differently"
    remedy = f"call 1.2.3 there, or run krmfn {other} here"
    line = f"function.yaml:1: warning: RenderDeviceConfigs render: {message}; {remedy} [KRM513]"
    assert results == ([line] if other else [])


@pytest.mark.parametrize(
    "changing",
    [
        "patches: [{patch: '[]'}]",
        "commonAnnotations: {a: b}",
        "components: [part]",
        "configMapGenerator: [{name: a}]",
        "transformers: ['{}']",
        "replacements: [{path: function.yaml}]",
        "helmCharts: [{name: a}]",
    ],
)
def test_functions_in_a_folder_stand_there_as_they_are_called(tmp_path: Path, changing: str) -> None:
    files = {
        "kustomization.yaml": "transformers: [functions]",
        "functions/kustomization.yaml": "resources: [more]\nnamespace: a\n",
        "functions/more/kustomization.yaml": "resources: [function.yaml]\n",
        "functions/more/function.yaml": function("exec: {path: krmfn}"),
        "functions/part/kustomization.yaml": f"{COMPONENT}namePrefix: a-",
    }
    assert findings(tmp_path, files) == []
    assert [call.program for call in graph(tmp_path, files).calls(str(tmp_path.resolve()))] == ["krmfn"]
    files["functions/more/kustomization.yaml"] += changing
    changed = [finding for finding in findings(tmp_path / "changed", files) if "[KRM510]" in finding]
    assert "may change the functions it lists" in changed[0]


def test_a_file_of_functions_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    assert findings(tmp_path, {"function.yaml": "a: b\nc: [\n"}) == [
        "function.yaml:3: error: did not find expected node content (while parsing a flow node) [KRM510]"
    ]


@pytest.mark.parametrize("number", [1, 40])
def test_a_call_has_its_random_name_however_many_kustomizations_there_are(number: int, tmp_path: Path) -> None:
    """The node trees of few items are kept: a name that belonged to a node was lost with it."""
    files = {f"r{at}/kustomization.yaml": "resources: [a.yaml]\n" for at in range(number)}
    files |= {f"r{at}/a.yaml": config_map(f"c{at}") for at in range(number)}
    files["k/kustomization.yaml"] = "resources: [a.yaml]\ntransformers: [f.yaml]\n"
    files |= {"k/a.yaml": config_map("a"), "k/f.yaml": function("exec: {path: deviceconfig}")}
    plant(tmp_path, files)
    folders = [str(tmp_path / "k"), *(str(tmp_path / f"r{at}") for at in range(number))]
    graph = reading.read(folders, None, OURS, absolute=True)
    text = graph.texts[str(tmp_path / "k" / "f.yaml")].decode()
    assert graph.names["deviceconfig"] in text and "path: deviceconfig" not in text
