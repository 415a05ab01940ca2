"""What the pods of an object may do beyond other pods: of their host, as root, and by their service account.

Source: Kubernetes 1.34, Pod Security Standards (see final/pod_security.py); RBAC, referring to subjects.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from krmfn import Manifest
from krmfn.resource import ref
from krmfn.typed import NamedTuple

from ..final.pod_security import SECURITY, above_baseline, containers
from ..grouping import grouped
from ..kmm.lookup import POD_KINDS, Table, table, tables, text, texts
from ..kmm.module import PLUGINS, module_of
from ..plan import Change

_PODS = (*dict.fromkeys(POD_KINDS.values()), ("template", "spec"))
"""The paths of the PodSpec in a Pod and in the kinds that create Pods, whatever their group."""
_PROFILES = {"seccompProfile": "a seccomp profile", "appArmorProfile": "an AppArmor profile"}
_AS_ROOT, _USER = "runs as root (runAsUser 0)", "a user other than root (runAsUser)"
_NO_ROOT = "runAsNonRoot: true"
_OLD_ACCOUNT = "serviceAccount"
_BINDINGS = ("RoleBinding", "ClusterRoleBinding")


def gained(change: Change) -> list[str]:
    """Return what the pods of a changed or new object may do that they may not do before, in words, sorted."""
    old, new = change.old or {}, change.new or {}
    kept = {name for name in map(_name, _containers(old)) if name in set(map(_name, _containers(new)))}
    privileges, protections = _privileges(new), _protections(new, kept)
    lost = _protections(old, kept) - protections if change.old else set()
    for name in kept:  # without a user of its own it is the image's, unless more is said of it
        if {f"container {name} {_AS_ROOT}", f"container {name} has {_NO_ROOT}"} & (privileges | protections):
            lost.discard(f"container {name} has {_USER}")
    return sorted(privileges - _privileges(old)) + sorted(f"{protection} no longer" for protection in lost)


class Rights(NamedTuple):
    """What the bindings of a cluster give to service accounts and groups, in sentences, each with its place."""

    present: Mapping[str, Sequence[tuple[int, str]]]
    """Those after a change, by their subjects."""
    unchanged: Mapping[str, Sequence[tuple[int, str]]]
    """Those that a change leaves as they were."""


def rights(old: Sequence[Manifest], new: Sequence[Manifest]) -> Rights:
    """Return what bindings give after a change, and both before and after it."""
    return Rights(_by_subject(new), _by_subject(_in_both(old, new)))


def gained_accounts(change: Change, known: Rights) -> Iterator[str]:
    """Yield a sentence per service account that pods of an object run as, and did not before.

    A new object is named only where a binding of before gives its account rights: else the binding is told itself; and
    the account `default` only where it is known to have any.
    """
    accounts = _accounts(change.new or {})
    former = _accounts(change.old or {})
    for account in dict.fromkeys(accounts) if accounts != former else ():
        if account in former:
            continue
        sentences = _given_to(account, known.present if change.old else known.unchanged)
        if sentences or (change.old and not account.endswith("/default")):
            before = f", before as {', '.join(dict.fromkeys(former))}" if former else ""
            rights_text = f": {'; '.join(sentences)}" if sentences else ", whose rights are not among the objects"
            yield f"new account: {change.ref} runs as ServiceAccount {account}{before}{rights_text}"


def binding(manifest: Manifest) -> str:
    """Return the role of a binding, and the subjects that it gives the role to, in words."""
    role, subjects = table(manifest, "roleRef"), [subject for _, subject in tables(manifest, "subjects")]
    names = (f"{subject.get('kind')} {subject.get('namespace', '')}/{subject.get('name')}" for subject in subjects)
    return f"{role.get('kind')} {role.get('name')} to {', '.join(names)}"


def _given_to(account: str, by_subject: Mapping[str, Sequence[tuple[int, str]]]) -> list[str]:
    """Return what each binding gives to an account (`NAMESPACE/NAME`), also by a group of all accounts."""
    namespace = account.partition("/")[0]
    groups = ("system:authenticated", "system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    subjects = (f"ServiceAccount {account}", *(f"Group {name}" for name in groups))
    return [sentence for _, sentence in sorted({pair for name in subjects for pair in by_subject.get(name, ())})]


def _by_subject(manifests: Iterable[Manifest]) -> dict[str, list[tuple[int, str]]]:
    """Return what each binding gives, in a sentence with the binding's place among the manifests, by its subjects."""
    pairs = list[tuple[str, tuple[int, str]]]()
    for at, manifest in enumerate(manifests):
        for _, subject in tables(manifest, "subjects") if manifest.get("kind") in _BINDINGS else ():
            kind, name, role = text(subject, "kind"), text(subject, "name"), table(manifest, "roleRef")
            place = f"{text(subject, 'namespace') or ref(manifest).namespace}/" if kind == "ServiceAccount" else ""
            sentence = f"{ref(manifest)} gives it {text(role, 'kind')} {text(role, 'name')}"
            pairs.append((f"{kind} {place}{name}", (at, sentence)))
    return grouped(pairs)


def _in_both(old: Sequence[Manifest], new: Sequence[Manifest]) -> Iterator[Manifest]:
    """Yield the bindings that a change leaves as they were."""
    former = {ref(manifest).id: manifest for manifest in old if manifest.get("kind") in _BINDINGS}
    for manifest in new:
        other = former.get(ref(manifest).id) if manifest.get("kind") in _BINDINGS else None
        if other and binding(other) == binding(manifest):
            yield manifest


def _pods(manifest: Manifest) -> Iterator[tuple[Table, Table]]:
    """Yield each PodSpec of an object with the annotations of its pods; of a Module, what its plugins have of one."""
    for path in _PODS:
        if pod := table(manifest, *path):
            yield pod, table(manifest, *path[:-1], "metadata", "annotations")
    for _, plugin in _sections(manifest):
        parts = {"containers": "container", "initContainers": "initContainer"}
        yield {**plugin, **{name: [table(plugin, part)] for name, part in parts.items() if part in plugin}}, {}


def _sections(manifest: Manifest) -> Iterator[tuple[str, Table]]:
    """Yield the sections of a Module that run pods besides those that load; none for anything else."""
    if module := module_of(manifest):
        yield from ((name, table(module.spec, name)) for name in PLUGINS if name in module.spec)


def _containers(manifest: Manifest) -> Iterator[Table]:
    for pod, _ in _pods(manifest):
        yield from (container for _, container in containers(pod))


def _name(container: Table) -> str:
    return text(container, "name")


def _privileges(manifest: Manifest) -> set[str]:
    """Return what pods may do of what Pod Security refuses at the level baseline, and as root."""
    privileges = set[str]()
    for pod, annotations in _pods(manifest):
        privileges.update(privilege.text for privilege in above_baseline(pod, annotations))
        for _, container in containers(pod):
            context, name = table(container, SECURITY), f"container {_name(container)}"
            privileges.update(f"{name} has {added}" for added in texts(table(context, "capabilities"), "add"))
            if context.get("runAsUser", table(pod, SECURITY).get("runAsUser")) == 0:
                privileges.add(f"{name} {_AS_ROOT}")
            if context.get("allowPrivilegeEscalation") is True:
                privileges.add(f"{name} may gain privileges (allowPrivilegeEscalation)")
    return privileges


def _protections(manifest: Manifest, names: set[str]) -> set[str]:
    """Return what holds the pods of an object, and these containers, back."""
    protections = set[str]()
    for pod, _ in _pods(manifest):
        switches = {name for name in ("hostUsers", "automountServiceAccountToken") if pod.get(name) is False}
        protections |= {f"{name}: false" for name in switches}
        of_pod = table(pod, SECURITY)
        for _, container in containers(pod):
            if (name := _name(container)) in names:
                context = table(container, SECURITY)
                protections |= {f"container {name} has {words}" for words in _held_back(context, of_pod)}
    return protections


def _held_back(context: Table, of_pod: Table) -> Iterator[str]:
    """Yield what holds a container back, of its own securityContext and of that of its pod."""
    if context.get("runAsNonRoot", of_pod.get("runAsNonRoot")) is True:
        yield _NO_ROOT
    if context.get("runAsUser", of_pod.get("runAsUser")):
        yield _USER
    if context.get("allowPrivilegeEscalation") is False:
        yield "allowPrivilegeEscalation: false"
    if "ALL" in texts(table(context, "capabilities"), "drop"):
        yield "all capabilities dropped"
    for field, words in _PROFILES.items():
        profile = table(context if field in context else of_pod, field)
        if text(profile, "type") not in ("", "Unconfined"):
            yield words


def _accounts(manifest: Manifest) -> list[str]:
    """Return the service accounts of the pods of an object, as NAMESPACE/NAME."""
    namespace = ref(manifest).namespace if manifest else ""
    fields = {"containers", "serviceAccountName", _OLD_ACCOUNT}
    pods = [pod for pod in (table(manifest, *path) for path in _PODS) if not fields.isdisjoint(pod)]
    if module := module_of(manifest):
        namespace = module.ref.namespace
        pods += [table(module.spec, section) for section in ("moduleLoader", *PLUGINS)]
    names = (text(pod, "serviceAccountName") or text(pod, _OLD_ACCOUNT) or "default" for pod in pods if pod)
    return [f"{namespace}/{name}" for name in names]
