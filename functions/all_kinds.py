"""Render all our kinds in one run: the function of the program `krmfn`."""

from krmfn import ResourceList

from . import deviceconfig, ptemplate
from .rendering.start import start


def krmfn(resources: ResourceList) -> None:
    """Render the DeviceConfigs and Ptemplates of a list, and check every KMM Module in it."""
    start(resources, [deviceconfig.RENDERER, ptemplate.RENDERER])
