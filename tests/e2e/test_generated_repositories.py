"""Generated repositories: kustomize, kpt and `render` give the same objects whichever way, or say why not."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.commands import Done, process
from tests.examples import EXAMPLES
from tests.trees import plant

from .engines import EXEC, documents, run
from .overlays import CHANGES, config, package, repositories

INPUTS = {"DeviceConfig", "RenderDeviceConfigs", "Kptfile"}
NAMES = process("krmfn", "kustomize-config").text
# The same ones in each run: new ones are found by KRMFN_EXAMPLES=500 and another seed, not by chance in CI.
tried = settings(max_examples=max(20, EXAMPLES // 4), derandomize=True, database=None)


def objects(stream: bytes) -> list[str]:
    """Return what would reach a cluster, in an order of its own."""
    return sorted(json.dumps(item, sort_keys=True) for item in documents(stream) if item["kind"] not in INPUTS)


def agree(engine: Done, rendered: Done) -> None:
    """Compare what an engine and what `render` gave: the same, or a refusal of `render` that names a rule."""
    if rendered.code == 0:
        assert engine.code == 0, f"render gives what the engine refuses: {engine.err}"
        assert objects(rendered.out) == objects(engine.out)
    else:
        assert rendered.out == b""
        assert engine.code or "[KRM" in rendered.err, rendered.err


@tried
@given(repositories(NAMES))
def test_kustomize_and_render_agree(kustomize: str, files: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plant(Path(folder), files)
        top = Path(folder, "top")
        built = run(kustomize, "build", *EXEC, top)
        if built.code == 0 and not any("transformers" in text for text in files.values()):
            built = run("krmfn", "render", "-", stdin=built.out)
        agree(built, run("krmfn", "render", "--root", folder, top))


@tried
@given(st.lists(st.sampled_from(["gpu", "nic", "fpga"]), min_size=1, unique=True), st.booleans(), st.booleans())
def test_kpt_and_render_agree(kpt: str, names: list[str], local: bool, subpackage: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plant(Path(folder), package([config(name, local) for name in names], subpackage))
        rendered = run("krmfn", "render", "--root", folder, folder)
        done = run(kpt, "fn", "render", folder, "--allow-exec")
        texts = [path.read_bytes() for path in sorted(Path(folder).rglob("*.yaml")) if path.name != "function.yaml"]
        agree(done._replace(out=b"\n---\n".join(texts)), rendered)


@tried
@given(st.lists(st.sampled_from(["gpu", "nic", "fpga"]), min_size=1, unique=True), st.integers(0, 2))
def test_loose_files_are_one_stream(names: list[str], deep: int) -> None:
    """A folder of files gives what the same documents give on stdin, wherever they stand."""
    texts = [config(name, profile="") for name in names]
    with tempfile.TemporaryDirectory() as folder:
        plant(
            Path(folder), {f"{'deep/' * (number % (deep + 1))}{number}.yaml": text for number, text in enumerate(texts)}
        )
        stream = run("krmfn", "render", "-", stdin="---\n".join(texts).encode())
        agree(stream, run("krmfn", "render", folder))


def test_each_change_is_tried() -> None:
    """Guard the generator: what it knows of kustomize's fields is what the page speaks of."""
    assert {"prefix", "suffix", "namespace", "labels", "images", "patch"} <= CHANGES.keys()
