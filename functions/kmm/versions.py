"""The KMM versions that we know, oldest first, and how their checks differ. A new one is a line here and a table."""

from krmfn import KrmfnError
from krmfn.typed import NamedTuple


class Target(NamedTuple):
    """One KMM version, as far as its checks differ from the others'. The defaults are those of main."""

    name: str
    source: str
    """The tag or branch of KMM's repository that holds its CRDs."""
    structure: str
    """The name of the table of facts that holds its Module CRD."""
    name_limit: int = 41
    """The longest name + namespace, in bytes."""
    long_texts: bool = True
    """API machinery 1.35 speaks of bytes and label keys, 1.32 of characters and qualified names."""
    dra: bool = True
    """spec.dra is known, and the host paths of plugins are bounded."""
    sign_files: bool = True
    modprobe_prefix: str = "failed to validate modprobe: "
    leaves_plugins: bool = False
    """A removed devicePlugin section leaves its DaemonSet running."""
    check_tolerates: bool = True
    """The pod that checks whether an image exists gets the Module's tolerations; before it had none."""
    labels_versions: bool = True
    """A node gets a label with the version that is loaded on it."""
    platform: str = "Kubernetes"
    """What `dra_since` is a version of: Kubernetes or OpenShift."""
    dra_since: str = "1.34"

    @property
    def is_fork(self) -> bool:
        """Whether it is the OpenShift fork's, with the CRDs of the version that it is made from."""
        return self.platform == "OpenShift"


_MAIN = Target("main", "main", "main")
_2_6 = _MAIN._replace(name_limit=40, long_texts=False, dra=False, leaves_plugins=True, check_tolerates=False)
_2_4 = _2_6._replace(structure="2.4", sign_files=False, modprobe_prefix="", labels_versions=False)

DEFAULT = "2.6"
NEWEST = _MAIN.name
"""Its CRD has the fields of all versions, with the same defaults."""
_KNOWN = (
    _2_4._replace(name="2.4", source="v2.4.0"),
    _2_4._replace(name="2.5", source="v2.5.0"),
    _2_6._replace(name="2.6", source="v2.6.0", structure="2.6"),
    _MAIN,
    _MAIN._replace(name="openshift", platform="OpenShift", dra_since="4.21"),
)
TARGETS = {known.name: known for known in _KNOWN}


def target(version: str = DEFAULT) -> Target:
    """Return the KMM version by its name: `2.6`, also `v2.6` and `2.6.0`; `openshift` is the fork's main.

    Raises KrmfnError for a version we hold no facts about. Source: KMM's internal/webhook/module.go and Module CRD at
    the `source` of each (main as of 2026-07-29); the fork's main for `openshift`.
    """
    known = TARGETS.get(version) or TARGETS.get(".".join(version.removeprefix("v").split(".")[:2]))
    if known is None:
        raise KrmfnError(f"kmm version {version!r} is not known; write one of {', '.join(TARGETS)}")
    return known
