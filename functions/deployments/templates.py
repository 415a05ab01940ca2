"""The templates of an ApplicationSet, as far as they name a path or a cluster; anything else is not known.

Source: Argo CD 3.2, applicationset/utils (fasttemplate without goTemplate, Go's text/template with it) and
docs/operator-manual/applicationset.
"""

import re
from collections.abc import Mapping

from krmfn.typed import Any

Parameters = Mapping[str, Any]
_ACTION = re.compile(r"\{\{-?([^{}]*?)-?\}\}")
_FIELD = re.compile(r"(?:\.[A-Za-z_]\w*)+")
_INDEX = re.compile(r"""index\s+(?P<field>(?:\.[A-Za-z_]\w*)+)(?P<keys>(?:\s+(?:\d+|"[^"]*"))+)""")
_KEY = re.compile(r'\d+|"[^"]*"')


def filled(template: str, parameters: Parameters, is_go: bool) -> str | None:
    """Return a template with its parameters filled in; None where something in it is not known."""
    values = [_value(match[1].strip(), parameters, is_go) for match in _ACTION.finditer(template)]
    if None in values or ("{{" in _ACTION.sub("", template)):
        return None
    rest = iter(values)
    return _ACTION.sub(lambda match: str(next(rest)), template)


def is_broken(template: str) -> bool:
    """Return True for a template in which braces that open an action are not closed."""
    return template.rfind("{{") > template.rfind("}}")


def _value(action: str, parameters: Parameters, is_go: bool) -> str | None:
    """Return what one action gives; None for a function, a field that is not there, and a template of the other kind.

    Without goTemplate an unknown name stays as it is written, which is no path and no cluster.
    """
    if not is_go:
        return _scalar(_flat(parameters).get(action))
    if _FIELD.fullmatch(action):
        return _scalar(_at(parameters, action.split(".")[1:]))
    if match := _INDEX.fullmatch(action):
        keys = [key.strip('"') for key in _KEY.findall(match["keys"])]
        return _scalar(_at(parameters, [*match["field"].split(".")[1:], *keys]))
    return None


def _at(value: Any, keys: list[str]) -> Any:
    for key in keys:
        if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, Mapping):
            value = value.get(key)
        else:
            return None
    return value


def _scalar(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (str, int)) else None


def _flat(parameters: Any, prefix: str = "") -> dict[str, Any]:
    """Return parameters as fasttemplate has them: `path`, `path.basename`, `path[0]`, `values.a`."""
    flat: dict[str, Any] = {}
    for key, value in parameters.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            if "path" in value and isinstance(value.get("segments"), list):  # of a Git generator
                flat[name] = value["path"]
                flat.update({f"{name}[{at}]": part for at, part in enumerate(value["segments"])})
            flat.update(_flat(value, f"{name}."))
        elif isinstance(value, list):
            flat.update({f"{name}[{at}]": part for at, part in enumerate(value)})
        else:
            flat[name] = value
    return flat
