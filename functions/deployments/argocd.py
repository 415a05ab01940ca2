"""Argo CD: which folders its Applications and ApplicationSets deploy, to which clusters, and how.

Source: Argo CD 3.2, pkg/apis/application/v1alpha1/types.go; docs/user-guide/{directory,kustomize,multiple_sources,
source-hydrator}.md; docs/operator-manual/{applicationset,cluster-bootstrapping}.md.
"""

from collections.abc import Iterator, Mapping, Sequence

from krmfn import Manifest
from krmfn.typed import Any, NamedTuple

from ..kmm.lookup import map_texts, table, tables, text
from . import edits, generators, globs, keeping, names, overrides
from .deployment import (
    Declaration,
    Declared,
    Directory,
    EngineObject,
    How,
    Problem,
    Repository,
    additions_of,
    normal_path,
    pinned,
)
from .ignored import ignored_of, respects
from .templates import filled, is_broken

GROUP = "argoproj.io"
KINDS = ("Application", "ApplicationSet")
_KUSTOMIZE = (
    *("namePrefix", "nameSuffix", "namespace", "images", "replicas", "patches", "components"),
    *("commonLabels", "commonAnnotations", "version", *edits.FLAGS),
)
"""The options of `kustomize` in an Application."""
_TYPES = ("kustomize", "helm", "directory")
"""The fields of a source that say what it is, beside `plugin`."""


class _Application(NamedTuple):
    """An Application, or one that an ApplicationSet makes: its spec, and what of its clusters is not known."""

    spec: Manifest
    source: EngineObject
    unknown: str = ""
    name: str = ""
    """That of one that an ApplicationSet makes; "" where its template cannot be filled in."""
    templates: Mapping[str, str] = {}  # read only
    """The texts of the template that cannot be filled in, by what stands in the spec in their place."""


def declared(objects: Sequence[EngineObject], repository: Repository) -> Declared:
    """Return what the Applications and ApplicationSets among some objects deploy of this repository."""
    declarations, problems = list[Declaration](), list[Problem]()
    servers = names.of_secrets(objects)
    for item in objects:
        if item.ref.group != GROUP or item.ref.kind not in KINDS:
            continue
        applications = [_Application(table(item.manifest, "spec"), item)]
        if item.ref.kind == "ApplicationSet":
            applications = list(_applications(item, repository, problems))
        for application in applications:
            declarations += _declarations(application, repository, servers, problems)
    everywhere = overrides.ignored_everywhere(objects)
    unique = (
        declaration._replace(ignored=declaration.ignored + everywhere) for declaration in dict.fromkeys(declarations)
    )
    return Declared(tuple(unique), tuple(dict.fromkeys(problems)))


def _applications(item: EngineObject, repository: Repository, problems: list[Problem]) -> Iterator[_Application]:
    """Yield the Applications that an ApplicationSet makes, with what its template leaves open."""
    spec = table(item.manifest, "spec")
    is_go = spec.get("goTemplate") is True
    if "templatePatch" in spec:
        problems.append(Problem(item.origin, "templatePatch may change each Application; what it does is not known"))
    for _, generator in tables(spec, "generators"):
        problems += (Problem(item.origin, message) for message in generators.flaws(generator))
        over = next((table(value, "template", "spec") for value in generator.values() if isinstance(value, dict)), {})
        template = _merged(table(spec, "template", "spec"), over)
        for row in generators.rows(generator, repository, is_go):
            open_texts: dict[str, str] = {}
            parameters = dict(row.parameters)
            if isinstance(values := parameters.get("values"), dict):
                parameters["values"] = {key: _filled(value, row.parameters, is_go, {}) for key, value in values.items()}
            filled_in = _filled(template, parameters, is_go, open_texts)
            problems += (
                Problem(
                    item.origin, f"{value!r} opens a template with {{{{ and does not close it, so Argo CD refuses it"
                )
                for value in filter(is_broken, open_texts)
            )
            name = filled(text(table(spec, "template", "metadata"), "name"), parameters, is_go)
            yield _Application(filled_in, item, row.unknown, name or "", open_texts)


def _merged(base: Manifest, over: Manifest) -> Manifest:
    """Return a template with the fields of a generator's over template over it."""
    merged = dict(base)
    for key, value in over.items():
        is_deep = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if is_deep else value
    return merged


def _filled(value: Any, parameters: Mapping[str, Any], is_go: bool, open_texts: dict[str, str]) -> Any:
    """Return a value with all its templates filled in; what cannot be stays, and is noted in `open_texts`."""

    def change(template: str) -> str:
        result = filled(template, parameters, is_go) if "{{" in template else template
        if result is None:
            open_texts[template] = template
            return template
        return result

    return map_texts(value, change)


def sources_of(spec: Manifest) -> list[Manifest]:
    """Return the sources that count of an Application's spec: a hydrator's, else `sources`, else `source`."""
    if hydrator := table(spec, "sourceHydrator", "drySource"):
        return [hydrator]
    return [source for _, source in tables(spec, "sources")] or [table(spec, "source")]


def _declarations(
    application: _Application, repository: Repository, servers: Mapping[str, str], problems: list[Problem]
) -> Iterator[Declaration]:
    """Yield what one Application deploys of this repository."""
    spec, item = application.spec, application.source
    cluster, unknown = _cluster(application, servers)
    for source in sources_of(spec):
        url = text(source, "repoURL")
        if "{{" in url and repository.urls and not text(source, "chart"):  # first: it may be this one
            message = f"which repository {url} is, is not known, so neither is whether it deploys something of this one"
            problems.append(Problem(item.origin, message, is_of_many=True))
            continue
        if text(source, "chart") or not repository.is_ours(url):
            continue
        path = text(source, "path")
        if not path:
            if "ref" not in source and not application.unknown:
                problems.append(Problem(item.origin, "has no path, so Argo CD deploys nothing of it", "write its path"))
            continue
        if "{{" in path:
            problems.append(Problem(item.origin, f"which folders {path} gives is not known"))
            continue
        problems += (Problem(item.origin, message) for message in (*_mixed(source), *_unread(_directory(source))))
        how = _how(source, normal_path(path), repository)
        yield _declaration(application, source, how)._replace(cluster=cluster, unknown=unknown)


def _declaration(application: _Application, source: Manifest, how: How) -> Declaration:
    """Return what an Application deploys of a source that has a path."""
    spec, item, path = application.spec, application.source, text(source, "path")
    return Declaration(
        *(normal_path(path), "argocd", how, item.origin),
        directory=_directory(source),
        namespace=text(table(spec, "destination"), "namespace"),
        additions=additions_of(table(source, "kustomize"), _KUSTOMIZE, "kustomize.") if how == "raw" else (),
        prunes=keeping.prunes(spec),
        ignored=ignored_of(spec),
        respects_ignored=respects(spec),
        application=application.name or (path if item.ref.kind == "ApplicationSet" else ""),
        kept_by=keeping.kept_by(item.manifest),
        set_keeps=keeping.set_keeps(item.manifest),
        revision=pinned(text(source, "targetRevision")),
        anew=keeping.anew(spec),
        refused=f"the absolute path {path}" if path.startswith("/") else "",
    )


def _cluster(application: _Application, servers: Mapping[str, str]) -> tuple[str, str]:
    """Return the name of an Application's cluster, "" for the one of Argo CD, and which it is where nobody knows."""
    destination = table(application.spec, "destination")
    name, server = text(destination, "name"), text(destination, "server")
    for value in (name, server):
        if "{{" in value:
            return "", application.unknown or f"the clusters that {value} gives"
    if name:
        return ("" if name == names.LOCAL else names.key_of(name)), ""
    return (names.of_server(server, servers) if server else ""), ""


def _how(source: Manifest, path: str, repository: Repository) -> How:
    """Return how Argo CD makes manifests of a source: by a plugin that is named, by Helm, else as it stands."""
    types = _types(source)
    if "plugin" in types:
        name = text(table(source, "plugin"), "name")
        return "plugin" if not name or name.startswith("krmfn") else "unknown"
    if "helm" in types or (path in repository.charts and not types):
        return "helm"
    return "plugin" if path in repository.hydrated and not types else "raw"


def _types(source: Manifest) -> list[str]:
    """Return the types that a source names; of a field without any value Argo CD thinks that it is not there.

    Source: Argo CD 3.2.1, ApplicationSource.ExplicitType, util/argo/argo.go, NormalizeSource.
    """
    named = [field for field in _TYPES if any(table(source, field).values())]
    return [*named, *(["plugin"] if isinstance(source.get("plugin"), dict) else [])]


def _mixed(source: Manifest) -> Iterator[str]:
    """Yield what is wrong with a source that names several types."""
    types = _types(source)
    if len(types) > 1:
        yield f"is of the types {' and '.join(types)} at once, which Argo CD refuses; keep one of these fields"


def _directory(source: Manifest) -> Directory:
    directory = table(source, "directory")
    include, exclude = text(directory, "include"), text(directory, "exclude")
    return Directory(directory.get("recurse") is True, include, exclude, "directory" in _types(source))


def _unread(directory: Directory) -> Iterator[str]:
    """Yield what patterns that cannot be read leave open; Argo CD, too, takes such a one as matching nothing."""
    for field, pattern, outcome in (
        ("include", directory.include, "no file of the folder is judged"),
        ("exclude", directory.exclude, "no file of the folder is left out"),
    ):
        if pattern and not globs.is_readable(pattern):
            yield f"directory.{field} is a pattern that cannot be read, so {outcome}; close its brackets, or shorten it"
