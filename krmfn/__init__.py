"""An SDK for KRM functions: lossless, fast, hard to misuse.

1. Write a function that takes a ResourceList, and a dataclass for its functionConfig.
2. `where` gives the resources it works on; `item[path]`, `item.each(pattern)` read and write their fields.
3. `report` what is wrong with them, as results; with an error nothing else happens.
4. `append`, `remove`, `upsert` resources; `own` what the function makes from a resource.
5. `@function` makes a program of it, for kustomize and kpt, and a value with `run`, for a test.
"""

import sys
from functools import partial
from types import ModuleType

from .errors import KrmfnError, Refused
from .item import Item
from .resource import Manifest, Place, Ref
from .resourcelist import ResourceList
from .results import Field, Result, error, info, warning
from .runner import Function, main, run
from .typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .config import Doc, Rest
    from .fields import ItemField
    from .patterns import field_spec
    from .program import KrmFunction, Run, function
    from .texts import parse_all
    from .yamltext.edit import parse

__all__ = ["Doc", "Field", "Function", "Item", "ItemField", "KrmFunction", "KrmfnError", "Manifest", "Place", "Ref"]
__all__ += ["Refused", "ResourceList", "Rest", "Result", "Run", "error", "field_spec", "function", "info", "main"]
__all__ += ["parse", "parse_all", "run", "warning"]


def _late(name: str, _: ModuleType) -> Any:
    """Return a name that a function without a config does not need: it costs time to load."""
    from importlib import import_module

    return getattr(import_module(f".{_LATE[name]}", __name__), name)


# Properties, since a module's __getattr__ is called for each submodule that is imported, too.
_LATE = {
    "Doc": "config",
    "Rest": "config",
    "ItemField": "fields",
    "parse": "yamltext.edit",
    "parse_all": "texts",
    "field_spec": "patterns",
}
_LATE |= dict.fromkeys(("KrmFunction", "Run", "function"), "program")
_PROPERTIES = {name: property(partial(_late, name)) for name in _LATE}
sys.modules[__name__].__class__ = type("Package", (ModuleType,), _PROPERTIES)
