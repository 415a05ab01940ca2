"""The functions that a kustomization lists, and whether kustomize would run one of our programs or another one.

A function is ours when its annotation is one of these and holds nothing else, no args, envs, network or mounts:

    exec: {path: NAME}          NAME is one of our programs, without a slash: so kustomize looks it up only on PATH
    container: {image: IMAGE}   IMAGE is NAME or localhost/NAME, or a repository that the user has named, with any tag
                                or digest: anybody can publish an image evil/NAME
"""

import re
from collections.abc import Collection
from contextlib import suppress

from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.resource import annotations_of
from krmfn.typed import Any, NamedTuple

from ..kmm.lookup import table
from ..mistake import Mistake

ANNOTATIONS = ("config.kubernetes.io/function", "config.k8s.io/function")
OTHERS = ("config.kubernetes.io/container", "configFn")
"""Where kustomize also looks for a function: names that are older than the annotations."""

_PLAIN = r"[A-Za-z0-9_ \n{}\[\]:,.'\"/@#=-]+"
"""An annotation that all readers of YAML read alike: no aliases, tags, merges or escapes."""
_VERSION = r"v?(\d+(?:\.\d+)+)"
_PART = r"[a-z0-9][a-z0-9._/-]*"
_IMAGE = rf"({_PART}(?::[0-9]+/{_PART})?)(?::(\w[\w.-]{{0,127}}))?(?:@sha256:[0-9a-f]{{64}})?"


ENTRY_POINTS = {name: f"krmfn_functions.__main__:{name}" for name in ("krmfn", "deviceconfig", "ptemplate")}
"""The KRM functions that a kustomization may call, by their names: `package.module:function`."""
BLOCKING = ("KRM509", "KRM510", "KRM512")
"""Rules about what krmfn does not do in a build: fetch, call functions of others, run Helm."""


class Ours(NamedTuple):
    """Our programs."""

    programs: Collection[str] = ()
    """Their names."""
    repositories: Collection[str] = ()
    """The repositories of their images, beside NAME and localhost/NAME."""
    version: str = ""
    """The version of this krmfn; "" when any version may be called."""


class Call(NamedTuple):
    """A function that a kustomization lists."""

    field: str
    """The field with its index: `transformers[0]`."""
    config: Item
    """The resource that the function gets as its functionConfig, with its place."""
    program: str
    """Our program that is called; "" for any other."""
    image: str = ""
    """The image as it is spelled; "" for exec."""
    mistake: Mistake | None = None
    """Why it is not ours; None for one that is."""


class _Foreign(Exception):
    """A function that is not ours: what is wrong with the call, and what to do."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.mistake = Mistake(message, remedy)


def is_builtin(item: Item) -> bool:
    """Return True for the configuration of one of kustomize's own plugins, which runs no program, even if annotated."""
    return item.ref.api_version == "builtin" and not item.kind.endswith("List")


def call(field: str, config: Item, ours: Ours) -> Call:
    """Return the call that a functionConfig makes."""
    try:
        return Call(field, config, *_function(config, ours))
    except _Foreign as foreign:
        return Call(field, config, "", mistake=foreign.mistake)


def _function(config: Item, ours: Ours) -> tuple[str, str]:
    """Return our program that a functionConfig calls, and its image. Raises _Foreign for any other program."""
    if not config.manifest or config.kind.endswith("List"):
        raise _Foreign("is not a functionConfig", "write a resource with the annotation config.kubernetes.io/function")
    if config.ref.api_version.startswith("/"):
        raise _Foreign("has an apiVersion that begins with a slash: `/builtin` is a kustomize plugin", "remove it")
    annotations = annotations_of(config.manifest)
    present = [key for key in ANNOTATIONS if key in annotations]
    if _mentions(config.content.composed) != len(present) or len(present) > 1 or config.content.duplicate_keys:
        raise _Foreign(
            "does not name its function exactly once and plainly",
            "write the annotation config.kubernetes.io/function once, without aliases, and nothing similar elsewhere",
        )
    if not present:
        plugin = f"{config.ref.api_version or '(no apiVersion)'} {config.kind or '(no kind)'}"
        raise _Foreign(
            f"is for the plugin {plugin}, which is not part of krmfn",
            "only krmfn's functions are run: keep what the plugin makes here, or leave the folder out with `exclude` "
            "in .krmfn.yaml",
        )
    return _program(_spec(annotations[present[0]]), ours)


def _mentions(node: Any) -> int:
    """Count the scalars that are a name under which kustomize looks for a function, aliases aside.

    So no reader of YAML, however it reads merges, lists and nesting, finds a function that was not checked.
    """
    from krmfn.yamltext import positions

    return sum(part.value in (*ANNOTATIONS, *OTHERS) for part in positions.nodes(node) if isinstance(part.value, str))


def _spec(text: Any) -> dict[str, Any]:
    """Return the mapping in an annotation. Raises _Foreign when there is none, or readers could differ on it."""
    from krmfn.yamltext import load, positions, values

    if isinstance(text, str) and re.fullmatch(_PLAIN, text):
        with suppress(KrmfnError):
            node = load.compose(text.encode())
            spec = values.build(node)
            if isinstance(spec, dict) and not positions.duplicate_keys(node):
                return spec
    raise _Foreign(
        "has an annotation that does not define a function; must be `exec: {path: ...}` or `container: {image: ...}`"
    )


def _program(spec: dict[str, Any], ours: Ours) -> tuple[str, str]:
    """Return (program, image) of a function's annotation. Raises _Foreign for one that is not exactly ours."""
    names = ", ".join(sorted(ours.programs))
    if list(spec) == ["exec"]:
        key, requirement = "path", f"its path must be the bare name of a krmfn program ({names})"
    elif list(spec) == ["container"]:
        key, requirement = "image", f"its image must be one of krmfn's ({names}), or be passed with --function-image"
    else:
        raise _Foreign(f"calls a function with {', '.join(map(str, spec)) or 'nothing'}; must be exec or container")
    settings = table(spec, *spec)
    value, extras = settings.get(key), [str(name) for name in settings if name != key]
    if not isinstance(value, str):
        raise _Foreign(f"calls a function without {key}", requirement)
    program = (value if value in ours.programs else "") if key == "path" else _program_in(value, ours)
    if not program:
        raise _Foreign(f"calls {value!r}, which is not part of krmfn and is not run", requirement)
    if extras:
        raise _Foreign(
            f"calls {value!r} with {', '.join(extras)}; krmfn's functions are run without settings", "remove them"
        )
    return program, "" if key == "path" else value


def other_version(call: Call, ours: Ours) -> str:
    """Return the version in the tag of a call's image, if it is not the version of this krmfn; else ""."""
    match = re.fullmatch(_IMAGE, call.image)
    version = re.fullmatch(_VERSION, match[2] or "") if match else None
    return version[1] if version and ours.version not in ("", version[1]) else ""


def _program_in(image: str, ours: Ours) -> str:
    """Return our program that an image contains; "" for another image."""
    match = re.fullmatch(_IMAGE, image)
    repository = match[1] if match else ""
    name = repository.rpartition("/")[2]
    local = repository in (name, f"localhost/{name}")
    return name if name in ours.programs and (local or repository in ours.repositories) else ""
