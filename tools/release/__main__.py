"""Fill dist/: `make release`. With anything that is missing or wrong it says so, and dist/ stays as it was."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from . import gitops, images, packages, provenance, sbom, source, sums
from .process import Refusal

ROOT = Path(__file__).resolve().parents[2]


def main(argv: Sequence[str]) -> int:
    """Make the release of this checkout; return the exit code."""
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("--base", default="", help="the image with python3 that images are made from, NAME@DIGEST")
    parser.add_argument("--registry", required=True, help="where the images will be, for gitops/")
    parser.add_argument("--without-images", action="store_true", help="leave dist/images out")
    args = parser.parse_args(argv)
    os.umask(0o022)
    try:
        commit = source.read(ROOT)
        if not args.without_images:
            images.require(args.base)
        with tempfile.TemporaryDirectory(prefix="krmfn-release-") as scratch:
            _fill(commit, Path(scratch), args)
    except Refusal as refusal:
        sys.stderr.write(f"no release: {refusal}\n")
        return 1
    return 0


def _fill(commit: source.Source, scratch: Path, args: argparse.Namespace) -> None:
    tree, out = scratch / "tree", scratch / "dist"
    for folder in (tree, out):
        folder.mkdir()
    source.export(commit, tree)
    sdist, wheel = packages.build(commit, tree, scratch, out)
    sdk = packages.build_sdk(commit, tree, out)
    bill = sbom.of_wheel(commit, tree, wheel, scratch, out)
    files = [sdist, wheel, sdk, bill, *gitops.write(commit, tree, out, args.registry)]
    subjects = {path.name: sums.digest(path) for path in files}
    statement = provenance.statement(commit, tree, subjects, {"registry": args.registry})
    files.append(provenance.write(out / f"krmfn-{commit.version}.intoto.json", statement))
    sums.write(out, "SHA256SUMS", files)
    if not args.without_images:
        images.build(commit, tree, scratch, out / "images", args.base)
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    shutil.move(out, ROOT / "dist")
    for path in sorted((ROOT / "dist").iterdir()):
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
