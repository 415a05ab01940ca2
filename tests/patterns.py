"""Every regular expression of the sources, with the methods by which each meets a text.

They are collected from the calls of `re`, so that none is missed: a call that cannot be evaluated here is an error.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from krmfn_functions.chain import first_line
from krmfn_functions.cluster import config_schema
from krmfn_functions.kustomization import confinement

from krmfn import config as sdk_config
from krmfn.yamltext import documents, edit, split
from tests.commands import ROOT
from tests.pumps import LONG, Use

FLAGS_AT = {"compile": 1, "match": 2, "fullmatch": 2, "search": 2, "findall": 2, "finditer": 2}
FLAGS_AT |= {"split": 3, "sub": 4, "subn": 4}
"""The functions of `re` that take a pattern, with where their flags stand; but for one they are its methods, too."""
OTHERS = {"Match", "Pattern", "error", "escape", "ASCII", "DOTALL", "IGNORECASE", "MULTILINE"}
"""What else of `re` the sources use."""
ANYHOW = {"fullmatch", "finditer"}
"""The methods of a pattern that goes where this does not follow it."""


def _strings(value: Any, key: str) -> Iterator[str]:
    for name, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if name == key and isinstance(part, str):
            yield part
        yield from _strings(part, key)


def _of_files(folder: str, key: str, *schemas: Any) -> list[str]:
    data = [json.loads(path.read_bytes()) for path in sorted((ROOT / folder).glob("*.json"))]
    return sorted({*_strings([*data, *schemas], key)})


RULES = _of_files("schemas", "pattern", config_schema.SCHEMA)
CRD_RULES = _of_files("functions/kmm/crd", "$pattern")
CONFIG = SimpleNamespace(ref=SimpleNamespace(name="a-b.c"))
LOCALS: dict[str, list[dict[str, Any]]] = {
    "krmfn/config.py _typed": [{"pattern": pattern} for pattern, _ in sdk_config._PARSERS.values()],
    "krmfn/schema.py _pattern": [{"rule": rule} for rule in RULES],
    "functions/kustomization/confinement.py variables": [
        {"pattern": names} for names in (confinement.CLOSED, confinement.OPEN, confinement.HELM)
    ],
    "functions/commands/init_engines.py _beside": [{"folder_name": "lab"}],
    "functions/paths/contents.py": [{"key": b"kind"}],
    "functions/paths/output.py _own_text": [{"edit": edit}],
    "krmfn/yamltext/edit.py undashed": [{"indent": 2}],
    "krmfn/yamltext/peek.py": [{"self": SimpleNamespace(column=2), "column": 2}],
    "krmfn/yamltext/pieces.py": [{"column": 2, "key": "spec"}],
    "krmfn/yamltext/documents.py _misreadings": [
        {"pattern": pattern} for pattern in (rb"\r\r\n", documents._ODD_BREAK, documents._WIDE_BREAK)
    ],
    "krmfn/yamltext/split.py _dashes": [{"indent": 2}],
    "krmfn/yamltext/split.py _compiled": [{"rough": rough} for _, rough, _ in split._RUNS_ON],
    "krmfn/yamltext/split.py runs_on": [{"exact": exact} for _, _, exact in split._RUNS_ON],
    "krmfn/yamltext/split_exact.py _dash_lines": [{"indent": 2}],
    "functions/chain/dictionary.py _is_seen": [{"pattern": r'(?<![\w-])secret\ "\S+"\ not\ found(?![\w-])'}],
    "functions/chain/first_line.py _shorter": [
        {"pattern": pattern}
        for pattern in (r"registry\.example\.com/(?P<name>a)", *(pattern for pattern, _ in first_line._QUOTED.values()))
    ],
    "functions/final/dockerfiles.py files_land_in_the_directory": [{"directory": "/opt/a-b"}],
    "functions/deviceconfig/extra_rules.py _misplaced": [{"config": CONFIG}],
    "functions/kmm/crd/values.py check": [{"pattern": rule} for rule in CRD_RULES],
    "functions/reference/fields.py _text": [{"pattern": rule} for rule in RULES],
}
"""What the local variables are of which patterns are made, by file and function; in a file, those of all others."""


LONGEST = {"functions/kmm/regexps.py": 4096}
"""Where a text has a bound: the longest that is looked at."""
OURS = {
    ("functions/commands/bare.py", "finditer"),  # the README of the function
    ("functions/reference/fields.py", "search"),  # the specimens for the documentation
    ("krmfn/schema.py", "finditer"),  # the patterns of our schemas
}
"""What meets no text of others, by file and method."""
OTHER_ENGINES = {
    ("functions/commands/moving.py", "fnmatch"),  # what a star has passed is not tried again
    ("functions/commands/nodes.py", "fnmatch"),  # the pattern is an option's
    ("functions/deployments/globs.py", "re2"),
    ("functions/fleet/table.py", "fnmatch"),
    ("functions/kmm/regexps.py", "re2"),
    ("functions/kustomization/values.py", "re2"),
    ("functions/paths/excludes.py", "pathspec"),
    ("functions/paths/excludes.py", "re2"),
}
"""What else reads patterns, by file."""
ENGINES = {"fnmatch", "glob", "pathspec", "re2", "regex"}


class File:
    """A file of the sources: its module and its parse tree."""

    def __init__(self, path: str) -> None:
        """Read a file, its path from the repository's root."""
        self.path = path
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        self.names = vars(import_module(re.sub(r"^functions\b", "krmfn_functions", module)))
        self.tree = ast.parse((ROOT / path).read_bytes())
        self.nodes: list[ast.AST] = [self.tree]
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in self.nodes:  # which grows, as with ast.walk
            children = [*ast.iter_child_nodes(node)]
            self.parents.update(dict.fromkeys(children, node))
            self.nodes += children

    def function(self, node: ast.AST) -> ast.FunctionDef | None:
        """Return the function that a node is in."""
        while not isinstance(node, (ast.FunctionDef, ast.Module)):
            node = self.parents[node]
        return node if isinstance(node, ast.FunctionDef) else None

    def values(self, node: ast.expr, **known: Any) -> list[Any]:
        """Return what an expression is, for each of the values of the local variables that it has."""
        function = self.function(node)
        local = LOCALS.get(f"{self.path} {function.name}" if function else self.path) or LOCALS.get(self.path) or [{}]
        for line in function.body if function else []:
            if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant):
                known[ast.unparse(line.targets[0])] = line.value.value
        try:
            return [eval(ast.unparse(node), {**self.names, **variables, **known}) for variables in local]
        except NameError as unknown:
            place = f"{self.path}:{node.lineno}"
            raise AssertionError(
                f"{place}: {unknown}; say in LOCALS what it is, so that the pattern is tried"
            ) from None


@cache
def sources() -> list[File]:
    """Return the files of the sources."""
    paths = [path for top in ("krmfn", "functions") for path in (ROOT / top).rglob("*.py")]
    return [File(str(path.relative_to(ROOT))) for path in sorted(paths)]


@cache
def uses() -> Mapping[Use, str]:
    """Return every use of a pattern in the sources, with its place."""
    places: dict[Use, str] = {}
    unused = set(OURS)
    for file in sources():
        for node in file.nodes:
            place = f"{file.path}:{getattr(node, 'lineno', 0)}"
            assert not (isinstance(node, ast.ImportFrom) and node.module == "re"), place
            assert not (isinstance(node, ast.alias) and node.name == "re" and node.asname), place
            if isinstance(node, ast.Attribute) and _is_re(node.value) and node.attr not in OTHERS:
                call = file.parents[node]
                assert node.attr in FLAGS_AT, place
                assert isinstance(call, ast.Call) and call.func is node, place
                for pattern, flags, method in _of_call(file, call, node.attr):
                    simple = method if method in ("match", "fullmatch", "search") else "finditer"
                    unused.discard((file.path, simple))
                    if (file.path, simple) not in OURS:
                        places[Use(pattern, flags, simple, LONGEST.get(file.path, LONG))] = place
    assert not unused, f"not used any more: {unused}"
    return places


def _is_re(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "re"


def other_engines() -> set[tuple[str, str]]:
    """Return which files import what else reads patterns."""
    return {
        (file.path, name)
        for file in sources()
        for node in file.nodes
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in {getattr(node, "module", ""), *(alias.name for alias in node.names)} & ENGINES
    }


def _of_call(file: File, call: ast.Call, name: str) -> Iterator[tuple[str | bytes, int, str]]:
    """Yield the patterns of a call of `re`, with their flags and the methods that are used."""
    words = [word.value for word in call.keywords if word.arg == "flags"] + call.args[FLAGS_AT[name] :][:1]
    flags = int(file.values(words[0])[0]) if words else 0
    function = file.function(call)
    calls: list[tuple[ast.Call, dict[str, Any]]] = [(call, {})]
    if name == "compile" and function and isinstance(file.parents[call], ast.Return):  # which it returns
        called = (node for node in file.nodes if isinstance(node, ast.Call))
        callers = [node for node in called if ast.unparse(node.func) == function.name]
        is_known = f"{file.path} {function.name}" in LOCALS
        calls = [(node, {} if is_known else _arguments(file, function, node)) for node in callers]
    for caller, known in calls:
        for pattern in file.values(call.args[0], **known):
            for method in {name} - {"compile"} or _methods(file, caller):
                yield pattern, flags, method


def _arguments(file: File, function: ast.FunctionDef, call: ast.Call) -> dict[str, Any]:
    """Return the values of a function's parameters in a call of it."""
    values = [file.values(argument)[0] for argument in call.args]
    names = [parameter.arg for parameter in function.args.args]
    rest = {function.args.vararg.arg: tuple(values[len(names) :])} if function.args.vararg else {}
    return {**dict(zip(names, values, strict=False)), **rest}


@cache
def _loads() -> Mapping[str, list[tuple[File, ast.Name | ast.Attribute]]]:
    """Return the names in the sources and where they stand, behind a dot too."""
    loads = defaultdict(list)
    for file in sources():
        for node in file.nodes:
            if isinstance(node, (ast.Name, ast.Attribute)):
                loads[node.id if isinstance(node, ast.Name) else node.attr].append((file, node))
    return loads


def _methods(file: File, call: ast.Call) -> set[str]:
    """Return by which methods the pattern that a call returns meets texts."""
    parent = file.parents[call]
    if isinstance(parent, ast.Attribute):
        return {parent.attr}
    if not isinstance(parent, ast.Assign):
        return ANYHOW
    function, name = file.function(call), ast.unparse(parent.targets[0])
    loads: list[tuple[File, ast.Name | ast.Attribute]]
    if function:
        loads = [(file, node) for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
    else:
        pattern = file.names[name]
        aliases = {alias for other in sources() for alias, value in other.names.items() if value is pattern}
        loads = [
            (other, node)
            for other, node in itertools.chain(*map(_loads().__getitem__, aliases))
            if isinstance(node, ast.Attribute) or other.names.get(node.id) is pattern
        ]
    parents = [other.parents[node] for other, node in loads if isinstance(node.ctx, ast.Load)]
    names = {node.attr if isinstance(node, ast.Attribute) else "" for node in parents}
    return names if names and names <= {*FLAGS_AT} else ANYHOW
