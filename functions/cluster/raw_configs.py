"""Configs that an engine applies as they are, or leaves out: no Module is made of them."""

from collections.abc import Iterator, Mapping, Sequence

from krmfn import Item, ResourceList, Result, error, warning
from krmfn.ownership import OWNER
from krmfn.typed import Any

from ..deployments.deployment import Deployment
from ..run import run_of
from .deployed import Cluster
from .reached import NAMES, configs_in, marked_configs_in, place_of, reached_by_each

_WAYS = {
    "argocd": "name the plugin in it (`plugin: {name: krmfn}`), or let CI render into a branch and sync that",
    "flux": "let CI render into a branch and apply that (gitops/flux), or keep the config out of the folder",
    "fleet": "let CI render into a branch and deploy that, or keep the config out of the folder",
}
"""The ways out, by engine."""
_ARGOCD = "Argo CD needs `--enable-alpha-plugins --enable-exec` in argocd-cm and krmfn beside it to build"
"""What is said where a kustomization calls krmfn; the other engines refuse to build it.

Source: Flux, pkg/kustomize (plugins disabled); Argo CD, kustomize.buildOptions; Fleet, krusty's default options.
"""


def raw_configs(cluster: Cluster, top: str) -> Iterator[Result]:
    """Yield an error per object of an engine that applies configs of a cluster as they are."""
    settled = dict(reached_by_each(cluster, top, _made_by_functions))
    marked_in_files = _marked_in_files(cluster, top)
    for deployment, configs in reached_by_each(cluster, top, configs_in):
        declaration = deployment.declaration
        if configs and deployment.is_home:
            yield _of_home(deployment, configs, top)
        if declaration.how != "raw" or declaration.engine not in _WAYS:
            continue
        about: Mapping[str, Any] = {"rule": "KRM545", "ref": declaration.source.ref, "place": place_of(deployment, top)}
        engine = NAMES[declaration.engine]
        if settled[deployment]:
            is_argocd = declaration.engine == "argocd"
            reason = _ARGOCD if is_argocd else f"{engine} runs no functions of kustomize, so it refuses to build"
            message = f"{reason} {deployment.path}"
            yield (warning if is_argocd else error)(message, remedy=_WAYS[declaration.engine], **about)
        if configs:
            message = (
                f"{engine} applies {configs[0].ref}{others(configs)} of {deployment.path} as it is, so no Module is "
                "made of it"
            )
            yield error(message, remedy=_WAYS[declaration.engine], **about)
        elif marked := marked_in_files[deployment]:
            subject, is_flux = f"{marked[0].ref}{others(marked)} of {deployment.path}", declaration.engine == "flux"
            does = f"leaves out {subject}, which" if is_flux else f"applies {subject} as it is, though it"
            message = f"{engine} {does} is marked as local-config, so no Module is made of it"
            yield error(message, remedy=_WAYS[declaration.engine], **about)


def _marked_in_files(cluster: Cluster, top: str) -> dict[Deployment, Sequence[Item]]:
    """Return the configs marked as local-config in folders without a kustomization, by what deploys these.

    None where objects stand that a function made of configs: it was run on the files. Of what a kustomization leaves
    out KRM190 says it.
    """
    folders = {root.path for root in cluster.roots if root.kind == "files"}
    rendered = dict(reached_by_each(cluster, top, _made_in_place))
    return {
        deployment: configs if deployment.real(top) in folders and not rendered[deployment] else ()
        for deployment, configs in reached_by_each(cluster, top, marked_configs_in)
    }


def _made_in_place(part: ResourceList) -> list[Item]:
    """Return the objects in files that a function made of configs."""
    return [item for item in part.items if item.place and OWNER in item.annotations]


def _of_home(deployment: Deployment, configs: Sequence[Item], top: str) -> Result:
    """Return the warning about configs beside the objects with which Flux starts: nothing says more."""
    message = (
        f"Flux applies {configs[0].ref}{others(configs)} as it is if it is started on {deployment.path}, as these "
        "objects suggest: no Module is made of it then"
    )
    source = deployment.declaration.source
    return warning(message, rule="KRM545", ref=source.ref, place=place_of(deployment, top), remedy=_WAYS["flux"])


def _made_by_functions(part: ResourceList) -> list[Item]:
    """Return the items of a root whose kustomization calls krmfn."""
    return part.items if run_of(part).is_settled else []


def others(items: Sequence[Item]) -> str:
    """Return how many there are beside the first one, in words."""
    return f" and {len(items) - 1:,} more" if len(items) > 1 else ""
