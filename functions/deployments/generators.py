"""The generators of an ApplicationSet: for each Application that it makes, the parameters of its template.

Source: Argo CD 3.2, applicationset/generators, and docs/operator-manual/applicationset. What cannot be known from the
repository (clusters, pull requests, plugins) gives one row whose destination is unknown.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from krmfn import Manifest
from krmfn.typed import Any, NamedTuple

from ..kmm.lookup import table, tables, text, texts
from .deployment import Repository, normal_path
from .templates import filled

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
    return f"every cluster that Argo CD knows{' with ' + ', '.join(labels) if labels else ''}"


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
    name = text(generator, "pathParamPrefix")
    entries = [entry for _, entry in tables(generator, "directories")]
    if entries:
        patterns = [(filled(text(entry, "path"), former, is_go), entry.get("exclude") is True) for entry in entries]
        if any(pattern is None for pattern, _ in patterns):
            yield Row({}, "the folders of a template")
            return
        for folder in repository.folders:
            if _is_generated(folder, patterns):
                yield Row(_of_path(folder, name) | _values(generator))
        return
    for _, entry in tables(generator, "files"):
        pattern = filled(text(entry, "path"), former, is_go)
        if pattern is None:
            yield Row({}, "the files of a template")
            continue
        for file, contents in repository.parameters.items():
            for content in contents if fnmatchcase(file, pattern.lstrip("/")) else ():
                place = _of_path(posixpath.dirname(file) or ".", name, posixpath.basename(file))
                yield Row({**content, **place, **_values(generator)})


def _values(generator: Manifest) -> dict[str, Any]:
    return {"values": table(generator, "values")} if "values" in generator else {}


def _is_generated(folder: str, patterns: Sequence[tuple[str | None, bool]]) -> bool:
    """Return True for a folder that a pattern matches and none with `exclude` does (Go's path.Match: `*` is no `/`)."""
    matching = [is_excluded for pattern, is_excluded in patterns if matches(folder, normal_path(pattern or ""))]
    return bool(matching) and not any(matching)


def matches(path: str, pattern: str) -> bool:
    """Return True for a path that a pattern of as many parts matches: no wildcard matches a slash."""
    parts, names = path.split("/"), pattern.split("/")
    if len(parts) != len(names):
        return False
    return all(fnmatchcase(part, want) for part, want in zip(parts, names, strict=True))


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


def is_parameters(path: str, patterns: Sequence[str]) -> bool:
    """Return True for a file that one of the patterns of Git file generators may match, templates as wildcards."""
    wildcards = (re.sub(r"\{\{[^{}]*\}\}", "*", pattern) for pattern in patterns)
    return any(fnmatchcase(path, pattern) for pattern in wildcards)


def file_patterns(manifest: Manifest) -> Iterator[str]:
    """Yield the patterns of the files that the Git generators of an ApplicationSet read, at any depth."""
    for key, value in manifest.items():
        if key == "git" and isinstance(value, dict):
            yield from (text(entry, "path").lstrip("/") for _, entry in tables(value, "files"))
        elif isinstance(value, dict):
            yield from file_patterns(value)
        elif isinstance(value, list):
            for child in value:
                yield from file_patterns(child) if isinstance(child, dict) else ()
