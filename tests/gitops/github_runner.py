"""A workflow of GitHub Actions, run as far as the recipes need it: jobs in their order, steps, conditions, actions."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.commands import Done, execute
from tests.functions.comparing.test_base import run_git

STATUS = re.compile(r"\b(success|failure|always|cancelled)\(\)")
_TOKEN = re.compile(r"\s*(?:('(?:[^']|'')*')|([A-Za-z_][\w.-]*)(\()?|(&&|\|\||==|!=|!|\(|\)|,))")
_OPERATORS = {"&&": " and ", "||": " or ", "!": " not "}


class Step(NamedTuple):
    """A step that ran a command, or one that was skipped (code None)."""

    name: str
    code: int | None
    out: str


@dataclass
class Job:
    """A job that is done; a skipped one has no steps."""

    result: str = "success"
    steps: list[Step] = field(default_factory=list)

    @property
    def out(self) -> str:
        return "".join(step.out for step in self.steps)


@dataclass
class Runner:
    """What a run needs: where it works, what GitHub knows of it, and which steps are done by other means."""

    folder: Path
    origin: Path
    ref: str
    github: Mapping[str, Any]
    env: Mapping[str, str]
    without: frozenset[str] = frozenset()
    """Ids of steps that count as done."""
    artifacts: dict[str, Path] = field(default_factory=dict)

    def run(self, workflow: Mapping[str, Any]) -> dict[str, Job]:
        """Run every job of a workflow, each in a machine of its own."""
        jobs: dict[str, Job] = {}
        for name, job in workflow["jobs"].items():
            machine = self.folder / name
            (machine / "temp").mkdir(parents=True)
            (machine / "work").mkdir()
            needed = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
            ok = all(jobs[other].result == "success" for other in needed)
            contexts = {"github": self.github, "runner": {"temp": str(machine / "temp"), "os": "Linux", "arch": "X64"}}
            if not evaluate(job.get("if", "success()"), contexts, ok):
                jobs[name] = Job("skipped")
                continue
            jobs[name] = Job()
            shell = workflow.get("defaults", {}).get("run", {}).get("shell")
            env = {**self.env, **_files(machine)}
            self._steps(jobs[name], job["steps"], machine, contexts, env, shell)
        return jobs

    def _steps(
        self,
        job: Job,
        steps: list[dict[str, Any]],
        machine: Path,
        contexts: dict[str, Any],
        env: dict[str, str],
        shell: str | None,
    ) -> None:
        outcomes: dict[str, Any] = {}
        for step in steps:
            inside = contexts | {"steps": outcomes}
            name = step.get("name") or step.get("uses", "")
            if not evaluate(step.get("if", "success()"), inside, job.result == "success"):
                job.steps.append(Step(name, None, ""))
                continue
            before, job.result = job.result, "success"
            self._step(job, step, machine, inside, env, shell)
            outcomes[step.get("id", "")] = {"outcome": job.result}
            if step.get("continue-on-error") or (before != "success" and job.result == "success"):
                job.result = before

    def _step(
        self,
        job: Job,
        step: dict[str, Any],
        machine: Path,
        contexts: dict[str, Any],
        env: dict[str, str],
        shell: str | None,
    ) -> None:
        options = {key: interpolated(value, contexts) for key, value in step.get("with", {}).items()}
        uses = step.get("uses", "")
        if step.get("id") in self.without:
            return
        if uses.startswith("./"):
            action = yaml.safe_load((machine / "work" / uses / "action.yaml").read_text())
            inputs = {key: options.get(key, value.get("default")) for key, value in action["inputs"].items()}
            assert set(options) <= set(inputs), f"{uses} has no inputs {sorted(set(options) - set(inputs))}"
            assert None not in inputs.values(), inputs
            self._steps(job, action["runs"]["steps"], machine, contexts | {"inputs": inputs}, env, None)
        elif uses:
            job.result = "success" if self._used(uses.partition("@")[0], options, machine) else "failure"
        else:
            variables = {key: interpolated(value, contexts) for key, value in step.get("env", {}).items()}
            done = _bash(step["run"], step.get("shell") or shell, machine, {**env, **variables})
            job.steps.append(Step(step.get("name", ""), done.code, done.text))
            job.result = "failure" if done.code else "success"

    def _used(self, action: str, options: dict[str, str], machine: Path) -> bool:
        """Do what an action of GitHub's does; False when it fails."""
        if action == "actions/checkout":
            assert options["fetch-depth"] == "0"
            run_git(machine, "clone", "--quiet", f"file://{self.origin}", "work")
            run_git(machine / "work", "fetch", "--quiet", "origin", self.ref)
            run_git(machine / "work", "checkout", "--quiet", "--detach", "FETCH_HEAD")
        elif action == "actions/upload-artifact":
            if Path(options["path"]).is_dir():
                self.artifacts[options["name"]] = Path(options["path"])
        elif action == "actions/download-artifact":
            if options["name"] not in self.artifacts:
                return False
            shutil.copytree(self.artifacts[options["name"]], options["path"])
        else:
            assert action == "actions/cache", action
        return True


def _files(machine: Path) -> dict[str, str]:
    """The files by which a step speaks to the runner."""
    names = ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_STEP_SUMMARY")
    files = {name: str(machine / name.lower()) for name in names}
    for name in files.values():
        Path(name).touch()
    return {**files, "RUNNER_TEMP": str(machine / "temp")}


def _bash(script: str, shell: str | None, machine: Path, env: dict[str, str]) -> Done:
    """Run a script with the options that GitHub gives to bash."""
    options = ["--noprofile", "--norc", "-eo", "pipefail"] if shell == "bash" else ["-e"]
    added = Path(env["GITHUB_PATH"]).read_text().split()
    path = ":".join([*reversed(added), env["PATH"]])
    file = machine / "script.sh"
    file.write_text(script)
    return execute("bash", *options, file, cwd=machine / "work", env={**env, "PATH": path}, timeout=600, together=True)


def interpolated(value: Any, contexts: Mapping[str, Any]) -> str:
    """Return a value with its `${{ }}` filled in."""
    if isinstance(value, bool | int):
        return str(value).lower()
    return re.sub(r"\$\{\{(.*?)\}\}", lambda match: _text(_value(match[1], contexts, True)), value)


def evaluate(condition: str, contexts: Mapping[str, Any], ok: bool) -> bool:
    """Return whether a job or a step runs; without a function of the status it does so only when all went well."""
    text = re.sub(r"^\$\{\{(.*)\}\}$", r"\1", condition.strip())
    return bool(_value(text, contexts, ok)) and (ok or bool(STATUS.search(text)))


def _value(text: str, contexts: Mapping[str, Any], ok: bool) -> Any:
    """Evaluate an expression; what a context does not have is an empty text."""
    python, at = "", 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        assert match, f"this runner does not know {text[at:]!r}"
        literal, name, call, operator = match.groups()
        if literal:
            python += repr(literal[1:-1].replace("''", "'"))
        elif name:
            python += f"{name}(" if call else f"look({name!r})"
        else:
            python += _OPERATORS.get(operator, operator)
        at = match.end()
    functions = {
        "look": lambda name: _looked_up(name, contexts),
        "format": str.format,
        "success": lambda: ok,
        "failure": lambda: not ok,
        "cancelled": lambda: False,
        "always": lambda: True,
    }
    return eval(python, {"__builtins__": {}}, functions)


def _looked_up(name: str, contexts: Mapping[str, Any]) -> Any:
    value: Any = contexts
    for part in name.split("."):
        value = value.get(part, "") if isinstance(value, Mapping) else ""
    return value


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
