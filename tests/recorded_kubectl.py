"""A kubectl whose answers were recorded: what it is told, where it starts and what it sees goes to a file."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from krmfn_functions.fleet.dumped_kinds import KINDS

from tests.commands import COMMANDS, environment
from tests.trees import plant

Item = dict[str, Any]
GROUPS = ("apps", "kmm.sigs.x-k8s.io", "argoproj.io")
_PROGRAM = """#!/bin/sh
here={folder}
printf '%s\\n' "$PWD $(ls -A | wc -l) $PATH: $*" >> $here/log
case "$4" in
    --raw=*) name=groups ;;
    *) name=$4 ;;
esac
[ ! -f $here/$name.err ] || {{ cat $here/$name.err >&2; [ ! -f $here/$name.json ] || cat $here/$name.json; exit 1; }}
cat $here/$name.json
"""


class Recorded(NamedTuple):
    """A folder with a program `kubectl`, its answers, and what was asked of it."""

    folder: Path

    @property
    def programs(self) -> Path:
        """The folder to put on PATH."""
        return self.folder / "bin"

    def calls(self) -> list[str]:
        """Return the arguments of each call."""
        return [line.partition(": ")[2] for line in self._lines()]

    def surroundings(self) -> list[list[str]]:
        """Return for each call the working folder, how many entries it had, and PATH."""
        return [line.partition(": ")[0].split(" ") for line in self._lines()]

    def _lines(self) -> list[str]:
        log = self.folder / "log"
        return log.read_text().splitlines() if log.exists() else []

    def refuse(self, name: str, message: str, text: str | None = None) -> None:
        """Let kubectl fail for a kind, or for `groups`, perhaps after it has printed some text."""
        (self.folder / f"{name}.err").write_text(message)
        (self.folder / f"{name}.json").unlink(missing_ok=True)
        if text is not None:
            (self.folder / f"{name}.json").write_text(text)

    def environment(self, *more: str, **variables: str) -> dict[str, str]:
        """Return the environment of a run that finds this kubectl, behind other entries of PATH."""
        path = os.pathsep.join([str(COMMANDS), *more, str(self.programs), environment()["PATH"]])
        return environment(**{"PATH": path, **variables})


def recorded(folder: Path, items: Sequence[Item], groups: Sequence[str] = GROUPS) -> Recorded:
    """Write a kubectl that knows some objects, and has the API groups of these names."""
    plant(folder, {"bin/kubectl": _PROGRAM.format(folder=folder)})
    entries = [{"name": group, "versions": []} for group in groups]
    (folder / "groups.json").write_text(json.dumps({"kind": "APIGroupList", "apiVersion": "v1", "groups": entries}))
    for kind in KINDS:
        known = [item for item in items if _is_of(item, kind.group, kind.kind)]
        listing = {"apiVersion": "v1", "items": known, "kind": "List", "metadata": {"resourceVersion": ""}}
        (folder / f"{kind.name}.json").write_text(json.dumps(listing, indent=4))
    return Recorded(folder)


def _is_of(item: Item, group: str, kind: str) -> bool:
    return (item["apiVersion"].rpartition("/")[0], item["kind"]) == (group, kind)
