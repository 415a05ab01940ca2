"""DaemonSets whose pods differ only in their nodes are read once."""

from __future__ import annotations

from typing import Any

from functions.pods import daemon_set
from tests.call_counts import call_count


def of_pool(pool: str, mistake: bool = False) -> dict[str, Any]:
    container = {"name": "agent", "image": "" if mistake else f"registry.example.com/agent:{len(pool)}"}
    template = {
        "metadata": {"labels": {"app": pool}},
        "spec": {"nodeSelector": {"pool": pool}, "containers": [{**container, "args": ["-v"]}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": pool},
        "spec": {"selector": {"matchLabels": {"app": pool}}, "template": template},
    }


def test_the_second_one_is_less_work() -> None:
    _, first = call_count(lambda: list(daemon_set.check(of_pool("one"))))
    _, second = call_count(lambda: list(daemon_set.check(of_pool("two"))))
    assert second < 0.6 * first


def test_each_has_its_mistakes() -> None:
    for pool in ("three", "seven", "-"):
        findings = list(daemon_set.check(of_pool(pool, mistake=True)))
        assert {finding.ref.name for finding in findings if finding.ref} == {pool}
        paths = [finding.field.path for finding in findings if finding.field]
        assert "spec.template.spec.containers[0].image" in paths
        assert ("spec.template.spec.nodeSelector.pool" in paths) == (pool == "-")
