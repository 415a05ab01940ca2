"""The graph: what each field of a kustomization refers to, what is wrong with it, and how often anything is read."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from krmfn_functions.cluster import layout
from krmfn_functions.kustomization import graph_rules, reading
from krmfn_functions.kustomization.graph import Graph
from krmfn_functions.paths import files as guarded

from krmfn.rule import Rule
from tests.rule_examples import documents
from tests.trees import COMPONENT, OURS, config_map, function, plant

SPEC = "exec: {path: krmfn}"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: names are relative to it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def graph(files: dict[str, str], *folders: str, root: bool = True) -> Graph:
    """Return the graph of files; the working folder is the root of what may be read."""
    here = plant(Path.cwd(), files)
    return reading.read(folders or ["app"], str(here) if root else None, OURS)


def findings(files: dict[str, str], folder: str = "app") -> list[str]:
    return [str(finding) for finding in graph(files, folder).findings(os.path.realpath(folder))]


def references(text: str, **files: str) -> list[tuple[str, str, str]]:
    """Return (field, kind, name) of what a kustomization in `app` refers to."""
    given = {"app/kustomization.yaml": text, **{f"app/{name}": content for name, content in files.items()}}
    (one,) = [one for one in graph(given).kustomizations.values() if one.name == "app/kustomization.yaml"]
    return [(reference.field, reference.kind, reference.name) for reference in one.references]


FIELDS = {
    "resources: [a.yaml]": [("resources[0]", "file", "app/a.yaml")],
    "resources: [base]": [("resources[0]", "folder", "app/base")],
    "resources: [./base/, b/../a.yaml]": [
        ("resources[0]", "folder", "app/base"),
        ("resources[1]", "file", "app/a.yaml"),
    ],
    "bases: [base]": [("bases[0]", "folder", "app/base")],
    "components: [base]": [("components[0]", "folder", "app/base")],
    "generators: [a.yaml]": [("generators[0]", "file", "app/a.yaml")],
    "validators: [base]": [("validators[0]", "folder", "app/base")],
    "transformers: ['{a: b}']": [("transformers[0]", "inline", "")],
    "patches: [{path: a.yaml}, {patch: '- {}'}]": [
        ("patches[0].path", "file", "app/a.yaml"),
        ("patches[1].patch", "inline", ""),
    ],
    "patches: [{path: '', patch: '- {}'}]": [("patches[0].patch", "inline", "")],
    "openapi: {path: ''}": [],
    "patchesStrategicMerge: [a.yaml, '{a: b}']": [
        ("patchesStrategicMerge[0]", "file", "app/a.yaml"),
        ("patchesStrategicMerge[1]", "inline", ""),
    ],
    "patchesJson6902: [{path: a.yaml}]": [("patchesJson6902[0].path", "file", "app/a.yaml")],
    "replacements: [{path: a.yaml}, {source: {}}]": [("replacements[0].path", "file", "app/a.yaml")],
    "configurations: [a.yaml]": [("configurations[0]", "file", "app/a.yaml")],
    "crds: [a.yaml]": [("crds[0]", "file", "app/a.yaml")],
    "openapi: {path: a.yaml}": [("openapi.path", "file", "app/a.yaml")],
    "configMapGenerator: [{files: [a.yaml, k=a.yaml], envs: [a.yaml], env: a.yaml}]": [
        ("configMapGenerator[0].env", "file", "app/a.yaml"),
        ("configMapGenerator[0].envs[0]", "file", "app/a.yaml"),
        ("configMapGenerator[0].files[0]", "file", "app/a.yaml"),
        ("configMapGenerator[0].files[1]", "file", "app/a.yaml"),
    ],
    "secretGenerator: [{files: [a.yaml]}]": [("secretGenerator[0].files[0]", "file", "app/a.yaml")],
    "helmCharts: [{name: c, valuesFile: a.yaml, additionalValuesFiles: [a.yaml]}]": [
        ("helmCharts[0]", "chart", "app/charts/c"),
        ("helmCharts[0].valuesFile", "file", "app/a.yaml"),
        ("helmCharts[0].additionalValuesFiles[0]", "file", "app/a.yaml"),
    ],
    "helmGlobals: {chartHome: base}\nhelmCharts: [{name: ..}]": [("helmCharts[0]", "chart", "app")],
    "helmCharts: [{name: c, repo: 'https://example.com', version: '1'}]": [
        ("helmCharts[0]", "remote", "app/charts/c-1/c")
    ],
    "helmCharts: [{name: c, version: '1'}]": [("helmCharts[0]", "chart", "app/charts/c")],
    "helmCharts: [{name: c, repo: 'https://example.com'}]": [("helmCharts[0]", "chart", "app/charts/c")],
    "helmChartInflationGenerator: [{chartName: c, values: a.yaml}]": [
        ("helmChartInflationGenerator[0]", "chart", "app/charts/c"),
        ("helmChartInflationGenerator[0].values", "file", "app/a.yaml"),
    ],
    "resources: &r [a.yaml]\ncrds: *r": [("resources[0]", "file", "app/a.yaml"), ("crds[0]", "file", "app/a.yaml")],
    "resources: [HTTPS://example.com/a.yaml]": [("resources[0]", "remote", "")],
    "resources: ['git@example.com:a/b']": [("resources[0]", "remote", "")],
    "resources: ['file://repo']": [("resources[0]", "remote", "")],
    "resources: ['file://']": [("resources[0]", "nothing", "app/file:")],
    "configurations: ['git@example.com:a/b']": [("configurations[0]", "nothing", "app/git@example.com:a/b")],
    "patches: [{path: 'http://example.com/a'}]": [("patches[0].path", "remote", "")],
}


@pytest.mark.parametrize("text", FIELDS)
def test_what_a_field_refers_to(text: str) -> None:
    files = {"a.yaml": "{}", "base/kustomization.yaml": "namePrefix: a-", "charts/c/values.yaml": ""}
    assert references(text, **files) == FIELDS[text]


def test_a_reference_has_the_place_of_its_value() -> None:
    text = "resources:\n- a.yaml\n# and\ntransformers:\n- |\n  apiVersion: builtin\n- {}\n"
    (one,) = graph({"app/kustomization.yaml": text, "app/a.yaml": ""}).kustomizations.values()
    places = [(ref.place.line, ref.place.column, ref.first) for ref in one.references if ref.place]
    assert places == [(2, 3, 0), (5, 3, 6)]


def test_builtin_plugins_read_files_of_the_kustomization_that_lists_them() -> None:
    transformer = "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\npath: patch.yaml\n"
    generator = "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nfiles: [k=data.txt]\n"
    files = {
        "app/kustomization.yaml": "transformers: [plugins]\ngenerators:\n- |\n  " + generator.replace("\n", "\n  "),
        "app/plugins/kustomization.yaml": "resources: [patch.yaml]",
        "app/plugins/patch.yaml": transformer,
        "app/patch.yaml": "",
        "app/data.txt": "",
    }
    made = graph(files)
    one = made.kustomizations[os.path.realpath("app")]
    assert [(ref.field, ref.name, ref.place and ref.place[0:3:2]) for ref in one.references[2:]] == [
        ("files[0]", "app/data.txt", ("app/kustomization.yaml", 7)),
        ("path", "app/patch.yaml", ("app/plugins/patch.yaml", 4)),
    ]
    assert one.calls == ()
    assert set(made.files(os.path.realpath("app")).values()) == set(files)


def test_a_build_is_what_its_kustomization_leads_to() -> None:
    files = {
        "app/kustomization.yaml": "resources: [../base]\ncomponents: [../part]",
        "base/Kustomization": "resources: [a.yaml]",
        "base/a.yaml": config_map("a"),
        "part/kustomization.yml": f"{COMPONENT}resources: [../base]\n",
        "other/kustomization.yaml": "resources: [../base]",
    }
    made = graph(files, "app", "other")
    assert [one.name for one in made.below(os.path.realpath("app"))] == [
        "app/kustomization.yaml",
        "base/Kustomization",
        "part/kustomization.yml",
    ]
    assert list(made.files(os.path.realpath("other")).values()) == [
        "other/kustomization.yaml",
        "base/Kustomization",
        "base/a.yaml",
    ]
    assert made.findings(os.path.realpath("app")) == []
    assert graph({}, "nowhere").kustomizations == {}


WRONG = {
    "resource: [a.yaml]": "1:1: error: resource: unknown field 'resource'; did you mean 'resources'? [KRM502]",
    "Resources: [a.yaml]": "1:1: error: Resources: unknown field 'Resources'; did you mean 'resources'? [KRM502]",
    "namePrefix: 1": "1:1: error: namePrefix: is the number 1; must be a string or empty: "
    'write it in quotes, "1" [KRM502]',
    "kind: Component\napiVersion: kustomize.config.k8s.io/v1beta1\nnamePrefix: a": "2:1: error: apiVersion: "
    "must be kustomize.config.k8s.io/v1alpha1 for a Component [KRM502]",
    "kind: Kustom\nnamePrefix: a": "1:1: error: kind: is 'Kustom'; must be Kustomization or Component [KRM502]",
    "resources:\n": "1: error: is empty, and kustomize refuses it; list resources [KRM502]",
    "# nothing\n": " error: is not a kustomization; must be a single mapping [KRM502]",
    "- a.yaml\n": " error: is not a kustomization; must be a single mapping [KRM502]",
    "namePrefix: a\n---\nnamePrefix: b\n": "2: error: is a second document, which kustomize does not read; must be a "
    "single mapping [KRM502]",
    "a: [\nb": "3: error: did not find expected ',' or ']' (while parsing a flow sequence) [KRM502]",
    "namePrefix: a\nnamePrefix: b\n": "2:1: error: namePrefix: this key appears twice, and kustomize takes "
    "the last one; remove one [KRM503]",
    "resources: [other.yaml]": "1:13: error: resources[0]: app/other.yaml: No such file or directory; "
    "a path is relative to the kustomization's folder [KRM504]",
    "components: [a.yaml]": "1:14: error: components[0]: app/a.yaml is a file; "
    "must be a folder with a Component [KRM504]",
    "crds: [empty]": "1:8: error: crds[0]: app/empty is a folder; must be a file [KRM504]",
    "resources: [empty]": "1:13: error: resources[0]: app/empty has no kustomization; "
    "add a kustomization.yaml [KRM504]",
    "resources: [' ']": "1:13: error: resources[0]: is empty; must be a file or a folder [KRM504]",
    "resources: [pipe]": "1:13: error: resources[0]: app/pipe: neither a file nor a folder; "
    "a path is relative to the kustomization's folder [KRM504]",
    'resources: ["a\\0b"]': "1:13: error: resources[0]: the path 'a\\x00b' contains a line break or a control "
    "character, and kustomize may read it as a resource; rename the file [KRM517]",
    "resources: [x..y/../part]": "1:13: error: resources[0]: x..y/../part: kustomize accepts no folder with an "
    "absolute path, or with two dots in its name [KRM504]",
    "secretGenerator: [{files: [=a.yaml]}]": "1:28: error: secretGenerator[0].files[0]: is empty; must be a file "
    "[KRM504]",
    "resources: [.]": "1:13: error: resources[0]: . leads back to app, which is being built; kustomize refuses such a "
    "cycle [KRM505]",
    "resources: [..]": "1:13: error: resources[0]: .. leads back to ., which is being built; kustomize refuses such a "
    "cycle [KRM505]",
    "resources: [part]": "1:13: error: resources[0]: app/part is a Component; list it under components [KRM506]",
    "components: [base]": "1:14: error: components[0]: app/base is a Kustomization; list it under resources [KRM506]",
    "resources: [../b.yaml]": "1:13: error: resources[0]: ../b.yaml is outside of the kustomization's folder, and "
    "kustomize reads no files there; move it into the folder, or list the folder of a kustomization that contains it "
    "[KRM507]",
    "resources: [link.yaml]": "1:13: error: resources[0]: link.yaml is outside of the kustomization's folder, and "
    "kustomize reads no files there; move it into the folder, or list the folder of a kustomization that contains it "
    "[KRM507]",
    "resources: [../../b]": "1:13: error: resources[0]: ../../b leads out of HERE, where nothing is read; "
    "pass a larger folder with --root DIR [KRM508]",
    "resources: [away]": "1:13: error: resources[0]: away leads out of HERE, where nothing is read; "
    "pass a larger folder with --root DIR [KRM508]",
    "resources: [../.git]": "1:13: error: resources[0]: ../.git leads out of HERE, where nothing is read; "
    "pass a larger folder with --root DIR [KRM508]",
    "resources: ['https://github.com/a/b']": "1:13: error: resources[0]: https://github.com/a/b is fetched over the "
    "network during the build, so its content was not checked; keep a copy here [KRM509]",
    "helmCharts: [{name: c}]": "1:14: error: helmCharts[0]: the chart app/charts/c is rendered by helm, which is not "
    "run here; keep its output here instead [KRM512]",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_with_a_kustomization(text: str, here: Path) -> None:
    files = {
        "app/kustomization.yaml": text,
        "app/a.yaml": config_map("a"),
        "b.yaml": config_map("b"),
        "app/link.yaml": "-> ../b.yaml",
        "app/away": "-> /etc",
        "app/empty/a.yaml": "",
        "app/base/kustomization.yaml": "namePrefix: a-",
        "app/part/kustomization.yaml": f"{COMPONENT}namePrefix: a-",
        "app/charts/c/values.yaml": "",
        ".git/a": "",
    }
    plant(here, {"app/a.yaml": ""})
    os.mkfifo(here / "app/pipe")
    first = findings(files)[0]
    assert first == f"app/kustomization.yaml:{WRONG[text].replace('HERE', str(here))}".replace(
        "yaml: error", "yaml: error"
    )


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"kustomization.yml": "{}", "Kustomization": "{}"},
            "is in the same folder as Kustomization, and kustomize accepts neither",
        ),
        (
            {"kustomization.yaml": "-> ../b.yaml"},
            "is a link that leads out of its folder, where kustomize reads no files",
        ),
        ({"kustomization.yaml": "-> nowhere"}, "No such file or directory"),
        ({"kustomization.yaml": "-> kustomization.yaml"}, "Too many levels of symbolic links"),
    ],
)
def test_a_kustomization_is_one_regular_file(files: dict[str, str], message: str) -> None:
    (finding,) = findings({"b.yaml": "namePrefix: a-", **{f"app/{name}": text for name, text in files.items()}})
    assert message in finding
    assert finding.endswith("[KRM501]")


def test_a_kustomization_may_be_a_link_within_its_folder() -> None:
    assert findings({"app/a.yaml": "namePrefix: a-", "app/kustomization.yaml": "-> a.yaml"}) == []
    assert findings({"b/Kustomization/a.yaml": "", "b/kustomization.yml": "namePrefix: a-"}, "b") == []


def test_what_is_read_is_limited_in_all(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    """Large files, sparse ones, and a document whose aliases make it large."""
    monkeypatch.setenv("KRMFN_MAX_BYTES", "1000")
    files = {"app/kustomization.yaml": "resources: [a.yaml, b.yaml]", "app/a.yaml": "#" * 600, "app/b.yaml": "#" * 600}
    (finding,) = findings(files)
    assert "app/b.yaml: too large: together with the files before it more than 1,000 bytes" in finding
    with (here / "app" / "kustomization.yaml").open("wb") as sparse:
        sparse.truncate(1 << 40)
    (finding,) = findings({})
    assert finding.startswith("app/kustomization.yaml: error: too large")
    monkeypatch.delenv("KRMFN_MAX_BYTES")
    bomb = "a: &a [b,b,b,b,b,b,b,b,b,b]\n" + "".join(
        f"{new}: &{new} [{','.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcdef", "bcdefg", strict=True)
    )
    (finding,) = findings({"bomb/kustomization.yaml": bomb}, "bomb")
    assert "aliases expand to more than" in finding


def test_without_a_root_kustomize_s_own_bounds_hold(here: Path) -> None:
    files = {"kustomization.yaml": "resources: [../base, ../b.yaml]"}
    plant(here / "base", {"kustomization.yaml": "namePrefix: a-"})
    plant(here, {"b.yaml": ""})
    assert [
        one.rule for one in graph({f"app/{k}": v for k, v in files.items()}, root=False).findings(f"{here}/app")
    ] == ["KRM507"]


# What is read once.


def chain(length: int) -> dict[str, str]:
    files = {f"k{at}/kustomization.yaml": f"resources: [../k{at + 1}]" for at in range(length)}
    return {**files, f"k{length}/kustomization.yaml": "namePrefix: a-"}


def test_each_kustomization_and_each_function_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand overlays over a chain of bases, each with the same function."""
    files = chain(300) | {"shared/kustomization.yaml": "resources: [f.yaml]", "shared/f.yaml": function(SPEC)}
    for at in range(1000):
        files[f"o{at}/kustomization.yaml"] = "resources: [../k0]\ntransformers: [../shared]"
    read: Counter[str] = Counter()
    real = guarded.read_regular

    def counted(path: str, name: str, limit: int) -> bytes:
        read[name] += 1
        return real(path, name, limit)

    monkeypatch.setattr(guarded, "read_regular", counted)
    made = graph(files, *(f"o{at}" for at in range(1000)))
    assert read == Counter([*files, "shared/f.yaml"])  # listed as a resource, and a function for who lists its folder
    assert len(made.below(os.path.realpath("o7"))) == 303
    assert [call.program for call in made.calls(os.path.realpath("o7"))] == ["krmfn"]
    assert made.findings(os.path.realpath("o7")) == []


def test_a_chain_may_be_longer_than_python_s_stack() -> None:
    assert len(graph(chain(3000), "k0").below(os.path.realpath("k0"))) == 3001


@pytest.mark.parametrize("length", [1, 2, 50])
def test_a_circle_is_one_finding_and_no_end(length: int) -> None:
    files = {f"k{at}/kustomization.yaml": f"resources: [../k{(at + 1) % length}]" for at in range(length)}
    made = graph(files, "k0")
    assert len(made.below(os.path.realpath("k0"))) == length
    (finding,) = made.findings(os.path.realpath("k0"))
    assert finding.rule == "KRM505"


def test_a_tower_that_kustomize_would_build_for_ever_is_refused() -> None:
    files = {f"k{at}/kustomization.yaml": f"resources: [../k{at + 1}, ../k{at + 1}]" for at in range(40)}
    made = graph({**files, "k40/kustomization.yaml": "namePrefix: a-"}, "k0")
    rules = [finding.rule for finding in made.findings(os.path.realpath("k0"))]
    assert rules[0] == "KRM505"
    assert made.findings(os.path.realpath("k30")) == []


# The rules.


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.id) for rule in graph_rules.RULES + layout.RULES[:2]])
def test_the_examples_of_the_rules(rule: Rule, here: Path) -> None:
    for name, example in (("good", rule.good), ("bad", rule.bad)):
        files: dict[str, str] = {}
        for document in documents(example, rule.id):
            files[document.file] = files.get(document.file, "") + document.text
        plant(here / name / ".git", {"HEAD": ""})
        plant(here / name, files)
        laid: Any = layout.layout([name], OURS)
        rules = {
            one.rule for cluster in laid.clusters for root in cluster.roots for one in root.graph.findings(root.path)
        }
        rules |= {finding.rule for finding in laid.findings}
        assert (rule.id in rules) is (name == "bad"), rules
