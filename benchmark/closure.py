"""Print what kustomizations cost: `python benchmark/closure.py`, the worst of three runs.

How often kustomize runs, how much of the processors `check` of 100 overlays takes next to 100 bare builds, `diff
--base` of one folder next to `check` of it, and our part of a build that runs the function. Each run has its files in a
repository of its own, in memory where it can: for each new file an ext4 without a journal goes through all that were
removed in the last minute.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

RUNS = 3
SHM = Path("/dev/shm")
MEMORY = SHM if SHM.is_dir() and not os.statvfs(SHM).f_flag & os.ST_NOEXEC else None
KRMFN = str(Path(sys.executable).parent / "krmfn")
CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata:
  name: gpu
  namespace: {name}
spec: {{driverImage: r.example.com/gpu, driverVersion: "1", moduleName: gpu, nodeSelector: {{a: {name}}}{more}}}
"""
CLOCK = """\
#!/bin/bash
TIMEFORMAT='%U %S'
{{ time {program} 2>&3; }} 3>&2 2>> {notes}
"""
"""A program in the place of another one, which notes the seconds that this takes of the processors."""
FUNCTION = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata:
  name: fn
  annotations:
    config.kubernetes.io/local-config: "true"
    config.kubernetes.io/function: "exec: {path: deviceconfig}"
"""
MARK = '  annotations: {config.kubernetes.io/local-config: "true"}\nspec:'
KPTFILE = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: a}\n"


def overlays(fault: str = "", is_marked: bool = False) -> dict[str, str]:
    """Return 100 overlays of one base; with a `fault` of the base, or a mark local-config in it, each has a finding."""
    config = CONFIG.format(name="kmm", more=fault)
    files = {
        "base/kustomization.yaml": "resources: [config.yaml]\n",
        "base/config.yaml": config.replace("spec:", MARK) if is_marked else config,
    }
    return files | {f"o{at}/kustomization.yaml": f"resources: [../base]\nnamePrefix: o{at}-\n" for at in range(100)}


def folders(number: int, kptfile_name: str = "") -> dict[str, str]:
    """Return folders with a config each; with a Kptfile each is a root of its own."""
    files = {f"f{at}/config.yaml": CONFIG.format(name=f"a{at}", more="") for at in range(number)}
    return files | ({f"f{at}/{kptfile_name}": KPTFILE for at in range(number)} if kptfile_name else {})


def strangers(number: int = 360) -> dict[str, str]:
    """Return roots that hold nothing of ours: a Deployment and a ConfigMap each."""
    meta = "metadata: {{name: {name}, namespace: shop}}\n"
    shop = "apiVersion: apps/v1\nkind: Deployment\n" + meta + "spec: {{replicas: 2}}\n"
    settings = "apiVersion: v1\nkind: ConfigMap\n" + meta + 'data: {{a: "{name}"}}\n'
    files = dict[str, str]()
    for name in (f"r{at}" for at in range(number)):
        files[f"{name}/kustomization.yaml"] = "resources: [shop.yaml, settings.yaml]\nnamePrefix: a-\n"
        files |= {f"{name}/shop.yaml": shop.format(name=name), f"{name}/settings.yaml": settings.format(name=name)}
    return files


def with_function(is_one_driver: bool) -> dict[str, str]:
    """Return a root with 340 configs and the function, which makes a Module and a DaemonSet of each: 1,020 resources.

    The configs are those of one driver on as many groups of nodes; else each loads a kernel module of its own.
    """
    agent = ", daemonSets: [{name: agent, image: r.example.com/agent:1}]"
    configs = [CONFIG.format(name=f"a{at}", more=agent).replace("spec:", MARK) for at in range(340)]
    if not is_one_driver:
        configs = [text.replace("moduleName: gpu", f"moduleName: gpu_{at}") for at, text in enumerate(configs)]
    root = "resources: [configs.yaml]\ntransformers: [function.yaml]\n"
    return {"kustomization.yaml": root, "configs.yaml": "---\n".join(configs), "function.yaml": FUNCTION}


def shared_roots() -> dict[str, str]:
    """Return two roots, each of which Argo CD brings to 64 clusters."""
    files = {f"{name}/config.yaml": CONFIG.format(name=name, more="") for name in ("x", "y")}
    files |= {f"{name}/kustomization.yaml": "resources: [config.yaml]\n" for name in ("x", "y")}
    text = (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}-{at}}}\nspec:\n"
        "  source: {{repoURL: a, path: {name}, plugin: {{name: krmfn}}}}\n  destination: {{name: site-{at}}}\n"
    )
    pairs = [(name, at) for name in ("x", "y") for at in range(64)]
    return files | {f"apps/{name}-{at}.yaml": text.format(name=name, at=at) for name, at in pairs}


class Repository:
    """A repository in a temporary folder, with programs on PATH that note their runs."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self.folder, self.notes, self.temporary = folder / "repo", folder / "notes", folder / "tmp"
        self.programs = folder / "bin"
        self.temporary.mkdir()
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "a"]):
            self.run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", *words)

    def put_before(self, name: str, text: str) -> None:
        """Let commands find this program in the place of another one."""
        program = self.programs / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)

    def run(self, *command: str) -> tuple[float, float]:
        """Return the seconds of the processors, and of the clock, that a command takes."""
        env = {**os.environ, "TMPDIR": str(self.temporary)}
        if self.programs.exists():
            env |= {"PATH": f"{self.programs}:{env['PATH']}", "KRMFN_CONFINE": "off"}  # they write
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
        done = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, check=False)
        seconds, after = perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(command)}: {done.stderr.decode()}")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, seconds

    def builds(self, *command: str) -> int:
        """Return how often a command runs kustomize."""
        self.put_before("kustomize", f'#!/bin/sh\necho >> "{self.notes}"\nexec "{shutil.which("kustomize")}" "$@"\n')
        self.notes.write_text("")
        self.run(*command)
        return len(self.notes.read_text().splitlines())


def with_findings(folder: Path) -> float:
    return Repository(folder, overlays(", fualt: 1")).builds(KRMFN, "check")


def against_bare(folder: Path, is_marked: bool = False) -> float:
    repository = Repository(folder, overlays(is_marked=is_marked))
    builds = f"ls -d o* | xargs -P {len(os.sched_getaffinity(0))} -I @ kustomize build @"
    return repository.run(KRMFN, "check")[0] / repository.run("sh", "-c", builds)[0]


def one_changed(folder: Path) -> float:
    repository = Repository(folder, overlays())
    (repository.folder / "o7/kustomization.yaml").write_text("resources: [../base]\nnamePrefix: other-\n")
    return repository.builds(KRMFN, "diff", "--base", "HEAD")


def one_folder(folder: Path) -> float:
    repository = Repository(folder, folders(400))
    checked = min(repository.run(KRMFN, "check", "f7")[1] for _ in range(3))
    return min(repository.run(KRMFN, "diff", "--base", "HEAD", "f7")[1] for _ in range(3)) / checked


def many_paths(folder: Path) -> float:
    repository = Repository(folder, folders(2000, "Kptfile"))
    names = [f"f{at}" for at in range(2000)]
    return repository.run(KRMFN, "check", *names)[0] / repository.run(KRMFN, "check", ".")[0]


def against_builds(folder: Path) -> float:
    repository = Repository(folder, strangers())
    builds = "ls -d r* | xargs -I @ kustomize build @"
    return repository.run(KRMFN, "check", ".")[0] / repository.run("sh", "-c", builds)[0]


def within_build(folder: Path, is_one_driver: bool) -> float:
    """Return our part of the processor time of a build that runs the function: the median of five."""
    repository = Repository(folder, with_function(is_one_driver))
    program = Path(KRMFN).with_name("deviceconfig")
    repository.put_before("deviceconfig", CLOCK.format(program=program, notes=repository.notes))
    build = ("kustomize", "build", "--enable-alpha-plugins", "--enable-exec", ".")
    shares = []
    for _ in range(5):
        repository.notes.write_text("")
        of_all, _ = repository.run(*build)
        shares.append(sum(map(float, repository.notes.read_text().split())) / of_all)
    return median(shares)


def of_shared_roots(folder: Path) -> float:
    return Repository(folder, shared_roots()).builds(KRMFN, "check", ".")


ROWS: dict[str, tuple[Callable[[Path], float], float]] = {
    "kustomize runs, `check` of 100 overlays with a finding each": (with_findings, 100),
    "processor time, `check` of 100 overlays against 100 bare `kustomize build`": (against_bare, 1.5),
    "the same, with a finding each (a mark local-config that has no use)": (partial(against_bare, is_marked=True), 1.5),
    "kustomize runs, `diff --base`, 1 of 100 overlays changed": (one_changed, 3),
    "time, `diff --base HEAD` of one of 400 folders against `check` of it": (one_folder, 2.5),
    "processor time, `check` of 2,000 PATHs against one PATH": (many_paths, 1.2),
    "processor time, `check` of 360 roots without anything of ours against `kustomize build` of each": (
        against_builds,
        0.3,
    ),
    "processor time, krmfn in `kustomize build` of 340 configs of one driver (1,020 resources)": (
        partial(within_build, is_one_driver=True),
        0.06,
    ),
    "the same, each config with a kernel module of its own": (partial(within_build, is_one_driver=False), 0.06),
    "kustomize runs, `check` of 64 clusters that share two roots": (of_shared_roots, 2),
}


def main() -> int:
    print("| what | worst of three | want |\n|---|--:|--:|")
    for name, (measured, target) in ROWS.items():
        values = []
        for _ in range(RUNS):
            with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
                values.append(measured(Path(folder)))
        verdict = "met" if max(values) <= target else "**missed**"
        print(f"| {name} | {max(values):.3g} | <= {target:g} {verdict} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
