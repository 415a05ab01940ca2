"""The rules of node exclusivity, KRM301 to KRM306: steps of one comparison, so none has a check of its own."""

from .. import oracles
from ..rule import Rule

RULES = (
    Rule(
        "KRM301",
        "a node must be managed by only one DeviceConfig per profile (exact, on nodes in the input)",
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
        remedy="Let each node selector ask for a different value of the same label key, or remove a label from the "
        "node. If the devices are different, give each driver a profile of its own: then only loading the same kernel "
        "module is a conflict.",
        held=oracles.OUR_EXCLUSIVITY,
    ),
    Rule(
        "KRM302",
        "the node selectors of two DeviceConfigs of one profile must not match the same node",
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
        remedy="Let each node selector ask for a different value of the same label key. Or add the Node objects to the "
        "input: an overlap that no node shows is then only a warning.",
        held=oracles.OUR_EXCLUSIVITY,
        severities=("error", "warning"),
    ),
    Rule(
        "KRM303",
        "a node must be in only one pool of a config",
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
        remedy="Let the selector of each pool ask for a different value of the same label key.",
        held=oracles.OUR_EXCLUSIVITY,
        severities=("warning", "error"),
    ),
    Rule(
        "KRM304",
        "a kernel module must be loaded on a node by only one Module (KMM does not check this across Modules)",
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
        remedy="Let each selector ask for a different value of the same label key, or remove one of the Modules.",
        held=oracles.WORKER,
        severities=("error", "warning"),
    ),
    Rule(
        "KRM305",
        "it must be possible to decide node exclusivity for all nodes and selectors, within a limit on the work",
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
        remedy="Add the Node objects if the mode is `nodes`. If there is too much to compare, let each selector "
        "ask for a different value of the same label key, or check fewer configs at once.",
        held=oracles.OUR_LIMITS,
        severities=("error", "warning"),
    ),
    Rule(
        "KRM306",
        "conflicts about nodes must be few enough to list them all",
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
        held=oracles.OUR_LIMITS,
        severities=("error", "warning"),
    ),
)
