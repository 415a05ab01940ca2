"""Rendered folders with a folder for each stage in which their objects are applied."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from krmfn.errors import KrmfnError
from krmfn.item import Item

from ..paths import output
from ..program import Program


def split(program: Program, items_by_folder: Mapping[str, Sequence[Item]]) -> dict[str, list[Item]]:
    """Return what each stage's folder holds; every stage has one, since Flux prunes nothing of a folder that is gone.

    Raises KrmfnError for a program without stages, and for a folder written without them: its files would stay.
    """
    if not program.stage_of:
        raise KrmfnError(f"{program.name} knows no stages to split by")
    contents: dict[str, list[Item]] = {}
    for folder, items in items_by_folder.items():
        if os.path.lexists(Path(folder, output.KUSTOMIZATION)):
            raise KrmfnError(f"{folder} was written without --split; remove it, or name another folder")
        contents |= {str(Path(folder, stage)): [] for stage in program.stages}
        for item in items:
            contents[str(Path(folder, program.stage_of(item)))].append(item)
    return contents
