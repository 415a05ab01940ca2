"""Build with kustomize, through a wrapper that keeps local-config resources.

A plain `kustomize build` drops resources with the annotation config.kubernetes.io/local-config, such as DeviceConfigs,
from its output. The wrapper is an overlay that renames the annotation by a built-in patch. It does not do so by a
function, since a call would make kustomize take two to three times as long.
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

from ..finding import facts_of
from ..paths.disk import refuse_inside
from . import process, provenance, unapplied
from .calls import Call
from .confinement import HELM, OPEN, Input, variables
from .workspace import Tree, Workspace, open_workspace

_STOPPED = "couldn't execute function: exit status 1"
"""kustomize's message about a function that has reported an error."""
_NAME = re.compile(rb"krmfn-[0-9a-f]{24}")
"""The random name of a function in the texts that kustomize reads (see `configs`)."""
_FROM_KUBECTL = re.compile(r'E\d{4} [^"]*"command failed" err=("(?:[^"\\\x00-\x1f]|\\["\\n])*")')
"""The beginning of a line of the log of some builds of kubectl (klog), with a message of kustomize in it."""
_which = lru_cache(maxsize=8)(shutil.which)


class Decision(NamedTuple):
    """How a kustomization is built. With anything in `refused` it is not built."""

    refused: tuple[Result, ...]
    """Errors about the kustomizations of the build."""
    calls: tuple[Call, ...] = ()
    """The calls of our functions in the build; () for a plain build."""
    is_open: bool = False
    """Whether the build needs programs of the machine (git, helm, the user's functions): it is not confined then."""
    is_own: bool = False
    """Whether it runs plugins of the user's, which may read anything: it is built in its own folder, not in a tree."""


_CLOSED = Decision(())


class Output(NamedTuple):
    """The output of kustomize: the manifests on stdout, the messages on stderr."""

    stream: bytes
    messages: Sequence[str] = ()
    """The lines of kustomize itself."""
    findings: Sequence[Result] = ()
    """The findings of our functions; with an error among them there are no manifests."""
    changes: Sequence[tuple[str, Ref]] = ()
    """The objects that our functions have created, updated and removed; each with that verb."""
    inputs: Sequence[Input] = ()
    """The inputs of our functions, in the order of the calls."""
    base: str = ""
    """The name of the folder in the wrapper."""


class BuildCall(NamedTuple):
    """A call of `kustomize build`."""

    path: str
    """The directory, as users name it."""
    tree: Tree | None = None
    """In which it is built; None, for plugins of the user's that may read anything: its own folder."""
    flags: Sequence[str] = ()
    """Passed to kustomize."""
    decision: Decision = _CLOSED
    """Which of our functions it calls, and whether it can run other programs."""
    kustomization: Manifest | None = None
    """The one in the directory."""
    origins: bool = False
    """Whether each resource gets an annotation with its origin, relative to the wrapper."""
    seconds: int = 60
    """How long it may take."""
    shared: Workspace | None = None
    """The workspace of a run, in which there is no wrapper; None: a new one, with a wrapper."""

    @property
    def name(self) -> str:
        """Return what is run, as messages have it."""
        return f"kustomize build {self.path}"


def build(call: BuildCall) -> Output:
    """Return the output of `kustomize build`, local-config resources included.

    Raises KrmfnError with kustomize's messages when it fails or is missing, when it exceeds its seconds or another
    bound (see `process`), and when temporary files cannot be written. An error that our functions report as findings is
    not raised.
    """
    path, tree, flags, decision = call.path, call.tree, call.flags, call.decision
    command, names = _command(decision), tree.names if tree else {}
    with open_workspace(call.shared) as workspace:
        folder, real = workspace.folder(), tree.folder if tree else os.path.realpath(path)
        refuse_inside(path, real, folder)
        confinement = workspace.confinement(decision.calls, names)
        top = workspace.write(tree) if tree else real
        base = "" if call.shared else os.path.basename(folder)  # random, so no folder of a repository has this name
        if base:
            top = _wrapper(call, folder, top, workspace.build_name)
        bounds = tree and confinement.bounds(command[0], decision.is_open)
        environment = _environment(decision, {flag.partition("=")[0] for flag in flags}, confinement.environment)
        command += [top, *flags, *confinement.flags]
        program = process.Program(command, environment, call.name, call.seconds, top if tree else None)
        done = process.run(program, bounds)
        inputs = confinement.inputs() if decision.calls else []
    local = workspace.build_name.encode(), LOCAL.encode()
    stderr, stream = (_restore_names(text.replace(*local), names) for text in (done.stderr, done.stdout))
    lines = _lines(stderr, folder, base, path)
    output = _check(call.name, done.returncode, Output(stream, *_messages(lines, bool(decision.calls)), inputs, base))
    return (
        output if call.origins or not base else output._replace(stream=provenance.without_wrapper(output.stream, base))
    )


def _lines(stderr: bytes, folder: str, base: str, path: str) -> list[str]:
    """Return the lines of kustomize's stderr, with the path that users know in place of temporary folders."""
    text = stderr.decode(errors="replace").replace(f"{folder}/wrapper/{base}", path).replace(f"{folder}/tree", "")
    return text.replace(os.path.basename(folder), path).strip().splitlines()


def _restore_names(text: bytes, names: Mapping[str, str]) -> bytes:
    """Return kustomize's output with the functions under their names in the repository, in one pass for all of them."""
    values = {name: value for value, name in names.items()}
    return _NAME.sub(lambda match: values.get(match[0].decode(), match[0].decode()).encode(), text) if names else text


def _check(name: str, code: int, output: Output) -> Output:
    """Return the output, without manifests if one of our functions has reported an error. Raises KrmfnError."""
    if code == 1 and any(finding.severity == "error" for finding in output.findings):
        return output._replace(stream=b"", messages=[line for line in output.messages if _STOPPED not in line])
    if code < 0:
        raise KrmfnError(f"{name} was ended by signal {-code}", *output.messages)
    if code:
        matches = ((line, _FROM_KUBECTL.match(line)) for line in output.messages)
        messages = [json.loads(match[1]) if match else line for line, match in matches]
        if unapplied.is_said(messages):
            raise unapplied.Unapplied(name, messages)
        raise KrmfnError(f"{name} failed:", *messages)
    return output


def _wrapper(call: BuildCall, folder: str, target: str, build_name: str) -> str:
    """Write a wrapper around the kustomization in the folder `target`, and return the wrapper's folder.

    It has the fields that count only in the outermost kustomization. It lists the folder, under components or
    resources, by a link with the name of the workspace's folder, since kustomize refuses a folder with two dots in its
    name, as in `a..b`.
    """
    base, kustomization = os.path.basename(folder), call.kustomization or {}
    source, destination = (f"/metadata/annotations/{key.replace('/', '~1')}" for key in (LOCAL, build_name))
    move = [{"op": "move", "from": source, "path": destination}]
    manifest: Manifest = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "components" if kustomization.get("kind") == "Component" else "resources": [base],
        "patches": [{"target": {"annotationSelector": LOCAL}, "patch": emit.dump_json(move)}],
    }
    metadata = dict.fromkeys(
        [*(kustomization.get("buildMetadata") or ()), *(provenance.OPTIONS if call.origins else ())]
    )
    options = {"buildMetadata": [*metadata], "sortOptions": kustomization.get("sortOptions")}
    text = emit.dump(manifest | {field: value for field, value in options.items() if value})
    wrapper = Path(folder, "wrapper")
    wrapper.mkdir()
    (wrapper / base).symlink_to(target)
    (wrapper / "kustomization.yaml").write_text(text, encoding="utf-8")
    return str(wrapper)


def _environment(decision: Decision, flags: Collection[str], confined: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment of kustomize: confined, unless it also needs programs of the machine (git, helm)."""
    if "--enable-alpha-plugins" in flags:
        return os.environ  # the user's own plugins may need any variable
    environment = {**confined}
    if decision.is_open:
        environment |= variables(OPEN) | (variables(HELM) if "--enable-helm" in flags else {})
    if decision.calls:
        path = f"{confined['PATH']}{os.pathsep}{environment['PATH']}" if decision.is_open else confined["PATH"]
        environment |= {**confined, "PATH": path, streams.VARIABLE: "json"}
    return environment


def _messages(lines: Sequence[str], is_ours: bool) -> tuple[list[str], list[Result], list[tuple[str, Ref]]]:
    """Divide stderr into kustomize's messages, and the findings and changes of our functions (see `streams.Log`)."""
    messages: list[str] = []
    findings: list[Result] = []
    changes: list[tuple[str, Ref]] = []
    for line in lines:
        entry: dict[str, Any] = {}
        with suppress(ValueError):
            entry = json.loads(line) if is_ours and line.startswith('{"level": "') else {}
        entry = entry if entry.keys() >= {"message", "rule", "ref", "path", "file"} else {}
        if not (entry.get("rule") or entry.get("ref")):  # an entry without both is a failure, or a crash
            messages += entry["message"].splitlines() if entry else [line]
            continue
        ref = Ref(*(entry["ref"][key] for key in ("apiVersion", "kind", "namespace", "name"))) if entry["ref"] else None
        verb = entry["message"].partition(" ")[0]
        if ref and not entry["rule"] and verb in ("created", "updated", "removed"):
            changes.append((verb, ref))
            continue
        field = Field(entry["path"]) if entry["path"] else None
        place = Place(entry["file"], 0, entry["line"] or 0) if entry["file"] else None
        tags = ((UNLISTED, str(entry[UNLISTED])),) if entry.get(UNLISTED) else ()
        facts = facts_of(entry.get("facts") or {})
        about = (ref, field, place, tags, facts, (), entry.get("remedy") or "")
        findings.append(Result(entry["message"], entry["level"], entry["rule"] or "", *about))
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
