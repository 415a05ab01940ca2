"""What Flux applies of a folder without a kustomization: its kustomize-controller writes one that lists all manifests.

Hidden ones count, too. A folder below that has a kustomization is listed as it is, and nothing else in it counts. Links
are not fetched.
Source: fluxcd/pkg kustomize 1.35.6, kustomize_generator.go, scanManifests; sourceignore 0.18, sourceignore.go.
"""

import os
from collections.abc import Iterator

from krmfn import KrmfnError

from ..paths.manifests import KUSTOMIZATIONS

NAME = ".sourceignore"
_MOST = 500
"""How many patterns of one GitRepository are given to Git; with more of them it is not known what they leave out."""
_SUFFIXES = (".yaml", ".yml")
_UNFETCHED = frozenset(
    {
        *(".git", ".github", ".circleci", ".travis.yml", ".gitlab-ci.yml", "appveyor.yml", ".drone.yml"),
        *("cloudbuild.yaml", "codeship-services.yml", "codeship-steps.yml"),
        *(".goreleaser.yml", ".sops.yaml", ".flux.yaml"),
    }
)
"""Folders and manifests that Flux never fetches, unless a pattern takes them back, which nobody does."""


def listed(folder: str) -> Iterator[str]:
    """Yield the paths that Flux lists of a folder: files, and folders with a kustomization."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name in _UNFETCHED:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from (entry.path,) if has_kustomization(entry.path) else listed(entry.path)
        elif entry.name.endswith(_SUFFIXES) and entry.is_file(follow_symlinks=False):
            yield entry.path


def has_kustomization(folder: str) -> bool:
    """Return True for a folder in which Flux finds a kustomization."""
    return any(os.path.isfile(os.path.join(folder, name)) for name in KUSTOMIZATIONS)


def ignored(top: str, ignore: str) -> list[str]:
    """Return the paths of the files of a repository that Flux leaves out. Raises KrmfnError where Git cannot tell.

    `ignore` is the GitRepository's; Git itself matches the patterns.
    """
    from ..paths import git  # imported here: most repositories have nothing of Flux

    lines = [line for line in ignore.splitlines() if line.strip() and not line.startswith("#")]
    if len(lines) > _MOST:
        raise KrmfnError(f"spec.ignore of a GitRepository has {len(lines):,} patterns")
    patterns = [word for line in lines for word in ("-x", line)]
    listing = ("ls-files", "-z", "--cached", "--others", "--ignored", f"--exclude-per-directory={NAME}")
    names = git.run(top, *listing, *patterns).split("\0")
    return [os.path.join(top, name) for name in names if name]


def has_patterns(top: str, ignore: str) -> bool:
    """Return True where there may be patterns by which Flux leaves files out."""
    return bool(ignore) or any(NAME in names for _, _, names in os.walk(top))
