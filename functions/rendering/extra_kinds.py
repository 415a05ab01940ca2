"""`extraKinds` of the functionConfig: kinds that Profiles may add beside those of EXTRA, since the platform says so."""

import re
from collections.abc import Iterator, Mapping, Sequence

from krmfn import Field, Result, error, warning
from krmfn.typed import Any

from .. import oracles
from ..identity import CLUSTER_SCOPED
from ..kmm.module import HUB_GROUP, MODULE_GROUP
from ..rule import Rule
from .kinds import CLUSTER_WIDE, EXTRA, OWN

RULE = "KRM186"
ExtraKinds = Mapping[tuple[str, str], bool]
"""(group, kind), and whether it has no namespace."""
_PODS = "runs pods; write them in daemonSets"
_RIGHTS = "gives rights in the cluster"
_SERVER = "changes what the API server does"
_OF_CLUSTER = "belongs to the whole cluster, and would go with one config"
_DEPLOYS = "deploys whatever it names"
_BANNED = {
    ("", "Secret"): "holds secrets, which do not belong in Git",
    **dict.fromkeys((("", kind) for kind in ("Pod", "PodTemplate", "ReplicationController")), _PODS),
    **dict.fromkeys((("", kind) for kind in ("Namespace", "Node", "PersistentVolume")), _OF_CLUSTER),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _SERVER,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _SERVER,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"): _SERVER,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): _SERVER,
}
_BANNED_GROUPS = {
    **dict.fromkeys(("apps", "batch", "apps.openshift.io", "build.openshift.io", "tekton.dev"), _PODS),
    **dict.fromkeys(("rbac.authorization.k8s.io", "authorization.k8s.io", "security.openshift.io"), _RIGHTS),
    **dict.fromkeys(("certificates.k8s.io", "authentication.k8s.io"), _RIGHTS),
    **dict.fromkeys(("apiextensions.k8s.io", "apiregistration.k8s.io", "flowcontrol.apiserver.k8s.io"), _SERVER),
    "argoproj.io": _DEPLOYS,
    **dict.fromkeys((MODULE_GROUP, HUB_GROUP), "is made of the config itself"),
    **dict.fromkeys(OWN, "is krmfn's own"),
}
"""Groups of which no kind may be there."""
_FLUX = ".toolkit.fluxcd.io"
_FORM = re.compile(r"([a-z0-9.-]+/)?[A-Z][A-Za-z0-9]*").fullmatch


def read(entries: Sequence[Any]) -> ExtraKinds:
    """Return the kinds of `extraKinds`, each GROUP/KIND, or a mapping with that as `kind` and a `scope`."""
    pairs = {_pair(entry): entry for entry in entries}
    return {pair: _is_cluster_wide(pair, entry) for pair, entry in pairs.items()}


def check(entries: Sequence[Any]) -> Iterator[Result]:
    """Yield an error per kind that no Profile may add, whoever says so."""
    for index, entry in enumerate(entries):
        written, (group, kind) = _written(entry), _pair(entry)
        reason = _BANNED.get((group, kind)) or _of_group(group)
        if not _FORM(written):
            message = f"is {written!r}, which is not GROUP/KIND"
            yield error(
                message,
                rule=RULE,
                field=_field(index, entry),
                remedy="write GROUP/KIND without a version, such as example.com/Tuning",
            )
        elif reason and (group, kind) not in EXTRA:
            message = f"{kind} {reason}, so no Profile may add one"
            yield error(message, rule=RULE, field=_field(index, entry), remedy="remove the entry")


def superfluous(entries: Sequence[Any]) -> Iterator[Result]:
    """Yield a warning per kind that any Profile may add without it."""
    seen = set[tuple[str, str]]()
    for index, entry in enumerate(entries):
        pair = _pair(entry)
        if pair in EXTRA or pair in seen:
            message = f"has no effect: a Profile may have a {pair[1]} anyhow"
            yield warning(message, rule=RULE, field=_field(index, entry), remedy="remove it")
        seen.add(pair)


def _field(index: int, entry: Any) -> Field:
    return Field(f"spec.extraKinds[{index}]" + (".kind" if isinstance(entry, dict) else ""), _written(entry))


def ban_in(value: Any) -> str:
    """Return why an object of such a kind may not be there: it holds pods, or rights; "" for one that may."""
    if isinstance(value, list):
        return next(filter(None, map(ban_in, value)), "")
    if not isinstance(value, dict):
        return ""
    containers = value.get("containers")
    if isinstance(containers, list) and any(isinstance(entry, dict) and "image" in entry for entry in containers):
        return _PODS
    if "roleRef" in value or ("verbs" in value and value.keys() & {"resources", "nonResourceURLs"}):
        return _RIGHTS
    return next(filter(None, map(ban_in, value.values())), "")


def _of_group(group: str) -> str:
    return _DEPLOYS if group.endswith(_FLUX) else _BANNED_GROUPS.get(group, "")


def _written(entry: Any) -> str:
    return str(entry["kind"] if isinstance(entry, dict) else entry)


def _pair(entry: Any) -> tuple[str, str]:
    group, _, kind = _written(entry).rpartition("/")
    return group, kind


def _is_cluster_wide(pair: tuple[str, str], entry: Any) -> bool:
    scope = entry.get("scope") if isinstance(entry, dict) else None
    return scope == "Cluster" if scope else pair in CLUSTER_SCOPED | CLUSTER_WIDE


KRM186 = Rule(
    RULE,
    "a kind of `extraKinds` must hold no secrets, run no pods, give no rights and deploy nothing else",
    good="""\
kind: RenderDeviceConfigs
spec: {extraKinds: [tuned.openshift.io/Profile, {kind: kueue.x-k8s.io/ResourceFlavor, scope: Cluster}]}
---
kind: DeviceConfig
""",
    bad="""\
kind: RenderDeviceConfigs
spec: {extraKinds: [rbac.authorization.k8s.io/ClusterRole]}
---
kind: DeviceConfig
""",
    remedy="Remove the entry, and deploy such an object separately.",
    severities=("error", "warning"),
    held=oracles.OUR_KINDS,
)

RULES = (KRM186,)
"""The rule about `extraKinds`, which is a step of reading the functionConfig."""
