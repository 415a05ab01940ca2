"""Image names compared as registries and container runtimes read them."""

from collections.abc import Iterable

from krmfn import KrmfnError


def full_name(name: str) -> str:
    """Return an image's name in full: registry, repository, and a tag or a digest.

    Source: github.com/distribution/reference (ParseNormalizedNamed, TagNameOnly), as container runtimes have it.
    """
    first, slash, rest = name.partition("/")
    is_host = "." in first or ":" in first or first == "localhost" or first != first.lower()
    if not slash or not is_host:
        first, rest = "docker.io", name
    elif first == "index.docker.io":
        first = "docker.io"
    name = f"{first}/{'' if first != 'docker.io' or '/' in rest else 'library/'}{rest}"
    return name if "@" in name or ":" in name.rpartition("/")[2] else f"{name}:latest"


def read_images(text: str, where: str) -> frozenset[str]:
    """Return the images in a list of what a registry holds: a name in each line, `#` begins a comment.

    Raises KrmfnError, with the line, for a name that is no image: in a list of mere tags all would seem to be missing.
    """
    names = set()
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        name = line.partition("#")[0].strip()
        if name and (len(name.split()) > 1 or ("/" not in name and ":" not in name)):
            problem = f"{name[:80]!r} is not an image; expected a line such as registry/repository:tag"
            raise KrmfnError(problem, file=where, line=number)
        names |= {full_name(name)} if name else set()
    return frozenset(names)


def missing(names: Iterable[str], images: frozenset[str]) -> list[str]:
    """Return the names that are not among the images; one with a tag and a digest may be there by its digest."""
    return [name for name in names if images.isdisjoint((full_name(name), _by_digest(full_name(name))))]


def _by_digest(image: str) -> str:
    """Return the name without its tag when it has a digest, too."""
    name, _, digest = parts(image)
    return f"{name}@{digest}" if digest else image


def parts(image: str) -> tuple[str, str, str]:
    """Return name, tag and digest of an image as it is written; "" for a missing part."""
    path, _, digest = image.partition("@")
    folder, slash, last = path.rpartition("/")
    name, _, tag = last.partition(":")
    return f"{folder}{slash}{name}", tag, digest
