"""A folder without a kustomization is judged as Flux builds it: with one that lists all manifests, hidden ones too."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.cluster.test_edited_roots import flux, rows, told
from tests.functions.cluster.test_engine_additions import CONSUMER, MODULE
from tests.functions.cluster.test_engines import kustomization
from tests.functions.cluster.test_one_result import config
from tests.functions.comparing.test_base import repository
from tests.trees import altered, config_map

NODES = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: lab}
spec:
  labelKeys: [card]
  groups:
  - nodes: |
      n1 6.1.0 card=x
"""
SAME = MODULE.replace("gpu", "nic")
REMOTE = "resources:\n  - https://git.example.com/base.git?ref=v1\n"
FOLDER = {"a/m.yaml": MODULE, "a/sub/c.yaml": CONSUMER}
PLAIN, PREFIX = flux("prune: true"), flux("prune: true, namePrefix: b-")
BROKEN = MODULE.replace("^.+$", "(")
KERNEL = MODULE.replace("{name: gpu", "{name: other")
"""A second Module of one kernel module on the same nodes."""


def patched(kind: str, verb: str, path: str = "/metadata/name") -> dict[str, str]:
    operations = json.dumps([{"op": verb, "path": path, "value": "z"}])
    return flux(f"patches: [{{patch: '{operations}', target: {{kind: {kind}}}}}]")


CASES: dict[str, tuple[dict[str, str], list[str]]] = {
    "nothing is added": (FOLDER | PLAIN, []),
    "its own namespace": (FOLDER | flux("targetNamespace: kmm"), []),
    "another namespace": (FOLDER | flux("targetNamespace: other"), ["a/sub/c.yaml [KRM701]"]),
    "a prefix": (FOLDER | PREFIX, ["a/sub/c.yaml [KRM701]"]),
    "a patch": (FOLDER | patched("Module", "replace"), ["a/sub/c.yaml [KRM701]"]),
    "a patch that fits nothing": (FOLDER | patched("Pod", "remove", "/spec"), ["clusters/lab/ks.yaml [KRM518]"]),
    "a base below": (
        {"a/m.yaml": MODULE, "a/b/kustomization.yaml": "resources: [c.yaml]\n", "a/b/c.yaml": CONSUMER} | PREFIX,
        ["a/b/c.yaml [KRM701]"],
    ),
    "a base below that cannot be built": (
        {"a/m.yaml": BROKEN, "a/b/kustomization.yaml": REMOTE + "  - b.yaml\n", "a/b/b.yaml": SAME} | PREFIX,
        ["a/b/kustomization.yaml [KRM509]", "a/m.yaml"],
    ),
    "a hidden file": (FOLDER | {"a/.more.yaml": KERNEL} | PLAIN, ["a/m.yaml [KRM304]"]),
    "a file in a hidden folder": (FOLDER | {"a/.b/more.yml": KERNEL} | PLAIN, ["a/m.yaml [KRM304]"]),
    "a hidden folder with a kustomization": (
        FOLDER | {"a/.b/kustomization.yaml": "resources: [m.yaml]\n", "a/.b/m.yaml": KERNEL} | PLAIN,
        ["a/m.yaml [KRM304]"],
    ),
    "nothing but a hidden file": (
        {"b/m.yaml": MODULE, "a/.more.yaml": BROKEN} | PLAIN,
        ["a/.more.yaml", "b/m.yaml [KRM544]"],
    ),
    "a hidden file that is not fetched": (
        FOLDER | {"a/.more.yaml": KERNEL, ".sourceignore": ".more.yaml\n"} | PLAIN,
        [],
    ),
    "a hidden file that is excluded": (
        FOLDER | {"a/.more.yaml": KERNEL, ".krmfn.yaml": "exclude: [.more.yaml]\n"} | PLAIN,
        [],
    ),
    "a file that is not fetched": (
        FOLDER | {"a/more.yaml": KERNEL, ".sourceignore": "more.yaml\n"} | PREFIX,
        ["a/more.yaml [KRM537]", "a/sub/c.yaml [KRM701]"],
    ),
    "a file that Flux never fetches": (FOLDER | {"a/.sops.yaml": KERNEL, "a/.github/a.yaml": KERNEL} | PLAIN, []),
    "a link, which Flux does not fetch": (
        {"a/m.yaml": MODULE, "b.txt": KERNEL, "a/link.yaml": "-> ../b.txt"} | PREFIX,
        ["a/link.yaml [KRM524]"],
    ),
    "very many files": (
        FOLDER | {f"a/some-name-that-is-long-{number}.yaml": config_map(f"c{number}") for number in range(99)} | PREFIX,
        ["a/sub/c.yaml [KRM701]"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_folder_is_judged_as_flux_builds_it(name: str, tmp_path: Path) -> None:
    files, findings = CASES[name]
    assert told(process("krmfn", "check", ".", cwd=repository(tmp_path, files))) == findings


def test_an_inventory_in_the_folder_counts(tmp_path: Path) -> None:
    """It is no resource of the cluster, and keeps its nodes' names."""
    folder = repository(tmp_path, {"a/m.yaml": MODULE, "a/nodes.yaml": NODES} | PREFIX)
    out = process("krmfn", "nodes", ".", cwd=folder).ended(0).out.decode()
    assert "kmm/b-gpu  6.1.0   planned  1 " in out


def test_what_kustomize_refuses_names_the_object_that_wants_it(tmp_path: Path) -> None:
    """A file that holds no resource stops all of the folder, in Flux as here."""
    folder = repository(tmp_path, FOLDER | {"a/values.yaml": "size: 1\n"} | PREFIX)
    text = process("krmfn", "check", ".", cwd=folder).ended(2).text
    assert "(built with what Kustomization f/a (clusters/lab/ks.yaml) adds)" in text and "values.yaml" in text


def test_a_change_of_what_is_added_is_a_change(tmp_path: Path) -> None:
    folder = repository(tmp_path, {"a/m.yaml": MODULE} | PREFIX)
    altered(folder / "clusters" / "lab" / "ks.yaml", "b-", "c-")
    done = process("krmfn", "diff", "--base", "main", ".", "--format", "json", cwd=folder)
    assert set(rows(done)) == {("created", "c-gpu"), ("deleted", "b-gpu")}, done.err


@pytest.mark.parametrize("engines", [PLAIN, PREFIX])
def test_a_hidden_file_that_is_added_is_a_change(engines: dict[str, str], tmp_path: Path) -> None:
    """A pull request could hide what Flux applies."""
    folder = repository(tmp_path, {"a/m.yaml": MODULE} | engines)
    (folder / "a" / ".role.yaml").write_text(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: all}\n"
        "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\n"
    )
    done = process("krmfn", "diff", "--base", "main", ".", "--format", "json", cwd=folder)
    changes = [change["ref"]["kind"] for change in json.loads(done.out)["changes"]]
    assert changes == ["ClusterRoleBinding"], done.err


def test_without_git_it_is_not_known_what_flux_leaves_out(tmp_path: Path) -> None:
    folder = repository(tmp_path, FOLDER | PREFIX | {".sourceignore": "x.yaml\n"})
    shutil.rmtree(folder / ".git")
    assert "Flux adds namePrefix to Module kmm/gpu" in process("krmfn", "check", ".", cwd=folder).text


def test_a_part_of_the_folder_is_read_by_itself(tmp_path: Path) -> None:
    """Only PATHs are read: what Flux adds is told then."""
    folder = repository(tmp_path, FOLDER | PREFIX)
    assert "[KRM547]" in process("krmfn", "check", "a/sub", cwd=folder).text


def test_two_prefixes_of_one_folder_are_two_roots(tmp_path: Path) -> None:
    second = kustomization("a").replace("{name: a", "{name: y").rstrip()[:-1] + ", namePrefix: y-}\n"
    files = {"a/m.yaml": MODULE, "clusters/lab/y.yaml": second} | PREFIX
    assert told(process("krmfn", "check", ".", cwd=repository(tmp_path, files))) == ["a/m.yaml [KRM304]"]


def test_a_folder_that_it_does_not_list_is_of_its_own_object_alone(tmp_path: Path) -> None:
    """What Flux writes for `apps` lists `apps/shop`, whose kustomization does not list `apps/shop/cards`."""
    object_ = (
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {0}, namespace: flux}}\n"
        "spec: {{path: ./{1}, targetNamespace: kmm, sourceRef: {{kind: GitRepository, name: flux}}}}\n"
    )
    files = {
        "cluster/apps.yaml": object_.format("all", "apps"),
        "apps/shop/kustomization.yaml": "resources: [cards.yaml]\n",
        "apps/shop/cards.yaml": object_.format("cards", "apps/shop/cards"),
        "apps/shop/cards/kustomization.yaml": "resources: [gpu.yaml]\n",
        "apps/shop/cards/gpu.yaml": config("gpu", "card: x"),
    }
    done = process("krmfn", "check", cwd=repository(tmp_path, files))
    refused = [line for line in done.text.splitlines() if "[KRM545]" in line]
    assert [line.split(": error: ")[0] for line in refused] == ["apps/shop/cards.yaml:1:1"], done.text


def test_a_config_beside_the_objects_with_which_flux_starts_is_told(tmp_path: Path) -> None:
    """What `flux bootstrap --path clusters/lab` applies has no object in the repository."""
    files = {"clusters/lab/gpu.yaml": config("gpu", "card: x"), "a/m.yaml": SAME} | PLAIN
    done = process("krmfn", "check", cwd=repository(tmp_path, files)).ended(0)
    first = done.text.splitlines()[0]
    assert first.startswith("clusters/lab/ks.yaml:1:1: warning: "), done.text
    assert "if it is started on clusters/lab" in first
