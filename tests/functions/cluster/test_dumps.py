"""Dumps as they are found: several documents in a row, lists of one cluster, folders of a must-gather."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from krmfn_functions.cluster import dumps
from krmfn_functions.fleet.live import Live

from krmfn import KrmfnError
from tests.commands import example, process
from tests.kmm_dumps import module, modules_config, node, worker
from tests.trees import plant

NIC = {"example.com/nic": "true", "kmm.node.kubernetes.io/kmm.nic.ready": ""}
OBJECTS = [node(NIC), module(), modules_config(), worker("Unload")]
ENV = {"containers": [{"name": "worker", "env": [{"name": "TOKEN", "value": "s3cret"}], "image": "x:1"}]}


def listed(*items: dict[str, Any], kind: str = "List") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "items": [*items], "metadata": {"resourceVersion": ""}}


def bare(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key not in ("apiVersion", "kind")}


def content(live: Live) -> tuple[Any, ...]:
    """Return all that a dump says, but for its name."""
    return live._replace(name="", items=())


def read(path: Path, text: str) -> Live:
    path.write_text(text)
    return dumps.read(str(path))


PADDED = [{**item, "metadata": {**item["metadata"], "annotations": {"pad": "x" * 900}}} for item in OBJECTS]
FORMS = {
    "a list": json.dumps(listed(*OBJECTS)),
    "lists in a row": "".join(json.dumps(listed(item), indent=4) + "\n" for item in OBJECTS),
    "objects in a row": "".join(json.dumps(item, indent=4) for item in OBJECTS),
    "an object, then lists": json.dumps(OBJECTS[0]) + "".join(json.dumps(listed(item)) for item in OBJECTS[1:]),
    "a large object, then a large list": json.dumps(PADDED[0]) + json.dumps(listed(*PADDED[1:]), sort_keys=True),
    "lists of a kind": json.dumps(listed(bare(node(NIC)), kind="NodeList"))
    + json.dumps(listed(*OBJECTS[1:3]))
    + json.dumps(listed(bare(worker("Unload")), kind="PodList")),
    "an array": json.dumps(OBJECTS),
    "yaml": yaml.safe_dump_all(OBJECTS),
    "lists of yaml": yaml.safe_dump_all([listed(OBJECTS[0]), listed(*OBJECTS[1:])]),
    "yaml lists of a kind": yaml.safe_dump_all(
        [
            listed(bare(node(NIC)), kind="NodeList"),
            listed(*OBJECTS[1:3]),
            listed(bare(worker("Unload")), kind="PodList"),
        ]
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_dump_says_the_same_in_every_form(form: str, tmp_path: Path) -> None:
    expected = read(tmp_path / "expected", json.dumps(listed(*OBJECTS)))
    assert expected.objects.modules
    assert expected.workers
    assert content(read(tmp_path / "dump", FORMS[form])) == content(expected)


def gathered(folder: Path, **more: str) -> Path:
    """Write the folder of a must-gather, as `oc adm inspect` lays it out."""
    top = "must-gather.local.1/quay-io-image"
    pod = {**worker("Unload"), "spec": {"nodeName": "web-1", **ENV}}
    files = {
        "cluster-scoped-resources/core/nodes/web-1.yaml": node(NIC),
        "cluster-scoped-resources/kmm.sigs.x-k8s.io/nodemodulesconfigs/web-1.yaml": modules_config(),
        "namespaces/kmm/kmm.sigs.x-k8s.io/modules/nic.yaml": module(),
        "namespaces/kmm/core/pods.yaml": listed(bare(pod), kind="PodList"),
        "namespaces/kmm/pods/kmm-worker-web-1-nic/kmm-worker-web-1-nic.yaml": pod,
    }
    texts = {f"{top}/{name}": f"---\n{yaml.safe_dump(item)}" for name, item in files.items()}
    texts[f"{top}/namespaces/kmm/core/secrets.yaml"] = "no: [yaml, s3cret"
    texts[f"{top}/namespaces/kmm/core/events.yaml"] = yaml.safe_dump(listed(kind="EventList"))
    texts["must-gather.local.1/timestamp"] = "2026-11-28"
    return plant(folder, texts | {f"{top}/{name}": text for name, text in more.items()})


def test_the_folder_of_a_must_gather_is_a_dump(tmp_path: Path) -> None:
    """The pod stands there twice; the file of Secrets is no YAML, and nobody opens it."""
    live = dumps.read(str(gathered(tmp_path / "gathered")))
    pod = {**worker("Unload"), "spec": {"nodeName": "web-1", **ENV}}
    assert content(live) == content(read(tmp_path / "dump", json.dumps([*OBJECTS[:3], pod])))
    assert "s3cret" not in repr(live)
    done = process("krmfn", "why", "web-1", ".", "--live", str(tmp_path / "gathered"), cwd=example("one-cluster"))
    assert "web-1: kmm/nic is loaded, and about to be unloaded: the pod kmm/kmm-worker-web-1-nic" in done.ended(1).text


def test_an_environment_is_in_no_dump_that_was_read(tmp_path: Path) -> None:
    pod = {**worker("Unload"), "spec": {"nodeName": "web-1", **ENV}}
    for text in (json.dumps(listed(node(NIC), pod)), yaml.safe_dump_all([node(NIC), pod])):
        live = read(tmp_path / str(len(text)), text)
        assert live.objects.pods
        assert "s3cret" not in repr(live)
        assert "s3cret" not in repr([item.manifest for item in live.items])


def test_a_folder_without_a_dump_is_an_error(tmp_path: Path) -> None:
    plant(tmp_path, {"a/secrets.yaml": "", "notes.yaml": "", "out/nodes.yaml": "-> /dev/null"})
    with pytest.raises(KrmfnError, match=r"--live .*: is a folder without a file of a dump; expected cluster-scoped"):
        dumps.read(str(tmp_path))


def test_a_damaged_file_of_a_folder_is_named(tmp_path: Path) -> None:
    folder = gathered(tmp_path, **{"namespaces/other/core/pods.yaml": "apiVersion: v1\nitems:\n- {a"})
    with pytest.raises(KrmfnError, match=r"namespaces/other/core/pods\.yaml: "):
        dumps.read(str(folder))


def test_an_inventory_is_made_of_any_dump(tmp_path: Path) -> None:
    folder = gathered(tmp_path / "gathered")
    (tmp_path / "dump.json").write_text(FORMS["lists in a row"])
    made = [
        process("krmfn", "inventory", str(source), "--labels", "example.com/nic").ended(0).text
        for source in (folder, tmp_path / "dump.json")
    ]
    assert made[0] == made[1]
    assert "nodeCount: 1\n" in made[0]
