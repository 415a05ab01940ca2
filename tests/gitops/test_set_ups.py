"""The set-ups for Argo CD by its Helm chart, for OpenShift GitOps and for a hub, against the names of their fields."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import yaml

from tests.commands import ROOT, process
from tests.trees import plant

from . import set_up_facts as facts
from .health import ARGOCD, STRICT

HELM, OPENSHIFT, ACM = (ROOT / "gitops" / name for name in ("argocd-helm", "openshift", "acm"))
SCRIPTS = sorted(STRICT.glob("*/*/health.lua"))
HEAD = "# Made by tests/gitops/test_set_ups.py (make goldens) of the scripts in ../argocd/resource_customizations"


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


VALUES, HEALTH = read(HELM / "values.yaml"), read(HELM / "health.yaml")
ARGOCDS = read(OPENSHIFT / "argocd.yaml")
SIDECAR = read(ARGOCD / "repo-server.yaml")["spec"]["template"]["spec"]


@pytest.mark.parametrize("values", [VALUES, HEALTH], ids=["values", "health"])
def test_the_chart_has_every_value(values: dict[str, Any]) -> None:
    assert facts.unknown(values, facts.CHART) == [], facts.CHART_SOURCE
    assert set(values["configs"].get("params", {})) <= facts.CHART_PARAMS


@pytest.mark.parametrize(
    ("path", "value"),
    [("repoServer.extraContainer", []), ("configs.cmp.plugin", {}), ("repoServer.volumes", {}), ("server.env", [])],
)
def test_a_misspelt_value_is_noticed(path: str, value: Any) -> None:
    first, _, rest = path.partition(".")
    last = rest.split(".")[-1]
    inner = {last: value} if rest == last else {rest.split(".")[0]: {last: value}}
    assert facts.unknown({first: inner}, facts.CHART)


def test_the_chart_s_plugin_is_ours_and_its_sidecar_reads_it() -> None:
    plugin = read(ARGOCD / "plugin.yaml")
    assert VALUES["configs"]["cmp"]["plugins"] == {plugin["metadata"]["name"]: plugin["spec"]}
    (sidecar,) = VALUES["repoServer"]["extraContainers"]
    (file,) = (mount for mount in sidecar["volumeMounts"] if mount["mountPath"].endswith("/plugin.yaml"))
    assert (file["name"], file["subPath"]) == (facts.CHART_PLUGINS, f"{plugin['metadata']['name']}.yaml")
    volumes = {volume["name"] for volume in VALUES["repoServer"]["volumes"]}
    assert {mount["name"] for mount in sidecar["volumeMounts"]} == volumes | facts.CHART_VOLUMES
    assert {**ours(sidecar), "volumeMounts": 0} == {**ours(SIDECAR["containers"][0]), "volumeMounts": 0}


def ours(container: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in container.items() if key != "env"}


def test_the_sidecar_may_work_as_long_as_argocd_waits() -> None:
    (sidecar,) = VALUES["repoServer"]["extraContainers"]
    times = {f"{seconds}s" for seconds in VALUES["configs"]["params"].values()}
    assert times == {entry["value"] for entry in sidecar["env"] if entry["name"] == "ARGOCD_EXEC_TIMEOUT"}


def test_the_operator_s_crd_has_every_field() -> None:
    assert (ARGOCDS["apiVersion"], ARGOCDS["kind"]) == ("argoproj.io/v1beta1", "ArgoCD")
    assert facts.unknown(ARGOCDS["spec"], facts.OPERATOR) == [], facts.OPERATOR_SOURCE
    assert facts.unknown({"repo": {"sidecars": []}}, facts.OPERATOR) == [".repo.sidecars"]
    (sidecar,) = ARGOCDS["spec"]["repo"]["sidecarContainers"]
    volumes = {volume["name"] for volume in ARGOCDS["spec"]["repo"]["volumes"]}
    assert {mount["name"] for mount in sidecar["volumeMounts"]} == volumes | facts.OPERATOR_VOLUMES


def test_openshift_chooses_the_user_of_the_sidecar_and_all_else_is_alike() -> None:
    """The SCC restricted-v2 refuses a user that is not of the namespace's range."""
    (sidecar,) = ARGOCDS["spec"]["repo"]["sidecarContainers"]
    expected = ours(SIDECAR["containers"][0])
    assert expected["securityContext"].pop("runAsUser") == 999
    assert ours(sidecar) == expected
    expected["securityContext"]["runAsUser"] = 999
    assert ARGOCDS["spec"]["repo"]["volumes"] == SIDECAR["volumes"]


def test_the_plugin_s_config_map_on_openshift_is_the_plugin() -> None:
    config = read(OPENSHIFT / "plugin.yaml")
    (volume,) = (volume for volume in ARGOCDS["spec"]["repo"]["volumes"] if "configMap" in volume)
    assert config["metadata"]["name"] == volume["configMap"]["name"]
    assert config["metadata"]["namespace"] == ARGOCDS["metadata"]["namespace"]
    plugin = indent((ARGOCD / "plugin.yaml").read_text(), "    ")
    head = "# Made by tests/gitops/test_set_ups.py (make goldens) of ../argocd/plugin.yaml.\n"
    metadata = "metadata:\n  name: krmfn-plugin\n  namespace: openshift-gitops\n"
    golden(
        OPENSHIFT / "plugin.yaml", f"{head}apiVersion: v1\nkind: ConfigMap\n{metadata}data:\n  plugin.yaml: |\n{plugin}"
    )


def test_the_health_scripts_are_those_of_argocd() -> None:
    lines = [f"{HEAD}.\nconfigs:\n  cm:\n"]
    checks = []
    for script in SCRIPTS:
        group, kind = script.parts[-3:-1]
        lines.append(f"    resource.customizations.health.{group}_{kind}: |\n{indent(script.read_text(), ' ' * 6)}")
        checks.append(f"  - group: {group}\n    kind: {kind}\n    check: |\n{indent(script.read_text(), ' ' * 6)}")
    golden(HELM / "health.yaml", "".join(lines))
    text = (OPENSHIFT / "argocd.yaml").read_text()
    mark = f"  {HEAD}.\n"
    golden(OPENSHIFT / "argocd.yaml", f"{text.partition(mark)[0]}{mark}  resourceHealthChecks:\n{''.join(checks)}")


def golden(path: Path, expected: str) -> None:
    """Fail unless a file has this text; rewrite it first when KRMFN_UPDATE is set."""
    if path.read_text() != expected and os.environ.get("KRMFN_UPDATE"):
        path.write_text(expected)
        pytest.fail("rewritten; read the difference, then run again", pytrace=False)
    assert path.read_text() == expected


def test_the_hub_s_kinds_have_every_field_and_name_each_other() -> None:
    objects = [*yaml.safe_load_all((ACM / "clusters.yaml").read_text())]
    assert {(each["apiVersion"], each["kind"]) for each in objects} == set(facts.HUB), facts.HUB_SOURCE
    for each in objects:
        assert facts.unknown(each["spec"], facts.HUB[each["apiVersion"], each["kind"]]) == []
        assert each["metadata"]["namespace"] == "openshift-gitops"
    binding, placement, clusters = objects
    assert placement["spec"]["clusterSets"] == [binding["metadata"]["name"]] == [binding["spec"]["clusterSet"]]
    reference = {key: placement[key] for key in ("apiVersion", "kind")} | placement["metadata"]
    assert clusters["spec"]["placementRef"] == reference
    assert clusters["spec"]["argoServer"]["argoNamespace"] == "openshift-gitops"


def test_a_spoke_of_the_page_gets_what_the_hub_has(tmp_path: Path) -> None:
    """The .krmfn.yaml of the page: nodes of the spokes with the labels are known to get the driver."""
    page = (ROOT / "docs/engines/acm.md").read_text()
    settings = page.partition("```yaml\n")[2].partition("```")[0]
    config = {
        "apiVersion": "krmfn.dev/v1alpha1",
        "kind": "DeviceConfig",
        "metadata": {"name": "gpu", "namespace": "openshift-kmm-hub"},
        "spec": {
            "moduleName": "gpu",
            "driverImage": "registry.example.com/gpu",
            "driverVersion": "1.0",
            "nodeSelector": {"example.com/gpu": "true"},
            "hub": {"spokeNamespace": "kmm", "clusterSelector": {"example.com/accelerators": "true"}},
        },
    }
    files = {".krmfn.yaml": settings, ".git/HEAD": "", "clusters/hub/gpu.yaml": yaml.safe_dump(config)}
    for spoke in ("berlin", "madrid"):
        files[f"inventories/{spoke}.yaml"] = yaml.safe_dump(inventory(spoke))
    done = process("krmfn", "nodes", "--wide", cwd=plant(tmp_path, files))
    rows = [line.split()[:2] for line in done.text.splitlines()[1:]]
    assert ["berlin", "berlin-1"] in rows, done
    assert ["madrid", "madrid-1"] in rows
    assert "registry.example.com/gpu:1.0" in done.text


def inventory(name: str) -> dict[str, Any]:
    group = {"labels": {"example.com/gpu": "true"}, "nodes": f"{name}-1 6.1.0\n"}
    spec = {"nodeCount": 1, "labelKeys": ["example.com/gpu"], "groups": [group]}
    return {"apiVersion": "krmfn.dev/v1alpha1", "kind": "NodeInventory", "metadata": {"name": name}, "spec": spec}
