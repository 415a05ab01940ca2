"""`--context`: what kubectl is told, where it comes from, and that nothing but the command line asks for it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
import yaml
from krmfn_functions.fleet.dumped_kinds import KINDS
from krmfn_functions.paths import kubectl

from krmfn import KrmfnError
from tests.builders import manifest
from tests.commands import COMMANDS, ROOT, Done, process
from tests.examples import pairs_of
from tests.functions.commands.test_nodes_live import good, of
from tests.functions.comparing.test_base import repository
from tests.recorded_kubectl import Recorded, recorded
from tests.trees import plant

COMMANDS_THAT_ASK = {
    "why": ["gpu-1", "."],
    "nodes": [".", "--wide"],
    "report": ["."],
    "check": ["."],
}
OTHERS = {
    "ci": [".", "--base", "main", "--out", "../out"],
    "diff": [".", "."],
    "images": ["."],
    "render": ["."],
    "resolve": [".", "--kernel", "6.1"],
    "clusters": ["."],
    "import": [".", "-o", "../out"],
    "test": ["."],
}
UID = "2c9b4b7e-3f1d-4a52-9d8e-0a4f5f9c1b11"
SYSTEM = manifest("v1", "Namespace", "kube-system", "", uid=UID)
NFD = manifest("v1", "Pod", "nfd-worker-1", "nfd")


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    return repository(shutil.copytree(ROOT / "examples/one-cluster", tmp_path / "lab"), {})


@pytest.fixture
def server(tmp_path: Path) -> Recorded:
    return recorded(tmp_path / "server", [*good(), SYSTEM, NFD])


def run(lab: Path, server: Recorded, command: str, *args: str, **variables: str) -> Done:
    return process("krmfn", command, *args, cwd=lab, **server.environment(**variables))


@pytest.mark.parametrize("command", COMMANDS_THAT_ASK)
def test_the_answer_is_that_of_a_dump(command: str, lab: Path, server: Recorded) -> None:
    """Of `why`, `nodes`, `report` and `check`; kubectl is told to get each kind, once, and nothing else."""
    args = COMMANDS_THAT_ASK[command]
    (lab.parent / "dump.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*good(), NFD]}))
    expected = run(lab, server, command, *args, "--live", "../dump.json")
    assert server.calls() == []
    done = run(lab, server, command, *args, "--context", "stage-admin")
    assert (done.code, done.out, done.err) == (expected.code, expected.out, expected.err)
    always = "--context=stage-admin --request-timeout=60s get "
    absent = ("kustomize.toolkit.fluxcd.io", "resource.k8s.io")  # groups that the server does not have
    names = [kind.name for kind in KINDS if kind.group not in absent]
    assert server.calls() == [f"{always}--raw=/apis", *(f"{always}{n} --all-namespaces --output=json" for n in names)]
    assert not any("secret" in call for call in server.calls())


def test_kubectl_starts_in_an_empty_folder_with_no_program_of_the_repository(lab: Path, server: Recorded) -> None:
    plant(lab, {"bin/aws": "#!/bin/sh\n", "bin/kubectl": "#!/bin/sh\ntouch called\n"})
    linked = plant(lab.parent / "links", {"kubectl": f"-> {lab}/bin/kubectl"})
    more = ("", ".", "bin", str(lab / "bin"), str(lab.parent / "links/../lab/bin"), str(linked))
    args = ("why", "gpu-1", ".", "--context", "lab")
    done = process("krmfn", *args, cwd=lab, **server.environment(*more))
    assert done.code == 0, done
    for folder, entries, path in server.surroundings():
        assert entries == "0"
        assert not Path(folder).exists()
        assert not Path(folder).is_relative_to(lab)
        parts = path.split(os.pathsep)
        assert str(server.programs) in parts
        assert all(part.startswith("/") and "lab" not in Path(part).resolve().parts for part in parts)
    assert not list(lab.glob("**/called"))


@pytest.mark.parametrize("root", [(), ("--root", "..")])
def test_a_kubectl_of_the_repository_is_none(root: tuple[str, ...], lab: Path, server: Recorded) -> None:
    shutil.copytree(server.programs, lab / "bin")
    path = os.pathsep.join([str(COMMANDS), str(lab / "bin"), "/nowhere"])
    args = ("nodes", ".", *root, "--context", "lab")
    done = process("krmfn", *args, cwd=lab, **server.environment(PATH=path))
    bound = lab.parent if root else lab
    assert f"--context lab: no absolute entry of PATH has a kubectl outside of {bound}; install it" in done.refused()
    assert server.calls() == []


def test_a_kubeconfig_of_the_working_folder_is_refused(lab: Path, server: Recorded) -> None:
    done = run(lab, server, "nodes", ".", "--context", "lab", KUBECONFIG=f"/nowhere{os.pathsep}kube/config")
    assert "--context lab: KUBECONFIG names kube/config, which depends on the working folder" in done.refused()
    assert server.calls() == []


@pytest.mark.parametrize("command", OTHERS)
def test_no_other_command_asks(command: str, lab: Path, server: Recorded) -> None:
    done = run(lab, server, command, *OTHERS[command], "--context", "lab")
    assert done.code == 2
    assert "unrecognized arguments: --context lab" in done.err
    assert server.calls() == []


@pytest.mark.parametrize("command", [*COMMANDS_THAT_ASK, *OTHERS])
def test_neither_a_file_nor_the_environment_asks(command: str, lab: Path, server: Recorded) -> None:
    names = ("KRMFN_CONTEXT", "KRMFN_CONTEXTS", "KRMFN_LIVE", "KUBECTL_CONTEXT", "ARGOCD_ENV_CONTEXT")
    variables = dict.fromkeys(names, "lab")
    parameters = json.dumps([{"name": "context", "string": "lab"}])
    args = {**COMMANDS_THAT_ASK, **OTHERS}[command]
    settings = {"context": "lab", "contexts": ["lab"], "live": "lab"}
    for name in (name for case, name in pairs_of([*COMMANDS_THAT_ASK, *OTHERS], settings) if case == command):
        (lab / ".krmfn.yaml").write_text(yaml.safe_dump({"clusters": {"lab": ["."]}, name: settings[name]}))
        run(lab, server, command, *args, ARGOCD_APP_PARAMETERS=parameters, **variables)
        assert server.calls() == []
    assert "KRM521" in run(lab, server, "check", ".").text


def test_function_mode_asks_nobody(lab: Path, server: Recorded) -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"context": "lab"}}
    text = json.dumps({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": good()})
    listing = json.dumps({**json.loads(text), "functionConfig": config}).encode()
    process("krmfn", stdin=listing, cwd=lab, **server.environment(KRMFN_CONTEXT="lab"))
    assert server.calls() == []


def test_what_the_server_does_not_show_is_said_and_not_known(lab: Path, server: Recorded) -> None:
    server.refuse("pods", 'Error from server (Forbidden): pods is forbidden: User "me\x1b" cannot list\n')
    name = "moduleimagesconfigs.kmm.sigs.x-k8s.io"
    server.refuse(name, 'error: the server doesn\'t have a resource type "moduleimagesconfigs"\n')
    done = run(lab, server, "why", "gpu-1", ".", "--context", "lab", "--verbose").ended(0)
    forbidden = 'Error from server (Forbidden): pods is forbidden: User "me\\x1b" cannot list'
    assert f"warning: not known of lab: pods ({forbidden})\n" in done.err
    assert f"warning: not known of lab: {name} (the server does not have it)\n" in done.err
    assert "operator: not known: the dump has no pods\n" in done.text
    assert "fluxcd" not in done.err


def test_a_cluster_without_any_module_is_known_to_have_none(lab: Path, tmp_path: Path) -> None:
    """The server was asked and has none, which a dump without Modules does not say."""
    items = [item for item in good() if item["kind"] != "Module"]
    done = run(lab, recorded(tmp_path / "empty", items), "why", "gpu-1", ".", "--context", "lab").ended(1)
    assert "the Module is not on the cluster" in done.text.splitlines()[0]


@pytest.mark.parametrize(
    ("name", "message", "text", "says"),
    [
        ("groups", 'error: context "lab" does not exist\n', None, '--context lab: error: context "lab" does not exist'),
        ("groups", "", None, "--context lab: kubectl ended with 1 and said nothing"),
        (
            "nodes",
            "Error from server (Forbidden): nodes\n",
            None,
            "--context lab: Error from server (Forbidden): nodes",
        ),
        (
            "pods",
            "no route to host\n",
            '{"kind": "List", "items": [{"kind": "Pod"}]}',
            "--context lab: no route to host",
        ),
        ("pods", "", '{"kind": "List", "items": [{"kind": "Pod"}, {"kin', "--context lab: the text ends after 1 compl"),
    ],
)
def test_a_cluster_that_cannot_be_asked_is_an_error(
    name: str, message: str, text: str | None, says: str, lab: Path, server: Recorded
) -> None:
    server.refuse(name, message, text)
    assert says in run(lab, server, "nodes", ".", "--context", "lab").refused()


def test_each_of_several_clusters_is_named(lab: Path, server: Recorded) -> None:
    shutil.copytree(lab, lab.parent / "prod", ignore=shutil.ignore_patterns(".git"))
    done = run(lab.parent, server, "nodes", "lab", "prod", "--context", "lab=arn:aws:eks:x:cluster/lab")
    assert "lab: 4 live nodes in place of 4 committed\n" in done.err
    assert server.calls()[0].startswith("--context=arn:aws:eks:x:cluster/lab --request")
    for args, says in (
        (("--context", "lab"), "write --context CLUSTER=NAME with one of 2 clusters: lab, prod"),
        (("--context", "lab=a", "--context", "lab=b"), "--context lab=b: the cluster lab has a dump already"),
    ):
        assert says in run(lab.parent, server, "nodes", "lab", "prod", *args).refused()


def test_another_cluster_is_refused_with_the_option_that_is_right(lab: Path, tmp_path: Path) -> None:
    items = [*good(), SYSTEM]
    other = recorded(tmp_path / "other", items)
    done = run(lab, other, "inventory", "--context", "lab", "--for", ".", "-o", "nodes.yaml").ended(0)
    assert "wrote nodes.yaml: 4 nodes" in done.err
    assert yaml.safe_load((lab / "nodes.yaml").read_text())["spec"]["clusterUID"] == UID
    always = "--context=lab --request-timeout=60s get"
    ends = "--all-namespaces --output=json"
    assert other.calls() == [f"{always} --raw=/apis", *(f"{always} {n} {ends}" for n in ("nodes", "namespaces"))]
    of(items, "Namespace", "kube-system")["metadata"] = {"name": "kube-system", "uid": "another"}
    done = run(lab, recorded(tmp_path / "wrong", items), "nodes", ".", "--context", "lab")
    assert "--context: the dump is of another cluster: its kube-system has the uid another" in done.refused()


def test_an_inventory_is_of_a_file_or_of_a_context(lab: Path, server: Recorded) -> None:
    done = run(lab, server, "inventory", "x.json", "--context", "lab", "--all-labels")
    assert "pass x.json or --context, not both" in done.refused()
    server.refuse("namespaces", "Forbidden\n")
    done = run(lab, server, "inventory", "--context", "lab", "--all-labels").ended(0)
    assert "warning: not known of lab: namespaces (Forbidden)\n" in done.err
    assert "clusterUID" not in done.text


def test_a_kubectl_that_hangs_is_ended_with_all_it_has_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubectl, "_CALL", 0)
    plant(tmp_path, {"bin/kubectl": "#!/bin/sh\nsleep 1000 &\nwait\n"})
    program = kubectl.Kubectl(str(tmp_path / "bin/kubectl"), os.environ["PATH"], "lab")
    with (
        pytest.raises(KrmfnError, match="kubectl took longer than 0 seconds and was stopped"),
        kubectl.answer(program, "nodes") as read,
    ):
        read(1)
