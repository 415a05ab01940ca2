"""Where the images of a cluster are copied from: mirrors, and the lists of the tools that copy them."""

from collections.abc import Iterable, Iterator, Sequence

from krmfn import KrmfnError
from krmfn.typed import Any

from . import registry

Mirror = tuple[str, str]
"""What an image's name begins with at its source, and where it is pulled from."""


def mirror(option: str) -> Mirror:
    """Return a mirror from `SOURCE=DESTINATION`. Raises KrmfnError for anything else."""
    source, _, destination = option.partition("=")
    if not source or not destination or "=" in destination:
        raise KrmfnError(f"--mirror {option}: write SOURCE=DESTINATION, such as registry.example.com=mirror.lab:5000")
    return source.rstrip("/"), destination.rstrip("/")


def pairs(names: Iterable[str], mirrors: Sequence[Mirror]) -> Iterator[tuple[str, str]]:
    """Yield each image after the one that it is a copy of; one that no mirror has is its own source.

    Of several mirrors the one with the longest destination counts; it ends where a part of the name does.
    """
    longest_first = sorted(mirrors, key=lambda pair: -len(pair[1]))
    for name in names:
        source, destination = next((pair for pair in longest_first if _is_below(name, pair[1])), ("", ""))
        yield source + name[len(destination) :], name


def _is_below(name: str, destination: str) -> bool:
    """Return True when an image's name begins with a destination, and goes on with a further part of the name."""
    separators = ("/", ":", "@") if "/" in destination else ("/",)  # a registry's name may go on with its port
    return name.startswith(destination) and name[len(destination) :].startswith(separators)


def skopeo(names: Iterable[str]) -> dict[str, Any]:
    """Return the sources as `skopeo sync --src yaml` reads them: registries, repositories, tags and digests.

    Source: skopeo-sync(1), YAML file content.
    """
    registries: dict[str, dict[str, list[str]]] = {}
    for name in names:
        full, tag, digest = registry.parts(registry.full_name(name))
        host, _, repository = full.partition("/")
        registries.setdefault(host, {}).setdefault(repository, []).append(digest or tag)
    return {host: {"images": repositories} for host, repositories in registries.items()}
