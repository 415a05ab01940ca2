"""A Dockerfile as far as build arguments and paths matter: its stages, what each declares, the variables it uses.

A build argument counts in a stage that declares it by ARG, or that is based on such a stage; those before the first
FROM count in FROM lines only. Source: the Dockerfile reference (docs.docker.com), ARG and "variables".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from krmfn.typed import NamedTuple

_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+(.*)", re.DOTALL)
_ESCAPE = re.compile(r"#[ \t]*escape[ \t]*=[ \t]*`[ \t]*\Z", re.IGNORECASE)
_HEREDOC = re.compile(r"(?<!\S)\d*<<-?([\"']?)(\w+)\1")
"""The beginning of a here-document, which a builder looks for at the beginning of a word only."""
_FROM = re.compile(r"(?:--\S+[ \t]+)*(\S+)(?:[ \t]+AS[ \t]+(\S+))?", re.IGNORECASE)
_NAME = re.compile(r"\w+")
_USE = re.compile(r"\\.|'[^']*'|\$(?:\{(\w+)([^}]?)|(\w+))", re.DOTALL)
"""A variable, or a part in which none is: after a backslash, and in the shell's single quotes."""
_COMMAND = r"(?:^|[;&|({\n]|\b(?:then|do|else)\b)[ \t]*"
"""Where a command of the shell begins."""
_SET_BY_SHELL = re.compile(rf"{_COMMAND}(?:(\w+)=|(?:for|read|export|local)[ \t]+(?:-\w+[ \t]+)*(\w+))")
_READS_OTHERS = re.compile(rf"{_COMMAND}(?:source|eval|\.)[ \t]")
_EXPANDING = frozenset({"ADD", "COPY", "ENV", "FROM", "LABEL", "RUN", "USER", "VOLUME", "WORKDIR"})
"""The instructions whose variables are build arguments or ENV."""


class Instruction(NamedTuple):
    """An instruction with its continued lines."""

    word: str
    """In capitals."""
    text: str
    line: int
    """Where it begins, from 1."""

    @property
    def declared(self) -> list[str]:
        """The names that ARG or ENV gives a value."""
        if self.word == "ARG":
            return [match[0] for word in self.text.split() if (match := _NAME.match(word))]
        if self.word == "ENV":
            names = re.findall(r"(?:^|\s)(\w+)=", self.text)
            return names or self.text.split()[:1]
        return []

    @property
    def used(self) -> list[str]:
        """The variables without a default of their own, but for those that its shell may have set."""
        if self.word not in _EXPANDING or (self.word == "RUN" and _READS_OTHERS.search(self.text)):
            return []
        is_shell = self.word == "RUN"
        of_shell = {name for pair in _SET_BY_SHELL.findall(self.text) for name in pair} if is_shell else set[str]()
        names = [name for braced, after, plain in _USE.findall(self.text) if (name := plain or (not after and braced))]
        return [name for name in dict.fromkeys(names) if name not in of_shell]


class Stage(NamedTuple):
    """A stage of a Dockerfile."""

    title: str
    """Its name, else its number from 0."""
    base: int | None
    """The number of the stage that it is based on; None for an image."""
    instructions: tuple[Instruction, ...]
    """Those after its FROM."""


class Dockerfile(NamedTuple):
    """The stages of a Dockerfile, and what stands before and in their FROM lines."""

    stages: tuple[Stage, ...]
    first: tuple[Instruction, ...]
    """The instructions before the first FROM."""
    froms: tuple[Instruction, ...]

    @property
    def arguments(self) -> frozenset[str]:
        """The build arguments that it takes anywhere."""
        return frozenset(
            name for instruction in self._all() if instruction.word == "ARG" for name in instruction.declared
        )

    def _all(self) -> Iterator[Instruction]:
        yield from self.first
        for stage in self.stages:
            yield from stage.instructions

    def undeclared(self, passed: frozenset[str]) -> Iterator[tuple[str, str, int]]:
        """Yield the stage ("" for a FROM line), name and line of each use of a passed argument that is empty there."""
        first = {name for instruction in self.first for name in instruction.declared}
        for instruction in self.froms:
            yield from (
                ("", name, instruction.line) for name in instruction.used if name in passed and name not in first
            )
        yield from sorted(self._undeclared_in_stages(passed), key=lambda use: use[2])

    def _undeclared_in_stages(self, passed: frozenset[str]) -> Iterator[tuple[str, str, int]]:
        """Yield what `undeclared` does but for FROM lines, in another order.

        A stage has the names of the one that it is based on: those based on it come right after it, so that one set
        of names is enough. A copy for each of thousands of stages would be quadratic.
        """
        based_on: dict[int | None, list[int]] = {}
        for number, stage in enumerate(self.stages):
            based_on.setdefault(stage.base, []).append(number)
        names = set[str]()
        stack: list[tuple[int, set[str] | None]] = [(number, None) for number in based_on.get(None, ())]
        while stack:
            number, declared = stack.pop()
            if declared is not None:
                names -= declared  # all that are based on it are done
                continue
            declared, reported = set(), set[str]()
            for instruction in self.stages[number].instructions:
                for name in instruction.used:
                    if name in passed and name not in names and name not in reported:
                        reported.add(name)
                        yield self.stages[number].title, name, instruction.line
                fresh = set(instruction.declared) - names
                names |= fresh
                declared |= fresh
            stack.append((number, declared))
            stack += ((other, None) for other in based_on.get(number, ()))

    def last_stages(self) -> list[Stage]:
        """Return the stage that becomes the image, and those that it is based on."""
        chain, number = list[Stage](), len(self.stages) - 1 if self.stages else None
        while number is not None:
            chain.append(self.stages[number])
            number = self.stages[number].base
        return chain


def dockerfile_of(text: str) -> Dockerfile:
    """Return a Dockerfile; what is no instruction is passed over."""
    first, froms, stages = list[Instruction](), list[Instruction](), list[tuple[str, int | None, list[Instruction]]]()
    numbers = dict[str, int]()
    for instruction in _instructions(text):
        if instruction.word == "FROM" and (match := _FROM.match(instruction.text)):
            title = match[2] or str(len(stages))
            stages.append((title, numbers.get(match[1].lower()), []))
            numbers[title.lower()] = len(stages) - 1
            froms.append(instruction)
        elif stages:
            stages[-1][2].append(instruction)
        else:
            first.append(instruction)
    built = tuple(Stage(title, base, tuple(members)) for title, base, members in stages)
    return Dockerfile(built, tuple(first), tuple(froms))


def _instructions(text: str) -> Iterator[Instruction]:
    """Yield the instructions: lines that go on are joined, comments left out, and here-documents taken along."""
    lines = text.splitlines()
    escape = "`" if lines and _ESCAPE.match(lines[0].strip()) else "\\"
    at = 0
    while at < len(lines):
        begin, parts = at, list[str]()
        while at < len(lines):
            line = lines[at]
            at += 1
            if line.lstrip().startswith("#") or (parts and not line.strip()):
                continue
            is_continued = line.rstrip().endswith(escape)
            parts.append(line.rstrip()[:-1] if is_continued else line)
            if not is_continued:
                break
        joined = " ".join(parts)
        for _, word in _HEREDOC.findall(joined) if parts else ():
            while at < len(lines):
                joined += "\n" + lines[at]
                at += 1
                if lines[at - 1].strip() == word:
                    break
        if match := _INSTRUCTION.fullmatch(joined):
            yield Instruction(match[1].upper(), match[2], begin + 1)
