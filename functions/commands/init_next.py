"""What to do after `init`: the commands to type, in their order."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from ..importing import recipes
from ..kmm.names import subdomain_errors

_BUILDERS = ("kustomize", "kubectl")


def steps(folder: str, by_name: Mapping[str, str], paths: Sequence[str], bare: Sequence[Path]) -> list[str]:
    """Return what to do next in `folder`, the DIR of the command, where files were written at `paths`.

    `by_name` has the dumps of clusters, `bare` the folders of those whose nodes are not known.
    """
    import shutil  # here: it takes longer than most commands

    lines = ["", "next:"]
    if any(Path(path).name == "kustomization.yaml" for path in paths) and not any(map(shutil.which, _BUILDERS)):
        lines.append("  install kustomize or kubectl, which build the kustomizations; or begin anew with --plain")
    lines.append(f"  krmfn check {shlex.quote(folder)}    # what the clusters would refuse or regret")
    if bare:
        for_others = "; the same for each cluster" if len(bare) > 1 else ""
        lines.append(
            f"  kubectl get nodes -o json | {_inventory(bare[0])}    # then check judges the nodes, too{for_others}"
        )
    if by_name:
        pairs = [word for name, dump in by_name.items() for word in ("--live", f"{name}={dump}")]
        lines.append(f"  {shlex.join(['krmfn', 'adopt', folder, *pairs])}    # the steps until Git has it")
    has_ci = any(path in recipes.PATHS for path in paths)
    last = "commit it, and push: CI checks it" if has_ci else "commit it"
    others = "Argo CD and Flux" if has_ci else "CI, Argo CD and Flux"
    return [*lines, f"  {last}; gitops/ in krmfn's repository has {others}, a page for each"]


def folders(base: str, clusters: Sequence[str], paths: Sequence[str]) -> list[Path]:
    """Return the folder below `base` of each of these clusters for which a file was written there.

    Without a cluster it is `base` itself, if a config was written there.
    """
    if not clusters:
        is_begun = any("/" not in path and path not in recipes.PATHS for path in paths)
        return [Path(base)] if is_begun else []
    parents = [PurePosixPath(path).parent for path in paths if path not in recipes.PATHS]
    of_name = {parent.name: parent for parent in parents}
    return [Path(base, of_name[name]) for name in clusters if name in of_name]


def _inventory(folder: Path) -> str:
    """Return the command that writes the inventory of a cluster into its folder, where no file has to list it."""
    name = () if subdomain_errors(folder.name) else ("--name", folder.name)
    return shlex.join(["krmfn", "inventory", "--for", str(folder), *name, "-o", str(folder / "inventory.yaml")])
