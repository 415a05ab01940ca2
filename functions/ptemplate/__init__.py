"""The function `ptemplate`: Ptemplates become what the ptemplate operator (5788fd7) makes of them."""

from krmfn import ResourceList, Result

from ..rendering.generated import Render, Renderer
from ..rendering.kinds import GUIDE_GROUP, PTEMPLATE, PTEMPLATE_GROUP
from ..rendering.start import start

_GUIDE_NAMES = {"spec.consumerimage": "spec.consumer", "spec.imageRepoSecret": "spec.imagePullSecret"}


def ptemplate(resources: ResourceList) -> None:
    """Render the Ptemplates of a list, and check every KMM Module in it."""
    start(resources, [RENDERER])


def _load() -> Render:
    from .render import render

    return render


def _with_guide_name(finding: Result) -> Result:
    """Return the finding with the CRD's name for a field that the operator's guides misspell."""
    path = finding.field.path if finding.field else ""
    if path in _GUIDE_NAMES:
        return finding._replace(message=f"unknown field {path}", remedy=f"did you mean {_GUIDE_NAMES[path]}?")
    if path == "apiVersion":
        return finding._replace(message=f"{finding.message} (the operator's guides spell it differently)")
    return finding


SCHEMAS = {(PTEMPLATE_GROUP, "Ptemplate"): "ptemplate", (GUIDE_GROUP, "Ptemplate"): "ptemplate"}
"""The group of the operator's guides has a schema, too, whose error names the right group."""
RENDERER = Renderer(PTEMPLATE, SCHEMAS, _load, _with_guide_name)
