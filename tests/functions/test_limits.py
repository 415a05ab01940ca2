"""Input of which no run may take the memory of: what is beyond a limit is said and counted, and never lost."""

from __future__ import annotations

import json
import resource
import subprocess
from pathlib import Path

import pytest
from krmfn_functions.formats.findings import FORMATS

from krmfn.results import MOST
from tests.builders import CONFIG
from tests.commands import COMMANDS, ROOT, Done, environment, process
from tests.trees import plant

MIB = 1 << 20
UNKNOWN = CONFIG.replace("spec: {", "spec: {" + "".join(f"field{at}: 1, " for at in range(MOST + 200)))
"""A DeviceConfig with 1,200 unknown fields."""
REST = "200 more findings of KRM101 from here on"


def module(name: str, mappings: str, annotations: str = "{}") -> str:
    """Return a hand-written Module with these kernelMappings."""
    metadata = f"{{name: {name}, namespace: kmm, annotations: {annotations}}}"
    container = f"{{modprobe: {{moduleName: gpu}}, kernelMappings: {mappings}}}"
    spec = f"{{selector: {{site: {name}}}, moduleLoader: {{serviceAccountName: kmm, container: {container}}}}}"
    return f"apiVersion: kmm.sigs.x-k8s.io/v1beta1\nkind: Module\nmetadata: {metadata}\nspec: {spec}\n"


def latest(name: str, number: int, annotations: str = "{}") -> str:
    """Return a Module with one finding of a lint for each of its mappings."""
    images = (f"{{literal: 6.{at}.0-x, containerImage: 'r.example.com/gpu:latest'}}" for at in range(number))
    return module(name, f"[{', '.join(images)}]", annotations)


def within(memory: int, *args: str) -> Done:
    """Run krmfn in an address space of `memory` bytes."""
    done = subprocess.run(
        [COMMANDS / "krmfn", *args],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)),
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr.decode())


@pytest.fixture
def unknown(tmp_path: Path) -> str:
    (tmp_path / "config.yaml").write_text(UNKNOWN)
    return str(tmp_path)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_says_how_many_more_there_are(unknown: str, form: str) -> None:
    done = process("krmfn", "check", unknown, "--format", form).ended(1)
    assert done.text.count("unknown field") in (0, MOST, 2 * MOST)  # JUnit says each twice
    text = f'krmfn_findings{{rule="KRM101",severity="error"}} {MOST + 200}\n' if form == "prometheus" else REST
    assert text in done.text


@pytest.mark.parametrize("command", ["render", "diff", "report", "nodes"])
def test_every_command_says_how_many_more_there_are(unknown: str, command: str, tmp_path: Path) -> None:
    (tmp_path / "page").mkdir()
    options = {"diff": ["/dev/null", unknown], "report": [unknown, "--output", str(tmp_path / "page" / "a.html")]}
    done = process("krmfn", command, *options.get(command, [unknown]))
    assert done.code in (1, 2)
    assert REST in done.err or f"{MOST + 200:,} errors" in done.text


def test_known_fields_are_named_once_in_a_mapping(unknown: str) -> None:
    done = process("krmfn", "check", unknown, "--format", "json")
    findings = json.loads(done.out)["findings"]
    assert len(findings) == MOST + 1
    assert sum("known here" in (finding["remedy"] or "") for finding in findings) == 1
    assert json.loads(done.out)["summary"]["error"] == MOST + 200
    assert len(done.out) < 800_000


def test_no_baseline_takes_what_is_not_listed(unknown: str, tmp_path: Path) -> None:
    known = str(tmp_path / "known.json")
    process("krmfn", "check", unknown, "--write-baseline", known)
    assert len(json.loads(Path(known).read_text())["findings"]) == MOST
    done = process("krmfn", "check", unknown, "--baseline", known)
    assert (done.code, done.text.count("error: ")) == (1, 1)
    assert REST in done.text


def test_function_mode_says_it_once() -> None:
    items = "".join(f"\n  {line}" for line in UNKNOWN.splitlines()).replace("\n  ", "\n- ", 1)
    text = f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:{items}\n"
    first = process("krmfn", stdin=text).ended(1)
    assert (first.text.count("unknown field"), REST in first.err, REST in first.text) == (MOST, True, True)
    assert process("krmfn", stdin=first.out).out == first.out


def test_what_is_not_listed_is_held_against_all_that_it_may_be_about(tmp_path: Path) -> None:
    """Two clusters build one file: all that is listed is the first one's, and so is all of the first config."""
    base = "resources: [a.yaml]\n"
    other = CONFIG.replace("name: drv,", "name: other,").replace("spec: {", "spec: {field: 1, ")
    files = {f"{name}/kustomization.yaml": f"resources: [../base]\nnamespace: {name}\n" for name in ("lab", "prod")}
    plant(tmp_path, files | {"base/kustomization.yaml": base, "base/a.yaml": f"{UNKNOWN}---\n{other}"})
    done = process("krmfn", "check", "lab", "prod", "--format", "json", "--root", ".", cwd=tmp_path)
    (rest,) = (finding for finding in json.loads(done.out)["findings"] if finding["unlisted"])
    assert (rest["file"], rest["clusters"]) == ("base/a.yaml", ["lab", "prod"])
    assert 'name="other"} 1\n' in process("krmfn", "check", "base/a.yaml", "--format", "prometheus", cwd=tmp_path).text


def test_what_is_turned_off_is_counted_and_takes_no_place(tmp_path: Path) -> None:
    """A thousand findings that one Module turns off hide none of another's."""
    off = "{krmfn.dev/ignore: 'KRM225: so it is meant'}"
    (tmp_path / "a.yaml").write_text(f"{latest('a', MOST + 100, off)}---\n{latest('b', MOST + 50)}")
    document = json.loads(process("krmfn", "check", str(tmp_path), "--format", "json").out)
    lint = [finding for finding in document["findings"] if finding["rule"] == "KRM225"]
    assert {finding["ref"]["name"] for finding in lint} == {"b"}
    assert (len(lint), sum(finding["unlisted"] or 1 for finding in lint)) == (MOST + 1, MOST + 50)
    assert document["summary"]["turnedOff"] == MOST + 100


def test_many_empty_mappings_take_little_memory(tmp_path: Path) -> None:
    """Of one Module, and of many: 100,000 took 0.9 GB and printed 61 MB."""
    (tmp_path / "a.yaml").write_text(module("a", f"[{'{}, ' * 15_000}]"))
    many = (module(f"m{at}", f"[{'{}, ' * 400}]") for at in range(40))
    (tmp_path / "b.yaml").write_text("---\n".join(many))
    done = within(160 * MIB, "check", str(tmp_path)).ended(1, "")
    assert len(done.out) < 3 * MIB
    assert "14,000 more findings of KMM022 from here on" in done.text
    assert "15,000 more findings of KMM022 from here on" in done.text


CRD = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\nspec:\n"
LARGE = {
    "flow": CONFIG.replace("spec: {", f"spec: {{extra: [{'[], ' * 400_000}], "),
    "block": CONFIG.replace("spec: {", "extra:\n" + "- []\n" * 200_000 + "spec: {"),
    "literal": CONFIG.replace("spec: {", "text: |\n  a\nextra:\n" + "- a: b\n" * 60_000 + "spec: {"),
    "JSON": '{"kind": "DeviceConfig", "apiVersion": "krmfn.dev/v1alpha1", "x": [%s0]}' % ("{}, " * 150_000),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_resource_of_too_many_nodes_is_refused(name: str, tmp_path: Path) -> None:
    """Before all of them are held: empty lists took 500 bytes each."""
    (tmp_path / "a.yaml").write_text(LARGE[name])
    done = within(240 * MIB, "check", str(tmp_path)).ended(2)
    assert "a resource of more than 100,000 nodes" in done.text
    assert f"{tmp_path.name}/a.yaml:" in done.text


def test_aliases_expand_to_no_more_than_resources_have(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(CONFIG.replace("spec: {", f"spec: {{a: [&a [], {'*a, ' * 1_000_000}], "))
    assert "aliases expand to more than 800,000 values" in within(320 * MIB, "check", str(tmp_path)).ended(2).text


@pytest.mark.parametrize("name", ["block", "JSON"])
def test_too_many_nodes_are_refused_in_function_mode(name: str) -> None:
    item = LARGE[name] if name == "JSON" else f"\n- {LARGE[name]}".replace("\n", "\n  ").replace("\n  - ", "\n- ", 1)
    text = (
        f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: {f'[{item}]' if name == 'JSON' else item}\n"
    )
    assert "a resource of more than 100,000 nodes" in process("krmfn", stdin=text).ended(1).err


def _node(at: int) -> str:
    labels = ", ".join(f'"example.com/{key}": "v"' for key in range(60))
    return f'{{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "n{at}", "labels": {{{labels}}}}}}}'


NODES = ",\n".join(map(_node, range(900)))
# Each has a little more than the 100,000 nodes that a resource may have.
ACCEPTED = {
    "a List in JSON": f'{{"apiVersion": "v1", "kind": "List", "items": [\n{NODES}\n], "metadata": {{}}}}',
    "a NodeList in flow style": f"apiVersion: v1\nkind: NodeList\nmetadata: {{\n  }}\nitems: [\n{NODES}\n]\n",
    "a CRD with a string over lines": CRD + '  x: "a\n    b"\n  y:\n' + "  - a: b\n" * 30_000,
    "a ConfigMap of 1 MB": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n"
    + "  k%d: v\n" * 40_000 % (*range(40_000),),
    "a CRD that nobody looks into": CRD + "  - {a: [b]}\n" * 27_000,
    "a list that is no resource": "[" + '{"apiVersion": "v1"},\n' * 36_000 + "0]",
    "values that are no resource": '"a":\n' + "- {apiVersion: v1}\n" * 36_000,
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_many_resources_or_none_is_no_large_one(name: str, tmp_path: Path) -> None:
    plant(tmp_path, {"config.yaml": CONFIG, "other.yaml": ACCEPTED[name]})
    done = process("krmfn", "check", str(tmp_path))
    number = 901 if "List" in name else 2 if "C" in name else 1
    assert (done.code, f" in {number} resource" in done.text) == (0, True), done.text
