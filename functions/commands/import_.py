"""The command `import`: hand-written Modules and their consumers become DeviceConfigs and a profile."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from krmfn import KrmfnError, Manifest, Ref, ResourceList, Result, warning
from krmfn.resource import Place, ref
from krmfn.yamltext import emit

from .. import options
from ..cluster_dump import is_dumped
from ..command import Command, Context
from ..fleet import readings
from ..importing import assembly, importer, normal, wording
from ..importing.importer import Imported
from ..kmm.module import MODULE_KINDS
from ..paths import output
from ..settings import READ, RENDER, Settings
from . import clusters

Places = Mapping[tuple[str, str, str, str], Place | None]
"""Where the objects stand, by what makes each unique."""
_UNFIT = re.compile(r"[^A-Za-z0-9._-]")


class Import(NamedTuple):
    """The arguments of `import`."""

    paths: tuple[str, ...]
    output_dir: str
    function_config: str | None
    root: str | None
    own: Mapping[str, str]


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser)
    help_ = "write the DeviceConfigs into this folder, which must be new or empty"
    parser.add_argument("-o", "--output-dir", required=True, metavar="DIR", help=help_)


def _run(context: Context, args: Import) -> int:
    if args.function_config:
        raise KrmfnError("import writes its own functionConfig; remove --function-config")
    streams = clusters.read(context, args.paths)
    if streams is None:
        return 2
    return clusters.printed(context, streams, *_imported(streams.lists, args._replace(paths=streams.paths)))


def _imported(lists: Mapping[str, ResourceList], args: Import) -> tuple[str, list[Result]]:
    items = [item for resources in lists.values() for item in resources.items]
    places = {item.ref.id: item.place for item in items}
    settings = Settings(RENDER, own=args.own)
    manifests = [_placed(item.manifest, args.own.get("namespace", "")) for item in items]
    if findings := readings.check(*(item for item in items if (item.group, item.kind) in MODULE_KINDS)):
        raise KrmfnError(*map(str, findings))
    _check(manifests, places, args.paths)
    whole = importer.imported(manifests, settings)
    configs, function_config = assembly.assembled(whole.taken, settings)
    kept = [one.manifest for one in whole.kept]
    findings = [result for resources in lists.values() for result in resources.results]
    findings += _findings(whole, manifests, places)
    findings += assembly.errors([*configs, *kept], settings, function_config)
    written = [*configs, *([function_config] if function_config else []), *kept]
    output.write_texts({args.output_dir: _files(written)}, args.root)
    compared = () if all(map(is_dumped, manifests)) else args.paths  # diff takes no dump
    return wording.report(whole, function_config, compared, args.output_dir), findings


def _placed(manifest: Manifest, namespace: str) -> Manifest:
    """Return the manifest, in `namespace` when it names none."""
    metadata = manifest.get("metadata")
    if not namespace or not isinstance(metadata, dict) or metadata.get("namespace"):
        return manifest
    return {**manifest, "metadata": {**metadata, "namespace": namespace}}


def _check(manifests: Iterable[Manifest], places: Places, paths: Sequence[str]) -> None:
    """Raise KrmfnError when there is no Module, or two of one name."""
    numbers = Counter(own.id for own in map(ref, manifests) if (own.group, own.kind) in MODULE_KINDS)
    if not numbers:
        where = " ".join(paths)
        raise KrmfnError(f"no Module is in {where}, so there is nothing to import; is it the right PATH?")
    twice = [name for name, number in numbers.items() if number > 1]
    if twice:
        _, kind, namespace, name = twice[0]
        place = places.get(twice[0])
        where = f" (last in {place.path}:{place.line})" if place and place.path else ""
        times = f"{kind} {namespace}/{name} appears {numbers[twice[0]]} times{where}"
        raise KrmfnError(f"{times}; remove all but one, and import one cluster at a time")


def _findings(whole: Imported, manifests: Sequence[Manifest], places: Places) -> list[Result]:
    """Return a warning per object that stays as it is, and per one that is deleted with its owner."""
    findings = [
        warning(f"stays as it is: {reason}", ref=ref(one.manifest), place=places.get(ref(one.manifest).id))
        for one in whole.kept
        for reason in one.reasons
    ]
    taken = {ref(manifest).id for one in whole.taken for manifest in one.objects}
    for manifest in manifests:
        owner = normal.owner(manifest)
        own = ref(manifest)
        if owner and own.id in taken:
            message = (
                f"belongs to {owner}, which will overwrite it, and whose deletion deletes it, too; remove the owner "
                "with `kubectl delete --cascade=orphan` first"
            )
            findings.append(warning(message, ref=own, place=places.get(own.id)))
    return findings


def _files(manifests: Sequence[Manifest]) -> dict[str, bytes]:
    """Return the text of each manifest by the name of its file: `deviceconfig-gaudi.yaml`."""
    refs = [ref(manifest) for manifest in manifests]
    shared = Counter((own.kind, own.name) for own in refs)
    files: dict[str, bytes] = {}
    for own, manifest in zip(refs, manifests, strict=True):
        name = _file(own, shared[own.kind, own.name] > 1)
        if name in files:
            raise KrmfnError(
                f"{own} and another object would both be written to the file {name}; import them separately"
            )
        files[name] = emit.dump(manifest).encode()
    return files


def _file(own: Ref, with_namespace: bool) -> str:
    parts = [own.kind.lower(), *([own.namespace] if with_namespace else []), own.name]
    return _UNFIT.sub("-", "-".join(part for part in parts if part)) + ".yaml"


_EXAMPLES = (
    "modules/ -o configs",
    "- -o configs < dump.yaml   # kubectl get modules,daemonsets -A -o yaml > dump.yaml",
)
COMMAND = Command(
    *(_EXAMPLES, _arguments, Import, _run, READ),
)
