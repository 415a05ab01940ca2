"""The rules of node exclusivity, KRM301 to KRM306: steps of one comparison, so none has a check of its own."""

from __future__ import annotations

from krmfn.rule import Rule

RULES = (
    Rule(
        "KRM301",
        "a node is driven by one DeviceConfig per profile only (exact, on nodes in the input)",
        good="""\
metadata: {name: east}
spec: {nodeSelector: {site: east}}
---
metadata: {name: west}
spec: {nodeSelector: {site: west}}
---
kind: Node
metadata: {name: node-1, labels: {site: east, gpu: "true"}}
""",
        bad="""\
metadata: {name: east}
spec: {nodeSelector: {site: east}}
---
metadata: {name: all-gpus}
spec: {nodeSelector: {gpu: "true"}}
---
kind: Node
metadata: {name: node-1, labels: {site: east, gpu: "true"}}
""",
        remedy="Give the node selectors a common label key with different values, or take a label off the node. Give "
        "drivers of different devices a profile each: then only the same kernel module excludes.",
    ),
    Rule(
        "KRM302",
        "the selectors of two DeviceConfigs of one profile cannot select the same node",
        good="""\
metadata: {name: east}
spec: {nodeSelector: {site: east}}
---
metadata: {name: west}
spec: {nodeSelector: {site: west}}
""",
        bad="""\
metadata: {name: east}
spec: {nodeSelector: {site: east}}
---
metadata: {name: all-gpus}
spec: {nodeSelector: {gpu: "true"}}
""",
        remedy="Give the node selectors a common label key with different values. Or add the Node objects to the "
        "input: what no real node shows is a warning then.",
        severities=("error", "warning"),
    ),
    Rule(
        "KRM303",
        "a node is in one pool of a config only",
        good="""\
spec:
  nodeSelector: null
  nodePools:
  - {name: big, nodeSelector: {memory: 128g}}
  - {name: small, nodeSelector: {memory: 64g}}
""",
        bad="""\
spec:
  nodeSelector: null
  nodePools:
  - {name: big, nodeSelector: {memory: 128g}}
  - {name: new, nodeSelector: {generation: "3"}}
""",
        remedy="Give the pools' node selectors a common label key with different values.",
        severities=("warning", "error"),
    ),
    Rule(
        "KRM304",
        "a kernel module is loaded on a node by one Module only (KMM itself does not check across Modules)",
        good="""\
kind: Module
metadata: {name: east}
spec: {selector: {site: east}}
---
kind: Module
metadata: {name: west}
spec: {selector: {site: west}}
""",
        bad="""\
kind: Module
metadata: {name: east}
spec: {selector: {site: east}}
---
kind: Module
metadata: {name: all-gpus}
spec: {selector: {gpu: "true"}}
""",
        remedy="Give the selectors a common label key with different values, or remove one of the Modules.",
        severities=("error", "warning"),
    ),
    Rule(
        "KRM305",
        "node exclusivity is decided for all nodes and selectors, within a bound on the work",
        good="""\
kind: RenderDeviceConfigs
spec: {exclusivity: {mode: nodes}}
---
metadata: {name: east}
spec: {nodeSelector: {site: east}}
---
metadata: {name: west}
spec: {nodeSelector: {site: west}}
---
kind: Node
metadata: {name: node-1, labels: {site: east}}
""",
        bad="""\
kind: RenderDeviceConfigs
spec: {exclusivity: {mode: nodes}}
---
metadata: {name: east}
spec: {nodeSelector: {site: east}}
---
metadata: {name: west}
spec: {nodeSelector: {site: west}}
""",
        remedy="Add the Node objects where the mode is `nodes`. Where there is too much to compare, tell the selectors "
        "apart by one common label key, or check fewer configs at once.",
        severities=("error", "warning"),
    ),
    Rule(
        "KRM306",
        "the conflicts about nodes are few enough to list them all",
        good="""\
# 1001 of these, NUMBER from 1
metadata: {name: first-NUMBER}
spec: {nodeSelector: {rack: "NUMBER"}}
""",
        bad="""\
# 1001 of these, NUMBER from 1
metadata: {name: first-NUMBER}
spec: {nodeSelector: {rack: "NUMBER"}}
---
# 1001 of these, NUMBER from 1
metadata: {name: second-NUMBER}
spec: {nodeSelector: {rack: "NUMBER"}}
""",
        remedy="Correct the conflicts that are listed, then run again.",
        severities=("error", "warning"),
    ),
)
