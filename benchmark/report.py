"""From samples to the table: medians of ratios taken pair by pair, and whether the target is met."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from cases import ROWS, Row
from measure import Sample

HEADER = (
    "case",
    "ours, min / median",
    "peer, min / median",
    "ratio",
    "our peak / input",
    "target",
    "",
)


@dataclass(frozen=True)
class Measured:
    """The samples of one run, in the order of the rounds, and the size of its input."""

    samples: list[Sample]
    size: int

    @property
    def seconds(self) -> list[float]:
        return [sample.seconds for sample in self.samples]

    @property
    def peak(self) -> float:
        return max(sample.peak for sample in self.samples) / self.size


Runs = dict[str, Measured]
"""What was measured in one run of the benchmark, by the keys of its programs."""


def worst(row: Row, all_runs: Sequence[Runs]) -> tuple[Runs, float | None]:
    """Return the run of several in which a row came out worst, and its ratio there."""
    values = [(value, runs) for runs in all_runs if (value := ratio(row, runs)) is not None]
    if not values:
        return all_runs[0], None
    value, runs = (min if row.sign == ">=" else max)(values, key=lambda pair: pair[0])
    return runs, value


def ratio(row: Row, runs: Runs) -> float | None:
    if any(key and key not in runs for key in (row.ours, row.other)):
        return None
    if row.sign == "peak":
        return runs[row.ours or row.other].peak
    if row.sign == "s":
        return median(runs[row.ours].seconds)
    pairs = zip(runs[row.ours].seconds, runs[row.other].seconds, strict=False)
    return median(other / ours if row.sign == ">=" else ours / other for ours, other in pairs)


def verdict(row: Row, value: float | None) -> str:
    if row.target is None or value is None:
        return "" if value is not None else "not measured"
    met = value >= row.target if row.sign == ">=" else value <= row.target
    return "met" if met else "**missed**"


def markdown(all_runs: Sequence[Runs], reasons: dict[str, str]) -> Iterator[str]:
    """Yield the lines of the table, each row from the run in which it came out worst."""
    yield f"| {' | '.join(HEADER)} |"
    yield "|---|" + "--:|" * (len(HEADER) - 2) + "---|"
    for row in ROWS:
        runs, value = worst(row, all_runs)
        if row.ours in runs or row.other in runs:
            yield f"| {' | '.join(_cells(row, runs, value))} |"
    yield ""
    yield from (f"* not measured: {key}: {reason}" for key, reason in reasons.items())


def page(all_runs: Sequence[Runs], shape: str, rounds: int) -> Iterator[str]:
    """Yield the lines of the page of numbers between its marks: the worst of several runs, and the peers' own times."""
    number = f"{rounds} round{'s' if rounds > 1 else ''}"
    text = f"Measured on {shape}. Run {len(all_runs)} times on the idle machine, {number} each; "
    yield f"{text}each row is from the run in which it came out worst, and has the medians of that run's rounds:"
    yield ""
    yield "| case | ours | peer | ratio | target |"
    yield "|---|--:|--:|--:|---|"
    for row in ROWS:
        runs, value = worst(row, all_runs)
        if value is not None:
            cells = list(_cells(row, runs, value))
            times = [cell.rpartition(" / ")[2] for cell in cells[1:3]]
            target = f"{cells[5]} {cells[6]}" if cells[6] else "-"
            yield f"| {cells[0]} | {times[0]} | {times[1]} | {cells[3]} | {target} |"


def _cells(row: Row, runs: Runs, value: float | None) -> Iterator[str]:
    unit = {">=": "x faster", "<=": "x as long", "peak": "x the input", "s": " s"}[row.sign]
    yield row.case
    yield _times(runs.get(row.ours))
    yield _times(runs.get(row.other))
    yield "-" if value is None else f"{value:.3g}{unit}"
    yield _peak(runs.get(row.ours))
    yield (
        "-"
        if row.target is None
        else f"{'>=' if row.sign == '>=' else '<='} {row.target:g}{' s' if row.sign == 's' else 'x'}"
    )
    yield verdict(row, value)


def _times(run: Measured | None) -> str:
    return "-" if run is None else f"{_time(min(run.seconds))} / {_time(median(run.seconds))}"


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


def _peak(run: Measured | None) -> str:
    """Below a megabyte of input the interpreter's own memory is all one sees."""
    return "-" if run is None or run.size < 1_000_000 else f"{run.peak:.2f}x"


def machine(python: Path) -> str:
    version = subprocess.run([str(python), "--version"], capture_output=True, text=True, check=False).stdout.strip()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    system = f"{platform.system()} {platform.machine()}"
    return f"{date.today()}; {cores} cores, {memory:.0f} GiB RAM, {system}, {version}, {_go_version()}"


def _go_version() -> str:
    if not shutil.which("go"):
        return "no Go"
    output = subprocess.run(["go", "version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"go(\d\S*)", output)
    return f"Go {version[1]}" if version else "Go of unknown version"


def as_json(all_runs: Sequence[Runs], reasons: dict[str, str], shape: str) -> dict[str, Any]:
    rows = [(row, worst(row, all_runs)[1]) for row in ROWS]
    return {
        "machine": shape,
        "rows": [
            {"case": row.case, "ours": row.ours, "other": row.other, "sign": row.sign, "target": row.target}
            | {"ratio": value, "verdict": verdict(row, value)}
            for row, value in rows
        ],
        "runs": [
            {
                key: {
                    "input_bytes": run.size,
                    "seconds": run.seconds,
                    "peak_bytes": [sample.peak for sample in run.samples],
                }
                for key, run in runs.items()
            }
            for runs in all_runs
        ],
        "not_measured": reasons,
    }
