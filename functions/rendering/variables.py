"""krmfn's own variables in strings: which there are, where they may stand, and filling them in.

`$KRMFN_NAME` or `${KRMFN_NAME}`, without defaults and without escapes. Every other dollar stays as it is: KMM's, the
kubelet's `$(NAME)`, the shell's, a Dockerfile's.
"""

import re
from collections.abc import Iterator, Mapping

from krmfn import Result
from krmfn.printing import did_you_mean
from krmfn.resource import FieldPath, split
from krmfn.typed import Any, NamedTuple

from ..kmm.lookup import strings

VERSION, IMAGE, NAME, NAMESPACE, MODULE = VARIABLES = tuple(
    f"KRMFN_{name}" for name in ("DRIVER_VERSION", "DRIVER_IMAGE", "NAME", "NAMESPACE", "MODULE_NAME")
)
OF_CONFIG = (NAME, NAMESPACE)
"""The variables that never change while a config is what it is."""
FILLED = {
    *("driverImage", "driverImageParts", "image", "imageParts", "unsignedImage", "tag"),
    *("command", "args", "parameters", "loadArgs", "unloadArgs", "rawLoadArgs", "rawUnloadArgs", "value"),
    *("dirName", "firmwarePath", "hostDevices", "filesToSign", "path", "mountPath", "subPath", "subPathExpr"),
    "workingDir",
    *("labels", "annotations", "podLabels", "podAnnotations", "matchLabels", "objectName", "extraObjects"),
    *("configMap", "configMapRef", "configMapKeyRef", "dockerfileConfigMap"),
}
"""Fields below which every string may hold a variable; a ConfigMap may be one of the extra objects."""
_NEVER = frozenset({"nodeSelector", "clusterSelector", "selector", "tolerations", "resources"})
"""Fields below which no name means what it means elsewhere."""
_REFERENCE = re.compile(r"\$(?:krmfn_\w*|\{krmfn_[^}]*\}?)", re.IGNORECASE | re.ASCII)
_FORM = re.compile(r"\$(?:(\w+)|\{(\w+)\})", re.ASCII)


class Reference(NamedTuple):
    """A variable of ours in nested data."""

    path: FieldPath
    text: str
    """As it is written: `${KRMFN_NAME}`."""
    is_filled: bool
    """Whether it stands where variables are filled in."""

    @property
    def name(self) -> str:
        """The variable that it names; "" when there is none of that name."""
        name = _name(self.text)
        return name if name in VARIABLES else ""


def fill(data: Any, values: Mapping[str, str], everywhere: bool = True) -> Any:
    """Return nested data with our variables filled in, in every string but for keys; else only where they may stand.

    What is filled in stays a string. A variable without a value stays as it is written (`references` finds it).
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
    for at, text, is_key in strings(data, path):
        yield from (Reference(at, match[0], not is_key and _may_stand(at)) for match in _REFERENCE.finditer(text))


def _may_stand(path: FieldPath) -> bool:
    return next((part for part in path if part in FILLED or part in _NEVER), "") in FILLED


def mistake(reference: Reference) -> str:
    """Return what is wrong with a reference by itself; "" when it is right."""
    text, name = reference.text, _name(reference.text)
    if name in VARIABLES:
        where = "variables can be used in images, arguments, values, paths, labels, annotations and names of ConfigMaps"
        return "" if reference.is_filled else f"{text} is not filled in here; {where}"
    if not name:
        what = "has more than a name between its braces" if text.endswith("}") else "has no closing brace"
        return f"{text} {what}; a variable of krmfn is written $NAME or ${{NAME}}, without a default"
    longer = [known for known in VARIABLES if name.startswith(known)]
    if longer:
        known = max(longer, key=len)
        return f"{text} is not a variable of krmfn; did you mean ${{{known}}}{name[len(known) :]}?"
    every = [f"${variable}" for variable in VARIABLES]
    return f"{text} is not a variable of krmfn{did_you_mean(f'${name}', every, 'there are: ' + ', '.join(every))}"


def explained(finding: Result) -> Result:
    """Return a finding of a schema, with the reason when it is about a variable of ours where none is filled in."""
    path = split(finding.field.path) if finding.field else ()
    if not _REFERENCE.search(finding.message) or _may_stand(path):
        return finding
    return finding._replace(message=f"{finding.message} (variables of krmfn are not filled in here)")


def _name(reference: str) -> str:
    form = _FORM.fullmatch(reference)
    return (form[1] or form[2]) if form else ""
