"""A real kustomize-controller on what `render --split stages` writes: order, health, substitution, removal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from krmfn import Manifest
from tests.builders import AGENT, SPEC, device_config
from tests.commands import ROOT
from tests.trees import plant

from .control_plane import wait
from .engines import must, run
from .flux_engine import WITHIN, Flux, built, flux

EXAMPLES = ROOT / "gitops" / "flux"
STAGES = ("lab-before", "lab-modules", "lab-consumers")
MODULE, DAEMONSET = ("kmm.sigs.x-k8s.io/v1beta1", "Module"), ("apps/v1", "DaemonSet")
FINALIZER = "kmm.node.kubernetes.io/module-finalizer"
ACCOUNT = {"serviceAccountName": "gpu", "serviceAccount": {"create": True, "openshift": True}}
AGENTS = [{**AGENT, "command": ["sh", "-c", "echo ${lab} ${HOME} $$"]}]
CONFIG = json.dumps(device_config(SPEC | ACCOUNT, "gpu", "lab"))
WITH_AGENT = json.dumps(device_config(SPEC | ACCOUNT | {"daemonSets": AGENTS}, "gpu", "lab"))
OWN = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: lab}\ndata: {lab: 'this is ${lab}'}\n"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flux]:
    """Flux with a namespace for our objects."""
    folder = tmp_path_factory.mktemp("flux")
    with flux(folder) as running:
        running.cluster.namespace("lab")
        yield running
    shutil.rmtree(folder)


class Fleet:
    """A cluster's config in a repository, what is rendered of it, and the copy of our examples that applies that."""

    def __init__(self, engine: Flux, folder: Path) -> None:
        self.engine, self.folder = engine, folder
        manifests = built(EXAMPLES / "oci")
        [self.source] = [manifest for manifest in manifests if manifest["kind"] == "OCIRepository"]
        self.source["spec"]["suspend"] = True  # there is no source-controller
        self.kustomizations = [manifest for manifest in manifests if manifest["kind"] == "Kustomization"]

    def commit(self, *texts: str) -> str:
        """Render these files in place of the last ones and publish the result; return its revision."""
        repository = self.folder / "lab"
        shutil.rmtree(repository, ignore_errors=True)
        repository.mkdir(parents=True)
        for number, text in enumerate(texts):
            (repository / f"{number}.yaml").write_text(text)
        out = ("--output-dir", self.folder / "rendered" / "lab", "--split", "stages", "--replace", "--allow-empty")
        must("krmfn", "render", repository, *out)
        return self.engine.publish(self.source, self.folder / "rendered")

    def start(self, *texts: str, **spec: Any) -> str:
        """Create source and Kustomizations, with further fields of the latter's spec, and publish."""
        self.engine.create(self.source)
        revision = self.commit(*texts)
        for kustomization in self.kustomizations:
            kustomization["spec"] |= {"retryInterval": "2s", "timeout": "5m"} | spec
            self.engine.create(kustomization)
        return revision

    def get(self, kind: tuple[str, str], name: str = "gpu") -> Manifest | None:
        return self.engine.get(*kind, "lab", name)

    def observe(self, status: dict[str, Any]) -> Manifest:
        """Write the Module's status, as KMM does."""
        place = self.engine.cluster.path_of(*MODULE, "lab", "gpu")
        return self.engine.cluster.merge(f"{place}/status", {"status": status})

    def hold(self, *finalizers: str) -> None:
        """Give the Module these finalizers, as KMM does, and none else."""
        place = self.engine.cluster.path_of(*MODULE, "lab", "gpu")
        self.engine.cluster.merge(place, {"metadata": {"finalizers": list(finalizers)}})

    def wait_for(self, kind: tuple[str, str], name: str = "gpu") -> Manifest:
        """Wait for an object; return it."""
        wait(f"{kind[1]} {name} is there", WITHIN, lambda: self.get(kind, name) is not None)
        manifest = self.get(kind, name)
        assert manifest
        return manifest

    def gone(self, kind: tuple[str, str], name: str = "gpu") -> None:
        wait(f"{kind[1]} {name} is gone", WITHIN, lambda: self.get(kind, name) is None)


@pytest.fixture
def fleet(engine: Flux, tmp_path: Path) -> Iterator[Fleet]:
    """A fleet without anything yet, and without anything of it left behind."""
    empty = Fleet(engine, tmp_path)
    yield empty
    empty.engine.applied(empty.commit(), *STAGES)
    for manifest in (*empty.kustomizations, empty.source):
        place = engine.cluster.place_of(manifest, "flux-system")
        assert engine.cluster.request("DELETE", place)[0] == 200
        wait(f"{place} is gone", WITHIN, lambda place=place: engine.cluster.request("GET", place)[0] == 404)  # type: ignore[misc]
    for kind in ("ServiceAccount", "RoleBinding"):
        api = "v1" if kind == "ServiceAccount" else "rbac.authorization.k8s.io/v1"
        engine.cluster.request("DELETE", engine.cluster.path_of(api, kind, "lab", "").rstrip("/"))


def counters(desired: int, available: int) -> dict[str, Any]:
    return {"moduleLoader": {"nodesMatchingSelectorNumber": 3, "desiredNumber": desired, "availableNumber": available}}


@pytest.mark.parametrize("source", ["git", "oci"])
def test_the_server_accepts_our_examples(source: str, engine: Flux) -> None:
    objects = built(EXAMPLES / source)
    assert len(objects) == 4
    for manifest in objects:
        place = engine.cluster.place_of(manifest, "flux-system")
        assert engine.cluster.dry_run(place, json.dumps(manifest).encode()).accepted
        assert not engine.cluster.dry_run(
            place, json.dumps(manifest | {"spec": manifest["spec"] | {"x": 1}}).encode()
        ).accepted
        reference = manifest["spec"].get("sourceRef", {"kind": "GitRepository" if source == "git" else "OCIRepository"})
        assert reference["kind"].lower().startswith(source)


def test_a_daemonset_comes_once_its_module_is_loaded_everywhere(fleet: Fleet) -> None:
    revision = fleet.start(WITH_AGENT, OWN, postBuild={"substitute": {"lab": "the lab"}})
    fleet.wait_for(("v1", "ServiceAccount"))
    module = fleet.wait_for(MODULE)
    fleet.engine.applied(revision, "lab-before")
    waits = "dependency 'flux-system/lab-modules' is not ready"
    for status in (None, {"moduleLoader": {"nodesMatchingSelectorNumber": 3}}, counters(3, 0), counters(3, 2)):
        if status:
            module = fleet.observe(status)
        wait("the consumers wait", WITHIN, lambda: waits in fleet.engine.ready("lab-consumers")[1])
        assert not fleet.get(DAEMONSET, "gpu-agent")
    module = fleet.observe(counters(3, 3))
    daemonset = fleet.wait_for(DAEMONSET, "gpu-agent")
    fleet.engine.applied(revision, *STAGES)
    assert int(daemonset["metadata"]["resourceVersion"]) > int(module["metadata"]["resourceVersion"])

    container = daemonset["spec"]["template"]["spec"]["containers"][0]
    assert container["command"] == ["sh", "-c", "echo ${lab} ${HOME} $$"], "nothing is substituted in what we make"
    [mapping] = module["spec"]["moduleLoader"]["container"]["kernelMappings"]
    assert mapping["containerImage"] == "registry.example.com/driver:1.0-$KERNEL_FULL_VERSION"
    config_map = fleet.get(("v1", "ConfigMap"), "own")
    assert config_map and config_map["data"] == {"lab": "this is the lab"}, (
        "what is somebody else's is theirs to substitute"
    )


def loaded(fleet: Fleet) -> None:
    """Bring a config to the cluster, with the Module loaded everywhere and held as KMM holds it."""
    revision = fleet.start(WITH_AGENT)
    fleet.wait_for(MODULE)
    fleet.hold(FINALIZER)
    fleet.observe(counters(3, 3))
    fleet.engine.applied(revision, *STAGES)


def rights(fleet: Fleet) -> tuple[Manifest | None, ...]:
    binding = ("rbac.authorization.k8s.io/v1", "RoleBinding")
    return fleet.get(("v1", "ServiceAccount")), fleet.get(binding, "gpu-privileged")


def test_removal_in_two_commits_takes_the_consumers_first(fleet: Fleet) -> None:
    loaded(fleet)
    fleet.engine.applied(fleet.commit(CONFIG), *STAGES)
    fleet.gone(DAEMONSET, "gpu-agent")
    module = fleet.get(MODULE)
    assert module and "deletionTimestamp" not in module["metadata"]

    fleet.engine.applied(fleet.commit(), *STAGES)
    module = fleet.get(MODULE)
    assert module and "deletionTimestamp" in module["metadata"], "KMM holds it until it has unloaded"
    assert all(rights(fleet)), "KMM needs them to unload"
    fleet.hold()
    fleet.gone(MODULE)
    assert all(rights(fleet))


def test_removal_in_one_commit_takes_the_module_first_and_ends_all_the_same(fleet: Fleet) -> None:
    loaded(fleet)
    place = fleet.engine.cluster.path_of(*DAEMONSET, "lab", "gpu-agent")
    fleet.engine.cluster.merge(place, {"metadata": {"finalizers": ["example.com/look"]}})
    fleet.engine.applied(fleet.commit(), "lab-before", "lab-modules", "lab-consumers")
    module, daemonset = fleet.get(MODULE), fleet.get(DAEMONSET, "gpu-agent")
    assert module and daemonset, "both are held, so that their last versions can be read"
    assert "deletionTimestamp" in module["metadata"] and "deletionTimestamp" in daemonset["metadata"]
    assert int(module["metadata"]["resourceVersion"]) < int(daemonset["metadata"]["resourceVersion"])
    fleet.engine.cluster.merge(place, {"metadata": {"finalizers": None}})
    fleet.gone(DAEMONSET, "gpu-agent")  # KMM's finalizer on the Module does not keep Flux from deleting it
    assert all(rights(fleet))
    fleet.hold()
    fleet.gone(MODULE)


def test_diff_says_that_flux_would_delete_the_module_first(tmp_path: Path) -> None:
    plant(tmp_path, {"old.yaml": WITH_AGENT, "next.yaml": CONFIG})
    for new, is_named in (("/dev/null", True), (tmp_path / "next.yaml", False)):
        done = run("krmfn", "diff", tmp_path / "old.yaml", new, "--exit-zero")
        assert (done.code, b"KRM410" in done.out or "KRM410" in done.err) == (0, is_named), done.out.decode() + done.err
