"""How a DaemonSet replaces its pods: the API server's checks of the two numbers of a rolling update.

Source: Kubernetes v1.34, pkg/apis/apps/validation (ValidateRollingUpdateDaemonSet), pkg/apis/apps/v1/defaults.go.
"""

import re
from collections.abc import Iterator

from krmfn import Field, Manifest, Result, error
from krmfn.resource import ref
from krmfn.typed import Any

from ..mistake import Mistake

RULE = "KRM716"
_PATH = "spec.updateStrategy.rollingUpdate"
_DEFAULTS = {"maxUnavailable": 1, "maxSurge": 0}
_PERCENTAGE = re.compile(r"[0-9]+%").fullmatch


def check(daemon_set: Manifest) -> Iterator[Result]:
    """Yield what the API server refuses about the rolling update of a DaemonSet; the rule is KRM716.

    A field that is left out has its default: maxUnavailable 1, maxSurge 0. With the type OnDelete nothing is checked.
    """
    spec: Any = daemon_set.get("spec")
    strategy: Any = spec.get("updateStrategy") if isinstance(spec, dict) else None
    update = strategy.get("rollingUpdate") if isinstance(strategy, dict) else None
    if not isinstance(update, dict) or strategy.get("type") == "OnDelete":
        return
    values = {name: default if update.get(name) is None else update[name] for name, default in _DEFAULTS.items()}
    is_sound = True
    for name, value in values.items():
        if mistake := _mistake(value):
            is_sound = False
            yield _refused(daemon_set, name, value, *mistake)
    if is_sound and not any(map(_number, values.values())):
        problem = "is 0, and so is maxSurge: no pod could ever be replaced, and the API server refuses it"
        yield _refused(daemon_set, "maxUnavailable", values["maxUnavailable"], problem, "set one of them to 1 or more")
    if is_sound and all(map(_number, values.values())):
        written = "" if "maxUnavailable" in update else ", its default"
        problem = f"must be 0 unless maxUnavailable is, which is {values['maxUnavailable']}{written}"
        yield _refused(daemon_set, "maxSurge", values["maxSurge"], problem, "set one of them to 0")


def _refused(daemon_set: Manifest, name: str, value: Any, problem: str, remedy: str = "") -> Result:
    return error(problem, rule=RULE, ref=ref(daemon_set), field=Field(f"{_PATH}.{name}", value), remedy=remedy)


def _mistake(value: Any) -> Mistake | None:
    """Return what is wrong with one of the numbers; None when it counts pods or is a percentage of at most 100."""
    if isinstance(value, str):
        if not _PERCENTAGE(value):
            return Mistake(f"is {value!r}", "write a whole number or a percentage such as 10%")
        return Mistake("is more than 100%") if _number(value) > 100 else None
    if type(value) is not int:
        return Mistake("is no whole number or percentage")
    return Mistake("is negative") if value < 0 else None


def _number(value: Any) -> int:
    """Return the number, also that of a percentage."""
    return int(str(value).removesuffix("%"))
