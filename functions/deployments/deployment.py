"""The values of this room: what is known of a repository, what its engines' objects declare, and what follows."""

import json
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence

from krmfn import Manifest, Place, Ref
from krmfn.typed import Literal, NamedTuple

from .ignored import Ignored

Engine = Literal["argocd", "flux", "fleet", "kubectl", "none"]
How = Literal["plugin", "render", "raw", "helm", "unknown"]
"""By our plugin; as it was rendered in CI; as it is written or as kustomize builds it; by Helm; nobody knows."""


class Origin(NamedTuple):
    """The object that says something."""

    ref: Ref
    place: Place


class EngineObject(NamedTuple):
    """An object of an engine, or a Secret that describes a cluster."""

    ref: Ref
    manifest: Manifest
    place: Place
    """Its file, from the root of the repository, and its line."""

    @property
    def origin(self) -> Origin:
        """Return it without its content."""
        return Origin(self.ref, self.place)


class Repository(NamedTuple):
    """What the engines can see of the repository beside the objects."""

    urls: frozenset[str] = frozenset()
    """Its remotes; without any every URL may be this repository's."""
    folders: Sequence[str] = ()
    """All folders from the root of the repository, without hidden ones."""
    listed: Mapping[str, frozenset[str]] = {}  # read only
    """For each folder with a kustomization that an object deploys: the files that a build of it reads.

    Paths are from the root.
    """
    charts: frozenset[str] = frozenset()
    """The folders with a Chart.yaml."""
    hydrated: frozenset[str] = frozenset()
    """The folders with the file that brings them to the plugin of gitops/hydrator (`hydrate-with-krmfn`)."""
    bundles: Mapping[str, Manifest] = {}  # read only
    """The content of each fleet.yaml, by its folder."""
    parameters: Mapping[str, Sequence[Manifest]] = {}  # read only
    """What stands in the JSON and YAML files that Git file generators read, by the files' paths."""
    changing: frozenset[str] = frozenset()
    """The folders of the kustomizations that may change a ConfigMap which they list."""

    def is_ours(self, url: str) -> bool:
        """Return True for a URL of this repository."""
        return not self.urls or normal_url(url) in {normal_url(other) for other in self.urls}


class Directory(NamedTuple):
    """Which files of a folder Argo CD applies where there is no kustomization, or where the Application says so."""

    recurse: bool = False
    include: str = ""
    exclude: str = ""
    is_named: bool = False
    """Whether the Application says that the folder is applied so: a kustomization in it does not count then."""


class Addition(NamedTuple):
    """A field by which an engine changes resources after us, such as `targetNamespace`."""

    field: str
    value: str
    """Its value as JSON, so that declarations can be compared."""


class Declaration(NamedTuple):
    """One folder that an engine's object deploys."""

    path: str
    """The root, from the root of the repository; "." for that itself."""
    engine: Engine
    how: How
    source: Origin
    cluster: str = ""
    """The name of the cluster; "" for that of the engine itself."""
    unknown: str = ""
    """Which clusters these are, in words, where nobody can know; the name of the cluster then."""
    directory: Directory = Directory()
    namespace: str = ""
    """The namespace that Argo CD gives to resources without one."""
    additions: tuple[Addition, ...] = ()
    """What the engine changes after us."""
    is_suspended: bool = False
    prunes: bool = True
    ignore: str = ""
    """The patterns by which Flux leaves files out of what it fetches, beside those of .sourceignore."""
    application: str = ""
    """The name of the Application, where an ApplicationSet makes it; its path where the name is not known."""
    revision: str = ""
    """The tag or commit that it deploys, whatever stands in this tree; "" for a branch."""
    kept_by: str = ""
    """Why its resources stay on the cluster when the object that declares it is deleted; "" where they go along."""
    set_keeps: str = ""
    """Why its Application stays when the ApplicationSet no longer makes it; "" where it is deleted."""
    ignored: tuple[Ignored, ...] = ()
    """The differences that Argo CD ignores."""
    respects_ignored: bool = False
    """Whether a sync leaves the ignored fields as the cluster has them."""
    anew: str = ""
    """The option by which the engine deletes and makes anew what it cannot change, such as `force: true`; or ""."""
    refused: str = ""
    """What the engine refuses in the object, so that it deploys nothing; or ""."""
    bundle: str = ""
    """The folder of Fleet's bundle: nothing outside of it is there when Fleet builds the root."""

    @property
    def target(self) -> str:
        """The cluster, or in words which ones; "" for that of the engine itself."""
        return self.cluster or self.unknown

    @property
    def file(self) -> str:
        """The file that declares it."""
        return self.source.place.path


class Deployment(NamedTuple):
    """A root that reaches a cluster."""

    path: str
    cluster: str
    declaration: Declaration

    @property
    def is_home(self) -> bool:
        """Whether it is a folder on which Flux was started, as the objects in it suggest."""
        return (self.declaration.engine, self.declaration.how) == ("none", "raw")

    def real(self, top: str) -> str:
        """Return the path of the root, given that of its repository (absolute, without links)."""
        return posixpath.normpath(posixpath.join(top, self.path))


class Problem(NamedTuple):
    """What is wrong with an engine's object, or is not known of it."""

    source: Origin
    message: str
    remedy: str = ""
    is_of_many: bool = False
    """Whether many objects may have it alike, so that it is told once."""


class Declared(NamedTuple):
    """What the objects of one engine declare."""

    declarations: Sequence[Declaration] = ()
    problems: Sequence[Problem] = ()


_PINNED = re.compile(
    r"refs/tags/\S+"  # a tag
    r"|[0-9a-f]{40}"  # a commit
    r"|[v^~<>=! ]*[0-9]+\.[0-9x*][^\n]*"  # a version, or a range of versions
)
_SCP = re.compile(r"(?:[\w.-]+@)?([\w.-]+):(?!/)(.*)")


def normal_url(url: str) -> str:
    """Return a URL so that two ways of writing one repository are equal: host and path, in lower case, without .git."""
    text = url.strip()
    scheme, sign, rest = text.partition("://")
    if not sign:
        match = _SCP.fullmatch(text)
        rest = f"{match[1]}/{match[2]}" if match else text
    elif scheme == "file":
        rest = rest.lstrip("/")
    host, slash, path = rest.rpartition("@")[2].partition("/") if sign or "@" in rest else rest.partition("/")
    host = re.sub(r":(?:22|443|80)$", "", host)
    return f"{host}{slash}{path.strip('/').removesuffix('.git').strip('/')}".lower()


def pinned(revision: str) -> str:
    """Return a revision that is a tag, a range of versions or a commit; "" for a branch, which it may be, too.

    Source: Argo CD 3.2, docs/user-guide/tracking_strategies.md: a semantic version or a range of them means tags.
    """
    return revision if _PINNED.fullmatch(revision.strip()) else ""


def additions_of(spec: Manifest, fields: Iterable[str], prefix: str = "") -> tuple[Addition, ...]:
    """Return the additions among the fields of an engine's object that have a value."""
    values = ((field, spec.get(field)) for field in fields)
    return tuple(Addition(f"{prefix}{field}", json.dumps(value, default=str)) for field, value in values if value)


def normal_path(path: str) -> str:
    """Return a path from the root of the repository, as engines read it: `./a/`, `/a` and `a` are the same."""
    return posixpath.normpath(path.strip().lstrip("/") or ".")


def covers(folder: str, path: str) -> bool:
    """Return True for a path that is a folder or below it."""
    return folder == "." or path == folder or path.startswith(f"{folder}/")
