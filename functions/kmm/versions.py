"""The KMM versions that we know, oldest first, and how their checks differ. A new one is its facts, and a table."""

import re

from krmfn import KrmfnError
from krmfn.typed import NamedTuple

from .version_facts import BRANCHES, FACTS


class Target(NamedTuple):
    """One KMM version, as far as its checks differ from the others'; where each fact is from: version_facts.py."""

    name: str
    source: str
    """The tag or branch of KMM's repository that holds its CRDs."""
    structure: str
    """The name of the table of facts that holds its Module CRD."""
    name_limit: int
    """The longest name + namespace, in bytes."""
    long_texts: bool
    """API machinery 1.35 speaks of bytes and label keys, 1.32 of characters and qualified names."""
    dra: bool
    """spec.dra is known."""
    probes: bool
    """Containers of plugins have probes, and initContainers must not."""
    host_paths: tuple[str, ...]
    """The folders in which host paths of plugins have to be; () where that is not checked."""
    host_paths_since: int
    """The patch release that checks them first."""
    sign_files: bool
    modprobe_prefix: str
    leaves_plugins: bool
    """A removed devicePlugin section leaves its DaemonSet running."""
    check_tolerates: bool
    """The pod that checks whether an image exists gets the Module's tolerations; before it had none."""
    labels_versions: bool
    """A node gets a label with the version that is loaded on it."""
    dra_since: str
    """The version of `platform` from which spec.dra is taken; "" where it is unknown to KMM."""

    @property
    def platform(self) -> str:
        """What `dra_since` is a version of: Kubernetes or OpenShift."""
        return "OpenShift" if self.is_fork else "Kubernetes"

    @property
    def table(self) -> str:
        """The name of the table of facts with its fields: those of its CRD, and what main has merged since."""
        return _MERGED if self.structure == NEWEST else self.structure

    @property
    def is_fork(self) -> bool:
        """Whether it is the OpenShift fork's, with the CRDs of the version that it is made from."""
        return bool(_prefix(self.name)) or self.name == _newest(_FORK_PREFIX)


_MERGED = "merged"
"""The table of what KMM's main has beyond the CRD of its table, which is of one commit."""
DEFAULT = "2.6"
KNOWN_ON = "2026-07-29"
"""The day of the newest facts."""
_FORK_PREFIX = "openshift-"
NEWEST = "main"
"""Its CRD has the fields of all versions, with the same defaults."""
TARGETS = {
    name: Target(name, BRANCHES[name], **{fact.name: fact.value for fact in facts}) for name, facts in FACTS.items()
}
_NUMBERED = re.compile(r"(openshift-)?v?([0-9]{1,9})\.([0-9]{1,9})(?:\.([0-9]{1,9}))?(?:[-+].*)?")


def target(version: str = DEFAULT) -> Target:
    """Return the KMM version by its name: `2.6`, also `v2.6` and `2.6.0`; `openshift` is the newest of the fork.

    A version that is newer than those we hold facts about is judged as the newest one (`is_newer`); an older one raises
    KrmfnError, as does what is no version. Source: KMM's internal/webhook/module.go and Module CRD at the `source` of
    each (main as of 2026-07-29), and the fork's at its release branches (2026-07-21) and main (2026-07-19).
    """
    if known := TARGETS.get(version):
        return known
    if match := _NUMBERED.fullmatch(version):
        prefix, major, minor, patch = match.groups("")
        if known := TARGETS.get(f"{prefix}{int(major)}.{int(minor)}"):
            is_checked = not patch or int(patch) >= known.host_paths_since
            return known if is_checked else known._replace(host_paths=())
        if is_newer(version):
            return TARGETS[_newest(prefix)]
    raise KrmfnError(f"kmm version {version!r} is not known; write one of {', '.join(TARGETS)}, or a newer one")


def is_newer(version: str) -> bool:
    """Return True for a version that is newer than those we hold facts about."""
    match = _NUMBERED.fullmatch(version)
    if not match:
        return False
    prefix, major, minor, _ = match.groups("")
    numbers = (name.removeprefix(prefix).split(".") for name in TARGETS if _prefix(name) == prefix and "." in name)
    return (int(major), int(minor)) > max((int(first), int(second)) for first, second in numbers)


def _prefix(name: str) -> str:
    return _FORK_PREFIX if name.startswith(_FORK_PREFIX) else ""


def _newest(prefix: str) -> str:
    """Return the name of the newest version of KMM, or of the fork."""
    return prefix.rstrip("-") or NEWEST
