"""What a person has to have open to follow one simple run."""

from __future__ import annotations

from entered import entered
from krmfn_functions.all_kinds import krmfn

from krmfn import run
from tests.small_lists import HEAD, OURS

LIST = (HEAD + OURS).encode()


def test_a_run_that_finds_its_output_enters_few_files_of_the_sdk() -> None:
    done, code = run(krmfn, LIST)
    assert code == 0
    files = [file for file in entered(done) if file.startswith("krmfn/")]
    assert "krmfn/resourcelist.py" in files
    assert len(files) <= 14, files


def test_a_run_that_adds_its_output_writes_it_too() -> None:
    assert {"krmfn/writer.py", "krmfn/yamltext/emit.py"} <= {*entered(LIST)}
