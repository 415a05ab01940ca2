"""What stands elsewhere (--against): it takes part in what is judged, and is neither judged nor printed."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
import yaml

from krmfn import Manifest
from tests.builders import module
from tests.commands import Done, process
from tests.trees import plant

OURS = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  moduleName: gpu
  driverImage: registry.example.com/gpu
  driverVersion: "1.0"
  nodeSelector: {card: gpu}
"""
THEIRS = OURS.replace("name: gpu, namespace: kmm", "name: gpu, namespace: team-b").replace("card: gpu", "pool: canary")
APART = THEIRS.replace("pool: canary", "card: other")
MEET = "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {card: gpu, pool: canary}}\n"
PASS = MEET.replace(", pool: canary", "") + "status: {nodeInfo: {kernelVersion: 6.1.0}}\n"
SETTINGS = "apiVersion: krmfn.dev/v1alpha1\nkind: RenderDeviceConfigs\nmetadata: {name: r}\nspec: "
INVENTORY = "apiVersion: krmfn.dev/v1alpha1\nkind: NodeInventory\nmetadata: {name: nodes}\n"
INVENTORY += "spec: {labelKeys: [card], groups: [{labels: {card: gpu}, nodes: 'n1 6.1.0'}]}\n"
OFF = SETTINGS + '{exclusivity: {mode: "off"}}\n'
POD = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kmm}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      serviceAccountName: theirs
      nodeSelector: {kmm.node.kubernetes.io/team-b.gpu.ready: ""}
      containers: [{name: agent, image: registry.example.com/agent:1}]
"""
ACCOUNTS = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: NAME, namespace: kmm}\n"


def run(folder: Path, command: str, *args: str, against: str = "theirs", stdin: bytes = b"", **texts: str) -> Done:
    """Run a command on the folder `ours` against another one; the texts are files, `ours_a` is ours/a.yaml."""
    plant(folder, {f"{name.replace('_', '/', 1)}.yaml": text for name, text in texts.items()})
    options = ["--root", str(folder), "--against", against, *args]
    return process("krmfn", command, "ours", *options, cwd=folder, stdin=stdin)


def dump(*items: Manifest) -> str:
    """Return what `kubectl get -o yaml` prints of objects."""
    live = [
        {**one, "metadata": {**one["metadata"], "uid": f"u{at}", "resourceVersion": "7"}}
        for at, one in enumerate(items)
    ]
    return yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": live})


def rendered(folder: Path) -> list[Manifest]:
    return list(yaml.safe_load_all(process("krmfn", "render", "ours", "--root", ".", cwd=folder).text))


@pytest.mark.parametrize("command", ["check", "render", "nodes", "images", "report"])
def test_a_node_that_both_drive_is_an_error_that_names_both_with_file_and_line(command: str, tmp_path: Path) -> None:
    done = run(
        tmp_path, command, *(["--wide"] if command == "nodes" else []), ours_a=OURS, ours_n=MEET, theirs_a=THEIRS
    ).ended(1)
    said = done.text if command == "check" else done.err
    (line,) = (line for line in said.splitlines() if "[KRM301]" in line)
    assert line.startswith("ours/a.yaml:8:3: error: DeviceConfig kmm/gpu: spec.nodeSelector: node n1 is selected by ")
    assert "DeviceConfig team-b/gpu (from --against: theirs/a.yaml:8, spec.nodeSelector)" in line
    assert command in ("check", "nodes", "report") or not done.out
    assert (
        command != "nodes"
        or "conflict  kmm/gpu  kmm/gpu  -        in conflict with DeviceConfig team-b/gpu" in done.text
    )


def test_a_page_shows_the_node_as_one_in_conflict_and_both_selectors(tmp_path: Path) -> None:
    page = run(tmp_path, "report", ours_a=OURS, ours_n=MEET, theirs_a=THEIRS).text
    assert "1 of 1 selected node gets no driver." in page
    assert "DeviceConfig team-b/gpu (from --against)" in page
    assert "in conflict with DeviceConfig team-b/gpu" in page
    assert "team-b/gpu driver" not in page, "their image is not ours to pull"
    fine = run(tmp_path, "report", ours_a=OURS, ours_n=PASS, theirs_a=APART).text
    assert "Every selected node gets its driver: 1 node." in fine
    assert "team-b" not in fine, "nothing of theirs is on the page"


def test_who_cannot_meet_is_fine_and_nothing_of_theirs_is_printed(tmp_path: Path) -> None:
    done = run(tmp_path, "check", ours_a=OURS, ours_n=PASS, theirs_a=APART)
    assert (done.code, done.text) == (0, "no findings: 1 DeviceConfig in 2 resources, 2 files\n")
    assert done.err == "compared with 2 resources of theirs\n"
    made = run(tmp_path, "render", "--quiet")
    assert [one["metadata"]["namespace"] for one in yaml.safe_load_all(made.text)] == ["kmm"]
    (cluster,) = json.loads(run(tmp_path, "nodes", "--format", "json").text)["clusters"]
    rows = cluster["rows"]
    assert [(row["node"], row["module"]["namespace"], row["state"]) for row in rows] == [("n1", "kmm", "planned")]


def test_their_warnings_are_theirs(tmp_path: Path) -> None:
    warned = APART.replace("spec:\n", "spec:\n  imagePullPolicy: Always\n") + "---\n" + ACCOUNTS * 1
    warned += "---\n" + POD.replace("name: agent, namespace: kmm", "name: other, namespace: kmm")
    assert "warning" in process("krmfn", "check", "-", stdin=warned).text
    done = run(tmp_path, "check", ours_a=OURS, theirs_a=warned)
    assert (done.code, done.text) == (0, "no findings: 1 DeviceConfig in 1 resource, 1 file\n")


@pytest.mark.parametrize("what", ["rendered", "dump", "stdin"])
def test_what_is_rendered_and_a_dump_claim_by_their_modules(what: str, tmp_path: Path) -> None:
    theirs = list(yaml.safe_load_all(process("krmfn", "render", "-", stdin=THEIRS).text))
    text = yaml.safe_dump_all(theirs) if what == "rendered" else dump(*theirs)
    if what == "stdin":
        done = run(tmp_path, "check", against="-", stdin=text.encode(), ours_a=OURS, ours_n=MEET)
    else:
        done = run(tmp_path, "check", ours_a=OURS, ours_n=MEET, theirs_a=text)
    assert done.code == 1
    name = "stdin" if what == "stdin" else "theirs/a.yaml"
    assert f"Module team-b/gpu (from --against: {name}:" in done.text
    assert ", spec.selector); both load the kernel module gpu" in done.text


def test_our_own_earlier_render_is_no_conflict(tmp_path: Path) -> None:
    """In a dump, and in a rendered branch: the mark says whose it is, also when the selector has changed since."""
    plant(tmp_path, {"ours/a.yaml": OURS + "  daemonSets: [{name: agent, image: 'registry.example.com/a:1'}]\n"})
    made = rendered(tmp_path)
    assert len(made) == 2
    for text in (dump(*made), yaml.safe_dump_all(made)):
        done = run(tmp_path, "check", ours_n=MEET, theirs_a=text)
        assert (done.code, "no findings" in done.text) == (0, True), done.text
        assert "compared with 0 resources of theirs; skipped 2 more: part of PATH, nodes or settings" in done.err
        run(tmp_path, "check", ours_a=OURS.replace("card: gpu", "pool: canary")).ended(0)
        plant(tmp_path, {"ours/a.yaml": OURS + "  daemonSets: [{name: agent, image: 'registry.example.com/a:1'}]\n"})


def test_what_we_make_no_longer_is_theirs_until_it_is_gone(tmp_path: Path) -> None:
    pools = OURS.replace("  nodeSelector: {card: gpu}\n", "  nodePools: [{name: NAME, nodeSelector: {card: gpu}}]\n")
    plant(tmp_path, {"ours/a.yaml": pools.replace("NAME", "old")})
    made = rendered(tmp_path)
    done = run(tmp_path, "check", ours_a=pools.replace("NAME", "new"), ours_n=MEET, theirs_a=dump(*made)).ended(1)
    assert (
        "Module kmm/gpu-old (from --against, generated from DeviceConfig kmm/gpu earlier but not now: theirs/a.yaml:"
        in done.text
    )


def test_with_an_error_here_what_was_made_earlier_is_not_held_against_us(tmp_path: Path) -> None:
    plant(tmp_path, {"ours/a.yaml": OURS})
    made = rendered(tmp_path)
    done = run(tmp_path, "check", ours_a=OURS.replace("driverImage", "driverImag"), ours_n=MEET, theirs_a=dump(*made))
    assert done.code == 1
    assert {line.rpartition("[")[2] for line in done.text.splitlines() if line.endswith("]")} == {"KRM101]"}


@pytest.mark.parametrize(
    ("theirs", "message"),
    [
        (OURS, "is both here and in --against (theirs/a.yaml:1)"),
        (
            f"{APART}---\n{ACCOUNTS}",
            "ServiceAccount kmm/NAME: is both here and in --against (theirs/a.yaml:9)",
        ),
        (
            dump(module(name="gpu", selector={"card": "x"})),
            "the cluster already has it (theirs/a.yaml:3), but it was not",
        ),
    ],
)
def test_one_resource_on_both_sides_is_an_error(theirs: str, message: str, tmp_path: Path) -> None:
    done = run(tmp_path, "check", ours_a=OURS, ours_b=ACCOUNTS, theirs_a=theirs).ended(1)
    assert message in done.text
    assert "[KRM527]" in done.text


def test_what_we_apply_by_hand_may_be_on_the_cluster_already(tmp_path: Path) -> None:
    live = dump(yaml.safe_load(ACCOUNTS), module(name="hand", selector={"card": "x"}))
    hand = yaml.safe_dump(module(name="hand", selector={"card": "x"}))
    run(tmp_path, "check", ours_a=OURS, ours_b=ACCOUNTS, ours_c=hand, theirs_a=live).ended(0)


def test_the_same_files_are_ours_and_not_theirs(tmp_path: Path) -> None:
    plant(tmp_path, {"all/ours.yaml": OURS, "all/b.yaml": APART})
    done = process("krmfn", "check", "all/ours.yaml", "--against", "all", "--root", ".", cwd=tmp_path)
    assert (done.code, "no findings" in done.text) == (0, True), done.text


@pytest.mark.parametrize(
    ("theirs", "code", "message"),
    [
        (THEIRS.replace("moduleName", "moduleNam"), 1, "which --against names, has "),
        (
            f"{THEIRS}---\n{THEIRS.replace('name: gpu', 'name: two')}",
            1,
            "so it is not known which nodes it claims; the first error:",
        ),
        (yaml.safe_dump(module(name="x", selector="all")), 1, "spec.selector is not a mapping of labels to strings"),
        (
            dump(yaml.safe_load(THEIRS)),
            1,
            "nothing there was generated from it, so the nodes that it selects are not known",
        ),
        ("kind: a\napiVersion: [\n", 2, "theirs/a.yaml"),
    ],
)
def test_what_theirs_claims_has_to_be_known(theirs: str, code: int, message: str, tmp_path: Path) -> None:
    assert message in run(tmp_path, "check", ours_a=OURS, theirs_a=theirs).ended(code).text
    assert run(tmp_path, "render").out == b"", "nothing is rendered on a guess"


def test_a_dump_of_another_operator_s_configs_with_their_modules_is_known(tmp_path: Path) -> None:
    config = yaml.safe_load(APART.replace("krmfn.dev/v1alpha1", "example.com/v1alpha1"))
    owner = {"apiVersion": "example.com/v1alpha1", "kind": "DeviceConfig", "name": "gpu", "uid": "u0"}
    made = module(name="gpu-module", namespace="team-b", selector={"card": "other"})
    made["metadata"]["ownerReferences"] = [owner]
    assert run(tmp_path, "check", ours_a=OURS, theirs_a=dump(config, made)).code == 0


@pytest.mark.parametrize("theirs", ["nowhere", "empty"])
def test_a_path_that_holds_nothing_is_no_pass(theirs: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = run(tmp_path, "check", against=theirs, ours_a=OURS).ended(2)
    assert f"{theirs}: error: " in done.text or f"{theirs} holds no resource" in done.text


@pytest.mark.parametrize("text", ["", "# what kubectl should have written\n", "a: b\n"])
@pytest.mark.parametrize("is_pipe", [False, True])
def test_a_dump_that_was_not_written_is_no_pass(text: str, is_pipe: bool, tmp_path: Path) -> None:
    """As `kubectl ... > dump.yaml` and `<(kubectl ...)` leave it when kubectl fails."""
    name = "dump.yaml"
    if is_pipe:
        os.mkfifo(tmp_path / name)
        threading.Thread(target=(tmp_path / name).write_text, args=(text,), daemon=True).start()
    else:
        (tmp_path / name).write_text(text)
    assert f"{name} holds no resource" in run(tmp_path, "check", against=name, ours_a=OURS).ended(2).text


def test_a_dump_of_an_empty_cluster_claims_nothing(tmp_path: Path) -> None:
    (tmp_path / "dump.yaml").write_text(dump())
    for against in ("dump.yaml", "/dev/null"):
        assert run(tmp_path, "check", against=against, ours_a=OURS).code == 0
    assert run(tmp_path, "check", against="-", stdin=dump().encode(), ours_a=OURS).code == 0


def test_exclusivity_that_is_off_and_against_contradict_each_other(tmp_path: Path) -> None:
    done = run(tmp_path, "check", ours_a=OURS, ours_c=OFF, theirs_a=APART)
    assert (done.code, "[KRM528]" in done.text) == (1, True)
    assert "ours/c.yaml:4:" in done.text
    assert run(tmp_path, "check", theirs_a=ACCOUNTS).code == 0, "what claims no node is only there for references"


def test_labels_that_the_inventory_lacks_decide_nothing(tmp_path: Path) -> None:
    for command in ("check", "nodes", "report"):
        done = run(tmp_path, command, ours_a=OURS, ours_n=INVENTORY, theirs_a=THEIRS).ended(1)
        said = done.text if command == "check" else done.err
        assert (
            "from --against: NodeInventory nodes does not hold the label pool, so it is not known which nodes it sel"
            in said
        )
    assert "its nodes were not evaluated" in done.text, "nor is it on the page"
    (tmp_path / "ours" / "n.yaml").rename(tmp_path / "n.yaml")
    for form in ("text", "json"):
        theirs = APART.replace("card: other", "card: other, pool: canary")
        done = run(tmp_path, "nodes", "--nodes", "n.yaml", "--format", form, theirs_a=theirs)
        assert (done.code, "from --against: NodeInventory nodes does not hold the label pool" in done.err) == (
            1,
            True,
        ), form


def test_what_stands_there_is_there_for_references(tmp_path: Path) -> None:
    accounts = ACCOUNTS.replace("NAME", "own")
    before = process(
        *("krmfn", "check", "ours", "--root", "."),
        cwd=plant(tmp_path, {"ours/a.yaml": OURS, "ours/b.yaml": POD, "ours/c.yaml": accounts}),
    )
    assert ("[KRM701]" in before.text, "[KRM703]" in before.text) == (True, True)
    done = run(tmp_path, "check", theirs_a=APART, theirs_b=ACCOUNTS.replace("NAME", "theirs"))
    assert (done.code, "no findings" in done.text) == (0, True), done.text


def test_a_label_that_their_module_never_gets_is_an_error_that_says_whose_it_is(tmp_path: Path) -> None:
    plugin = module(name="gpu", namespace="team-b", selector={"card": "other"})
    del plugin["spec"]["moduleLoader"]
    plugin["spec"]["devicePlugin"] = {"container": {"image": "registry.example.com/plugin:1"}}
    done = run(tmp_path, "check", ours_a=OURS, ours_b=POD, theirs_a=yaml.safe_dump(plugin)).ended(1)
    assert (
        "Module team-b/gpu (from --against: theirs/a.yaml:1) has no moduleLoader, so KMM never sets it [KRM702]"
        in done.text
    )


def test_pods_here_run_where_their_module_does(tmp_path: Path) -> None:
    node = MEET + "status: {nodeInfo: {kernelVersion: 6.1.0}}\n"
    theirs = APART.replace("card: other", "pool: canary").replace("moduleName: gpu", "moduleName: nic")
    images = run(
        *(tmp_path, "images", "--format", "json"),
        ours_a=OURS,
        ours_b=POD,
        ours_n=node,
        theirs_c=SETTINGS + "{profiles: {nic: {}}}\n",
        theirs_a=theirs.replace("spec:\n", "spec:\n  profile: nic\n"),
    ).ended(0)
    found = {one["image"]: one["nodes"] for one in json.loads(images.text)}
    assert found == {"registry.example.com/agent:1": 1, "registry.example.com/gpu:1.0-6.1.0": 1}


def test_of_several_clusters_it_is_said_which_is_meant(tmp_path: Path) -> None:
    plant(tmp_path, {"a/a.yaml": OURS, "b/a.yaml": OURS, "theirs/a.yaml": THEIRS})
    several = process("krmfn", "check", "a", "b", "--against", "theirs", "--root", ".", cwd=tmp_path).ended(2)
    assert "--against theirs: there are 2 clusters (a, b); name the one that it belongs to" in several.err
    named = process("krmfn", "check", "a", "b", "--against", "b=theirs", "--root", ".", cwd=tmp_path)
    assert (named.code, named.text.count("[KRM302]")) == (1, 1)
    assert "b/a.yaml:8:3: error: DeviceConfig kmm/gpu" in named.text


def test_stdin_is_read_once(tmp_path: Path) -> None:
    done = process("krmfn", "check", "-", "--against", "-", cwd=tmp_path, stdin=OURS)
    assert (done.code, "stdin can be read only once" in done.err) == (2, True)


def test_roots_of_one_cluster_are_held_against_theirs_one_and_all(tmp_path: Path) -> None:
    second = OURS.replace("name: gpu", "name: two").replace("moduleName: gpu", "moduleName: two")
    files = {"a/a.yaml": OURS, "b/a.yaml": second.replace("card: gpu", "card: two"), "theirs/a.yaml": THEIRS}
    plant(tmp_path, files | {"a/kustomization.yaml": "resources: [a.yaml]\n"})
    done = process("krmfn", "check", "--cluster", "lab=b/a.yaml", "--against", "theirs", "--root", ".", cwd=tmp_path)
    assert (done.code, done.text.count("[KRM302]")) == (1, 1)
