"""The YAML files of a folder as resources, and back: what is not touched keeps its bytes.

Files and names are those of kpt (kyaml's LocalPackageReadWriter): `*.yaml`, `*.yml` and Kptfiles; a new resource
without a path goes to NAMESPACE/KIND_NAME.yaml.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath

from .annotations import INDEX, PATH
from .errors import KrmfnError, Refused
from .item import Item
from .resource import Place
from .typed import NamedTuple
from .yamltext import documents, edit, lineends, load, split

__all__ = ["Part", "changed_texts", "functionconfig", "joined", "read", "write"]

_IGNORE = ".krmignore"
_LEGACY = ("config.kubernetes.io/path", "config.kubernetes.io/index")
"""The older names of kpt's annotations."""
_STAGE = ".krmfn-new"
_BEHIND = (b"\n", b"\r", b" ", b"\t")
"""What may come directly behind `---`."""


class Part(NamedTuple):
    """What stands between two lines `---` of a file, the rest of the first of them included."""

    text: bytes
    item: Item | None
    """The resource in it; None for comments alone, and for a document that is no resource."""
    line: int
    is_nothing: bool
    """True for blanks and comments alone."""


def read(root: Path) -> tuple[dict[str, list[Part]], list[str]]:
    """Return the parts of each YAML file below a folder, by the file's path, and what is left alone: `a.yaml:3`.

    That are documents that are no resource, and links. Hidden names are left out. Raises KrmfnError, with the file and
    the line, for a file that is no YAML or that readers divide differently, for a List, whose resources no function
    would see, and for a folder with a .krmignore, whose patterns are not read here.
    """
    if not root.is_dir():
        raise KrmfnError(f"{root} is no folder; pass one")
    files: dict[str, list[Part]] = {}
    left_alone: list[str] = []
    for folder, names, leaves in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith("."))
        links = [Path(folder, name) for name in names if Path(folder, name).is_symlink()]
        left_alone += [path.relative_to(root).as_posix() for path in links]
        for leaf in sorted(leaves):
            path = Path(folder, leaf)
            if leaf == _IGNORE:
                raise KrmfnError("its patterns are not read here; run the function with `kpt fn eval`", file=str(path))
            name = path.relative_to(root).as_posix()
            if _is_read(leaf) and path.is_symlink():
                left_alone.append(name)
            elif _is_read(leaf):
                files[name] = list(_parts(path, name))
                _check_lists(name, files[name])
                left_alone += [f"{name}:{part.line}" for part in files[name] if not part.item and not part.is_nothing]
    return files, left_alone


def _check_lists(name: str, parts: Iterable[Part]) -> None:
    """Raise KrmfnError for a part that is a List of resources."""
    for part in parts:
        if part.item and part.item.kind.endswith("List") and isinstance(part.item["items"], list):
            problem = f"the resources in a {part.item.kind} are not read: write each as a document of its own"
            raise KrmfnError(problem, file=name, line=part.line)


def _is_read(name: str) -> bool:
    return not name.startswith(".") and (name.endswith((".yaml", ".yml")) or name == "Kptfile")


def _parts(path: Path, name: str) -> Iterator[Part]:
    """Yield the parts of a file."""
    try:
        data = path.read_bytes()
    except OSError as failure:
        raise KrmfnError(f"cannot be read: {failure.strerror}", file=name) from failure
    try:
        split.check_encoding(data)
    except KrmfnError as failure:
        failure.located(name)
        raise
    if problem := documents.misread(data):
        raise problem.located(name)
    position = 0
    for document in documents.parts(data):
        place = Place(name, position, document.line)
        item = Item(document.text, 0, len(document.text), -2, split.is_simple(document.text), place)
        is_one = not document.is_nothing and _is_resource(item)
        yield Part(document.text, item if is_one else None, document.line, document.is_nothing)
        position += is_one


def _is_resource(item: Item) -> bool:
    """Return True for a document with apiVersion and kind. Raises KrmfnError, with file and line, for no YAML."""
    place = item.file or Place()
    load.placed(partial(load.read, item.text), lambda: place.line - 1, place.path)
    return bool(item.api_version and item.kind)


def functionconfig(path: str | None) -> Item | None:
    """Return the functionConfig in a file, None without one. Raises KrmfnError for no single mapping."""
    if path is None:
        return None
    parts = [part for part in _parts(Path(path), path) if not part.is_nothing]
    item = parts[0].item if len(parts) == 1 else None
    if item is None:
        raise KrmfnError("a functionConfig is one resource; this file holds another number, or none", file=str(path))
    return item


def changed_texts(files: Mapping[str, list[Part]], items: Iterable[Item]) -> dict[str, bytes | None]:
    """Return the texts of the files that differ now, by path; None for a file whose last resource went.

    Raises KrmfnError for a path that leads out of the folder or that a later run would not read.
    """
    kept = {id(item): item for item in items}
    olds = {id(part.item): name for name, parts in files.items() for part in parts if part.item}
    news: dict[str, list[bytes]] = {}
    stay = set[int]()
    for key, item in kept.items():
        target = _target(item)
        if olds.get(key) == target:
            stay.add(key)
        else:
            news.setdefault(target, []).append(_without_break(_document(item)))
    texts: dict[str, bytes | None] = {}
    for name in {**files, **news}:
        parts = files.get(name, [])
        before, after = joined([part.text for part in parts]), _after(parts, stay, news.get(name, ()))
        if after != before or not parts:
            texts[name] = lineends.of_file(before, after) or None
    return texts


def _target(item: Item) -> str:
    """Return the file in which an item belongs. Raises KrmfnError for one that is not below the folder."""
    path = item.path or f"{item.namespace}/{item.kind.lower()}_{item.name}.yaml".lstrip("/")
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts:
        raise Refused(f"its path {path} leads out of the folder; give it one below the folder", item, f"{item.ref}: ")
    if not _is_read(pure.name) or any(part.startswith(".") for part in pure.parts):
        advice = "end it in .yaml, and hide no folder"
        raise Refused(f"no later run would read its path {path}; {advice}", item, f"{item.ref}: ")
    return pure.as_posix()


def _after(parts: list[Part], stay: set[int], news: Iterable[bytes]) -> bytes:
    """Return the text of a file with the resources that stay and the new ones; b"" when none is left in it."""
    texts = [
        _document(part.item, part.text) if part.item and part.item.is_edited else part.text
        for part in parts
        if part.item is None or id(part.item) in stay
    ]
    others = [text for text in texts if not documents.is_nothing(text, 0, len(text))]
    if not others and not news:
        return b"" if any(part.item for part in parts) else joined(texts)
    if parts and parts[0].item and id(parts[0].item) not in stay and texts:
        texts[0] = _without_break(texts[0])
    for text in news:
        if texts:
            texts[-1] = edit.with_line_end(texts[-1], -2)
        texts.append(b"\n" + text if texts else text)
    return joined(texts)


def joined(texts: Iterable[bytes]) -> bytes:
    """Return a file of its parts."""
    return b"---".join(texts)


def _without_break(text: bytes) -> bytes:
    """Return what stood behind a line `---` as it is without that."""
    return text.removeprefix(b"\r").removeprefix(b"\n")


def _document(item: Item, before: bytes = b"") -> bytes:
    """Return an item as a document without kpt's annotations; behind `---` it begins as it did `before`."""
    text = item.document
    document = Item(text, 0, len(text), -2)
    notes = [key for key in (PATH, INDEX, *_LEGACY) if key in document.annotations]
    for key in notes:
        del document.annotations[key]
    if notes and not document.annotations and document.at("metadata.annotations").exists:
        del document["metadata.annotations"]
    text = document.document
    return b"\n" + text if before[:1] in _BEHIND and text[:1] not in _BEHIND else text


def write(root: Path, texts: Mapping[str, bytes | None]) -> None:
    """Write files below a folder, None removes one: each under another name first, so that all are there or none.

    Raises KrmfnError when one cannot be written; nothing has changed then.
    """
    stages: dict[Path, Path] = {}
    folders: list[Path] = []
    try:
        for name, text in texts.items():
            path = root / name
            _check_inside(root, path)
            for folder in reversed([folder for folder in path.parents if not folder.exists()]):
                folder.mkdir()
                folders.append(folder)
            if text is not None:
                stage = path.with_name(path.name + _STAGE)
                with stage.open("xb") as file:
                    stages[path] = stage
                    file.write(text)
                if path.exists():
                    stage.chmod(path.stat().st_mode & 0o777)
    except BaseException as failure:
        _take_back([*stages.values()], folders)
        if not isinstance(failure, OSError):
            raise
        advice = "; remove it: a run that was killed left it" if isinstance(failure, FileExistsError) else ""
        raise KrmfnError(f"{failure.filename} cannot be written: {failure.strerror}{advice}") from failure
    for path, stage in stages.items():
        stage.replace(path)
    for name, text in texts.items():
        if text is None:
            (root / name).unlink()


def _take_back(stages: Iterable[Path], folders: list[Path]) -> None:
    """Remove the files and folders that a write which failed has made."""
    for stage in stages:
        with suppress(OSError):
            stage.unlink()
    for folder in reversed(folders):
        with suppress(OSError):
            folder.rmdir()


def _check_inside(root: Path, path: Path) -> None:
    """Raise KrmfnError when a link leads out of the folder, or stands where a file is to be written."""
    if path.is_symlink() or root.resolve() not in path.resolve().parents:
        raise KrmfnError(f"{path} is a link, or behind one; remove the link")
