"""What the API server says of the volumes of a pod.

Source: Kubernetes v1.34, pkg/apis/core/validation (ValidateVolumes, validateHostPathVolumeSource and its neighbours).
"""

from collections.abc import Iterator

from krmfn.typed import Any

from ..mistake import FieldMistake, Mistake
from .shapes import is_label, number, tables, text

_TYPES = ("", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice")
_NAMES = {"configMap": "name", "secret": "secretName", "hostPath": "path", "persistentVolumeClaim": "claimName"}
_OF_FILES = ("configMap", "secret", "downwardAPI", "projected")
_MODES = 0o777


def check(spec: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in the volumes of a PodSpec."""
    names: set[str] = set()
    for index, volume in tables(spec, "volumes"):
        name, mistakes = text(volume, "name"), list(_volume(volume))
        if is_label(name) and name in names:
            mistake = Mistake(f"{name} is the name of another volume, too", "rename one of the two")
            mistakes.append((("name",), mistake))
        if not mistakes:  # the server does not count a volume with a mistake
            names.add(name)
        yield from ((("volumes", index, *path), mistake) for path, mistake in mistakes)


def _volume(volume: Any) -> Iterator[FieldMistake]:
    if not is_label(text(volume, "name")):
        yield ("name",), Mistake(f"is {text(volume, 'name')!r}", "write lower case letters, digits and -, at most 63")
    sources = [word for word, source in volume.items() if word != "name" and isinstance(source, dict)]
    for other in sources[1:]:
        yield (other,), Mistake(f"cannot be combined with {sources[0]}", "a volume has one source")
    for word in sources[:1]:
        yield from (((word, *field), mistake) for field, mistake in _source(word, volume[word]))


def names_of(spec: Any) -> set[str]:
    """Return the names of the volumes of a PodSpec."""
    return {text(volume, "name") for _, volume in tables(spec, "volumes")}


def _source(word: str, source: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in the source of a volume."""
    field = _NAMES.get(word)
    if field and not source.get(field):
        yield (field,), Mistake("is missing", f"a volume of the kind {word} needs it")
    if word == "hostPath" and not source.get("path"):
        return
    path = text(source, "path")
    if word == "hostPath" and ".." in path.split("/"):
        yield ("path",), Mistake(f"is {path!r}", "write a path without ..")
    if word == "hostPath" and text(source, "type") not in _TYPES:
        yield ("type",), Mistake(f"is {source['type']!r}", f"write one of {', '.join(_TYPES[1:])}")
    mode = number(source, "defaultMode")
    if word in _OF_FILES and mode is not None and not 0 <= mode <= _MODES:
        yield ("defaultMode",), Mistake(f"is {mode}; must be a number from 0 to 0777 ({_MODES})")
    for index, item in tables(source, "items"):
        inner = text(item, "path")
        if word in ("configMap", "secret") and not item.get("key"):
            yield ("items", index, "key"), Mistake("is missing", "write which key to take")
        if not inner:
            yield ("items", index, "path"), Mistake("is missing", "write the file that the key becomes")
        elif inner.startswith(("/", "..")) or ".." in inner.split("/"):
            yield ("items", index, "path"), Mistake(f"is {inner!r}", "write a relative path without ..")
