"""What a person has to have open to follow one simple run. The numbers may only fall."""

from __future__ import annotations

import pytest
from entered import entered
from krmfn_functions.all_kinds import krmfn

from krmfn import run
from tests.builders import folder_text
from tests.commands import ROOT
from tests.small_lists import HEAD, OURS

LIST = (HEAD + OURS).encode()
SMALLEST = "examples/smallest"


@pytest.mark.parametrize(
    ("args", "files", "functions", "depth"),
    [(["check", SMALLEST], 55, 359, 27), (["render", SMALLEST], 55, 367, 27), ([], 40, 290, 24)],
    ids=["check", "render", "function"],
)
def test_the_smallest_example_enters_no_more(args: list[str], files: int, functions: int, depth: int) -> None:
    seen = entered(args, b"" if args else folder_text(ROOT / SMALLEST))
    assert "krmfn/item.py" in seen.files
    assert "functions/rendering/pipeline.py" in seen.files
    assert len(seen.files) <= files, seen.files
    assert seen.functions <= functions
    assert seen.depth <= depth


def test_a_run_that_finds_its_output_enters_few_files_of_the_sdk() -> None:
    done, code = run(krmfn, LIST)
    assert code == 0
    files = [file for file in entered(stdin=done).files if file.startswith("krmfn/")]
    assert "krmfn/resourcelist.py" in files
    assert len(files) <= 15, files  # krmfn.typed, which stands in for typing, is one of them


def test_a_run_that_adds_its_output_writes_it_too() -> None:
    assert {"krmfn/writer.py", "krmfn/yamltext/emit.py"} <= {*entered(stdin=LIST).files}
