"""The commands `inventory`, `nodes` and `images`, as a person runs them."""

from __future__ import annotations

import inspect
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from krmfn_functions.fleet import coverage, table

from krmfn import Manifest
from krmfn.yamltext import emit
from tests.builders import edited, manifest, module
from tests.commands import ROOT, process
from tests.trees import altered, plant

NOT = "not selected"
EL9, NEW = "5.14.0-503.11.1.el9_5.x86_64", "5.14.0-570.12.1.el9_6.x86_64"
CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  moduleName: gpu
  driverImage: registry.example.com/gpu
  driverVersion: "1.0"
  nodeSelector: {gpu: "yes"}
  kernelMappings: [{regexp: '^.*[.]el9_5[.].*$', inTreeModulesToRemove: [nouveau]}]
"""


def node(name: str, gpu: str = "yes", kernel: str = EL9, **labels: Any) -> Manifest:
    info = {"kernelVersion": kernel, "architecture": "amd64", "osImage": "RHEL 9.5"}
    metadata = {"name": name, "labels": {"gpu": gpu, "zone": "a", **labels}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"nodeInfo": info}}


def dump(*nodes: Manifest) -> str:
    return json.dumps({"apiVersion": "v1", "items": nodes, "kind": "List", "metadata": {}}, indent=4)


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A folder with a config and the inventory of three nodes, made by the command."""
    folder = plant(tmp_path / "lab", {"config.yaml": CONFIG})
    (tmp_path / "nodes.json").write_text(dump(node("n2"), node("n1", kernel=NEW), node("n3", gpu="no")))
    done = process("krmfn", "inventory", str(tmp_path / "nodes.json"), "--for", str(folder), "--labels", "zone")
    assert (done.code, done.err) == (0, "")
    (folder / "nodes.yaml").write_bytes(done.out)
    return folder


def test_an_inventory_holds_the_labels_that_selectors_use(lab: Path) -> None:
    inventory = yaml.safe_load((lab / "nodes.yaml").read_text())
    assert inventory["spec"]["labelKeys"] == ["gpu", "zone"]
    assert inventory["metadata"] == {"name": "nodes", "annotations": {"config.kubernetes.io/local-config": "true"}}


@pytest.mark.parametrize("layout", ["JSON", "YAML", "NDJSON", "YAML documents", "one", "JSON with a mark"])
def test_an_inventory_is_made_of_whatever_kubectl_prints(layout: str) -> None:
    nodes = [node("n1"), node("n2")]
    listed = {"apiVersion": "v1", "items": nodes, "kind": "List"}
    text = {
        "JSON": json.dumps(listed),
        "YAML": yaml.safe_dump(listed),
        "NDJSON": "".join(f"{json.dumps(item)}\n" for item in nodes),
        "YAML documents": "---\n".join(map(yaml.safe_dump, nodes)),
        "one": json.dumps(nodes[0]),
        "JSON with a mark": "\ufeff" + json.dumps(listed),
    }[layout]
    done = process("krmfn", "inventory", "-", "--all-labels", "--name", "lab", stdin=text.encode()).ended(0, "")
    (group,) = yaml.safe_load(done.out)["spec"]["groups"]
    assert group["nodes"].splitlines() == [f"n{at} {EL9}" for at in (1, 2)][: 1 if layout == "one" else 2]


@pytest.mark.parametrize(
    ("args", "stdin", "message"),
    [
        ((), dump(node("n1")), "choose the labels to keep"),
        (("--all-labels", "--labels", "a"), dump(node("n1")), "remove --for and --labels"),
        (("--labels", "a b"), dump(node("n1")), "--labels: 'a b' is not a valid label key"),
        (("--labels", ""), dump(node("n1")), "--labels is empty; set a value"),
        (("--all-labels", "--name", "A"), dump(node("n1")), "--name 'A' is not a valid name"),
        (("--all-labels", "--valid-until", "tomorrow"), dump(node("n1")), "--valid-until 'tomorrow' is not a date"),
        (("--for", "/dev/null"), dump(node("n1")), "nothing in /dev/null selects nodes by a label"),
        (("--all-labels",), "", "stdin: is empty"),
        (("--all-labels",), dump(), "stdin: it contains no Node"),
        (("--all-labels",), dump(node("n1"))[:-20], "stdin: the text ends after 1 complete object"),
        (("--all-labels",), dump(node("n1"), node("n1")), "stdin: Node n1 appears twice"),
        (("--all-labels",), dump(node("n1", big="x" * (9 << 20))), "is larger than 8 MiB"),
        (("--all-labels",), dump(node("n1", a=True)), "stdin: item 1 (Node n1): its label a is True"),
        (("--all-labels",), "a: b\n", "is no dump, neither JSON nor YAML: it begins with 'a: b'"),
        (("--all-labels",), "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n", "is a Pod (v1), not a Node"),
    ],
)
def test_what_is_no_dump_prints_nothing(args: tuple[str, ...], stdin: str, message: str) -> None:
    assert message in process("krmfn", "inventory", "-", *args, stdin=stdin.encode()).refused()


ASKS = "DeviceConfig kmm/gpu asks for gpu=yes (it is no)"


def test_a_row_per_node_says_what_it_gets(lab: Path) -> None:
    done = process("krmfn", "nodes", str(lab), "--wide").ended(0, "")
    lines = [[cell for cell in line.split("  ") if cell] for line in done.out.decode().splitlines()]
    assert [[cell.strip() for cell in line] for line in lines] == [
        ["NODE", "KERNEL", "STATE", "CONFIG", "MODULE", "MAPPING", "IMAGE OR REASON"],
        ["n1", NEW, "no mapping", "kmm/gpu", "kmm/gpu", "-", "no kernel mapping matches"],
        [
            *("n2", EL9, "planned", "kmm/gpu", "kmm/gpu", "kernelMappings[0] regexp ^.*[.]el9_5[.].*$"),
            f"registry.example.com/gpu:1.0-{EL9}; removes nouveau first",
        ],
        ["n3", EL9, "not selected", "-", "-", "-", f"no selector selects this node: {ASKS}"],
    ]
    starts = {line.index(cells[2]) for line, cells in zip(done.out.decode().splitlines(), lines, strict=True)}
    assert len(starts) == 1, "columns are aligned"


def test_nodes_that_nothing_selects_are_one_line_and_all_rows_of_json(lab: Path) -> None:
    head = "apiVersion: krmfn.dev/v1alpha1\nkind: NodeInventory\nmetadata: {name: spare}\nspec:\n  labelKeys: [gpu]\n"
    lines = "".join(f"      spare-{number:03} 6.{number}.0\n" for number in range(200))
    (lab / "spare.yaml").write_text(f"{head}  groups:\n  - labels: {{gpu: 'no'}}\n    nodes: |\n{lines}")
    idle = [line for line in process("krmfn", "nodes", str(lab)).text.splitlines() if NOT in line]
    assert len(idle) == 1
    assert idle[0].split()[:5] == ["-", "-", "not", "selected", "201"]
    assert len([state for _, state in rows(str(lab)) if state == NOT]) == 201


def rows(*args: str) -> list[tuple[str, str]]:
    done = process("krmfn", "nodes", *args, "--format", "json")
    return [(row["node"], row["state"]) for cluster in json.loads(done.out)["clusters"] for row in cluster["rows"]]


def test_rows_are_filtered(lab: Path) -> None:
    assert rows(str(lab), "--problems") == [("n1", "no mapping")]
    assert rows(str(lab), "--label", "gpu=no") == [("n3", "not selected")]
    assert rows(str(lab), "--owner", "kmm/gpu") == [("n1", "no mapping"), ("n2", "planned")]
    assert rows(str(lab), "--owner", "gpu", "--label", "gpu=no") == []


def test_a_filter_that_nothing_can_pass_is_no_empty_table(lab: Path) -> None:
    for form in ("text", "json"):
        refusal = process("krmfn", "nodes", str(lab), "--owner", "gpus", "--problems", "--format", form).refused()
        assert refusal == "error: --owner gpus: no config or Module has this name; did you mean gpu?\n"
        refusal = process("krmfn", "nodes", str(lab), "--label", "zone=b", "--format", form).refused()
        assert refusal == "error: --label: no node has zone=b\n"
        refusal = process("krmfn", "nodes", str(lab), "--node", "n1", "--node", "m*", "--format", form).refused()
        assert refusal == "error: --node m*: no node has this name\n"


def test_one_node_is_asked_about(lab: Path) -> None:
    assert rows(str(lab), "--node", "n1") == [("n1", "no mapping")]
    assert rows(str(lab), "--node", "n[13]", "--node", "n2") == [("n1", "no mapping"), ("n2", "planned"), ("n3", NOT)]
    assert rows(str(lab), "--node", "*", "--problems") == [("n1", "no mapping")]


@pytest.mark.parametrize(
    "args", [("nodes", "--kernel"), ("nodes", "--live"), ("nodes", "--owner"), ("images", "--missing-from")]
)
def test_an_option_whose_variable_is_not_set_answers_no_other_question(lab: Path, args: tuple[str, str]) -> None:
    """The answer was about the kernels of today, about other nodes, or that nothing is missing, with exit code 0."""
    command, option = args
    refusal = process("krmfn", command, str(lab), option, "").refused()
    assert refusal == f"error: {option} is empty; set a value, or remove it\n"


def test_without_a_problem_that_is_said(lab: Path) -> None:
    done = process("krmfn", "nodes", str(lab), "--problems", "--kernel", EL9)
    assert (done.code, done.text) == (0, "")
    assert done.err == "info: of 3 nodes, none that matches the options lacks its driver\n"
    assert not process("krmfn", "nodes", str(lab), "--problems", "--kernel", NEW).err


def test_on_a_terminal_states_have_colours(lab: Path) -> None:
    done = process("krmfn", "nodes", str(lab), "--wide", "--color", "always")
    plain = process("krmfn", "nodes", str(lab), "--wide")
    assert "\x1b[1;31mno mapping\x1b[0m    kmm/gpu" in done.text
    assert "\x1b[32mplanned\x1b[0m     " in done.text
    assert re.sub("\x1b\\[[0-9;]*m", "", done.text) == plain.text
    [states] = re.findall(r"^State = Literal\[(.*?)^\]", inspect.getsource(coverage), re.DOTALL | re.MULTILINE)
    assert {*re.findall('"(.*?)"', states), "not selected", "not known", table.COMMITTED} == {*table.STYLES}


def test_what_if_nodes_moved_to_another_kernel(lab: Path) -> None:
    assert rows(str(lab), "--kernel", NEW, "--problems") == [("n1", "no mapping"), ("n2", "no mapping")]
    assert rows(str(lab), "--kernel", EL9, "--where", "gpu=no", "--problems") == [("n1", "no mapping")]
    assert rows(str(lab), "--kernel", EL9, "--problems") == []


def test_coverage_can_be_required(lab: Path) -> None:
    done = process("krmfn", "nodes", str(lab), "--require-coverage").ended(1)
    assert done.err == "error: DeviceConfig kmm/gpu: 1 node (n1): no kernel mapping matches\n"
    assert process("krmfn", "nodes", str(lab), "--require-coverage", "--kernel", EL9).code == 0


def test_a_node_that_kmm_fails_on_blocks_the_others(lab: Path) -> None:
    """They ran."""
    config = CONFIG.replace("^.*[.]el9_5[.].*$", "el9")
    plant(lab, {"config.yaml": config, "odd.yaml": json.dumps(node("odd", kernel="6el9"))})
    assert rows(str(lab), "--problems") == [("n1", "blocked"), ("n2", "blocked"), ("odd", "failure")]
    assert "blocked by node odd: KMM fails there" in process("krmfn", "nodes", str(lab)).text


def test_another_version_is_assumed_and_does_not_survive_a_reboot(tmp_path: Path) -> None:
    """`nodes` said that version 1 stays, also for the reboot, and coverage was complete."""
    label = "kmm.node.kubernetes.io/version-module.kmm.simple"
    info = {"nodeInfo": {"kernelVersion": "5.14.0-1.el9"}}
    nodes = [
        {**manifest("v1", "Node", name, "", labels={label: value}), "status": info}
        for name, value in (("n1", "1"), ("n2", "2"), ("n3", ""))
    ]
    ours = edited(module(version="2"), ("spec.selector", {}))
    plant(tmp_path, {"all.yaml": "---\n".join(map(emit.dump, (ours, *nodes)))})
    done = process("krmfn", "nodes", str(tmp_path), "--require-coverage").ended(1)
    assert done.err == (
        f"error: Module kmm/simple: 1 node (n1): assumed, not known: keeps what it has, if anything, while the label "
        f"{label} is 1, not 2\n"
        f"error: Module kmm/simple: 1 node (n3): not loaded until the node has the label {label}: 2\n"
    )
    moved = process("krmfn", "nodes", str(tmp_path), "--require-coverage", "--kernel", "5.14.0-2.el9", "--node", "n1")
    assert moved.code == 1
    image = "KMM loads the image for 5.14.0-1.el9 after the reboot, if any"
    reason = f"the label {label} is 1, so {image}; set the label before it"
    assert reason in moved.text
    assert f"1 node (n1): {reason}" in moved.err
    (tmp_path / "all.yaml").write_text("---\n".join(map(emit.dump, (ours, *nodes[:2]))))
    head = "Whether 1 of 2 selected nodes gets its driver is not known."
    assert f"<h1>{head}</h1>" in process("krmfn", "report", str(tmp_path)).text


def test_markdown_is_a_table_and_nothing_in_it_is_markup(lab: Path) -> None:
    done = process("krmfn", "nodes", str(lab), "--format", "markdown", "--problems")
    assert done.out.decode().splitlines() == [
        "| Node | Kernel | State | Config | Module | Mapping | Image or reason |",
        "|---|---|---|---|---|---|---|",
        "| n1 | 5.14.0-570.12.1.el9\\_6.x86\\_64 | no mapping | kmm/gpu | kmm/gpu | - | no kernel mapping matches |",
    ]


def test_several_paths_are_several_clusters(lab: Path, tmp_path: Path) -> None:
    other = shutil.copytree(lab, tmp_path / "other")
    done = process("krmfn", "nodes", str(lab), str(other), "--format", "json")
    assert [cluster["cluster"] for cluster in json.loads(done.out)["clusters"]] == [str(lab), str(other)]
    images = json.loads(process("krmfn", "images", str(lab), str(other), "--format", "json").out)
    assert [image["nodes"] for image in images] == [2]


def test_folders_below_one_path_are_one_cluster_and_how_they_are_two_is_said(lab: Path, tmp_path: Path) -> None:
    plant(tmp_path, {"east/config.yaml": CONFIG})
    done = process("krmfn", "nodes", str(tmp_path)).ended(1)
    assert "; remove or rename one; if these are two clusters, name the folder of each as a PATH [KRM103]" in done.err


def test_nodes_may_stand_elsewhere(lab: Path, tmp_path: Path) -> None:
    (lab / "nodes.yaml").rename(tmp_path / "inventory.yaml")
    done = process("krmfn", "nodes", str(lab), "--nodes", str(tmp_path / "inventory.yaml"), "--problems", "--wide")
    assert done.out.decode().splitlines()[1].startswith("n1 ")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--where", "gpu=maybe"), "--where: no node has gpu=maybe"),
        (("--where", "state=run"), "--where: no node has state=run"),
        (("--kernel", "a=b=*"), "--kernel 'a=b=*' must be a kernel, or OLD=NEW with a kernel as NEW"),
        (("--kernel", f"4.*={EL9}"), f"--kernel 4.*={EL9}: no node has such a kernel, so none moves"),
        (("--kernel", EL9, "--where", "gpu"), "'gpu' is not a label; write it as KEY=VALUE"),
        (("--kernel", EL9, "--where", "gpu=maybe"), "no node with gpu=maybe has such a kernel, so none moves"),
        (("--kernel", EL9, "--where", "rack=r1"), "NodeInventory nodes does not hold the label rack"),
        (("--label", "rack=r1"), "NodeInventory nodes does not hold the label rack"),
    ],
)
def test_what_nodes_cannot_answer(lab: Path, args: tuple[str, ...], message: str) -> None:
    assert message in process("krmfn", "nodes", str(lab), *args).refused()


def test_without_a_node_there_is_no_answer(lab: Path) -> None:
    (lab / "nodes.yaml").unlink()
    assert f"no nodes are known in {lab}" in process("krmfn", "nodes", str(lab)).refused()


@pytest.mark.parametrize("command", ["nodes", "images"])
def test_a_file_of_nodes_that_has_none_is_not_passed_over(lab: Path, tmp_path: Path, command: str) -> None:
    """The inventory in PATH, perhaps an old one, would be all that is looked at."""
    (tmp_path / "wrong.yaml").write_text(CONFIG)
    refusal = process("krmfn", command, str(lab), "--nodes", str(tmp_path / "wrong.yaml")).refused()
    assert f"--live {tmp_path / 'wrong.yaml'}: it holds no Node and no NodeInventory" in refusal
    text = dump(node("n9")) + "\n---\nitems: [{cut: off}]\n"
    (tmp_path / "more.yaml").write_text(text)
    done = process("krmfn", command, str(lab), "--nodes", str(tmp_path / "more.yaml"))
    assert f"{tmp_path / 'more.yaml'}:" in done.err
    assert "the text after 1 complete object is not JSON" in done.err


@pytest.mark.parametrize("command", ["nodes", "images", "check"])
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("spec:", 'spec:\n  validUntil: "2020-01-01"', "was valid until 2020-01-01"),
        ("- gpu\n", "", "gpu is not in spec.labelKeys"),
        ("n2 ", "n1 ", "node n1 appears twice"),
    ],
)
def test_nothing_is_concluded_from_an_inventory_with_errors(
    lab: Path, command: str, old: str, new: str, message: str
) -> None:
    text = (lab / "nodes.yaml").read_text()
    (lab / "nodes.yaml").write_text(text.replace(old, new, 1))
    done = process("krmfn", command, str(lab)).ended(1)
    assert message in done.err + done.text
    if command != "check":
        assert done.out == b""


def test_images_are_listed_once(lab: Path) -> None:
    name = f"registry.example.com/gpu:1.0-{EL9}"
    assert process("krmfn", "images", str(lab)).out.decode() == (
        f"IMAGE{' ' * (len(name) - 5)}  NODES  MADE  NEEDED BY\n{name}  1      -     Module kmm/gpu (kernel module)\n"
    )
    imageset = yaml.safe_load(process("krmfn", "images", str(lab), "--format", "imageset").out)
    assert imageset["mirror"] == {"additionalImages": [{"name": name}]}


def test_a_pipeline_stops_before_an_upgrade_without_its_image(lab: Path, tmp_path: Path) -> None:
    held = tmp_path / "held.txt"
    held.write_text(f"registry.example.com/gpu:1.0-{EL9}\n")
    assert process("krmfn", "images", str(lab), "--missing-from", str(held)).code == 0
    later = EL9.replace("503", "505")
    done = process("krmfn", "images", str(lab), "--missing-from", str(held), "--kernel", later).ended(1)
    assert done.err == (f"error: Module kmm/gpu: needs registry.example.com/gpu:1.0-{later}, which is not in {held}\n")


@pytest.mark.parametrize("form", ["text", "json", "imageset"])
def test_a_list_without_any_image_is_refused(lab: Path, tmp_path: Path, form: str) -> None:
    """A list that lacks nothing of what it needs, which is nothing: the PATH is wrong, or the selector."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "held.txt").write_text("")
    altered(lab / "config.yaml", 'gpu: "yes"', 'gpu: "ja"')
    for path in (lab, lab / "nodes.yaml", tmp_path / "empty"):
        held = str(tmp_path / "held.txt")
        refusal = process("krmfn", "images", str(path), "--missing-from", held, "--format", form).refused()
        assert "so the list would be empty; check that this is the right PATH" in refusal


def test_images_for_a_kernel_that_is_not_known_are_no_silence(lab: Path, tmp_path: Path) -> None:
    altered(lab / "nodes.yaml", f"n2 {EL9}", "n2 -")
    done = process("krmfn", "images", str(lab))
    says = "Module kmm/gpu: 1 node (n2) has reported no kernel, so not all of its images are known"
    assert (done.code, done.err) == (1, f"error: {says}; pass a future kernel with --kernel VERSION\n")
    assert process("krmfn", "images", str(lab), "--kernel", EL9).ended(0).err == f"warning: {says}\n"
    (tmp_path / "nodes.json").write_bytes(process("krmfn", "nodes", str(lab), "--format", "json").out)
    done = process("krmfn", "images", "--from", str(tmp_path / "nodes.json"))
    assert (done.code, done.err) == (1, f"error: the images of {lab} are not known: {says}\n")
    page = process("krmfn", "report", "--from", str(tmp_path / "nodes.json")).text
    assert f"its images are not known: {says}" in page


def test_an_image_that_depends_on_no_kernel_is_known(lab: Path) -> None:
    altered(lab / "nodes.yaml", f"n2 {EL9}", "n2 -")
    altered(lab / "nodes.yaml", f"n1 {NEW}", "n1 -")
    altered(lab / "config.yaml", 'com/gpu\n  driverVersion: "1.0"\n', "com/gpu:1.0\n")
    (lab / "config.yaml").write_text((lab / "config.yaml").read_text().partition("  kernelM")[0])
    (image,) = json.loads(process("krmfn", "images", str(lab), "--format", "json").out)
    assert (image["image"], image["nodes"]) == ("registry.example.com/gpu:1.0", 2)


def test_nodes_that_nothing_is_asked_about_are_not_covered(lab: Path) -> None:
    """A PATH without Modules, and a selector that selects no node."""
    path = str(lab / "nodes.yaml")
    says = f"no Module is in {path}, so no node can get one; is it the right PATH?\n"
    assert process("krmfn", "nodes", path).ended(0).err == f"warning: {says}"
    assert process("krmfn", "nodes", path, "--require-coverage").ended(1).err == f"error: {says}"
    (lab / "config.yaml").write_text(CONFIG.replace('gpu: "yes"', 'gpu: "ja"'))
    says = "warning: the table has no row for DeviceConfig kmm/gpu: no node is selected\n"
    assert process("krmfn", "nodes", str(lab)).err == says
    assert process("krmfn", "nodes", str(lab), "--owner", "gpu").err == says


def test_an_error_in_the_input_is_no_empty_list(lab: Path) -> None:
    (lab / "config.yaml").write_text(CONFIG.replace("moduleName", "moduelName"))
    assert "spec.moduelName" in process("krmfn", "images", str(lab)).refused(1)


def test_of_what_has_an_error_the_table_shows_what_is_known(lab: Path) -> None:
    (lab / "config.yaml").write_text(CONFIG.replace("moduleName", "moduelName"))
    done = process("krmfn", "nodes", str(lab), "--problems", "--wide").ended(1)
    assert "spec.moduelName" in done.err
    assert (
        f"warning: {lab} has errors, so nothing is rendered from it; the table shows what its nodes would get"
        in done.err
    )
    assert "warning: the table has no row for DeviceConfig kmm/gpu: no Module is generated from it" in done.err
    cells = "not known  -       -       -        no Module is generated from DeviceConfig kmm/gpu"
    assert [line.partition("  ")[0] for line in done.text.splitlines() if line.endswith(cells)] == ["n1", "n2", "n3"]


def test_a_conflict_is_shown_on_its_nodes(lab: Path) -> None:
    (lab / "other.yaml").write_text(CONFIG.replace("name: gpu,", "name: other,").replace('gpu: "yes"', 'zone: "a"'))
    for form in ("text", "markdown"):
        done = process("krmfn", "nodes", str(lab), "--format", form)
        assert (done.code, "[KRM301]" in done.err) == (1, True)
        assert done.text.count("in conflict with DeviceConfig kmm/other") == 2
        assert done.text.count("in conflict with DeviceConfig kmm/gpu") == 2
        assert done.text.count("no kernel mapping matches") == 0


def test_of_nodes_of_which_something_is_wrong_the_table_says_why_it_is_not_there(lab: Path) -> None:
    altered(lab / "nodes.yaml", "n2 ", "n1 ")
    refusal = process("krmfn", "nodes", str(lab)).refused(1)
    assert f"warning: no nodes of {lab} are shown, because there are errors about its nodes; " in refusal


def test_with_exclusivity_turned_off_two_configs_run_on_one_node(lab: Path) -> None:
    """As `check` and the cluster have it then; `nodes` said that they are in conflict, `images` left theirs out."""
    (lab / "other.yaml").write_text(CONFIG.replace("name: gpu,", "name: other,").replace("registry", "mirror"))
    (lab / "settings.yaml").write_text(
        "apiVersion: krmfn.dev/v1alpha1\nkind: RenderDeviceConfigs\nmetadata: {name: s}\n"
        "spec: {exclusivity: {mode: 'off'}}\n"
    )
    assert [pair for pair in rows(str(lab)) if pair[0] == "n2"] == [("n2", "planned"), ("n2", "planned")]
    assert f"mirror.example.com/gpu:1.0-{EL9}" in process("krmfn", "images", str(lab)).text


def test_a_kernel_to_come_that_no_mapping_matches_is_an_error(lab: Path) -> None:
    done = process("krmfn", "images", str(lab), "--kernel", NEW).ended(1)
    assert f"error: Module kmm/gpu: no kernel mapping for {NEW}, so there is no image for it; add a mapping" in done.err
    assert f"registry.example.com/gpu:1.0-{EL9}" in done.text, "the others are listed all the same"
    accepted = process("krmfn", "images", str(lab), "--kernel", NEW, "--allow-unmapped")
    assert (accepted.code, accepted.err, accepted.text) == (0, "", done.text)
    assert process("krmfn", "images", str(lab), "--kernel", EL9.replace("503", "504")).code == 0


def test_a_cordoned_node_waits_and_is_not_in_an_inventory(tmp_path: Path) -> None:
    """A cordon was left out of Node objects, too: the row said `runs` of a node from which KMM unloads the driver."""
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    dumped = dump(node("a"), edited(node("b"), ("spec", {"taints": [taint]})))
    folder = plant(tmp_path, {"config.yaml": CONFIG, "nodes.json": dumped})
    [cluster] = json.loads(process("krmfn", "nodes", ".", "--format", "json", cwd=folder).out)["clusters"]
    rows = cluster["rows"]
    assert [(row["node"], row["state"]) for row in rows] == [("a", "planned"), ("b", "waiting")]
    assert rows[1]["reason"] == "waits while the node is cordoned (node.kubernetes.io/unschedulable:NoSchedule)"
    assert rows[1]["image"], "it is pulled once the node is uncordoned"
    assert process("krmfn", "nodes", ".", "--require-coverage", cwd=folder).code == 1
    assert "unschedulable" not in process("krmfn", "check", ".", cwd=folder).text
    written = process("krmfn", "inventory", "nodes.json", "--for", ".", cwd=folder).text
    assert "unschedulable" not in written
    assert "  b " in written or " b\n" in written


def test_nodes_are_counted_by_config_kernel_image_and_state(lab: Path) -> None:
    """The rows are for one node, or for who asks; the numbers are for a fleet."""
    done = process("krmfn", "nodes", str(lab))
    rows = process("krmfn", "nodes", str(lab), "--wide")
    head, *lines = done.text.splitlines()
    assert head.split("  ")[0] == "CONFIG"
    numbers = [int(re.split(r"  +", line)[3]) for line in lines if line.startswith("kmm/gpu ")]
    assert sum(numbers) == sum("  kmm/gpu  " in line for line in rows.text.splitlines())
    assert process("krmfn", "nodes", str(lab), "--node", "n1").text.splitlines()[0].startswith("NODE ")


def test_a_kernel_moves_only_nodes_that_have_the_old_one(lab: Path) -> None:
    def kernels(*args: str) -> list[str]:
        clusters = json.loads(process("krmfn", "nodes", str(lab), "--format", "json", *args).text)["clusters"]
        return [row["kernel"] for row in clusters[0]["rows"]]

    before = kernels()
    assert len(set(before)) > 1
    old = before[0]
    assert kernels("--kernel", f"{old[:6]}*=9.9.9") == [
        "9.9.9" if kernel.startswith(old[:6]) else kernel for kernel in before
    ]
    moved = ["9.9.9" if kernel == old else kernel for kernel in before]
    assert kernels("--kernel", f"{old}=9.9.9", "--where", f"kernel={old}") == moved
    assert set(kernels("--where", f"kernel={old}")) == {old}
    process("krmfn", "images", str(lab), "--kernel", f"{old}=9.9.9", "--allow-unmapped").ended(0)
    assert "so none moves" in process("krmfn", "images", str(lab), "--kernel", "0.0=9.9.9").ended(2).err


def test_one_broken_cluster_does_not_darken_the_others(lab: Path, tmp_path: Path) -> None:
    """Exit code 2, an error for it, and what is known of the others."""
    broken = plant(tmp_path / "broken", {"a.yaml": "apiVersion: v1\nkind: ["})
    for command in ("nodes", "images", "report"):
        done = process("krmfn", command, str(lab), str(broken))
        alone = process("krmfn", command, str(lab))
        assert (done.code, alone.code) == (2, done.code - 2 + alone.code)
        assert f"left out, since not all of it can be read: {broken}" in done.err
        assert "registry.example.com/gpu" in done.text


def test_builds_are_a_matrix_of_what_is_not_there(tmp_path: Path) -> None:
    """A row per image, kernel and architecture; a kernel to come counts, and what the registry has does not."""
    command = ("krmfn", "images", "examples/one-cluster", "--builds", "--kernel", "5.14.0-570.99.1.el9_6.x86_64")
    rows = json.loads(process(*command).out)["include"]
    kernels = {(row["module"]["name"], row["kernel"].split("-")[1].split(".")[0], row["kernel"]) for row in rows}
    assert len(kernels) == len(rows) == 6
    assert {row["architecture"] for row in rows} == {"amd64"}
    assert all(row["image"].endswith(row["kernel"]) for row in rows)
    held = tmp_path / "held.txt"
    held.write_text("".join(f"{row['image']}\n" for row in rows[1:]))
    assert json.loads(process(*command, "--missing-from", str(held)).ended(1).out)["include"] == rows[:1]
    held.write_text("".join(f"{row['image']}\n" for row in rows))
    assert json.loads(process(*command, "--missing-from", str(held)).ended(0).out) == {"include": []}


def test_sources_are_what_is_copied() -> None:
    command = ("krmfn", "images", "examples/one-cluster", "--mirror", "hub.example.com=registry.example.com")
    pairs = json.loads(process(*command, "--format", "json").out)
    assert len(pairs) == 4
    assert all(pair["source"] == pair["destination"].replace("registry.", "hub.") for pair in pairs)
    listed = process(*command, "--format", "imageset").text
    assert all(pair["source"] in listed and pair["destination"] not in listed for pair in pairs)
    assert process(*command, "--format", "skopeo").text.startswith("hub.example.com:\n  images:\n    gpu/driver:\n")
    assert process(*command, "--builds").code == 2


def test_an_error_of_a_base_that_two_clusters_build_is_said_once(tmp_path: Path) -> None:
    for name in ("lab", "prod"):
        shutil.copytree(ROOT / "examples/one-cluster", tmp_path / name)
    done = process("krmfn", "images", "lab", "prod", "--kernel", "6.12.0-1.el10.x86_64", cwd=tmp_path).ended(1)
    lines = [line for line in done.err.splitlines() if "no kernel mapping for 6.12.0-1.el10.x86_64" in line]
    assert len(lines) == 1, done.err
