"""Rendered manifests in Git: Argo CD's own source hydrator with our plugin, and a branch that CI has rendered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.commands import ROOT
from tests.trees import plant

from .argo import PLUGIN
from .argo_loop import APPS, ARGO, AUTHOR, KMM, Loop, Object
from .engines import must
from .test_argocd_loop import CONFIG, SENTENCE, settled

EXAMPLES = PLUGIN.parents[1] / "argocd-applications"
BRANCH = "environments/lab"


def config(namespace: str, name: str = "gpu") -> str:
    """Return a config that names its namespace, as CI needs it."""
    text = CONFIG.format(name=name, version="1.0", nodes="a")
    return text.replace(f"{{name: {name}}}", f"{{name: {name}, namespace: {namespace}}}", 1)


def shipped(example: str, loop: Loop, source: str, path: str) -> Object:
    """Return the spec of a shipped Application with our repository and path in its source."""
    spec: dict[str, Any] = yaml.safe_load((EXAMPLES / f"{example}.yaml").read_text())["spec"]
    place = spec["sourceHydrator"][source] if source != "source" else spec[source]
    assert place["repoURL"] == "https://git.example.com/fleet.git"
    place |= {"repoURL": f"file://{loop.repository}", "path": path}
    return spec


def deploys(loop: Loop, name: str) -> None:
    """Wait until the Module is there, let it be loaded, and wait for the DaemonSet."""
    loop.until("the Module is created", name, lambda: bool(loop.get(KMM, "Module", name, "gpu")))
    assert not loop.get(APPS, "DaemonSet", name, "gpu-metrics"), "it comes in the next wave"
    loop.load(name, "gpu")
    loop.until("the DaemonSet is created", name, lambda: bool(loop.get(APPS, "DaemonSet", name, "gpu-metrics")))
    loop.roll_out(name, "gpu-metrics")
    loop.until("all is healthy", name, lambda: settled(loop, name))


def on_branch(loop: Loop, branch: str, path: str) -> bytes:
    return must("git", "-C", loop.repository, "show", f"{branch}:{path}")


def hydration(loop: Loop) -> Object:
    """Return what Argo CD says of the last time that it rendered."""
    return dict(loop.status("dry").get("sourceHydrator", {}).get("currentOperation", {}))


def hydrate(loop: Loop) -> None:
    """Let it look at the dry branch again, as a webhook does."""
    annotations = {"argocd.argoproj.io/hydrate": "normal"}
    loop.patch(ARGO, "Application", "argocd", "dry", {"metadata": {"annotations": annotations}})


def test_the_source_hydrator_renders_with_the_plugin(loop: Loop) -> None:
    """The file in the folder brings it there; a conflict is said and is not pushed."""
    plant(loop.repository, {"dry/hydrate-with-krmfn": ""})
    loop.commit("one config", dry__gpu=config("dry"))
    spec = shipped("source-hydrator", loop, "drySource", "dry")
    spec["sourceHydrator"]["syncSource"]["path"] = "dry"
    assert spec["sourceHydrator"]["syncSource"]["targetBranch"] == BRANCH
    loop.create("dry", spec)
    loop.until("it is rendered", "dry", lambda: hydration(loop).get("phase") == "Hydrated")
    kinds = [manifest["kind"] for manifest in yaml.safe_load_all(on_branch(loop, BRANCH, "dry/manifest.yaml"))]
    assert sorted(kinds) == ["DaemonSet", "Module"]
    deploys(loop, "dry")

    pushed = must("git", "-C", loop.repository, "rev-parse", BRANCH)
    loop.commit("a second one for the same nodes", dry__other=config("dry", "other"))
    hydrate(loop)
    sentence = SENTENCE.replace("clash", "dry")
    loop.until("the conflict is said", "dry", lambda: sentence in hydration(loop).get("message", ""))
    assert must("git", "-C", loop.repository, "rev-parse", BRANCH) == pushed
    assert not loop.get(KMM, "Module", "dry", "other")


def test_a_branch_that_ci_has_rendered_needs_no_plugin(loop: Loop, tmp_path: Path) -> None:
    loop.commit("one config", ci__gpu=config("ci"))
    must("git", "clone", "--quiet", *AUTHOR, loop.repository, tmp_path / "clone")
    must(ROOT / "gitops" / "flux" / "render-branch", "ci", cwd=tmp_path / "clone")
    loop.create("ci", shipped("rendered", loop, "source", "ci"))
    deploys(loop, "ci")
