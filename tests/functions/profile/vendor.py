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
            properties:
              enable: {type: boolean, default: false}
              port: {type: integer, minimum: 1, maximum: 65535, default: 5000}
              level: {type: string}
              flags: {type: object, additionalProperties: {type: string}}
  texts:
    flags: {each: spec.exporter.flags, as: "-${key}=${value}"}
    verbose: {if: {spec.exporter.level: debug}, as: "--v=10"}
  config:
    moduleName: amdgpu
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


def cr(name: str = "gpu", **spec: Any) -> Manifest:
    """Return a config of the vendor's kind; `spec` goes over that of CR, one level deep."""
    own = {key: {**CR["spec"].get(key, {}), **value} if key in CR["spec"] else value for key, value in spec.items()}
    return {**CR, "metadata": {"name": name, "namespace": "kmm"}, "spec": {**CR["spec"], **own}}


def profile(old: str = "", new: str = "", text: str = PROFILE) -> Manifest:
    """Return the Profile, with a part of its text replaced."""
    assert not old or old in text
    made: Manifest = yaml.safe_load(text.replace(old, new) if old else text)
    return made


def rendered(*manifests: Manifest, **config: Any) -> tuple[dict[str, Manifest], list[str], int]:
    """Return the objects by kind and name, the findings and the exit code of a run of the function."""
    settings: dict[str, Any] = {"function_config": function_config(**config)} if config else {}
    done = applied(krmfn, *manifests, **settings)
    objects = {f"{item.kind} {item.name}": item.manifest for item in done.items}
    return objects, [str(result) for result in done.results], int(done.failed)
