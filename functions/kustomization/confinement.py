"""The environment in which kustomize runs no program but ours, whatever a repository holds.

kustomize looks a function's bare name, `docker` for containers, and git up on PATH, and plugins of the old kind in a
plugin home. Here PATH is one folder with launchers for the programs that the graph names, and the plugin home is empty.
A path with a slash is not looked up: that is why the graph is read before (see `calls`).

Variables are given by name, so that a secret of the CI's is not among them. A build that is closed needs little:
kustomize neither fetches nor starts anything but functions of ours. One that the user has opened, with --allow-remote
or --enable-helm, has what git, ssh, helm and version managers are told with.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import krmfn
from krmfn.errors import KrmfnError
from krmfn.typed import NamedTuple

from ..paths.roots import parents
from . import calls as ours
from .calls import ENTRY_POINTS, Call
from .landlock import Bounds

FLAGS = ("--enable-alpha-plugins", "--enable-exec")
"""What kustomize needs to call functions. Without --enable-exec it passes over commands without a word."""

SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/nix", "/sys"),
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
)
"""What any program may need of the system; /proc is not among it, where root can read what others are told."""

CLOSED = (
    "HOME|USER|LOGNAME|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|GOMAXPROCS|GOMEMLIMIT|LD_LIBRARY_PATH|"
    "KRMFN_LOG_FORMAT|KRMFN_MAX_BYTES|KRMFN_VERBOSE"
)
"""What every build gets; PATH, XDG_CONFIG_HOME and KUSTOMIZE_PLUGIN_HOME are made for it (see `confined`).

HOME is for a kustomize that is a script of the user's, and for kubectl, which would look for its settings in the
working folder without it; those of Go say what a container leaves to it; LD_LIBRARY_PATH may be where our Python is.
"""
OPEN = (
    "HTTP_PROXY|HTTPS_PROXY|NO_PROXY|ALL_PROXY|http_proxy|https_proxy|no_proxy|all_proxy|SSL_CERT_FILE|SSL_CERT_DIR|"
    "SSH_AUTH_SOCK|SSH_ASKPASS|GIT_.*|ARGOCD_GIT_.*|ARGOCD_ASK_.*|PATH|XDG_.*|ASDF_.*|MISE_.*"
)
"""What a build gets, too, that the user has opened."""
HELM = "HELM_.*|REGISTRY_AUTH_FILE|DOCKER_CONFIG|AWS_.*|AZURE_.*|GOOGLE_.*"
"""What a build gets, too, that may run helm: for registries, and for the stores of charts that its plugins know."""

_DOCKER = """\
#!/bin/sh
# Runs krmfn's programs in place of their images. kustomize calls `docker run ... IMAGE`.
for image; do :; done
case "$image" in
{cases}esac
echo "the image $image is not krmfn's and is not run" >&2
exit 125
"""


class Seen(NamedTuple):
    """What a program of ours was shown in one call: a ResourceList."""

    program: str
    text: bytes


class Confinement(NamedTuple):
    """How to call kustomize."""

    flags: tuple[str, ...]
    environment: dict[str, str]
    """The variables of a closed build."""
    folder: Path
    """Where each call leaves what it was shown."""

    def bounds(self, program: str, is_open: bool) -> Bounds:
        """Return what kustomize, which is `program`, and what it starts may reach beside the folder of the build.

        That is the system's folders and those of PATH, for kustomize may be a script that starts another. One that
        `is_open` starts git and helm, which read their settings anywhere, and keep what they fetch in the home folder.
        """
        own = str(self.folder.parent)
        if is_open:
            return Bounds(frozenset("/"), frozenset((own, "/dev", str(Path.home()))), is_offline=False)
        given = (os.environ.get("PATH", ""), os.environ.get("LD_LIBRARY_PATH", ""))
        read = _programs(program, os.pathsep.join(given)) | (_python() if self.flags else frozenset())
        written = (self.environment["TMPDIR"], str(self.folder), os.devnull)
        return Bounds(read | {own}, frozenset(written))

    def seen(self) -> list[Seen]:
        """Return what our programs were shown, in the order of the calls."""
        files = sorted(self.folder.iterdir(), key=lambda file: int(file.name.partition("-")[0]))
        return [Seen(file.name.partition("-")[2], file.read_bytes()) for file in files]


@lru_cache
def _programs(program: str, path: str) -> frozenset[str]:
    """Return the folders of the system, of a program, and those of a PATH, without what is in another one of them."""
    own = [str(Path(name).parent) for name in (program, os.path.realpath(program))]
    every = {os.path.realpath(one) for one in (*SYSTEM, *own, *path.split(os.pathsep)) if os.path.isabs(one)}
    return frozenset(one for one in every if every.isdisjoint(above for above in parents(one) if above != one))


@lru_cache
def _python() -> frozenset[str]:
    """Return the folders of this Python, and of our programs."""
    functions = Path(ours.__file__).resolve().parent.parent
    packages = [str(Path(krmfn.__file__).parent), str(functions), str(functions.parent / "schemas")]
    python = [sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent), *sys.path, *packages]
    return frozenset(filter(os.path.isabs, python))


def confined(folder: str, calls: Sequence[Call], names: Mapping[str, str] = {}) -> Confinement:
    """Return flags and environment for builds in `folder` that call the programs of `calls`; () for none.

    Our programs are started by this interpreter with its own paths, never from the working folder. `names` are those by
    which kustomize calls a program or an image; without one it calls it as it is written. Raises KrmfnError for a call
    that is not ours, and when no program can be run from the temporary folder; OSError when nothing can be written.
    """
    foreign = next((call for call in calls if call.program not in ENTRY_POINTS), None)
    if foreign:
        raise KrmfnError(f"{foreign.field}: {foreign.problem or 'calls a function that is not part of krmfn'}")
    if os.pathsep in folder:
        raise KrmfnError(f"{folder} cannot be added to the environment variable PATH; set TMPDIR to another folder")
    programs, seen = Path(folder, "bin"), Path(folder, "seen")
    made = [os.path.join(folder, name) for name in ("bin", "none", "seen", "tmp")]
    for name in made:
        os.mkdir(name)
    for name in sorted({call.program for call in calls}):
        _install(programs / names.get(name, name), _launcher(seen, name))
    images = {names.get(one.image, one.image): names.get(one.program, one.program) for one in calls if one.image}
    if images:
        cases = "".join(
            f"{shlex.quote(image)}) exec {shlex.quote(str(programs / name))};;\n" for image, name in images.items()
        )
        _install(programs / "docker", _DOCKER.format(cases=cases))
    own = {"PATH": made[0], "KUSTOMIZE_PLUGIN_HOME": made[1], "XDG_CONFIG_HOME": made[1], "TMPDIR": made[3]}
    return Confinement(FLAGS if calls else (), {"HOME": made[1], **named(CLOSED), **own}, seen)


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


def _launcher(seen: Path, name: str) -> str:
    """Return the script that starts a program of ours, whatever its working folder and environment hold.

    -I takes neither the working folder nor PYTHONPATH; what this process was given by them it passes on as it is now.
    What the program is shown is kept in the folder `seen`: whether a resource is changed later can only be seen there.
    """
    if not sys.executable:
        raise KrmfnError(
            "the Python that runs krmfn has no path, so kustomize cannot call krmfn; run the image instead"
        )
    module, _, function = ENTRY_POINTS[name].partition(":")
    # what is no absolute path (that of an editable install's hook) would be one in the repository
    paths = [str(Path(path).resolve()) for path in sys.path if os.path.isabs(path)]
    code = _CODE.format(folder=str(seen), name=name, paths=paths, module=module, function=function)
    return f"#!/bin/sh\nexec {shlex.join([sys.executable, '-I', '-c', code])}\n"


def _install(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o700)
    if not os.access(path, os.X_OK):
        raise KrmfnError(
            f"programs cannot be run from the temporary folder {path.parent.parent.parent}, so kustomize cannot "
            "call krmfn; set the environment variable TMPDIR to another folder"
        )


def named(names: str) -> dict[str, str]:
    """Return the variables of our environment with these names."""
    is_named = re.compile(names).fullmatch
    return {name: value for name, value in os.environ.items() if is_named(name)}
