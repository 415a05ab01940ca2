"""What `init` writes: all of it or nothing."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..paths import deadline, files


def write_new(new: Sequence[tuple[str, bytes]]) -> None:
    """Write files and the folders they stand in; remove them again where one cannot be written."""
    deadline.finish()
    folders: list[Path] = []
    begun: list[Path] = []
    try:
        for name, text in new:
            folder = Path(name).parent
            with files.errors_of(folder):
                for parent in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
                    parent.mkdir()
                    folders.append(parent)
            begun.append(Path(name))
            files.write(name, text)
    except BaseException:
        with suppress(OSError):
            for path in begun:
                path.unlink(missing_ok=True)
            for folder in reversed(folders):
                folder.rmdir()
        raise
