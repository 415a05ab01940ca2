"""The configuration file `.krmfn.yaml` at the root of a repository: which roots make a cluster, what is not read.

It is committed, so it may not choose a program, flags for kustomize or a path outside the repository.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from krmfn import Field, Item, KrmfnError, Place, Result, error, info
from krmfn.printing import closest
from krmfn.schema import check
from krmfn.typed import NamedTuple

from .. import oracles
from ..kustomization.documents import documents, unreadable
from ..mistake import Mistake
from ..paths import excludes, files
from ..paths.disk import Disk
from ..paths.roots import within
from ..rule import Rule
from .config_schema import SCHEMA

NAME = excludes.CONFIG
_GOOD = """\
# .krmfn.yaml
clusters:
  lab: [lab, inventory.yaml]
---
# lab/config.yaml
kind: DeviceConfig
---
# inventory.yaml
kind: Node
"""
RULES = (
    Rule(
        "KRM521",
        "the configuration file must be `.krmfn.yaml` at the root of the repository, and only have the fields "
        "clusters, exclude, format and profiles, with their types",
        good=_GOOD,
        bad=_GOOD.replace("clusters", "cluster"),
        remedy="Correct the field; pass commands and kustomize's flags on the command line. "
        "Rename a file with another name. Move one that is below the root, or pass `--root` with its folder.",
        held=oracles.OUR_FILES,
        severities=("error", "warning"),
    ),
    Rule(
        "KRM522",
        "each path of a cluster in .krmfn.yaml must hold resources, be in no other cluster, and be among the PATHs if "
        "it gives objects; `exclude` must match files",
        good=_GOOD,
        bad=_GOOD.replace("inventory.yaml]", "nodes.yaml]"),
        remedy="Correct the path, which is relative to the configuration file, or name it as a PATH, too. "
        "Correct the pattern, whose syntax is that of a .gitignore, or remove it.",
        held=oracles.OUR_FILES,
        severities=("error", "warning", "info"),
    ),
)


class Member(NamedTuple):
    """A path that belongs to a cluster."""

    text: str
    """The path as it is written."""
    real: str
    """The path, absolute and without links."""
    place: Place | None = None
    """Where it stands in the configuration file; None for an option."""
    problem: Mistake | None = None
    """Why it cannot belong to a cluster; None when it can."""


class Pattern(NamedTuple):
    """A pattern of `exclude`."""

    text: str
    place: Place | None


class Config(NamedTuple):
    """The content of the configuration file; empty without a file."""

    name: str = ""
    """The file's path as users see it."""
    clusters: Mapping[str, tuple[Member, ...]] = {}  # read only
    exclude: tuple[Pattern, ...] = ()
    format: str = ""
    folder: str = ""
    """The folder that holds it, absolute and without links."""
    profiles: tuple[Member, ...] = ()
    """The files and folders that hold Profiles for all clusters here."""
    labels: Mapping[str, Mapping[str, str]] = {}  # read only
    """The labels of clusters, by which a hub chooses its spokes, by the clusters' names."""


def read(folder: str, absolute: bool = False, file: str = NAME) -> tuple[Config, list[Result]]:
    """Return the configuration in a folder (a real path), and what is wrong with it; `file` is another name for it.

    With `absolute` the file's name is the absolute path. A configuration with findings has no fields but its name.
    """
    disk = Disk(folder, absolute)
    if not disk.exists(folder, file):
        return Config(), []
    target = disk.target(folder, file)
    name = target.name
    if target.problem or target.is_outside:
        message = target.problem or "is a link that leads out of the repository"
        return Config(name), [error(message, rule="KRM521", place=Place(name))]
    try:
        items = list(documents(name, files.read_regular(target.real, name)))
    except KrmfnError as failure:
        return Config(name), [unreadable(failure, name, "KRM521")]
    if len(items) != 1 or not items[0].manifest:
        return Config(name), [error("must be a mapping", rule="KRM521", place=Place(name, 0, 1))]
    (item,) = items
    twice = "this key appears twice"
    findings = [
        error(twice, rule="KRM521", field=Field(path), remedy="remove one") for path in item.content.duplicate_keys
    ]
    findings += check(item.manifest, SCHEMA, "KRM521")
    patterns = () if findings else item.manifest.get("exclude", ())
    for at, message in excludes.check(patterns) if patterns else ():
        findings.append(error(message, rule="KRM521", field=Field("exclude" if at is None else f"exclude[{at}]")))
    if findings:
        return Config(name), [item.located(finding)._replace(ref=None) for finding in findings]
    exclude = tuple(Pattern(text, item.field_place(f"exclude[{at}]")) for at, text in enumerate(patterns))
    profiles = _members(item, disk, folder, "profiles", item.manifest.get("profiles", ()))
    if unusable := [*_unusable(profiles)]:
        return Config(name), unusable
    clusters, labels = _clusters(item, disk, folder)
    return Config(name, clusters, exclude, item.manifest.get("format", ""), folder, profiles, labels), []


def _unusable(profiles: Iterable[Member]) -> Iterator[Result]:
    """Yield an error for each path of `profiles` that cannot be read."""
    for member in profiles:
        if member.problem:
            message, remedy = member.problem.after(f"{member.text}: ")
            yield error(message, rule="KRM521", place=member.place, remedy=remedy)


def _clusters(item: Item, disk: Disk, folder: str) -> tuple[dict[str, tuple[Member, ...]], dict[str, dict[str, str]]]:
    """Return the members of each cluster in the configuration file, and the labels of those that have some."""
    clusters, labels = dict[str, tuple[Member, ...]](), dict[str, dict[str, str]]()
    for cluster, entry in item.manifest.get("clusters", {}).items():
        has_fields = isinstance(entry, dict)
        path, paths = (f"clusters.{cluster}.paths", entry["paths"]) if has_fields else (f"clusters.{cluster}", entry)
        clusters[cluster] = _members(item, disk, folder, path, paths)
        labels |= {cluster: entry["labels"]} if has_fields and "labels" in entry else {}
    return clusters, labels


def parse(text: str) -> tuple[str, list[str]]:
    """Return the name and the paths of an option `--cluster NAME=PATH,PATH`. Raises KrmfnError for another form."""
    name, sign, paths = text.partition("=")
    parts = [part for part in paths.split(",") if part]
    if not name or not sign or not parts:
        raise KrmfnError(f"--cluster {text!r} must be NAME=PATH or NAME=PATH,PATH")
    return name, parts


def parse_all(texts: Sequence[str]) -> dict[str, list[str]]:
    """Return the paths of each cluster by its name, from options --cluster. Raises KrmfnError for a name twice."""
    clusters: dict[str, list[str]] = {}
    for name, paths in map(parse, texts):
        if name in clusters:
            raise KrmfnError(
                f"--cluster names {name} twice; give one of the two clusters another name, or write "
                f"--cluster {name}={','.join((*clusters[name], *paths))} if they are one"
            )
        clusters[name] = paths
    return clusters


def unused_patterns(settings: Config, paths: Iterable[str]) -> Iterator[Result]:
    """Yield a finding for each pattern of `exclude` that matches nothing.

    Nothing is yielded unless one of the (real) paths is the folder of the file or above it: a pattern may match a file
    outside of the paths.
    """
    if not any(within(settings.folder, path) for path in paths):
        return
    for at in excludes.unused_patterns([pattern.text for pattern in settings.exclude], settings.folder):
        text, place = settings.exclude[at]
        effect = "re-includes nothing that an earlier pattern excludes" if text.startswith("!") else "matches nothing"
        message = f"{text} {effect}"
        yield info(
            message,
            rule="KRM522",
            field=Field(f"exclude[{at}]"),
            place=place,
            remedy="correct the pattern (.gitignore syntax, relative to this file), or remove it",
        )


def _members(item: Item, disk: Disk, folder: str, path: str, texts: Sequence[str]) -> tuple[Member, ...]:
    """Return the paths in a list of the configuration file, which is at `path` in it."""
    members = []
    for at, text in enumerate(texts):
        target = disk.target(folder, text)
        outside = text.startswith("/") or target.is_outside
        problem, remedy = "is not a path inside the repository" if outside else target.problem, ""
        real = os.path.normpath(os.path.join(folder, NAME if outside else text)) if problem else target.real
        if problem and not outside and os.path.isdir(os.path.dirname(real)):
            name = closest(os.path.basename(real), os.listdir(os.path.dirname(real)), 0.8)
            remedy = f"did you mean {os.path.join(os.path.dirname(text), name)}?" if name else ""
        mistake = Mistake(problem, remedy) if problem else None
        members.append(Member(text, real, item.field_place(f"{path}[{at}]"), mistake))
    return tuple(members)
