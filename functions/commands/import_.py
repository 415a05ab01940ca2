"""The command `import`: hand-written Modules and their consumers become DeviceConfigs and a profile."""

import argparse
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice

from krmfn import Item, KrmfnError, Manifest, Result, warning
from krmfn.printing import printable
from krmfn.resource import Place, ref
from krmfn.typed import NamedTuple
from krmfn.yamltext import emit

from .. import options
from ..cluster import function_runs
from ..cluster.deployed import Cluster, Clusters
from ..cluster_dump import is_dumped
from ..command import Command, Context
from ..fleet import readings
from ..importing import assembly, importer, normal, wording
from ..importing.importer import Import
from ..importing.wording import ClusterImport
from ..kmm.module import MODULE_KINDS
from ..options import RunOptions
from ..paths import output
from ..run import Run, placed, run_of
from ..settings import READ, RENDER, Settings
from . import clusters, import_configs
from .import_configs import Driven

Places = Mapping[tuple[str, str, str, str], Place | None]
"""Where the objects stand, by what makes each unique."""
_UNFIT = re.compile(r"[^A-Za-z0-9._-]")


class Source(NamedTuple):
    """The objects of a cluster to import."""

    name: str
    """As `--cluster` or .krmfn.yaml calls it; "" for PATHs that belong to no such cluster."""
    items: Sequence[Item]
    paths: Sequence[str]
    crds: tuple[Manifest, ...] = ()
    """The CRDs of KMM that it is known to have."""

    @property
    def diff_path(self) -> str:
        """Return the PATH that `diff` takes; "" for several, for stdin, and for a dump of a cluster."""
        is_dump = all(is_dumped(item.manifest) for item in self.items)
        return "" if is_dump or len(self.paths) != 1 or self.paths[0] == "-" else self.paths[0]


class Request(NamedTuple):
    """What is asked of `import`."""

    paths: tuple[str, ...]
    output_dir: str
    keep_pod_templates: bool
    profile: tuple[str, ...]


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser)
    help_ = "write the DeviceConfigs into this folder, which must be new or empty"
    parser.add_argument("-o", "--output-dir", required=True, metavar="DIR", help=help_)
    help_ = "add nothing to the pods of DaemonSets, so that no pod is replaced when Git takes over"
    parser.add_argument("--keep-pod-templates", action="store_true", help=help_)
    help_ = "a file with a Profile: a config of its kind among the objects is kept as it is; may be repeated"
    parser.add_argument("--profile", action="append", default=[], metavar="FILE", help=help_)


def _run(context: Context, args: Request) -> int:
    configs = function_runs.configs_of(context.options)
    existing = function_runs.join_configs(configs) if configs else None
    if errors := assembly.errors((), run_of_render(context.options.flags), existing):
        raise KrmfnError(*map(str, errors))
    streams = clusters.read(context, args.paths)
    if streams is None:
        return 2
    text, findings = _write(context.options, sources_of(streams), args, existing)
    results = [result for resources in streams.lists.values() for result in placed(resources)]
    return clusters.print_text(context, streams, text, [*results, *findings])


def sources_of(streams: Clusters) -> list[Source]:
    """Return the objects of each cluster that has a name; those of the other PATHs are of one cluster together."""
    named = [cluster for cluster in streams.clusters if cluster.members]
    sources = [
        Source(cluster.name, cluster.final.items, [root.name for root in cluster.roots], _crds([cluster]))
        for cluster in named
    ]
    others = [cluster for cluster in streams.clusters if not cluster.members]
    rest = [item for cluster in others for item in cluster.final.items]
    if rest or not sources:
        sources.append(Source("", rest, (*streams.paths,), _crds(others)))
    return sources


def _crds(parts: Sequence[Cluster]) -> tuple[Manifest, ...]:
    """Return the CRDs of KMM that a cluster of these parts is known to have; each list of a part has them all."""
    return tuple(crd for part in parts for resources in part.lists[:1] for crd in run_of(resources).crds)


def run_of_render(flags: Mapping[str, str]) -> Run:
    """Return the run by which the configs of an import are rendered back; `flags` are the settings given as options."""
    return Run(settings=Settings(RENDER, flags=flags))


def _write(
    run_options: RunOptions, sources: Sequence[Source], args: Request, existing: Manifest | None
) -> tuple[str, list[Result]]:
    """Write what an import makes of each source; return the report about it, and the findings."""
    run, folders = run_of_render(run_options.flags), _folders(sources, args.output_dir)
    profiles = import_configs.profiles_of(args.profile, run_options.root)
    driven = [
        import_configs.driven(source.items, profiles, run, existing, folder)
        for source, folder in zip(sources, folders, strict=True)
    ]
    imports = [
        convert_rest(source, part, run, existing, args.keep_pod_templates)
        for source, part in zip(sources, driven, strict=True)
    ]
    conversions = [conversion for imported in imports for conversion in imported.conversions]
    configs, function_config = assembly.assemble(conversions, run, existing)
    shared, are_several = [function_config] if function_config else [], len(sources) > 1
    findings, rest = list[Result](), iter(configs)
    texts = {args.output_dir: texts_of(shared)} if are_several else {}
    written: list[ClusterImport] = []
    for source, imported, part, folder in zip(sources, imports, driven, folders, strict=True):
        manifests = [*islice(rest, len(imported.conversions)), *(kept.manifest for kept in imported.kept)]
        texts[folder] = texts_of([*part.inputs, *manifests, *(() if are_several else shared)])
        findings += part.findings
        findings += findings_of(imported, {item.ref.id: item.place for item in source.items})
        findings += assembly.errors(manifests, run._replace(crds=source.crds), function_config, existing)
        written.append(ClusterImport(folder, source.diff_path, imported))
    is_alone = existing or are_several  # else the folder that holds it is enough
    files = [os.path.join(args.output_dir, file) for file in texts_of(shared) if is_alone]  # noqa: PTH118
    rest_of = [cluster for cluster, part in zip(written, driven, strict=True) if cluster.has_rest or not part.lines]
    of_configs = [line for part in driven for line in (*part.lines, part.next_step) if line]
    report = "".join(f"{printable(line)}\n" for line in of_configs)
    if rest_of:
        report += wording.report(rest_of, function_config, [*run_options.function_config, *files], run_options.kmm_crd)
    output.write_texts(texts, run_options.root)
    return report, findings


def _folders(sources: Sequence[Source], top: str) -> list[str]:
    """Return the folder that each source is written into. Raises KrmfnError for two of one name."""
    if len(sources) == 1:
        return [top]
    folders = [os.path.join(top, output.safe_name(source.name)) for source in sources]  # noqa: PTH118
    for folder in folders:
        if folders.count(folder) > 1:
            raise KrmfnError(f"two clusters would be written into {folder}; import them separately")
    return folders


def convert_rest(
    source: Source, driven: Driven, run: Run, existing: Manifest | None = None, keeps_pods: bool = False
) -> Import:
    """Return what an import makes of a cluster beside its own configs. Raises KrmfnError as `convert` does."""
    items = [item for item in source.items if item.ref.id not in driven.covered]
    if driven.inputs and not any((item.group, item.kind) in MODULE_KINDS for item in items):
        return Import((), (), len(items))
    return convert(source._replace(items=items), run, existing, keeps_pods)


def convert(source: Source, run: Run, existing: Manifest | None = None, keeps_pods: bool = False) -> Import:
    """Return what an import makes of one cluster. Raises KrmfnError when there is no Module, or two of one name."""
    items = source.items
    places = {item.ref.id: item.place for item in items}
    manifests = [_in_namespace(item.manifest, run.settings.flags.get("namespace", "")) for item in items]
    if findings := readings.check(*(item for item in items if (item.group, item.kind) in MODULE_KINDS)):
        raise KrmfnError(*map(str, findings))
    numbers = Counter(module.id for module in map(ref, manifests) if (module.group, module.kind) in MODULE_KINDS)
    if not numbers:
        origin = source.name or " ".join(source.paths)
        raise KrmfnError(f"no Module is in {origin}, so there is nothing to import; is it the right PATH?")
    if duplicates := [name for name, number in numbers.items() if number > 1]:
        _, kind, namespace, name = duplicates[0]
        place = places.get(duplicates[0])
        suffix = f" (last in {place.path}:{place.line})" if place and place.path else ""
        message = f"{kind} {namespace}/{name} appears {numbers[duplicates[0]]} times{suffix}"
        raise KrmfnError(f"{message}; remove all but one, or name the clusters with --cluster NAME=PATH")
    return importer.import_modules(manifests, run._replace(crds=source.crds), existing, keeps_pods)


def _in_namespace(manifest: Manifest, namespace: str) -> Manifest:
    """Return the manifest, with `namespace` when it has none."""
    metadata = manifest.get("metadata")
    if not namespace or not isinstance(metadata, dict) or metadata.get("namespace"):
        return manifest
    return {**manifest, "metadata": {**metadata, "namespace": namespace}}


def findings_of(imported: Import, places: Places) -> list[Result]:
    """Return a warning per object that stays as it is, and per one that is deleted with its owner."""
    pairs = ((ref(kept.manifest), reason) for kept in imported.kept for reason in kept.reasons)
    findings = [warning(f"stays as it is: {reason}", ref=r, place=places.get(r.id)) for r, reason in pairs]
    for manifest in (manifest for conversion in imported.conversions for manifest in conversion.objects):
        if owner := normal.owner(manifest):
            message = f"belongs to {owner}, which will overwrite it, and whose deletion deletes it, too"
            message += "; remove the owner with `kubectl delete --cascade=orphan` first"
            findings.append(warning(message, ref=ref(manifest), place=places.get(ref(manifest).id)))
    return findings


def texts_of(manifests: Sequence[Manifest]) -> dict[str, bytes]:
    """Return the text of each manifest by the name of its file: `deviceconfig-gaudi.yaml`.

    Raises KrmfnError for two of one name.
    """
    refs = [ref(manifest) for manifest in manifests]
    numbers = Counter((object_.kind, object_.name) for object_ in refs)
    files: dict[str, bytes] = {}
    for object_, manifest in zip(refs, manifests, strict=True):
        namespace = object_.namespace if numbers[object_.kind, object_.name] > 1 else ""
        parts = filter(None, (object_.kind.lower(), namespace, object_.name))
        name = f"{_UNFIT.sub('-', '-'.join(parts))}.yaml"
        if name in files:
            message = f"{object_} and another object would both be written to the file {name}"
            raise KrmfnError(f"{message}; import them separately")
        files[name] = emit.dump(manifest).encode()
    return files


_EXAMPLES = (
    "modules/ -o configs",
    "- -o configs < dump.yaml   # kubectl get modules,daemonsets -A -o yaml > dump.yaml",
)
COMMAND = Command(_EXAMPLES, _arguments, _run, Request, READ)
