"""No test asserts how long something took: it would fail on a busy machine and pass on a fast one."""

from __future__ import annotations

import re

from tests.commands import ROOT

_DURATION = re.compile(
    r"^ *assert .*\b(?:process_time|thread_time|perf_counter|monotonic|time)(?:_ns)?\(\) - ", re.MULTILINE
)


def test_no_assertion_is_about_a_duration() -> None:
    assert _DURATION.search("    assert time.process_time() - start < 0.2")
    texts = {path.relative_to(ROOT).as_posix(): path.read_text() for path in (ROOT / "tests").rglob("*.py")}
    assert len(texts) > 300
    del texts["tests/test_clock.py"]
    assert [name for name, text in texts.items() if _DURATION.search(text)] == []
