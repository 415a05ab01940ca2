"""The environment in which kustomize runs only our programs, whatever a repository holds.

kustomize looks up on PATH a function's bare name, `docker` for containers, and git; old plugins it looks up in the
plugin home. Here PATH is one folder with launchers for the programs that the graph names, and the plugin home is empty.
A path with a slash is not looked up on PATH; so the graph is checked for those first (see `calls`).

Only variables with known names are passed on, and so no secrets of a CI. A closed build needs few: kustomize fetches
nothing, and starts only our functions. A build that the user has opened, with --allow-remote or --enable-helm, also
gets the variables of git, ssh, helm and version managers.
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

from ..mistake import Mistake
from ..paths.roots import parents
from . import calls as ours
from .calls import ENTRY_POINTS, Call
from .landlock import Bounds

FLAGS = ("--enable-alpha-plugins", "--enable-exec")
"""The flags that kustomize needs to call functions. Without --enable-exec it silently skips commands."""

SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/nix", "/sys"),
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
)
"""What any program may need of the system; not /proc, where root can read the environment of other processes."""

CLOSED = (
    "HOME|USER|LOGNAME|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|GOMAXPROCS|GOMEMLIMIT|LD_LIBRARY_PATH|"
    "KRMFN_LOG_FORMAT|KRMFN_MAX_BYTES|KRMFN_VERBOSE"
)
"""The variables of every build; PATH, XDG_CONFIG_HOME and KUSTOMIZE_PLUGIN_HOME are set for it (see `confine`).

HOME is for a kustomize that is a script of the user's, and for kubectl, which would look for its settings in the
working folder without it. Those of Go hold the limits of a container. LD_LIBRARY_PATH may be needed by our Python.
"""
OPEN = (
    "HTTP_PROXY|HTTPS_PROXY|NO_PROXY|ALL_PROXY|http_proxy|https_proxy|no_proxy|all_proxy|SSL_CERT_FILE|SSL_CERT_DIR|"
    "SSH_AUTH_SOCK|SSH_ASKPASS|GIT_.*|ARGOCD_GIT_.*|ARGOCD_ASK_.*|PATH|XDG_.*|ASDF_.*|MISE_.*"
)
"""The variables that a build also gets when the user has opened it."""
HELM = "HELM_.*|REGISTRY_AUTH_FILE|DOCKER_CONFIG|AWS_.*|AZURE_.*|GOOGLE_.*"
"""The variables that a build also gets when it may run helm: for registries and for chart stores of plugins."""

_DOCKER = """\
#!/bin/sh
# Runs krmfn's programs in place of their images. kustomize calls `docker run ... IMAGE`.
for image; do :; done
case "$image" in
{cases}esac
echo "the image $image is not krmfn's and is not run" >&2
exit 125
"""


class Input(NamedTuple):
    """The ResourceList that one of our programs got in one call."""

    program: str
    text: bytes


class Confinement(NamedTuple):
    """How to call kustomize."""

    flags: tuple[str, ...]
    environment: dict[str, str]
    """The variables of a closed build."""
    folder: Path
    """The folder in which each call leaves its input."""

    def bounds(self, program: str, is_open: bool) -> Bounds:
        """Return what kustomize, at the path `program`, and the programs that it starts may access.

        These are the system's folders and those of PATH, since kustomize may be a script that starts another program.
        If the build `is_open`, they start git and helm, which read settings anywhere and keep files in the home folder.
        """
        workspace = str(self.folder.parent)
        if is_open:
            return Bounds(frozenset("/"), frozenset((workspace, "/dev", str(Path.home()))), is_offline=False)
        paths = (os.environ.get("PATH", ""), os.environ.get("LD_LIBRARY_PATH", ""))
        readable = _programs(program, os.pathsep.join(paths)) | (_python() if self.flags else frozenset())
        writable = (self.environment["TMPDIR"], str(self.folder), os.devnull)
        return Bounds(readable | {workspace}, frozenset(writable))

    def inputs(self) -> list[Input]:
        """Return the inputs of our programs, in the order of the calls."""
        files = sorted(self.folder.iterdir(), key=lambda file: int(file.name.partition("-")[0]))
        return [Input(file.name.partition("-")[2], file.read_bytes()) for file in files]


@lru_cache
def _programs(program: str, path: str) -> frozenset[str]:
    """Return the folders of the system, of a program and of a PATH, without those that are below another one."""
    names = [*SYSTEM, os.path.dirname(program), os.path.dirname(os.path.realpath(program)), *path.split(os.pathsep)]
    folders = {os.path.realpath(name) for name in names if os.path.isabs(name)}
    return frozenset(folder for folder in folders if folders.isdisjoint([*parents(folder)][1:]))


@lru_cache
def _python() -> frozenset[str]:
    """Return the folders of this Python and of our programs."""
    functions = Path(ours.__file__).resolve().parent.parent
    packages = [str(Path(krmfn.__file__).parent), str(functions), str(functions.parent / "schemas")]
    python = [sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent), *sys.path, *packages]
    return frozenset(filter(os.path.isabs, python))


def confine(folder: str, calls: Sequence[Call], names: Mapping[str, str] = {}) -> Confinement:
    """Prepare `folder` for builds that call the programs of `calls`; return flags and environment for kustomize.

    Our programs are started by this interpreter with its own paths, never from the working folder. `names` are the
    random names under which kustomize calls a program or an image, if they have one. Raises KrmfnError for a call that
    is not ours, and when no program can be run from the temporary folder; OSError when nothing can be written.
    """
    foreign = next((call for call in calls if call.program not in ENTRY_POINTS), None)
    if foreign:
        mistake = foreign.mistake or Mistake("calls a function that is not part of krmfn")
        raise KrmfnError(mistake.after(f"{foreign.field}: ").text)
    if os.pathsep in folder:
        raise KrmfnError(f"{folder} cannot be added to the environment variable PATH; set TMPDIR to another folder")
    programs, empty, inputs, temporary = (os.path.join(folder, name) for name in ("bin", "none", "seen", "tmp"))
    for name in (programs, empty, inputs, temporary):
        os.mkdir(name)
    launchers = {call.program: os.path.join(programs, names.get(call.program, call.program)) for call in calls}
    for name, path in launchers.items():
        _install(Path(path), _launcher(inputs, name))
    images = {names.get(call.image, call.image): launchers[call.program] for call in calls if call.image}
    if images:
        cases = "".join(f"{shlex.quote(image)}) exec {shlex.quote(path)};;\n" for image, path in images.items())
        _install(Path(programs, "docker"), _DOCKER.format(cases=cases))
    paths = {"PATH": programs, "KUSTOMIZE_PLUGIN_HOME": empty, "XDG_CONFIG_HOME": empty, "TMPDIR": temporary}
    return Confinement(FLAGS if calls else (), {"HOME": empty, **variables(CLOSED), **paths}, Path(inputs))


_CODE = """\
import os, shutil, sys, time
name = os.path.join({folder!r}, f"{{time.monotonic_ns()}}-{name}")
with open(name, "xb") as file:
    shutil.copyfileobj(sys.stdin.buffer, file)
os.dup2(os.open(name, os.O_RDONLY), 0)
sys.path[:] = {paths!r}
from {module} import {function} as run
run()
"""


def _launcher(folder: str, name: str) -> str:
    """Return the script that starts one of our programs, and copies its input into a folder.

    -I ignores the working folder and PYTHONPATH, so the script has the import paths of this process. The input is kept
    because only it shows whether a resource was changed after the call.
    """
    if not sys.executable:
        raise KrmfnError(
            "the Python that runs krmfn has no path, so kustomize cannot call krmfn; run the image instead"
        )
    module, _, function = ENTRY_POINTS[name].partition(":")
    code = _CODE.format(folder=folder, name=name, paths=import_paths(), module=module, function=function)
    return f"#!/bin/sh\nexec {shlex.join([sys.executable, '-I', '-c', code])}\n"


def import_paths() -> list[str]:
    """Return where this process finds modules; a relative path, as in an editable install's hook, leads elsewhere."""
    return [str(Path(path).resolve()) for path in sys.path if os.path.isabs(path)]


def _install(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o700)
    if not os.access(path, os.X_OK):
        raise KrmfnError(
            f"programs cannot be run from the temporary folder {path.parent.parent.parent}, so kustomize cannot "
            "call krmfn; set the environment variable TMPDIR to another folder"
        )


def variables(pattern: str) -> dict[str, str]:
    """Return the variables of our environment whose names match a regular expression."""
    matches = re.compile(pattern).fullmatch
    return {name: value for name, value in os.environ.items() if matches(name)}
