"""What stands elsewhere (--against): it takes part in what is judged, and is neither judged nor printed."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
import yaml

from krmfn import Manifest
from tests.builders import edited, module
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
        edited(item, ("metadata.uid", f"u{at}"), ("metadata.resourceVersion", "7")) for at, item in enumerate(items)
    ]
    return yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": live})


def rendered(folder: Path) -> list[Manifest]:
    return list(yaml.safe_load_all(process("krmfn", "render", "ours", "--root", ".", cwd=folder).text))


@pytest.mark.parametrize("command", ["check", "render", "nodes", "images", "report"])
def test_a_node_that_both_drive_is_an_error_that_names_both_with_file_and_line(command: str, tmp_path: Path) -> None:
    options = ["--wide"] if command == "nodes" else []
    done = run(tmp_path, command, *options, ours_a=OURS, ours_n=MEET, theirs_a=THEIRS).ended(1)
    findings = done.text if command == "check" else done.err
    (line,) = (line for line in findings.splitlines() if "[KRM301]" in line)
    assert line.startswith("ours/a.yaml:8:3: error: DeviceConfig kmm/gpu: spec.nodeSelector: node n1 is selected by ")
    assert "DeviceConfig team-b/gpu (from --against: theirs/a.yaml:8, spec.nodeSelector)" in line
    assert command in ("check", "nodes", "report") or not done.out
    row = "conflict  kmm/gpu  kmm/gpu  -        in conflict with DeviceConfig team-b/gpu"
    assert command != "nodes" or row in done.text


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
    done.ended(0, "compared with 2 resources of theirs\n")
    assert done.reported == "no findings: 1 DeviceConfig in 2 resources, 2 files\n"
    documents = yaml.safe_load_all(run(tmp_path, "render", "--quiet").text)
    assert [document["metadata"]["namespace"] for document in documents] == ["kmm"]
    (cluster,) = json.loads(run(tmp_path, "nodes", "--format", "json").text)["clusters"]
    (row,) = cluster["rows"]
    assert (row["node"], row["module"]["namespace"], row["state"]) == ("n1", "kmm", "planned")


def test_their_warnings_are_theirs(tmp_path: Path) -> None:
    warned = APART.replace("spec:\n", "spec:\n  imagePullPolicy: Always\n") + "---\n" + ACCOUNTS
    warned += "---\n" + POD.replace("name: agent, namespace: kmm", "name: other, namespace: kmm")
    assert "warning" in process("krmfn", "check", "-", stdin=warned).text
    done = run(tmp_path, "check", ours_a=OURS, theirs_a=warned).ended(0)
    assert done.reported == "no findings: 1 DeviceConfig in 1 resource, 1 file\n"


@pytest.mark.parametrize("form", ["rendered", "dump", "stdin"])
def test_what_is_rendered_and_a_dump_claim_by_their_modules(form: str, tmp_path: Path) -> None:
    modules = list(yaml.safe_load_all(process("krmfn", "render", "-", stdin=THEIRS).text))
    text = yaml.safe_dump_all(modules) if form == "rendered" else dump(*modules)
    if form == "stdin":
        done = run(tmp_path, "check", against="-", stdin=text.encode(), ours_a=OURS, ours_n=MEET).ended(1)
    else:
        done = run(tmp_path, "check", ours_a=OURS, ours_n=MEET, theirs_a=text).ended(1)
    name = "stdin" if form == "stdin" else "theirs/a.yaml"
    assert f"Module team-b/gpu (from --against: {name}:" in done.text
    assert ", spec.selector) [KRM304]" in done.text
    assert ": both load the kernel module gpu" in done.text


def test_our_own_earlier_render_is_no_conflict(tmp_path: Path) -> None:
    """In a dump, and in a rendered branch: the mark says whose it is, also when the selector has changed since."""
    config = OURS + "  daemonSets: [{name: agent, image: 'registry.example.com/a:1'}]\n"
    plant(tmp_path, {"ours/a.yaml": config})
    objects = rendered(tmp_path)
    assert len(objects) == 2
    for text in (dump(*objects), yaml.safe_dump_all(objects)):
        done = run(tmp_path, "check", ours_a=config, ours_n=MEET, theirs_a=text).ended(0)
        assert "no findings" in done.text
        assert "compared with 0 resources of theirs; skipped 2 more: part of PATH, nodes or settings" in done.err
        run(tmp_path, "check", ours_a=OURS.replace("card: gpu", "pool: canary")).ended(0)


def test_what_we_make_no_longer_is_theirs_until_it_is_gone(tmp_path: Path) -> None:
    pools = OURS.replace("  nodeSelector: {card: gpu}\n", "  nodePools: [{name: NAME, nodeSelector: {card: gpu}}]\n")
    plant(tmp_path, {"ours/a.yaml": pools.replace("NAME", "old")})
    live = dump(*rendered(tmp_path))
    done = run(tmp_path, "check", ours_a=pools.replace("NAME", "new"), ours_n=MEET, theirs_a=live).ended(1)
    origin = "from --against, generated from DeviceConfig kmm/gpu earlier but not now: theirs/a.yaml:"
    assert f"Module kmm/gpu-old ({origin}" in done.text


def test_with_an_error_here_what_was_made_earlier_is_not_held_against_us(tmp_path: Path) -> None:
    plant(tmp_path, {"ours/a.yaml": OURS})
    wrong, live = OURS.replace("driverImage", "driverImag"), dump(*rendered(tmp_path))
    done = run(tmp_path, "check", ours_a=wrong, ours_n=MEET, theirs_a=live).ended(1)
    assert {line.rpartition("[")[2] for line in done.text.splitlines() if line.endswith("]")} == {"KRM101]"}


LIVE = dump(module(name="gpu", selector={"card": "x"}))


@pytest.mark.parametrize(
    ("manifests", "message"),
    [
        (OURS, "is both here and in --against (theirs/a.yaml:1)"),
        (f"{APART}---\n{ACCOUNTS}", "ServiceAccount kmm/NAME: is both here and in --against (theirs/a.yaml:9)"),
        (LIVE, "the cluster already has it (theirs/a.yaml:3), but it was not"),
    ],
)
def test_one_resource_on_both_sides_is_an_error(manifests: str, message: str, tmp_path: Path) -> None:
    text = run(tmp_path, "check", ours_a=OURS, ours_b=ACCOUNTS, theirs_a=manifests).ended(1).text
    assert message in text
    assert "[KRM527]" in text


def test_what_we_apply_by_hand_may_be_on_the_cluster_already(tmp_path: Path) -> None:
    hand = module(name="hand", selector={"card": "x"})
    live = dump(yaml.safe_load(ACCOUNTS), hand)
    run(tmp_path, "check", ours_a=OURS, ours_b=ACCOUNTS, ours_c=yaml.safe_dump(hand), theirs_a=live).ended(0)


def test_the_same_files_are_ours_and_not_theirs(tmp_path: Path) -> None:
    plant(tmp_path, {"all/ours.yaml": OURS, "all/b.yaml": APART})
    done = process("krmfn", "check", "all/ours.yaml", "--against", "all", "--root", ".", cwd=tmp_path).ended(0)
    assert "no findings" in done.text


TWINS = f"{THEIRS}---\n{THEIRS.replace('name: gpu', 'name: two')}"


@pytest.mark.parametrize(
    ("manifests", "code", "message"),
    [
        (THEIRS.replace("moduleName", "moduleNam"), 1, "which --against names, has "),
        (TWINS, 1, "so it is not known which nodes it claims; the first error:"),
        (yaml.safe_dump(module(name="x", selector="all")), 1, "spec.selector is not a mapping of labels to strings"),
        (dump(yaml.safe_load(THEIRS)), 1, "nothing there was generated from it, so the nodes that it selects are not"),
        ("kind: a\napiVersion: [\n", 2, "theirs/a.yaml"),
    ],
)
def test_what_theirs_claims_has_to_be_known(manifests: str, code: int, message: str, tmp_path: Path) -> None:
    assert message in run(tmp_path, "check", ours_a=OURS, theirs_a=manifests).ended(code).text
    assert run(tmp_path, "render").out == b"", "nothing is rendered on a guess"


def test_a_dump_of_another_operator_s_configs_with_their_modules_is_known(tmp_path: Path) -> None:
    config = yaml.safe_load(APART.replace("krmfn.dev/v1alpha1", "example.com/v1alpha1"))
    owner = {"apiVersion": "example.com/v1alpha1", "kind": "DeviceConfig", "name": "gpu", "uid": "u0"}
    child = module(name="gpu-module", namespace="team-b", selector={"card": "other"})
    child["metadata"]["ownerReferences"] = [owner]
    run(tmp_path, "check", ours_a=OURS, theirs_a=dump(config, child)).ended(0)


@pytest.mark.parametrize("folder", ["nowhere", "empty"])
def test_a_path_that_holds_nothing_is_no_pass(folder: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = run(tmp_path, "check", against=folder, ours_a=OURS).ended(2)
    assert f"{folder}: error: " in done.text or f"error: {folder}: holds no resource" in done.text


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
    problem = "is an empty pipe" if is_pipe and not text else "holds no resource"
    assert f"{name}: error: {problem}" in run(tmp_path, "check", against=name, ours_a=OURS).ended(2).text


def test_a_dump_of_an_empty_cluster_claims_nothing(tmp_path: Path) -> None:
    (tmp_path / "dump.yaml").write_text(dump())
    for against in ("dump.yaml", "/dev/null"):
        assert run(tmp_path, "check", against=against, ours_a=OURS).code == 0
    assert run(tmp_path, "check", against="-", stdin=dump().encode(), ours_a=OURS).code == 0


def test_exclusivity_that_is_off_and_against_contradict_each_other(tmp_path: Path) -> None:
    done = run(tmp_path, "check", ours_a=OURS, ours_c=OFF, theirs_a=APART).ended(1)
    assert "[KRM528]" in done.text and "ours/c.yaml:4:" in done.text
    assert run(tmp_path, "check", theirs_a=ACCOUNTS).code == 0, "what claims no node is only there for references"


def test_labels_that_the_inventory_lacks_decide_nothing(tmp_path: Path) -> None:
    message = "from --against: NodeInventory nodes does not hold the label pool"
    for command in ("check", "nodes", "report"):
        done = run(tmp_path, command, ours_a=OURS, ours_n=INVENTORY, theirs_a=THEIRS).ended(1)
        findings = done.text if command == "check" else done.err
        assert f"{message}, so it is not known which nodes it sel" in findings
    assert "its nodes were not evaluated" in done.text, "nor is it on the page"
    (tmp_path / "ours" / "n.yaml").rename(tmp_path / "n.yaml")
    canary = APART.replace("card: other", "card: other, pool: canary")
    for form in ("text", "json"):
        done = run(tmp_path, "nodes", "--nodes", "n.yaml", "--format", form, theirs_a=canary).ended(1)
        assert message in done.err, form


def test_what_stands_there_is_there_for_references(tmp_path: Path) -> None:
    account = ACCOUNTS.replace("NAME", "own")
    plant(tmp_path, {"ours/a.yaml": OURS, "ours/b.yaml": POD, "ours/c.yaml": account})
    before = process("krmfn", "check", "ours", "--root", ".", cwd=tmp_path).text
    assert "[KRM701]" in before and "[KRM703]" in before
    done = run(tmp_path, "check", theirs_a=APART, theirs_b=ACCOUNTS.replace("NAME", "theirs")).ended(0)
    assert "no findings" in done.text


def test_a_label_that_their_module_never_gets_is_an_error_that_says_whose_it_is(tmp_path: Path) -> None:
    plugin = module(name="gpu", namespace="team-b", selector={"card": "other"})
    del plugin["spec"]["moduleLoader"]
    plugin["spec"]["devicePlugin"] = {"container": {"image": "registry.example.com/plugin:1"}}
    done = run(tmp_path, "check", ours_a=OURS, ours_b=POD, theirs_a=yaml.safe_dump(plugin)).ended(1)
    message = "has no moduleLoader, so KMM never sets it [KRM702]"
    assert f"Module team-b/gpu (from --against: theirs/a.yaml:1) {message}" in done.text


def test_pods_here_run_where_their_module_does(tmp_path: Path) -> None:
    nic = APART.replace("card: other", "pool: canary").replace("moduleName: gpu", "moduleName: nic")
    nic = nic.replace("spec:\n", "spec:\n  profile: nic\n") + "---\n" + SETTINGS + "{profiles: {nic: {}}}\n"
    node = MEET + "status: {nodeInfo: {kernelVersion: 6.1.0}}\n"
    done = run(tmp_path, "images", "--format", "json", ours_a=OURS, ours_b=POD, ours_n=node, theirs_a=nic).ended(0)
    rows = json.loads(done.text)
    nodes = {row["image"]: row["nodes"] for row in rows}
    assert nodes == {"registry.example.com/agent:1": 1, "registry.example.com/gpu:1.0-6.1.0": 1}


def test_of_several_clusters_it_is_said_which_is_meant(tmp_path: Path) -> None:
    plant(tmp_path, {"a/a.yaml": OURS, "b/a.yaml": OURS, "theirs/a.yaml": THEIRS})
    several = process("krmfn", "check", "a", "b", "--against", "theirs", "--root", ".", cwd=tmp_path).ended(2)
    assert "--against theirs: there are 2 clusters (a, b); name the one that it belongs to" in several.err
    named = process("krmfn", "check", "a", "b", "--against", "b=theirs", "--root", ".", cwd=tmp_path).ended(1)
    assert named.text.count("[KRM302]") == 1
    assert "b/a.yaml:8:3: error: DeviceConfig kmm/gpu" in named.text


def test_stdin_is_read_once(tmp_path: Path) -> None:
    done = process("krmfn", "check", "-", "--against", "-", cwd=tmp_path, stdin=OURS).ended(2)
    assert "stdin can be read only once" in done.err


def test_roots_of_one_cluster_are_held_against_theirs_one_and_all(tmp_path: Path) -> None:
    second = OURS.replace("name: gpu", "name: two").replace("moduleName: gpu", "moduleName: two")
    files = {"a/a.yaml": OURS, "b/a.yaml": second.replace("card: gpu", "card: two"), "theirs/a.yaml": THEIRS}
    plant(tmp_path, files | {"a/kustomization.yaml": "resources: [a.yaml]\n"})
    done = process("krmfn", "check", "--cluster", "lab=b/a.yaml", "--against", "theirs", "--root", ".", cwd=tmp_path)
    assert done.ended(1).text.count("[KRM302]") == 1
