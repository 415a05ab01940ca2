"""A release as a stranger gets it: what docs/internals/release.md verifies is verified, and a changed byte is seen."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from krmfn_functions import VERSION

from tests.commands import ROOT, Done
from tests.pages import Block, blocks

from .conftest import Env
from .engines import TOOLS, must, run
from .test_image import LOCKED

PAGE = ROOT / "docs" / "internals" / "release.md"
BLOCKS = [block for block in blocks(PAGE) if "in dist/" in block.note]
PACKAGES = "from importlib.metadata import distributions\nfor one in distributions(): print(one.name, one.version)"


@pytest.fixture
def dist(released: Path, tmp_path: Path) -> Path:
    """A copy of the release."""
    return Path(shutil.copytree(released, tmp_path / "dist"))


def typed(block: Block, dist: Path) -> Done:
    return run("bash", "-euo", "pipefail", "-c", block.text, cwd=dist, timeout=600)


def test_each_kind_of_file_is_verified_by_the_page() -> None:
    assert len(BLOCKS) == 4


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.id)
def test_what_the_page_says_verifies_it(block: Block, dist: Path) -> None:
    typed(block, dist).ended(0)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        (f"krmfn-{VERSION}-py3-none-any.whl", 0),
        (f"krmfn-{VERSION}.cdx.json", 0),
        (f"krmfn-{VERSION}.intoto.json", 0),
        (f"krmfn-{VERSION}-py3-none-any.whl", 1),
        (f"krmfn-kpt-{VERSION}.tar.gz", 1),
        ("images/krmfn/index.json", 3),
    ],
)
def test_a_changed_byte_is_seen(name: str, number: int, dist: Path) -> None:
    content = (dist / name).read_bytes()
    at = len(content) // 2
    (dist / name).write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    assert typed(BLOCKS[number], dist).code != 0


def test_a_package_that_the_bill_does_not_name_is_seen(dist: Path) -> None:
    path = dist / f"krmfn-{VERSION}.cdx.json"
    bill = json.loads(path.read_text())
    del bill["components"][0]
    path.write_text(json.dumps(bill))
    assert typed(BLOCKS[2], dist).code != 0


def bill_of(dist: Path, name: str) -> dict[str, Any]:
    bill: dict[str, Any] = json.loads((dist / "images" / f"{name}.cdx.json").read_text())
    return bill


def listed(bill: dict[str, Any], kind: str) -> set[tuple[str, str]]:
    """The name and version of the components whose purl is of a kind."""
    components = [component for component in bill["components"] if component.get("purl", "").startswith(f"pkg:{kind}/")]
    return {(plain(component["name"]), component["version"]) for component in components}


def plain(name: str) -> str:
    """A package's name in one of the forms that it may be written in."""
    return name.lower().replace("_", "-") if "/" in name else re.sub(r"[-_.]+", "-", name.lower())


@pytest.mark.parametrize("name", ["krmfn", "krmfn-argocd"])
def test_the_bill_of_an_image_lists_every_package_in_it(
    name: str, released: Path, containers: Env, request: pytest.FixtureRequest
) -> None:
    image = request.getfixturevalue("image" if name == "krmfn" else "sidecar")
    bill = bill_of(released, name)

    def inside(program: str, *args: str) -> set[tuple[str, str]]:
        out = must("podman", "run", *LOCKED, f"--entrypoint={program}", image, *args, env=containers).decode()
        return {(plain(package), version) for package, version in map(str.split, out.splitlines())}

    debian = inside("dpkg-query", "--show", "--showformat", "${Package} ${Version}\n")
    assert len(debian) > 50
    assert debian <= listed(bill, "deb")
    python = inside("/opt/krmfn/bin/python", "-I", "-c", PACKAGES)
    assert ("krmfn", VERSION) in python
    assert python <= listed(bill, "pypi")


def test_the_bill_of_the_sidecar_lists_the_modules_of_kustomize(
    released: Path, sidecar: str, containers: Env, tmp_path: Path
) -> None:
    ident = must("podman", "create", sidecar, env=containers).decode().strip()
    must("podman", "cp", f"{ident}:/usr/local/bin/kustomize", tmp_path / "kustomize", env=containers)
    must("podman", "rm", ident, env=containers)
    lines = must("go", "version", "-m", tmp_path / "kustomize").decode().splitlines()
    modules = {(plain(parts[1]), parts[2]) for parts in map(str.split, lines) if parts[0] in ("dep", "mod")}
    assert len(modules) > 10
    assert modules <= listed(bill_of(released, "krmfn-argocd"), "golang")
    assert must(tmp_path / "kustomize", "version") == must(TOOLS / "kustomize", "version")


def test_the_images_carry_their_names_and_their_commit(released: Path, image: str, containers: Env) -> None:
    [config] = json.loads(must("podman", "image", "inspect", image, env=containers))
    labels = {key.rpartition(".")[2]: value for key, value in config["Labels"].items() if "opencontainers" in key}
    assert (labels["title"], labels["version"], labels["licenses"]) == ("krmfn", VERSION, "Apache-2.0")
    statement = json.loads((released / "images" / "krmfn-images.intoto.json").read_text())
    materials = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert materials[0]["digest"]["gitCommit"] == labels["revision"]
    assert materials[-1]["annotations"]["made"].startswith("debootstrap")


def test_python_in_the_image_is_isolated(image: str, containers: Env) -> None:
    script = "head -1 /opt/krmfn/bin/krmfn /opt/krmfn/bin/deviceconfig /opt/krmfn/bin/ptemplate"
    out = must("podman", "run", *LOCKED, "--entrypoint=sh", image, "-c", script, env=containers).decode()
    assert len(re.findall(r"^#!/opt/krmfn/bin/\S+ -IB$", out, re.MULTILINE)) == 3


def test_nothing_names_the_run_that_made_it(released: Path) -> None:
    """No folder, no number, and no time but the commit's."""
    committed = must("git", "log", "-1", "--format=%cI", cwd=released.parent).decode().strip()
    for path in [*released.rglob("*.json")]:
        if "blobs" not in path.parts:
            text = path.read_text()
            assert "/tmp/" not in text, path.name
            assert "serialNumber" not in text, path.name
            assert set(re.findall(r'"timestamp": "(.*)"', text)) <= {committed}, path.name
