"""The generators of an ApplicationSet: for each Application that it makes, the parameters of its template.

Source: Argo CD 3.2, applicationset/generators, and docs/operator-manual/applicationset. What cannot be known from the
repository (clusters, pull requests, plugins) gives one row whose destination is unknown.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from krmfn import Manifest
from krmfn.typed import Any, NamedTuple

from ..kmm.lookup import table, tables, text, texts
from . import names, patterns
from .deployment import Repository
from .templates import filled

Choices = Sequence[tuple[str, bool]]
"""Patterns, each with whether what it matches is left out."""
_TEMPLATE = re.compile(r"\{\{[^{}]*\}\}")
_MOST = 5000
"""How many rows are made of one generator; of a larger product nobody reads the rest."""


class Row(NamedTuple):
    """The parameters of one Application."""

    parameters: Mapping[str, Any]
    unknown: str = ""
    """Which clusters or values these are, where the repository does not say it."""


def rows(
    generator: Manifest, repository: Repository, is_go: bool, former: Mapping[str, Any] | None = None
) -> list[Row]:
    """Return the rows of a generator; `former` are parameters of the one before it in a matrix."""
    entries = list(_rows(generator, repository, is_go, former or {}))[:_MOST]
    if "selector" in generator:
        return [row._replace(unknown=row.unknown or "those that a selector of the generator leaves") for row in entries]
    return entries


def _rows(generator: Manifest, repository: Repository, is_go: bool, former: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the rows of a generator without its selector."""
    if "list" in generator:
        yield from _of_list(table(generator, "list"))
    elif "git" in generator:
        yield from _of_git(table(generator, "git"), repository, is_go, former)
    elif "matrix" in generator:
        yield from _of_matrix(table(generator, "matrix"), repository, is_go)
    elif "merge" in generator:
        yield from _of_merge(table(generator, "merge"), repository, is_go)
    elif "clusters" in generator:
        yield Row({"values": table(generator, "clusters", "values")}, _clusters(table(generator, "clusters")))
    else:
        kind = next((key for key in generator if key not in ("selector", "template")), "generator without a kind")
        yield Row({}, f"whatever the generator {kind} gives")


def _clusters(generator: Manifest) -> str:
    """Return which clusters a cluster generator is about, in words."""
    selector = table(generator, "selector")
    labels = [f"{key}={value}" for key, value in table(selector, "matchLabels").items()]
    labels += [text(expression, "key") for _, expression in tables(selector, "matchExpressions")]
    return f"{names.EVERY['argocd']}{' with ' + ', '.join(labels) if labels else ''}"


def _of_list(generator: Manifest) -> Iterator[Row]:
    if "elementsYaml" in generator:
        yield Row({}, "the elements that elementsYaml gives")
    for _, element in tables(generator, "elements"):
        yield Row(element)


def _of_git(generator: Manifest, repository: Repository, is_go: bool, former: Mapping[str, Any]) -> Iterator[Row]:
    """Yield a row per folder or file that a Git generator matches; one of another repository is not known."""
    if not repository.is_ours(text(generator, "repoURL")):
        yield Row({}, f"what is in {text(generator, 'repoURL')}")
        return
    folders = [entry for _, entry in tables(generator, "directories")]
    entries = folders or [entry for _, entry in tables(generator, "files")]
    filled_in = [(filled(text(entry, "path"), former, is_go), entry.get("exclude") is True) for entry in entries]
    choices = [(pattern, is_excluded) for pattern, is_excluded in filled_in if pattern is not None]
    if len(choices) < len(entries):
        yield Row({}, f"the {'folders' if folders else 'files'} of a template")
        return
    prefix, values = text(generator, "pathParamPrefix"), _values(generator)
    if folders:
        for folder in repository.folders:
            if _is_chosen(folder, choices, patterns.of_folders):
                yield Row(_of_path(folder, prefix) | values)
        return
    for file, content in _contents(repository, choices):
        place = _of_path(posixpath.dirname(file) or ".", prefix, posixpath.basename(file))
        yield Row({**content, **place, **values})


def _contents(repository: Repository, choices: Choices) -> Iterator[tuple[str, Manifest]]:
    """Yield each object in the files that are chosen, in the order of their paths."""
    for file in sorted(repository.parameters):
        if _is_chosen(file, choices, patterns.of_files):
            yield from ((file, content) for content in repository.parameters[file])


def _values(generator: Manifest) -> dict[str, Any]:
    return {"values": table(generator, "values")} if "values" in generator else {}


def _is_chosen(path: str, choices: Choices, matches: Callable[[str, str], bool]) -> bool:
    """Return True for a path that a pattern matches and none with `exclude` does."""
    matching = [is_excluded for pattern, is_excluded in choices if matches(path, pattern)]
    return bool(matching) and not any(matching)


def _of_path(folder: str, prefix: str, file: str = "") -> dict[str, Any]:
    """Return the parameters that a Git generator makes of a folder, and of the file in it."""
    segments, basename = folder.split("/"), posixpath.basename(folder)
    normalized = re.sub(r"[^a-z0-9-]+", "-", basename.lower()).strip("-")
    path: dict[str, Any] = {"path": folder, "basename": basename, "segments": segments}
    path["basenameNormalized"] = normalized
    if file:
        path |= {"filename": file, "filenameNormalized": re.sub(r"[^a-z0-9-]+", "-", file.lower()).strip("-")}
    return {prefix: {"path": path}} if prefix else {"path": path}


def _of_matrix(generator: Manifest, repository: Repository, is_go: bool) -> Iterator[Row]:
    """Yield each row of the first generator with each of the second, which may use the parameters of the first."""
    children = [child for _, child in tables(generator, "generators")]
    if len(children) != 2:  # Argo CD refuses it
        yield Row({}, "whatever a matrix of other than two generators gives")
        return
    number = 0
    for first in rows(children[0], repository, is_go):
        for second in rows(children[1], repository, is_go, first.parameters):
            number += 1
            if number > _MOST:
                return
            yield Row({**first.parameters, **second.parameters}, first.unknown or second.unknown)


def _of_merge(generator: Manifest, repository: Repository, is_go: bool) -> Iterator[Row]:
    """Yield the rows of the first generator, with what rows of the others with the same keys say."""
    children = [child for _, child in tables(generator, "generators")]
    keys = list(filter(None, texts(generator, "mergeKeys")))
    first, *others = [rows(child, repository, is_go) for child in children] or [[]]
    by_key: dict[tuple[Any, ...], Row] = {}
    for row in (row for other in others for row in other):
        key = _key(row, keys)
        former = by_key.get(key, Row({}))
        by_key[key] = Row({**former.parameters, **row.parameters}, former.unknown or row.unknown)
    for row in first:
        other = by_key.get(_key(row, keys), Row({}))
        yield Row({**row.parameters, **other.parameters}, row.unknown or other.unknown)


def _key(row: Row, keys: Sequence[str]) -> tuple[Any, ...]:
    return tuple(filled(f"{{{{{key}}}}}", row.parameters, is_go=False) for key in keys)


def parameter_files(paths: Iterable[str], templates: Sequence[str]) -> Iterator[str]:
    """Yield the files that one of the patterns of Git file generators may match, templates as wildcards."""
    wildcards = {_TEMPLATE.sub("*", pattern) for pattern in templates}
    return (path for path in paths if any(patterns.of_files(path, pattern) for pattern in wildcards))


def file_patterns(manifest: Manifest) -> Iterator[str]:
    """Yield the patterns of the files that the Git generators of an ApplicationSet read, at any depth."""
    yield from (text(entry, "path") for git in _git_generators(manifest) for _, entry in tables(git, "files"))


def flaws(generator: Manifest) -> Iterator[str]:
    """Yield what is wrong with the patterns of the Git generators in a generator that match nothing."""
    for git in _git_generators(generator):
        for field in ("directories", "files"):
            for pattern in (text(entry, "path") for _, entry in tables(git, field)):
                if "{{" not in pattern and (flaw := patterns.flaw(pattern, is_git=field == "files")):
                    yield f"the pattern {pattern!r} of the Git generator matches nothing: {flaw}"


def _git_generators(manifest: Manifest) -> Iterator[Manifest]:
    """Yield the Git generators in an ApplicationSet, or in a part of it, at any depth."""
    for key, value in manifest.items():
        if key == "git" and isinstance(value, dict):
            yield value
        elif isinstance(value, dict):
            yield from _git_generators(value)
        elif isinstance(value, list):
            for child in value:
                yield from _git_generators(child) if isinstance(child, dict) else ()
