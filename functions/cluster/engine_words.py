"""Roots to which an engine adds something of ours: in a patch of its object, or in a component that this one names."""

import json
import os
from collections.abc import Callable, Collection, Iterator, Sequence

from ..deployments.deployment import Addition, Deployment
from ..paths import templates
from .survey import Root


def roots(
    deployments: Sequence[Deployment], top: str, words: Collection[str], holds: Callable[[Root, str], bool]
) -> Callable[[Root], bool]:
    """Return a function that tells whether an engine adds something of ours to a root.

    `top` is the root of the repository; `words` are those of ours beside the usual ones; `holds` tells whether the
    build of a folder, a component of a root, reads something of ours.
    """
    by_path: dict[str, list[Addition]] = {}
    for deployment in deployments:
        by_path.setdefault(deployment.real(top), []).extend(deployment.declaration.additions)

    def is_added_to(root: Root) -> bool:
        additions = by_path.get(root.path, [])
        folders = (os.path.normpath(os.path.join(root.path, name)) for name in _components(additions))
        return any(_has_words(addition, words) for addition in additions) or any(
            holds(root, folder) for folder in folders
        )

    return is_added_to


def _has_words(addition: Addition, words: Collection[str]) -> bool:
    """Return True where what is added may hold something of ours, also in a text of YAML within it."""
    text = addition.value.replace('\\"', '"').replace("\\n", "\n").encode()
    return templates.is_about_us(text) or (bool(words) and templates.mentions(text, words))


def _components(additions: Sequence[Addition]) -> Iterator[str]:
    """Yield the components that an engine's object names, as they are written: seen from the root."""
    for addition in additions:
        names = json.loads(addition.value) if addition.field.endswith("components") else []
        yield from (name for name in (names if isinstance(names, list) else []) if isinstance(name, str))
