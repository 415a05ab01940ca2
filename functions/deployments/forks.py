"""Whether the objects of engines speak of this repository by the URL of one that it is a fork or a mirror of."""

import posixpath
from collections.abc import Iterator, Sequence

from krmfn.typed import Any

from .deployment import EngineObject, Problem, Repository, normal_url

_URLS = ("repoURL", "url", "repo")
"""The fields with a URL: of Argo CD's sources, of Flux's GitRepository, of Fleet's GitRepo."""


def problems(objects: Sequence[EngineObject], repository: Repository) -> Iterator[Problem]:
    """Yield a problem where no object names a remote of the repository, and one names a repository called as it is.

    The objects are then taken to be about another repository, so nothing of this one is known to be deployed.
    """
    named = [(item, url) for item in objects for url in urls(item.manifest.get("spec"))]
    if not repository.urls or any(repository.is_ours(url) for _, url in named):
        return
    names = {posixpath.basename(normal_url(url)) for url in repository.urls} - {""}
    for item, url in named:
        if posixpath.basename(normal_url(url)) in names:
            message = f"{url} is no remote of this repository, which is called so, too: it is taken for another one"
            yield Problem(item.origin, message, f"in a fork or a mirror of it, run `git remote add upstream {url}`")
            return


def urls(value: Any, depth: int = 12) -> Iterator[str]:
    """Yield the URLs in an object; at most so many levels deep, since nothing of engines is deeper."""
    parts = [*value.items()] if isinstance(value, dict) else [("", part) for part in value or ()]
    for key, part in parts:
        if isinstance(part, str) and key in _URLS:
            yield part
        elif isinstance(part, dict | list) and depth:
            yield from urls(part, depth - 1)
