"""--timeout bounds the run: work of krmfn's own that never ends is stopped, wherever it is; an output is whole.

What is run here never ends by itself, and its time is over once it has begun, so the length of a second decides
nothing; elsewhere the test sends the signal.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from krmfn_functions import options
from krmfn_functions.cluster import cluster_streams
from krmfn_functions.command_line import main
from krmfn_functions.paths import deadline, files, output

from krmfn import streams
from tests.commands import Done, environment, execute
from tests.trees import plant

SENTENCE = "error: the run took longer than {} and was stopped{}; raise the limit with --timeout SECONDS\n"
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n"
KUSTOMIZATION = "resources: [a.yaml]\n"
LIMIT = 300
ENDLESS = """
import signal
def endless(*_, **__):
    if signal.getitimer(signal.ITIMER_REAL)[0] > 60:  # the run's, and not that of what ends it
        signal.setitimer(signal.ITIMER_REAL, 0.01)
    while True:
        pass
"""
RUN = "from krmfn_functions.command_line import main\nfrom krmfn.streams import leave\nleave(main.main(sys.argv[1:]))\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two kustomizations."""
    return plant(tmp_path / "k", {f"{n}/{f}": t for n in "ab" for f, t in FILES.items()})


FILES = {"kustomization.yaml": KUSTOMIZATION, "a.yaml": CONFIG_MAP}


def krmfn(folder: Path, patch: str, *args: str, **variables: str) -> Done:
    """Run a command in whose program something is endless."""
    program = f"import sys{ENDLESS}{patch}\n{RUN}"
    return execute(sys.executable, "-c", program, *args, cwd=folder, env=environment(**variables))


KUSTOMIZE = "from krmfn_functions.kustomization import kustomize\n"
PLACES = {
    "before the first build": "from krmfn_functions.cluster import layout\nlayout.layout = endless",
    "over what kustomize has printed": f"{KUSTOMIZE}kustomize._check = endless",
    "over the final list": "from krmfn_functions.final import judge\njudge.judge = endless",
    "over the text of a format": "from krmfn_functions.formats import findings\nfindings.FORMATS['text'] = endless",
}


@pytest.mark.parametrize("place", PLACES)
def test_endless_work_is_stopped_and_prints_nothing(place: str, folder: Path, tmp_path: Path) -> None:
    temporary = plant(tmp_path / "tmp", {"x": ""})
    done = krmfn(folder, PLACES[place], "check", "a", "--timeout", str(LIMIT), TMPDIR=str(temporary))
    assert done.refused(2) == SENTENCE.format(f"{LIMIT} seconds", "")
    assert [path.name for path in temporary.iterdir()] == ["x"]


def test_endless_work_in_threads_is_ended_with_the_process(folder: Path) -> None:
    """They cannot be interrupted: krmfn says so once more, and does not wait."""
    patch = (
        f"from krmfn_functions.paths import deadline\ndeadline.GRACE = 1\n{PLACES['over what kustomize has printed']}"
    )
    done = krmfn(folder, patch, "check", "a", "b", "--jobs", "2", "--timeout", str(LIMIT))
    assert done.refused(2) == SENTENCE.format(f"{LIMIT} seconds", "")


def test_render_leaves_no_folder(folder: Path) -> None:
    patch = "from krmfn_functions.cluster import cluster_lists\ncluster_lists.render_cluster = endless"
    done = krmfn(folder, patch, "render", "a", "b", "--output-dir", "out", "--timeout", str(LIMIT))
    assert done.refused(2) == SENTENCE.format(f"{LIMIT} seconds", "")
    assert not (folder / "out").exists()


class Clock:
    """The clock of the process: what was asked of it; it never rings by itself."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    def set(self, which: int, seconds: float, *_: float) -> None:
        assert which == signal.ITIMER_REAL
        self.asked.append(seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """A clock that the test is; the handler of its signal is put back."""
    clock, before = Clock(), signal.getsignal(signal.SIGALRM)
    monkeypatch.setattr(signal, "setitimer", clock.set)
    yield clock
    signal.signal(signal.SIGALRM, before)


def ring(*_: object, **__: object) -> None:
    signal.raise_signal(signal.SIGALRM)


@pytest.mark.parametrize(("given", "seconds"), [((), options.RUN_SECONDS), (("--timeout", "7"), 7)])
def test_a_run_in_time_has_its_output_and_clock_is_stopped(
    given: tuple[str, ...], seconds: int, folder: Path, clock: Clock, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main.main(["render", str(folder / "a" / "a.yaml"), *given]) == 0
    ring()  # nothing happens any more
    assert clock.asked == [seconds, 0]
    assert capfdbinary.readouterr().out


def test_a_run_whose_time_is_over_says_so(
    folder: Path, clock: Clock, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_streams, "render", ring)
    assert main.main(["render", str(folder / "a"), "--timeout", "7"]) == 2
    assert clock.asked == [7, deadline.GRACE]
    assert capfd.readouterr() == ("", SENTENCE.format("7 seconds", ""))


def test_an_output_that_has_begun_is_written_whole(
    folder: Path, clock: Clock, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    write = streams.write

    def late(number: int, chunks: list[bytes]) -> None:
        ring()
        write(number, chunks)

    monkeypatch.setattr(output, "write", late)
    assert main.main(["render", str(folder / "a" / "a.yaml")]) == 0
    assert b"ConfigMap" in capfdbinary.readouterr().out
    assert clock.asked == [options.RUN_SECONDS, 0]


def test_files_that_have_begun_are_written_whole(folder: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    write = files.write

    def late(name: str, data: bytes) -> None:
        ring()
        write(name, data)

    monkeypatch.setattr(files, "write", late)
    out = folder / "out"
    assert main.main(["render", str(folder / "a" / "a.yaml"), "--output-dir", str(out)]) == 0
    assert len([*out.iterdir()]) == 2
    assert clock.asked == [options.RUN_SECONDS, 0]
