"""Large texts are worked with before it is known that they are YAML, and nothing is told that follows from another one.

`test_reading` compares what is told, over the corpus and over damaged documents.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from krmfn_functions.cluster import cluster_inputs, cluster_streams
from krmfn_functions.command_line import main
from krmfn_functions.paths import workers

from krmfn.errors import KrmfnError
from tests.ahead import ahead
from tests.builders import CONFIG
from tests.commands import Done
from tests.trees import plant

Check = Callable[[], Done]
BROKEN = "a: b: c\n"
REFUSED = "a.yaml:1: error: mapping values are not allowed"


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every text counts as large, and is checked when the second process would be waited for."""
    ahead(monkeypatch)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def check(capfd: pytest.CaptureFixture[str]) -> Check:
    """Return a function that runs `check` in this process."""

    def run() -> Done:
        stdout = os.dup(1)
        code = main.main(["check", "."])
        os.dup2(stdout, 1)  # a command closes it, to see that all was written
        os.close(stdout)
        out, err = capfd.readouterr()
        return Done(code, out.encode(), err)

    return run


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The contexts with which clusters were judged, in order."""
    contexts: list[Any] = []
    judge = cluster_streams._judged

    def noted(context: Any, *rest: Any) -> Any:
        contexts.append(context)
        return judge(context, *rest)

    monkeypatch.setattr(cluster_streams, "_judged", noted)
    return contexts


@pytest.mark.parametrize(("text", "times"), [(CONFIG, 1), (f"{BROKEN}---\n{CONFIG}", 2)])
def test_what_is_not_yaml_is_judged_anew(
    text: str, times: int, judged: list[Any], check: Check, tmp_path: Path
) -> None:
    plant(tmp_path, {"a.yaml": text})
    assert check().code == (0 if times == 1 else 2)
    assert len(judged) == times


def test_what_is_read_later_is_checked_at_once(judged: list[Any], check: Check, tmp_path: Path) -> None:
    """The second process has begun by then, and knows nothing of it."""
    plant(tmp_path, {"a.yaml": CONFIG})
    assert check().code == 0
    assert [context.unchecked for context in judged] == [None]


def test_nothing_is_done_ahead_where_something_is_built(judged: list[Any], check: Check, tmp_path: Path) -> None:
    """It would be built again."""
    files = {"a.yaml": f"{BROKEN}---\n{CONFIG}", "b/kustomization.yaml": "resources: [c.yaml]\n", "b/c.yaml": CONFIG}
    plant(tmp_path, files)
    check()
    assert len(judged) == 1


def fails_at_first(function: Callable[..., Any], failure: Exception) -> Callable[..., Any]:
    """The function, which raises the failure when its work is done for the first time."""
    failures = [failure]

    def called(*arguments: Any) -> Any:
        result = function(*arguments)
        if failures:
            raise failures.pop()
        return result

    return called


@pytest.mark.parametrize(("module", "name"), [(cluster_inputs, "read_clusters"), (cluster_streams, "_judged")])
@pytest.mark.parametrize("failure", [KrmfnError("no"), RuntimeError("no"), RecursionError("no")])
def test_an_error_that_comes_of_what_is_not_yaml_is_not_told(
    module: Any, name: str, failure: Exception, monkeypatch: pytest.MonkeyPatch, check: Check
) -> None:
    monkeypatch.setattr(module, name, fails_at_first(getattr(module, name), failure))
    plant(Path(), {"a.yaml": f"{BROKEN}---\n{CONFIG}"})
    assert REFUSED in check().ended(2).text


@pytest.mark.parametrize("failure", [KrmfnError("it is so"), RuntimeError("it is so")])
def test_an_error_that_comes_of_yaml_is_told(
    failure: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, check: Check
) -> None:
    monkeypatch.setattr(cluster_streams, "_judged", fails_at_first(cluster_streams._judged, failure))
    plant(tmp_path, {"a.yaml": CONFIG})
    assert "it is so" in check().ended(2).err


@pytest.mark.parametrize("text", [CONFIG, f"{BROKEN}---\n{CONFIG}"])
def test_without_a_second_processor_nothing_is_done_ahead(
    text: str, judged: list[Any], monkeypatch: pytest.MonkeyPatch, check: Check
) -> None:
    monkeypatch.setattr(workers, "has_room", lambda: False)
    plant(Path(), {"a.yaml": text})
    assert check().code == (0 if text == CONFIG else 2)
    assert len(judged) == 1


def test_where_nobody_knows_it_is_done_again(judged: list[Any], monkeypatch: pytest.MonkeyPatch, check: Check) -> None:
    """The second process was killed, or there could be none."""
    monkeypatch.setattr(workers, "second_process", lambda check: nullcontext(lambda: False))
    plant(Path(), {"a.yaml": CONFIG})
    assert check().code == 0
    assert len(judged) == 2
