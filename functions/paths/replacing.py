"""Replace rendered folders: remove the files that the last run wrote there, and no others.

The kustomization.yaml that `render` writes lists these files. Anybody may have committed one, so it is trusted only if
it is byte for byte what `render` writes, and only for regular files in its own folder. The folder of a run's results is
new, empty, or written by an earlier run, and no link leads to it.
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
"""The file by which a folder of results is known as written by krmfn."""
_STAGE = ".krmfn-"
_NAME = re.compile(r"- ([A-Za-z0-9_-][A-Za-z0-9._-]*\.yaml)")


def replace_folders(items_by_folder: Mapping[str, Sequence[Item]], root: str | None = None) -> None:
    """Write a file per object and a kustomization.yaml into each folder, and remove what the last run wrote there.

    Raises KrmfnError, before anything is changed, for a folder in which another file has a name that is to be written,
    for one that is not empty and has no kustomization.yaml of ours, and for links.
    """
    texts = {folder: output.texts_of(items) for folder, items in items_by_folder.items()}
    for folder in texts:
        _old_names(folder, root)
    with ExitStack() as stack:
        for folder in sorted(texts):  # all runs lock in one order, or two could wait for each other
            stack.enter_context(_lock(Path(folder)))
        listings = {folder: _old_names(folder, root) for folder in texts}
        names_by_folder = {folder: names for folder, names in listings.items() if names is not None}
        for folder, names in names_by_folder.items():
            _check(folder, texts[folder], names)
        output.write_texts({folder: text for folder, text in texts.items() if folder not in names_by_folder}, root)
        stages = {folder: stack.enter_context(_stage(folder, texts[folder])) for folder in names_by_folder}
        for folder, stage in stages.items():
            _swap(Path(folder), Path(stage), texts[folder], names_by_folder[folder])


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Make a folder if it is missing, and lock it during the block, so that no other run writes into it.

    Some file systems have no locks; there it is not locked. New folders are removed when the block fails.
    """
    folders = [path for path in (folder, *folder.parents) if not path.exists()]
    with files.errors_of(folder):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    except BaseException:
        with suppress(OSError):
            for path in folders:
                path.rmdir()
        raise
    finally:
        os.close(descriptor)


def stale_folders(parent: str, new_folders: Iterable[str]) -> list[str]:
    """Return the folders in `parent` that an earlier run wrote and this one did not: their clusters are gone."""
    current = {os.path.realpath(folder) for folder in new_folders}
    return [folder for folder in rendered_folders(parent) if os.path.realpath(folder) not in current]


def rendered_folders(parent: str) -> list[str]:
    """Return the folders that an earlier run wrote: `parent` itself, its clusters, and the stages of all these."""
    if not Path(parent).is_dir():
        return []
    inner = _folders_in(parent)
    folders = (parent, *inner, *(stage for cluster in inner for stage in _folders_in(cluster)))
    return [folder for folder in folders if _listed_names(Path(folder)) is not None]


def _folders_in(parent: str) -> list[str]:
    """Return the folders in a folder, without the temporary ones of a run that writes there (see `_stage`)."""
    folders = (entry.path for entry in os.scandir(parent) if entry.is_dir(follow_symlinks=False))
    return sorted(path for path in folders if not os.path.basename(path).startswith(_STAGE))  # noqa: PTH119


def _listed_names(folder: Path) -> list[str] | None:
    """Return the files that the kustomization.yaml in a folder lists; None unless `render` wrote it, byte for byte.

    It must be a regular file, not a link.
    """
    path = folder / output.KUSTOMIZATION
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        text = files.read_regular(str(path), str(path)).decode()
    except (OSError, ValueError):
        return None
    matches = map(_NAME.fullmatch, text.splitlines())
    names = [match[1] for match in matches if match]
    return names if text.encode() == output.kustomization(names) else None


def _old_names(folder: str, root: str | None) -> list[str] | None:
    """Return the files that the last run wrote into a folder; None for a folder that is missing or empty.

    Raises KrmfnError for a folder that was not written by `render`, or is a link.
    """
    files.check_named(folder, root)
    path = Path(folder)
    if path.is_symlink():
        raise KrmfnError(f"{folder} is a link; --replace removes files only from folders")
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return None
    names = _listed_names(path)
    if names is None or output.KUSTOMIZATION in names:
        raise KrmfnError(
            f"{folder} is not empty, and its {output.KUSTOMIZATION} was not written by render; nothing is removed: "
            "pass a new folder, or empty this one"
        )
    return names


def _check(folder: str, texts: Iterable[str], names: Sequence[str]) -> None:
    """Raise KrmfnError for one of the old `names` that is no regular file, and for a new name that is in use."""
    for name in names:
        path = Path(folder, name)
        if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
            raise KrmfnError(f"{path} is not a file, so render did not write it; nothing is removed")
    for name in {*texts} - {*names, output.KUSTOMIZATION}:
        if os.path.lexists(Path(folder, name)):
            raise KrmfnError(
                f"{folder}/{name} already exists, and is not listed in {output.KUSTOMIZATION}; it is not overwritten"
            )


def _stage(folder: str, texts: Mapping[str, bytes]) -> tempfile.TemporaryDirectory[str]:
    """Write the files into a temporary folder inside of `folder`; a failure changes nothing else."""
    with files.errors_of(folder), ExitStack() as stack:
        stage = tempfile.TemporaryDirectory(prefix=_STAGE, dir=folder)
        stack.callback(stage.cleanup)
        for name, text in texts.items():
            Path(stage.name, name).write_bytes(text)
        stack.pop_all()
    return stage


def _swap(folder: Path, stage: Path, texts: Mapping[str, bytes], names: Sequence[str]) -> None:
    """Move the new files over the old ones, whose `names` are given, and remove the other old ones.

    Meanwhile kustomization.yaml lists both, so that the run after an interrupted one knows them all.
    """
    all_names = dict.fromkeys([*names, *(name for name in texts if name != output.KUSTOMIZATION)])
    with files.errors_of(folder):
        files.write(str(folder / output.KUSTOMIZATION), output.kustomization(list(all_names)))
        for name in all_names:
            if name in texts:
                (stage / name).replace(folder / name)
            else:
                (folder / name).unlink(missing_ok=True)
        (stage / output.KUSTOMIZATION).replace(folder / output.KUSTOMIZATION)


def clear(name: str, names: Collection[str], format_: str) -> None:
    """Remove the files that an earlier run has written into a folder, so that none is taken for one of this run.

    `names` are the files that a run may write; RESULT must have the format `format_`. Raises KrmfnError for a folder
    that holds anything else, and for a path with a link: whoever commits a link would choose what is overwritten.
    """
    folder = Path.cwd() / name
    for path in (folder, *folder.parents):
        if path.is_symlink():
            raise KrmfnError(f"--out {name}: {path} is a link; pass {folder.resolve()} if that is meant")
    with files.errors_of(f"--out {name}"):
        paths = sorted(folder.iterdir(), key=lambda path: (path.name == RESULT, path.name)) if folder.exists() else []
        is_ours = bool(paths) and _is_result(paths[-1], format_)
        for path in paths:
            if not is_ours or path.name not in names or path.is_symlink() or not path.is_file():
                raise KrmfnError(
                    f"--out {name} holds {path.name}, which `krmfn ci` has not written; pass a new or an empty folder"
                )
        for path in paths:  # RESULT last: until then it says that the others are ours
            path.unlink()


def _is_result(path: Path, format_: str) -> bool:
    """Return True for a RESULT that a run has written."""
    try:
        document = json.loads(files.read_named(str(path))) if path.name == RESULT else None
    except (KrmfnError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("format") == format_
