"""What goes from stage to stage is data: no value holds a function, and what an item or a list has is set in krmfn/."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from lines import REPO, files

TREES = {path: ast.parse(path.read_text()) for path in files("krmfn", "functions")}
HOLDERS = {
    "functions/command.py: Command.arguments": "the table of the commands: code that stands once, and no value",
    "functions/command.py: Command.run": "the same",
    "functions/rule.py: Rule.check": "the tables of the rules: code that stands once, and no value",
    "functions/rendering/generated.py: Renderer.load": "the table of what is rendered: code that stands once",
    "functions/rendering/generated.py: Renderer.hint": "the same",
    "functions/formats/findings.py: Layout.paint": "how one call prints, made where that is called",
    "functions/formats/findings.py: Layout.source": "the same",
    "functions/cluster/survey.py: Scope.exclude": "the patterns, compiled once for all PATHs by functions/paths",
    "krmfn/streams.py: Log.paint": "a log writes; it is no value",
}
"""The fields of tuples that hold functions nevertheless."""
SETTERS = {
    "functions/run.py: run": "what the program knows of a run is the program's, and this is its one place",
    "functions/kustomization/builds.py: file": "the name of a build is made from its items, and then they stand in it",
    "functions/cluster/cluster_inputs.py: items": "lists that this module has just read, and nobody else has yet",
    "functions/paths/contents.py: file": "of a KrmfnError",
}
"""Where an attribute of an item or a list, or one that is called like it, is set outside of krmfn/ nevertheless."""


def names_in(node: ast.AST) -> Iterator[str]:
    """Yield the names in an annotation, those of modules' own with the module, also in one that is quoted."""
    for part in ast.walk(node):
        if isinstance(part, (ast.Name, ast.Attribute)):
            yield ast.unparse(part)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            try:
                yield from names_in(ast.parse(part.value, mode="eval"))
            except SyntaxError:  # a word of a Literal
                continue


def imports(path: Path, tree: ast.Module) -> Iterator[tuple[Path, str, str]]:
    """Yield what a module imports: the module that has it, its name there, and here; of a whole module "" and here."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            top = path.parents[node.level - 1] if node.level else REPO
            holder = top.joinpath(*(node.module or "").split("."))
            for name in node.names:
                yield holder.with_name(f"{holder.name}.py"), name.name, name.asname or name.name
                yield holder / f"{name.name}.py", "", name.asname or name.name


def aliases(trees: Mapping[Path, ast.Module]) -> dict[Path, set[str]]:
    """Return the names by which each module knows types of functions: `Read = Callable[[str], bytes]`."""
    known: dict[Path, set[str]] = {path: {"Callable", "typing.Callable"} for path in trees}
    imported = {path: [*imports(path, tree)] for path, tree in trees.items()}
    before = -1
    while before != (before := sum(map(len, known.values()))):
        for path, tree in trees.items():
            for holder, name, here in imported[path]:
                given = {given for given in known.get(holder, ()) if given.isidentifier()}
                known[path] |= ({here} if name in given else set()) if name else {f"{here}.{each}" for each in given}
            for node in (node for node in tree.body if isinstance(node, ast.Assign)):
                is_type = isinstance(node.value, (ast.Subscript, ast.BinOp))
                if is_type and known[path].intersection(names_in(node.value)):
                    known[path] |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return known


def holders(trees: Mapping[Path, ast.Module]) -> Iterator[str]:
    """Yield the fields of tuples and dataclasses that hold functions."""
    for path, known in aliases(trees).items():
        for node in ast.walk(trees[path]):
            if not isinstance(node, ast.ClassDef):
                continue
            makers = {name for part in (*node.bases, *node.decorator_list) for name in names_in(part)}
            for field in node.body if makers & {"NamedTuple", "dataclass"} else ():
                if isinstance(field, ast.AnnAssign) and known.intersection(names_in(field.annotation)):
                    yield f"{path.relative_to(REPO)}: {node.name}.{ast.unparse(field.target)}"


def attributes(text: str, name: str) -> set[str]:
    """Return the attributes of a class that are no properties: a setter is a method of the SDK."""
    (tree,) = (node for node in ast.parse(text).body if isinstance(node, ast.ClassDef) and node.name == name)
    found = {
        node.target.id for node in tree.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            found.add(node.attr)
    return found - {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def sets(tree: ast.AST, names: set[str]) -> Iterator[str]:
    """Yield the attributes of these names that are set or deleted on something else than `self`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)) and node.attr in names:
            if ast.unparse(node.value) != "self":
                yield node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr":
            yield from names.intersection(names_in(node.args[1]))


OURS = attributes((REPO / "krmfn/item.py").read_text(), "Item") | attributes(
    (REPO / "krmfn/resourcelist.py").read_text(), "ResourceList"
)
"""What is set in krmfn/ alone."""


def test_no_value_holds_a_function() -> None:
    assert {*holders(TREES)} == {*HOLDERS}


def test_what_items_and_lists_have_is_set_in_krmfn() -> None:
    assert {"file", "items", "changes", "failed", "run"} <= OURS
    paths = {path.relative_to(REPO): tree for path, tree in TREES.items() if path.is_relative_to(REPO / "functions")}
    assert {f"{path}: {name}" for path, tree in paths.items() for name in sets(tree, OURS)} == {*SETTERS}


@pytest.mark.parametrize(
    "annotation",
    [
        "Callable[[str], int]",
        "Callable[[], None] | None",
        '"Read"',
        "Read",
        "dict[str, Read]",
        "a.Read | None",
        "typing.Callable[..., int]",
    ],
)
def test_a_function_in_a_value_is_seen(annotation: str) -> None:
    head = "from .. import a\nfrom ..a import Read\n"
    texts = {
        "functions/a.py": "Read = Callable[[str], bytes]\n",
        "functions/b/c.py": f"{head}class V(NamedTuple):\n    name: str\n    read: {annotation}\n",
    }
    assert [*holders({REPO / path: ast.parse(text) for path, text in texts.items()})] == ["functions/b/c.py: V.read"]


def test_what_is_no_function_is_not_seen() -> None:
    text = "class Move(NamedTuple):\n    word: str\nclass V(NamedTuple):\n    move: Move\n    kind: Literal['a b']\n"
    other = "Move = Callable[[], None]\nclass Reader:\n    read: Move\n"
    assert not [*holders({REPO / "functions/a.py": ast.parse(text), REPO / "functions/b.py": ast.parse(other)})]


@pytest.mark.parametrize(
    "text",
    [
        "item.file = place",
        "del x.y.file",
        "for item.file in places: pass",
        "setattr(item, 'file', place)",
        "a.file += b",
    ],
)
def test_a_set_attribute_is_seen(text: str) -> None:
    assert [*sets(ast.parse(text), {"file"})] == ["file"]
    assert not [*sets(ast.parse(text), {"labels"})]


def test_a_setter_and_what_is_of_an_object_itself_are_not_seen() -> None:
    text = "class A:\n    @property\n    def x(self): return self.y\n    @x.setter\n    def x(self, x): self.y = x\n"
    assert attributes(text, "A") == {"y"}
    assert not [*sets(ast.parse("self.y = 1"), {"y"})]
