"""What other projects call the fields that the set-ups of gitops/ fill, with their types and where it was read."""

from __future__ import annotations

from typing import Any

TEXT, NUMBER, FREE = "text", "number", "free"
"""FREE: any keys are taken, as in a ConfigMap."""
KEY_TO_FILE = {"name": TEXT}
CONTAINER = {
    "name": TEXT,
    "image": TEXT,
    "command": [TEXT],
    "env": [{"name": TEXT, "value": TEXT}],
    "securityContext": FREE,
    "volumeMounts": [{"name": TEXT, "mountPath": TEXT, "subPath": TEXT}],
}
VOLUME = {"name": TEXT, "configMap": KEY_TO_FILE, "emptyDir": FREE}
PLUGIN = {
    "generate": {"command": [TEXT], "args": [TEXT]},
    "parameters": {"static": [{"name": TEXT, "title": TEXT, "tooltip": TEXT}]},
}

CHART_SOURCE = "argoproj/argo-helm af0a9310bacb, charts/argo-cd/values.yaml (chart 10.1.1, Argo CD 3.4.4)"
CHART: dict[str, Any] = {
    "configs": {
        "cm": FREE,
        "cmp": {"create": "flag", "plugins": {"krmfn": PLUGIN}},
        "params": FREE,
    },
    "repoServer": {"extraContainers": [CONTAINER], "volumes": [VOLUME]},
}
CHART_PLUGINS = "argocd-cmp-cm"
"""The ConfigMap with a file NAME.yaml for each plugin: templates/argocd-configs/argocd-cmp-cm.yaml."""
CHART_VOLUMES = {"var-files", "plugins"}
"""Volumes of the chart's pod for plugins: templates/argocd-repo-server/deployment.yaml."""
CHART_PARAMS = {
    "controller.repo.server.timeout.seconds",
    "server.repo.server.timeout.seconds",
    "reposerver.plugin.use.manifest.generate.paths",
}
"""Keys of argocd-cmd-params-cm that the chart's templates of Deployments and StatefulSets read."""

OPERATOR_SOURCE = "argoproj-labs/argocd-operator cf5d1c0236bf, config/crd/bases/argoproj.io_argocds.yaml, v1beta1"
OPERATOR: dict[str, Any] = {
    "repo": {"sidecarContainers": [CONTAINER], "volumes": [VOLUME], "execTimeout": NUMBER},
    "resourceHealthChecks": [{"group": TEXT, "kind": TEXT, "check": TEXT}],
    "cmdParams": FREE,
}
OPERATOR_VOLUMES = {"var-files", "plugins"}
"""Volumes of the operator's pod for plugins: controllers/argocd/repo_server.go."""

HUB_SOURCE = "open-cluster-management-io/api 1845fd8032e4, stolostron/multicloud-integrations b16ef72027bf: their CRDs"
HUB: dict[tuple[str, str], dict[str, Any]] = {
    ("cluster.open-cluster-management.io/v1beta2", "ManagedClusterSetBinding"): {"clusterSet": TEXT},
    ("cluster.open-cluster-management.io/v1beta1", "Placement"): {
        "clusterSets": [TEXT],
        "predicates": [{"requiredClusterSelector": {"labelSelector": {"matchLabels": FREE}}}],
        "tolerations": [{"key": TEXT, "operator": TEXT}],
    },
    ("apps.open-cluster-management.io/v1beta1", "GitOpsCluster"): {
        "argoServer": {"cluster": TEXT, "argoNamespace": TEXT},
        "placementRef": {"apiVersion": TEXT, "kind": TEXT, "name": TEXT, "namespace": TEXT},
    },
}


def unknown(value: Any, facts: Any, path: str = "") -> list[str]:
    """Return the paths of fields that the facts do not have, or have with another type."""
    if facts == FREE:
        return [] if isinstance(value, dict) else [path]
    if isinstance(facts, dict):
        if not isinstance(value, dict):
            return [path]
        return [
            wrong
            for key, part in value.items()
            for wrong in (unknown(part, facts[key], f"{path}.{key}") if key in facts else [f"{path}.{key}"])
        ]
    if isinstance(facts, list):
        if not isinstance(value, list):
            return [path]
        return [wrong for at, part in enumerate(value) for wrong in unknown(part, facts[0], f"{path}[{at}]")]
    types = {TEXT: str, NUMBER: int, "flag": bool}
    return [] if type(value) is types[facts] else [path]
