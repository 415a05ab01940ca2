"""The webhook's rules about tolerations, entry by entry. Source: KMM v2.4.0 to main, internal/webhook/module.go."""

from collections.abc import Iterator

from krmfn import Result

from ... import oracles
from ...rule import Rule
from ..lookup import tables, text
from ..module import Module
from ..names import label_key_errors, label_value_errors
from ..rule import refusal
from ..versions import Target

PREFIX = "failed to validate Module's tolerations: "
OPERATORS, EFFECTS = ["Equal", "Exists"], ["NoSchedule", "PreferNoSchedule", "NoExecute"]
_OPERATORS, _EFFECTS = (f"allowed values are {known}" for known in (OPERATORS, EFFECTS))


def check(module: Module, kmm: Target) -> Iterator[Result]:
    """Yield the findings about all tolerations, in the webhook's order."""
    for index, entry in tables(module.spec, "tolerations"):
        key, operator, value, effect = (text(entry, name) for name in ("key", "operator", "value", "effect"))
        key_errors = label_key_errors(key, kmm.long_texts) if key else []
        value_errors = label_value_errors(value, kmm.long_texts) if operator in ("Equal", "") else []
        is_timed = entry.get("tolerationSeconds") is not None and effect != "NoExecute"
        for rule, is_wrong, field, message in (
            ("KMM004", key_errors, "key", f"invalid key '{key}': {'; '.join(key_errors)}"),
            ("KMM005", not key and operator != "Exists", "operator", "operator must be 'Exists' when key is empty"),
            ("KMM006", is_timed, "effect", "effect must be 'NoExecute' when tolerationSeconds is set"),
            ("KMM007", value_errors, "value", f"invalid value '{value}' for Equal operator {'; '.join(value_errors)}"),
            ("KMM008", operator == "Exists" and value, "value", "value must be empty when operator is 'Exists'"),
            ("KMM009", operator not in ("", *OPERATORS), "operator", f"invalid operator '{operator}', {_OPERATORS}"),
            ("KMM010", effect not in ("", *EFFECTS), "effect", f"invalid effect '{effect}', {_EFFECTS}"),
        ):
            if is_wrong:
                path, current = f"spec.tolerations[{index}].{field}", text(entry, field) or None
                yield refusal(f"{PREFIX}Toleration[{index}] {message}", path, current, rule=rule)


KMM004 = Rule(
    "KMM004",
    "a toleration's key must be a valid label key (KMM 2.3+; after 2.6 KMM words the reasons differently)",
    good="spec: {tolerations: [{key: example.com/gpu, operator: Exists}]}\n",
    bad="spec: {tolerations: [{key: example.com/gpu/only, operator: Exists}]}\n",
    remedy="Write the key of the taint: a name, or a prefix, a slash and a name.",
    held=oracles.WEBHOOK,
)

KMM005 = Rule(
    "KMM005",
    "a toleration without a key must have the operator Exists (KMM 2.3+)",
    good="spec: {tolerations: [{operator: Exists}]}\n",
    bad="spec: {tolerations: [{value: gpu}]}\n",
    remedy="Write the key of the taint, or write `operator: Exists` to tolerate every taint.",
    held=oracles.WEBHOOK,
)

KMM006 = Rule(
    "KMM006",
    "a toleration with tolerationSeconds must have the effect NoExecute (KMM 2.3+)",
    good="spec: {tolerations: [{key: gpu, operator: Exists, effect: NoExecute, tolerationSeconds: 60}]}\n",
    bad="spec: {tolerations: [{key: gpu, operator: Exists, effect: NoSchedule, tolerationSeconds: 60}]}\n",
    remedy="Remove tolerationSeconds, or write `effect: NoExecute`.",
    held=oracles.WEBHOOK,
)

KMM007 = Rule(
    "KMM007",
    "the value of a toleration with the operator Equal must be a valid label value (KMM 2.3+; worded differently after "
    "2.6)",
    good="spec: {tolerations: [{key: gpu, operator: Equal, value: only-drivers}]}\n",
    bad="spec: {tolerations: [{key: gpu, operator: Equal, value: only drivers}]}\n",
    remedy="Write the value of the taint: at most 63 letters, digits, '-', '_' and '.'.",
    held=oracles.WEBHOOK,
)

KMM008 = Rule(
    "KMM008",
    "a toleration with the operator Exists must not have a value (KMM 2.3+)",
    good="spec: {tolerations: [{key: gpu, operator: Exists}]}\n",
    bad='spec: {tolerations: [{key: gpu, operator: Exists, value: "true"}]}\n',
    remedy="Remove the value, or write `operator: Equal`.",
    held=oracles.WEBHOOK,
)

KMM009 = Rule(
    "KMM009",
    "a toleration's operator must be Equal (the default) or Exists (KMM 2.3+)",
    good="spec: {tolerations: [{key: gpu, operator: Exists}]}\n",
    bad="spec: {tolerations: [{key: gpu, operator: exists}]}\n",
    remedy="Write Equal or Exists, with a capital letter.",
    held=oracles.WEBHOOK,
)

KMM010 = Rule(
    "KMM010",
    "a toleration's effect must be NoSchedule, PreferNoSchedule, NoExecute or unset (KMM 2.3+)",
    good="spec: {tolerations: [{key: gpu, operator: Exists, effect: NoSchedule}]}\n",
    bad="spec: {tolerations: [{key: gpu, operator: Exists, effect: noSchedule}]}\n",
    remedy="Write one of the three effects as Kubernetes spells them, or remove the effect to tolerate all of them.",
    held=oracles.WEBHOOK,
)

RULES = (KMM004, KMM005, KMM006, KMM007, KMM008, KMM009, KMM010)
