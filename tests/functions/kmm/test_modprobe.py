"""Which kernel modules modprobe loads, given its arguments."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.kmm.modprobe import loaded_names

LOADED = {
    "xpu": ["xpu"],
    "-v xpu": ["xpu"],
    "xpu debug=1 other": ["xpu"],
    "-a xpu other": ["xpu", "other"],
    "-va xpu other": ["xpu", "other"],
    "--all xpu other": ["xpu", "other"],
    "-d /opt xpu": ["xpu"],
    "-vd /opt xpu": ["xpu"],
    "-d/opt xpu": ["xpu"],
    "--dirname /opt xpu": ["xpu"],
    "--dirname=/opt xpu": ["xpu"],
    "-C /etc/a.conf -S 6.1.0 xpu": ["xpu"],
    "-- xpu": ["xpu"],
    "/opt/lib/modules/xpu.ko.xz": ["xpu"],
    "-r xpu": [],
    "--remove xpu": [],
    "-v": [],
    "": [],
}


@pytest.mark.parametrize("arguments", LOADED)
def test_what_is_loaded(arguments: str) -> None:
    assert loaded_names(arguments.split()) == LOADED[arguments]


FLAGS = st.lists(st.sampled_from(["-v", "-f", "-i", "--first-time", "-d", "-C", "--set-version"]), max_size=4)


@given(FLAGS, st.sampled_from(["xpu", "a-b"]), st.lists(st.sampled_from(["debug=1", "x"]), max_size=2))
def test_options_before_and_parameters_behind_change_nothing(flags: list[str], name: str, rest: list[str]) -> None:
    with_values = [
        word for flag in flags for word in ([flag, "value"] if flag in ("-d", "-C", "--set-version") else [flag])
    ]
    assert loaded_names([*with_values, name, *rest]) == [name]
