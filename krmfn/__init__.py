"""An SDK for KRM functions: lossless, fast, hard to misuse.

1. Write a function that takes a ResourceList.
2. `select` the resources it works on; read each one's `manifest`.
3. `report` what is wrong with them, as results; with an error nothing else happens.
4. `upsert` what should be there, `prune` what should no longer be.
5. Hand it to `main`, and kustomize and kpt can run it; hand it to `run`, and a test can.
"""

from .errors import KrmfnError
from .item import Item
from .resource import Manifest, Place, Ref
from .resourcelist import ResourceList
from .results import Field, Result, error, info, warning
from .runner import Function, main, run

__all__ = [
    "Field",
    "Function",
    "Item",
    "KrmfnError",
    "Manifest",
    "Place",
    "Ref",
    "ResourceList",
    "Result",
    "error",
    "info",
    "main",
    "run",
    "warning",
]
