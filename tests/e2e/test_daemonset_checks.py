"""A real API server judges DaemonSets made at random as krmfn does; KRMFN_UPDATE=1 records what it says."""

from __future__ import annotations

import json
import os
from typing import Any

from krmfn import Manifest
from tests.functions.pods.daemon_sets import EDITS, drawn, edited
from tests.functions.pods.test_daemon_set import RECORDED, difference

from .kube import Cluster

COUNT = len(EDITS) + 500
NAMESPACE = "kmm"


def answered(cluster: Cluster, daemon_set: Manifest) -> list[str] | None:
    """Return the fields that the server refuses; none for what it takes, None for what it cannot read."""
    place = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets?fieldValidation=Strict&dryRun=All"
    code, answer = cluster.request("POST", place, json.dumps(daemon_set).encode())
    assert code in (201, 400, 422), f"the server judged nothing: {code}: {answer}"
    if code == 400:
        return None
    causes: Any = answer.get("details", {}).get("causes", []) if code == 422 else []
    return [cause["field"] for cause in causes]


def test_the_server_refuses_what_we_refuse(cluster: Cluster) -> None:
    cluster.namespace(NAMESPACE)
    lines, different = [], []
    for seed in range(COUNT):
        edits = drawn(seed)
        daemon_set = edited(edits)
        fields = answered(cluster, daemon_set)
        if fields is not None:
            lines.append(json.dumps({"edits": edits, "refused": fields}))
            different += difference(daemon_set, fields)
    if os.environ.get("KRMFN_UPDATE"):
        RECORDED.write_text("".join(f"{line}\n" for line in lines))
    assert different == []
    assert len(lines) > COUNT * 0.9
