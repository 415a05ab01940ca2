"""Options of a run that an Argo CD Application sets: its plugin parameters, and its plugin's environment variables.

Argo CD passes all parameters as JSON in ARGOCD_APP_PARAMETERS, and each variable NAME as ARGOCD_ENV_NAME. Who edits an
Application is not who runs the plugin: none of it reaches kustomize or a shell, and no file outside the repository is
read. Source: Argo CD 3.2.1, pkg/apis/application/v1alpha1/types.go and reposerver/repository/repository.go.
"""

import json
import os
from collections.abc import Collection, Iterator, Mapping

from krmfn.errors import KrmfnError
from krmfn.typed import NamedTuple

from ..options import SETTINGS, RunOptions
from ..paths import roots

_PARAMETERS = "ARGOCD_APP_PARAMETERS"
_PREFIX = "ARGOCD_ENV_"
_CONFIG = "function-config"
_FROM = "profiles-from"
_OTHERS = {"array": "an array", "map": "a map"}
"""What a parameter may be instead of a string."""


class Setting(NamedTuple):
    """A value for an option, and who sets it, as the subject of a sentence."""

    name: str
    value: str
    source: str


def with_settings(options: RunOptions) -> RunOptions:
    """Return the options with what the Application sets; outside Argo CD as they are.

    Raises KrmfnError for a name that is no option, for a value that is no string or empty, for two values for one
    option, and for a functionConfig outside the repository.
    """
    known = sorted((_CONFIG, _FROM, *SETTINGS))
    lists = {_CONFIG: options.function_config, _FROM: options.profiles_from}
    texts = {**options.flags, **{name: ",".join(values) for name, values in lists.items() if values}}
    settings = [*_parameters(os.environ.get(_PARAMETERS) or "[]", known), *_variables(os.environ, known)]
    if not settings:
        return options
    values: dict[str, Setting] = {}
    for setting in (*(Setting(name, value, f"--{name}") for name, value in texts.items()), *settings):
        other = values.setdefault(setting.name, setting)
        if other.value != setting.value:
            problem = f"{other.source} is {other.value!r}, and {setting.source} is {setting.value!r}"
            raise KrmfnError(f"{problem}; set it once")
    for setting in settings:
        for value in setting.value.split(",") if setting.name in (_CONFIG, _FROM) else ():
            folder = os.path.realpath(".")
            root = roots.root_of(folder, options.root) or folder
            if value.startswith("/") or not roots.inside(os.path.realpath(value), root):
                raise KrmfnError(
                    f"{setting.source} is {value!r}; it must be a file in the repository, named relative to the "
                    "Application's path"
                )
    files = {name: tuple(values.pop(name).value.split(",")) if name in values else () for name in (_CONFIG, _FROM)}
    flags = {name: setting.value for name, setting in values.items()}
    return options._replace(flags=flags, function_config=files[_CONFIG], profiles_from=files[_FROM])


def _parameters(text: str, known: Collection[str]) -> Iterator[Setting]:
    """Yield the parameters in the text of ARGOCD_APP_PARAMETERS."""
    try:
        entries = json.loads(text)
    except ValueError as failure:
        raise KrmfnError(f"{_PARAMETERS} is not valid JSON: {failure}") from failure
    if entries is None:
        return
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise KrmfnError(f"{_PARAMETERS} must be a list of parameters, each with a name and a string")
    for entry in entries:
        name = entry.get("name")
        source = f"the parameter {name}"
        if name not in known:
            raise KrmfnError(f"krmfn has no parameter {name!r}; it has {', '.join(known)}")
        value = entry.get("string")
        if not isinstance(value, str) or not _OTHERS.keys().isdisjoint(entry):
            descriptions = (_OTHERS[kind] for kind in _OTHERS if kind in entry)
            description = next(descriptions, "empty" if value is None else repr(value))
            raise KrmfnError(f"{source} must be a string, not {description}")
        yield _filled(Setting(name, value, source))


def _variables(environment: Mapping[str, str], known: Collection[str]) -> Iterator[Setting]:
    """Yield the variables that the Application sets for its plugin."""
    names = {_PREFIX + name.replace("-", "_").upper(): name for name in known}
    for variable in sorted(name for name in environment if name.startswith(_PREFIX)):
        if variable not in names:
            known_names = [name.removeprefix(_PREFIX) for name in names]
            message = f"krmfn has no variable {variable.removeprefix(_PREFIX)} ({variable})"
            raise KrmfnError(f"{message}; it has {', '.join(known_names)}")
        yield _filled(Setting(names[variable], environment[variable], variable))


def _filled(setting: Setting) -> Setting:
    """Return a setting. Raises KrmfnError for one with an empty value."""
    if not setting.value:
        raise KrmfnError(f"{setting.source} is empty; set a value, or remove it")
    return setting
