"""Files and folders that are written all or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from krmfn.typed import NamedTuple

from . import deadline, files


class Written(NamedTuple):
    """What was written so far."""

    folders: list[Path]
    files: list[Path]

    def make(self, folder: Path) -> None:
        """Make a folder, with those above it, unless it is there. Raises OSError."""
        for path in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
            path.mkdir()
            self.folders.append(path)

    def write(self, path: Path, text: bytes) -> None:
        """Write a file. Raises KrmfnError as `files.write` does."""
        self.files.append(path)
        files.write(str(path), text)


@contextmanager
def all_or_nothing() -> Iterator[Written]:
    """Yield what notes each file and folder; they are removed again where the block raises."""
    deadline.finish()
    written = Written([], [])
    try:
        yield written
    except BaseException:
        with suppress(OSError):
            for path in written.files:
                path.unlink(missing_ok=True)
            for path in reversed(written.folders):
                path.rmdir()
        raise
