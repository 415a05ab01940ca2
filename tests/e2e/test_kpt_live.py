"""A real `kpt live`: by config.kubernetes.io/depends-on the Module comes before its DaemonSet and goes after it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from krmfn import Manifest
from tests.commands import HANGS

from .control_plane import wait
from .engines import copy_of, must, path_of
from .kube import Cluster, one_version

MODULE, DAEMONSET = ("kmm.sigs.x-k8s.io/v1beta1", "Module", "gaudi"), ("apps/v1", "DaemonSet", "gaudi-metrics")
WITHIN = HANGS
"""Seconds; on an idle machine each step takes a few."""


class Live:
    """A package on a cluster."""

    def __init__(self, kpt: str, cluster: Cluster, package: Path) -> None:
        self.kpt, self.cluster, self.package = kpt, cluster, package
        self.env = path_of() | {"KUBECONFIG": str(cluster.folder / "kubeconfig"), "HOME": str(cluster.folder)}

    def render(self) -> None:
        must(self.kpt, "fn", "render", self.package, "--allow-exec", env=self.env)

    def apply(self) -> None:
        """Apply the package; kpt waits until the DaemonSet's controller has seen it, whose part is done here."""
        with self.started("apply") as kpt:
            wait("kpt live apply has ended", WITHIN, lambda: self.observe() or kpt.poll() is not None)
        assert kpt.returncode == 0

    def observe(self) -> bool:
        """Write the status of a DaemonSet that selects no node; return False."""
        daemonset = self.get(DAEMONSET)
        if daemonset and "observedGeneration" not in daemonset["status"]:
            counts = dict.fromkeys(("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled"), 0)
            seen = {"observedGeneration": daemonset["metadata"]["generation"], "numberReady": 0, **counts}
            self.patch(DAEMONSET, {"status": seen}, "/status")
        return False

    @contextmanager
    def started(self, command: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run `kpt live` until the block ends."""
        args: list[str | Path] = [self.kpt, "live", command, self.package]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(args, env=self.env, stdin=quiet, stdout=quiet, stderr=quiet) as running:
            try:
                yield running
            finally:
                running.kill()

    def get(self, reference: tuple[str, str, str]) -> Manifest | None:
        return self.cluster.get(self.place_of(reference))

    def place_of(self, reference: tuple[str, str, str]) -> str:
        api, kind, name = reference
        return self.cluster.path_of(api, kind, "kmm", name)

    def existing(self, reference: tuple[str, str, str]) -> Manifest:
        manifest = self.get(reference)
        assert manifest, reference
        return manifest

    def hold(self, reference: tuple[str, str, str], *finalizers: str) -> None:
        """Give an object these finalizers and none else."""
        self.patch(reference, {"metadata": {"finalizers": list(finalizers)}})

    def patch(self, reference: tuple[str, str, str], change: dict[str, Any], part: str = "") -> None:
        self.cluster.merge(self.place_of(reference) + part, change)

    def is_leaving(self, reference: tuple[str, str, str]) -> bool:
        return "deletionTimestamp" in self.existing(reference)["metadata"]


def version(manifest: Manifest) -> int:
    """Return the resourceVersion: one counter for all objects of a cluster."""
    return int(manifest["metadata"]["resourceVersion"])


@pytest.fixture
def live(kpt: str, kmm: Cluster, tmp_path: Path) -> Live:
    """The example, rendered, with an inventory."""
    installed = Live(kpt, kmm, copy_of("kpt-package", tmp_path))
    installed.render()
    must(kpt, "live", "init", installed.package, "--namespace", "kmm", "--name", "accelerators", env=installed.env)
    return installed


@one_version
def test_the_module_comes_first_and_goes_last(live: Live) -> None:
    live.apply()
    assert version(live.existing(MODULE)) < version(live.existing(DAEMONSET))

    live.hold(MODULE, "kmm.node.kubernetes.io/module-finalizer")  # KMM's own, until it has unloaded
    live.hold(DAEMONSET, "example.com/look")  # as long as its pods run
    with live.started("destroy") as destroy:
        wait("the DaemonSet is being deleted", WITHIN, lambda: live.is_leaving(DAEMONSET))
        assert not live.is_leaving(MODULE)
        leaving = version(live.existing(DAEMONSET))
        live.hold(DAEMONSET)
        wait("the Module is being deleted", WITHIN, lambda: live.is_leaving(MODULE))
        assert version(live.existing(MODULE)) > leaving
        assert live.get(DAEMONSET) is None
        live.hold(MODULE)
        wait("the Module is gone", WITHIN, lambda: live.get(MODULE) is None)
        assert destroy.wait(WITHIN) == 0


@one_version
def test_a_config_that_is_deleted_takes_its_objects_along(live: Live) -> None:
    live.apply()
    (live.package / "deviceconfig.yaml").unlink()
    live.render()
    live.apply()
    assert (live.get(MODULE), live.get(DAEMONSET)) == (None, None)
    must(live.kpt, "live", "destroy", live.package, env=live.env, timeout=WITHIN)
