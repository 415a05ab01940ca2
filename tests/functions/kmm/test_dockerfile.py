"""Dockerfiles: which build arguments a stage has, and which variables it uses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.kmm.dockerfile import dockerfile_of

PASSED = frozenset({"A", "B", "KERNEL_VERSION"})


def undeclared(*lines: str) -> list[tuple[str, str, int]]:
    return list(dockerfile_of("\n".join(lines) + "\n").undeclared(PASSED))


@pytest.mark.parametrize(
    "line",
    [
        "RUN make A=$A",
        "RUN make A=${A}",
        'RUN echo "it is $A"',
        "RUN make \\\n    -C . A=$A",
        "RUN make \\\n# a comment\n    V=$A",
        "run echo $A",
        "COPY x /lib/$A/",
        "WORKDIR /src/${A}",
        "ENV B=$A",
        "LABEL version=$A",
        "RUN <<EOF\nmake\necho $A\nEOF",
        "RUN B=1 && echo $A",
    ],
)
def test_a_use(line: str) -> None:
    assert [entry[:2] for entry in undeclared("FROM sdk", line)] == [("0", "A")]
    assert undeclared("FROM sdk", "ARG A", line) == undeclared("FROM sdk", "arg A=1 B", line) == []
    assert undeclared("FROM sdk", "ENV A=1", line) == undeclared("FROM sdk", "ENV A 1", line) == []


@pytest.mark.parametrize(
    "line",
    [
        "RUN A=1; echo $A",
        "RUN cd x && A=$(cat version) && make V=$A",
        "RUN for A in 1 2; do echo $A; done",
        "RUN export A=1 && make V=$A",
        "RUN . ./env && echo $A",
        "RUN source env && echo $A",
        "RUN make V=${A:-1}",
        "RUN echo '$A'",
        "RUN echo \\$A",
        "RUN make V=$(A)",
        "RUN echo $AB",
        "# RUN echo $A",
        "CMD echo $A",
        'ENTRYPOINT ["sh", "-c", "echo $A"]',
        "RUN <<EOF\nA=1\necho $A\nEOF",
        "it is no instruction $A",
        "",
    ],
)
def test_no_use_of_the_argument(line: str) -> None:
    assert undeclared("FROM sdk", line) == []


def test_lines_and_titles() -> None:
    lines = [
        "# escape=`",
        "FROM sdk AS Builder",
        "RUN true `",
        "  && echo $A",
        "FROM x",
        "RUN echo $B $A",
        "RUN echo $B",
    ]
    assert undeclared(*lines) == [("Builder", "A", 3), ("1", "B", 6), ("1", "A", 6)]


def test_arguments_before_the_first_from_count_in_from_lines() -> None:
    assert undeclared("ARG A", "FROM sdk:$A", "RUN echo $A") == [("0", "A", 3)]
    assert undeclared("FROM sdk:${A}") == [("", "A", 1)]
    assert undeclared("FROM sdk", "ARG A", "FROM --platform=linux/amd64 sdk:$A AS x") == [("", "A", 3)]


@pytest.mark.parametrize("line", ['RUN make config <<<"yes"', "RUN cat <<<yes", "RUN echo $((1<<2))", "RUN cat<<EOF"])
def test_what_is_no_here_document_takes_no_lines_along(line: str) -> None:
    assert undeclared("FROM sdk", line, "ARG A", "RUN echo $A", "RUN echo $B") == [("0", "B", 5)]


def test_what_is_no_dockerfile() -> None:
    for text in ("", "\n\\\n", "ARG", "FROM", "RUN <<EOF\n", "\\", "FROM a AS a\nFROM a\n", "FROM x\nARG $\nENV\n"):
        dockerfile_of(text).last_stages()
        assert list(dockerfile_of(text).undeclared(PASSED)) == []


NAME = st.sampled_from(["A", "B"])
STEP = st.tuples(st.sampled_from(["ARG", "ENV", "RUN"]), NAME)
STAGE = st.tuples(st.integers(0, 3), st.lists(STEP, max_size=5))


@given(st.lists(STAGE, min_size=1, max_size=4), st.sampled_from(["{}", "  {}  ", "# x\n{}", "{}\n"]))
def test_as_a_builder_sees_them(stages: list[tuple[int, list[tuple[str, str]]]], style: str) -> None:
    """A stage begins with what the stage has that it is based on; each ARG and ENV adds to that."""
    lines, expected, ends = list[str](), set[tuple[str, str]](), list[set[str]]()
    for number, (base, steps) in enumerate(stages):
        is_based = base < number
        lines.append(f"FROM {f's{base}' if is_based else 'sdk:1'} AS s{number}")
        names = set(ends[base]) if is_based else set()
        for word, name in steps:
            lines.append({"ARG": f"ARG {name}", "ENV": f"ENV {name}=1", "RUN": f"RUN make V=${name}"}[word])
            if word == "RUN" and name not in names:
                expected.add((f"s{number}", name))
            if word != "RUN":
                names.add(name)
        ends.append(names)
    text = "\n".join(style.format(line) for line in lines)
    found = list(dockerfile_of(text).undeclared(PASSED))
    assert {entry[:2] for entry in found} == expected
    assert len(found) == len(expected), "each once"
    assert all(f"${name}" in text.splitlines()[line - 1 :][0] or "# x" in style for _, name, line in found)
