"""What `deviceconfig` and `ptemplate` print when they get arguments: they are KRM functions without commands.

`--help` and `--doc` print the functions' own files as kpt's Go SDK does. Source: the SDK's go/fn of 2026 (layout, JSON
fields), the catalogue's README template (markers), metadata-schema.json.
"""

import re
import sys
from collections.abc import Sequence
from importlib.resources import files

from krmfn.errors import KrmfnError
from krmfn.printing import json_text
from krmfn.streams import Log, ensure_stdout, write
from krmfn.typed import Any

from .. import VERSION

_SECTION = re.compile(r"<!--mdtogo:(?P<name>Short|Long|Examples)-->\n(?P<text>.*?)\n<!--mdtogo(?::End)?-->", re.DOTALL)
_METADATA: dict[str, Any] = {"image": "", "description": "", "tags": [], "sourceURL": ""}
_METADATA |= {"examplePackageURLs": [], "license": "", "hidden": False}
"""The fields of metadata.yaml, with the values of those that it leaves out."""


def answer(name: str, arguments: Sequence[str]) -> int:
    """Print the help, the documentation or the version; return the exit code, 2 for any other argument."""
    usage = f"usage: {name} [--help | --doc | --version]\n"
    match list(arguments):
        case ["-h" | "--help"]:
            text = usage + _help(name)
        case ["--version"]:
            text = f"{name} {VERSION}\n"
        case ["--doc"]:
            import yaml

            # as JSON, from the README.md and the metadata.yaml in the function's folder
            metadata: dict[str, Any] = yaml.safe_load(_file(name, "metadata.yaml"))
            text = json_text({**_sections(name), **_METADATA, **metadata}, 2) + "\n"
        case _:
            import shlex

            sys.stderr.write(
                f"{usage}{name}: error: {name} is a KRM function and takes no arguments; commands are run with krmfn: "
                f"try `krmfn {shlex.join(arguments)}`, or `krmfn --help`\n"
            )
            return 2
    try:
        ensure_stdout()
        write(1, [text.encode()])
    except KrmfnError as failure:
        Log().failure(failure)
        return 2
    return 0


def _help(name: str) -> str:
    """Return the documentation of a function for people, laid out as the Go SDK does for `--help`."""
    short, long, examples = _sections(name).values()
    return (
        f"\n{short}\n\n{long}\n\nExamples:\n{examples}\n\n"
        "This is a KRM function for kustomize (transformers:) and kpt (pipeline): it reads a ResourceList from\n"
        "stdin and writes one to stdout. To render or check files, run `krmfn render PATH` or `krmfn check PATH`.\n"
    )


def _sections(name: str) -> dict[str, str]:
    sections = {match["name"].lower(): match["text"] for match in _SECTION.finditer(_file(name, "README.md"))}
    return {key: sections[key] for key in ("short", "long", "examples")}


def _file(name: str, file: str) -> str:
    return (files("krmfn_functions") / name / file).read_text(encoding="utf-8")
