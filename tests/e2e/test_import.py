"""Hand-written objects of a real API server are imported, and taken over where they are by an apply of the render."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from krmfn.yamltext import emit
from tests.builders import edited
from tests.commands import process
from tests.functions.importing.manifests import EXPORTER, GPU

from .kube import Cluster, one_version


def applied(cluster: Cluster, file: Path) -> None:
    cluster.kubectl("apply", f"--filename={file}").ended(0)


def dumped(cluster: Cluster, file: Path) -> bytes:
    return cluster.kubectl("get", f"--filename={file}", "-o", "yaml").ended(0).out


def uids(dump: bytes) -> dict[str, str]:
    return {item["metadata"]["name"]: item["metadata"]["uid"] for item in yaml.safe_load(dump)["items"]}


@one_version
def test_what_is_on_a_cluster_is_imported_and_taken_over(kmm: Cluster, tmp_path: Path) -> None:
    objects: list[dict[str, Any]] = [GPU, EXPORTER]
    (tmp_path / "written.yaml").write_text("---\n".join(map(emit.dump, objects)))
    applied(kmm, tmp_path / "written.yaml")
    before = dumped(kmm, tmp_path / "written.yaml")
    done = process("krmfn", "import", "-", "-o", "out", stdin=before, cwd=tmp_path).ended(0, "")
    assert "1 DeviceConfig, in place of 1 Module, 1 DaemonSet\n" in done.text
    (tmp_path / "rendered.yaml").write_text(process("krmfn", "render", "out", cwd=tmp_path).text)
    changes = "diff", "--server-side", f"--filename={tmp_path / 'rendered.yaml'}"
    assert kmm.kubectl(*changes).code == 1
    applied(kmm, tmp_path / "rendered.yaml")
    assert kmm.kubectl(*changes).ended(0).out == b""
    after = dumped(kmm, tmp_path / "written.yaml")
    assert uids(after) == uids(before), "nothing was deleted and made anew"
    process("krmfn", "import", "-", "-o", "again", stdin=after, cwd=tmp_path).ended(0)
    assert (tmp_path / "again/deviceconfig-gpu.yaml").read_text() == (
        tmp_path / "out/deviceconfig-gpu.yaml"
    ).read_text()


@one_version
def test_no_pod_template_changes_when_it_is_to_be_kept(kmm: Cluster, tmp_path: Path) -> None:
    """The controller replaces pods when the template, as the server holds it, is another one."""
    pod: dict[str, Any] = {
        "tolerations": [{"key": "z", "operator": "Exists"}, {"key": "a", "operator": "Exists", "effect": "NoSchedule"}],
        "imagePullSecrets": [{"name": "other"}],
        "securityContext": {"runAsUser": 0},
        "serviceAccountName": "agent",
        "hostNetwork": True,
        "priorityClassName": "system-node-critical",
    }
    adopted = edited(
        EXPORTER,
        *((f"spec.template.spec.{name}", value) for name, value in pod.items()),
        ("metadata.labels", {"team": "metrics"}),
        (("spec", "template", "metadata", "labels", "app.kubernetes.io/name"), "theirs"),
    )
    driver = edited(
        GPU,
        ("spec.tolerations", [{"operator": "Exists"}]),
        ("spec.imageRepoSecret", {"name": "pull"}),
        ("spec.moduleLoader.container.modprobe.args", {}),
    )
    (tmp_path / "written.yaml").write_text("---\n".join(map(emit.dump, (driver, adopted))))
    applied(kmm, tmp_path / "written.yaml")
    before = dumped(kmm, tmp_path / "written.yaml")
    process("krmfn", "import", "-", "-o", "out", "--keep-pod-templates", stdin=before, cwd=tmp_path).ended(0, "")
    (tmp_path / "rendered.yaml").write_text(process("krmfn", "render", "out", cwd=tmp_path).text)
    applied(kmm, tmp_path / "rendered.yaml")
    after = dumped(kmm, tmp_path / "written.yaml")
    assert daemon_set(after)["spec"] == daemon_set(before)["spec"]
    assert daemon_set(after)["metadata"]["generation"] == daemon_set(before)["metadata"]["generation"]
    assert daemon_set(after)["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "krmfn"


def daemon_set(dump: bytes) -> dict[str, Any]:
    return next(item for item in yaml.safe_load(dump)["items"] if item["kind"] == "DaemonSet")
