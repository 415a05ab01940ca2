"""What is known of each KMM version, a fact a line with the file that it was read in; nothing goes over silently.

A fact that was not read in the version's own branch names the version that it is taken from (`of`).
"""

from krmfn.typed import Any, NamedTuple


class Fact(NamedTuple):
    """One fact about one version: a field of `versions.Target`."""

    name: str
    value: Any
    file: str
    """The file of the repository that it was read in, with the commit where that is not the branch's."""
    of: str = ""
    """The version that it is taken from; "" for one that was read in the branch of the version itself."""


BRANCHES = {
    "2.4": "v2.4.0",
    "2.5": "v2.5.0",
    "2.6": "v2.6.0",
    "main": "main",
    "openshift-2.4": "release-2.4",
    "openshift-2.5": "release-2.5",
    "openshift-2.6": "release-2.6",
    "openshift-2.7": "release-2.7",
    "openshift": "main",
}
"""The tag or branch that each version was read at; the commits are in crd/README.md."""

_CRD = "config/crd/bases/kmm.sigs.x-k8s.io_modules.yaml"
_WEBHOOK = "internal/webhook/module.go"
_MERGED = "internal/webhook/module.go (dbeff363, after the commit of the CRD)"
_GO_MOD = "go.mod (k8s.io/apimachinery)"
_PLUGINS = "internal/controllers/device_plugin_reconciler.go"
_PULLER = "internal/pod/imagepuller.go"
_NODES = "internal/controllers/nmc_reconciler.go"
_FOUR = ("/dev", "/sys", "/var", "/opt")
_FIVE = (*_FOUR, "/run")
_PREFIX = "failed to validate modprobe: "

FACTS: dict[str, tuple[Fact, ...]] = {
    "2.4": (
        Fact("structure", "2.4", _CRD),
        Fact("name_limit", 40, _WEBHOOK),
        Fact("long_texts", False, _GO_MOD),
        Fact("dra", False, _WEBHOOK),
        Fact("probes", False, _WEBHOOK),
        Fact("host_paths", (), _WEBHOOK),
        Fact("host_paths_since", 0, _WEBHOOK),
        Fact("sign_files", False, _WEBHOOK),
        Fact("modprobe_prefix", "", _WEBHOOK),
        Fact("leaves_plugins", True, _PLUGINS),
        Fact("check_tolerates", False, _PULLER),
        Fact("labels_versions", False, _NODES),
        Fact("dra_since", "", _WEBHOOK),
    ),
    "2.5": (
        Fact("structure", "2.4", _CRD),
        Fact("name_limit", 40, _WEBHOOK),
        Fact("long_texts", False, _GO_MOD),
        Fact("dra", False, _WEBHOOK),
        Fact("probes", False, _WEBHOOK),
        Fact("host_paths", (), _WEBHOOK),
        Fact("host_paths_since", 0, _WEBHOOK),
        Fact("sign_files", False, _WEBHOOK),
        Fact("modprobe_prefix", "", _WEBHOOK),
        Fact("leaves_plugins", True, _PLUGINS),
        Fact("check_tolerates", False, _PULLER),
        Fact("labels_versions", True, _NODES),
        Fact("dra_since", "", _WEBHOOK),
    ),
    "2.6": (
        Fact("structure", "2.6", _CRD),
        Fact("name_limit", 40, _WEBHOOK),
        Fact("long_texts", False, _GO_MOD),
        Fact("dra", False, _WEBHOOK),
        Fact("probes", False, _WEBHOOK),
        Fact("host_paths", (), _WEBHOOK),
        Fact("host_paths_since", 0, _WEBHOOK),
        Fact("sign_files", True, _WEBHOOK),
        Fact("modprobe_prefix", _PREFIX, _WEBHOOK),
        Fact("leaves_plugins", True, _PLUGINS),
        Fact("check_tolerates", False, _PULLER),
        Fact("labels_versions", True, _NODES),
        Fact("dra_since", "", _WEBHOOK),
    ),
    "main": (
        Fact("structure", "main", _CRD),
        Fact("name_limit", 41, _WEBHOOK),
        Fact("long_texts", True, _GO_MOD),
        Fact("dra", True, _WEBHOOK),
        Fact("probes", True, _MERGED),
        Fact("host_paths", _FIVE, _WEBHOOK),
        Fact("host_paths_since", 0, _WEBHOOK),
        Fact("sign_files", True, _WEBHOOK),
        Fact("modprobe_prefix", _PREFIX, _WEBHOOK),
        Fact("leaves_plugins", False, _PLUGINS),
        Fact("check_tolerates", True, _PULLER),
        Fact("labels_versions", True, _NODES),
        Fact("dra_since", "1.34", _WEBHOOK),
    ),
    "openshift-2.4": (
        Fact("structure", "2.4", _CRD),
        Fact("name_limit", 40, _WEBHOOK),
        Fact("long_texts", False, _GO_MOD),
        Fact("dra", False, _WEBHOOK),
        Fact("probes", False, _WEBHOOK),
        Fact("host_paths", (), _WEBHOOK),
        Fact("host_paths_since", 0, _WEBHOOK),
        Fact("sign_files", False, _WEBHOOK),
        Fact("modprobe_prefix", "", _WEBHOOK),
        Fact("leaves_plugins", True, _PLUGINS),
        Fact("check_tolerates", False, _PULLER),
        Fact("labels_versions", False, _NODES),
        Fact("dra_since", "", _WEBHOOK),
    ),
    "openshift-2.5": (
        Fact("structure", "2.4", _CRD),
        Fact("name_limit", 40, _WEBHOOK),
        Fact("long_texts", False, _GO_MOD),
        Fact("dra", False, _WEBHOOK),
        Fact("probes", False, _WEBHOOK),
        Fact("host_paths", _FOUR, _WEBHOOK),
        Fact("host_paths_since", 2, _WEBHOOK),
        Fact("sign_files", False, _WEBHOOK),
        Fact("modprobe_prefix", "", _WEBHOOK),
        Fact("leaves_plugins", True, _PLUGINS),
        Fact("check_tolerates", False, _PULLER),
        Fact("labels_versions", True, _NODES),
        Fact("dra_since", "", _WEBHOOK),
    ),
    "openshift-2.6": (
        Fact("structure", "2.6", _CRD),
        Fact("name_limit", 40, _WEBHOOK),
        Fact("long_texts", False, _GO_MOD),
        Fact("dra", False, _WEBHOOK),
        Fact("probes", False, _WEBHOOK),
        Fact("host_paths", _FOUR, _WEBHOOK),
        Fact("host_paths_since", 1, _WEBHOOK),
        Fact("sign_files", True, _WEBHOOK),
        Fact("modprobe_prefix", _PREFIX, _WEBHOOK),
        Fact("leaves_plugins", True, _PLUGINS),
        Fact("check_tolerates", False, _PULLER),
        Fact("labels_versions", True, _NODES),
        Fact("dra_since", "", _WEBHOOK),
    ),
    "openshift-2.7": (
        Fact("structure", "main", _CRD),
        Fact("name_limit", 41, _WEBHOOK),
        Fact("long_texts", True, _GO_MOD),
        Fact("dra", True, _WEBHOOK),
        Fact("probes", True, _MERGED, of="main"),
        Fact("host_paths", _FIVE, _WEBHOOK),
        Fact("host_paths_since", 0, _WEBHOOK),
        Fact("sign_files", True, _WEBHOOK),
        Fact("modprobe_prefix", _PREFIX, _WEBHOOK),
        Fact("leaves_plugins", False, _PLUGINS),
        Fact("check_tolerates", False, _PULLER),
        Fact("labels_versions", True, _NODES),
        Fact("dra_since", "4.21", _WEBHOOK),
    ),
    "openshift": (
        Fact("structure", "main", _CRD),
        Fact("name_limit", 41, _WEBHOOK),
        Fact("long_texts", True, _GO_MOD),
        Fact("dra", True, _WEBHOOK),
        Fact("probes", True, _MERGED, of="main"),
        Fact("host_paths", _FIVE, _WEBHOOK),
        Fact("host_paths_since", 0, _WEBHOOK),
        Fact("sign_files", True, _WEBHOOK),
        Fact("modprobe_prefix", _PREFIX, _WEBHOOK),
        Fact("leaves_plugins", False, _PLUGINS),
        Fact("check_tolerates", False, _PULLER),
        Fact("labels_versions", True, _NODES),
        Fact("dra_since", "4.21", _WEBHOOK),
    ),
}
