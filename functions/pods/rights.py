"""What the API server says of the rights of a pod and of its containers: their securityContext.

Source: Kubernetes v1.34, pkg/apis/core/validation (ValidateSecurityContext, validatePodSpecSecurityContext,
validateSeccompProfileField, ValidateAppArmorProfileField).
"""

from collections.abc import Iterator
from itertools import chain

from krmfn.typed import Any

from ..mistake import FieldMistake, Mistake
from .shapes import number, table, text

_IDS = ("runAsUser", "runAsGroup", "fsGroup")
LAST_ID = 2**31 - 1
_PROFILES = ("RuntimeDefault", "Unconfined", "Localhost")
_CHOICES = {
    "fsGroupChangePolicy": ("OnRootMismatch", "Always"),
    "supplementalGroupsPolicy": ("Merge", "Strict"),
    "seLinuxChangePolicy": ("MountOption", "Recursive"),
    "procMount": ("Default", "Unmasked"),
}


def of_pod(spec: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in the securityContext of a PodSpec."""
    context = table(spec, "securityContext")
    for path, mistake in chain(_common(context), _groups(context)):
        yield ("securityContext", *path), mistake


def of_container(container: Any, spec: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in the securityContext of a container; `spec` is the PodSpec that has it."""
    context = table(container, "securityContext")
    for path, mistake in _common(context):
        yield ("securityContext", *path), mistake
    if text(context, "procMount") == "Unmasked" and spec.get("hostUsers") is not False:
        yield (
            ("securityContext", "procMount"),
            Mistake("Unmasked is only for pods with hostUsers: false", "write that, or Default"),
        )
    if context.get("allowPrivilegeEscalation") is False:
        added = table(context, "capabilities").get("add")
        if context.get("privileged") is True:
            yield (
                ("securityContext",),
                Mistake("allowPrivilegeEscalation: false contradicts privileged: true", "remove one"),
            )
        if isinstance(added, list) and "CAP_SYS_ADMIN" in added:
            yield (
                ("securityContext",),
                Mistake("allowPrivilegeEscalation: false contradicts CAP_SYS_ADMIN", "remove one"),
            )


def _common(context: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in the fields that pods or containers have."""
    for name in _IDS:
        if not _is_id(number(context, name) or 0):
            yield (name,), Mistake(f"is {context[name]}; must be a number from 0 to {LAST_ID}")
    for name, choices in _CHOICES.items():
        if isinstance(context.get(name), str) and context[name] not in choices:
            yield (name,), Mistake(f"is {context[name]!r}", f"write {' or '.join(choices)}")
    for name in ("seccompProfile", "appArmorProfile"):
        if isinstance(context.get(name), dict):
            yield from (((name, *path), mistake) for path, mistake in _profile(name, context[name]))


def _groups(context: Any) -> Iterator[FieldMistake]:
    groups = context.get("supplementalGroups")
    for index, group in enumerate(groups if isinstance(groups, list) else ()):
        if not _is_id(number({"group": group}, "group") or 0):
            yield ("supplementalGroups", index), Mistake(f"is {group}; must be a number from 0 to {LAST_ID}")


def _is_id(number: int) -> bool:
    return 0 <= number <= LAST_ID


def _profile(name: str, profile: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in a profile of seccomp or of AppArmor."""
    kind, path = text(profile, "type"), profile.get("localhostProfile")
    if not kind:
        yield ("type",), Mistake("is missing", f"write one of {', '.join(_PROFILES)}")
    elif kind not in _PROFILES:
        yield ("type",), Mistake(f"is {kind!r}", f"write one of {', '.join(_PROFILES)}")
    if kind != "Localhost" and path is not None and (kind in _PROFILES or name == "seccompProfile"):
        yield ("localhostProfile",), Mistake("is only for the type Localhost", "remove it, or write that type")
    elif kind == "Localhost" and path is None:
        yield ("localhostProfile",), Mistake("is missing", "the type Localhost needs the profile of the node")
    elif kind == "Localhost" and isinstance(path, str):
        yield from ((("localhostProfile",), mistake) for mistake in _local(name, path))


def _local(name: str, path: str) -> Iterator[Mistake]:
    if name == "appArmorProfile" and (not path or path != path.strip()):
        yield Mistake(f"is {path!r}", "write the name of a profile, without spaces around it")
    elif name == "seccompProfile" and (path.startswith("/") or ".." in path.split("/")):
        yield Mistake(f"is {path!r}", "write a relative path without ..")
