"""Rendered folders that are written anew: what the last run wrote there goes, and nothing else.

What that was stands in the kustomization.yaml that `render` writes. It counts only byte for byte as it was written, and
a name in it only as one of a regular file in the folder itself: it may have been committed by anybody. The folder of a
run's results is new, empty, or written by an earlier run, and reached by no link.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import stat
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from krmfn.errors import KrmfnError
from krmfn.item import Item

from . import files, output

RESULT = "result.json"
"""The file that says who has written a folder of results."""
_STAGE = ".krmfn-"
_NAME = re.compile(r"- ([A-Za-z0-9_-][A-Za-z0-9._-]*\.yaml)")


def replace_folders(items_by_folder: Mapping[str, Sequence[Item]], root: str | None = None) -> None:
    """Write into each folder a file per object and a kustomization.yaml, in place of what the last run wrote.

    Nothing is changed unless everything can be: raises KrmfnError for a folder that holds a file of somebody else's
    under a name that is to be written, or no kustomization.yaml of ours, and for links.
    """
    texts = {folder: output.texts_of(items) for folder, items in items_by_folder.items()}
    for folder in texts:
        _listed(folder, root)
    with ExitStack() as stack:
        for folder in sorted(texts):  # all runs in one order, or two would wait for each other
            stack.enter_context(_held(Path(folder)))
        listed = {folder: _listed(folder, root) for folder in texts}
        old = {folder: names for folder, names in listed.items() if names is not None}
        for folder, names in old.items():
            _check(folder, texts[folder], names)
        output.write_texts({folder: text for folder, text in texts.items() if folder not in old}, root)
        stages = {folder: stack.enter_context(_staged(folder, texts[folder])) for folder in old}
        for folder, stage in stages.items():
            _swap(Path(folder), Path(stage), texts[folder], old[folder])


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Keep other runs from writing into a folder, which is made when it is not there, until the block ends.

    Where the file system has no locks it is a folder like any other. What was made goes again when the block fails.
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    with files.said_of(folder):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    except BaseException:
        with suppress(OSError):
            for path in made:
                path.rmdir()
        raise
    finally:
        os.close(descriptor)


def left_behind(above: str, written: Iterable[str]) -> list[str]:
    """Return the folders in `above` that an earlier run wrote and this one did not: their cluster is gone."""
    kept = {os.path.realpath(folder) for folder in written}
    return [folder for folder in written_in(above) if os.path.realpath(folder) not in kept]


def written_in(above: str) -> list[str]:
    """Return the folders that an earlier run wrote: `above` itself, clusters in it, and stages of it or of clusters."""
    if not Path(above).is_dir():
        return []
    inner = _folders_in(above)
    every = (above, *inner, *(stage for cluster in inner for stage in _folders_in(cluster)))
    return [folder for folder in every if _ours(Path(folder)) is not None]


def _folders_in(above: str) -> list[str]:
    """Return the folders in a folder, but for those of another run that writes there (see `_staged`)."""
    folders = (entry.path for entry in os.scandir(above) if entry.is_dir(follow_symlinks=False))
    return sorted(path for path in folders if not os.path.basename(path).startswith(_STAGE))  # noqa: PTH119


def _ours(folder: Path) -> list[str] | None:
    """Return the files that the kustomization.yaml in a folder lists; None unless `render` wrote it, byte for byte.

    It counts as a regular file only, and not as a link.
    """
    path = folder / output.KUSTOMIZATION
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        text = files.read_regular(str(path), str(path)).decode()
    except (OSError, ValueError):
        return None
    names = [match[1] for line in text.splitlines() if (match := _NAME.fullmatch(line))]
    return names if text.encode() == output.kustomization(names) else None


def _listed(folder: str, root: str | None) -> list[str] | None:
    """Return the files that the last run wrote into a folder; None for a folder that is not there, or empty.

    Raises KrmfnError for a folder that was not written by `render`, or is a link.
    """
    files.check_named(folder, root)
    path = Path(folder)
    if path.is_symlink():
        raise KrmfnError(f"{folder} is a link; --replace removes files only from folders")
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return None
    names = _ours(path)
    if names is None or output.KUSTOMIZATION in names:
        raise KrmfnError(
            f"{folder} is not empty, and its {output.KUSTOMIZATION} was not written by render; nothing is removed: "
            "pass a new folder, or empty this one"
        )
    return names


def _check(folder: str, texts: Iterable[str], names: Sequence[str]) -> None:
    """Raise KrmfnError for a listed name that is no regular file, and for a new one that is somebody else's file."""
    for name in names:
        path = Path(folder, name)
        if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
            raise KrmfnError(f"{path} is not a file, so render did not write it; nothing is removed")
    for name in {*texts} - {*names, output.KUSTOMIZATION}:
        if os.path.lexists(Path(folder, name)):
            raise KrmfnError(
                f"{folder}/{name} already exists, and is not listed in {output.KUSTOMIZATION}; it is not overwritten"
            )


def _staged(folder: str, texts: Mapping[str, bytes]) -> tempfile.TemporaryDirectory[str]:
    """Write the files into a folder of their own within `folder`, where a failure changes nothing."""
    with files.said_of(folder), ExitStack() as stack:
        made = tempfile.TemporaryDirectory(prefix=_STAGE, dir=folder)
        stack.callback(made.cleanup)
        for name, text in texts.items():
            Path(made.name, name).write_bytes(text)
        stack.pop_all()
    return made


def _swap(folder: Path, stage: Path, texts: Mapping[str, bytes], names: Sequence[str]) -> None:
    """Move the new files over the old ones, and remove those that are no more.

    Until that is done kustomization.yaml lists both, so that a run after an interrupted one still knows them.
    """
    both = dict.fromkeys([*names, *(name for name in texts if name != output.KUSTOMIZATION)])
    with files.said_of(folder):
        files.write(str(folder / output.KUSTOMIZATION), output.kustomization(list(both)))
        for name in both:
            if name in texts:
                (stage / name).replace(folder / name)
            else:
                (folder / name).unlink(missing_ok=True)
        (stage / output.KUSTOMIZATION).replace(folder / output.KUSTOMIZATION)


def clear(name: str, names: Collection[str], format_: str) -> None:
    """Remove what an earlier run has written into a folder, so that none of it is taken for this one's.

    `names` are the files of a run, and `format_` stands in RESULT. Raises KrmfnError for a folder that holds anything
    else, and for one that is reached by a link: who commits a link would choose what is overwritten.
    """
    folder = Path.cwd() / name
    for path in (folder, *folder.parents):
        if path.is_symlink():
            raise KrmfnError(f"--out {name}: {path} is a link; pass {folder.resolve()} if that is meant")
    with files.said_of(f"--out {name}"):
        there = sorted(folder.iterdir(), key=lambda path: (path.name == RESULT, path.name)) if folder.exists() else []
        is_ours = bool(there) and _is_result(there[-1], format_)
        for path in there:
            if not is_ours or path.name not in names or path.is_symlink() or not path.is_file():
                raise KrmfnError(
                    f"--out {name} holds {path.name}, which `krmfn ci` has not written; pass a new or an empty folder"
                )
        for path in there:  # RESULT last: it says whose the others are
            path.unlink()


def _is_result(path: Path, format_: str) -> bool:
    """Return True for a RESULT that a run has written."""
    try:
        document = json.loads(files.read_named(str(path))) if path.name == RESULT else None
    except (KrmfnError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("format") == format_
