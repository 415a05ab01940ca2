"""The files for CI that krmfn ships, with the copy of krmfn and its commit in place: `gitops/ci` of the repository."""

import re
from collections.abc import Mapping
from pathlib import Path

from krmfn import KrmfnError
from krmfn.typed import Literal, NamedTuple

from .beginnings import File

Server = Literal["github", "gitlab"]
GITLAB = ".gitlab-ci.yml"
INCLUDED = "krmfn.gitlab-ci.yml"
"""The pipeline beside a .gitlab-ci.yml that is there."""
_REPOSITORY, _COMMIT = "https://git.example.com/krmfn", "0" * 40
_WORKFLOW, _ACTION = ".github/workflows/krmfn.yaml", ".github/actions/krmfn/action.yaml"
_SOURCES: Mapping[Server, Mapping[str, str]] = {
    "github": {_WORKFLOW: "github/workflows/krmfn.yaml", _ACTION: "github/actions/krmfn/action.yaml"},
    "gitlab": {GITLAB: "gitlab/.gitlab-ci.yml"},
}
"""The files for each server by where they go: what `gitops/ci` calls them."""
PATHS = frozenset({INCLUDED, *(path for sources in _SOURCES.values() for path in sources)})
"""Where these files go, from the root of the repository."""
_PURPOSES = {
    _WORKFLOW: "checks each pull request, and comments on it what changes on the clusters",
    _ACTION: "the steps of that: installs krmfn at its commit, and runs `krmfn ci`",
    GITLAB: "checks each merge request, and reports what changes on the clusters",
}
_LOST = {
    "github": re.compile(r"(?m)^( +)(fail-on: lost\b.*)$"),
    "gitlab": re.compile(r"(?m)^( +# lost: .*\n +)(KRMFN_FAIL_ON: lost)$"),
}
"""What fails a change by which a node loses a driver; without inventories no node is known, and every change fails."""
_LATER = {"github": r"\1# \2", "gitlab": r"""\1KRMFN_FAIL_ON: "" # with inventories: lost"""}
"""The same until there are inventories: a comment that somebody takes the mark from."""
_OFFER = {"github": "`fail-on: lost`", "gitlab": "`KRMFN_FAIL_ON: lost`"}
_PIN = re.compile(r"(https://[\w.-]+(?::[0-9]+)?/[\w./~-]+)@([0-9a-f]{40})")


class Pin(NamedTuple):
    """The krmfn that CI installs."""

    repository: str
    commit: str


def pin_of(text: str) -> Pin:
    """Return a pin from URL@COMMIT. Raises KrmfnError for another form."""
    match = _PIN.fullmatch(text)
    if not match or match[2] == _COMMIT:
        raise KrmfnError(f"--pin {text!r} must be https://HOST/PATH@COMMIT, with the 40 digits of a commit of krmfn")
    return Pin(match[1], match[2])


def paths(server: Server, is_included: bool = False) -> list[str]:
    """Return where the files for a CI server go, from the root of the repository."""
    return [INCLUDED if is_included and path == GITLAB else path for path in _SOURCES[server]]


def files(server: Server, pin: Pin, has_nodes: bool, is_included: bool = False) -> list[File]:
    """Return the files for a CI server.

    `has_nodes` says whether the repository has inventories; `is_included` that a .gitlab-ci.yml is there.
    """
    result = []
    for place, (path, source) in zip(paths(server, is_included), _SOURCES[server].items(), strict=True):
        text = (_folder() / source).read_text().replace(_REPOSITORY, pin.repository).replace(_COMMIT, pin.commit)
        if not has_nodes:
            text = _LOST[server].sub(_LATER[server], text)
        purpose = _PURPOSES[path]
        if not has_nodes and path != _ACTION:
            purpose += f"; with the first inventory, switch on {_OFFER[server]} in it"
        result.append(File(place, text.encode(), purpose))
    return result


def _folder() -> Path:
    """Return the folder of the recipes, as it is installed, or as it stands in the repository."""
    package = Path(__file__).parent.parent
    installed = package / "recipes"
    return installed if installed.is_dir() else package.parent / "gitops" / "ci"
