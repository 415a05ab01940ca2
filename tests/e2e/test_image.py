"""The image by itself: it answers, and needs no network, no home, no right to write, and no name for its user."""

from __future__ import annotations

import json

import pytest

from tests.commands import ROOT

from .conftest import Env
from .engines import must, run

LOCKED = ["--rm", "--read-only", "--network=none", "--security-opt=no-new-privileges", "--cap-drop=all", "--tmpfs=/tmp"]
EMPTY = b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n"
COMPILERS = ["cc", "gcc", "g++", "c++", "clang", "ld", "as", "make", "go", "rustc", "cargo"]


@pytest.mark.parametrize("user", ["nobody", "65534", "999", "12345:12345"])
def test_help_answers_read_only_offline_for_any_user(image: str, containers: Env, user: str) -> None:
    done = run("podman", "run", *LOCKED, "--user", user, "--env", "HOME=/nonexistent", image, "--help", env=containers)
    assert (done.code, done.err) == (0, "")
    assert b"usage: krmfn" in done.out


def test_an_empty_list_comes_back_as_it_came(image: str, containers: Env) -> None:
    assert run("podman", "run", "-i", *LOCKED, image, env=containers, stdin=EMPTY).ended(0).out == EMPTY


def test_a_report_is_written_in_it(image: str, containers: Env) -> None:
    config = (ROOT / "examples" / "smallest" / "deviceconfig.yaml").read_bytes()
    done = run("podman", "run", "-i", *LOCKED, image, "report", "-", env=containers, stdin=config).ended(0, "")
    assert b"It is not known which node gets what." in done.out


@pytest.mark.parametrize("function", ["deviceconfig", "ptemplate"])
def test_the_bare_functions_are_in_it(image: str, containers: Env, function: str) -> None:
    done = run("podman", "run", *LOCKED, "--entrypoint", function, image, "--help", env=containers).ended(0, "")
    assert f"usage: {function}".encode() in done.out


def test_it_runs_as_a_number_that_is_not_root(image: str, containers: Env) -> None:
    """Kubernetes' runAsNonRoot refuses a user that is given by name."""
    config = json.loads(must("podman", "image", "inspect", image, env=containers))[0]["Config"]
    assert config["User"] == "65532:65532"


def test_no_compiler_is_left_in_it(image: str, containers: Env) -> None:
    script = f"command -v {' '.join(COMPILERS)} || true"
    assert must("podman", "run", *LOCKED, "--entrypoint=sh", image, "-c", script, env=containers) == b""


def test_every_module_of_it_is_compiled_ahead(image: str, containers: Env) -> None:
    script = "find /opt/krmfn/lib -name '*.py' | wc -l; find /opt/krmfn/lib -name '*.pyc' | wc -l"
    out = must("podman", "run", *LOCKED, "--entrypoint=sh", image, "-c", script, env=containers)
    sources, compiled = map(int, out.split())
    assert compiled == sources > 0
