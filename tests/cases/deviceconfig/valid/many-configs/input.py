"""Three hundred configs with two DaemonSets each."""

CONFIG = """\
- apiVersion: krmfn.dev/v1alpha1
  kind: DeviceConfig
  metadata:
    name: config-{number}
    namespace: kmm
  spec:
    driverImage: registry.example.com/driver-{number}
    driverVersion: "1.{number}"
    moduleName: driver_{number}
    nodeSelector:
      example.com/rack: r{number}
    labels:
      example.com/a: a
      example.com/b: b
      example.com/c: c
    daemonSets:
    - name: metrics
      image: registry.example.com/metrics:1.0
    - name: agent
      image: registry.example.com/agent:1.0
"""
print("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:")
for number in range(300):
    print(CONFIG.format(number=number), end="")
