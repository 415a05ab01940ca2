"""The shipped ApplicationSet under Argo CD's own controller: a folder becomes an Application of its cluster."""

from __future__ import annotations

import json

import yaml

from .argo import PLUGIN
from .argo_loop import ARGO, KMM, Loop
from .test_argocd_loop import config


def test_a_folder_becomes_an_application_of_its_cluster(loop: Loop) -> None:
    """The folder has the name by which Argo CD knows the cluster."""
    loop.commit("a cluster", clusters__e2e__gpu=config())
    text = (PLUGIN.parents[1] / "argocd-applications" / "applicationset.yaml").read_text()
    assert text.count("https://git.example.com/fleet.git") == 2
    manifest = yaml.safe_load(text.replace("https://git.example.com/fleet.git", f"file://{loop.repository}"))
    loop.cluster.apply(loop.cluster.place_of(manifest, "argocd"), json.dumps(manifest).encode())
    name = "accelerators-e2e"
    loop.until("the Application is made", name, lambda: bool(loop.get(ARGO, "Application", "argocd", name)))
    loop.until("its Module is created", name, lambda: bool(loop.get(KMM, "Module", "kmm", "gpu")))
