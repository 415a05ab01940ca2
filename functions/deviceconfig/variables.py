"""The values of krmfn's variables in a DeviceConfig, and its fields with the values filled in."""

from collections.abc import Mapping

from krmfn import Ref
from krmfn.typed import Any

from ..rendering.variables import IMAGE, MODULE, NAME, NAMESPACE, VERSION, fill, references
from .model import spec
from .names import named_image

IMAGES = ("driverImage", "driverImageParts")
"""The fields that $KRMFN_DRIVER_IMAGE is made from, so that it has no value in them."""
SOURCES = {VERSION: ("driverVersion",), IMAGE: IMAGES, MODULE: ("moduleName",)}
"""The fields that a variable's value comes from; the config's name is always there, and its namespace has a rule."""


def values(fields: Mapping[str, Any], ref: Ref) -> dict[str, str]:
    """Return the variables that have a value, for merged fields of a DeviceConfig `ref` in which none is filled in."""
    known = {NAME: ref.name, NAMESPACE: ref.namespace}
    known |= {MODULE: fields.get("moduleName", ""), VERSION: fields.get("driverVersion", "")}
    known = {name: value for name, value in known.items() if value}
    image = named_image(spec(fill(_images(fields), known)))
    return {**known, IMAGE: image} if image else known


def filled(fields: Mapping[str, Any], ref: Ref) -> dict[str, Any]:
    """Return merged fields with the variables filled in where they may stand."""
    known = values(fields, ref)
    own = {name: value for name, value in known.items() if name != IMAGE}
    done: dict[str, Any] = fill(fields, known, everywhere=False)
    done.update(fill(_images(fields), own))
    return done


def used(fields: Mapping[str, Any]) -> set[str]:
    """Return the fields that some variable takes its value from."""
    return {source for reference in references(fields) for source in SOURCES.get(reference.name, ())}


def _images(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: fields[name] for name in IMAGES if name in fields}
