"""The smallest ResourceLists: what a run on them loads and enters, every run does."""

from __future__ import annotations

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
OTHERS = "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n  data:\n    a: 'b'\n"
"""An item that is not ours."""
OURS = """\
- apiVersion: krmfn.dev/v1alpha1
  kind: DeviceConfig
  metadata:
    name: gaudi
    namespace: kmm
  spec:
    driverImage: registry.example.com/gaudi
    driverVersion: "1.20"
    moduleName: habanalabs
    nodeSelector:
      example.com/gaudi: "true"
"""
"""An item that is rendered."""
