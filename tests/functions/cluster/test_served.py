"""What the cluster serves, as Argo CD says it in KUBE_API_VERSIONS."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import ROOT, example, process

MODULE = "kmm.sigs.x-k8s.io/v1beta1/Module"
OTHERS = "apps/v1,apps/v1/DaemonSet,v1,v1/ConfigMap"
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: modules.kmm.sigs.x-k8s.io}
spec:
  group: kmm.sigs.x-k8s.io
  names: {kind: Module}
"""


def served(value: str, *paths: str) -> list[tuple[str, str]]:
    """Return the severity and the text of what `check` says about kinds that are not served."""
    paths = paths or (str(example("quickstart")),)
    done = process("krmfn", "check", "--format", "json", *paths, KUBE_API_VERSIONS=value).ended(0)
    return [
        (row["severity"], f"{row['message']}; {row['remedy']}")
        for row in json.loads(done.out)["findings"]
        if row["rule"] == "KRM525"
    ]


def test_a_kind_that_is_not_served_is_said_once() -> None:
    [(severity, message)] = served(f"{OTHERS},apiextensions.k8s.io/v1/CustomResourceDefinition")
    assert severity == "warning"
    assert message == (
        "the cluster does not serve Module of kmm.sigs.x-k8s.io/v1beta1 (KUBE_API_VERSIONS), and no CRD here "
        "defines it; install its CRD before this is synced"
    )


@pytest.mark.parametrize("value", ["", f"{OTHERS},{MODULE}", "apps/v1,v1", "v1,v1/ConfigMap"])
def test_what_is_served_or_not_known_is_not_said(value: str) -> None:
    assert served(value) == []


def test_a_crd_in_the_same_sync_brings_its_kind(tmp_path: Path) -> None:
    config = (ROOT / "examples" / "smallest" / "deviceconfig.yaml").read_text()
    (tmp_path / "all.yaml").write_text(f"{config}---\n{CRD}")
    serving = f"{OTHERS},apiextensions.k8s.io/v1/CustomResourceDefinition"
    assert served(serving, str(tmp_path)) == []
    (tmp_path / "all.yaml").write_text(f"{config}---\n{CRD.replace('kind: Module', 'kind: Other')}")
    assert len(served(serving, str(tmp_path))) == 1
