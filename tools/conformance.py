"""Run the catalogue's own golden cases over examples/catalog with the real kpt: `make conformance CASES=DIR`.

A case is a kpt package with `.expected/`: `config.yaml` says how it is run, `diff.patch` what changes, `results.yaml`
what is reported. Files are compared byte by byte; README.md, which `kpt pkg init` writes, is left out. Of a case that
fails on purpose the words of the error are not compared: they are those of Go's JSON reader, or come twice.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

REPO = Path(__file__).resolve().parent.parent
FUNCTIONS = REPO / "examples/catalog"
AS_DATA = "ensure-name-substring"
"""The function whose goldens rename every file, an accident of the Go original: its cases are compared as data."""
MAY_DIFFER = {"tests/set-namespace/no-fnconfig-resource": "wants exit code 0 beside an error result"}
_IMAGE = r"image: (?:gcr\.io/kpt-fn/)?([a-z-]+):\S+"


class Outcome(NamedTuple):
    """What came of a case."""

    function: str
    case: str
    reason: str
    """Why it did not pass; "" for one that did."""


def run(cases: Path, only: str = "") -> list[Outcome]:
    """Run every case below a folder, or those with a text in their name."""
    commands = json.loads((cases / "commands.json").read_text()) if (cases / "commands.json").exists() else {}
    folders = sorted(path.parent for path in cases.rglob(".expected") if path.is_dir())
    names = [(folder, folder.relative_to(cases).as_posix()) for folder in folders]
    return [_outcome(folder, name, commands) for folder, name in names if only in name]


def _outcome(folder: Path, case: str, commands: dict[str, list[list[str]]]) -> Outcome:
    config = yaml.safe_load(_text(folder / ".expected/config.yaml")) or {}
    with tempfile.TemporaryDirectory() as place:
        package = Path(place, folder.name)
        shutil.copytree(folder, package, ignore=shutil.ignore_patterns(".expected"))
        lines = commands.get(case) or [_command(folder, config)] * config.get("runCount", 2)
        images = {match[0]: match[1] for match in re.finditer(_IMAGE, _text(package / "Kptfile"))}
        function = next(iter(images.values()), "") or _function(case)
        if case in commands:
            function = _function(case)
        code, errors = 0, ""
        for number, line in enumerate(lines):
            _swap(package / "Kptfile", {image: f"exec: {_program(name)}" for image, name in images.items()})
            done = subprocess.run(
                _line(line, number), cwd=package, capture_output=True, text=True, check=False, timeout=120
            )
            code = code or done.returncode
            errors = done.stderr
            _swap(package / "Kptfile", {f"exec: {_program(name)}": image for image, name in images.items()})
        results = _results(Path(place, "results-0/results.yaml"))  # of the first run, as the catalogue's own runner
        reasons = [*_differences(folder, package, function == AS_DATA), *_wrong_results(folder, code, results, config)]
        if code and not config.get("exitCode") and not reasons:
            reasons = [f"exit code {code}: {errors}"]
        return Outcome(function, case, "; ".join(reasons))


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _program(function: str) -> Path:
    return FUNCTIONS / function / "function.py"


def _function(case: str) -> str:
    """Return the function of a case that no Kptfile names."""
    part = case.split("/")[1]
    return next(path.name for path in sorted(FUNCTIONS.iterdir()) if part.startswith(path.name))


def _command(folder: Path, config: dict[str, Any]) -> list[str]:
    if config.get("testType") != "eval":
        return ["kpt", "fn", "render"]
    image = config["image"].rpartition("/")[2].partition(":")[0]
    config_options = ["--fn-config", Path(config["fnConfig"]).name] if "fnConfig" in config else []
    args = [f"{key}={value}" for key, value in (config.get("args") or {}).items()]
    return ["kpt", "fn", "eval", "--image", image, *config_options, *(["--", *args] if args else [])]


def _line(command: list[str], number: int) -> list[str]:
    """Return a command with the functions run as programs, and its results written."""
    if command[1] != "fn":
        return command
    end = command.index("--") if "--" in command else len(command)
    options, rest = command[:end], command[end:]
    if "--image" in options:
        at = options.index("--image")
        options = [*options[:at], "--exec", str(_program(options[at + 1])), *options[at + 2 :]]
    permission = ["--allow-exec"] if options[2] == "render" else []
    return [*options, *permission, "--results-dir", f"../results-{number}", *rest]


def _swap(path: Path, table: dict[str, str]) -> None:
    if path.exists():
        text = path.read_text()
        for old, new in table.items():
            text = text.replace(old, new)
        path.write_text(text)


def _results(path: Path) -> list[Any]:
    """Return the results of every function that was run."""
    runs = (yaml.safe_load(_text(path)) or {}).get("items") or []
    return [result for run in runs for result in run.get("results") or []]


def _differences(folder: Path, package: Path, as_data: bool) -> Iterator[str]:
    """Yield each file that is not what is expected, with the first line that differs."""
    with tempfile.TemporaryDirectory() as place:
        expected = Path(place, folder.name)
        shutil.copytree(folder, expected, ignore=shutil.ignore_patterns(".expected"))
        patch = folder / ".expected/diff.patch"
        if _text(patch).strip():
            subprocess.run(["git", "apply", "--unidiff-zero", "-p1", patch], cwd=expected, check=True)
        if as_data:
            if _data(expected) != _data(package):
                yield f"other data: {_first(_data(expected), _data(package))}"
            if {path.name for path in _files(folder)} != {path.name for path in _files(package)}:
                yield "files were renamed"
            return
        names = sorted({path.relative_to(root) for root in (expected, package) for path in _files(root)})
        for name in names:
            if _text(expected / name) != _text(package / name):
                yield f"{name}: {_first(_text(expected / name).split(chr(10)), _text(package / name).split(chr(10)))}"


def _first(expected: list[str], actual: list[str]) -> str:
    pairs = zip([*expected, *[""] * len(actual)], [*actual, *[""] * len(expected)], strict=False)
    return next((f"line {at + 1} is {got!r}, not {want!r}" for at, (want, got) in enumerate(pairs) if want != got), "")


def _files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file() and not {"README.md", ".expected"} & {*path.parts}]


def _data(root: Path) -> list[str]:
    """Return the resources below a folder, in an order of their own."""
    documents = (
        document for path in _files(root) for document in yaml.safe_load_all(_text(path)) if path.name != ".krmignore"
    )
    return sorted(json.dumps(document, sort_keys=True) for document in documents)


def _wrong_results(folder: Path, code: int, results: list[Any], config: dict[str, Any]) -> Iterator[str]:
    """Yield what is reported and not expected, or the other way round."""
    if bool(code) != bool(config.get("exitCode")):
        yield f"exit code {code}, not {config.get('exitCode', 0)}: {results[:1]}"
    expected = _results(folder / ".expected/results.yaml")
    if code and bool(code) == bool(config.get("exitCode")):
        if not any(result.get("severity") == "error" for result in results):
            yield "no error is reported"
    elif (folder / ".expected/results.yaml").exists() and list(map(_summary, expected)) != list(map(_summary, results)):
        yield f"results: {_first(list(map(_summary, expected)), list(map(_summary, results)))}"


def _summary(result: dict[str, Any]) -> str:
    """Return a result as text; kpt reads one without a severity as info, and an index that is left out as 0."""
    place = result.get("file") or {}
    field = (result.get("field") or {}).get("path", "")
    where = (place.get("path", ""), place.get("index", 0)) if place else ()
    return json.dumps([result["message"], result.get("severity", "info"), field, where])


def main() -> int:
    """Print a line per function, and why cases did not pass; return 1 when one did not that has to."""
    parser = argparse.ArgumentParser(description="Run the kpt catalogue's golden cases over examples/catalog.")
    parser.add_argument("cases", type=Path, help="a checkout of the cases")
    parser.add_argument("--only", default="", help="cases with this text in their name")
    args = parser.parse_args()
    if shutil.which("kpt") is None:
        sys.stderr.write("error: kpt is not on PATH\n")
        return 2
    if not (args.cases / "tests").is_dir():
        sys.stderr.write(
            f"error: {args.cases} has no folder `tests`; pass the folder that holds the catalogue's tests\n"
        )
        return 2
    outcomes = run(args.cases.resolve(), args.only)
    failed = 0
    for function in sorted({outcome.function for outcome in outcomes}):
        ours = [outcome for outcome in outcomes if outcome.function == function]
        missed = [outcome for outcome in ours if outcome.reason]
        failed += sum(outcome.case not in MAY_DIFFER for outcome in missed)
        print(f"{function:24}{len(ours):3} cases, {len(ours) - len(missed):3} passed")  # noqa: T201
        for outcome in missed:
            known = MAY_DIFFER.get(outcome.case)
            print(f"  {outcome.case}: {outcome.reason}" + (f" (may differ: {known})" if known else ""))  # noqa: T201
    return int(failed > 0 or not outcomes)


if __name__ == "__main__":
    sys.exit(main())
