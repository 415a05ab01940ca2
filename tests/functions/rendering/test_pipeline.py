"""The order of the pipeline's stages, as its one function has them."""

from __future__ import annotations

import ast
from itertools import groupby
from pathlib import Path
from types import ModuleType

from krmfn_functions.rendering import pipeline


def test_no_stage_of_the_pipeline_is_returned_to() -> None:
    """A stage is a module that `pipeline.run` and its `_judge` name; they are taken in the order of their lines."""
    module = ast.parse(Path(pipeline.__file__).read_text(encoding="utf-8"))
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name in ("run", "_judge")]
    parts = [part for function in functions for part in function.body]
    names = [node for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)]
    lines = sorted((name.lineno, name.col_offset, name.id) for name in names if isinstance(name.ctx, ast.Load))
    stages = [
        name for name, _ in groupby(name for *_, name in lines if isinstance(getattr(pipeline, name, None), ModuleType))
    ]
    assert len(stages) >= 8
    assert len(stages) == len(set(stages)), stages
