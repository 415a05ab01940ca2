"""The names that are made from several parts: whatever the parts are, each object has its own, and the API takes it."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.kmm.names import label_key_errors, label_value_errors, subdomain_errors

from krmfn import ResourceList
from tests.builders import applied, device_config

AGENT = {"image": "registry.example.com/agent:1"}
PART = st.sampled_from(["a", "b", "a-b", "b-c", "c", "1", "1-0", "x" * 20, "0-" * 20 + "0"])
NAME = st.sampled_from(["dc", "a", "d", "1a", "a.b", "x" * 30])
VERSION = st.sampled_from(["1", "2", "0.9", "1.0", "1-0", "1_0", "1..0", "1.0-RC", "1.0-rc", "9" * 40, "A.b" * 21])


def rendered(name: str, pools: list[str], daemons: list[str], versions: list[str], account: str) -> ResourceList:
    spec: dict[str, Any] = {
        "driverImage": "registry.example.com/driver",
        "driverVersion": versions[0],
        "moduleName": "drv",
        "daemonSets": [AGENT | {"name": daemon, "service": {"port": 80}} for daemon in daemons],
        "serviceAccountName": account,
        "serviceAccount": {"create": True, "openshift": True, "podSecurity": "privileged"},
    }
    spec |= {"upgrade": {"ordered": True} | ({"retain": versions[1:]} if versions[1:] else {})}
    if pools:
        spec["nodePools"] = [{"name": pool, "nodeSelector": {"pool": pool}} for pool in pools]
    else:
        spec["nodeSelector"] = {"gpu": "a"}
    return applied(deviceconfig, device_config(spec, name, "k"))


@given(
    NAME,
    st.lists(PART, max_size=2, unique=True),
    st.lists(PART, min_size=1, max_size=2, unique=True),
    st.lists(VERSION, min_size=1, max_size=3, unique=True),
    st.sampled_from(["sa", "s.a", "s" * 242, "s" * 243]),
)
@example("dc", [], ["agent"], ["1", "2"], "sa")
def test_every_object_has_a_name_of_its_own_that_the_api_takes(
    name: str, pools: list[str], daemons: list[str], versions: list[str], account: str
) -> None:
    """Or the config is refused, and then nothing is generated."""
    resources = rendered(name, pools, daemons, versions, account)
    items = [item for item in resources.items if item.kind != "DeviceConfig"]
    if resources.failed:
        assert items == []
        return
    assert len(items) == 2 + (len(pools) or 1) * (1 + len(daemons) * (1 + len(versions)))
    assert len({item.ref for item in items}) == len(items)
    for item in items:
        assert not subdomain_errors(item.name), item.name
        if item.kind == "Service":
            assert re.fullmatch(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", item.name), item.name
        for key, value in labels(item.manifest):
            assert not label_key_errors(key), key
            assert not label_value_errors(value), value


def labels(value: Any) -> list[tuple[str, str]]:
    """All labels and selectors below a manifest."""
    pairs: list[tuple[str, str]] = []
    for key, child in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if key in ("labels", "matchLabels", "nodeSelector", "selector") and "matchLabels" not in child:
            pairs += child.items()
        else:
            pairs += labels(child)
    return pairs


def test_the_names_are_what_they_were() -> None:
    resources = rendered("dc", ["p"], ["agent"], ["1.0-RC", "0_9"], "sa")
    assert [f"{item.kind} {item.name}" for item in resources.items[1:]] == [
        "ServiceAccount sa",
        "RoleBinding sa-privileged",
        "Module dc-p",
        "DaemonSet dc-p-agent-1-0-rc",
        "DaemonSet dc-p-agent-0-9",
        "Service dc-p-agent",
    ]
