"""Whatever stands in a podSpec, the pods still wait for the kernel module, on the config's nodes."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.pods.structure import facts

from tests.builders import AGENT, SPEC, applied, by_name, device_config, function_config, generated

READY = "kmm.node.kubernetes.io/kmm.dc.ready"
NAMES = sorted(name.removesuffix("!") for name in facts()["types"]["PodSpec"])
LEFT_OUT = ["containers", "initContainers", "ephemeralContainers", "volumes"]
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-2, 2**33), st.sampled_from(["", "a", "None", "1Gi"]))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(
            st.sampled_from(["a", "name", "ip", "enabled", "nodeSelector", READY, "env"]), inner, max_size=3
        ),
    ),
    max_leaves=8,
)
SENSIBLE = st.sampled_from(
    [
        {"shareProcessNamespace": True},
        {"hostAliases": [{"ip": "192.0.2.1", "hostnames": ["a"]}]},
        {"schedulerName": "mine", "hostname": "a"},
        {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}},
    ]
)
POD_SPECS = st.one_of(SENSIBLE, st.dictionaries(st.sampled_from([*NAMES, *LEFT_OUT, "other"]), VALUES, max_size=4))


@given(POD_SPECS, POD_SPECS)
def test_the_ready_label_and_the_selector_stand(written: dict[str, Any], inherited: dict[str, Any]) -> None:
    config = function_config(defaults={"daemonSets": [AGENT | {"podSpec": inherited or {"hostname": "x"}}]})
    spec = SPEC | {"daemonSets": [AGENT | {"podSpec": written or {"hostname": "x"}}]}
    resources = applied(deviceconfig, device_config(spec), function_config=config)
    if not resources.failed:
        actual, plain = (
            by_name(generated(answer))["DaemonSet dc-agent"]["spec"]
            for answer in (resources, applied(deviceconfig, device_config(SPEC | {"daemonSets": [AGENT]})))
        )
        pod, plain_pod = actual["template"]["spec"], plain["template"]["spec"]
        assert actual["selector"] == plain["selector"]
        assert pod["nodeSelector"] == {"gpu": "a", READY: ""}
        assert {name: pod[name] for name in plain_pod} == plain_pod
        assert not pod.keys() & {"nodeName", "restartPolicy", "serviceAccount", "imagePullSecrets"}


LABELS = st.dictionaries(st.sampled_from(["app", "tier"]), st.sampled_from(["a", "b"]), min_size=1, max_size=2)
ADOPTED: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {}, optional={"matchLabels": LABELS, "podLabels": LABELS, "keepPodTemplate": st.booleans()}
)


@given(ADOPTED)
def test_a_service_selects_the_pods_that_it_stands_in_front_of(fields: dict[str, Any]) -> None:
    labels, selected = fields.get("podLabels", {}), fields.get("matchLabels", {})
    assume(all(labels.get(key, value) == value for key, value in selected.items()))  # else KRM192 refuses it
    entry = AGENT | fields | {"service": {"port": 80}}
    objects = by_name(generated(applied(deviceconfig, device_config(SPEC | {"daemonSets": [entry]}))))
    pods = objects["DaemonSet dc-agent"]["spec"]
    labels = pods["template"]["metadata"]["labels"]
    assert objects["Service dc-agent"]["spec"]["selector"].items() <= labels.items()
    assert pods["selector"]["matchLabels"].items() <= labels.items()


def test_kept_pods_have_what_their_entry_says_and_the_ready_label() -> None:
    names = {"imagePullSecret": "pull", "serviceAccountName": "driver"}
    above = {"labels": {"a": "b"}, "tolerations": [{"operator": "Exists"}], "nodeSelector": {"gpu": "a"}, **names}
    entry = {**AGENT, "keepPodTemplate": True, "matchLabels": {"app": "agent"}, "podLabels": {"app": "agent", "b": "c"}}
    objects = by_name(generated(applied(deviceconfig, device_config(SPEC | above | {"daemonSets": [entry]}))))
    template = objects["DaemonSet dc-agent"]["spec"]["template"]
    assert template["metadata"] == {"labels": {"app": "agent", "b": "c"}}
    assert template["spec"].keys() == {"nodeSelector", "containers"}
    assert template["spec"]["nodeSelector"] == {READY: ""}
