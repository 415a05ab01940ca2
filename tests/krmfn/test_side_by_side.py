"""docs/sdk.md shows a function in Go and here: the Go is that of the benchmark, and so are the numbers."""

from __future__ import annotations

import re
from pathlib import Path

REPO = Path(__file__).parents[2]
SECTION = (REPO / "docs/sdk.md").read_text(encoding="utf-8").partition("## The same function in go/fn and here")[2]
SECTION = SECTION.partition("\n## ")[0]


def test_the_go_function_is_the_benchmark_s() -> None:
    (code,) = re.findall(r"(?s)```text\n(.*?)```", SECTION)
    assert code in (REPO / "benchmark/peers/gofn/main.go").read_text(encoding="utf-8")


def test_the_numbers_are_those_that_were_measured() -> None:
    measured = (REPO / "docs/internals/numbers.md").read_text(encoding="utf-8")
    numbers = re.findall(r"\| ([\d.]+ m?s|[\d.]+x the input)", SECTION)
    assert len(numbers) >= 6
    assert [number for number in numbers if f"| {number} |" not in measured] == []
