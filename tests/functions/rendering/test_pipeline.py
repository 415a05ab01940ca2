"""The order of the pipeline's stages, as its one function has them."""

from __future__ import annotations

import ast
from itertools import groupby
from pathlib import Path
from types import ModuleType

from krmfn_functions.rendering import pipeline


def test_no_stage_of_the_pipeline_is_returned_to() -> None:
    """A stage is a module that `pipeline.run` names; they are taken in the order of its lines."""
    run = next(
        node
        for node in ast.parse(Path(pipeline.__file__).read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name == "run"
    )
    names = [node for node in ast.walk(run) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    lines = sorted((name.lineno, name.col_offset, name.id) for name in names)
    stages = [
        name for name, _ in groupby(name for *_, name in lines if isinstance(getattr(pipeline, name, None), ModuleType))
    ]
    assert len(stages) >= 8
    assert len(stages) == len(set(stages)), stages
