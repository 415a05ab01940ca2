"""The webhook's rules about tolerations, entry by entry. Source: KMM v2.4.0 to main, internal/webhook/module.go."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn.results import Result

from ..lookup import Table, tables, text
from ..names import label_key_errors, label_value_errors
from ..rule import Rules, apply, refused
from ..versions import Target

PREFIX = "failed to validate Module's tolerations: "
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def check(spec: Table, target: Target) -> Iterator[Result]:
    """Yield the findings about all tolerations, in the webhook's order."""
    for index, entry in tables(spec, "tolerations"):
        yield from apply(RULES, entry, index, target, prefix=f"{PREFIX}Toleration[{index}] ")


def key_is_a_label_key(entry: Table, index: int, target: Target) -> Iterator[Result]:
    """KMM004: a toleration's key is a label key. KMM 2.3+; main words the reasons differently."""
    key = text(entry, "key")
    wrong = label_key_errors(key, target.long_texts) if key else []
    if wrong:
        yield refused(f"invalid key '{key}': {'; '.join(wrong)}", f"spec.tolerations[{index}].key", key)


def no_key_means_exists(entry: Table, index: int, target: Target) -> Iterator[Result]:
    """KMM005: a toleration without a key has the operator Exists. KMM 2.3+."""
    operator = text(entry, "operator")
    if not text(entry, "key") and operator != "Exists":
        path = f"spec.tolerations[{index}].operator"
        yield refused("operator must be 'Exists' when key is empty", path, operator or None)


def seconds_mean_no_execute(entry: Table, index: int, target: Target) -> Iterator[Result]:
    """KMM006: a toleration with tolerationSeconds has the effect NoExecute. KMM 2.3+."""
    effect = text(entry, "effect")
    if entry.get("tolerationSeconds") is not None and effect != "NoExecute":
        path = f"spec.tolerations[{index}].effect"
        yield refused("effect must be 'NoExecute' when tolerationSeconds is set", path, effect or None)


def value_is_a_label_value(entry: Table, index: int, target: Target) -> Iterator[Result]:
    """KMM007: with the operator Equal a toleration's value is a label value. KMM 2.3+; main has other words."""
    value = text(entry, "value")
    wrong = label_value_errors(value, target.long_texts) if text(entry, "operator") in ("Equal", "") else []
    if wrong:
        message = f"invalid value '{value}' for Equal operator {'; '.join(wrong)}"
        yield refused(message, f"spec.tolerations[{index}].value", value)


def exists_has_no_value(entry: Table, index: int, target: Target) -> Iterator[Result]:
    """KMM008: with the operator Exists a toleration has no value. KMM 2.3+."""
    value = text(entry, "value")
    if text(entry, "operator") == "Exists" and value:
        yield refused("value must be empty when operator is 'Exists'", f"spec.tolerations[{index}].value", value)


def operator_is_known(entry: Table, index: int, target: Target) -> Iterator[Result]:
    """KMM009: a toleration's operator is Equal (the default) or Exists. KMM 2.3+."""
    operator = text(entry, "operator")
    if operator not in ("Equal", "Exists", ""):
        message = f"invalid operator '{operator}', allowed values are ['Equal', 'Exists']"
        yield refused(message, f"spec.tolerations[{index}].operator", operator)


def effect_is_known(entry: Table, index: int, target: Target) -> Iterator[Result]:
    """KMM010: a toleration's effect is NoSchedule, PreferNoSchedule, NoExecute, or not said. KMM 2.3+."""
    effect = text(entry, "effect")
    if effect and effect not in EFFECTS:
        allowed = ", ".join(f"'{known}'" for known in EFFECTS)
        message = f"invalid effect '{effect}', allowed values are [{allowed}]"
        yield refused(message, f"spec.tolerations[{index}].effect", effect)


RULES: Rules = (
    ("KMM004", key_is_a_label_key),
    ("KMM005", no_key_means_exists),
    ("KMM006", seconds_mean_no_execute),
    ("KMM007", value_is_a_label_value),
    ("KMM008", exists_has_no_value),
    ("KMM009", operator_is_known),
    ("KMM010", effect_is_known),
)
