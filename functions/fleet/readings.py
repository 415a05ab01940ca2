"""How kustomize changes resources: scalars that it reads differently than Kubernetes, and names.

A scalar with two readings is an error where it decides what is selected. On the cluster a Node has the name in its
file, before kustomize changed it.
"""

from weakref import WeakKeyDictionary

from krmfn import Field, Item, Result, error, itemtext
from krmfn.results import MEND, QUOTE

from .. import oracles
from ..rule import Rule

PREVIOUS_NAMES = "internal.config.kubernetes.io/previousNames"
"""kustomize's annotation: the names that a resource had, oldest first."""
KUSTOMIZE_ID = "kustomize.config.k8s.io/id"
"""kustomize's annotation on every item of a list that it sends to a function."""


_written: WeakKeyDictionary[Item, str] = WeakKeyDictionary()
"""The names in the files of items whose names a build has changed, where somebody has looked it up."""


def note_written(item: Item, name: str) -> None:
    """Note the name that an item has in its file: what kustomize prints does not say it."""
    _written[item] = name


def previous_name(item: Item) -> str:
    """Return the name that an item had before kustomize changed it."""
    name = itemtext.string(item, "metadata", "annotations", PREVIOUS_NAMES).partition(",")[0]
    return _written.get(item) or name or item.name


def check(*items: Item) -> list[Result]:
    """Return an error for each key and value that Kubernetes and kustomize read differently."""
    words = [(item, word) for item in items for word in item.content.ambiguous]
    results = []
    for item, word in words:
        facts = () if word.is_key else ((MEND, (QUOTE,)),)
        field = Field(word.path, word.text)
        results.append(item.located(error(word.message, rule="KRM174", field=field, facts=facts, remedy=word.remedy)))
    return results


def repeated(item: Item) -> list[Result]:
    """Return an error for each key that appears twice in one mapping: readers disagree on which one counts."""
    message = "this key appears twice"
    return [
        item.located(error(message, rule="KRM102", field=Field(path), remedy="remove one"))
        for path in item.content.duplicate_keys
    ]


RULES = (
    Rule(
        "KRM174",
        "a selector, label, name, namespace, version, taint or kind must be the same text to every YAML reader",
        good="""\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  moduleName: gpu
  driverImage: registry.example.com/gpu:1.0
  nodeSelector: {"y": "true"}
""",
        bad="""\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  moduleName: gpu
  driverImage: registry.example.com/gpu:1.0
  nodeSelector: {y: "true"}
""",
        remedy="Put quotes around the word: Kubernetes reads plain `y`, `yes`, `on`, `n`, `no` and `off` as booleans, "
        "kustomize as text; Kubernetes reads a plain date as text, kustomize as a time; kustomize refuses a key that "
        "is a number, a date or a boolean.",
        held=oracles.TWO_READERS,
    ),
)
"""The rule about scalars with two readings."""
