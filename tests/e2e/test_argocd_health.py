"""The health scripts under Argo CD's own evaluator, with the libraries that it opens in production."""

from __future__ import annotations

import json

from tests.gitops.health import CASES

from .argo import client
from .engines import run


def test_argo_cd_says_the_same() -> None:
    questions = [{"script": case.script.read_text(), "object": case.manifest} for case in CASES]
    done = run(client(), "health", stdin="\n".join(map(json.dumps, questions)).encode()).ended(0)
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert answers == [case.status for case in CASES]
    assert len(answers) > 40
