"""1,020 resources through kustomize and kpt: everything comes out, and our share of the time is printed, not judged."""

from __future__ import annotations

import resource
import shlex
import time
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.commands import COMMANDS, Done
from tests.trees import plant

from .conftest import Env
from .engines import path_of, run

CONFIGS = 340
"""Each gives a Module and a DaemonSet: 1,020 resources with what they are made from."""
CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata:
  name: gpu-{number}
  namespace: kmm
  annotations:
    config.kubernetes.io/local-config: "true"
spec:
  driverImage: registry.example.com/gpu/driver
  driverVersion: "2.0"
  moduleName: gpu_{number}
  nodeSelector:
    example.com/gpu: "{number}"
  daemonSets:
  - name: agent
    image: registry.example.com/gpu/agent:2.0
"""
FUNCTION = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata:
  name: render
  annotations:
    config.kubernetes.io/local-config: "true"
    config.kubernetes.io/function: "exec: {path: deviceconfig}"
"""
KPTFILE = """\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata: {name: fleet, annotations: {config.kubernetes.io/local-config: "true"}}
pipeline:
  mutators: [{exec: deviceconfig, configPath: function.yaml}]
"""
KUSTOMIZATION = "resources: [configs.yaml]\ntransformers: [function.yaml]\n"
COMMAND = {
    "kustomize": ("build", "--enable-alpha-plugins", "--enable-exec"),
    "kpt": ("fn", "render", "--allow-exec"),
}


class Spent(NamedTuple):
    """Seconds on the clock, and of the processors."""

    elapsed: float
    processors: float


def clocked(folder: Path) -> Env:
    """Return an environment in which `deviceconfig` notes in folder/clock what it takes: elapsed, user, system."""
    real, clock = shlex.quote(str(COMMANDS / "deviceconfig")), shlex.quote(str(folder / "clock"))
    shim = (
        plant(
            folder,
            {"bin/deviceconfig": f"#!/bin/bash\nTIMEFORMAT='%3R %3U %3S'\n{{ time {real} 2>&3; }} 3>&2 2>> {clock}\n"},
        )
        / "bin"
        / "deviceconfig"
    )
    return path_of(shim.parent)


def noted(clock: Path) -> Spent:
    elapsed, user, system = map(float, clock.read_text().split())
    return Spent(elapsed, user + system)


def of_children() -> float:
    """Return the processor time of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def report(engine: str, whole: Spent, ours: Spent) -> str:
    """Return a line with both shares: the clock's is what a user waits, the other does not depend on a busy machine."""
    return (
        f"{engine}: {3 * CONFIGS:,} resources in {whole.elapsed:.2f} s, of which krmfn {ours.elapsed:.2f} s "
        f"({ours.elapsed / whole.elapsed:.1%}); of the processors {whole.processors:.2f} s, "
        f"krmfn {ours.processors:.2f} s ({ours.processors / whole.processors:.1%})"
    )


@pytest.mark.parametrize("engine", COMMAND)
def test_our_share_of_the_time(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = request.getfixturevalue(engine)
    fleet = tmp_path / "fleet"
    fleet.mkdir()
    (fleet / "configs.yaml").write_text("---\n".join(CONFIG.format(number=number) for number in range(CONFIGS)))
    (fleet / "function.yaml").write_text(FUNCTION)
    (fleet / ("Kptfile" if engine == "kpt" else "kustomization.yaml")).write_text(
        KPTFILE if engine == "kpt" else KUSTOMIZATION
    )
    started, before = time.monotonic(), of_children()
    done: Done = run(program, *COMMAND[engine], fleet, env=clocked(tmp_path), timeout=300)
    whole = Spent(time.monotonic() - started, of_children() - before)
    assert done.code == 0, done.err[-2000:]
    made = done.out if engine == "kustomize" else b"\n---\n".join(path.read_bytes() for path in fleet.rglob("*.yaml"))
    kinds = [one["kind"] for one in yaml.load_all(made, yaml.CSafeLoader) if one]
    assert (kinds.count("Module"), kinds.count("DaemonSet")) == (CONFIGS, CONFIGS)
    with capsys.disabled():
        print(f"\n{report(engine, whole, noted(tmp_path / 'clock'))}")
