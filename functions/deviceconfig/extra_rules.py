"""Rules about extraObjects, the objects that a profile or the defaults add to each config."""

import re
from collections.abc import Iterator, Sequence

from krmfn import Result
from krmfn.resource import join
from krmfn.typed import Any

from .. import oracles
from ..kmm import names
from ..kmm.lookup import leaves, table, tables
from ..rendering import extra_kinds
from ..rendering.kinds import EXTRA
from ..rule import Rule
from .model import DeviceConfig

_ADMIN = "cluster-admin"
_VARIABLE = r"(?i)\$\{?KRMFN_"
_INSTEAD = {
    "Secret": "a Secret does not belong in Git; bring it into the namespace by other means",
    "ClusterRole": "write its rules in serviceAccount.clusterRules",
    "ClusterRoleBinding": "write serviceAccount.clusterRules",
    "DaemonSet": "write it in daemonSets",
    "Module": "the config itself becomes the Module",
}
"""What to write in place of kinds that users often try."""
_OWN_ACCOUNT = r"\$(?:KRMFN_(?:NAME|NAMESPACE)(?!\w)|\{KRMFN_(?:NAME|NAMESPACE)\})"
_RESERVED = "system-"


def kinds_are_allowed(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per extra object of a kind that is not allowed."""
    for index, entry in enumerate(config.spec.extraObjects):
        api_version, kind = entry["apiVersion"], entry["kind"]
        pair = (api_version.rpartition("/")[0], kind)
        if pair in EXTRA:
            continue
        if pair not in config.extra_kinds:
            known = ", ".join(sorted({name for _, name in EXTRA}))
            platform = f"or the platform allows it by `extraKinds: [{pair[0]}/{kind}]` in the functionConfig"
            remedy = _INSTEAD.get(kind, f"use one of {known}; {platform}")
            message = f"{api_version} {kind} is not a kind for extraObjects"
            yield config.error(message, f"extraObjects[{index}].kind", kind, remedy=remedy)
        elif reason := extra_kinds.ban_in(entry):
            yield config.error(f"this {kind} {reason}", f"extraObjects[{index}]")


def names_belong_to_the_config(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per extra object whose name or namespace is not the config's, or whose name appears twice."""
    seen: set[tuple[str, str]] = set()
    for index, entry in enumerate(config.spec.extraObjects):
        for name, message, remedy in _misplaced(config, entry):
            yield config.error(message, f"extraObjects[{index}].metadata.{name}", remedy=remedy)
        key = (entry["kind"], entry["metadata"]["name"])
        if key in seen:
            message = f"there is another {key[0]} {key[1]} in extraObjects"
            yield config.error(message, f"extraObjects[{index}].metadata.name", remedy="rename one of the two")
        seen.add(key)


def _misplaced(config: DeviceConfig, entry: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield each field of an object's metadata that is wrong, what is wrong, and what to do."""
    metadata, kind = entry["metadata"], entry["kind"]
    name, namespace = metadata["name"], metadata.get("namespace")
    if remedy := wrong_name(kind, name):
        yield "name", f"is {name!r}, which is not a valid name for a {kind}", remedy
    if not config.is_cluster_wide(entry):
        if namespace not in (None, config.ref.namespace):
            message = f"is {namespace!r}, but the config is in {config.ref.namespace!r}"
            yield "namespace", message, "leave it out: it is filled in"
        return
    if namespace is not None:
        yield "namespace", f"a {kind} has no namespace", "leave it out"
    if not re.search(rf"(^|[-.]){re.escape(config.ref.name)}($|[-.])", name):
        message = f"a {kind} is cluster-scoped, so its name must contain the name of the config, {config.ref.name!r}"
        yield "name", message, "use $KRMFN_NAME in it"


def wrong_name(kind: str, name: str) -> str:
    """Return what to do about a name that the API server refuses for this kind; "" for a right one.

    Source: Kubernetes v1.34, pkg/apis/core/validation (ValidateServiceName), pkg/apis/scheduling/validation
    (ValidatePriorityClass); all others are subdomains. In RBAC and policy they may be more, which krmfn does not take.
    """
    if kind == "Service" and not names.is_service_name(name):
        return "begin with a letter, and use lower case letters, digits and -, at most 63"
    if kind == "PriorityClass" and name.startswith(_RESERVED):
        return f"begin otherwise: Kubernetes keeps names with {_RESERVED} for itself"
    return "use lower case letters, digits, - and ., at most 253" if names.subdomain_errors(name) else ""


def pools_have_the_same_objects(configs: Sequence[DeviceConfig]) -> Iterator[Result]:
    """Yield an error, with its place, per extra object that would not be the same for all pools of a config."""
    first = configs[0]
    for config in configs[1:]:
        for index, (entry, other) in enumerate(zip(first.spec.extraObjects, config.spec.extraObjects, strict=True)):
            if entry != other:
                reason = f"its variables have different values in the pools {first.pool} and {config.pool}"
                message = f"exists once for the whole config, but {reason}"
                yield config.located(
                    config.error(message, f"extraObjects[{index}]", remedy="write a value that fits both")
                )


def rights_are_fixed(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per variable in the rights of an extra object, and per binding to cluster-admin.

    A config would choose its own rights with a variable; cluster-admin gives every right in the namespace.
    """
    for index, entry in enumerate(config.fields.get("extraObjects", ())):
        if table(entry, "roleRef").get("name") == _ADMIN:
            message = f"{_ADMIN} gives every right in the namespace"
            yield config.error(
                message, f"extraObjects[{index}].roleRef.name", _ADMIN, remedy="name a Role with those that are needed"
            )
        for part in ("rules", "roleRef"):
            if part in entry and re.search(_VARIABLE, str(entry[part])):
                message = "has a variable, so a config could choose its own rights"
                yield config.error(message, f"extraObjects[{index}].{part}", remedy="write the value itself")
        for number, subject in tables(entry, "subjects"):
            is_account = subject.get("kind") == "ServiceAccount"
            for name, value in subject.items():
                text = re.sub(_OWN_ACCOUNT, "", str(value)) if is_account else str(value)
                if re.search(_VARIABLE, text):
                    remedy = "for a ServiceAccount, use only $KRMFN_NAME and $KRMFN_NAMESPACE"
                    message = "has a variable, so a config could choose who gets the rights"
                    field = f"extraObjects[{index}].subjects[{number}].{name}"
                    yield config.error(message, field, remedy=remedy)


def nothing_is_null(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per null in an extra object, which the API server drops or refuses."""
    for index, entry in enumerate(config.spec.extraObjects):
        for path in (path for path, value in leaves(entry) if value is None):
            yield config.error(
                "is empty", f"extraObjects[{index}].{join(path)}", remedy="write a value, or leave the field out"
            )


def _example(good: str, bad: str, remedy: str, config: str = "spec: {profile: gpu}\n") -> dict[str, Any]:
    """Return the examples of a rule: a profile's extraObjects, and a config that names it."""
    head = "kind: RenderDeviceConfigs\nspec:\n  profiles:\n    gpu:\n      extraObjects:\n"
    tail = f"---\nmetadata: {{name: gpu-1}}\n{config}"
    return {"good": f"{head}      - {good}\n{tail}", "bad": f"{head}      - {bad}\n{tail}", "remedy": remedy}


RULES = (
    Rule(
        "KRM165",
        "an extra object must be of an allowed kind: none that gives rights in the cluster, holds secrets or is "
        "krmfn's own",
        check=kinds_are_allowed,
        **_example(
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {level: info}}",
            "{apiVersion: v1, kind: Secret, metadata: {name: settings}, stringData: {level: info}}",
            "Use another kind, or deploy the object separately.",
        ),
        held=oracles.OUR_KINDS,
    ),
    Rule(
        "KRM166",
        "an extra object must be in the config's namespace; if it is cluster-wide, its name must contain the config's "
        "name",
        check=names_belong_to_the_config,
        **_example(
            '{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: "$KRMFN_NAME-first"}, value: 9}',
            "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: first}, value: 9}",
            "Remove the namespace, and write $KRMFN_NAME into the name.",
        ),
        held=oracles.OUR_KINDS,
    ),
    Rule(
        "KRM167",
        "the rules and the roleRef of an extra object must not contain variables",
        check=rights_are_fixed,
        **_example(
            "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: watch},\n"
            '        rules: [{apiGroups: [""], resources: [pods], verbs: [watch]}]}',
            "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: watch},\n"
            '        rules: [{apiGroups: [""], resources: ["$KRMFN_NAME"], verbs: [watch]}]}',
            "Write the rights themselves: the author of a config chooses what a variable stands for.",
        ),
        held=oracles.OUR_KINDS,
    ),
    Rule(
        "KRM173",
        "an extra object must not contain nulls: server-side apply refuses some and drops others",
        check=nothing_is_null,
        **_example(
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {level: info}}",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {level: null}}",
            "Write a value, or remove the field.",
        ),
        held=oracles.SERVER_SIDE_APPLY,
    ),
)
"""The rules about the extra objects of one config or pool."""

TOGETHER = Rule(
    "KRM172",
    "an extra object must be the same for all pools of a config",
    check=pools_have_the_same_objects,
    **_example(
        '{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {for: "$KRMFN_NAME"}}',
        '{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {for: "$KRMFN_DRIVER_VERSION"}}',
        "Write a variable that has the same value in all pools, such as $KRMFN_NAME.",
        """\
spec:
  profile: gpu
  nodeSelector: null
  nodePools:
  - {name: big, nodeSelector: {memory: 128g}, driverVersion: "1.0"}
  - {name: small, nodeSelector: {memory: 64g}, driverVersion: "1.1"}
""",
    ),
    held=oracles.OUR_KINDS,
)
"""The rule about all pools of a config."""
