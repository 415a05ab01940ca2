"""Files of other tools below the PATHs: passed over, with one warning for each sort that counts and names them."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from krmfn import Item, KrmfnError, Place, Result, warning
from krmfn.printing import counted, some

from .. import oracles
from ..command import Context
from ..formats.unjudged import UNREAD
from ..kustomization.documents import unreadable
from ..paths import templates
from ..rendering.kinds import driven_kinds
from ..rule import Rule
from ..run import PassedOver, run_of
from . import function_runs
from .deployed import Cluster, Clusters

_TEMPLATE = "a template of another tool, which krmfn does not run"
_DATA = "a file of another tool, and no Kubernetes object"
_WAY_OUT = "leave it out with `exclude` in .krmfn.yaml"


def judge(context: Context, streams: Clusters, absent: Sequence[Item]) -> Clusters:
    """Return the clusters with the warnings about what is passed over in their folders.

    A template that names a kind that a Profile is for is an error: it may be meant as such a config. `absent` are
    Profiles of clusters that are not here.
    """
    by_file = {file.file: file for cluster in streams.clusters for file in _passed_over(cluster)}
    if not by_file and not streams.templates:
        return streams
    words = _words(context, streams, absent)
    wrong = {name for name, file in by_file.items() if file.template and templates.mentions(file.template, words)}
    reasons = [by_file[name] for name in sorted(wrong)]
    errors = [unreadable(KrmfnError(file.reason, line=file.line), file.file, "KRM523") for file in reasons]
    rest = [file for name, file in sorted(by_file.items()) if name not in wrong]
    clusters = [
        cluster._replace(is_whole=cluster.is_whole and not any(file.file in wrong for file in _passed_over(cluster)))
        for cluster in streams.clusters
    ]
    return streams._replace(
        clusters=clusters, findings=[*streams.findings, *errors, *_warnings(rest, streams.templates)]
    )


def _passed_over(cluster: Cluster) -> Iterator[PassedOver]:
    return (file for part in cluster.inputs for file in run_of(part).passed_over)


def _words(context: Context, streams: Clusters, absent: Sequence[Item]) -> set[str]:
    """Return the groups and kinds of the configs that any known Profile is for."""
    pairs = driven_kinds(absent).union(*(driven_kinds(p.items) for cluster in streams.clusters for p in cluster.inputs))
    if context.profiles:
        with suppress(KrmfnError):  # each root that needs them reports it
            pairs |= driven_kinds(function_runs.profiles_of(context.options, context.profiles))
    return {word for pair in pairs for word in pair}


def _warnings(files: Sequence[PassedOver], kindless: Sequence[str]) -> Iterator[Result]:
    """Yield a warning about the templates, those without a kind included, and one about the other files."""
    for sort, is_template in ((_TEMPLATE, True), (_DATA, False)):
        names = [file.file for file in files if bool(file.template) == is_template]
        names = sorted({*names, *kindless}) if is_template else names
        if not names:
            continue
        subject = "this is" if len(names) == 1 else f"this and {counted(len(names) - 1, 'more file')} are each"
        others = f" ({some(names[1:], len(names) - 1)})" if names[1:] else ""
        message, tags = f"{subject} {sort}: not read{others}", ((UNREAD, "\n".join(names)),)
        yield warning(message, rule="KRM534", place=Place(names[0]), tags=tags, remedy=_WAY_OUT)


RULES = (
    Rule(
        "KRM534",
        "files of another tool should be left out with `exclude`: templates, the index of a Helm repository, an "
        "install-config.yaml, submodules that are not checked out",
        good="""\
# .krmfn.yaml
exclude: [reference]
---
# gpu.yaml
kind: DeviceConfig
---
# reference/app.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .name }}"}
""",
        bad="""\
# gpu.yaml
kind: DeviceConfig
---
# index.yaml
apiVersion: v1
entries: {}
""",
        remedy="Add the files or their folder to `exclude` in .krmfn.yaml. To have them checked, keep what the tool "
        "makes of them instead, or pipe it into `krmfn check -`.",
        held=oracles.TOOLS,
        severities=("warning",),
    ),
)
