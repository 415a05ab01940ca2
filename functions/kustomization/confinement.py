"""The environment in which kustomize runs no program but ours, whatever a repository holds.

kustomize looks a function's bare name, `docker` for containers, and git up on PATH, and plugins of the old kind in a
plugin home. Here PATH is one folder with launchers for the programs that the graph names, and the plugin home is empty.
A path with a slash is not looked up: that is why the graph is read before (see `calls`).
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from krmfn.errors import KrmfnError

from .calls import Call

FLAGS = ("--enable-alpha-plugins", "--enable-exec")
"""What kustomize needs to call functions. Without --enable-exec it passes over commands without a word."""

_DOCKER = """\
#!/bin/sh
# Runs krmfn's programs in place of their images. kustomize calls `docker run ... IMAGE`.
for image; do :; done
case "$image" in
{cases}esac
echo "the image $image is not krmfn's and is not run" >&2
exit 125
"""

_NOTHING: Mapping[str, str] = {}


class Seen(NamedTuple):
    """What a program of ours was shown in one call: a ResourceList."""

    program: str
    text: bytes


class Confinement(NamedTuple):
    """How to call kustomize."""

    flags: tuple[str, ...]
    environment: dict[str, str]
    """The variables that are made for the build."""
    folder: Path
    """Where each call leaves what it was shown."""

    def seen(self) -> list[Seen]:
        """Return what our programs were shown, in the order of the calls."""
        files = sorted(self.folder.iterdir(), key=lambda file: int(file.name.partition("-")[0]))
        return [Seen(file.name.partition("-")[2], file.read_bytes()) for file in files]


@contextmanager
def confined(
    calls: Iterable[Call], entry_points: Mapping[str, str], names: Mapping[str, str] = _NOTHING
) -> Iterator[Confinement]:
    """Yield flags and environment for a build that calls the programs of `calls`; () for one that calls none.

    `entry_points` are our programs as Python has them: `{"krmfn": "package.module:function"}`. They are started by this
    interpreter with its own paths, never from the working folder. `names` are those by which kustomize calls a program
    or an image; without one it calls it as it is written. Raises KrmfnError for a call that is not ours, and when no
    program can be run from the temporary folder.
    """
    calls = list(calls)
    foreign = next((call for call in calls if call.program not in entry_points), None)
    if foreign:
        raise KrmfnError(f"{foreign.field}: {foreign.problem or 'calls a function that is not part of krmfn'}")
    with tempfile.TemporaryDirectory(prefix="krmfn-", ignore_cleanup_errors=True) as folder:
        if os.pathsep in folder:
            raise KrmfnError(f"{folder} cannot be added to the environment variable PATH; set TMPDIR to another folder")
        programs = Path(folder, "bin")
        seen = Path(folder, "seen")
        for name in ("bin", "plugins", "config", "seen"):
            Path(folder, name).mkdir()
        for name in sorted({call.program for call in calls}):
            text = f"#!/bin/sh\nexec {shlex.join(_command(entry_points[name], seen, name))}\n"
            _install(programs / names.get(name, name), text)
        images = {names.get(one.image, one.image): names.get(one.program, one.program) for one in calls if one.image}
        if images:
            cases = "".join(
                f"{shlex.quote(image)}) exec {shlex.quote(str(programs / name))};;\n" for image, name in images.items()
            )
            _install(programs / "docker", _DOCKER.format(cases=cases))
        environment = {
            "PATH": str(programs),
            "KUSTOMIZE_PLUGIN_HOME": str(Path(folder, "plugins")),
            "XDG_CONFIG_HOME": str(Path(folder, "config")),
        }
        yield Confinement(FLAGS if calls else (), environment, seen)


_CODE = """\
import os, shutil, sys, time
name = os.path.join({folder!r}, f"{{time.monotonic_ns()}}-{name}")
with open(name, "xb") as seen:
    shutil.copyfileobj(sys.stdin.buffer, seen)
os.dup2(os.open(name, os.O_RDONLY), 0)
sys.path[:] = {paths!r}
from {module} import {function} as run
run()
"""


def _command(entry_point: str, seen: Path, name: str) -> list[str]:
    """Return the command that starts a program of ours, whatever its working folder and environment hold.

    -I takes neither the working folder nor PYTHONPATH; what this process was given by them it passes on as it is now.
    What the program is shown is kept in the folder `seen`: whether a resource is changed later can only be seen there.
    """
    if not sys.executable:
        raise KrmfnError(
            "the Python that runs krmfn has no path, so kustomize cannot call krmfn; run the image instead"
        )
    module, _, function = entry_point.partition(":")
    paths = [str(Path(path).resolve()) for path in sys.path if path]
    code = _CODE.format(folder=str(seen), name=name, paths=paths, module=module, function=function)
    return [sys.executable, "-I", "-c", code]


def _install(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o700)
    if not os.access(path, os.X_OK):
        raise KrmfnError(
            f"programs cannot be run from the temporary folder {path.parent.parent.parent}, so kustomize cannot "
            "call krmfn; set the environment variable TMPDIR to another folder"
        )
