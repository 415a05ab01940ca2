"""Builds with kustomize, through an overlay that keeps local-config resources.

A plain `kustomize build` drops resources with the annotation config.kubernetes.io/local-config before anybody sees
them, DeviceConfigs among them. The wrapper moves the annotation aside with a built-in patch; no function is called
inside kustomize for it, since calling any costs kustomize two to three times its own time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from krmfn import streams
from krmfn.errors import KrmfnError
from krmfn.item import LOCAL
from krmfn.resource import Manifest, Place, Ref
from krmfn.results import UNLISTED, Field, Result
from krmfn.typed import Any, NamedTuple
from krmfn.yamltext import emit

from ..paths.disk import refuse_inside
from . import process, written
from .calls import Call
from .confinement import HELM, OPEN, Seen, named
from .workspace import Tree, Workspace, used

_STOPPED = "couldn't execute function: exit status 1"
"""What kustomize says of a function that has reported an error."""
_FROM_KUBECTL = re.compile(r'E\d{4} [^"]*"command failed" err=("(?:[^"\\]|\\["\\n])*")')
"""A line of the log of some builds of kubectl, with what kustomize says in it."""
WHICH_PATCH = (
    "(kustomize does not name the patch: look for this path in the patches of what is built, and of its bases)"
)
_which = lru_cache(maxsize=8)(shutil.which)  # each build asks


class Decision(NamedTuple):
    """How a kustomization is built. With `refused` it is not."""

    refused: tuple[Result, ...]
    """Errors about the kustomizations of the build."""
    calls: tuple[Call, ...] = ()
    """The functions of ours that kustomize has to call; () for a plain build."""
    is_open: bool = False
    """Whether the build needs programs of the machine (git, helm, the user's functions): it is not confined then."""
    is_own: bool = False
    """Whether it runs plugins of the user's, which may read anything: it is built where it is, and in no tree."""


_CLOSED = Decision(())


class Built(NamedTuple):
    """Output of kustomize: the manifests on stdout, the messages on stderr."""

    stream: bytes
    messages: Sequence[str] = ()
    """The lines of kustomize itself."""
    findings: Sequence[Result] = ()
    """What our functions have reported; with an error among them there are no manifests."""
    changes: Sequence[tuple[str, Ref]] = ()
    """What our functions have created, updated and removed."""
    seen: Sequence[Seen] = ()
    """What our functions were shown, call by call."""
    base: str = ""
    """How the wrapper names the folder."""


def build(
    path: str,
    tree: Tree | None,
    flags: Sequence[str] = (),
    decision: Decision = _CLOSED,
    like: Manifest | None = None,
    origins: bool = False,
    seconds: int = 60,
    shared: Workspace | None = None,
) -> Built:
    """Return the output of `kustomize build` for the directory `path`, local-config resources included.

    kustomize builds it in its `tree`; without one, for plugins of the user's that may read anything, where it is. It is
    built through a wrapper in a workspace of its own, but where nothing needs one in the `shared` workspace of a run.
    `flags` go to kustomize as they are; `decision` says which of our functions it calls, and whether other programs are
    within its reach; `like` is the kustomization in `path`. With `origins` each resource says in an annotation where it
    comes from, seen from the wrapper.
    Raises KrmfnError with kustomize's own messages when it fails or is missing, when it takes more than `seconds` or
    another bound (see `process`), and when there is no place for temporary files. A build that calls us leaves the
    error to its findings, when there are some.
    """
    command, name, names = _command(decision), f"kustomize build {path}", tree.names if tree else {}
    with used(shared) as workspace:
        folder, real = workspace.folder(), tree.folder if tree else os.path.realpath(path)
        refuse_inside(path, real, folder)
        how = workspace.confinement(decision.calls, names)
        top = workspace.write(tree) if tree else real
        base = "" if shared else os.path.basename(folder)  # random: no folder of a repository has it
        if base:
            top = _wrapper(folder, base, top, like or {}, workspace.aside, origins)
        bounds = tree and how.bounds(command[0], decision.is_open)
        environment = _environment(decision, {flag.partition("=")[0] for flag in flags}, how.environment)
        command += [top, *flags, *how.flags]
        done = process.run(command, environment, name, seconds, top if tree else None, bounds)
        seen = how.seen() if decision.calls else []
    said, stream = (_renamed(text, {**names, LOCAL: workspace.aside}) for text in (done.stderr, done.stdout))
    messages = _messages(_of_the_user(said.decode(errors="replace"), folder, base, path), bool(decision.calls))
    built = _judged(name, done.returncode, Built(stream, *messages, seen, base))
    return built if origins or not base else built._replace(stream=written.unwrapped(built.stream, base))


def _renamed(text: bytes, names: Mapping[str, str]) -> bytes:
    """Return what kustomize printed with the functions and the annotation as they are called in the repository."""
    for value, name in names.items():
        text = text.replace(name.encode(), value.encode())
    return text


def _of_the_user(text: str, folder: str, base: str, path: str) -> str:
    """Return what kustomize says in the workspace `folder` with the paths of the user's."""
    text = text.replace(f"{folder}/wrapper/{base}", path).replace(f"{folder}/tree", "")
    return text.replace(os.path.basename(folder), path).strip()


def _judged(name: str, code: int, built: Built) -> Built:
    """Return what was built; without manifests where a function of ours has found an error."""
    if code == 1 and any(one.severity == "error" for one in built.findings):
        return built._replace(stream=b"", messages=[line for line in built.messages if _STOPPED not in line])
    if code < 0:
        raise KrmfnError(f"{name} was ended by signal {-code}", *built.messages)
    if code:
        messages = [_FROM_KUBECTL.sub(lambda found: json.loads(found[1]), line) for line in built.messages]
        where = [WHICH_PATCH] if any("operation does not apply" in line for line in messages) else []
        raise KrmfnError(f"{name} failed:", *messages, *where)
    return built


def _wrapper(folder: str, base: str, target: str, like: Manifest, aside: str, origins: bool) -> str:
    """Write a wrapper beside a link `base` to what it lists, with what only the outermost decides; return its folder.

    A Component is one of its components, all else a resource. It is listed by a link: kustomize takes no folder with
    dots beside other letters, as in `a..b`.
    """
    here, there = (f"/metadata/annotations/{key.replace('/', '~1')}" for key in (LOCAL, aside))
    move = [{"op": "move", "from": here, "path": there}]
    manifest: Manifest = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "components" if like.get("kind") == "Component" else "resources": [base],
        "patches": [{"target": {"annotationSelector": LOCAL}, "patch": emit.dump_json(move)}],
    }
    metadata = dict.fromkeys([*(like.get("buildMetadata") or ()), *(written.OPTIONS if origins else ())])
    more = {"buildMetadata": [*metadata], "sortOptions": like.get("sortOptions")}
    text = emit.dump(manifest | {field: value for field, value in more.items() if value})
    wrapper = Path(folder, "wrapper")
    wrapper.mkdir()
    (wrapper / base).symlink_to(target)
    (wrapper / "kustomization.yaml").write_text(text, encoding="utf-8")
    return str(wrapper)


def _environment(decision: Decision, flags: Collection[str], confined: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment of kustomize: confined, unless programs of the machine (git, helm) are needed, too."""
    if "--enable-alpha-plugins" in flags:
        return os.environ  # the user's own plugins: nobody else knows what they are told with
    known = {**confined}
    if decision.is_open:
        known |= named(OPEN) | (named(HELM) if "--enable-helm" in flags else {})
    if decision.calls:
        path = f"{confined['PATH']}{os.pathsep}{known['PATH']}" if decision.is_open else confined["PATH"]
        known |= {**confined, "PATH": path, streams.VARIABLE: "json"}
    return known


def _messages(text: str, is_ours: bool) -> tuple[list[str], list[Result], list[tuple[str, Ref]]]:
    """Return what kustomize says in its own lines, and what our functions report in theirs (see `log`)."""
    messages: list[str] = []
    findings: list[Result] = []
    changes: list[tuple[str, Ref]] = []
    for line in text.splitlines():
        entry: dict[str, Any] = {}
        with suppress(ValueError):
            entry = json.loads(line) if is_ours and line.startswith('{"level": "') else {}
        entry = entry if entry.keys() >= {"message", "rule", "ref", "path", "file"} else {}
        if not (entry.get("rule") or entry.get("ref")):  # without both it is a failure, or a crash
            messages += entry["message"].splitlines() if entry else [line]
            continue
        ref = Ref(*(entry["ref"][key] for key in ("apiVersion", "kind", "namespace", "name"))) if entry["ref"] else None
        what = entry["message"].partition(" ")[0]
        if ref and not entry["rule"] and what in ("created", "updated", "removed"):
            changes.append((what, ref))
            continue
        field = Field(entry["path"]) if entry["path"] else None
        place = Place(entry["file"], 0, entry["line"] or 0) if entry["file"] else None
        tags = ((UNLISTED, str(entry[UNLISTED])),) if entry.get(UNLISTED) else ()
        findings.append(Result(entry["message"], entry["level"], entry["rule"] or "", ref, field, place, tags))
    return messages, findings, changes


def _command(decision: Decision) -> list[str]:
    if path := _which("kustomize", path=os.environ.get("PATH")):
        return [path if decision.is_open else process.program(path), "build"]
    if decision.calls:
        raise KrmfnError(
            "it calls a krmfn function, but kustomize is not on PATH; `kubectl kustomize` has no --enable-exec "
            "and would skip the function; install kustomize"
        )
    if path := _which("kubectl", path=os.environ.get("PATH")):
        return [path, "kustomize"]
    raise KrmfnError("it has a kustomization, and neither kustomize nor kubectl is on PATH: install one of them")
