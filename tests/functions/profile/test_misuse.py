"""An option that is called safe in a shell's text has a pattern that lets in nothing that a shell reads."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from krmfn_functions.kmm.regexps import is_usable, matches
from krmfn_functions.profile.judging import uses
from krmfn_functions.profile.misuse import is_quoted_twice, is_safe, scripts

from tests.functions.profile.vendor import profile

PLAIN = ["a", "b", ".", "-", "/", "é", "\\.", "\\d", "\\w", "[a-c]", "[^a]", "[ -~]", "[a;]", "[\\x20]", "[]a]"]
ODD = ["\\s", "\\S", "\\W", "\\x3b", "\\x{20}", "\\040", "\\p{L}", "\\p{Z}", "\\PL", "[[:punct:]]", "\\Qa;\\E", "\\t"]
ODD += ["\\;", "\\ ", "\\_", "\\$", "\\^", "\\b", "\\z", "\\A", "\\{", "\\}", "^", "$", "(?i)"]
GRAMMAR = ["(", "(?:", ")", "|", "*", "+", "?", "{1}", "{0,2}", "{", "}", "{,}"]
READ = [text for size in (1, 2, 3) for text in map("".join, product("a1;{ $", repeat=size)) if set(text) & set(";{ $")]
"""Texts that hold something that a shell reads."""


@given(st.lists(st.sampled_from(PLAIN + ODD + GRAMMAR), min_size=1, max_size=6).map("".join))
def test_no_text_that_a_shell_reads_fits_a_safe_pattern(inner: str) -> None:
    pattern = f"^{inner}$"
    assume(is_usable(pattern))
    if is_safe({"type": "string", "pattern": pattern}):
        assert [text for text in READ if matches(pattern, text)] == [], pattern


def test_ordinary_patterns_are_safe() -> None:
    for pattern in ("^[a-z]+$", "^v[0-9]{1,3}(\\.\\d+)*$", "^(?:a|b)?$"):
        assert is_safe({"type": "string", "pattern": pattern}), pattern


SCHEMA = profile()["spec"]["schema"]
LEVEL = "${spec.exporter.level}"
X = {"name": "X", "value": LEVEL}


def findings(product: dict[str, Any]) -> list[str]:
    """Return what is said of the scripts in the spec of a Profile."""
    return [mistake.text for _, mistake in scripts(product, SCHEMA, [*uses(product)])]


def run_by_a_shell(*layers: dict[str, Any]) -> list[str]:
    """Return the options in a container that a shell may run; `config` has its first layer, `when`s have the others."""
    product = {
        "schema": SCHEMA,
        "config": {"daemonSets": [{"name": "other"}, {"name": "a", **layers[0]}]},
        "when": [{"if": {}, "config": {"daemonSets": [{"name": "a", **layer}]}} for layer in layers[1:]],
    }
    return [line.partition(" ")[0] for line in findings(product)]


@pytest.mark.parametrize(
    "command",
    [
        *(["sh", flag, f"run {LEVEL}"] for flag in ("-c", "-ce", "-ec", "-Cc", "-lc")),
        ["mksh", "-c", LEVEL],
        ["/usr/bin/fish", "-c", LEVEL],
        ["chroot", "/host", "bash", "-o", "pipefail", "-c", LEVEL],
        ["bash", "-c", "-o", "pipefail", LEVEL],
        ["bash", "-euo", "pipefail", "-c", LEVEL],
        ["bash", "-ceuo", "pipefail", LEVEL],
        ["bash", "--rcfile", "x", "-c", "--", LEVEL],
        ["sh", "-s", LEVEL],
        ["env", "-S", f"sh -c {LEVEL}"],
        ["run", f"--hook=sh -e -c {LEVEL}"],
        ["sh", "${spec.port}", LEVEL],
        ["sh", "-c", "run $1", "x", LEVEL],
        *(
            ["sh", "-c", f'{word} "$1"', "x", LEVEL]
            for word in ("eval", "exec", "sh -c", "exec su -c", ". ", "awk", "")
        ),
        *(["sh", "-c", f'run; {word} "$1" "$2"', "x", "y", LEVEL] for word in ("if", "command", "A=1", "read", "!")),
        ["sh", "-c", 'run "`"$1"`"', "x", LEVEL],
        ["sh", "-c", 'run "$@" && $0', LEVEL],
        ["sh", "-c", 'exec run "$@"', "--", "sh", "-c", LEVEL],
        ["sh", "-c", 'exec -- "$@"', "--", LEVEL],
        ["sh", "-c", 'exec chroot /host "$@"', "--", LEVEL],
        ["sh", "-c", 'exec /usr/bin/env "$@"', "--", LEVEL],
        ["sh", "-c", "run $(X)", LEVEL],
    ],
)
def test_what_a_shell_may_read_as_its_script_is_told(command: list[str]) -> None:
    assert LEVEL in run_by_a_shell({"command": command})
    assert LEVEL in run_by_a_shell({"command": command[:-1], "args": command[-1:]})
    assert LEVEL in run_by_a_shell({"command": command[:-1]}, {"args": command[-1:]}), "another layer has the command"


@pytest.mark.parametrize(
    "command",
    [
        ["sh", "-c", 'exec run "$@"', "--", LEVEL],
        ["sh", "-ec", 'modprobe x && exec /bin/run --level="$1" -v "${2}" | tee', "x", "y", f"--level={LEVEL}"],
        ["sh", "-c", "run", LEVEL],
        ["sh", "/scripts/run.sh", "-c", LEVEL],
        ["run", "-c", LEVEL],
    ],
)
def test_a_parameter_that_a_script_hands_over_is_data(command: list[str]) -> None:
    assert run_by_a_shell({"command": command}) == []
    assert run_by_a_shell({"command": command[:-1]}, {"args": command[-1:]}) == []


def test_a_variable_of_another_layer_may_be_part_of_a_script() -> None:
    script = {"command": ["sh", "-c", "run $(X)"]}
    assert run_by_a_shell(script, {"env": [X]}) == run_by_a_shell({"env": [X]}, script) == [LEVEL]
    assert run_by_a_shell({"command": ["sh", "-c", 'run "$X"']}, {"env": [X]}) == []


def test_a_command_of_a_weaker_layer_is_gone() -> None:
    run, shell = {"command": ["run"], "args": [LEVEL]}, {"command": ["sh", "-c"]}
    assert run_by_a_shell({**shell, "args": ["run"]}, run) == []
    assert run_by_a_shell(run, shell) == [LEVEL]
    twins = [{"name": "a"}, {"name": "a", **shell, "args": [LEVEL]}]
    assert len(findings({"schema": SCHEMA, "config": {"daemonSets": twins}})) == 1, "two of one name"


@pytest.mark.parametrize("other", [None, "${spec.exporter}", [1], {"args": 5, "command": {"a": 1}}])
def test_another_layer_may_have_anything_in_place_of_the_container(other: Any) -> None:
    plugin = {"args": [LEVEL], "env": [X]}
    when = [{"if": {}, "config": {"devicePlugin": other}}]
    assert findings({"schema": SCHEMA, "config": {"devicePlugin": plugin}, "when": when}) == []


@pytest.mark.parametrize(
    ("before", "is_open"),
    [
        ("say '", True),
        ("say \"it's ", True),
        ("say 'a' \"b\" ", False),
        ("say \\' ", False),
        ("say '\\' ", False),
        ("say # don't\n", False),
        ("# don't\nsay '", True),
        ("say a#'", True),
    ],
)
def test_what_a_shell_reads_as_the_beginning_of_a_quote(before: str, is_open: bool) -> None:
    assert is_quoted_twice({"as": before + "${spec.a}", "quote": "sh"}) is is_open
    assert not is_quoted_twice({"as": before + "${spec.a}"})
