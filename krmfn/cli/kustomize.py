"""Builds with kustomize, through an overlay that keeps local-config resources.

A plain `kustomize build` drops resources with the annotation config.kubernetes.io/local-config before anybody sees
them, DeviceConfigs among them. The wrapper moves the annotation aside with a built-in patch; no function is called
inside kustomize for it, since calling any costs kustomize two to three times its own time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..errors import KrmfnError

LOCAL = "config.kubernetes.io/local-config"
ASIDE = "krmfn.dev/aside-while-kustomize-builds"
"""Where the wrapper moves the annotation while kustomize builds."""

_WRAPPER = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- {base}
patches:
- target:
    annotationSelector: {local}
  patch: |-
    - op: move
      from: /metadata/annotations/{local_key}
      path: /metadata/annotations/{aside_key}
"""


class Built(NamedTuple):
    """Output of kustomize: the manifests on stdout, the messages on stderr."""

    stream: bytes
    messages: str


def build(path: str, flags: Sequence[str] = ()) -> Built:
    """Return the output of `kustomize build` for the directory `path`, local-config resources included.

    `flags` go to kustomize as they are. Raises KrmfnError with kustomize's own messages when it fails or is missing.
    """
    command = _command()
    try:
        with tempfile.TemporaryDirectory(prefix="krmfn-", ignore_cleanup_errors=True) as folder:
            Path(folder, "kustomization.yaml").write_text(_wrapper(path, folder), encoding="utf-8")
            done = _run([*command, folder, *flags])
    except OSError as failure:
        raise KrmfnError(
            f"kustomize needs a temporary folder, and none can be written: {failure.strerror}; "
            "name one with the environment variable TMPDIR"
        ) from failure
    messages = done.stderr.decode(errors="replace").strip()
    if done.returncode < 0:
        raise KrmfnError(f"kustomize build {path} was ended by signal {-done.returncode}", *messages.splitlines())
    if done.returncode:
        raise KrmfnError(f"kustomize build {path} failed:", *messages.splitlines(), *_hint(messages))
    return Built(done.stdout.replace(ASIDE.encode(), LOCAL.encode()), messages)


def _wrapper(path: str, folder: str) -> str:
    base = os.path.relpath(Path(path).resolve(), Path(folder).resolve())
    return _WRAPPER.format(base=_quoted(base), local=LOCAL, local_key=_pointer(LOCAL), aside_key=_pointer(ASIDE))


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, capture_output=True, check=False)
    except OSError as failure:
        raise KrmfnError(f"{command[0]} cannot be run: {failure.strerror}; install kustomize") from failure


def _command() -> list[str]:
    if path := shutil.which("kustomize"):
        return [path, "build"]
    if path := shutil.which("kubectl"):
        return [path, "kustomize"]
    raise KrmfnError("it has a kustomization, but neither kustomize nor kubectl is on PATH; install kustomize")


def _hint(messages: str) -> list[str]:
    if "external plugins disabled" in messages or "--enable-exec" in messages:
        return [
            "the kustomization calls a function itself: run `kustomize build --enable-alpha-plugins --enable-exec` "
            "instead of render, take the function out of `transformers:`, or pass kustomize its flags with --kustomize"
        ]
    return []


def _pointer(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
