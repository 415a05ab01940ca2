"""Roots of others in a cluster that has something of ours: they count where ours refer to them, and fail nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from krmfn_functions.cluster.beside import divided
from krmfn_functions.cluster.deployed import Cluster
from krmfn_functions.cluster.survey import Root
from krmfn_functions.kustomization.graph import NO_GRAPH

from krmfn import ResourceList
from krmfn.yamltext import emit
from tests.builders import edited, function_config, module
from tests.call_counts import call_count
from tests.commands import process
from tests.functions.comparing.test_base import repository
from tests.trees import config_map

from .test_engines import application
from .test_one_result import config

OURS = {
    "apps/gpu.yaml": application("gpu", "lab"),
    "apps/shop.yaml": application("shop", "lab", "directory: {recurse: true}"),
    "gpu/gpu.yaml": config("gpu", "card: x"),
}
SHOP = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop, namespace: shop}\nspec: {}\n"
OWNED = (
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: owned\n  namespace: shop\n"
    '  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: parent, uid: ""}]\n'
)
REMOTE = "resources: ['https://git.example.com/base.git//app?ref=v1', a.yaml]\n"
BUILT = application("shop", "lab", "targetRevision: main")
DRA = {"driverName": "gpu.example.com", "container": {"image": "r.example.com/d:1"}}
GENERATOR = "secretGenerator: [{name: a, literals: [a=b]}]\n" + REMOTE


def check(folder: Path, *args: str) -> tuple[int, list[str]]:
    done = process("krmfn", "check", ".", *args, cwd=folder)
    return done.code, [line for line in (done.reported + done.err).splitlines() if "krmfn explain" not in line]


def foreign(folder: Path) -> int:
    summary = json.loads(process("krmfn", "check", ".", "--format", "json", cwd=folder).text)["summary"]
    assert isinstance(summary["foreign"], int)
    return summary["foreign"]


TROUBLE = {
    "an object that is wrong": ({"shop/a.yaml": OWNED}, "its 1 problem fails"),
    "a file that cannot be read": ({"shop/a.yaml": "kind: Secret\nmetadata: {\n"}, "its 1 problem fails"),
    "both": ({"shop/a.yaml": OWNED, "shop/b.yaml": "kind: Secret\nmetadata: {\n"}, "its 2 problems fail"),
    "a base of the network": (
        {"apps/shop.yaml": BUILT, "shop/kustomization.yaml": GENERATOR, "shop/a.yaml": config_map("a")},
        "its 1 problem fails",
    ),
}


@pytest.mark.parametrize(("files", "words"), TROUBLE.values(), ids=TROUBLE)
def test_the_trouble_of_others_is_one_warning_with_a_count(files: dict[str, str], words: str, tmp_path: Path) -> None:
    repo = repository(tmp_path, OURS | files)
    code, lines = check(repo)
    warnings = [line for line in lines if ": warning: " in line]
    assert (code, len(warnings)) == (0, 1), lines
    assert f"shop holds nothing of krmfn's, so {words} nothing here [KRM534]" in warnings[0]
    assert warnings[0].startswith("shop/")
    assert check(repo, "--all")[0] > 0


@pytest.mark.parametrize("files", [files for files, _ in TROUBLE.values()], ids=TROUBLE)
def test_beside_a_wrong_config_the_config_is_told(files: dict[str, str], tmp_path: Path) -> None:
    wrong = {"gpu/gpu.yaml": OURS["gpu/gpu.yaml"].replace("moduleName", "modulName")}
    code, lines = check(repository(tmp_path, OURS | files | wrong))
    assert (code, any(line.startswith("gpu/gpu.yaml") for line in lines)) == (1, True), lines


UNBUILT = {
    "nothing that ours may refer to": {"shop/a.yaml": SHOP},
    "a base of the network": {"apps/shop.yaml": BUILT, "shop/kustomization.yaml": REMOTE, "shop/a.yaml": SHOP},
    "a chart": {
        "apps/shop.yaml": BUILT,
        "shop/kustomization.yaml": "helmCharts: [{name: a, repo: 'https://charts.example.com'}]\n",
    },
    "an object that is wrong": {"shop/a.yaml": OWNED.replace("ConfigMap", "Deployment")},
}


@pytest.mark.parametrize("files", UNBUILT.values(), ids=UNBUILT)
def test_what_cannot_count_is_counted_as_not_judged(files: dict[str, str], tmp_path: Path) -> None:
    repo = repository(tmp_path, OURS | files)
    code, lines = check(repo)
    assert (code, len(lines)) == (0, 1), lines
    number = sum(name.startswith("shop/") for name in files)
    gaps = process("krmfn", "check", ".", cwd=repo).text.partition("not judged: ")[2]
    assert f"{number} file{'s' * (number > 1)} (nothing of krmfn's or KMM's in them)" in gaps
    assert foreign(repo) == number


SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: pull, namespace: kmm}\n"
ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: gpu-loader, namespace: kmm}\n"


@pytest.mark.parametrize("kind", [f"&{'a' * 120} ServiceAccount", "# a\n  # b\n  # c\n  # d\n  # e\n  ServiceAccount"])
def test_a_kind_that_is_not_read_may_be_one_that_ours_refer_to(kind: str, tmp_path: Path) -> None:
    gpu = OURS["gpu/gpu.yaml"] + "  serviceAccountName: gpu-loader\n"
    account = ACCOUNT.replace("ServiceAccount", kind)
    repo = repository(tmp_path, OURS | {"gpu/gpu.yaml": gpu, "shop/a.yaml": account})
    assert not any("[KRM703]" in line for line in check(repo)[1])
    assert foreign(repo) == 0


@pytest.mark.parametrize(("name", "is_told"), [("gpu-loader", False), ("gpu-lodaer", True)])
def test_what_ours_refer_to_counts(name: str, is_told: bool, tmp_path: Path) -> None:
    gpu = OURS["gpu/gpu.yaml"] + f"  serviceAccountName: {name}\n"
    lines = check(repository(tmp_path, OURS | {"gpu/gpu.yaml": gpu, "shop/a.yaml": ACCOUNT}))[1]
    assert any("[KRM703]" in line for line in lines) == is_told, lines


AGAIN = {
    "of a kind that ours refer to": SECRET,
    "of any kind": SHOP.replace("shop", "kmm"),
    "the Namespace": "apiVersion: v1\nkind: Namespace\nmetadata: {name: kmm}\n",
}


@pytest.mark.parametrize("text", AGAIN.values(), ids=AGAIN)
def test_an_object_of_ours_that_stands_there_again_is_an_error(text: str, tmp_path: Path) -> None:
    files = OURS | {"gpu/other.yaml": text, "shop/a.yaml": text}
    code, lines = check(repository(tmp_path, files))
    assert (code, any("[KRM705]" in line and ": error: " in line for line in lines)) == (1, True), lines


def test_a_namespace_that_refuses_the_driver_is_an_error(tmp_path: Path) -> None:
    text = (
        "apiVersion: v1\nkind: Namespace\n"
        "metadata: {name: kmm, labels: {pod-security.kubernetes.io/enforce: restricted}}\n"
    )
    code, lines = check(repository(tmp_path, OURS | {"shop/a.yaml": text}))
    assert (code, any("[KRM717]" in line for line in lines)) == (1, True), lines


def test_a_device_class_that_ours_make_is_an_error(tmp_path: Path) -> None:
    """KMM overwrites the one of others, and deletes it with the Module."""
    name = "gpu.example.com"
    made = emit.dump(edited(module(), ("spec.dra", DRA | {"deviceClasses": [{"name": name}]})))
    settings = emit.dump(function_config(kmm={"version": "main"}))
    theirs = f"apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {{name: {name}}}\n"
    files = OURS | {"gpu/gpu.yaml": f"{settings}---\n{made}", "shop/a.yaml": theirs}
    code, lines = check(repository(tmp_path, files))
    assert (code, any(line.startswith("shop/a.yaml") and "[KMM082]" in line for line in lines)) == (1, True), lines


def test_a_webhook_that_comes_there_is_told_first(tmp_path: Path) -> None:
    """It may refuse what ours make, or change it."""
    repo = repository(tmp_path, OURS | {"shop/a.yaml": SHOP})
    hook = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: a}\n"
    (repo / "shop/b.yaml").write_text(hook)
    done = process("krmfn", "diff", "--base", "HEAD", ".", cwd=repo)
    assert "ValidatingWebhookConfiguration a" in done.text


def test_an_object_of_ours_that_has_the_same_name_there_keeps_its_errors(tmp_path: Path) -> None:
    """Two objects of one name: what is wrong with ours is about ours."""
    files = OURS | {"gpu/owned.yaml": OWNED, "shop/a.yaml": OWNED}
    code, lines = check(repository(tmp_path, files))
    assert (code, any(line.startswith("gpu/owned.yaml") and ": error: " in line for line in lines)) == (1, True), lines


def test_the_application_of_ours_is_judged(tmp_path: Path) -> None:
    """The folder with the objects of engines holds nothing of ours, and is not left out: KRM529 is about these."""
    apps = {"apps/apps.yaml": application("apps", "lab", "directory: {}"), "shop/a.yaml": SHOP}
    assert foreign(repository(tmp_path, OURS | apps)) == 1


def test_a_cluster_of_the_configuration_file_is_judged_whole(tmp_path: Path) -> None:
    files = {"shop/a.yaml": OWNED, ".krmfn.yaml": "clusters: {lab: [gpu, shop]}\n"}
    code, lines = check(repository(tmp_path, OURS | files))
    assert (code, any("[KRM707]" in line for line in lines)) == (1, True), lines


def calls_to_divide(number: int) -> int:
    """How many functions are called to divide a cluster of so many roots, half of which are of others."""
    roots = tuple(Root("files", f"r{at}", f"/absent/{at}", NO_GRAPH) for at in range(number))
    deployments: Any = ("an engine's",)
    cluster = Cluster("lab", roots, ResourceList(), deployments=deployments)
    (_, left_out), count = call_count(
        lambda: divided(cluster, lambda root: root.path.endswith(("1", "3", "5", "7", "9")), lambda _: [])
    )
    assert len(left_out) == number // 2
    return count


def test_twice_the_roots_are_twice_the_work() -> None:
    once, twice = map(calls_to_divide, (40, 80))
    assert twice < 2.2 * once, (once, twice)
