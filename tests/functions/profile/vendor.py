"""A small vendor's product: a Profile, a config of the vendor's own kind, and what `krmfn` says of them."""

from __future__ import annotations

from typing import Any

import yaml
from krmfn_functions.all_kinds import krmfn

from krmfn import Manifest
from tests.builders import applied, function_config

PROFILE = """\
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: amd-gpu, annotations: {config.kubernetes.io/local-config: "true"}}
spec:
  version: 1.4.1
  for: {group: amd.com, versions: [v1alpha1], kind: DeviceConfig}
  schema:
    type: object
    required: [spec]
    properties:
      spec:
        type: object
        properties:
          selector: {type: object, additionalProperties: {type: string}, default: {example.com/gpu: "true"}}
          driver:
            type: object
            required: [image, version]
            properties:
              image: {type: string}
              version: {type: string}
              parameters: {type: array, items: {type: string}}
          exporter:
            type: object
            default: {}
            properties:
              enable: {type: boolean, default: false}
              port: {type: integer, minimum: 1, maximum: 65535, default: 5000}
              level: {type: string}
              flags: {type: object, additionalProperties: {type: string}}
  texts:
    flags: {each: spec.exporter.flags, as: "-${key}=${value}"}
    verbose: {if: {spec.exporter.level: debug}, as: "--v=10"}
  config:
    moduleName: amd_gpu
    driverImage: ${spec.driver.image}
    driverVersion: ${spec.driver.version}
    parameters: ${spec.driver.parameters}
    nodeSelector: ${spec.selector}
    daemonSets:
    - name: metrics
      image: registry.example.com/amd/exporter:1
      args: ["--port=${spec.exporter.port}", "${texts.verbose}", "${texts.flags}"]
      env:
      - {name: LEVEL, value: "${spec.exporter.level}"}
      - {name: PORT, value: "${spec.exporter.port}"}
      ports: [{name: metrics, containerPort: "${spec.exporter.port}"}]
  when:
  - if: {spec.exporter.enable: false}
    config: {daemonSets: [{name: metrics, enabled: false}]}
"""
CR: Manifest = {
    "apiVersion": "amd.com/v1alpha1",
    "kind": "DeviceConfig",
    "metadata": {"name": "gpu", "namespace": "kmm"},
    "spec": {
        "driver": {"image": "registry.example.com/amd/driver", "version": "30.20.1"},
        "exporter": {"enable": True},
    },
}


OURS: Manifest = {
    "apiVersion": "krmfn.dev/v1alpha1",
    "kind": "DeviceConfig",
    "metadata": {"name": "nic", "namespace": "kmm"},
    "spec": {"moduleName": "nic", "driverImage": "x/y:1", "nodeSelector": {"a": "b"}, "devicePlugin": {"image": "x:1"}},
}


def cr(name: str = "gpu", **spec: Any) -> Manifest:
    """Return a config of the vendor's kind; `spec` goes over that of CR, one level deep."""
    fields = {key: {**CR["spec"].get(key, {}), **value} if key in CR["spec"] else value for key, value in spec.items()}
    return {**CR, "metadata": {"name": name, "namespace": "kmm"}, "spec": {**CR["spec"], **fields}}


def naming(profile_name: str, config: Manifest = CR) -> Manifest:
    """Return the config with the annotation that names its Profile."""
    return {**config, "metadata": {**config["metadata"], "annotations": {"krmfn.dev/profile": profile_name}}}


def profile(old: str = "", new: str = "", text: str = PROFILE) -> Manifest:
    """Return the Profile, with a part of its text replaced."""
    assert not old or old in text
    product: Manifest = yaml.safe_load(text.replace(old, new) if old else text)
    return product


def options(product: Manifest) -> dict[str, Any]:
    """Return the schema of the options below `spec`, by their names."""
    schemas: dict[str, Any] = product["spec"]["schema"]["properties"]["spec"]["properties"]
    return schemas


def rendered(*manifests: Manifest, **config: Any) -> tuple[dict[str, Manifest], list[str], int]:
    """Return the objects by kind and name, the findings and the exit code of a run of the function."""
    settings: dict[str, Any] = {"function_config": function_config(**config)} if config else {}
    done = applied(krmfn, *manifests, **settings)
    objects = {f"{item.kind} {item.name}": item.manifest for item in done.items}
    return objects, [str(result) for result in done.results], int(done.failed)


def sound(*manifests: Manifest, **config: Any) -> dict[str, Manifest]:
    """Return the objects by kind and name of a run without any finding."""
    objects, findings, code = rendered(*manifests, **config)
    assert (findings, code) == ([], 0)
    return objects


def refused(*manifests: Manifest, **config: Any) -> list[str]:
    """Return the findings of a run with an error, which has made nothing."""
    objects, findings, code = rendered(*manifests, **config)
    assert code == 1, findings
    assert len(objects) == len(manifests), objects.keys()
    return findings


def children(*manifests: Manifest) -> list[Manifest]:
    """Return what is made of these."""
    return list(rendered(*manifests)[0].values())[len(manifests) :]


def container(objects: dict[str, Manifest], name: str = "gpu-metrics") -> dict[str, Any]:
    """Return the container of a DaemonSet."""
    (first,) = objects[f"DaemonSet {name}"]["spec"]["template"]["spec"]["containers"]
    fields: dict[str, Any] = first
    return fields


def modprobe(objects: dict[str, Manifest], name: str = "gpu") -> dict[str, Any]:
    """Return what a Module gives to modprobe."""
    fields: dict[str, Any] = objects[f"Module {name}"]["spec"]["moduleLoader"]["container"]["modprobe"]
    return fields
