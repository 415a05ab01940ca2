"""The CRD that a cluster has goes before krmfn's tables: given by --kmm-crd, among the inputs, in a dump."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from krmfn import Manifest
from tests import kmm_crds
from tests.commands import Done, process
from tests.kmm_dumps import node
from tests.trees import plant

MODULE = """\
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: Module
metadata: {name: g, namespace: kmm}
spec:
  selector: {example.com/gpu: "true"}
  devicePlugin: {container: {image: "registry.example.com/dp:1.0", tty: true}}
"""
OF_HUB = """\
apiVersion: hub.kmm.sigs.x-k8s.io/v1beta1
kind: ManagedClusterModule
metadata: {name: h}
spec:
  spokeNamespace: kmm
  selector: {tier: lab}
  moduleSpec:
    selector: {example.com/gpu: "true"}
    moduleLoader:
      container:
        modprobe: {moduleName: gpu}
        kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/gpu:$KERNEL_FULL_VERSION"}]
    devicePlugin: {container: {image: "registry.example.com/dp:1.0", tty: true}}
"""
CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: c, namespace: kmm}
spec:
  nodeSelector: {example.com/gpu: "true"}
  inTreeDriver: true
  devicePlugin: {image: "registry.example.com/dp:1.0"}
"""
UNKNOWN = 'unknown field "{}devicePlugin.container.tty"'


def crd(kind: str = "module", *missing: str, **fields: Any) -> Manifest:
    """The CRD of KMM 2.6, whose plugin's container has further fields, and lacks some."""
    made: Manifest = getattr(kmm_crds.crds("2.6")[0], kind)()
    spec: Any = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec = spec["properties"]["moduleSpec"] if kind == "hub" else spec
    container = spec["properties"]["devicePlugin"]["properties"]["container"]["properties"]
    container.update(fields)
    for name in missing:
        del container[name]
    return made


TTY = {"type": "boolean"}


def check(folder: Path, *options: str, **files: str) -> Done:
    plant(folder, {name.replace("__", "/") + ".yaml": text for name, text in files.items()})
    return process("krmfn", "check", ".", *options, cwd=folder)


def test_a_crd_that_is_given_decides(tmp_path: Path) -> None:
    (tmp_path / "crd.json").write_text(json.dumps(crd(tty=TTY)))
    assert UNKNOWN.format("spec.") in check(tmp_path, "--exclude", "crd.json", module=MODULE).ended(1).text
    check(tmp_path, "--exclude", "crd.json", "--kmm-crd", "crd.json", module=MODULE).ended(0)
    lacking = crd("module", "image", tty=TTY)
    lacking["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["devicePlugin"][
        "properties"
    ]["container"]["required"] = []
    (tmp_path / "crd.json").write_text(json.dumps(lacking))
    done = check(tmp_path, "--exclude", "crd.json", "--kmm-crd", "crd.json", module=MODULE)
    assert 'unknown field "spec.devicePlugin.container.image"' in done.ended(1).text


def test_a_generated_module_is_held_against_it(tmp_path: Path) -> None:
    (tmp_path / "module.yaml").write_text(CONFIG)
    lacking = crd("module", "image", tty=TTY)
    (tmp_path / "crd.json").write_text(json.dumps(lacking))
    done = process("krmfn", "check", "module.yaml", "--kmm-crd", "crd.json", cwd=tmp_path)
    assert 'unknown field "spec.devicePlugin.container.image"' in done.ended(1).text


@pytest.mark.parametrize(("kind", "text"), [("module", MODULE), ("hub", OF_HUB)])
def test_a_crd_among_the_inputs_decides_in_its_cluster(kind: str, text: str, tmp_path: Path) -> None:
    """Also for another root of the cluster; not for another cluster, and not the CRD of the other kind."""
    own = json.dumps(crd(kind, tty=TTY))
    check(tmp_path / "one", module=text, crd=own).ended(0)
    clusters = "clusters: {a: [kmm, drivers], b: [others]}\n"
    files = {"kmm__crd": own, "drivers__m": text, "others__m": text}
    plant(tmp_path / "two", {".krmfn.yaml": clusters})
    done = check(tmp_path / "two", **files).ended(1)
    assert [line.partition(":")[0] for line in done.text.splitlines() if "unknown field" in line] == ["others/m.yaml"]
    other = json.dumps(crd("module" if kind == "hub" else "hub", tty=TTY))
    assert (
        UNKNOWN.format("spec." if kind == "module" else "spec.moduleSpec.")
        in check(tmp_path / "three", module=text, crd=other).ended(1).text
    )


def test_a_crd_in_a_dump_decides(tmp_path: Path) -> None:
    (tmp_path / "module.yaml").write_text(MODULE)
    dump = {"apiVersion": "v1", "kind": "List", "items": [node({"example.com/gpu": "true"}), crd(tty=TTY)]}
    (tmp_path / "dump.json").write_text(json.dumps(dump))
    process("krmfn", "check", "module.yaml", "--live", "dump.json", cwd=tmp_path).ended(0)


PROBED = MODULE.replace(", tty: true", ", startupProbe: {httpGet: {port: 80}}")
PROBE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def test_a_module_is_imported_with_the_fields_that_it_has(tmp_path: Path) -> None:
    plant(tmp_path, {"m/module.yaml": PROBED, "crd.json": json.dumps(crd(startupProbe=PROBE))})
    refused = process("krmfn", "import", "m", "-o", "refused", cwd=tmp_path)
    assert "startupProbe" in refused.err
    assert "no DeviceConfig" in refused.text
    done = process("krmfn", "import", "m", "--kmm-crd", "crd.json", "-o", "out", cwd=tmp_path).ended(0)
    assert "startupProbe" in (tmp_path / "out" / "deviceconfig-g.yaml").read_text()
    assert "\n  krmfn check out --kmm-crd crd.json\n" in done.text
    process("krmfn", "check", "out", "--kmm-crd", "crd.json", cwd=tmp_path).ended(0)


def test_each_cluster_is_imported_by_its_own_crd(tmp_path: Path) -> None:
    files = {"a/module.yaml": PROBED, "a/crd.json": json.dumps(crd(startupProbe=PROBE)), "b/module.yaml": PROBED}
    plant(tmp_path, {**files, ".krmfn.yaml": "clusters: {a: [a], b: [b]}\n"})
    done = process("krmfn", "import", ".", "-o", "out", cwd=tmp_path)
    assert (tmp_path / "out" / "a" / "deviceconfig-g.yaml").exists()
    assert (tmp_path / "out" / "b" / "module-g.yaml").exists()
    assert "b/module.yaml" in done.err
    assert "a/module.yaml" not in done.err


def test_a_file_without_such_a_crd_is_refused(tmp_path: Path) -> None:
    (tmp_path / "module.yaml").write_text(MODULE)
    done = process("krmfn", "check", "module.yaml", "--kmm-crd", "module.yaml", cwd=tmp_path)
    assert "--kmm-crd module.yaml holds none of the CRDs" in done.ended(2).err
    bare = {**crd(), "spec": {}}
    (tmp_path / "crd.json").write_text(json.dumps(bare))
    done = process("krmfn", "check", "module.yaml", "--kmm-crd", "crd.json", cwd=tmp_path)
    assert "--kmm-crd crd.json holds a CRD without a schema for v1beta1" in done.ended(2).err


OPERATOR = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "kmm-operator-controller-5d", "namespace": "kmm-operator-system"},
    "spec": {"containers": [{"name": "m", "image": "registry.k8s.io/kmm/kernel-module-management-operator:v2.4.1"}]},
    "status": {"phase": "Running"},
}


def subscription(version: str, provider: str) -> Manifest:
    head = {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion"}
    metadata = {"name": f"kernel-module-management.v{version}", "namespace": "openshift-kmm"}
    return {**head, "metadata": metadata, "spec": {"version": version, "provider": {"name": provider}}}


@pytest.mark.parametrize(
    ("seen", "options", "is_refused"),
    [
        ([], (), False),
        ([OPERATOR], (), True),
        ([OPERATOR], ("--kmm-version", "2.6"), False),
        ([subscription("2.5.0", "Red Hat")], (), True),
        ([subscription("2.6.0", "Red Hat"), OPERATOR], (), False),
        ([subscription("1.1.0", "Red Hat")], (), False),
    ],
    ids=["unknown", "image", "option", "fork", "subscription first", "too old to know"],
)
def test_the_version_of_a_dump_is_judged_by(
    seen: list[Manifest], options: tuple[str, ...], is_refused: bool, tmp_path: Path
) -> None:
    """`imageRebuildTriggerGeneration` came with 2.6."""
    text = MODULE.replace(", tty: true", "").replace("spec:\n", "spec:\n  imageRebuildTriggerGeneration: 1\n", 1)
    (tmp_path / "module.yaml").write_text(text)
    dump = {"apiVersion": "v1", "kind": "List", "items": [node({"example.com/gpu": "true"}), *seen]}
    (tmp_path / "dump.json").write_text(json.dumps(dump))
    done = process("krmfn", "check", "module.yaml", "--live", "dump.json", *options, cwd=tmp_path)
    assert ("imageRebuildTriggerGeneration" in done.text) == is_refused == bool(done.code)
