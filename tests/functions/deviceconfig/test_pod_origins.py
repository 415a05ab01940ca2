"""What the API server refuses of a generated DaemonSet is said at the field that it is made of, in whichever layer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.pods.daemon_set import RULE

from tests.builders import AGENT, SPEC, applied, device_config, function_config
from tests.commands import process

BAD = {"key": "a", "operator": "Exists", "value": "b"}
GOOD = {"operator": "Exists"}
PROBE = {"exec": {"command": ["ok"]}, "httpGet": {"path": "/", "port": 80}}
ALIAS = {"ip": "192.0.2.999", "hostnames": ["a"]}
# Fields of an entry of daemonSets, others of the spec, and the fields that have a finding.
REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a toleration": ({"tolerations": [GOOD, BAD]}, {}, "daemonSets[0].tolerations[1].value"),
    "of all entries": ({}, {"tolerations": [BAD]}, "tolerations[0].value"),
    "behind those": ({"tolerations": [BAD]}, {"tolerations": [GOOD]}, "daemonSets[0].tolerations[0].value"),
    "without them": (
        {"tolerations": [BAD], "keepPodTemplate": True, "matchLabels": {"a": "b"}},
        {"tolerations": [GOOD]},
        "daemonSets[0].tolerations[0].value",
    ),
    "of podSpec": ({"podSpec": {"hostAliases": [ALIAS]}}, {}, "daemonSets[0].podSpec.hostAliases[0].ip"),
    "what is missing": ({"dnsPolicy": "None"}, {}, "daemonSets[0].podSpec.dnsConfig.nameservers"),
    "of the container": ({"livenessProbe": PROBE}, {}, "daemonSets[0].livenessProbe.httpGet"),
    "of another one": (
        {"containers": [AGENT | {"name": "b", "livenessProbe": PROBE}]},
        {},
        "daemonSets[0].containers[0].livenessProbe.httpGet",
    ),
    "of an init container": (
        {"initContainers": [AGENT | {"name": "b", "securityContext": {"runAsUser": -1}}]},
        {},
        "daemonSets[0].initContainers[0].securityContext.runAsUser",
    ),
    "rights that contradict": (
        {"privileged": True, "securityContext": {"allowPrivilegeEscalation": False}},
        {},
        "daemonSets[0].securityContext",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("is_profile", [False, True])
def test_what_the_api_server_refuses_is_said_at_its_field(case: str, is_profile: bool) -> None:
    entry, others, field = REFUSED[case]
    fields: dict[str, Any] = {"daemonSets": [AGENT | entry], **others}
    config = device_config(SPEC | ({"profile": "p"} if is_profile else fields))
    settings = function_config(**({"profiles": {"p": fields}} if is_profile else {}))
    start = "spec.profiles.p" if is_profile else "spec"
    results = applied(deviceconfig, config, function_config=settings).results
    found = [result.field.path for result in results if result.rule == RULE and result.field]
    assert set(found) == {f"{start}.{field}"}, [str(result) for result in results]


PROFILE = """\
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: acme}
spec:
  version: 1.0.0
  for: {group: acme.example.com, versions: [v1], kind: Acme}
  schema: {type: object, properties: {spec: {type: object, properties: {debug: {type: boolean, default: false}}}}}
  config:
    moduleName: acme
    nodeSelector: {acme: "true"}
    driverImage: registry.example.com/acme:1-$KERNEL_FULL_VERSION
  when:
  - if: {spec.debug: true}
    config:
      daemonSets:
      - name: agent
        image: registry.example.com/agent:1
"""


@pytest.mark.parametrize("case", REFUSED)
def test_a_profile_by_itself_is_held_to_it_too(tmp_path: Path, case: str) -> None:
    product = yaml.safe_load(PROFILE)
    entry, others, field = REFUSED[case]
    layer = product["spec"]["when"][0]["config"]
    layer["daemonSets"][0] |= entry
    layer |= others
    file = tmp_path / "profile.yaml"
    file.write_text(yaml.safe_dump(product))
    text = process("krmfn", "check", str(file)).ended(1).text
    assert "profile.yaml:" in text and f"spec.when[0].config.{field}: in the generated " in text
    file.write_text(PROFILE)
    process("krmfn", "check", str(file)).ended(0)
