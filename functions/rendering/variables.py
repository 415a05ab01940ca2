"""krmfn's own variables in strings: their names, the fields that may hold them, and filling them in.

`$KRMFN_NAME` or `${KRMFN_NAME}`, without defaults and without escapes. Every other dollar stays as it is: KMM's, the
kubelet's `$(NAME)`, the shell's, a Dockerfile's.
"""

import re
from collections.abc import Iterator, Mapping

from krmfn import Result
from krmfn.printing import did_you_mean
from krmfn.resource import FieldPath, split
from krmfn.typed import Any, NamedTuple

from ..kmm.lookup import members
from ..mistake import Mistake

VERSION, IMAGE, NAME, NAMESPACE, MODULE = VARIABLES = tuple(
    f"KRMFN_{name}" for name in ("DRIVER_VERSION", "DRIVER_IMAGE", "NAME", "NAMESPACE", "MODULE_NAME")
)
OF_CONFIG = (NAME, NAMESPACE)
"""The variables whose values follow from the identity of a config."""
FILLED = {
    *("driverImage", "driverImageParts", "image", "imageParts", "unsignedImage", "tag"),
    *("command", "args", "parameters", "loadArgs", "unloadArgs", "rawLoadArgs", "rawUnloadArgs", "value"),
    *(
        "dirName",
        "firmwarePath",
        "modprobedDir",
        "hostDevices",
        "filesToSign",
        "path",
        "mountPath",
        "subPath",
        "subPathExpr",
    ),
    "workingDir",
    *("labels", "annotations", "podLabels", "podAnnotations", "matchLabels", "objectName", "extraObjects"),
    *("configMap", "configMapRef", "configMapKeyRef", "dockerfileConfigMap"),
}
"""Fields below which every string may hold a variable; a ConfigMap may be one of the extra objects."""
_NEVER = frozenset({"nodeSelector", "clusterSelector", "selector", "tolerations", "resources"})
"""Fields with free keys: a key below these that is also in FILLED means something else."""
_REFERENCE = re.compile(r"\$(?:krmfn_\w*|\{krmfn_[^}]*\}?)", re.IGNORECASE | re.ASCII)
_FORM = re.compile(r"\$(?:(\w+)|\{(\w+)\})", re.ASCII)


class Reference(NamedTuple):
    """A variable of ours in nested data."""

    path: FieldPath
    text: str
    """As it is written: `${KRMFN_NAME}`."""
    is_filled: bool
    """Whether variables are filled in at its path."""

    @property
    def name(self) -> str:
        """The variable that it names; "" when no variable has that name."""
        name = _name(self.text)
        return name if name in VARIABLES else ""


def fill(data: Any, values: Mapping[str, str], everywhere: bool = True) -> Any:
    """Return nested data with our variables filled in; keys are left as they are.

    It is done `everywhere`, or only below the fields in FILLED. Every value stays a string, and a variable without a
    value stays as it is written (`references` finds it).
    """
    if isinstance(data, str):
        is_filled = everywhere and "$" in data
        return _REFERENCE.sub(lambda match: values.get(_name(match[0]), match[0]), data) if is_filled else data
    if isinstance(data, dict):
        never = () if everywhere else _NEVER
        return {
            name: value if name in never else fill(value, values, everywhere or name in FILLED)
            for name, value in data.items()
        }
    return [fill(value, values, everywhere) for value in data] if isinstance(data, list) else data


def references(data: Any, path: FieldPath = ()) -> Iterator[Reference]:
    """Yield each reference to a variable of ours in nested data, also those in keys."""
    if isinstance(data, str):
        yield from (Reference(path, match[0], _is_filled(path)) for match in _REFERENCE.finditer(data))
        return
    if not _REFERENCE.search(repr(data)):  # most data has none, and to walk it takes twenty times as long
        return
    for key, value in members(data):
        field = (*path, key)
        if isinstance(data, dict):
            yield from (Reference(field, match[0], False) for match in _REFERENCE.finditer(str(key)))
        yield from references(value, field)


def _is_filled(path: FieldPath) -> bool:
    """Return True for a field in which variables are filled in."""
    return next((part for part in path if part in FILLED or part in _NEVER), "") in FILLED


def mistake(reference: Reference) -> Mistake | None:
    """Return what is wrong with a reference by itself; None when it is right."""
    text, name = reference.text, _name(reference.text)
    if name in VARIABLES:
        hint = "variables can be used in images, arguments, values, paths, labels, annotations and names of ConfigMaps"
        return None if reference.is_filled else Mistake(f"{text} is not filled in here", hint)
    if not name:
        problem = "has more than a name between its braces" if text.endswith("}") else "has no closing brace"
        return Mistake(f"{text} {problem}", "a variable of krmfn is written $NAME or ${NAME}, without a default")
    prefix = max((variable for variable in VARIABLES if name.startswith(variable)), key=len, default="")
    if prefix:
        return Mistake(f"{text} is not a variable of krmfn", f"did you mean ${{{prefix}}}{name[len(prefix) :]}?")
    names = [f"${variable}" for variable in VARIABLES]
    hint = did_you_mean(f"${name}", names, f"there are: {', '.join(names)}")
    return Mistake(f"{text} is not a variable of krmfn", hint)


def explain(finding: Result) -> Result:
    """Return a finding of a schema; one about a variable in a field where none is filled in says so."""
    path = split(finding.field.path) if finding.field else ()
    written = [finding.field.current if finding.field else None, *path[-1:]]
    if _is_filled(path) or not any(references(written)):
        return finding
    return finding._replace(message=f"{finding.message} (variables of krmfn are not filled in here)")


def _name(reference: str) -> str:
    form = _FORM.fullmatch(reference)
    return (form[1] or form[2]) if form else ""
