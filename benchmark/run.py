"""Measure krmfn and its peers in one run, alternating, as whole processes; print the table. See README.md."""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import report
from cases import GROUPS, Group, Run
from measure import Failed, Sample, measure
from programs import CACHE, HERE, Programs, fresh_python, gather


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
                if run.key not in self.reasons:
                    self._measure(run)
            if number % group.repeat == group.repeat - 1:
                print(f"{group.name}: round {number // group.repeat + 1} of {rounds}", file=sys.stderr)

    def warm_up(self, runs: tuple[Run, ...]) -> None:
        """Bytecode written and files in the page cache, before anything counts."""
        for run in runs:
            if self._possible(run):
                self._measure(run)
        self.samples.clear()

    def measured(self) -> dict[str, report.Measured]:
        sources = {run.key: CACHE / run.source for group in GROUPS for run in group.runs}
        return {
            key: report.Measured(samples, sources[key].stat().st_size)
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
        command = [*self.programs.commands[run.program], *run.arguments]
        target = CACHE / "output.yaml"
        try:
            sample = measure(command, CACHE / run.source, target, run.exit)
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
        if run.items is None or fingerprint in self.approved:
            return
        look = [sys.executable, str(HERE / "sane.py"), str(CACHE / run.source), str(target), "--keeps", run.keeps]
        look += ["--items", str(run.items), "--touched", str(run.touched)]
        done = subprocess.run(look, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(done.stdout.strip() or done.stderr.strip().splitlines()[-1])
        self.approved.add(fingerprint)


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
    if all(group.asked for group in groups):
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
    return parser.parse_args()


def main() -> int:
    options = arguments()
    CACHE.mkdir(exist_ok=True)
    python = fresh_python() if options.fresh else options.python
    programs = gather(python, options.bin or python.with_name("deviceconfig"))
    wanted = [group for group in GROUPS if (group.name in options.case if options.case else not group.asked)]
    inputs(programs, wanted)

    bench = Bench(programs)
    bench.warm_up(() if all(group.asked for group in wanted) else GROUPS[-1].runs)
    for group in wanted:
        bench.group(group, 2 if options.quick else options.rounds, {"naive touch"} if options.quick else set())

    shape = report.machine(python)
    print(f"{shape}\n", *report.markdown(bench.measured(), bench.reasons), sep="\n")
    if options.json:
        written = report.as_json(bench.measured(), bench.reasons, shape)
        options.json.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    return 1 if bench.broken else 0


if __name__ == "__main__":
    sys.exit(main())
