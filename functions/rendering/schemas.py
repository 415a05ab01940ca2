"""The files in `schemas/`: inside the package in a wheel, at the top of the repository in a checkout."""

from __future__ import annotations

import json
import os
from functools import cache

from krmfn.schema import Schema

_HERE = os.path.dirname(__file__)  # os.path: pathlib costs a tenth of the start-up time  # noqa: PTH120


@cache
def schema(name: str) -> Schema:
    """Return the schema `schemas/<name>.schema.json`."""
    return Schema(json.loads(text(f"{name}.schema.json")))


def text(file: str) -> str:
    """Return the text of `schemas/<file>`."""
    package = os.path.dirname(_HERE)  # noqa: PTH120
    installed = os.path.join(package, "schemas")  # noqa: PTH118
    folder = installed if os.path.isdir(installed) else os.path.join(package, os.pardir, "schemas")  # noqa: PTH112, PTH118
    with open(os.path.join(folder, file), encoding="utf-8") as source:  # noqa: PTH118, PTH123
        return source.read()
