"""References of the final list: every field that names a resource, and what counts as being there."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st
from krmfn_functions.kmm.lookup import POD_KINDS
from krmfn_functions.run import Transformed

from krmfn import Manifest
from tests.builders import manifest, module

from .lists import judged, levels, rows, workload

API = {
    "ServiceAccount": "v1",
    "Secret": "v1",
    "ConfigMap": "v1",
    "PriorityClass": "scheduling.k8s.io/v1",
    "DeviceClass": "resource.k8s.io/v1",
}
POD: dict[str, tuple[str, str]] = {
    "serviceAccountName": ("ServiceAccount", "{serviceAccountName: NAME}"),
    "serviceAccount": ("ServiceAccount", "{serviceAccount: NAME}"),
    "priorityClassName": ("PriorityClass", "{priorityClassName: NAME}"),
    "imagePullSecrets[0].name": ("Secret", "{imagePullSecrets: [{name: NAME}]}"),
    "volumes[0].configMap.name": ("ConfigMap", "{volumes: [{name: v, configMap: {name: NAME, optional: OFF}}]}"),
    "volumes[0].secret.secretName": ("Secret", "{volumes: [{name: v, secret: {secretName: NAME, optional: OFF}}]}"),
    **{
        f"volumes[0].projected.sources[0].{key}.name": (
            kind,
            f"{{volumes: [{{name: v, projected: {{sources: [{{{key}: {{name: NAME, optional: OFF}}}}]}}}}]}}",
        )
        for kind, key in (("Secret", "secret"), ("ConfigMap", "configMap"))
    },
    **{
        f"{part}[0].env[0].valueFrom.{key}.name": (
            kind,
            f"{{{part}: [{{name: c, env: [{{name: E, valueFrom: {{{key}: {{name: NAME, optional: OFF}}}}}}]}}]}}",
        )
        for part in ("containers", "initContainers", "ephemeralContainers")
        for kind, key in (("Secret", "secretKeyRef"), ("ConfigMap", "configMapKeyRef"))
    },
    **{
        f"containers[0].envFrom[0].{key}.name": (
            kind,
            f"{{containers: [{{name: c, envFrom: [{{{key}: {{name: NAME, optional: OFF}}}}]}}]}}",
        )
        for kind, key in (("Secret", "secretRef"), ("ConfigMap", "configMapRef"))
    },
}
"""Fields of a pod that name a resource: its kind, and the smallest pod with the field."""
MODULE: dict[str, tuple[str, str]] = {
    "imageRepoSecret.name": ("Secret", "{imageRepoSecret: {name: NAME}}"),
    "moduleLoader.serviceAccountName": ("ServiceAccount", "{moduleLoader: {serviceAccountName: NAME}}"),
    "devicePlugin.serviceAccountName": ("ServiceAccount", "{devicePlugin: {serviceAccountName: NAME}}"),
    "dra.serviceAccountName": ("ServiceAccount", "{dra: {serviceAccountName: NAME}}"),
    "devicePlugin.volumes[0].secret.secretName": (
        "Secret",
        "{devicePlugin: {volumes: [{secret: {secretName: NAME}}]}}",
    ),
    "dra.volumes[0].configMap.name": ("ConfigMap", "{dra: {volumes: [{configMap: {name: NAME}}]}}"),
    "devicePlugin.container.env[0].valueFrom.secretKeyRef.name": (
        "Secret",
        "{devicePlugin: {container: {env: [{name: E, valueFrom: {secretKeyRef: {name: NAME}}}]}}}",
    ),
    "dra.initContainer.env[0].valueFrom.configMapKeyRef.name": (
        "ConfigMap",
        "{dra: {initContainer: {env: [{name: E, valueFrom: {configMapKeyRef: {name: NAME}}}]}}}",
    ),
    **{
        f"moduleLoader.container{at}.{path}": (kind, f"{{moduleLoader: {{container: {form.replace('PART', part)}}}}}")
        for at, form in (("", "PART"), (".kernelMappings[0]", "{kernelMappings: [PART]}"))
        for path, kind, part in (
            ("build.dockerfileConfigMap.name", "ConfigMap", "{build: {dockerfileConfigMap: {name: NAME}}}"),
            ("build.secrets[0].name", "Secret", "{build: {secrets: [{name: NAME}]}}"),
            ("sign.certSecret.name", "Secret", "{sign: {certSecret: {name: NAME}}}"),
            ("sign.keySecret.name", "Secret", "{sign: {keySecret: {name: NAME}}}"),
        )
    },
}
"""The same of the spec of a Module."""
FIELDS = [
    *((("apps", "DaemonSet"), f"spec.template.spec.{path}", *rest) for path, rest in POD.items()),
    *((("kmm.sigs.x-k8s.io", "Module"), f"spec.{path}", *rest) for path, rest in MODULE.items()),
]


def holder(of: tuple[str, str], form: str, name: str, optional: str = "false") -> Manifest:
    """Return a resource with one reference."""
    spec: Any = yaml.safe_load(form.replace("NAME", name).replace("OFF", optional))
    return {**module(name="gpu"), "spec": spec} if of[1] == "Module" else workload(spec, of)


def named(kind: str, name: str, namespace: str = "kmm") -> Manifest:
    """Return a resource of a kind that is referred to."""
    resource = manifest(API[kind], kind, name, "" if kind in ("PriorityClass", "DeviceClass") else namespace)
    return {**resource, "data": {"dockerfile": "FROM a\n"}} if kind == "ConfigMap" else resource


@pytest.mark.parametrize(
    ("of", "path", "kind", "form"), FIELDS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_field_that_names_a_resource(of: tuple[str, str], path: str, kind: str, form: str) -> None:
    user = holder(of, form, "wanted")
    assert judged(user, named(kind, "wanted")) == []
    assert rows(judged(user, named(kind, "other"))) == [("KRM703", "warning", path)]
    assert rows(judged(user, named(kind, "other"), named(kind, "lab-wanted-v2"))) == [("KRM703", "error", path)]
    assert judged(user, named(kind, "wanted", "")) == []
    if kind not in ("PriorityClass", "DeviceClass"):
        assert judged(user, named(kind, "other", "elsewhere")) == []
    if "optional" in form:
        assert judged(holder(of, form, "wanted", "true"), named(kind, "other")) == []


@pytest.mark.parametrize("kind", POD_KINDS, ids=lambda kind: kind[1])
def test_every_kind_that_makes_pods(kind: tuple[str, str]) -> None:
    user = workload({"serviceAccountName": "agent"}, kind)
    assert levels(judged(user, named("ServiceAccount", "other"))) == [("KRM703", "warning")]


CLAIMS = [
    ("ResourceClaim", "{devices: {requests: [{name: a, deviceClassName: NAME}]}}"),
    ("ResourceClaim", "{devices: {requests: [{name: a, exactly: {deviceClassName: NAME}}]}}"),
    ("ResourceClaimTemplate", "{spec: {devices: {requests: [{name: a, exactly: {deviceClassName: NAME}}]}}}"),
    ("ResourceClaimTemplate", "{spec: {devices: {requests: [{name: a, firstAvailable: [{deviceClassName: NAME}]}]}}}"),
    ("ResourceClaim", "{devices: {requests: [{name: a, firstAvailable: [{deviceClassName: NAME, optional: true}]}]}}"),
]


@pytest.mark.parametrize(("kind", "form"), CLAIMS)
def test_a_claim_s_device_class_is_deployed_or_made_by_kmm(kind: str, form: str) -> None:
    claim = {**manifest("resource.k8s.io/v1", kind), "spec": yaml.safe_load(form.replace("NAME", "gpu.example.com"))}
    maker = module(name="gpu")
    maker["spec"]["dra"] = {"driverName": "d", "deviceClasses": [{"name": "gpu.example.com"}]}
    assert judged(claim, maker) == []
    assert judged(claim, named("DeviceClass", "gpu.example.com")) == []
    assert levels(judged(claim, named("DeviceClass", "nic.example.com"))) == [("KRM703", "warning")]


MAKERS = """\
{apiVersion: bitnami.com/v1alpha1, kind: SealedSecret, metadata: {name: wanted, namespace: kmm}}
{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: wanted, namespace: kmm}, spec: {}}
{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: e, namespace: kmm}, spec: {target: {name: wanted}}}
{apiVersion: external-secrets.io/v1, kind: ClusterExternalSecret, metadata: {name: wanted}, spec: {}}
{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: c, namespace: kmm}, spec: {secretName: wanted}}
{apiVersion: secrets.hashicorp.com/v1beta1, kind: VaultStaticSecret, metadata: {name: c, namespace: kmm}, spec: {destination: {name: wanted}}}
{apiVersion: isindir.github.com/v1alpha3, kind: SopsSecret, metadata: {name: c, namespace: kmm}, spec: {secretTemplates: [{name: wanted}]}}
{apiVersion: v1, kind: Service, metadata: {name: s, namespace: kmm, annotations: {service.beta.openshift.io/serving-cert-secret-name: wanted}}}
"""  # noqa: E501


@pytest.mark.parametrize("maker", MAKERS.splitlines(), ids=lambda text: text.split()[3])
def test_what_a_controller_makes_is_there(maker: str) -> None:
    user = workload({"imagePullSecrets": [{"name": "wanted"}]})
    assert judged(user, named("Secret", "other"), yaml.safe_load(maker)) == []
    assert judged(user, named("Secret", "other"), yaml.safe_load(maker.replace("wanted", "another"))) != []


@pytest.mark.parametrize(
    ("pod", "kind"),
    [
        ({"serviceAccountName": "default"}, "ServiceAccount"),
        ({"priorityClassName": "system-node-critical"}, "PriorityClass"),
        ({"volumes": [{"configMap": {"name": "kube-root-ca.crt"}}]}, "ConfigMap"),
    ],
)
def test_what_every_cluster_has_is_there(pod: Manifest, kind: str) -> None:
    assert judged(workload(pod), named(kind, "other")) == []


NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
HASHES = st.one_of(st.just(""), st.text("2456789bcdfghkmt", min_size=10, max_size=10).map("-{}".format))


@given(NAMES, st.lists(NAMES, max_size=2), st.lists(NAMES, max_size=2), HASHES, HASHES)
def test_a_renamed_resource_is_recognised(name: str, before: list[str], behind: list[str], new: str, old: str) -> None:
    """Prefixes and suffixes of several levels and the hash: whatever of it a field has missed is an error."""
    prefixes, suffixes = tuple(f"{part}-" for part in before), tuple(f"-{part}" for part in behind)
    final_name = "".join(reversed(prefixes)) + name + "".join(suffixes) + new
    user = workload({"volumes": [{"configMap": {"name": name + old}}]})
    results = judged(user, named("ConfigMap", final_name), transformed=Transformed(prefixes, suffixes))
    assert levels(results) == ([] if final_name == name + old else [("KRM703", "error")])


@given(NAMES, NAMES)
def test_names_with_different_prefixes_are_no_twins(name: str, other: str) -> None:
    """Two overlays that one root joins: what is missing in one of them is not what the other one has."""
    assume(name != f"z{other}")
    accounts = [named("ServiceAccount", account) for account in (f"west-{name}", f"z{other}")]
    user = workload({"serviceAccountName": f"east-{name}"})
    results = judged(user, *accounts, transformed=Transformed(("east-", "west-")))
    assert levels(results) in ([("KRM703", "warning")], [])
