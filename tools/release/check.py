"""Make the release of this commit in two clones that have nothing in common, and compare: `make release-check`."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from . import source
from .process import Refusal, output

ROOT = Path(__file__).resolve().parents[2]


class Clone(NamedTuple):
    """A clone, and what surrounds `make release` in it."""

    name: str
    umask: int
    changed: str
    """When its files were changed for the last time."""
    environment: Mapping[str, str]


CLONES = (
    Clone("clone", 0o002, "2001-02-03 04:05:06", {"TZ": "UTC", "LC_ALL": "C.UTF-8"}),
    Clone(
        *("other/one", 0o077, "2021-12-31 23:59:59"),
        {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "7", "SOURCE_DATE_EPOCH": "1"},
    ),
)


def main(argv: Sequence[str]) -> int:
    """Return 0 when both clones make the same; `argv` are variables for `make release`."""
    try:
        commit = source.read(ROOT).commit
        with tempfile.TemporaryDirectory(prefix="krmfn-check-") as scratch:
            differences = list(compare(*(_release(clone, Path(scratch), argv) for clone in CLONES)))
    except Refusal as refusal:
        sys.stderr.write(f"not checked: {refusal}\n")
        return 1
    for difference in differences:
        sys.stderr.write(f"{difference}\n")
    if not differences:
        sys.stdout.write(f"{commit}: the same bytes from two clones\n")
    return bool(differences)


def _release(clone: Clone, scratch: Path, variables: Sequence[str]) -> Path:
    """Return the dist/ that a new clone has made."""
    folder = scratch / clone.name
    former = os.umask(clone.umask)
    try:
        output("git", "clone", "--quiet", ROOT, folder)
        touch = ("-exec", "touch", "--no-dereference", "--date", clone.changed, "{}", "+")
        output("find", folder, "-path", folder / ".git", "-prune", "-o", *touch)
        output("make", "release", *variables, cwd=folder, env=os.environ | clone.environment)
    finally:
        os.umask(former)
    return folder / "dist"


def compare(first: Path, second: Path) -> Iterator[str]:
    """Yield a line for each file that only one folder has or that is not the same."""
    sides = [
        {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} for folder in (first, second)
    ]
    if not sides[0]:
        yield "nothing was made"
    for name in sorted(sides[0].keys() | sides[1].keys()):
        if name not in sides[0] or name not in sides[1]:
            yield f"{name}: only one clone makes it"
        elif sides[0][name] != sides[1][name]:
            yield f"{name}: differs"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
