"""What kustomize refuses in a root without anything of krmfn's fails no pull request; of ours it is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.comparing.test_base import repository
from tests.functions.comparing.test_unbuilt import WEB
from tests.trees import plant

from .engines import find

TWICE = "resources: [a.yaml, a.yaml]\n"


@pytest.mark.parametrize("command", [("diff",), ("ci", "--out", "../out")])
def test_a_name_that_stands_twice(command: tuple[str, ...], tmp_path: Path) -> None:
    find("kustomize", "tests/e2e/install makes it with go")
    repo = repository(tmp_path / "repo", WEB)
    plant(repo, {"web/kustomization.yaml": TWICE})
    done = process("krmfn", *command, "--base", "HEAD", "--fail-on", "error", cwd=repo).ended(0)
    assert "what changes in web is not known" in done.text or "(not built: web)" in done.text
    mark = WEB["web/a.yaml"].replace("a: b", "a: krmfn.dev")
    plant(repo, {"web/a.yaml": mark})
    done = process("krmfn", *command, "--base", "HEAD", "--fail-on", "error", cwd=repo)
    assert done.code != 0, "it is about us now"
