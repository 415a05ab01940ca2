"""What the rights in a rule of RBAC mean: which are harmless, and to what the others lead.

Source: Kubernetes 1.34, Using RBAC Authorization, and Role Based Access Control Good Practices (privilege escalation).
"""

from collections.abc import Iterator, Mapping

from krmfn.typed import Any, NamedTuple

from ..kmm.lookup import texts

_READING = frozenset({"get", "list", "watch"})
_URL_READING = frozenset({"get", "head", "options"})
_UNNAMED = frozenset({"create", "deletecollection"})
"""Verbs that a rule with resourceNames never gives: the object has no name yet, or there are many."""
_CONNECTING = ("exec", "attach", "portforward", "proxy")
"""Subresources that reach into a pod or node, also by `get`."""
_ADMISSION, _RBAC = "admissionregistration.k8s.io", "rbac.authorization.k8s.io"
_KMM, _HUB = "kmm.sigs.x-k8s.io", "hub.kmm.sigs.x-k8s.io"


class Harmless(NamedTuple):
    """Rights that say nothing about others; by no other do whoever has them change what runs."""

    group: str
    """The API group; "own" is that of the config's kind."""
    resource: str
    """`*/status` is that of each resource."""
    verbs: str
    reason: str
    is_named: bool = False
    """Whether the rule has to name the objects, by resourceNames."""


HARMLESS = (
    Harmless("", "events", "create patch update", "an event tells what happened, and nothing acts on it"),
    Harmless("events.k8s.io", "events", "create patch update", "the same by its newer API"),
    Harmless("coordination.k8s.io", "leases", "create update patch delete", "a lock of programs that ask for it"),
    Harmless("own", "*/status", "update patch", "what a driver tells of its own configs"),
    Harmless("", "nodes", "patch update", "labels and taints of the nodes that the rule names", is_named=True),
    Harmless("", "nodes/status", "patch update", "devices of the nodes that the rule names", is_named=True),
    Harmless("authentication.k8s.io", "tokenreviews", "create", "asks whose a token is"),
    Harmless("authorization.k8s.io", "subjectaccessreviews", "create", "asks what somebody may do"),
    Harmless("authorization.k8s.io", "selfsubjectaccessreviews", "create", "asks what it may do itself"),
    Harmless("security.openshift.io", "securitycontextconstraints", "use", "the constraint that its pods run under"),
)
"""Rights that are no finding. Everything else that is not reading is."""


class Meaning(NamedTuple):
    """To what a right leads."""

    group: str
    resource: str
    """"*" for each of the group, `*/exec` for a subresource of each."""
    verbs: str
    """Those that lead there; "" for each that is not harmless."""
    words: str


_MAKING = "create update patch"
_RUNS = "its pods run as any account of the namespace, privileged where that admits it"
_CODE = "a Module loads any code into the kernel, so this is root on its nodes"
_INSIDE = "it runs commands in pods, with their rights"
MEANINGS = (
    Meaning(_KMM, "modules", _MAKING, _CODE),
    Meaning(_KMM, "nodemodulesconfigs", _MAKING, "KMM loads on a node what stands there: root on it"),
    Meaning(_HUB, "managedclustermodules", _MAKING, "KMM-Hub brings such a Module to clusters: root on their nodes"),
    Meaning(_KMM, "modules", "", "a Module that is deleted unloads its driver on all nodes"),
    Meaning(_KMM, "*", "", "KMM builds, signs and loads by these objects"),
    Meaning(_HUB, "*", "", "KMM-Hub builds, signs and loads by these objects"),
    Meaning(_RBAC, "*", "escalate bind", "it gives itself any right"),
    Meaning("", "serviceaccounts", "impersonate", "it acts as any account"),
    Meaning("", "users", "impersonate", "it acts as any user"),
    Meaning("", "groups", "impersonate", "it acts as any group"),
    Meaning("authentication.k8s.io", "*", "impersonate", "it acts as somebody else"),
    Meaning("", "secrets", "", "tokens and keys in Secrets give the rights of others"),
    Meaning("", "serviceaccounts/token", "", "it takes a token of any account"),
    Meaning("", "nodes/proxy", "", "the kubelet runs commands in every pod of a node for it"),
    Meaning("", "pods", "create", _RUNS),
    *(Meaning("", f"pods/{name}", "", _INSIDE) for name in (*_CONNECTING, "ephemeralcontainers")),
    Meaning("", "services/proxy", "", "it reaches what the network closes to it"),
    Meaning("", "pods", "update patch", "another image in a pod runs with the rights of that pod"),
    Meaning("", "replicationcontrollers", _MAKING, _RUNS),
    Meaning("", "podtemplates", _MAKING, _RUNS),
    Meaning("apps", "*", _MAKING, _RUNS),
    Meaning("batch", "*", _MAKING, _RUNS),
    Meaning(_ADMISSION, "*", "", "a webhook or policy sees, changes and refuses what others write"),
    Meaning(_RBAC, "*", "", "it can give rights to others, and take rights from them"),
    Meaning("certificates.k8s.io", "*", "", "a certificate makes it any user"),
    Meaning("apiregistration.k8s.io", "*", "", "it answers in place of the API server"),
    Meaning("apiextensions.k8s.io", "*", "", "deleting a CRD deletes all Modules"),
    Meaning("argoproj.io", "*", "", "Argo CD applies what it names, with Argo CD's own rights"),
    Meaning("kustomize.toolkit.fluxcd.io", "*", "", "Flux applies what it names, with Flux's own rights"),
    Meaning("helm.toolkit.fluxcd.io", "*", "", "Flux applies what it names, with Flux's own rights"),
    Meaning("", "nodes", "", "labels and taints decide which pods and Modules run on a node"),
    Meaning("", "nodes/status", "", "the scheduler relies on what it says of a node and its devices"),
    Meaning("", "persistentvolumes", "", "a volume can be any folder of a node"),
    Meaning(
        "", "namespaces", "", "labels of a Namespace admit privileged pods, and its deletion deletes all that is in it"
    ),
    Meaning("", "configmaps", "", "KMM builds from Dockerfiles in ConfigMaps, and others take settings from them"),
    Meaning("", "serviceaccounts", "", "pods wait for their accounts, and take pull secrets from them"),
    Meaning("networking.k8s.io", "*", "", "it opens what a NetworkPolicy closes"),
    Meaning("resource.k8s.io", "*", "", "it decides which devices pods get, of other drivers, too"),
    Meaning("nfd.k8s-sigs.io", "*", "", "Node Feature Discovery makes the labels of it by which Modules select nodes"),
    Meaning("", "pods", "", "it stops or moves pods of others"),
    Meaning("", "pods/eviction", "", "it stops or moves pods of others"),
)
"""What rights mean, the worst first."""
_OTHER = "it changes what others rely on"


class Right(NamedTuple):
    """A right of a rule that is not harmless."""

    text: str
    """`create/patch of modules.kmm.sigs.x-k8s.io`."""
    rank: int
    """The place of its meaning among MEANINGS."""
    meaning: str


def harmful_rights(rule: Mapping[str, Any], own_group: str) -> list[Right]:
    """Return the rights in a rule of RBAC that are not harmless, the worst first."""
    rights = [*_of_resources(rule, own_group), *_of_urls(rule)]
    return sorted(rights, key=lambda right: right.rank)


def _of_resources(rule: Mapping[str, Any], own_group: str) -> Iterator[Right]:
    verbs, is_named = texts(rule, "verbs"), bool(texts(rule, "resourceNames"))
    for group in texts(rule, "apiGroups"):
        for resource in texts(rule, "resources"):
            effective = [verb for verb in verbs if not (is_named and verb in _UNNAMED and "/" not in resource)]
            harmful = [verb for verb in effective if not _is_harmless((verb, group, resource), own_group, is_named)]
            if harmful:
                rank, meaning = _meaning(harmful, group, resource)
                name = f"{resource}.{group}" if group else resource
                yield Right(f"{'/'.join(harmful)} of {name}", rank, meaning)


def _of_urls(rule: Mapping[str, Any]) -> Iterator[Right]:
    urls, verbs = texts(rule, "nonResourceURLs"), [verb for verb in texts(rule, "verbs") if verb not in _URL_READING]
    if urls and verbs:
        yield Right(f"{'/'.join(verbs)} of {', '.join(urls)}", len(MEANINGS), _OTHER)


def _is_harmless(right: tuple[str, str, str], own_group: str, is_named: bool) -> bool:
    verb, group, resource = right
    for row in HARMLESS:
        row_group = own_group if row.group == "own" else row.group
        is_status = row.resource == "*/status" and resource.endswith("/status")
        has_resource = is_status or resource == row.resource
        if group == row_group and has_resource and verb in row.verbs.split() and is_named >= row.is_named:
            return True
    return verb in _READING and not _reveals(group, resource)


def _reveals(group: str, resource: str) -> bool:
    """Return True for what gives the rights of others to whoever may only read it."""
    if group not in ("", "*"):
        return False
    return resource in ("secrets", "*") or resource.rpartition("/")[2] in _CONNECTING


def _meaning(verbs: list[str], group: str, resource: str) -> tuple[int, str]:
    """Return the worst meaning of a right, with its rank."""
    for rank, row in enumerate(MEANINGS):
        has_verb = not row.verbs or "*" in verbs or not set(verbs).isdisjoint(row.verbs.split())
        is_worse = not set(verbs) <= _READING or _reveals(row.group, row.resource)
        if has_verb and is_worse and group in (row.group, "*") and _has_resource(row.resource, resource):
            return rank, row.words
    return len(MEANINGS), _OTHER


def _has_resource(known: str, resource: str) -> bool:
    """Return True when a rule about a resource, perhaps with a wildcard, is also about a known one."""
    if known == "*" or resource in ("*", known):
        return True
    return resource == f"*/{known.rpartition('/')[2]}" and "/" in known
