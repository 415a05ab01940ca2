"""Dollars that KMM reads and that Flux would take: in hand-written Modules and in the Dockerfiles that they name."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Field, Item, Result, info
from krmfn.fieldpath import join
from krmfn.rule import Rule

from ..kmm.lookup import table, text
from ..rendering.substitution import DISABLED, SUBSTITUTE, changed_at
from .names import CONFIG_MAP
from .stream import Final


def dollars_are_kept(final: Final) -> Iterator[Result]:
    """Yield an info per Module and Dockerfile in which Flux's substitution would change what KMM reads."""
    modules = {id(item): item for item, _ in final.modules}
    for item in (*modules.values(), *_dockerfiles(final)):
        if DISABLED in (item.annotations.get(SUBSTITUTE), item.labels.get(SUBSTITUTE)):
            continue
        path = changed_at(item.manifest)
        if path:
            message = (
                "holds ${ or $$, which Flux's postBuild would substitute before KMM reads it; where Flux applies it, "
                f"set the annotation {SUBSTITUTE}: {DISABLED}"
            )
            yield final.located(item, info(message, field=Field(join(path))))


def _dockerfiles(final: Final) -> Iterator[Item]:
    """Yield the ConfigMaps with the Dockerfiles of Modules."""
    builds = [(module.ref.namespace, build) for _, module in final.modules for _, build in module.sections("build")]
    names = {(namespace, text(table(build, "dockerfileConfigMap"), "name")) for namespace, build in builds}
    for item in final.deployed if names else ():
        if (item.group, item.kind) == CONFIG_MAP and (item.ref.namespace, item.name) in names:
            yield item


RULES = (
    Rule(
        "KRM711",
        "text for KMM should not look like a Flux variable, unless an annotation keeps Flux from substituting it",
        good="""\
kind: Module
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION"}]
""",
        bad="""\
kind: Module
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/gpu:1.0-${KERNEL_FULL_VERSION}"}]
""",
        remedy="Add the annotation `kustomize.toolkit.fluxcd.io/substitute: disabled`, which generated objects have. "
        "Ignore the finding if Flux does not apply the object, or has no `postBuild`.",
        check=dollars_are_kept,
        severities=("info",),
        advice=True,
    ),
)
"""The rules about text for KMM that Flux may change."""
