"""The one list of kinds: the shell loop asks for each by itself, and every link of the chain asks for one of them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from krmfn_functions.fleet import dumped_kinds
from krmfn_functions.fleet.dumped_kinds import KINDS

from tests.commands import environment, example, execute, process
from tests.functions.chain.clusters import drop, healthy, seen
from tests.kmm_dumps import module, modules_config, node
from tests.trees import plant

NIC = {"example.com/nic": "true", "kmm.node.kubernetes.io/kmm.nic.ready": ""}
KUBECTL = """#!/bin/sh
# A server without Argo CD and Flux, which shows no quotas, and has no object of most kinds.
echo "$*" >> "$LOG"
case "$2" in
    nodes | modules.* | nodemodulesconfigs.*) cat "$OBJECTS/$2.json" ;;
    *.argoproj.io | *.fluxcd.io) echo "error: the server doesn't have a resource type \\"${2%%.*}\\"" >&2; exit 1 ;;
    resourcequotas) echo "Error from server (Forbidden): resourcequotas is forbidden" >&2; exit 1 ;;
    *) echo '{"apiVersion": "v1", "items": [], "kind": "List", "metadata": {"resourceVersion": ""}}' ;;
esac
"""


@pytest.fixture
def server(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell whose kubectl answers from files."""
    objects = {"nodes": node(NIC), "modules": module(), "nodemodulesconfigs": modules_config()}
    plant(tmp_path / "bin", {"kubectl": KUBECTL})
    names = {kind.resource: kind.name for kind in KINDS}
    for resource, item in objects.items():
        text = json.dumps({"apiVersion": "v1", "items": [item], "kind": "List"}, indent=4)
        plant(tmp_path / "objects", {f"{names[resource]}.json": text})
    path = os.pathsep.join([str(tmp_path / "bin"), environment()["PATH"]])
    return environment(PATH=path, OBJECTS=str(tmp_path / "objects"), LOG=str(tmp_path / "log"))


def test_the_loop_writes_a_dump_though_kinds_are_missing(server: dict[str, str], tmp_path: Path) -> None:
    script = process("krmfn", "why", "--kubectl").ended(0, "").out
    done = execute("sh", "-s", "--", "--context", "lab", stdin=script, cwd=tmp_path, env=server).ended(0)
    lines = done.err.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [
        "dump.json has no resourcequotas",
        "dump.json has no applications.argoproj.io",
        "dump.json has no kustomizations.kustomize.toolkit.fluxcd.io",
    ]
    assert lines[0].endswith("resourcequotas is forbidden")
    assert lines[1].endswith('error: the server doesn\'t have a resource type "applications"')
    calls = (tmp_path / "log").read_text().splitlines()
    assert calls == [f"get {kind.name} --all-namespaces --output json --context lab" for kind in KINDS]
    for dump in (["--live", str(tmp_path / "dump.json")], ["--live", "-"]):
        text = (tmp_path / "dump.json").read_bytes() if dump[1] == "-" else b""
        done = process("krmfn", "why", "web-1", ".", *dump, stdin=text, cwd=example("one-cluster"))
        assert "web-1: kmm/nic is loaded: " in done.ended(0).text


def test_a_server_that_does_not_answer_is_asked_once(server: dict[str, str], tmp_path: Path) -> None:
    plant(tmp_path / "bin", {"kubectl": '#!/bin/sh\necho "$*" >> "$LOG"\necho "no route to host" >&2\nexit 1\n'})
    script = dumped_kinds.script().encode()
    done = execute("sh", stdin=script, cwd=tmp_path, env=server | {"DUMP": "lab.json"})
    assert done.err == "lab.json has no nodes: no route to host\n"
    assert (tmp_path / "lab.json").read_bytes() == b""


def test_no_secret_is_asked_for_and_names_belong_to_one_group() -> None:
    names = [kind.name for kind in KINDS]
    assert len({*names}) == len(names)
    assert not any("secret" in name or "configmap" in name for name in names)
    assert all("." in kind.name for kind in KINDS if kind.group)


def test_what_a_link_lacks_is_a_kind_of_the_list() -> None:
    """Take each kind out of a whole dump: what is not known then is named as the loop asks for it."""
    names = {kind.name for kind in KINDS}
    evidence: set[str] = set()
    for kind in {item["kind"] for item in healthy()} - {"Node"}:
        objects = healthy()
        drop(objects, kind)
        evidence |= {text for link in seen(objects)[0].values() if link.state == "not known" for text in link.evidence}
    lacking = {text.rpartition(" ")[2] for text in evidence if text.startswith("not known: the dump has no ")}
    assert lacking - {"operator"} <= names
    assert {"pods", "modules.kmm.sigs.x-k8s.io", "nodemodulesconfigs.kmm.sigs.x-k8s.io"} <= lacking


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("cluster-scoped-resources/core/nodes/gpu-1.yaml", "nodes"),
        ("x/cluster-scoped-resources/core/nodes.yaml", "nodes"),
        ("x/namespaces/kmm/core/pods.yaml", "pods"),
        ("x/namespaces/kmm/pods/worker/worker.yaml", "pods"),
        ("x/namespaces/kube-system/kube-system.yaml", "namespaces"),
        ("x/namespaces/kmm/kmm.sigs.x-k8s.io/modules/gpu.yaml", "modules.kmm.sigs.x-k8s.io"),
        ("pods.json", "pods"),
        ("modules.kmm.sigs.x-k8s.io.yaml", "modules.kmm.sigs.x-k8s.io"),
        ("x/namespaces/kmm/core/secrets.yaml", ""),
        ("x/namespaces/kmm/core/secrets/pods.key.yaml", ""),
        ("x/namespaces/kmm/metrics.k8s.io/nodes/gpu-1.yaml", ""),
        ("x/namespaces/kmm/other.example.com/modules/gpu.yaml", ""),
        ("modules.json", ""),
        ("version", ""),
    ],
)
def test_a_file_is_of_the_kind_that_its_path_says(path: str, name: str) -> None:
    kind = dumped_kinds.of_path(path.split("/"))
    assert (kind.name if kind else "") == name
