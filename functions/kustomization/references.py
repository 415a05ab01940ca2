"""Resolve the references in the fields of a kustomization as kustomize does, and report what is wrong with them.

kustomize fetches URLs in fields that name files, and Git repositories in those that name folders (api/internal/git).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from krmfn.item import Item
from krmfn.resource import Place
from krmfn.results import Field, Result, error
from krmfn.typed import Literal, NamedTuple

from ..paths.disk import Disk, Target
from ..paths.roots import within
from .mentions import Mention, Role

Kind = Literal["file", "folder", "chart", "inline", "remote", "nothing"]


class Reference(NamedTuple):
    """What one field refers to; `nothing` when it cannot be read, for which there is a finding."""

    field: str
    """The field in the kustomization: `resources[0]`, `patches[1].path`."""
    text: str
    """The value of the field."""
    role: Role
    place: Place
    kind: Kind = "nothing"
    name: str = ""
    """The path of the file or folder as messages name it."""
    real: str = ""
    """The same path, absolute and without links."""
    first: int = 0
    """The first line of an inline text."""
    column: int = 0
    """The column at which its lines begin; 0 for a quoted or folded text, whose lines are not those of the file."""

    @property
    def is_yaml(self) -> bool:
        """Return True for a file that kustomize reads as YAML."""
        return self.kind == "file" and self.role != "file"

    def error(self, message: str, rule: str, remedy: str = "") -> Result:
        """Return a finding about the field."""
        return error(message, rule=rule, field=Field(self.field), place=self.place, remedy=remedy)

    @property
    def has_lines(self) -> bool:
        """Return False for a quoted or folded text: its lines are not those of the file."""
        return self.kind == "file" or self.column > 0

    @property
    def is_patch(self) -> bool:
        """Return True for a patch of the kustomization, in a file or inline."""
        return self.field.startswith("patches")

    @property
    def data(self) -> bytes:
        """Return the value as bytes."""
        return self.text.encode(errors="surrogatepass")


class Problem(NamedTuple):
    """What is wrong with a reference: the rule, the message, and what to do ("" where the message says it)."""

    rule: str
    message: str
    remedy: str = ""


_RELATIVE = "correct the path, which is relative to the kustomization's folder"
_URL = re.compile(r"https?:", re.IGNORECASE)
"""What kustomize fetches over HTTP where a file is named."""
_ADDRESS = re.compile(r"\A(?i:git::)?((?i:ssh|https?|file)://)?([A-Za-z][A-Za-z0-9-]*@)?(.*)", re.DOTALL)
"""The scheme, the user and the rest of an address."""
_GITHUB = re.compile(r"github\.com[/:]", re.IGNORECASE)
_FOLDERS = ("resource", "component", "function")
_FILES = ("resource", "function", "merge", "yaml", "file")
_WANTED = {
    "resource": "a file or a folder",
    "component": "a folder with a Component",
    "function": "a file, a folder, or an inline resource",
    "chart": "a chart with a name",
}
_EXCLUDE = "or leave the folder out with `exclude` in .krmfn.yaml"
_CHART = f"keep its output here instead, pass `--kustomize=--enable-helm`, which runs helm, {_EXCLUDE}"
_LARGER = "pass a larger folder with --root DIR"
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_EMPTY = re.compile(r" *(?:[#!&[]|---|(?:(?:null|Null|NULL|~) *)?(?:#|\Z))")
"""What kustomize takes for an inline resource that is empty; there may be a tag or an anchor before it."""
_DOTS = re.compile(r"(?:^|/)(?:[^/]+\.\.[^/]*|\.\.[^/]+)(?=/|$)")


def read(
    mentions: Iterable[Mention], item: Item, folder: str, disk: Disk, findings: list[Result]
) -> Iterator[Reference]:
    """Yield the references of `item`, relative to `folder` (absolute, without links), and add errors to `findings`."""
    lines = item.text.splitlines()
    for mention in mentions:
        place = item.field_place(mention[0]) or Place()
        reference, problem = _resolved(Reference(*mention, place), folder, disk)
        if reference.kind == "inline":
            column = _column(lines, place.line - (item.place or place).line, reference.data)
            reference = reference._replace(first=place.line + (column > 0), column=column)
        if problem:
            findings.append(reference.error(problem.message, problem.rule)._replace(remedy=problem.remedy))
        yield reference


def _column(lines: list[bytes], index: int, text: bytes) -> int:
    """Return the column of the lines of a literal block that begins on the line with this index; 0 without one."""
    if index >= len(lines) or not lines[index].split(b" #")[0].rstrip().endswith((b"|", b"|-", b"|+")):
        return 0
    pairs = zip(lines[index + 1 :], text.splitlines(), strict=False)
    indents = (len(line) - len(content) for line, content in pairs if content.strip())
    return 1 + max(next(indents, 0), 0)


def _is_inline(text: str) -> bool:
    """Return True for a value that kustomize takes for an inline resource, in a field that may also hold a path.

    A resource has several keys, so it has line breaks or braces. krmfn refuses these in a path, so that it never takes
    for a path what kustomize takes for a resource. Only `kind: SomeList` is a resource with one key
    (GetValidatedMetadata in kyaml/yaml/rnode.go); an escape in it can hide the key.
    """
    return "\n" in text or "\r" in text or "{" in text or (": " in text and ("kind" in text or '"' in text))


def _resolved(reference: Reference, folder: str, disk: Disk) -> tuple[Reference, Problem | None]:
    """Return the resolved reference, and what is wrong with it."""
    text, role = reference.text, reference.role
    may_be_inline = role in ("function", "merge")
    if role == "text":
        return reference._replace(kind="inline"), None
    if not text.strip() or (may_be_inline and _EMPTY.match(text) and not _is_inline(text)):
        return reference, Problem("KRM504", f"is empty; must be {_WANTED.get(role, 'a file')}")
    if (role in _FILES and _URL.match(text)) or (role in _FOLDERS and is_repository(text)):
        message = f"{text} is fetched over the network by the build, so it was not checked"
        remedy = f"keep a copy here, pass `--allow-remote`, {_EXCLUDE}"
        return reference._replace(kind="remote"), Problem("KRM509", message, remedy)
    if may_be_inline and _is_inline(text):
        if not disk.has_entry(folder, text):
            return reference._replace(kind="inline"), None
        message = "is an inline resource, but also the name of a file, which kustomize may read instead"
        return reference, Problem("KRM517", f"{reference.field} {message}", "rename the file")
    if _UNFIT.search(text):
        message = "contains a line break or a control character, and kustomize may read it as a resource"
        return reference, Problem("KRM517", f"the path {text!r} {message}", "rename the file")
    target = disk.target(folder, text)
    reference = reference._replace(name=target.name, real=target.real)
    if role == "chart" and not target.is_outside:
        message = f"the chart {target.name} is rendered by helm, which is not run here"
        if target.is_folder:
            return reference._replace(kind="chart"), Problem("KRM512", message, _CHART)
        return reference._replace(kind="remote"), Problem("KRM509", message, _CHART)
    problem = _problem(target, text, role, folder, disk)
    if problem and problem.rule != "KRM507":
        return reference, problem
    return reference._replace(kind="folder" if target.is_folder else "file"), problem


def _problem(target: Target, text: str, role: Role, folder: str, disk: Disk) -> Problem | None:
    if target.is_outside:
        return Problem("KRM508", f"{text} leads out of {disk.root}, where nothing is read", _LARGER)
    if target.problem:
        return Problem("KRM504", f"{target.name}: {target.problem}", _RELATIVE)
    if target.is_folder and role not in _FOLDERS:
        return Problem("KRM504", f"{target.name} is a folder", "name a file")
    if target.is_folder and (text.startswith("/") or _DOTS.search(text)):
        message = f"{text}: kustomize accepts no folder with an absolute path, or with two dots in its name"
        return Problem("KRM504", message)
    if not target.is_folder and role not in _FILES:
        return Problem("KRM504", f"{target.name} is a file; must be {_WANTED[role]}")
    if not target.is_folder and not within(target.real, folder):
        message = f"{text} is outside of the kustomization's folder, and kustomize reads no files there"
        remedy = "move it into the folder, or list the folder of a kustomization that contains it"
        return Problem("KRM507", message, remedy)
    return None


def is_repository(text: str) -> bool:
    """Return True for a value that kustomize clones with git, in a field that names a folder.

    It has a scheme of Git, or it begins with a user (`git@host:path`) or with github.com, and it has a host and a
    repository. `?ref=`, `//folder` and `.git` only divide it further.
    """
    scheme, user, rest = _ADDRESS.findall(text.partition("?")[0])[0]
    if scheme.lower() == "file://":
        return _has_repository(user + rest, 1)
    slash = rest.find("/")
    if not scheme:
        if not user and not _GITHUB.match(rest):
            return False
        colon = rest.find(":")  # if it is before the first slash, it divides host and path
        slash = colon if slash < 0 or 0 < colon < slash else slash
    return slash >= 0 and _has_repository(rest[slash + 1 :], 2)


def _has_repository(path: str, segments: int) -> bool:
    """Return True when a path names a repository, by a mark (`_git/`, `//`, `.git`) or by its first segments."""
    if "_git/" in path:
        return True
    if "//" in path:
        return not path.startswith("//")
    return ".git" in path or (path != "" and path.count("/") + 1 >= segments)
