"""Rules about podSpec: the fields of a PodSpec that a DaemonSet's entry has no names of its own for."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Field, Result, error, info
from krmfn.fieldpath import join
from krmfn.rule import Rule

from .daemonsets import POD
from .model import DeviceConfig

_NAMED = {
    "containers": "the fields of the entry itself for its main container, and `containers` for further ones",
    "volumes": "`volumes`, and `hostDevices`",
    "imagePullSecrets": "`imagePullSecrets` of the whole config",
    "serviceAccount": "`serviceAccountName`",
    "priority": "`priorityClassName`",
    **{name: f"`{name}`" for name in ("initContainers", "nodeSelector", "tolerations", "serviceAccountName", *POD)},
}
"""Fields of a PodSpec that stand under a name of their own, and which."""
_IN_THE_WAY = {
    "nodeName": "it bypasses the scheduler, which waits for the label of a loaded kernel module",
    "restartPolicy": "a DaemonSet's pods always restart",
    "activeDeadlineSeconds": "a DaemonSet's pods do not end",
    "ephemeralContainers": "only a running pod has them",
}
"""Fields of a PodSpec that no DaemonSet of ours can have, and why."""


def pod_specs_fight_nothing(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per field of a podSpec that has a name of its own, or that contradicts what is generated."""
    for index, entry in enumerate(config.spec.daemonSets):
        for name in entry.podSpec or {}:
            field = Field(config.at(f"daemonSets[{index}].{join(('podSpec', name))}"))
            if name in _NAMED:
                yield error(f"has its own place in the config: write {_NAMED[name]}", field=field)
            elif name in _IN_THE_WAY:
                yield error(f"cannot be set: {_IN_THE_WAY[name]}", field=field)


def pod_specs_have_their_structure(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per part of a podSpec that the API server would refuse or drop."""
    for index, entry in enumerate(config.spec.daemonSets):
        if entry.podSpec:
            from ..pods import structure  # here: hardly any config has a podSpec

            rest = {name: value for name, value in entry.podSpec.items() if name not in (*_NAMED, *_IN_THE_WAY)}
            for path, message in structure.check(rest):
                yield error(message, field=Field(config.at(f"daemonSets[{index}].{join(('podSpec', *path))}")))


def pod_templates_are_kept_for_a_while(config: DeviceConfig) -> Iterator[Result]:
    """Yield an info per entry whose pods lack the config's own selector since they are left as they were."""
    for index, entry in enumerate(config.spec.daemonSets):
        left_out = {*(config.spec.nodeSelector or {})} - {*(entry.nodeSelector or {})}
        if entry.keepPodTemplate and left_out:
            message = (
                f"its pods do not ask for {min(left_out)}, as the nodes of the config do, so they stay on a node that "
                "loses this label, and the kernel module is never unloaded there; remove keepPodTemplate when its pods "
                "may be replaced once"
            )
            yield info(message, field=Field(config.at(f"daemonSets[{index}].keepPodTemplate"), True))


RULES = (
    Rule(
        "KRM163",
        "podSpec must not set fields that a config has under another name, or that conflict with what is generated",
        good="""\
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    hostNetwork: true
    podSpec: {hostAliases: [{ip: 192.0.2.1, hostnames: [metrics]}]}
""",
        bad="""\
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    podSpec: {hostNetwork: true}
""",
        remedy="Write the field beside podSpec, under the name that the finding gives, or remove it.",
        check=pod_specs_fight_nothing,
    ),
    Rule(
        "KRM164",
        "podSpec must match the API server's structure: known fields, with the right types and all required fields",
        good="""\
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    podSpec: {shareProcessNamespace: true}
""",
        bad="""\
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    podSpec: {shareProcessNamespaces: "true"}
""",
        remedy="Correct the field as the finding says; `kubectl explain pod.spec` lists all fields.",
        check=pod_specs_have_their_structure,
    ),
    Rule(
        "KRM189",
        "the pods of a DaemonSet should be left as they were (keepPodTemplate) only until they may be replaced once",
        good="""\
spec:
  daemonSets:
  - {name: agent, image: "registry.example.com/agent:1.0"}
""",
        bad="""\
spec:
  daemonSets:
  - {name: agent, image: "registry.example.com/agent:1.0", keepPodTemplate: true}
""",
        remedy="Remove `keepPodTemplate`; each pod of the DaemonSet is then replaced once.",
        check=pod_templates_are_kept_for_a_while,
        severities=("info",),
        advice=True,
    ),
)
"""The rules about the podSpec of one config or pool."""
