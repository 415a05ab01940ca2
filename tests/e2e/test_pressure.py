"""1,020 resources through kustomize and kpt: everything comes out, and our share of the time is printed, not judged."""

from __future__ import annotations

import resource
import shlex
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from krmfn.yamltext import emit
from tests.builders import AGENT, SPEC, device_config
from tests.commands import COMMANDS, Done
from tests.trees import function, plant

from .conftest import Env
from .engines import EXEC, documents, path_of, run

CONFIGS = 340
"""Each gives a Module and a DaemonSet: 1,020 resources with what they are made from."""
LOCAL = {"config.kubernetes.io/local-config": "true"}
MARK = '    config.kubernetes.io/local-config: "true"\n'
FUNCTION = function("exec: {path: deviceconfig}").replace("annotations:\n", f"annotations:\n{MARK}")
KPTFILE = """\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata: {name: fleet, annotations: {config.kubernetes.io/local-config: "true"}}
pipeline:
  mutators: [{exec: deviceconfig, configPath: function.yaml}]
"""
KUSTOMIZATION = "resources: [configs.yaml]\ntransformers: [function.yaml]\n"
COMMAND = {
    "kustomize": ("build", *EXEC),
    "kpt": ("fn", "render", "--allow-exec"),
}


def config(number: int) -> str:
    fields = {"moduleName": f"gpu_{number}", "nodeSelector": {"gpu": str(number)}, "daemonSets": [AGENT]}
    return emit.dump(device_config(SPEC | fields, f"gpu-{number}", annotations=LOCAL))


class Spent(NamedTuple):
    """Seconds on the clock, and of the processors."""

    elapsed: float
    processors: float


def clocked(folder: Path) -> Env:
    """Return an environment in which `deviceconfig` notes in folder/clock what it takes: elapsed, user, system."""
    real, clock = shlex.quote(str(COMMANDS / "deviceconfig")), shlex.quote(str(folder / "clock"))
    shim = f"#!/bin/bash\nTIMEFORMAT='%3R %3U %3S'\n{{ time {real} 2>&3; }} 3>&2 2>> {clock}\n"
    return path_of(plant(folder / "bin", {"deviceconfig": shim}))


def noted(clock: Path) -> Spent:
    elapsed, user, system = map(float, clock.read_text().split())
    return Spent(elapsed, user + system)


def of_children() -> float:
    """Return the processor time of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def report(engine: str, total: Spent, ours: Spent) -> str:
    """Return a line with both shares: the clock's is what a user waits, the other does not depend on a busy machine."""
    return (
        f"{engine}: {3 * CONFIGS:,} resources in {total.elapsed:.2f} s, of which krmfn {ours.elapsed:.2f} s "
        f"({ours.elapsed / total.elapsed:.1%}); of the processors {total.processors:.2f} s, "
        f"krmfn {ours.processors:.2f} s ({ours.processors / total.processors:.1%})"
    )


@pytest.mark.parametrize("engine", COMMAND)
def test_our_share_of_the_time(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = request.getfixturevalue(engine)
    listing = {"Kptfile": KPTFILE} if engine == "kpt" else {"kustomization.yaml": KUSTOMIZATION}
    configs = "---\n".join(map(config, range(CONFIGS)))
    fleet = plant(tmp_path / "fleet", {"configs.yaml": configs, "function.yaml": FUNCTION, **listing})
    started, before = time.monotonic(), of_children()
    done: Done = run(program, *COMMAND[engine], fleet, env=clocked(tmp_path))
    total = Spent(time.monotonic() - started, of_children() - before)
    assert done.code == 0, done.err[-2000:]
    output = done.out if engine == "kustomize" else b"\n---\n".join(path.read_bytes() for path in fleet.rglob("*.yaml"))
    kinds = [manifest["kind"] for manifest in documents(output)]
    assert (kinds.count("Module"), kinds.count("DaemonSet")) == (CONFIGS, CONFIGS)
    with capsys.disabled():
        print(f"\n{report(engine, total, noted(tmp_path / 'clock'))}")
