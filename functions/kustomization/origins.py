"""The annotations in which kustomize notes where a resource came from, without the wrapper that a build goes through.

The wrapper lists the kustomization by a name of its own, and patches every resource (see `kustomize`). Without it the
paths in the annotations begin at the kustomization's folder, and the patch is not among the transformations.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from krmfn.typed import Any
from krmfn.yamltext import emit, load

ORIGIN = "config.kubernetes.io/origin"
TRANSFORMATIONS = "alpha.config.kubernetes.io/transformations"
OPTIONS = {"originAnnotations": ORIGIN, "transformerAnnotations": TRANSFORMATIONS}
"""The entries of `buildMetadata` that ask for them (api/types/kustomization.go)."""

_WRAPPER = "kustomization.yaml"
"""What a path leads to that neither begins with the wrapper's name for the folder nor leads elsewhere."""
_BLOCK = re.compile(
    rb"^    (%s): \|-?\n((?:      .*\n|\n)+)" % b"|".join(key.encode() for key in OPTIONS.values()), re.MULTILINE
)
_METADATA = re.compile(rb"^metadata:\n((?: .*\n|\n)+)", re.MULTILINE)
_ANNOTATIONS = re.compile(rb"^  annotations:\n((?:    .*\n|\n)+)", re.MULTILINE)


def unwrapped(stream: bytes, base: str) -> bytes:
    """Return the output of a build through the wrapper, which lists the folder as `base`, with the paths it would have.

    The text is kustomize's own: keys in two columns, sorted, annotations with several lines as block scalars.
    """
    if not any(key.encode() in stream for key in OPTIONS.values()):
        return stream
    return _rewritten(stream, lambda entry: _entry(entry[1].decode(), entry[2], base))


def without(stream: bytes) -> bytes | None:
    """Return the output of a build that was asked for these annotations as if it had not been.

    None when that is not certain: something else than a note of kustomize's holds their names.
    """
    plain = _rewritten(stream, lambda _: b"")
    return None if any(key.encode() in plain for key in OPTIONS.values()) else plain


def _rewritten(stream: bytes, entry: Callable[[re.Match[bytes]], bytes]) -> bytes:
    """Return the output with something else in place of each of the two annotations; without those that are empty."""

    def annotations(block: re.Match[bytes]) -> bytes:
        lines = _BLOCK.sub(entry, block[1])
        return b"  annotations:\n" + lines if lines else b""

    return _METADATA.sub(lambda metadata: _ANNOTATIONS.sub(annotations, metadata[0]), stream)


def _entry(key: str, text: bytes, base: str) -> bytes:
    """Return one of the two annotations; nothing when it was about the wrapper only."""
    value = load.read(text)
    entries = value if isinstance(value, list) else [value]
    kept = [_moved(one, base) for one in entries if one.get("configuredIn") != _WRAPPER or "repo" in one]
    if not kept:
        return b""
    return emit.dump({key: emit.dump(kept if isinstance(value, list) else kept[0])}, 4).encode()


def _moved(origin: dict[str, Any], base: str) -> dict[str, Any]:
    """Return an origin with its paths seen from the folder; those in a repository that was fetched begin there."""
    paths = {key: path for key in ("path", "configuredIn") if isinstance(path := origin.get(key), str)}
    moved = {key: f"../{path}".removeprefix(f"../{base}/") for key, path in paths.items()}
    return origin if "repo" in origin else {**origin, **moved}
