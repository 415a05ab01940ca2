"""What is said of configs by themselves."""

from __future__ import annotations

from tests.functions.profile.vendor import cr, profile, rendered


def test_a_config_is_judged_by_its_profile_if_that_is_sound_by_itself() -> None:
    config = cr(exporter={"port": 0})
    message = "error: DeviceConfig kmm/gpu: spec.exporter.port: is 0; must be at least 1 [KRM101]"
    assert rendered(profile(), config)[1] == [message]
    unsound = rendered(profile("version: 1.4.1", "title: GPUs"), config)[1]
    assert [line.split()[1] for line in unsound] == ["Profile"], unsound
