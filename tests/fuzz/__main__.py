"""`python -m tests.fuzz [TARGET ...]`: fuzz each target for some seconds, and print what came of it."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.commands import ROOT, environment

NAMES = ("streams", "kustomizations", "lists", "edits", "schemas", "daemonsets")
"""The targets that are fuzzed unless others are named."""
OF_SERVERS = ("schemas", "daemonsets")
"""Those that start an API server, which has 90 seconds to come up (`STARTS_WITHIN` of tests/e2e/kube.py)."""
SERVERS = ("kube-apiserver", "etcd")
READERS = "readers"
"""The program with the real readers (`tests.fuzz.readers`, which only the children import)."""
_COVERAGE = re.compile(r"cov: (\d+)")
_SHOWN = 1_000
"""How many characters of an input, and of each line of what was seen, are printed."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument(
        "targets", nargs="*", default=NAMES, metavar="TARGET", help=f"{', '.join(NAMES)} (default: all)"
    )
    parser.add_argument("--seconds", type=float, default=60, help="for each target (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default: 1)")
    parser.add_argument("--without-seeds", action="store_true", help="begin with nothing instead of tests/fuzz/corpus")
    parser.add_argument("--plain", action="store_true", help="without atheris")
    options = parser.parse_args()
    if not shutil.which(READERS):
        print(f"{READERS} is not on PATH, so nothing is fuzzed: tests/e2e/fuzzer/build makes it with Go")
        return 2
    missing = [name for name in SERVERS if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")]
    if missing and any(name in OF_SERVERS for name in options.targets):
        print(f"{' and '.join(missing)} not on PATH, so nothing is fuzzed: tests/e2e/install puts them there")
        return 2
    engine = "coverage" if options.plain or not importlib.util.find_spec("atheris") else "atheris"
    print("guided by coverage, by atheris" if engine == "atheris" else "no atheris here: not guided by coverage")
    codes = [_fuzz(name, engine, options) for name in options.targets]
    return max(codes)


def _fuzz(name: str, engine: str, options: argparse.Namespace) -> int:
    folder = ROOT / "build" / "fuzz" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    seeds = "no" if options.without_seeds else "yes"
    arguments = [name, str(folder), str(options.seconds), str(options.seed), seeds, engine]
    # In memory, for thousands of small folders; etcd's files are larger than that memory is in containers.
    memory = "/dev/shm" if name not in OF_SERVERS and os.access("/dev/shm", os.W_OK) else None
    with (folder / "log").open("w") as log, tempfile.TemporaryDirectory(prefix="krmfn-fuzz-", dir=memory) as temporary:
        tools = {"PYTHONPATH": str(ROOT / "tools")}  # as pytest has it, for what tests/e2e imports
        command = [sys.executable, "-m", "tests.fuzz.child", *arguments]
        code = subprocess.run(
            command, cwd=ROOT, env=environment(TMPDIR=temporary, **tools), stdout=log, stderr=log, check=False
        ).returncode
    log_text = (folder / "log").read_text(errors="replace")
    written = folder / "numbers.json"
    numbers = json.loads(written.read_text()) if written.exists() else {}
    edges = _COVERAGE.findall(log_text)
    covered = f"{edges[-1]} edges" if edges else f"{numbers.get('coverage', 0):,} lines"
    executions, seconds = numbers.get("executions", 0), numbers.get("seconds", 0) or 1
    print(
        f"{name}: {executions:,} executions, {executions / seconds:.0f}/s, {covered} covered, "
        f"{numbers.get('taken by krmfn', 0):,} taken by krmfn, {numbers.get('findings', 0)} findings"
    )
    for path in sorted(folder.glob("*.seen")):
        text = path.with_suffix(".txt")
        seen = path.read_text(errors="replace").splitlines()
        print(f"  {seen[0]}: {text.relative_to(Path.cwd())}")
        print(f"    {text.read_bytes()[:_SHOWN]!r}")  # a log is often all that is left of a run
        print("\n".join(f"    {line[:_SHOWN]}" for line in seen[1:]))
    if code or not executions:
        print("\n".join([f"  it ended with {code}:", *log_text.splitlines()[-15:]]))
    return int(bool(code or not executions or numbers.get("findings")))


if __name__ == "__main__":
    sys.exit(main())
