"""A case of kpt's: a package, and below `.expected` what changes in it, what is found and how the function is run."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from .item import INDEX, PATH, Item
from .program import KrmFunction, Run
from .resourcelist import ResourceList
from .typed import Any
from .yamltext import edit, emit, load

__all__ = ["Step", "check"]

Step = tuple[Any, list[dict[str, Any]]]
"""The functionConfig of a step, or the data of a ConfigMap, and its selectors."""


def check(
    function: KrmFunction[Any], package: Path, read: Callable[[Path, Any], ResourceList], updates: bool = False
) -> None:
    """Run the function twice as the package says; compare with `diff.patch`, `results.yaml` and the exit code.

    `.expected/config.yaml` says how: `testType: eval` with `args` or `fnConfig`, or else the steps of the Kptfile's
    pipeline, selectors included. `read` reads a folder and a functionConfig. Raises AssertionError with the difference;
    `updates` writes what came out instead.
    """
    expected = package / ".expected"
    settings = _yaml(expected / "config.yaml") or {}
    if settings.get("skip"):
        return
    steps = list(_steps(function, package, settings))
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "package"
        shutil.copytree(package, copy, ignore=shutil.ignore_patterns(".expected"))
        _git(copy, "init", "-q")
        _git(copy, "add", "-A", "-f")
        runs = [_once(function, copy, step, read) for step in steps]
        diff = _diff(copy)
        code = max((run.code for run in runs), default=0)
        for step in steps if code == 0 else ():
            _once(function, copy, step, read)
        assert _diff(copy) == diff, f"{package}: a second run changes something\n{_diff(copy)}"
    items: list[dict[str, Any]] = [
        {"exitCode": run.code, "results": [result.to_manifest() for result in run.results]} for run in runs
    ]
    if updates:
        (expected / "diff.patch").write_text(diff, encoding="utf-8")
        head = {"apiVersion": "kpt.dev/v1", "kind": "FunctionResultList", "metadata": {"name": "fnresults"}}
        (expected / "results.yaml").write_text(emit.dump({**head, "exitCode": code, "items": items}), encoding="utf-8")
        return
    patch = expected / "diff.patch"
    said = "".join(run.stderr for run in runs)
    wanted = patch.read_text(encoding="utf-8") if patch.exists() else ""
    assert _lines(diff) == _lines(wanted), f"{package}: diff.patch differs (KRMFN_UPDATE=1 writes it)\n{diff}{said}"
    assert code == settings.get("exitCode", 0), f"{package}: the exit code is {code}\n{said}"
    found = _yaml(expected / "results.yaml")
    if found is not None:
        listed = [{"severity": "info", **one} for item in found.get("items") or [] for one in item.get("results") or []]
        results = [one for item in items for one in item["results"]]
        fits = len(results) == len(listed) and all(map(_has, results, listed))
        assert fits, f"{package}: results.yaml differs (KRMFN_UPDATE=1 writes it)\n{emit.dump(results)}"


def _steps(function: KrmFunction[Any], package: Path, settings: dict[str, Any]) -> Iterator[Step]:
    """Yield the functionConfig and the selectors of each run: of `kpt fn eval`, or of the Kptfile's pipeline."""
    if settings.get("testType") == "eval":
        config = settings.get("fnConfig")
        yield _yaml(package / ".expected" / config) if config else settings.get("args"), []
        return
    pipeline = (_yaml(package / "Kptfile") or {}).get("pipeline") or {}
    for step in [*(pipeline.get("mutators") or []), *(pipeline.get("validators") or [])]:
        name = str(step.get("image") or step.get("exec")).rpartition("/")[2].partition(":")[0]
        odd = {*step} - {"image", "exec", "name", "configMap", "configPath", "selectors"}
        assert name == function.spec.name and not odd, f"{package}: {function.spec.name} alone cannot run {step}"
        path = step.get("configPath")
        yield _yaml(package / path) if path else step.get("configMap"), step.get("selectors") or []


def _once(function: KrmFunction[Any], folder: Path, step: Step, read: Callable[[Path, Any], ResourceList]) -> Run:
    """Run the function on the files of a folder, and write what comes out there unless there is an error."""
    config, selectors = step
    resources = read(folder, config)
    every = list(resources.items)
    resources.items = [item for item in every if not selectors or any(_is_selected(item, one) for one in selectors)]
    run = function.run(resources)
    if run.code == 0:
        chosen = set(map(id, resources.items))
        files: dict[str, list[Item]] = {item.path: [] for item in every}
        for item in (*(item for item in every if id(item) not in chosen), *run.items):
            path = item.path or f"{item.namespace}/{item.kind.lower()}_{item.name}.yaml".lstrip("/")  # as kpt does
            files.setdefault(path, []).append(item)
        for path, items in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            items.sort(key=lambda item: int(item.annotations.get(INDEX, len(every))))
            (folder / path).write_bytes(b"---\n".join(map(_document, items)))
            if not items:
                (folder / path).unlink()
    return run


def _is_selected(item: Item, selector: dict[str, Any]) -> bool:
    """Return True for an item that a step's selector means: all that it names is equal."""
    known = {**item.manifest, **(item.manifest.get("metadata") or {})}
    return all(
        (known.get(key) or {}).items() >= value.items() if isinstance(value, dict) else known.get(key) == value
        for key, value in selector.items()
    )


def _has(value: Any, wanted: Any) -> bool:
    """Return True when a value is what is wanted; a mapping may have more keys."""
    if isinstance(wanted, dict) and isinstance(value, dict):
        return all(key in value and _has(value[key], one) for key, one in wanted.items())
    return bool(value == wanted)


def _document(item: Item) -> bytes:
    """Return an item as a document of a file, without kpt's annotations."""
    text = edit.undashed(item.text, item.indent)
    document = Item(text, 0, len(text), -2)
    for key in (PATH, INDEX):
        if key in document.annotations:
            del document.annotations[key]
    if not document.annotations and document.at("metadata.annotations").exists:
        del document["metadata.annotations"]
    return document.text


def _yaml(path: Path) -> Any:
    return load.read(path.read_bytes()) if path.exists() else None


def _git(folder: Path, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, text=True).stdout


def _diff(folder: Path) -> str:
    """Return what differs from what was there first, new files included."""
    _git(folder, "add", "-f", "--intent-to-add", "--ignore-removal", ".")
    return _git(folder, "diff")


def _lines(diff: str) -> list[str]:
    return [line for line in diff.splitlines() if not line.startswith("index ")]
