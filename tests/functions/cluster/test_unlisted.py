"""What no kustomization lists and no cluster of .krmfn.yaml has: said at the file, and never a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import Done, process
from tests.trees import plant

from .test_one_result import FUNCTION, config, node

SET = "argocd/set.yaml"
FILES = {
    ".krmfn.yaml": "clusters:\n  dev: [clusters/dev, inventories/dev.yaml]\n",
    "base/kustomization.yaml": "resources: [gpu.yaml]\n",
    "base/gpu.yaml": config("gpu", "card: a"),
    "clusters/dev/kustomization.yaml": "resources: [../../base]\n",
    "inventories/dev.yaml": node("gpu-1", card="a"),
    SET: "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: fleet, namespace: argocd}\n",
}
NIC = """\
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: fastnic}
spec:
  for: {group: nic.example.org, versions: [v1], kind: FastNic}
  schema: {type: object, properties: {spec: {type: object}}}
  config: {moduleName: fastnic, driverImage: "r.example.com/nic:1-$KERNEL_FULL_VERSION", nodeSelector: {card: b}}
"""
CR = "apiVersion: nic.example.org/v1\nkind: FastNic\nmetadata: {name: nic, namespace: kmm}\nspec: {}\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with a cluster, and an ApplicationSet that is in none."""
    (tmp_path / ".git").mkdir()
    return plant(tmp_path, FILES)


def krmfn(folder: Path, *arguments: str) -> Done:
    return process("krmfn", *arguments, cwd=folder)


@pytest.mark.parametrize(
    ("file", "text", "kustomization"),
    [
        ("base/extra.yaml", config("fpga", "card: b"), "base/kustomization.yaml"),
        ("clusters/lab/gpu.yaml", config("fpga", "card: b").replace("driverImage", "profile"), "a kustomization"),
        ("clusters/lab/nic.yaml", f"{NIC}---\n{CR}", "a kustomization"),
    ],
)
def test_a_config_in_no_cluster_is_a_warning_at_its_file(repo: Path, file: str, text: str, kustomization: str) -> None:
    plant(repo, {file: text})
    done = krmfn(repo, "check", ".")
    lines = done.reported.splitlines()
    assert (done.code, done.err, len(lines)) == (0, "", 4), done.text
    assert lines[0].startswith(f"{file}:")
    assert lines[0].endswith(
        "belongs to no cluster: no kustomization lists it and no cluster of .krmfn.yaml has it, so it is deployed "
        "nowhere [KRM524]"
    )
    assert lines[1] == f"  help: list it in {kustomization} or in .krmfn.yaml"
    assert lines[2].startswith("1 warning: ")
    assert "clusters" not in lines[2], "there is one cluster"
    assert krmfn(repo, "check", "--strict", ".").code == 1
    assert file in krmfn(repo, "nodes", ".").err


def test_a_file_that_a_cluster_has_or_that_is_named_alone_is_judged(repo: Path) -> None:
    plant(repo, {"clusters/lab/gpu.yaml": config("fpga", "card: b")})
    assert "KRM524" not in krmfn(repo, "check", "clusters/lab").text
    plant(repo, {".krmfn.yaml": FILES[".krmfn.yaml"] + "  lab: [clusters/lab]\n"})
    assert "2 clusters" in krmfn(repo, "check", ".").text
    plant(repo, {".krmfn.yaml": "exclude: [argocd]\n"})
    assert "KRM524" not in krmfn(repo, "check", ".").text, "without clusters each root is one"


@pytest.mark.parametrize("vendors", ["", "profiles: [vendors]\n"])
def test_what_is_not_deployed_makes_no_cluster(repo: Path, vendors: str) -> None:
    if vendors:
        plant(repo, {".krmfn.yaml": FILES[".krmfn.yaml"] + vendors, "vendors/nic.yaml": NIC})
    assert "clusters" not in krmfn(repo, "check", ".").text
    nodes = krmfn(repo, "nodes", ".")
    assert (nodes.code, nodes.text.count("kmm/gpu"), nodes.err) == (0, 1, "")
    rendered = krmfn(repo, "render", ".")
    assert (rendered.code, rendered.text.count("kind: Module")) == (0, 1), "it is one cluster"


def test_what_is_wrong_in_a_file_of_no_cluster_is_still_said(repo: Path) -> None:
    plant(repo, {"vendors/nic.yaml": NIC.replace("moduleName", "moduleNam"), "profiles.yaml": FUNCTION + "  a: 1\n"})
    done = krmfn(repo, "check", ".").ended(2)
    assert "vendors/nic.yaml:7" in done.text
    assert "profiles.yaml" in done.text


def test_a_config_whose_profile_is_of_another_cluster_is_an_error(repo: Path) -> None:
    """No Module is made of it, and Argo CD would prune the driver."""
    files = {f"clusters/{name}/kustomization.yaml": "resources: [nic.yaml]\n" for name in ("dev", "prod")}
    files |= {f"clusters/{name}/nic.yaml": CR for name in ("dev", "prod")}
    prod = "  prod: [clusters/prod, vendors]\n"
    plant(repo, {**files, "vendors/nic.yaml": NIC, ".krmfn.yaml": f"clusters:\n  dev: [clusters/dev]\n{prod}"})
    done = krmfn(repo, "check", ".").ended(1)
    assert (
        "clusters/dev/nic.yaml:1: error: FastNic kmm/nic: vendors/nic.yaml has a Profile for this kind, but it is not "
        "in the cluster dev [KRM107] (dev)\n"
        "  help: add vendors/nic.yaml to clusters.dev in .krmfn.yaml, or if its own operator acts on it, write the "
        "annotation `krmfn.dev/profile: none` on it, or `operators: [{group: nic.example.org, kind: FastNic}]` in the "
        "functionConfig's spec\n"
    ) in done.text
    plant(repo, {".krmfn.yaml": f"clusters:\n  dev: [clusters/dev, vendors/nic.yaml]\n{prod}"})
    assert "KRM107" not in krmfn(repo, "check", ".").text, "the remedy helps"
    plant(repo, {".krmfn.yaml": f"clusters:\n  dev: [clusters/dev]\n{prod}"})
    plant(repo, {"clusters/dev/nic.yaml": CR.replace("kmm}", "kmm, annotations: {krmfn.dev/profile: none}}")})
    assert krmfn(repo, "check", ".").code == 0


OVERRIDE = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: platform, annotations: {config.kubernetes.io/local-config: "true"}}
spec: {overrides: {fastnicc: {loadArgs: [a=1]}}}
"""
VENDOR = {
    ".krmfn.yaml": "clusters:\n  dev: [clusters/dev]\n  prod: [clusters/prod]\n",
    "base/kustomization.yaml": "resources: [nic.yaml]\n",
    "base/nic.yaml": CR,
    "vendor/kustomization.yaml": "resources: [profile.yaml]\n",
    "vendor/profile.yaml": NIC,
    "clusters/dev/kustomization.yaml": "resources: [../../base, ../../vendor]\n",
}


@pytest.mark.parametrize(
    ("listed", "rule", "words"),
    [
        ("../../base", "KRM107", "list ../../vendor under `resources`"),
        (
            "../../base, ../../vendor, fix.yaml",
            "KRM111",
            "profile 'fastnicc' is not defined",
        ),
    ],
)
def test_a_vendor_s_cluster_is_refused_whichever_folder_is_rendered(
    repo: Path, listed: str, rule: str, words: str
) -> None:
    """In the cluster's own folder, as in Argo CD, the driver vanished, and a right stayed, with exit code 0."""
    prod = f"resources: [{listed}]\n"
    plant(repo, {**VENDOR, "clusters/prod/kustomization.yaml": prod, "clusters/prod/fix.yaml": OVERRIDE})
    done = krmfn(repo, "check", ".").ended(1)
    assert (f"[{rule}] (prod)" in done.text, words in done.text) == (True, True), done.text
    for command in (["render"], ["check"], ["render", "--profiles-from", "../.."]):
        done = process("krmfn", *command, ".", cwd=repo / "clusters/prod")
        output = done.ended(1).text + done.err
        assert (rule in output, words in output, "moduleLoader" in output) == (True, True, False), output


def test_a_profile_that_a_prefix_renames_keeps_its_name(repo: Path) -> None:
    """An override by the vendor's name had no effect on it, without a word."""
    prod = "namePrefix: prod-\nresources: [../../base, ../../vendor, fix.yaml]\n"
    fix = OVERRIDE.replace("fastnicc", "fastnic")
    plant(repo, {**VENDOR, "clusters/prod/kustomization.yaml": prod, "clusters/prod/fix.yaml": fix})
    done = process("krmfn", "render", ".", cwd=repo / "clusters/prod")
    assert (done.code, "a=1" in done.text, "prod-fastnic" in done.text) == (0, True, False), done.text + done.err


@pytest.mark.parametrize("text", ["clusters:\n  dev: [clusters/dev, vendors]\n", "profiles: [vendors]\n"])
def test_a_profile_that_is_given_twice_counts_once(repo: Path, text: str) -> None:
    plant(repo, {"vendors/nic.yaml": NIC, "base/gpu.yaml": CR, ".krmfn.yaml": f"{text}exclude: [argocd]\n"})
    done = krmfn(repo, "check", "clusters/dev", "--function-config", "vendors/nic.yaml").ended(0)
    assert "KRM184" not in done.text, done.text
    twice = f"{NIC}---\n{NIC}"
    plant(repo, {"vendors/nic.yaml": twice})
    assert "KRM184" in krmfn(repo, "check", "clusters/dev", "--function-config", "vendors/nic.yaml").text


def test_explain_takes_it_for_no_second_cluster(repo: Path) -> None:
    assert "moduleName" in krmfn(repo, "explain", ".", "gpu").ended(0).text


def test_profiles_that_no_root_here_needs_hide_nothing(repo: Path) -> None:
    """A kustomization that cannot be built, or that calls krmfn, is judged without them."""
    files = {".krmfn.yaml": "profiles: [vendors]\n", "vendors/a.yaml": "a: [\n"}
    plant(repo, {**files, "k/kustomization.yaml": "resources: [nope.yaml]\n"})
    done = krmfn(repo, "check", "k")
    assert "k/nope.yaml: No such file or directory" in done.text, done.text
    assert "vendors" not in done.text


REMOTE = (
    "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: ['https://github.com/a/b//c?ref=v1']\n"
)
LISTING: dict[str, tuple[dict[str, str], str]] = {
    "by nothing": ({}, "info: no kustomization lists this Component, so it is neither built nor judged [KRM509]"),
    "by a root": (
        {"clusters/dev/kustomization.yaml": "resources: [../../base]\ncomponents: [../../remote]\n"},
        "error: resources[0]: https://github.com/a/b//c?ref=v1 is fetched over the network",
    ),
}


@pytest.mark.parametrize("name", LISTING)
def test_what_a_component_fetches_is_an_error_where_it_is_listed(name: str, repo: Path) -> None:
    files, words = LISTING[name]
    plant(repo, files | {"remote/kustomization.yaml": REMOTE})
    done = process("krmfn", "check", ".", cwd=repo)
    assert f"remote/kustomization.yaml:3:13: {words}" in done.text, done.text
    assert done.code == (2 if files else 0)
