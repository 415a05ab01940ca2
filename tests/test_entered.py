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


@pytest.mark.parametrize("args", [["check", SMALLEST], ["render", SMALLEST], []], ids=["check", "render", "function"])
def test_what_the_smallest_example_enters_is_counted(args: list[str]) -> None:
    seen = entered(args, b"" if args else folder_text(ROOT / SMALLEST))
    assert {"krmfn/item.py", "functions/rendering/pipeline.py"} <= {*seen.files}
    assert seen.functions > len(seen.files)
    assert seen.depth > 1


def test_a_run_that_finds_its_output_writes_nothing() -> None:
    done, code = run(krmfn, LIST)
    assert code == 0
    assert "krmfn/writer.py" not in entered(stdin=done).files


def test_a_run_that_adds_its_output_writes_it_too() -> None:
    assert {"krmfn/writer.py", "krmfn/yamltext/emit.py"} <= {*entered(stdin=LIST).files}
