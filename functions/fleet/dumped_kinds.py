"""What is asked of a cluster: one list of kinds, for every command that reads a dump, and for the loop that writes one.

Secrets are not in it, and nothing else is asked for.
"""

from collections.abc import Iterable, Sequence

from krmfn.typed import NamedTuple


class DumpedKind(NamedTuple):
    """A kind that a dump may have."""

    group: str
    resource: str
    """Its plural, as it stands in the paths of the API."""
    kind: str

    @property
    def name(self) -> str:
        """The full name, which no resource of another group takes away."""
        return f"{self.resource}.{self.group}" if self.group else self.resource

    @property
    def path(self) -> tuple[str, str]:
        """The folders of a must-gather that hold it: group and resource.

        Source: openshift/oc, pkg/cli/admin/inspect, dirPathForInfo.
        """
        return self.group or "core", self.resource


_KMM = "kmm.sigs.x-k8s.io"
KINDS = (
    DumpedKind("", "nodes", "Node"),
    DumpedKind("", "namespaces", "Namespace"),
    DumpedKind(_KMM, "modules", "Module"),
    DumpedKind(_KMM, "nodemodulesconfigs", "NodeModulesConfig"),
    DumpedKind(_KMM, "moduleimagesconfigs", "ModuleImagesConfig"),
    DumpedKind(_KMM, "modulebuildsignconfigs", "ModuleBuildSignConfig"),
    DumpedKind("", "serviceaccounts", "ServiceAccount"),
    DumpedKind("", "resourcequotas", "ResourceQuota"),
    DumpedKind("", "pods", "Pod"),
    DumpedKind("", "events", "Event"),
    DumpedKind("resource.k8s.io", "resourceclaims", "ResourceClaim"),
    DumpedKind("argoproj.io", "applications", "Application"),
    DumpedKind("kustomize.toolkit.fluxcd.io", "kustomizations", "Kustomization"),
)
"""The kinds in the order in which they are asked for: nodes first, for without these a dump says nothing."""
NAMES = {(kind.group, kind.kind): kind.name for kind in KINDS}
"""The full names by group and kind."""

_SCRIPT = """\
# Writes the dump that `krmfn --live` reads: dump.json, or what DUMP says. kubectl gets the arguments of this script:
# krmfn why --kubectl | DUMP=stage.json sh -s -- --context stage
dump=${DUMP:-dump.json}
: > "$dump" && for kind in \\
%s
do
    said=$(kubectl get "$kind" --all-namespaces --output json%s "$@" 2>&1 >> "$dump") && continue
    echo "$dump has no $kind: $said" >&2
    if [ "$kind" = nodes ]; then break; fi
done
"""


def script(others: Iterable[str] = (), flag: str = "") -> str:
    """Return a shell loop that asks kubectl for each kind by itself, and says which kinds the server does not have.

    `others` are more kinds, as kubectl calls them; `flag` is one more of kubectl's.
    """
    names = dict.fromkeys((*(kind.name for kind in KINDS), *others))
    return _SCRIPT % (" \\\n".join(f"    {name}" for name in names), f" {flag}" if flag else "")


def of_path(parts: Sequence[str]) -> DumpedKind | None:
    """Return which kind a file of a folder holds, by its path below that folder; None for a file of none.

    `oc adm inspect` writes GROUP/RESOURCE.yaml or GROUP/RESOURCE/NAME.yaml, a Namespace as namespaces/NAME/NAME.yaml
    and a pod as pods/NAME/NAME.yaml; a file with the full name of a kind (pods.json) is taken anywhere.
    """
    stem, (above, folder) = parts[-1].rpartition(".")[0], ("", "", *parts)[-3:-1]
    for kind in KINDS:
        is_own = above in ("namespaces", "pods") and above == kind.resource and folder == stem
        if stem == kind.name or kind.path in ((folder, stem), (above, folder)) or is_own:
            return kind
    return None
