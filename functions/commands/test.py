"""The command `test`: a vendor's cases, each a folder with the objects and findings that are expected of it."""

import argparse
import os
from collections.abc import Iterator
from difflib import unified_diff
from itertools import chain, islice
from pathlib import Path

from krmfn.errors import KrmfnError
from krmfn.ownership import OWNER
from krmfn.printing import counted, json_text, printable
from krmfn.typed import NamedTuple

from ..cluster import cluster_streams, telling
from ..cluster.deployed import deployed_items
from ..command import DIFFERS, Command, Context
from ..formats import findings
from ..paths import output
from ..run import placed
from ..settings import RENDER

OBJECTS, FINDINGS = "expected.yaml", "expected-findings.json"
"""What a case holds beside its inputs: what `render` prints, and the findings."""
_MISNAMED = "expected.yml"
_LINES = 40
"""Lines of a difference that are printed."""


class Request(NamedTuple):
    """What is asked of `test`."""

    folders: tuple[str, ...]
    update: bool


def _arguments(parser: argparse.ArgumentParser) -> None:
    help_ = f"a folder (default: .); its cases are the folders below it that hold {OBJECTS} or {FINDINGS}"
    parser.add_argument("folders", nargs="*", default=[], metavar="DIR", help=help_)
    help_ = "rewrite the files that differ with the present output; the command still fails"
    parser.add_argument("--update", action="store_true", help=help_)


def _run(context: Context, args: Request) -> int:
    folders = args.folders or (".",)
    cases = list(dict.fromkeys(case for folder in folders for case in _cases(folder)))
    if not cases:
        raise KrmfnError(f"no folder below {', '.join(folders)} holds {OBJECTS} or {FINDINGS}")
    options = context.options._replace(exclude=(*context.options.exclude, OBJECTS, FINDINGS))
    context = context._replace(options=options)
    differences = [[*_differences(context, case, args.update)] for case in cases]
    failed = sum(map(bool, differences))
    lines = [*chain(*differences), f"{counted(len(cases), 'case')}, {failed} failed"]
    output.write_stdout("".join(f"{line}\n" for line in lines))
    return int(failed > 0)


def _cases(folder: str) -> Iterator[str]:
    """Yield the folders below a folder, itself among them, that are cases. Raises KrmfnError where there is none."""
    if not Path(folder).is_dir():
        raise KrmfnError(f"{folder} is not a folder; pass one that holds cases")
    for top, folders, files in os.walk(folder):
        folders.sort()
        if not {OBJECTS, FINDINGS, _MISNAMED}.isdisjoint(files):
            yield top


def _differences(context: Context, case: str, update: bool) -> Iterator[str]:
    """Yield the lines in which a case differs from what it expects; with `update` write its files anew."""
    if Path(case, _MISNAMED).exists():
        yield f"{case}: {_MISNAMED} is not read; rename it to {OBJECTS}"
        return
    streams = cluster_streams.render(context, [case])
    if not streams.is_whole or len(streams.clusters) != 1:
        telling.log(context, streams)
        yield f"{case}: cannot be rendered"
        return
    final = streams.clusters[0].final
    if not final.failed and not any(OWNER in item.annotations for item in final.items):
        ways = "put the Profile beside it, or name it with --function-config or in `profiles` of .krmfn.yaml"
        yield f"{case}: nothing is generated in this case: no config has its Profile; {ways}"
        return
    records = []
    for finding in placed(final):
        path = finding.place.path if finding.place else ""
        records.append({**findings.finding(finding), "file": os.path.relpath(path, case) if path else ""})
    objects = b"" if final.failed else output.dump(deployed_items(final))
    texts = {OBJECTS: objects.decode(), FINDINGS: json_text(records, 2) + "\n"}
    files = {name: Path(case, name) for name in texts if Path(case, name).exists()}
    for name, file in files.items():
        expected = file.read_text(encoding="utf-8")
        if expected != texts[name]:
            lines = unified_diff(expected.splitlines(), texts[name].splitlines(), str(file), "now", lineterm="", n=1)
            yield from map(printable, islice(lines, _LINES))
            if update:
                file.write_text(texts[name], encoding="utf-8")
    if final.failed and FINDINGS not in files:
        telling.log(context, streams)
        yield f"{case}: has errors, and no {FINDINGS} that expects them"


COMMAND = Command(("tests/cases", "tests/cases --update"), _arguments, _run, Request, RENDER, exits=DIFFERS)
