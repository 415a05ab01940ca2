"""The numbers of a DaemonSet's rolling update, as the API server takes them."""

from itertools import product
from typing import Any

import pytest
from krmfn_functions.pods import rolling_update


def messages(strategy: Any) -> list[str]:
    return [
        result.message for result in rolling_update.check({"kind": "DaemonSet", "spec": {"updateStrategy": strategy}})
    ]


@pytest.mark.parametrize(("unavailable", "surge"), [*product([None, 0, 1, "0%", "10%", "100%"], repeat=2)])
def test_one_of_the_two_is_zero(unavailable: Any, surge: Any) -> None:
    """The defaults are 1 and 0; a field that is null is left out."""
    update = {"maxUnavailable": unavailable, "maxSurge": surge}
    is_zero = unavailable in (0, "0%"), surge in (0, "0%", None)
    assert bool(messages({"rollingUpdate": update})) == (is_zero[0] == is_zero[1])
    assert messages({"type": "OnDelete", "rollingUpdate": update}) == []


@pytest.mark.parametrize("value", [-1, "-1%", "101%", "x", True, 1.5, "5"])
def test_a_number_is_a_count_or_a_percentage(value: Any) -> None:
    assert len(messages({"rollingUpdate": {"maxUnavailable": value}})) == 1


@pytest.mark.parametrize(
    "strategy", [None, {}, {"rollingUpdate": None}, {"rollingUpdate": {}}, {"rollingUpdate": 1}, 1]
)
def test_what_is_not_there_is_fine(strategy: Any) -> None:
    assert messages(strategy) == []


def test_the_message() -> None:
    [finding] = rolling_update.check(
        {"kind": "DaemonSet", "spec": {"updateStrategy": {"rollingUpdate": {"maxSurge": 1}}}}
    )
    assert finding.message == "must be 0 unless maxUnavailable is, which is 1, its default"
    assert finding.field and finding.field.path == "spec.updateStrategy.rollingUpdate.maxSurge"
    assert finding.rule == "KRM716"
