"""Is an output what it should be? Run as a process of its own, so that the measuring process stays small."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

TOUCHED = b"benchmark.example.com/touched: "


def items(path: Path) -> list[bytes]:
    """The items of a ResourceList in the layout that kyaml writes, each as its lines."""
    return list(_items(path.read_bytes().splitlines(keepends=True)))


def _items(lines: list[bytes]) -> Iterator[bytes]:
    listed, start = False, None
    for number, line in enumerate(lines):
        if line[:1] in (b" ", b"#", b"\n"):
            continue
        if start is not None:
            yield b"".join(lines[start:number])
        begins = line.startswith(b"- ")
        listed = listed if begins else line.startswith(b"items:")
        start = number if begins and listed else None
    if start is not None:
        yield b"".join(lines[start:])


def problem(arguments: argparse.Namespace) -> str | None:
    received, written = items(arguments.source), items(arguments.target)
    touched = sum(TOUCHED in item for item in written)
    if len(written) != arguments.items:
        return f"{len(written)} items instead of {arguments.items}"
    if touched != arguments.touched:
        return f"{touched} touched items instead of {arguments.touched}"
    if arguments.keeps == "document" and arguments.source.read_bytes() != arguments.target.read_bytes():
        return "the output differs from the input"
    if arguments.keeps == "items" and (changed := _changed(received, written)):
        return f"{changed} items are not the bytes that came in"
    return None


def _changed(received: list[bytes], written: list[bytes]) -> int:
    """Items that differ by more than the one line that touching adds."""
    return sum(old != new and old != _untouched(new) for old, new in zip(received, written, strict=False))


def _untouched(item: bytes) -> bytes:
    return b"".join(line for line in item.splitlines(keepends=True) if TOUCHED not in line)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--items", type=int, required=True)
    parser.add_argument("--touched", type=int, default=0)
    parser.add_argument("--keeps", choices=("count", "items", "document"), default="count")
    message = problem(parser.parse_args())
    if message:
        print(message)
    return 1 if message else 0


if __name__ == "__main__":
    sys.exit(main())
