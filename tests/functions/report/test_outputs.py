"""The page of clusters that other machines have judged: the same page, or a sentence that says what is missing."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from krmfn_functions.formats.unjudged import Gap
from krmfn_functions.report import outputs
from krmfn_functions.report.page import page

from krmfn import KrmfnError
from tests import rule_examples
from tests.builders import edited
from tests.commands import ROOT, example, example_repository, process
from tests.examples import EXAMPLES
from tests.functions.report import fleets
from tests.functions.report.pages import told_of
from tests.trees import altered, plant

FOLDERS = ("examples/one-cluster", "examples/conflict", "examples/two-vendors")


@cache
def of_example(command: str, folder: str) -> tuple[int, str]:
    """Return what a command prints about a folder of examples/: equal calls run once."""
    before = Path.cwd()
    os.chdir(example_repository())
    try:
        return rule_examples.run([command, folder, "--format", "json"])
    finally:
        os.chdir(before)


def printed(folder: Path, *clusters: str) -> list[str]:
    """Return the files of a matrix with a job for each cluster."""
    names = []
    for at, cluster in enumerate(clusters):
        for command in ("nodes", "check"):
            is_example = cluster.startswith("examples/")
            words = [command, cluster, "--format", "json"]
            code, out = of_example(command, cluster) if is_example else rule_examples.run(words)
            assert code in (0, 1)
            names.append(f"{command}-{at}.json")
            (folder / names[-1]).write_text(out)
    return [str(folder / name) for name in names]


def test_the_page_is_the_one_of_all_paths_at_once(tmp_path: Path) -> None:
    folders = [str(path) for path in fleets.plant(tmp_path, 200, 3)]
    folders += [str(example_repository() / name) for name in FOLDERS]
    code, html = rule_examples.run(["report", *folders])
    files = printed(tmp_path, *folders)
    random.Random(1).shuffle(files)
    ordered = sorted(files, key=lambda name: name.rpartition("-")[2])
    assert rule_examples.run(["report", "--from", *ordered]) == (code, html) == (1, html)
    assert "Conflicts" in html
    some = rule_examples.run(["report", *folders[:2], "--from", *ordered[4:]])
    assert some == (code, html), "clusters that are here, and those from elsewhere"


def test_one_job_may_have_several_clusters(tmp_path: Path) -> None:
    folders = [str(path) for path in fleets.plant(tmp_path, 60, 2)]
    for command in ("nodes", "check"):
        _, out = rule_examples.run([command, *folders, "--format", "json"])
        (tmp_path / f"{command}.json").write_text(out)
    files = [str(tmp_path / f"{command}.json") for command in ("nodes", "check")]
    assert rule_examples.run(["report", "--from", *files]) == rule_examples.run(["report", *folders])


def test_images_of_all_clusters_are_the_same(tmp_path: Path) -> None:
    folders = [str(path) for path in fleets.plant(tmp_path, 9, 2)]
    expected = rule_examples.run(["images", *folders, "--format", "json"])
    assert expected[0] == 0
    files = printed(tmp_path, *folders)
    assert rule_examples.run(["images", "--from", *files, "--format", "json"]) == expected
    held = tmp_path / "held.txt"
    held.write_text("")
    assert rule_examples.run(["images", "--from", *files, "--missing-from", str(held)])[0] == 1


def test_images_of_a_cluster_with_errors_are_not_known(tmp_path: Path) -> None:
    files = printed(tmp_path, str(example("conflict")))
    assert "are not known: it has errors" in process("krmfn", "images", "--from", *files).ended(1).err


def test_a_cluster_with_half_of_its_files_is_not_green(tmp_path: Path) -> None:
    nodes, check = printed(tmp_path, str(example("one-cluster")))
    for name, missing in ((nodes, "krmfn check --format json"), (check, "krmfn nodes --format json")):
        _, page = rule_examples.run(["report", "--from", name])
        assert 'class="tone-fine"' not in page
        assert f"none of the given files was printed by <code>{missing}</code> for it" in page.replace("&#34;", '"')
    _, page = rule_examples.run(["report", "--from", nodes, check])
    assert 'class="tone-fine"' in page


def test_two_files_about_another_input_are_refused(tmp_path: Path) -> None:
    """A stale file of `check` would make a page green that has no row of a config with an error."""
    shutil.copytree(ROOT / "examples/one-cluster", tmp_path / "lab")
    (check,) = printed(tmp_path, str(tmp_path / "lab"))[1:]
    altered(tmp_path / "lab" / "gpu.yaml", "moduleName", "modulName")
    (tmp_path / "nodes.json").write_bytes(process("krmfn", "nodes", str(tmp_path / "lab"), "--format", "json").out)
    refusal = process("krmfn", "report", "--from", str(tmp_path / "nodes.json"), check).refused()
    assert f"nodes.json says that {tmp_path / 'lab'} has errors, but {check} has none for it" in refusal


PRINTED = [
    (f"{command}.json", process("krmfn", command, folder, "--format", "json").text)
    for command in ("nodes", "check")
    for folder in ("examples/one-cluster", "examples/conflict")
]
"""The outputs of `nodes` and `check`, each of a cluster that is fine and of one that is not."""
NODES = PRINTED[0][1]


def changed(*edits: tuple[str, Any]) -> str:
    """Return the output of `nodes` of the cluster that is fine with other values."""
    return json.dumps(edited(json.loads(NODES), *edits))


WRONG = {
    "is empty; the command that should have written it failed": "",
    "is not JSON, or is incomplete": NODES[:-40],
    "is not the output of `krmfn nodes` or `krmfn check`": json.dumps(json.loads(NODES)["clusters"]),
    "is not the output of `krmfn nodes` or": '{"apiVersion": "v1", "kind": "List", "items": []}',
    "has the format krmfn.dev/nodes/v2, and this": changed(("format", "krmfn.dev/nodes/v2")),
    "was printed with --label, --node, --owner or --problems": changed(("whole", False)),
    "shows what would happen with --kernel 6.1, not the current state": changed(("kernel", "6.1")),
    "are both about the cluster ": changed(("clusters", json.loads(NODES)["clusters"] * 2)),
    "the state 'well' of node gpu-1": changed(("clusters[0].rows[0].state", "well")),
    "the state 'idle' of node web-1": changed(
        ("clusters[0].rows[6].state", "idle"), ("clusters[0].rows[6].module", None)
    ),
    "is not among the Modules of the cluster": changed(("clusters[0].modules", [])),
    "clusters[0].rows[0].node: is the number 7; must be a string": changed(("clusters[0].rows[0].node", 7)),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_not_whole_or_not_ours_is_a_sentence(message: str, tmp_path: Path) -> None:
    nodes, check = printed(tmp_path, "examples/one-cluster")
    Path(nodes).write_text(WRONG[message])
    for command in ("report", "images"):
        refusal = process("krmfn", command, "--from", nodes, check).refused()
        assert message in refusal
        assert nodes in refusal


def test_a_baseline_leaves_findings_out(tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    process("krmfn", "check", "examples/conflict", "--write-baseline", str(known))
    done = process("krmfn", "check", "examples/conflict", "--baseline", str(known), "--format", "json")
    (tmp_path / "check.json").write_text(done.text)
    refused = process("krmfn", "report", "--from", str(tmp_path / "check.json"))
    assert (refused.code, "was printed with --baseline, which leaves findings out" in refused.err) == (2, True)


def test_what_could_not_be_read_elsewhere_is_on_the_page(tmp_path: Path) -> None:
    plant(tmp_path, {"lab/a.yaml": "apiVersion: [\nkind: a\n"})
    done = process("krmfn", "check", "lab", "--format", "json", "--root", ".", cwd=tmp_path).ended(2)
    (tmp_path / "check.json").write_text(done.text)
    page = process("krmfn", "report", "--from", "check.json", cwd=tmp_path).ended(1)
    assert "lab/a.yaml:3" in page.text
    assert 'class="tone-bad"' in page.text


def test_a_cluster_that_nobody_judges_is_told_of(tmp_path: Path) -> None:
    absent = {"kind": "clusters", "subject": "all of a cluster", "reason": "not asked for", "names": ["lab", "out"]}
    files = []
    for name in ("dev", "stage"):
        document = json.loads(process("krmfn", "check", "-", "--format", "json", stdin=f"kind: {name}\n").out)
        document |= {"clusters": [name], "findings": [], "notJudged": [{**absent, "number": 2, "meant": True}]}
        files.append((f"{name}.json", json.dumps(document)))
    gap = Gap("clusters", "all of a cluster", "not asked for", ("lab", "out"), is_meant=True)
    assert [part.gaps for part in outputs.read(files)] == [[gap], [gap]]
    assert [part.gaps for part in outputs.read(files, ["out"])] == [[gap._replace(names=("lab",))]] * 2
    files.append(("lab.json", files[0][1].replace('"clusters": ["dev"]', '"clusters": ["lab"]')))
    assert {gap.names for part in outputs.read(files) for gap in part.gaps} == {("lab",), ("out",)}


def test_a_cluster_is_here_or_elsewhere(tmp_path: Path) -> None:
    files = printed(tmp_path, "examples/one-cluster")
    done = process("krmfn", "report", "examples/one-cluster", "--from", *files)
    assert (done.code, "examples/one-cluster is both in a file of --from and among the PATHs" in done.err) == (2, True)


def test_options_about_paths_need_paths(tmp_path: Path) -> None:
    files = printed(tmp_path, "examples/one-cluster")
    against = process("krmfn", "report", "--from", *files, "--against", "examples/conflict")
    assert (against.code, "--against needs a PATH" in against.err) == (2, True)
    kernel = process("krmfn", "images", "--from", *files, "--kernel", "6.1.0")
    assert (kernel.code, "--kernel cannot be combined with --from" in kernel.err) == (2, True)


def test_a_text_that_is_empty_is_none() -> None:
    document = json.loads(NODES)
    [cluster] = document["clusters"]
    kernels = [kernel for module in cluster["modules"] for kernel in module["kernels"]]
    read = []
    for nothing in (None, ""):
        for kernel in kernels:
            kernel |= {"kernel": nothing, "failure": nothing}
        read += outputs.read([("nodes.json", json.dumps(document))])
    assert kernels
    assert read[0] == read[1]


def test_a_node_has_the_kernel_of_its_last_row() -> None:
    document = json.loads(NODES)
    rows = document["clusters"][0]["rows"]
    document["clusters"][0]["rows"] = [rows[0] | {"kernel": "5.0.0"}, rows[0] | {"kernel": "6.0.0"}]
    [part] = outputs.read([("nodes.json", json.dumps(document))])
    assert [(group.names, group.kernel) for group in part.groups] == [((rows[0]["node"],), "6.0.0")]


VALUES: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.just([]) | st.just({})
)


@settings(max_examples=EXAMPLES * 5)
@given(st.data())
def test_a_file_with_another_value_anywhere_is_read_or_refused(data: st.DataObject) -> None:
    """Never a crash: a page, or a sentence that names the file."""
    name, text = data.draw(st.sampled_from(PRINTED))
    document = json.loads(text)
    holder: Any = document
    while isinstance(holder, dict | list) and holder:
        key = data.draw(st.sampled_from(list(holder) if isinstance(holder, dict) else list(range(len(holder)))))
        if not isinstance(holder[key], dict | list) or not holder[key] or data.draw(st.integers(0, 5)) == 0:
            holder[key] = data.draw(VALUES)
            break
        holder = holder[key]
    assert page_or_refusal(name, document)


def page_or_refusal(name: str, document: Any) -> str:
    """Return the page of a file, or the sentence that refuses it; it names the file."""
    try:
        parts = outputs.read([(name, json.dumps(document))])
        return page(parts, {}, "1.2.3", told_of(parts))
    except KrmfnError as failure:
        assert str(failure).startswith(f"{name}: ") or f" {name} " in str(failure)
        return str(failure)


def places(value: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the path, the holder and the key of each value in a document."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        inner = f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}".lstrip(".")
        yield inner, value, key
        yield from places(value[key], inner)


@pytest.mark.parametrize("at", range(4))
def test_each_field_may_have_any_value_be_missing_or_have_another_length(at: int) -> None:
    """Of the places whose paths differ only in positions, the first one."""
    name, text = PRINTED[at]
    document = json.loads(text)
    first = {re.sub(r"\d+", "", place[0]): place for place in reversed([*places(document)])}
    for path, holder, key in first.values():
        before = holder[key]
        lengths = [before[:-1], [*before, before[-1]]] if isinstance(before, list) and before else []
        values: list[Any] = [None, True, -1, 7, 1.5, "", "x", [], {}, *lengths]
        for value in values:
            holder[key] = value
            assert page_or_refusal(name, document), path
        del holder[key]
        if isinstance(holder, dict):
            message = page_or_refusal(name, document)
            is_required = path != "format" and not path.startswith("summary.kinds.") and ".facts." not in path
            is_required &= path.rpartition(".")[2] not in ("runs", "wanted", "agrees", "doubt")  # of a live node
            assert message.startswith(f"{name}: {path}: is required") or not is_required
            holder[key] = before
        else:
            assert page_or_refusal(name, document), path
            holder.insert(key, before)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("conflicts[0].labels[0].values", ["true", None, "true"], "has 3 entries, but the conflict has 2 sides"),
        ("conflicts[0].labels[1].values", [], "has 0 entries, but the conflict has 2 sides"),
        ("conflicts[0].severity", "fatal", "is 'fatal'; must be one of error, warning, info"),
        ("modules[1].kernels[0].mapping", 1, "is 1, but the Module has 1 mapping"),
        ("conflicts[0].hiddenSides", "2", "is the string '2'; must be a whole number"),
    ],
)
def test_a_field_that_does_not_fit_is_named(path: str, value: Any, message: str, tmp_path: Path) -> None:
    file = tmp_path / "nodes.json"
    edits = edited(json.loads(PRINTED[1][1]), (f"clusters[0].{path}", value))
    file.write_text(json.dumps(edits))
    refusal = process("krmfn", "report", "--from", str(file)).refused()
    assert f"{file}: clusters[0].{path}: {message}" in refusal
    assert "print the file again with this krmfn" in refusal
