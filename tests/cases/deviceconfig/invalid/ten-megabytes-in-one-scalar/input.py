"""A 10 MB value in a field of ours."""

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: krmfn.dev/v1alpha1\n"
META = "  kind: DeviceConfig\n  metadata:\n    name: gaudi\n    namespace: kmm\n"
SPEC = "  spec:\n    driverVersion: '1'\n    moduleName: habanalabs\n    nodeSelector:\n      a: b\n    driverImage: "
print(HEAD + META + SPEC + "x" * 10_000_000)
