"""Rules about names that are made from several parts: too long, malformed, or the same for two objects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from krmfn import Result, error
from krmfn.results import Field

from . import names
from .model import DeviceConfig

_LABEL, _NAME = 63, 253
_is_service_name = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?").fullmatch


def daemon_sets_have_names(config: DeviceConfig) -> Iterator[Result]:
    """KRM125: DaemonSets of one config have names of their own that fit into a label value (63 characters)."""
    seen: set[str] = set()
    for index, entry in enumerate(config.daemon_sets):
        if entry["name"] in seen:
            field = Field(config.at(f"daemonSets[{index}].name"), entry["name"])
            yield error(f"the name {entry['name']!r} stands twice in daemonSets", rule="KRM125", field=field)
        seen.add(entry["name"])
    for one in names.made(config):
        excess = len(one.name) - _LABEL
        if one.kind == "DaemonSet" and excess > 0:
            message = (
                f"the DaemonSet's name {one.name!r} has {len(one.name)} characters; {_LABEL} fit into its label, "
                f"so make a part of it shorter by {excess}"
            )
            yield error(message, rule="KRM125", field=Field(one.field, one.parts[-1][1]))


def names_have_their_kind_s_shape(config: DeviceConfig) -> Iterator[Result]:
    """KRM136: a generated Service's name begins with a letter and has no dots, a RoleBinding's has 253 characters."""
    for one in names.made(config):
        if one.kind == "Service" and not _is_service_name(one.name):
            message = (
                f"the Service would have the name {one.name!r}, and a Service's name begins with a letter and has no "
                "dots; rename the DeviceConfig, or write a Service of your own and leave this one out"
            )
            yield error(message, rule="KRM136", field=Field(one.field.removesuffix("name") + "service"))
    excess = len(names.of_role_binding(config)) - _NAME
    if config.spec.get("serviceAccount", {}).get("openshift") and excess > 0:
        message = (
            f"the RoleBinding's name, `<serviceAccountName>-privileged`, has at most {_NAME} characters; "
            f"make serviceAccountName shorter by {excess}"
        )
        yield error(message, rule="KRM136", field=Field(config.at("serviceAccountName")))


def names_do_not_run_together(configs: Sequence[DeviceConfig]) -> Iterator[tuple[DeviceConfig, Result]]:
    """KRM137: pools, DaemonSets and versions of one config make different names (`1.0` and `1-0` make the same)."""
    first: dict[tuple[str, str], names.Made] = {}
    for config in configs:
        for one in names.made(config):
            other = first.setdefault((one.kind, one.name), one)
            if one.parts != other.parts:  # the same parts twice are findings of KRM125, KRM129 and KRM131
                message = f"{one} and {other} would both be the {one.kind} {one.name}; change one of the two"
                versions = dict(one.parts).get("version"), dict(other.parts).get("version")
                if versions[0] != versions[1]:
                    message += " (in a name, dots and underscores of a version become dashes, capitals small letters)"
                yield config, error(message, rule="KRM137", field=Field(one.field, one.parts[-1][1]))


RULES = (daemon_sets_have_names, names_have_their_kind_s_shape)
