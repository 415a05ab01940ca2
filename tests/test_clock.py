"""No test depends on how long something takes: it would fail on a busy machine, or pass on a fast one."""

from __future__ import annotations

import re

from tests.commands import HANGS, ROOT

_DURATION = re.compile(
    r"^ *assert .*\b(?:process_time|thread_time|perf_counter|monotonic|time)(?:_ns)?\(\) - ", re.MULTILINE
)

_LIMIT = re.compile(
    r"(?:(?<![-?])\btimeout(?:: float)? ?= ?|\b[A-Z_]*(?:WITHIN|DEADLINE|PATIENCE) = |\.wait\()([0-9.]+)(?! \*)"
)
_OTHERS = {
    "tests/e2e/flux_engine.py": ["5"],  # one attempt of many
    "tests/fuzz/readers.py": ["30"],  # another program that hangs is passed over
    "tests/fuzz/findings.py": ["3.0"],  # of CPU, for one input; a person looks at what is found
}


TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text() for path in sorted((ROOT / "tests").rglob("*.py"))}
assert len(TEXTS) > 300
del TEXTS["tests/test_clock.py"]


def test_no_assertion_is_about_a_duration() -> None:
    assert _DURATION.search("    assert time.process_time() - start < 0.2")
    assert [name for name, text in TEXTS.items() if _DURATION.search(text)] == []


def test_a_limit_only_ends_what_hangs() -> None:
    """One that a busy machine reaches decides, so each is HANGS or more."""
    text = "run(timeout=30)\nWITHIN = 9.5\ndef run(timeout: float = 120)\nprocess.wait(60)"
    assert _LIMIT.findall(text) == ["30", "9.5", "120", "60"]
    limits = {
        name: [number for number in _LIMIT.findall(text) if float(number) < HANGS] for name, text in TEXTS.items()
    }
    assert {name: numbers for name, numbers in limits.items() if numbers} == _OTHERS
