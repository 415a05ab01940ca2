"""A hub's Modules run on the nodes of its spokes, never on its own: what is not known of these is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import Done, process
from tests.trees import plant

CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: xpu, namespace: drivers}
spec:
  driverImage: r.example.com/xpu
  driverVersion: "1"
  moduleName: xpu
  nodeSelector: {example.com/xpu: "true"}
  hub: {spokeNamespace: drivers, clusterSelector: {tier: lab}}
"""
NODE = """\
---
apiVersion: v1
kind: Node
metadata: {name: NAME, labels: {example.com/xpu: "true"}}
status: {nodeInfo: {kernelVersion: 6.1.0-test}}
"""
UNKNOWN = "the nodes of its spokes are not known here, so what they get is not judged"


def node(name: str = "hub-1") -> str:
    return NODE.replace("NAME", name)


def run(folder: Path, *words: str) -> Done:
    return process("krmfn", *words, cwd=folder)


def test_a_hub_s_own_nodes_are_not_those_of_its_spokes(tmp_path: Path) -> None:
    """`nodes --require-coverage` was content: none of the nodes that are there was selected."""
    plant(tmp_path, {"hub.yaml": CONFIG + node()})
    done = run(tmp_path, "nodes", ".")
    assert UNKNOWN in done.ended(0).err
    assert UNKNOWN in run(tmp_path, "nodes", ".", "--require-coverage").ended(1).err
    assert UNKNOWN in run(tmp_path, "check", ".", "--fail-on", "uncovered").ended(1).text


def test_a_change_of_a_hub_s_module_reloads_spokes_whatever_nodes_are_there(tmp_path: Path) -> None:
    """With a node of the hub's in the list nothing was said, and `--fail-on reload` passed."""
    plant(tmp_path, {"old.yaml": CONFIG + node(), "new.yaml": CONFIG.replace('"1"', '"2"') + node()})
    plant(tmp_path, {"bare-old.yaml": CONFIG, "bare-new.yaml": CONFIG.replace('"1"', '"2"')})
    for prefix in ("", "bare-"):
        done = run(tmp_path, "diff", f"{prefix}old.yaml", f"{prefix}new.yaml").ended(1)
        assert "KMM unloads and reloads the kernel module on all its nodes at once" in done.text, prefix
        done = run(tmp_path, "diff", f"{prefix}old.yaml", f"{prefix}new.yaml", "--fail-on", "reload").ended(1)
        assert "is not known (--fail-on reload)" in done.text + done.err, prefix


@pytest.mark.parametrize("image", ["r.example.com/UP:1", "r.example.com/up:1.0-"])
def test_a_bad_image_of_a_hub_s_module_has_its_path(image: str, tmp_path: Path) -> None:
    """The field was that of a Module, so no line of the file was found for it."""
    written = f"""\
apiVersion: hub.kmm.sigs.x-k8s.io/v1beta1
kind: ManagedClusterModule
metadata: {{name: xpu}}
spec:
  spokeNamespace: drivers
  selector: {{tier: lab}}
  moduleSpec:
    selector: {{example.com/xpu: "true"}}
    devicePlugin: {{container: {{image: "{image}"}}}}
    moduleLoader:
      container:
        modprobe: {{moduleName: xpu}}
        kernelMappings: [{{regexp: ^.+$, containerImage: "r.example.com/xpu:$KERNEL_FULL_VERSION"}}]
"""
    plant(tmp_path, {"hub.yaml": written})
    done = run(tmp_path, "check", ".")
    told = [line for line in done.text.splitlines() if image in line]
    assert told
    assert all(line.startswith("hub.yaml:9:32: ") for line in told)
    assert all("ManagedClusterModule xpu: spec.moduleSpec.devicePlugin.container.image: " in line for line in told)
