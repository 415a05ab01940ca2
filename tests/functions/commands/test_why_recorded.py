"""`why` on Modules that a real controller has read and written: each recorded status, with its nodes as they were.

KRMFN_KMM_STATUS names the folder of the recordings.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.commands import process
from tests.kmm_dumps import modules_config, node, worker

FOLDER = os.environ.get("KRMFN_KMM_STATUS", "")
UBUNTU, EL9 = "6.8.0-40-generic", "5.14.0-427.el9.x86_64"
CORDON = "node.kubernetes.io/unschedulable"
CRASH = {"reason": "CrashLoopBackOff", "message": "back-off"}
LABELS = {"n1": {"acc": "yes", "mix": "yes"}, "n2": {"acc": "yes", "mix": "yes"}, "n3": {"acc": "yes"}}
LABELS |= {"n4": {"mix": "yes"}}


class Seen(NamedTuple):
    """What was true on a node, and the sentence about it."""

    sentence: str
    node: str = "n1"
    scheduled: str = "1.0"
    """The version in the spec of the node's NodeModulesConfig; "" for none."""
    loaded: str = "1.0"
    labelled: str = ""
    """The value of the node's version label."""
    cordoned: bool = False
    unloader: bool = False
    code: int = 1


RECORDED = {
    "selector-matches-no-node": Seen("nothing selects it", scheduled="", loaded=""),
    "images-not-checked": Seen("is not scheduled by KMM; its image is not known", scheduled="", loaded=""),
    "three-of-three-with-rebuild-trigger": Seen("is loaded: ", code=0),
    "no-mapping-on-one-node": Seen("no kernel mapping", "n4", "", ""),
    "versioned-bumped-labels-unchanged": Seen("runs 1.0 until its label changes; wanted 2.0", labelled="1.0", code=0),
    "versioned-one-upgraded": Seen("is loaded: ", scheduled="2.0", loaded="2.0", labelled="2.0", code=0),
    "versioned-one-labelled-with-device-plugin": Seen("is loaded: ", labelled="1.0", code=0),
    "main-versioned-one-labelled-with-device-plugin": Seen("label", "n2", "", ""),
    "loader-and-device-plugin": Seen("is loaded: ", code=0),
    "device-plugin-removed-from-spec": Seen("is loaded: ", code=0),
    "updated-to-missing-image": Seen("but KMM schedules "),
    "config-changed-consumer-holds": Seen(
        "runs 1.0, wanted 2.0: the pod lab/kmm-worker", scheduled="2.0", unloader=True
    ),
    "one-node-cordoned": Seen("waits while the node is cordoned", "n3", "", "", cordoned=True),
    "all-nodes-cordoned-kmod-still-loaded": Seen("it is still loaded: ", "n1", "", cordoned=True, unloader=True),
    "being-deleted-serviceaccount-gone": Seen("is being deleted since 2026-11-21"),
}
recorded = pytest.mark.skipif(not FOLDER, reason="KRMFN_KMM_STATUS names no folder")


def files() -> dict[str, Path]:
    return {path.stem: path for path in Path(FOLDER or "/nowhere").glob("*.yaml")}


@recorded
def test_each_recording_has_its_sentence() -> None:
    assert files().keys() == RECORDED.keys()


@recorded
@pytest.mark.parametrize("name", RECORDED)
def test_what_was_recorded(name: str, tmp_path: Path) -> None:
    module: dict[str, Any] = yaml.safe_load(files()[name].read_text())
    seen, module_name = RECORDED[name], module["metadata"]["name"]
    image = module["spec"]["moduleLoader"]["container"]["kernelMappings"][0]["containerImage"]
    kernel = EL9 if seen.node == "n4" else UBUNTU

    def named(version: str) -> str:
        tag = image.replace("${KERNEL_FULL_VERSION}", kernel).replace("$KERNEL_FULL_VERSION", kernel)
        return tag.replace(":2.0-", f":{version}-") if version else ""

    labels = {**LABELS[seen.node], f"kmm.node.kubernetes.io/version-module.lab.{module_name}": seen.labelled}
    labels = {key: value for key, value in labels.items() if value}
    if seen.loaded:
        labels[f"kmm.node.kubernetes.io/lab.{module_name}.ready"] = ""
    scheduled = named(seen.scheduled) if name != "updated-to-missing-image" else f"{named(seen.scheduled)}-before"
    unloader = worker("Unload", module=module_name, node=seen.node, waiting=CRASH)
    unloader["metadata"]["namespace"] = "lab"
    dump = [
        node(labels, *([CORDON] if seen.cordoned else []), kernel=kernel, name=seen.node),
        module,
        modules_config(scheduled, named(seen.loaded), module=("lab", module_name), kernel=kernel, node=seen.node),
        *([unloader] if seen.unloader else []),
    ]
    planned = {key: value for key, value in module.items() if key != "status"}
    planned["metadata"] = {"name": module_name, "namespace": "lab"}
    (tmp_path / "module.yaml").write_text(yaml.safe_dump(planned))
    done = process(
        "krmfn",
        "why",
        seen.node,
        str(tmp_path),
        "--live",
        "-",
        stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": dump}),
    )
    first = done.text.partition("\n")[0]
    assert first.startswith(f"{seen.node}: ") and seen.sentence in first, (done.text, done.err)
    assert done.code == seen.code
