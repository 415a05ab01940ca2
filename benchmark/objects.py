"""The text of single items, laid out as kpt and kyaml send them."""

from __future__ import annotations

from random import Random


def wire_annotations(number: int, path: str) -> str:
    """The annotations kpt puts on every item it sends, in its order and with its quotes."""
    return f"""\
      config.kubernetes.io/index: '0'
      config.kubernetes.io/path: '{path}'
      internal.config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/path: '{path}'
      internal.config.kubernetes.io/seqindent: 'compact'
      internal.config.kubernetes.io/annotations-migration-resource-id: '{number}'
      internal.config.kubernetes.io/id: '{number + 1}'
      config.k8s.io/id: '{number + 1}'
"""


def deployment(random: Random, number: int) -> str:
    name = f"service-{number:05}"
    return f"""\
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: {name}
    namespace: team-{number % 40}
    labels:
      app.kubernetes.io/name: {name}
    annotations:
{wire_annotations(number, f"apps/{name}.yaml")}\
  spec:
    replicas: {random.randint(1, 9)}
    selector:
      matchLabels:
        app.kubernetes.io/name: {name}
    template:
      metadata:
        labels:
          app.kubernetes.io/name: {name}
      spec:
{container(random, number)}"""


def container(random: Random, number: int) -> str:
    return f"""\
        containers:
        - name: main
          image: registry.example.com/team-{number % 40}/service-{number:05}:1.{random.randint(0, 30)}
          args:
          - --listen=:8080
          - --log-level=info
          env:
          - name: MODE
            value: "on"
          ports:
          - containerPort: 8080
            name: http
          resources:
            limits:
              cpu: "1"
              memory: 512Mi
            requests:
              cpu: 100m
              memory: {random.randint(64, 512)}Mi
          livenessProbe:
            httpGet:
              path: /healthz
              port: http
            periodSeconds: {random.randint(5, 30)}
"""


def device_config(number: int, pool: int, extra: str = "") -> str:
    name = f"dc-{pool:03}"
    return f"""\
- apiVersion: krmfn.dev/v1alpha1
  kind: DeviceConfig
  metadata:
    name: {name}
    namespace: kmm
    annotations:
      config.kubernetes.io/local-config: "true"
{wire_annotations(number, f"devices/{name}.yaml")}\
  spec:
    driverImage: registry.example.com/driver
    driverVersion: "1.2.3"
    moduleName: example_drv
    nodeSelector:
      pool.example.com/name: pool-{pool:03}
{extra}"""
