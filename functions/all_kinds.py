"""Render DeviceConfigs and Ptemplates in one run: the function of the program `krmfn`."""

from __future__ import annotations

from krmfn import ResourceList

from . import deviceconfig, ptemplate
from .rendering.beside import Beside


def krmfn(resources: ResourceList) -> None:
    """Run `deviceconfig`, then `ptemplate`, as a pipeline would run them; with any error nothing changes.

    What the first one generates is in the list when the second one looks for conflicts. When the first one fails, the
    second one still reports what it finds.
    """
    before = list(resources.items)
    deviceconfig.deviceconfig(resources, Beside(ptemplate.SCOPE, ptemplate.HANDLED))
    ptemplate.ptemplate(resources, Beside(deviceconfig.SCOPE, deviceconfig.OWNERS))
    if resources.failed:
        resources.items = before
        resources.changes.clear()
