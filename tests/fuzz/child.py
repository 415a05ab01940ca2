"""Fuzzes one target in this process until its time is over; what it finds goes into files (see `__main__`)."""

from __future__ import annotations

import hashlib
import importlib
import json
import random
import re
import shutil
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .findings import Finding

MOST = 40
"""How many findings of one property are made small and written; the others are counted."""
_TRIES = 300
_PUMPED = 400
"""Of so many inputs one is made larger and larger."""


class Run:
    """A target, and what came of it so far."""

    def __init__(self, name: str, folder: Path, seconds: float, seed: int, with_seeds: bool) -> None:
        from . import corpus, mutate, targets, work
        from .findings import Finding, Refused
        from .readers import PROGRAM, Readers

        self.target, self.folder, self.seconds = targets.TARGETS[name], folder, seconds
        self.readers = Readers(shutil.which(PROGRAM) or PROGRAM)
        self.finding, self.refused, self.work = Finding, Refused, work
        self.seeds = [seed.text for seed in corpus.seeds(name)] if with_seeds else []
        self.rng = random.Random(seed)
        self.mutator = mutate.Mutator(name, self.rng, self.seeds)
        self.numbers: Counter[str] = Counter()
        self.known: set[str] = set()
        self.started = self.written = time.monotonic()

    def attempt(self, text: bytes) -> None:
        """Try an input; note what is found."""
        self.numbers["executions"] += 1
        try:
            self.target.run(text, self.readers)
            self.numbers["taken by krmfn"] += 1
        except self.refused:
            pass
        except self.finding as finding:
            self._note(finding, text)
        if self.numbers["executions"] % _PUMPED == 0 and text:
            self._pump(text)
        if time.monotonic() - self.written > 1:
            self.write()

    def _pump(self, text: bytes) -> None:
        cuts = [0, *(match.end() for match in re.finditer(rb"\n|[ ,]", text)), len(text)]
        at = self.rng.randrange(len(cuts) - 1)
        end = min(at + self.rng.choice((1, 1, 2, 4)), len(cuts) - 1)
        start, stop = (cuts[at], cuts[end]) if self.rng.random() < 0.7 else (cuts[at], cuts[at] + 1)
        if not text[start:stop]:
            return
        try:
            self.work.check(self.target.work, text[:start], text[start:stop], text[stop:])
        except self.finding as finding:
            finding.seen["before"], finding.seen["after"] = text[:start], text[stop:]
            self._note(finding, text, small=False)

    def _note(self, finding: Finding, text: bytes, small: bool = True) -> None:
        self.numbers[finding.rule] += 1
        if self.numbers[finding.rule] > MOST:
            return
        # at once, since libFuzzer may end this process before the input is small
        first = self._write(finding, text, "unfinished-")
        if small and finding.rule != "ends":
            text, finding = self._smallest(finding, text)
        for path in first:
            path.unlink()
        words = re.sub(r"[0-9A-Za-z_./]+", "w", text.decode(errors="replace"))
        shape = f"{finding.rule} {finding.seen.get('at', words)}"  # the same lines of krmfn, or the same signs
        if shape in self.known:
            return
        self.known.add(shape)
        self._write(finding, text)

    def _write(self, finding: Finding, text: bytes, prefix: str = "") -> tuple[Path, Path]:
        """Write an input and what was seen of it; return the two files."""
        name = prefix + re.sub(r"\W+", "-", finding.rule) + "-" + hashlib.sha256(text).hexdigest()[:8]
        files = self.folder / f"{name}.txt", self.folder / f"{name}.seen"
        files[0].write_bytes(text)
        seen = "".join(f"{key}:\n  {value!r}\n" for key, value in finding.seen.items())
        files[1].write_text(f"{finding.rule}\n{seen}", errors="backslashreplace")
        return files

    def _smallest(self, finding: Finding, text: bytes) -> tuple[bytes, Finding]:
        """Return a smaller input with the same finding: without lines, then without characters."""
        tries = _TRIES
        for parts in (text.splitlines(keepends=True), None):
            units: list[Any] = parts if parts is not None else list(text.decode(errors="surrogateescape"))
            step = max(len(units) // 2, 1)
            while tries > 0:
                at = 0
                while at < len(units) and tries > 0:
                    less = [*units[:at], *units[at + step :]]
                    shorter = b"".join(less) if parts is not None else "".join(less).encode(errors="surrogateescape")
                    tries -= 1
                    smaller = self._again(finding, shorter)
                    if smaller:
                        units, text, finding = less, shorter, smaller
                    else:
                        at += step
                if step == 1:
                    break
                step //= 2
        return text, finding

    def _again(self, finding: Finding, text: bytes) -> Finding | None:
        try:
            self.target.run(text, self.readers)
        except self.finding as other:
            return other if other.rule == finding.rule else None
        except self.refused:
            pass
        return None

    def write(self) -> None:
        """Write how far it is."""
        self.written = time.monotonic()
        numbers = {**self.numbers, "findings": len(self.known), "seconds": self.written - self.started}
        (self.folder / "numbers.json").write_text(json.dumps(numbers))

    def plainly(self) -> None:
        """Try the seeds, then inputs of the mutator, until the time is over."""
        for text in self.seeds:
            self.attempt(text)
        while time.monotonic() - self.started < self.seconds:
            self.attempt(self.mutator.input())


def main() -> None:
    name, folder, seconds, seed, seeds, engine = sys.argv[1:]
    if engine == "atheris":
        atheris: Any = importlib.import_module("atheris")
        with atheris.instrument_imports(include=["krmfn", "krmfn_functions"]):
            run = Run(name, Path(folder), float(seconds), int(seed), seeds == "yes")

        def mutated(data: bytes, most: int, number: int) -> bytes:
            run.rng.seed(number)
            if run.rng.random() < 0.2:
                return bytes(atheris.Mutate(data, most))
            is_changed = data.strip() and run.rng.random() < 0.7
            return (run.mutator.changed(data) if is_changed else run.mutator.input())[:most]

        corpus = Path(folder, "inputs")
        corpus.mkdir(exist_ok=True)
        for text in run.seeds:
            (corpus / hashlib.sha256(text).hexdigest()).write_bytes(text)
        options = [
            f"-max_total_time={int(float(seconds))}",
            f"-seed={int(seed) or 1}",
            "-max_len=16384",
            "-timeout=120",
            f"-artifact_prefix={folder}/",
        ]
        atheris.Setup([name, str(corpus), "-rss_limit_mb=0", *options], run.attempt, custom_mutator=mutated)
        atheris.Fuzz()
    else:
        import coverage

        measured = coverage.Coverage(data_file=None, source_pkgs=["krmfn", "krmfn_functions"], config_file=False)
        measured.start()
        run = Run(name, Path(folder), float(seconds), int(seed), seeds == "yes")
        try:
            run.plainly()
        finally:
            measured.stop()
            data = measured.get_data()
            run.numbers["coverage"] = sum(len(data.lines(file) or ()) for file in data.measured_files())
            run.write()
            run.readers.close()


if __name__ == "__main__":
    main()
