"""The webhook's rules about tolerations, entry by entry. Source: KMM v2.4.0 to main, internal/webhook/module.go."""

from collections.abc import Iterator

from krmfn import Result
from krmfn.results import Rule

from ..lookup import Table, tables, text
from ..module import Module
from ..names import label_key_errors, label_value_errors
from ..rule import prefixed, refused
from ..versions import Target

PREFIX = "failed to validate Module's tolerations: "
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def check(module: Module, kmm: Target) -> Iterator[Result]:
    """Yield the findings about all tolerations, in the webhook's order."""
    for index, entry in tables(module.spec, "tolerations"):
        yield from prefixed(f"{PREFIX}Toleration[{index}] ", _findings(entry, f"spec.tolerations[{index}]", kmm))


def _findings(entry: Table, path: str, kmm: Target) -> Iterator[Result]:
    key, operator, value, effect = (text(entry, name) for name in ("key", "operator", "value", "effect"))
    if wrong := label_key_errors(key, kmm.long_texts) if key else []:
        yield refused(f"invalid key '{key}': {'; '.join(wrong)}", f"{path}.key", key, rule="KMM004")
    if not key and operator != "Exists":
        message = "operator must be 'Exists' when key is empty"
        yield refused(message, f"{path}.operator", operator or None, rule="KMM005")
    if entry.get("tolerationSeconds") is not None and effect != "NoExecute":
        message = "effect must be 'NoExecute' when tolerationSeconds is set"
        yield refused(message, f"{path}.effect", effect or None, rule="KMM006")
    if wrong := label_value_errors(value, kmm.long_texts) if operator in ("Equal", "") else []:
        message = f"invalid value '{value}' for Equal operator {'; '.join(wrong)}"
        yield refused(message, f"{path}.value", value, rule="KMM007")
    if operator == "Exists" and value:
        yield refused("value must be empty when operator is 'Exists'", f"{path}.value", value, rule="KMM008")
    if operator not in ("Equal", "Exists", ""):
        message = f"invalid operator '{operator}', allowed values are ['Equal', 'Exists']"
        yield refused(message, f"{path}.operator", operator, rule="KMM009")
    if effect and effect not in EFFECTS:
        allowed = ", ".join(f"'{known}'" for known in EFFECTS)
        message = f"invalid effect '{effect}', allowed values are [{allowed}]"
        yield refused(message, f"{path}.effect", effect, rule="KMM010")


KMM004 = Rule(
    "KMM004",
    "a toleration's key must be a valid label key (KMM 2.3+; after 2.6 KMM words the reasons differently)",
    good="spec: {tolerations: [{key: example.com/gpu, operator: Exists}]}\n",
    bad="spec: {tolerations: [{key: example.com/gpu/only, operator: Exists}]}\n",
    remedy="Write the key of the taint: a name, or a prefix, a slash and a name.",
)

KMM005 = Rule(
    "KMM005",
    "a toleration without a key must have the operator Exists (KMM 2.3+)",
    good="spec: {tolerations: [{operator: Exists}]}\n",
    bad="spec: {tolerations: [{value: gpu}]}\n",
    remedy="Write the key of the taint, or write `operator: Exists` to tolerate every taint.",
)

KMM006 = Rule(
    "KMM006",
    "a toleration with tolerationSeconds must have the effect NoExecute (KMM 2.3+)",
    good="spec: {tolerations: [{key: gpu, operator: Exists, effect: NoExecute, tolerationSeconds: 60}]}\n",
    bad="spec: {tolerations: [{key: gpu, operator: Exists, effect: NoSchedule, tolerationSeconds: 60}]}\n",
    remedy="Remove tolerationSeconds, or write `effect: NoExecute`.",
)

KMM007 = Rule(
    "KMM007",
    "the value of a toleration with the operator Equal must be a valid label value (KMM 2.3+; worded differently after "
    "2.6)",
    good="spec: {tolerations: [{key: gpu, operator: Equal, value: only-drivers}]}\n",
    bad="spec: {tolerations: [{key: gpu, operator: Equal, value: only drivers}]}\n",
    remedy="Write the value of the taint: at most 63 letters, digits, '-', '_' and '.'.",
)

KMM008 = Rule(
    "KMM008",
    "a toleration with the operator Exists must not have a value (KMM 2.3+)",
    good="spec: {tolerations: [{key: gpu, operator: Exists}]}\n",
    bad='spec: {tolerations: [{key: gpu, operator: Exists, value: "true"}]}\n',
    remedy="Remove the value, or write `operator: Equal`.",
)

KMM009 = Rule(
    "KMM009",
    "a toleration's operator must be Equal (the default) or Exists (KMM 2.3+)",
    good="spec: {tolerations: [{key: gpu, operator: Exists}]}\n",
    bad="spec: {tolerations: [{key: gpu, operator: exists}]}\n",
    remedy="Write Equal or Exists, with a capital letter.",
)

KMM010 = Rule(
    "KMM010",
    "a toleration's effect must be NoSchedule, PreferNoSchedule, NoExecute or unset (KMM 2.3+)",
    good="spec: {tolerations: [{key: gpu, operator: Exists, effect: NoSchedule}]}\n",
    bad="spec: {tolerations: [{key: gpu, operator: Exists, effect: noSchedule}]}\n",
    remedy="Write one of the three effects as Kubernetes spells them, or remove the effect to tolerate all of them.",
)

RULES = (KMM004, KMM005, KMM006, KMM007, KMM008, KMM009, KMM010)
