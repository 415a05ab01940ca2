"""The graph: what each field of a kustomization refers to, what is wrong with it, and how often anything is read."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from krmfn_functions.cluster import layout
from krmfn_functions.kustomization import build_checks, graph_rules, reading
from krmfn_functions.kustomization.graph import Graph
from krmfn_functions.options import RunOptions
from krmfn_functions.paths import files as guarded
from krmfn_functions.rule import Rule

from krmfn.errors import KrmfnError
from tests.rule_examples import documents
from tests.tables import table
from tests.trees import COMPONENT, OURS, config_map, files_of, function, plant

SPEC = "exec: {path: krmfn}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: names are relative to it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def graph(files: dict[str, str], *folders: str, root: bool = True) -> Graph:
    """Return the graph of files; the working folder is the root of what may be read."""
    folder = plant(Path.cwd(), files)
    return reading.read(map(os.path.realpath, folders or ["app"]), str(folder) if root else None, OURS)


def findings(files: dict[str, str], folder: str = "app") -> list[str]:
    return [str(finding) for finding in graph(files, folder).findings(os.path.realpath(folder))]


def references(text: str, **files: str) -> list[tuple[str, str, str]]:
    """Return (field, kind, name) of what a kustomization in `app` refers to."""
    planted = {"app/kustomization.yaml": text, **{f"app/{name}": content for name, content in files.items()}}
    kustomization = graph(planted).kustomizations[os.path.realpath("app")]
    return [(reference.field, reference.kind, reference.name) for reference in kustomization.references]


FIELDS = table(__file__, "references.yaml")


@pytest.mark.parametrize("text", FIELDS)
def test_what_a_field_refers_to(text: str) -> None:
    files = {"a.yaml": "{}", "base/kustomization.yaml": "namePrefix: a-", "charts/c/values.yaml": ""}
    assert references(text, **files) == [tuple(reference) for reference in FIELDS[text]]


def test_a_reference_has_the_place_of_its_value() -> None:
    text = "resources:\n- a.yaml\n# and\ntransformers:\n- |\n  apiVersion: builtin\n- {}\n"
    (kustomization,) = graph({"app/kustomization.yaml": text, "app/a.yaml": ""}).kustomizations.values()
    places = [(ref.place.line, ref.place.column, ref.first) for ref in kustomization.references if ref.place]
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
    app = graph(files)
    kustomization = app.kustomizations[os.path.realpath("app")]
    assert [(ref.field, ref.name, ref.place and ref.place[0:3:2]) for ref in kustomization.references[2:]] == [
        ("files[0]", "app/data.txt", ("app/kustomization.yaml", 7)),
        ("path", "app/patch.yaml", ("app/plugins/patch.yaml", 4)),
    ]
    assert not kustomization.calls
    assert set(files_of(app, os.path.realpath("app")).values()) == set(files)


def test_a_build_is_what_its_kustomization_leads_to() -> None:
    files = {
        "app/kustomization.yaml": "resources: [../base]\ncomponents: [../part]",
        "base/Kustomization": "resources: [a.yaml]",
        "base/a.yaml": config_map("a"),
        "part/kustomization.yml": f"{COMPONENT}resources: [../base]\n",
        "other/kustomization.yaml": "resources: [../base]",
    }
    both = graph(files, "app", "other")
    assert [kustomization.name for kustomization in both.below(os.path.realpath("app"))] == [
        "app/kustomization.yaml",
        "base/Kustomization",
        "part/kustomization.yml",
    ]
    assert list(files_of(both, os.path.realpath("other")).values()) == [
        "other/kustomization.yaml",
        "base/Kustomization",
        "base/a.yaml",
    ]
    assert both.findings(os.path.realpath("app")) == []
    assert graph({}, "nowhere").kustomizations == {}


WRONG = table(__file__, "wrong.yaml")


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_with_a_kustomization(text: str, folder: Path) -> None:
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
    (folder / "app").mkdir()
    os.mkfifo(folder / "app/pipe")
    assert findings(files)[0] == f"app/kustomization.yaml:{WRONG[text].replace('HERE', str(folder))}"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("kustomization.yml", "{}", "is in the same folder as Kustomization, and kustomize accepts neither"),
        ("Kustomization", "-> ../b.yaml", "is a link that leads out of its folder, where kustomize reads no files"),
        ("Kustomization", "-> nowhere", "No such file or directory"),
        ("Kustomization", "-> Kustomization", "Too many levels of symbolic links"),
    ],
)
def test_a_kustomization_is_one_regular_file(name: str, text: str, message: str) -> None:
    (finding,) = findings({"b.yaml": "namePrefix: a-", "app/Kustomization": "{}"} | {f"app/{name}": text})
    assert message in finding
    assert finding.endswith("[KRM501]")


def test_a_kustomization_may_be_a_link_within_its_folder() -> None:
    assert findings({"app/a.yaml": "namePrefix: a-", "app/kustomization.yaml": "-> a.yaml"}) == []
    assert findings({"b/Kustomization/a.yaml": "", "b/kustomization.yml": "namePrefix: a-"}, "b") == []


def test_what_is_read_is_limited_in_all(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Large files, sparse ones, and a document whose aliases make it large."""
    monkeypatch.setenv("KRMFN_MAX_BYTES", "1000")
    files = {"app/kustomization.yaml": "resources: [a.yaml, b.yaml]", "app/a.yaml": "#" * 600, "app/b.yaml": "#" * 600}
    (finding,) = findings(files)
    assert "app/b.yaml: too large: together with the files before it more than 1,000 bytes" in finding
    with (folder / "app" / "kustomization.yaml").open("wb") as sparse:
        sparse.truncate(1 << 40)
    (finding,) = findings({})
    assert finding.startswith("app/kustomization.yaml: error: too large")
    monkeypatch.delenv("KRMFN_MAX_BYTES")
    bomb = "a: &a [b,b,b,b,b,b,b,b,b,b]\n" + "".join(
        f"{new}: &{new} [{','.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcdef", "bcdefg", strict=True)
    )
    (finding,) = findings({"bomb/kustomization.yaml": bomb}, "bomb")
    assert "aliases expand to more than" in finding


def test_without_a_root_kustomize_s_own_bounds_hold(folder: Path) -> None:
    files = {"app/kustomization.yaml": "resources: [../base, ../b.yaml]", "b.yaml": ""}
    bounded = graph(files | {"base/kustomization.yaml": "namePrefix: a-"}, root=False)
    assert [finding.rule for finding in bounded.findings(f"{folder}/app")] == ["KRM507"]


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

    def counted(path: str, name: str, limit: int | None = None) -> bytes:
        read[name] += 1
        return real(path, name, limit)

    monkeypatch.setattr(guarded, "read_regular", counted)
    overlays = graph(files, *(f"o{at}" for at in range(1000)))
    assert read == Counter([*files, "shared/f.yaml"])  # listed as a resource, and a function for who lists its folder
    assert len(overlays.below(os.path.realpath("o7"))) == 303
    assert [call.program for call in overlays.calls(os.path.realpath("o7"))] == ["krmfn"]
    assert overlays.findings(os.path.realpath("o7")) == []


def test_a_chain_may_be_longer_than_python_s_stack() -> None:
    assert len(graph(chain(3000), "k0").below(os.path.realpath("k0"))) == 3001


@pytest.mark.parametrize("length", [1, 2, 50])
def test_a_circle_is_one_finding_and_no_end(length: int) -> None:
    files = {f"k{at}/kustomization.yaml": f"resources: [../k{(at + 1) % length}]" for at in range(length)}
    circle = graph(files, "k0")
    assert len(circle.below(os.path.realpath("k0"))) == length
    (finding,) = circle.findings(os.path.realpath("k0"))
    assert finding.rule == "KRM505"


def test_a_tower_that_kustomize_would_build_for_ever_is_refused() -> None:
    files = {f"k{at}/kustomization.yaml": f"resources: [../k{at + 1}, ../k{at + 1}]" for at in range(40)}
    tower = graph({**files, "k40/kustomization.yaml": "namePrefix: a-"}, "k0")
    rules = [finding.rule for finding in tower.findings(os.path.realpath("k0"))]
    assert rules[0] == "KRM505"
    assert tower.findings(os.path.realpath("k30")) == []


# The rules.


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.id) for rule in graph_rules.RULES + layout.RULES[:2]])
def test_the_examples_of_the_rules(rule: Rule, folder: Path) -> None:
    for name, example in (("good", rule.good), ("bad", rule.bad)):
        files: dict[str, str] = {}
        for document in documents(example, rule.id):
            files[document.file] = files.get(document.file, "") + document.text
        plant(folder / name / ".git", {"HEAD": ""})
        plant(folder / name, files)
        laid: Any = layout.layout([name], RunOptions(), {})
        roots = [root for cluster in laid.clusters for root in cluster.roots]
        results = [*laid.findings]
        for root in roots:
            results += [*root.graph.findings(root.path), *build_checks.unmatched_patches(root.graph, root.path)]
        rules = {result.rule for result in results}
        assert (rule.id in rules) is (name == "bad"), rules


def test_a_function_that_is_gone_stays_the_resource_that_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that lists it as a function is refused; the other one, which has read it before, loses nothing."""
    read, times = guarded.read_regular, Counter[str]()

    def once(real: str, name: str, limit: int | None = None) -> bytes:
        times[real] += 1
        if times[real] > 1:
            raise KrmfnError("No such file or directory", file=name)
        return read(real, name, limit)

    monkeypatch.setattr(guarded, "read_regular", once)
    files = {
        "app/kustomization.yaml": "resources: [../base]\ntransformers: [../base]\n",
        "base/kustomization.yaml": "resources: [f.yaml]\n",
        "base/f.yaml": function(SPEC),
    }
    app = graph(files)
    assert app.texts[os.path.realpath("base/f.yaml")].decode() == files["base/f.yaml"]
    assert "base/f.yaml: error: No such file or directory [KRM510]" in map(str, app.findings(os.path.realpath("app")))
    assert not app.findings(os.path.realpath("base"))
