"""The function `deviceconfig`: DeviceConfigs become KMM Modules and DaemonSets."""

from krmfn import ResourceList, Result
from krmfn.schema_findings import EMPTY

from ..finding import fact
from ..rendering.generated import Render, Renderer
from ..rendering.kinds import DEVICECONFIG, OURS, SEED
from ..rendering.start import start


def deviceconfig(resources: ResourceList) -> None:
    """Render the DeviceConfigs of a list, and check every KMM Module in it.

    DeviceConfigs of other groups pass through untouched.
    """
    start(resources, [RENDERER])


def _load() -> Render:
    from .render import render

    return render


_SWITCHES = ("devicePlugin", "dra", "serviceAccount", "service", "daemonSets", "initContainers", "volumes", "env")


def _with_remedy(finding: Result) -> Result:
    """Return the finding; if it is about an empty field, with how to switch off an inherited one."""
    name = finding.field.path.rpartition(".")[2] if finding.field else ""
    if name != "$patch" and not (name in _SWITCHES and fact(finding, "problem") == EMPTY):
        return finding
    remedy = "to switch off what a profile or the defaults set, write `enabled: false` in it"
    return finding._replace(remedy=f"{finding.remedy}; {remedy}" if finding.remedy else remedy)


SCHEMAS = {(OURS, "DeviceConfig"): "deviceconfig", (SEED, "DeviceConfig"): "deviceconfig-example.com"}
RENDERER = Renderer(DEVICECONFIG, SCHEMAS, _load, _with_remedy, True)
