"""A function on the files of a folder: `python function.py DIR`, without kpt or kustomize.

What changed is written all at once, or nothing is.
"""

import argparse
import difflib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from . import config, editing, package
from .errors import KrmfnError
from .item import Item
from .package import Part
from .printing import counted, some
from .resource import Manifest, Place
from .resourcelist import ResourceList
from .results import Result, error
from .runner import call, guarded, report
from .streams import Log, write
from .typed import Any, NoReturn

__all__ = ["main", "trial"]


def main(function: Any, args: list[str]) -> NoReturn:
    """Run a function on the folder that the arguments name; exit with 0, 1 for an error, 2 for wrong arguments."""
    guarded(partial(_work, function, _arguments(function, args)))


def _work(function: Any, options: argparse.Namespace, log: Log, stdout: int) -> int:
    """Run a function on the folder; return the exit code."""
    if not options.config and config.is_required(function):
        raise KrmfnError(f"the functionConfig is missing; pass a file with {config.expected(function)} by --config")
    root = Path(options.folder)
    try:
        files, left_alone = package.read(root)
        config_item = package.functionconfig(options.config)
    except KrmfnError as failure:
        log.findings([_unread(failure)])
        return _failed(log, root)
    items = (part.item for parts in files.values() for part in parts if part.item)
    resources = ResourceList(items, config_item.manifest if config_item else None)
    call(function, resources)
    texts = _texts(files, resources)
    log.findings(_with_place(result, config_item) for result in resources.results)
    if left_alone:
        names = some(left_alone, len(left_alone))
        log.say(f"left as they are (a link, or no apiVersion and kind): {names}")
    if resources.failed:
        return _failed(log, root)
    if options.dry_run:
        write(stdout, ["".join(_diffs(files, texts)).encode()])
        log.say(f"{counted(len(texts), 'file')} would change")
        return 0
    package.write(root, texts)
    for name in sorted(texts):
        log.say(f"{'removed' if texts[name] is None else 'wrote'} {name}")
    return 0


def trial(function: Any, root: Path, config_manifest: Manifest | None) -> tuple[ResourceList, bytes]:
    """Run a function on a folder in which nothing is written; return the list, and its bytes.

    What `main` refuses is an error of the list, which is then as it was read.
    """
    try:
        files, _ = package.read(root)
    except KrmfnError as failure:
        resources = ResourceList((), config_manifest)
        resources.report(_unread(failure))
        return resources, b""
    parts = [part for some_parts in files.values() for part in some_parts]
    resources, output = ResourceList((part.item for part in parts if part.item), config_manifest), b""
    call(function, resources)
    try:
        if not resources.failed:
            output = resources.to_bytes()
            package.changed_texts(files, resources.items)
    except KrmfnError as failure:
        report(resources, failure)
    if not resources.failed:
        return resources, output
    originals = (Item(part.text, 0, len(part.text), -2, file=part.item.file) for part in parts if part.item)
    untouched = ResourceList(originals, config_manifest)
    untouched.report(resources.results)
    return untouched, untouched.to_bytes()


def _unread(failure: KrmfnError) -> Result:
    """Return the finding about a folder or file that cannot be read."""
    return error(failure.sentence, place=Place(failure.file, 0, failure.line))


def _failed(log: Log, root: Path) -> int:
    """Say that nothing was written; return the exit code."""
    log.say(f"nothing was written to {root}", "error")
    return 1


def _with_place(result: Result, config_item: Item | None) -> Result:
    """Return a finding with its place, where it is about the functionConfig."""
    return config_item.located(result) if config_item and result.ref == config_item.ref and not result.place else result


def _arguments(function: Any, args: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=function.name, description=function.doc, allow_abbrev=False, add_help=False)
    parser.add_argument("folder", metavar="DIR", help="the folder whose YAML files are read and written")
    parser.add_argument("--dry-run", action="store_true", help="print a diff; write nothing")
    parser.add_argument("--config", metavar="FILE", help="the functionConfig")
    return parser.parse_args(args)


def _texts(files: Mapping[str, list[Part]], resources: ResourceList) -> dict[str, bytes | None]:
    """Return the texts of changed files; what cannot be written becomes an error of the list."""
    if resources.failed:
        return {}
    try:
        editing.carry(resources)
        return package.changed_texts(files, resources.items)
    except KrmfnError as failure:
        report(resources, failure)
        return {}


def _diffs(files: Mapping[str, list[Part]], texts: Mapping[str, bytes | None]) -> Iterator[str]:
    """Yield the lines of a unified diff of all files, as `git apply` takes it."""
    for name, text in sorted(texts.items()):
        before = package.joined(part.text for part in files.get(name, ())).decode().splitlines(keepends=True)
        after = (text or b"").decode().splitlines(keepends=True)
        names = (f"a/{name}" if name in files else "/dev/null", "/dev/null" if text is None else f"b/{name}")
        for line in difflib.unified_diff(before, after, *names):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
