"""A real kustomize-controller on what `render --split stages` writes: order, health, substitution, removal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from krmfn import Manifest
from tests.commands import ROOT
from tests.trees import plant

from .control_plane import wait
from .engines import must, run
from .flux_engine import WITHIN, Flux, built, flux

EXAMPLES = ROOT / "gitops" / "flux"
STAGES = ("lab-before", "lab-modules", "lab-consumers")
MODULE, DAEMONSET = ("kmm.sigs.x-k8s.io/v1beta1", "Module"), ("apps/v1", "DaemonSet")
FINALIZER = "kmm.node.kubernetes.io/module-finalizer"
CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: lab}
spec:
  driverImage: registry.example.com/gpu/driver
  driverVersion: "2.0"
  moduleName: gpu
  nodeSelector: {gpu: present}
  serviceAccountName: gpu
  serviceAccount: {create: true, openshift: true}
"""
AGENT = """\
  daemonSets:
  - {name: agent, image: "registry.example.com/agent:2.0", command: [sh, -c, 'echo ${lab} ${HOME} $$']}
"""
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
        every = built(EXAMPLES / "oci")
        [self.source] = [one for one in every if one["kind"] == "OCIRepository"]
        self.source["spec"]["suspend"] = True  # there is no source-controller
        self.kustomizations = [one for one in every if one["kind"] == "Kustomization"]

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
        for one in self.kustomizations:
            one["spec"] |= {"retryInterval": "2s", "timeout": "5m"} | spec
            self.engine.create(one)
        return revision

    def get(self, what: tuple[str, str], name: str = "gpu") -> Manifest | None:
        return self.engine.get(*what, "lab", name)

    def observe(self, status: dict[str, Any]) -> Manifest:
        """Write the Module's status, as KMM does."""
        place = self.engine.cluster.path_of(*MODULE, "lab", "gpu")
        return self.engine.patch(f"{place}/status", {"status": status})

    def hold(self, *finalizers: str) -> None:
        """Give the Module these finalizers, as KMM does, and none else."""
        place = self.engine.cluster.path_of(*MODULE, "lab", "gpu")
        self.engine.patch(place, {"metadata": {"finalizers": list(finalizers)}})

    def there(self, what: tuple[str, str], name: str = "gpu") -> Manifest:
        """Wait for an object; return it."""
        wait(f"{what[1]} {name} is there", WITHIN, lambda: self.get(what, name) is not None)
        found = self.get(what, name)
        assert found
        return found

    def gone(self, what: tuple[str, str], name: str = "gpu") -> None:
        wait(f"{what[1]} {name} is gone", WITHIN, lambda: self.get(what, name) is None)


@pytest.fixture
def fleet(engine: Flux, tmp_path: Path) -> Iterator[Fleet]:
    """A fleet without anything yet, and without anything of it left behind."""
    made = Fleet(engine, tmp_path)
    yield made
    made.engine.applied(made.commit(), *STAGES)
    for one in (*made.kustomizations, made.source):
        place = engine.cluster.path_of(one["apiVersion"], one["kind"], "flux-system", one["metadata"]["name"])
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
    for one in objects:
        place = engine.cluster.path_of(one["apiVersion"], one["kind"], "flux-system", one["metadata"]["name"])
        assert engine.cluster.dry_run(place, json.dumps(one).encode()).accepted
        assert not engine.cluster.dry_run(place, json.dumps(one | {"spec": one["spec"] | {"x": 1}}).encode()).accepted
        reference = one["spec"].get("sourceRef", {"kind": "GitRepository" if source == "git" else "OCIRepository"})
        assert reference["kind"].lower().startswith(source)


def test_a_daemonset_comes_once_its_module_is_loaded_everywhere(fleet: Fleet) -> None:
    revision = fleet.start(CONFIG + AGENT, OWN, postBuild={"substitute": {"lab": "the lab"}})
    fleet.there(("v1", "ServiceAccount"))
    module = fleet.there(MODULE)
    fleet.engine.applied(revision, "lab-before")
    waits = "dependency 'flux-system/lab-modules' is not ready"
    for status in (None, {"moduleLoader": {"nodesMatchingSelectorNumber": 3}}, counters(3, 0), counters(3, 2)):
        if status:
            module = fleet.observe(status)
        wait("the consumers wait", WITHIN, lambda: waits in fleet.engine.ready("lab-consumers")[1])
        assert not fleet.get(DAEMONSET, "gpu-agent")
    module = fleet.observe(counters(3, 3))
    daemonset = fleet.there(DAEMONSET, "gpu-agent")
    fleet.engine.applied(revision, *STAGES)
    assert int(daemonset["metadata"]["resourceVersion"]) > int(module["metadata"]["resourceVersion"])

    container = daemonset["spec"]["template"]["spec"]["containers"][0]
    assert container["command"] == ["sh", "-c", "echo ${lab} ${HOME} $$"], "nothing is substituted in what we make"
    [mapping] = module["spec"]["moduleLoader"]["container"]["kernelMappings"]
    assert mapping["containerImage"] == "registry.example.com/gpu/driver:2.0-$KERNEL_FULL_VERSION"
    own = fleet.get(("v1", "ConfigMap"), "own")
    assert own and own["data"] == {"lab": "this is the lab"}, "what is somebody else's is theirs to substitute"


def loaded(fleet: Fleet) -> None:
    """Bring a config to the cluster, with the Module loaded everywhere and held as KMM holds it."""
    revision = fleet.start(CONFIG + AGENT)
    fleet.there(MODULE)
    fleet.hold(FINALIZER)
    fleet.observe(counters(3, 3))
    fleet.engine.applied(revision, *STAGES)


def rights(fleet: Fleet) -> tuple[Manifest | None, ...]:
    return tuple(
        fleet.get(what, name)
        for what, name in (
            (("v1", "ServiceAccount"), "gpu"),
            (("rbac.authorization.k8s.io/v1", "RoleBinding"), "gpu-privileged"),
        )
    )


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
    fleet.engine.patch(place, {"metadata": {"finalizers": ["example.com/look"]}})
    fleet.engine.applied(fleet.commit(), "lab-before", "lab-modules", "lab-consumers")
    module, daemonset = fleet.get(MODULE), fleet.get(DAEMONSET, "gpu-agent")
    assert module and daemonset, "both are held, so that their last versions can be read"
    assert "deletionTimestamp" in module["metadata"] and "deletionTimestamp" in daemonset["metadata"]
    assert int(module["metadata"]["resourceVersion"]) < int(daemonset["metadata"]["resourceVersion"])
    fleet.engine.patch(place, {"metadata": {"finalizers": None}})
    fleet.gone(DAEMONSET, "gpu-agent")  # KMM's finalizer on the Module does not keep Flux from deleting it
    assert all(rights(fleet))
    fleet.hold()
    fleet.gone(MODULE)


def test_diff_says_that_flux_would_delete_the_module_first(tmp_path: Path) -> None:
    plant(tmp_path, {"old.yaml": CONFIG + AGENT, "next.yaml": CONFIG})
    for new, said in (("/dev/null", True), (tmp_path / "next.yaml", False)):
        done = run("krmfn", "diff", tmp_path / "old.yaml", new, "--exit-zero")
        assert (done.code, b"KRM410" in done.out or "KRM410" in done.err) == (0, said), done.out.decode() + done.err
