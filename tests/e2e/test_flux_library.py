"""Flux's own libraries judge: what a substitution leaves of our objects, their order, and the health of Modules."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from krmfn_functions.cluster.flux_unbuilt import refusal
from krmfn_functions.rendering.generated import changed_at

from krmfn import Manifest
from tests import builders
from tests.commands import ROOT
from tests.functions.cluster.test_flux_unbuilt import TEXTS as TEXTS_OF_FOLDERS
from tests.functions.deployments.test_substitution import TEXTS, VALUES

from .engines import EXAMPLES, RENDERED, documents, must, run
from .flux_engine import library

FLUX = ROOT / "gitops" / "flux"
MODES = ("strict", "lenient")
SUBSTITUTING = {"postBuild": {"substitute": {"HOME": "taken", "KERNEL_FULL_VERSION": "taken", "lab": "taken"}}}
DOLLARS = r"""
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: render}
spec:
  profiles:
    dollars:
      extraObjects:
      - apiVersion: v1
        kind: ConfigMap
        metadata: {name: dockerfile}
        data:
          dockerfile: |
            ARG KERNEL_FULL_VERSION
            RUN make -C /lib/modules/${KERNEL_FULL_VERSION}/build && echo $$ $KERNEL_FULL_VERSION $(uname -r)
---
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  profile: dollars
  driverImage: "registry.example.com/gpu/driver:2.0-${KERNEL_FULL_VERSION}-rc1"
  driverVersion: "2.0"
  moduleName: gpu
  nodeSelector: {gpu: present}
  build:
    dockerfileConfigMap: {name: dockerfile}
    buildArgs: [{name: PRICE, value: "$$5 ${HOME}"}]
  daemonSets:
  - {name: one, image: "registry.example.com/one:2.0", command: [sh, -c, 'echo ${HOME:-x} ${lab}']}
  - {name: two, image: "registry.example.com/two:2.0", env: [{name: PID, value: "$$"}]}
  - {name: three, image: "registry.example.com/three:2.0", args: ["$HOME", "$(NODE)", "a$"]}
"""


def kustomization(**spec: Any) -> Manifest:
    head = builders.manifest("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "lab", "flux-system")
    return {**head, "spec": spec}


def applied(folder: Path, mode: str, **spec: Any) -> bytes:
    """Return what kustomize-controller would apply of a folder."""
    copy = folder.with_name(f"{folder.name}-copy")
    shutil.copytree(folder, copy)
    try:
        done = library("build", folder.parent, copy, mode, question=kustomization(**spec))
    finally:
        shutil.rmtree(copy)
    assert done.code == 0, done.err
    return done.out


@pytest.mark.parametrize("example", [*RENDERED, "dollars"])
def test_a_substitution_changes_nothing_of_what_we_render(example: str, tmp_path: Path) -> None:
    source = tmp_path / "dollars.yaml" if example == "dollars" else EXAMPLES / example
    if example == "dollars":
        source.write_text(DOLLARS)
    out = tmp_path / "out"
    run("krmfn", "render", source, "--output-dir", out, "--split", "stages").ended(0)
    for stage in ("before", "modules", "consumers"):
        files = [path for path in (out / stage).iterdir() if path.name != "kustomization.yaml"]
        rendered = [documents(path.read_bytes())[0] for path in files]
        plain = applied(out / stage, "strict")
        by_id = {identity(manifest): manifest for manifest in documents(plain)}
        assert by_id == {identity(manifest): manifest for manifest in rendered}
        for mode in MODES:
            assert applied(out / stage, mode, **SUBSTITUTING) == plain, (stage, mode)


def identity(manifest: Manifest) -> tuple[str, ...]:
    metadata = manifest["metadata"]
    return manifest["apiVersion"], manifest["kind"], metadata.get("namespace", ""), metadata["name"]


def folder_of(folder: Path, *manifests: Manifest) -> Path:
    """Write objects as a folder that Flux reads."""
    folder.mkdir()
    (folder / "all.yaml").write_text(yaml.safe_dump_all(manifests))
    return folder


def config_map(name: str, data: dict[str, str]) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def test_what_we_take_for_untouched_is_untouched(tmp_path: Path) -> None:
    texts = ["".join(letters) for size in range(1, 6) for letters in itertools.product("${}A(_", repeat=size)]
    safe = [text for text in texts if changed_at(text) is None]
    assert 1000 < len(safe) < len(texts)
    held = folder_of(tmp_path / "safe", config_map("safe", {f"k{n}": text for n, text in enumerate(safe)}))
    for mode in MODES:
        assert applied(held, mode, **SUBSTITUTING) == applied(held, mode)


@pytest.mark.parametrize("text", ["${HOME}", "a-${NONE:=b}", "$$", "x$$$y", "${KERNEL_FULL_VERSION", "${}", "$${HOME}"])
def test_what_we_take_for_changed_is_changed_or_refused(text: str, tmp_path: Path) -> None:
    assert changed_at(text) is not None
    held = folder_of(tmp_path / "held", config_map("held", {"key": text}))
    for mode in MODES:
        done = library("build", tmp_path, held, mode, question=kustomization(**SUBSTITUTING))
        assert done.code == 1 or documents(done.out)[0]["data"]["key"] != text


HANDWRITTEN = """\
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: Module
metadata: {name: own, namespace: kmm%s}
spec:
  moduleLoader:
    container:
      modprobe: {moduleName: own}
      kernelMappings:
      - {regexp: ^.+$, containerImage: "registry.example.com/own:1.0-%s-rc1", build: {dockerfileConfigMap: {name: own}}}
  selector: {a: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: own, namespace: kmm%s}
data: {dockerfile: "FROM %s"}
"""
SYNC = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: own, namespace: flux-system}
spec: {path: ./own, prune: true}
"""
MARK = ", annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}"


@pytest.mark.parametrize(
    ("marks", "texts", "count"),
    [
        (("", ""), ("$KERNEL_FULL_VERSION", "$BASE"), 0),
        (("", ""), ("${KERNEL_FULL_VERSION}", "$BASE"), 1),
        (("", ""), ("${KERNEL_FULL_VERSION}", "${BASE}"), 2),
        ((MARK, ""), ("${KERNEL_FULL_VERSION}", "$$BASE"), 1),
        ((MARK, MARK), ("${KERNEL_FULL_VERSION}", "$$BASE"), 0),
    ],
)
def test_of_what_is_written_by_hand_a_finding_says_so(
    marks: tuple[str, str], texts: tuple[str, str], count: int, tmp_path: Path
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "all.yaml").write_text(HANDWRITTEN % (marks[0], texts[0], marks[1], texts[1]))
    (tmp_path / "flux.yaml").write_text(SYNC)
    checked = run("krmfn", "check", folder / "all.yaml", tmp_path / "flux.yaml", "--format", "json")
    assert checked.out.count(b'"KRM711"') == count, checked.out.decode()
    for mode in MODES:
        done = library(
            "build", tmp_path, shutil.copytree(folder, tmp_path / mode), mode, question=kustomization(**SUBSTITUTING)
        )
        kept = done.code == 0 and documents(done.out) == documents(applied(folder, mode))
        assert kept == (count == 0)


def test_flux_would_apply_a_daemonset_before_its_module_and_delete_the_module_first() -> None:
    source = DOLLARS.replace(
        "spec:\n  profile:", "spec:\n  serviceAccountName: gpu\n  serviceAccount: {create: true}\n  profile:"
    )
    done = run("krmfn", "render", "-", stdin=source.encode()).ended(0)
    order = json.loads(library("sort", question=documents(done.out)).out)
    kinds = {step: [name.partition("/")[0] for name in order[step]] for step in ("apply", "delete")}
    assert kinds["apply"] == ["ServiceAccount", "ConfigMap", *["DaemonSet"] * 3, "Module"]
    assert kinds["delete"] == kinds["apply"][::-1]


def checks() -> list[Manifest]:
    """Return the healthCheckExprs that we ship."""
    kustomizations = documents((FLUX / "stages" / "kustomizations.yaml").read_bytes())
    [modules] = [manifest for manifest in kustomizations if manifest["metadata"]["name"] == "lab-modules"]
    return list(modules["spec"]["healthCheckExprs"])


def counters(text: str) -> dict[str, int]:
    """Return matching, desired and available nodes as KMM writes them: zero is absent."""
    names = ("nodesMatchingSelectorNumber", "desiredNumber", "availableNumber")
    return {name: int(count) for name, count in zip(names, text.split("/"), strict=True) if count != "-"}


def status(**sections: str) -> dict[str, Any]:
    return {section: counters(text) for section, text in sections.items()}


def module(observed: dict[str, Any] | None, *sections: str, version: str = "", **metadata: Any) -> Manifest:
    container = {"version": version} if version else {}
    spec = {section: {"container": container if section == "moduleLoader" else {}} for section in sections}
    manifest = builders.manifest("kmm.sigs.x-k8s.io/v1beta1", "Module", "gpu", **{"generation": 3, **metadata})
    state = {} if observed is None else {"status": observed}
    return {**manifest, "spec": {"selector": {}, **spec}, **state}


DELETED: dict[str, Any] = {
    "deletionTimestamp": "2026-01-01T00:00:00Z",
    "finalizers": ["kmm.node.kubernetes.io/module-finalizer"],
}
BOTH = ("moduleLoader", "devicePlugin")
LOADER, PLUGIN, DRA = BOTH[:1], BOTH[1:], ("dra",)
HEALTH: dict[str, tuple[Manifest, str]] = {
    "no status yet": (module(None, *LOADER), "Unknown"),
    "a selector that matches no node, or just created": (module(status(), *LOADER), "Current"),
    "a selector that matches no node": (module({"moduleLoader": {}, "devicePlugin": {}}, *LOADER), "Current"),
    "images are being checked": (module(status(moduleLoader="3/-/-"), *LOADER), "InProgress"),
    "a ServiceAccount is missing": (module(status(moduleLoader="3/3/-"), *LOADER), "InProgress"),
    "loaded on one of three": (module(status(moduleLoader="3/3/1"), *LOADER), "InProgress"),
    "loaded on all": (module(status(moduleLoader="3/3/3"), *LOADER), "Current"),
    "one kernel that no mapping matches": (module(status(moduleLoader="3/2/2"), *LOADER), "InProgress"),
    "one of three labelled with the version": (
        module(status(moduleLoader="3/1/1"), *LOADER, version="1"),
        "Current",
    ),
    "one of three labelled, the plugin where it can be": (
        module(status(moduleLoader="3/1/1", devicePlugin="3/3/1"), *BOTH, version="1"),
        "Current",
    ),
    "labelled, not loaded": (module(status(moduleLoader="3/2/1"), *LOADER, version="1"), "InProgress"),
    "a device plugin that is not ready": (
        module(status(moduleLoader="3/3/3", devicePlugin="3/3/2"), *BOTH),
        "InProgress",
    ),
    "only a device plugin, starting": (module(status(devicePlugin="2/2/1"), *PLUGIN), "InProgress"),
    "only a device plugin": (module({"moduleLoader": {}, **status(devicePlugin="2/2/2")}, *PLUGIN), "Current"),
    "a DRA driver that is not ready": (module(status(dra="2/2/1"), *DRA), "InProgress"),
    "a DRA driver": (module(status(dra="2/2/2"), *DRA), "Current"),
    "counters of a section that is gone": (
        module(status(moduleLoader="3/3/3", devicePlugin="3/3/1"), *LOADER),
        "Current",
    ),
    "an update that cannot be pulled: the old one runs": (
        module(status(moduleLoader="3/3/3"), *LOADER, generation=4),
        "Current",
    ),
    "a new version, and no node labelled for it": (
        module(status(moduleLoader="3/3/3"), *LOADER, version="2", generation=5),
        "Current",
    ),
    "being deleted, held by a consumer": (module(status(moduleLoader="3/3/3"), *LOADER, **DELETED), "InProgress"),
    "an old generation, should KMM ever write it": (
        module({"observedGeneration": 2, **status(moduleLoader="3/3/3")}, *LOADER),
        "InProgress",
    ),
}


def judged(objects: list[Manifest], expressions: list[Manifest]) -> list[str]:
    done = library("health", question={"checks": expressions, "objects": objects}).ended(0)
    return [str(answer).partition(":")[0] for answer in json.loads(done.out)]


def test_the_health_of_a_module_in_each_state() -> None:
    answers = judged([manifest for manifest, _ in HEALTH.values()], checks())
    assert dict(zip(HEALTH, answers, strict=True)) == {state: expected for state, (_, expected) in HEALTH.items()}


def test_without_the_two_lines_a_kernel_that_no_mapping_matches_holds_nothing_up() -> None:
    expressions = checks()
    start, end = "(!spec.?moduleLoader.?container.?version", "orValue(0)) ||"
    before, _, rest = expressions[0]["inProgress"].partition(start)
    expressions[0]["inProgress"] = before + rest.partition(end)[2]
    waiting = [module(status(moduleLoader="3/2/2", devicePlugin="3/3/2"), *BOTH), HEALTH["loaded on one of three"][0]]
    assert judged(waiting, checks()) == ["InProgress", "InProgress"]
    assert judged(waiting, expressions) == ["Current", "InProgress"]


@pytest.mark.parametrize(
    ("observed", "expected"),
    [
        (None, "Unknown"),
        ({}, "Current"),
        ({"numberDesired": 2}, "InProgress"),
        ({"numberDesired": 2, "numberApplied": 1}, "InProgress"),
        ({"numberDesired": 2, "numberApplied": 2}, "Current"),
        ({"numberDesired": 2, "numberApplied": 1, "numberDegraded": 1}, "Failed"),
    ],
)
def test_the_health_of_a_managed_cluster_module(observed: dict[str, int] | None, expected: str) -> None:
    head = {"apiVersion": "hub.kmm.sigs.x-k8s.io/v1beta1", "kind": "ManagedClusterModule", "metadata": {"name": "gpu"}}
    manifest = head if observed is None else head | {"status": observed}
    assert judged([manifest], checks()) == [expected]
    deleted = manifest | {"metadata": {"name": "gpu", **DELETED}}
    assert judged([deleted], checks()) == ["InProgress"]


@pytest.mark.parametrize(("text", "reason"), TEXTS_OF_FOLDERS.values(), ids=TEXTS_OF_FOLDERS)
def test_a_folder_without_a_kustomization_is_built_unless_we_say_that_it_is_not(
    text: str, reason: str, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path / "a", config_map("c", {}))
    (folder / "more.yaml").write_text(text)
    done = library("build", tmp_path, folder, "lenient", question=kustomization())
    assert (done.code, refusal(text.encode())) == (int(bool(reason)), reason), done.err


def test_an_empty_folder_is_built_and_holds_nothing(tmp_path: Path) -> None:
    for text in (DOLLARS, "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n"):
        (tmp_path / "config.yaml").write_text(text)
        options = ("--output-dir", tmp_path / "out", "--split", "stages", "--replace", "--allow-empty")
        must("krmfn", "render", tmp_path / "config.yaml", *options)
    for stage in ("before", "modules", "consumers"):
        assert applied(tmp_path / "out" / stage, "strict", **SUBSTITUTING) == b""


@pytest.mark.parametrize("text", sorted(TEXTS.keys() - {"${U}"}))
def test_a_variable_is_put_into_data_as_by_flux(text: str, tmp_path: Path) -> None:
    """What Flux applies is what krmfn judges; of a variable without a value it says that it is not known."""
    manifest = {**builders.manifest("example.com/v1", "Thing", "a"), "spec": {"a": text}}
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a.json.yaml").write_text(json.dumps(manifest))
    (built,) = documents(applied(tmp_path / "out", "strict", postBuild={"substitute": VALUES}))
    assert built["spec"]["a"] == TEXTS[text]
