"""Measure krmfn and its peers in one run, alternating, as whole processes; print the table. See README.md."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import catalog
import report
from cases import GROUPS, Group, Run
from measure import Failed, Sample, measure
from programs import CACHE, HERE, Programs, fresh_python, gather

RUNS, IDLE = 3, 1.0
"""How many runs a page quotes at least, and the load of a machine (runnable processes) that counts as idle."""
MARKS = {
    "": ("<!-- benchmark: begin (from `make bench RUNS=3`) -->", "<!-- benchmark: end -->"),
    "fleet": ("<!-- fleet: begin (from `make bench RUNS=3 CASE=fleet`) -->", "<!-- fleet: end -->"),
}
"""The marks of a page, between which the numbers of a whole run stand, or those of a group that is run when asked."""


class Bench:
    """Samples and failures of all runs so far. It holds no outputs: this process has to stay small."""

    def __init__(self, programs: Programs) -> None:
        self.programs = programs
        self.samples: dict[str, list[Sample]] = defaultdict(list)
        self.reasons: dict[str, str] = {}
        self.broken = False
        self.approved: set[tuple[str, str]] = set()

    def group(self, group: Group, rounds: int, left_out: set[str]) -> None:
        runs = [run for run in group.runs if run.key not in left_out and self._possible(run)]
        for number in range(rounds * group.repeat):
            for run in runs if number % 2 == 0 else reversed(runs):
                for _ in range(run.often):
                    if run.key not in self.reasons:
                        self._measure(run)
            if number % group.repeat == group.repeat - 1:
                print(f"{group.name}: round {number // group.repeat + 1} of {rounds}", file=sys.stderr)

    def warm_up(self, runs: tuple[Run, ...], sources: Iterable[Path]) -> None:
        """Have bytecode written and inputs in the page cache, with nothing left to write, before anything counts.

        A virtual machine may be given memory when it first uses it, too: what takes much is run once for that.
        """
        os.sync()
        for source in sources:
            if source.is_file():
                _digest(source)
        for run in runs:
            if self._possible(run):
                self._measure(run)
        self.samples.clear()

    def measured(self) -> dict[str, report.Measured]:
        sources = {run.key: CACHE / run.source for group in GROUPS for run in group.runs}
        return {
            key: report.Measured(samples, _size(sources[key]))
            for key, samples in self.samples.items()
            if key not in self.reasons
        }

    def _possible(self, run: Run) -> bool:
        reason = self.programs.missing.get(run.program)
        if not reason and not (CACHE / run.source).exists():
            reason = f"its input {run.source} could not be made"
        if reason:
            self.reasons[run.key] = reason
        return not reason

    def _measure(self, run: Run) -> None:
        source = str(CACHE / run.source)
        command = [
            *self.programs.commands[run.program],
            *(argument.format(source=source) for argument in run.arguments),
        ]
        target = CACHE / "output.yaml"
        try:
            sample = measure(command, CACHE / run.source, target, run.exit, run.clock)
            sample = Sample(sample.seconds / run.per, sample.peak)
            self._approve(run, target)
        except Failed as failure:
            self.reasons[run.key] = str(failure)
            self.broken = True
            print(f"FAILED: {run.key}: {failure}", file=sys.stderr)
        else:
            self.samples[run.key].append(sample)

    def _approve(self, run: Run, target: Path) -> None:
        """Look at an output once; the same bytes from the same run need no second look."""
        fingerprint = (run.key, _digest(target))
        if fingerprint in self.approved:
            return
        self.approved.add(fingerprint)
        for text, number in run.holds:
            with target.open("rb") as lines:  # line by line: this process has to stay small
                actual = sum(text.encode() in line for line in lines)
            if actual != number:
                raise Failed(f"{text!r} stands in {actual} lines of the output instead of {number}")
        if run.items is None:
            return
        look = [sys.executable, str(HERE / "sane.py"), str(CACHE / run.source), str(target), "--keeps", run.keeps]
        look += ["--items", str(run.items), "--touched", str(run.touched)]
        done = subprocess.run(look, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(done.stdout.strip() or done.stderr.strip().splitlines()[-1])


def _size(source: Path) -> int:
    """Return the bytes of a file, or of all files in a folder, but for what Git keeps in a folder below."""
    files = [file for file in source.iterdir() if file.is_file()] if source.is_dir() else [source]
    return sum(file.stat().st_size for file in files)


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 16):
            digest.update(block)
    return digest.hexdigest()


def inputs(programs: Programs, groups: Sequence[Group]) -> None:
    """All inputs; the peers' input of the `many` case is what we generate from ours."""
    if any(group.name == "fleet" for group in groups):
        subprocess.run([sys.executable, str(HERE / "fleets.py"), str(CACHE)], check=True)
    if any(group.name == "catalog" for group in groups):
        catalog.generate(CACHE / "catalog")
    if any(group.name == "edits" for group in groups):
        catalog.generate_edits(CACHE / "catalog")
    if all(group.only_by_name for group in groups):
        return
    subprocess.run([sys.executable, str(HERE / "generate.py"), str(CACHE)], check=True)
    generated = CACHE / "many-generated.yaml"
    generated.unlink(missing_ok=True)
    if "deviceconfig" in programs.commands:
        try:
            measure(programs.commands["deviceconfig"], CACHE / "many.yaml", generated)
        except Failed as failure:
            generated.unlink()
            print(f"FAILED: generating the output of 1,000 DeviceConfigs: {failure}", file=sys.stderr)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of every case (default: 5)")
    parser.add_argument("--quick", action="store_true", help="two rounds, without the naive PyYAML peer")
    parser.add_argument("--case", action="append", choices=[group.name for group in GROUPS], help="only this group")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="interpreter that has krmfn")
    parser.add_argument("--bin", type=Path, help="the deviceconfig command (default: beside the interpreter)")
    parser.add_argument("--fresh", action="store_true", help="install the working tree into a new venv and measure it")
    parser.add_argument("--json", type=Path, help="write rows and samples to this file too")
    parser.add_argument("--runs", type=int, default=1, help="measure all this often, and keep the worst of each row")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the table between the marks of this page")
    options = parser.parse_args()
    if options.write and (options.runs < RUNS or options.quick or _part(options) not in MARKS):
        parser.error(f"a page quotes the worst of {RUNS} runs at least, whole or of --case fleet: --runs {RUNS}")
    if options.write and os.getloadavg()[0] > IDLE:
        parser.error(f"a page quotes an idle machine; here the load is {os.getloadavg()[0]:.1f}, not below {IDLE}")
    return options


def _part(options: argparse.Namespace) -> str:
    """Return the group that is measured; "" for all that are not asked for."""
    return " ".join(options.case or ())


def main() -> int:
    options = arguments()
    CACHE.mkdir(exist_ok=True)
    python = fresh_python() if options.fresh else options.python
    programs = gather(python, options.bin or python.with_name("deviceconfig"))
    groups = [group for group in GROUPS if (group.name in options.case if options.case else not group.only_by_name)]
    inputs(programs, groups)

    shape = f"{report.machine(python)}, load {os.getloadavg()[0]:.1f} before"
    rounds = 2 if options.quick else options.rounds
    benches = []
    for number in range(options.runs):
        if options.runs > 1:
            print(f"run {number + 1} of {options.runs}", file=sys.stderr)
        bench = Bench(programs)
        sources = dict.fromkeys(CACHE / run.source for group in groups for run in group.runs)
        bench.warm_up(groups[0].runs[:1] if all(group.only_by_name for group in groups) else GROUPS[-1].runs, sources)
        for group in groups:
            bench.group(group, rounds, {"naive touch"} if options.quick else set())
        benches.append(bench)
    return _report(options, benches, shape, rounds)


def _report(options: argparse.Namespace, benches: Sequence[Bench], shape: str, rounds: int) -> int:
    """Print the table and write what was asked for; return the exit code."""
    all_runs = [bench.measured() for bench in benches]
    reasons = {key: reason for bench in benches for key, reason in bench.reasons.items()}
    print(f"{shape}\n", *report.markdown(all_runs, reasons), sep="\n")
    if options.json:
        written = report.as_json(all_runs, reasons, shape)
        options.json.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    broken = any(bench.broken for bench in benches)
    if options.write and not broken:
        first, last = MARKS[_part(options)]
        before, begin, rest = options.write.read_text(encoding="utf-8").partition(first)
        _, end, after = rest.partition(last)
        lines = "\n".join(report.page(all_runs, shape, rounds))
        options.write.write_text(f"{before}{begin}\n{lines}\n{end}{after}", encoding="utf-8")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
