"""Tests of a function without kpt, kustomize or containers: lists from folders, and golden cases."""

import difflib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from .annotations import INDEX, PATH
from .folder import trial
from .item import Item
from .program import KrmFunction, Run
from .resource import Place
from .resourcelist import ResourceList
from .streams import Log
from .typed import Any
from .yamltext import documents, edit, emit, load

__all__ = ["UPDATE", "golden", "resource_list", "run_folder"]

UPDATE = "KRMFN_UPDATE"
"""The environment variable that makes `golden` write what it got."""
_CONFIGS = ("_fnconfig.yaml", "fn-config.yaml")
_Step = tuple[Any, list[dict[str, Any]]]
"""The functionConfig of a step, or the data of a ConfigMap, and its selectors."""


def resource_list(folder: str | Path, config: dict[str, Any] | None = None) -> ResourceList:
    """Return the resources of the YAML files below a folder, each with kpt's annotations for its file.

    `config` is the functionConfig, or the data of a ConfigMap: `{"namespace": "web"}`. Raises KrmfnError for a file
    that is no YAML.
    """
    items = [*_items(Path(folder))]
    for item in items:
        place = item.file or Place()
        item.annotations[PATH], item.annotations[INDEX] = place.path, str(place.position)
    return ResourceList.parse(ResourceList(items, _manifest(config)).to_bytes())


def run_folder(function: KrmFunction[Any], folder: str | Path, config: dict[str, Any] | None = None) -> Run:
    """Run on the files below a folder as `python function.py FOLDER` does: findings have lines and columns.

    It writes nothing there, and what the program refuses to read is an error of the run. `config` is as for
    `resource_list`.
    """
    with redirect_stderr(StringIO()) as stderr:
        resources, output = trial(function, Path(folder), _manifest(config))
        Log().findings(resources.results)
    return Run(output, int(resources.failed), resources.items, resources.results, stderr.getvalue())


def _manifest(config: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a functionConfig as it is, and the data of a ConfigMap as one."""
    if config is None or "kind" in config:
        return config
    texts = {key: value if isinstance(value, str) else str(value).lower() for key, value in config.items()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "function-input"}, "data": texts}


def _is_resource(path: Path, root: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in path.relative_to(root).parts)
    return not hidden and (path.suffix in (".yaml", ".yml") or path.name == "Kptfile")


def _items(root: Path) -> Iterator[Item]:
    """Yield the resources of the YAML files below a folder, with their places."""
    for path in sorted(path for path in root.rglob("*") if _is_resource(path, root)):
        for position, document in enumerate(documents.documents(path.read_bytes())):
            place = Place(path.relative_to(root).as_posix(), position, document.line)
            yield Item(document.text, 0, len(document.text), -2, file=place)


def golden(function: KrmFunction[Any], folder: str | Path) -> None:
    """Run the function twice on each case of a folder, and compare with what the case expects.

    A case is a folder with `_expected.yaml`, the ResourceList that comes out, or one right below `folder` that lacks it
    yet; its functionConfig is `_fnconfig.yaml`, everything else its input. Or one of kpt's: a package with `.expected`
    (see `_check_package`). Raises AssertionError with the difference; with KRMFN_UPDATE=1 it writes what it got.
    """
    packages = sorted(path.parent for path in Path(folder).rglob(".expected"))
    cases = _cases(Path(folder), packages)
    assert cases or packages, f"{folder} has no case: a folder with _fnconfig.yaml and _expected.yaml, or .expected"
    for package in packages:
        _check_package(function, package)
    for case in cases:
        config = next(filter(None, (_yaml(case / name) for name in _CONFIGS)), None)
        done = function.run(resource_list(case, config))
        again = function.run(done.output) if done.code == 0 else done
        changed = _rows(done.output, again.output)
        assert not changed, f"{case}: a second run changes something\n{changed}"
        file = case / "_expected.yaml"
        if os.environ.get(UPDATE) == "1":
            file.write_bytes(done.output)
        expected = file.read_bytes() if file.exists() else b""
        assert done.output == expected, f"{case} (KRMFN_UPDATE=1 writes it)\n{_rows(expected, done.output)}"


def _cases(folder: Path, packages: list[Path]) -> list[Path]:
    """Return the folders that are cases: those that say so, and those with resources right below `folder`."""
    cases = {path.parent for path in folder.rglob("_*.yaml")}
    known = [*cases, *packages]
    is_case = any(path.is_file() and _is_resource(path, folder) for path in folder.iterdir())  # and these its parts
    for below in () if is_case else folder.iterdir():
        has_resources = any(path.is_file() and _is_resource(path, folder) for path in below.rglob("*"))
        if has_resources and not any(case in (below, *below.parents) or below in case.parents for case in known):
            cases.add(below)
    return sorted(cases)


def _rows(expected: bytes, output: bytes) -> str:
    return "\n".join(difflib.unified_diff(expected.decode().split("\n"), output.decode().split("\n"), lineterm=""))


def _check_package(function: KrmFunction[Any], package: Path) -> None:
    """Run the function twice as kpt's package says; compare with `diff.patch`, `results.yaml` and the exit code.

    `.expected/config.yaml` says how: `testType: eval` with `args` or `fnConfig`, or else the steps of the Kptfile's
    pipeline, selectors included. Raises AssertionError with the difference; UPDATE writes what came out instead.
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
        runs = [_run_step(function, copy, step) for step in steps]
        diff = _diff(copy)
        code = max((run.code for run in runs), default=0)
        for step in steps if code == 0 else ():
            _run_step(function, copy, step)
        assert _diff(copy) == diff, f"{package}: a second run changes something\n{_diff(copy)}"
    items = [{"exitCode": run.code, "results": [result.to_manifest() for result in run.results]} for run in runs]
    if os.environ.get(UPDATE) == "1":
        (expected / "diff.patch").write_text(diff, encoding="utf-8")
        head = {"apiVersion": "kpt.dev/v1", "kind": "FunctionResultList", "metadata": {"name": "fnresults"}}
        (expected / "results.yaml").write_text(emit.dump({**head, "exitCode": code, "items": items}), encoding="utf-8")
        return
    patch = expected / "diff.patch"
    stderr = "".join(run.stderr for run in runs)
    old = patch.read_text(encoding="utf-8") if patch.exists() else ""
    assert _lines(diff) == _lines(old), f"{package}: diff.patch differs (KRMFN_UPDATE=1 writes it)\n{diff}{stderr}"
    assert code == settings.get("exitCode", 0), f"{package}: the exit code is {code}\n{stderr}"
    document = _yaml(expected / "results.yaml")
    if document is not None:
        entries = [entry for item in document.get("items") or [] for entry in item.get("results") or []]
        results = [result.to_manifest() for run in runs for result in run.results]
        expected_results = [{"severity": "info", **entry} for entry in entries]
        fits = len(results) == len(entries) and all(map(_contains, results, expected_results))
        assert fits, f"{package}: results.yaml differs (KRMFN_UPDATE=1 writes it)\n{emit.dump(results)}"


def _steps(function: KrmFunction[Any], package: Path, settings: dict[str, Any]) -> Iterator[_Step]:
    """Yield the functionConfig and the selectors of each run: of `kpt fn eval`, or of the Kptfile's pipeline."""
    if settings.get("testType") == "eval":
        config = settings.get("fnConfig")
        yield _yaml(package / ".expected" / config) if config else settings.get("args"), []
        return
    pipeline = (_yaml(package / "Kptfile") or {}).get("pipeline") or {}
    for step in [*(pipeline.get("mutators") or []), *(pipeline.get("validators") or [])]:
        name = str(step.get("image") or step.get("exec")).rpartition("/")[2].partition(":")[0]
        odd = {*step} - {"image", "exec", "name", "configMap", "configPath", "selectors"}
        assert name == function.name and not odd, f"{package}: {function.name} alone cannot run {step}"
        path = step.get("configPath")
        yield _yaml(package / path) if path else step.get("configMap"), step.get("selectors") or []


def _run_step(function: KrmFunction[Any], folder: Path, step: _Step) -> Run:
    """Run the function on the files of a folder, and write what comes out there unless there is an error."""
    config, selectors = step
    resources = resource_list(folder, config)
    all_items = resources.items
    selectors = [{key: value for key, value in selector.items() if value} for selector in selectors]
    fields = ((item, item.manifest | item["metadata"]) for item in all_items if selectors)
    others = [item for item, data in fields if not any(_contains(data, selector) for selector in selectors)]
    resources.items = [item for item in all_items if item not in others]
    run = function.run(resources)
    if run.code == 0:
        files: dict[str, list[Item]] = {item.path: [] for item in all_items}
        for item in (*others, *run.items):
            path = item.path or f"{item.namespace}/{item.kind.lower()}_{item.name}.yaml".lstrip("/")  # as kpt does
            files.setdefault(path, []).append(item)
        for path, items in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            items.sort(key=lambda item: int(item.annotations.get(INDEX, len(all_items))))
            (folder / path).write_bytes(b"---\n".join(map(_document, items)))
            if not items:
                (folder / path).unlink()
    return run


def _contains(value: Any, expected: Any) -> bool:
    """Return True when a value is the expected one; a mapping may have more keys."""
    if isinstance(expected, dict) and isinstance(value, dict):
        return all(key in value and _contains(value[key], child) for key, child in expected.items())
    return bool(value == expected)


def _document(item: Item) -> bytes:
    """Return an item as a document of a file, without kpt's annotations."""
    text = edit.undashed(item.text, item.indent)
    document = Item(text, 0, len(text), -2)
    for key in (PATH, INDEX):
        document.annotations.pop(key, None)
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
