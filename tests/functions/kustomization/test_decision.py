"""How a kustomization is built: what is refused, what a flag allows, and that nothing unseen is run."""

from __future__ import annotations

from pathlib import Path

import pytest
from krmfn_functions.kustomization import reading
from krmfn_functions.kustomization.builds import decide
from krmfn_functions.kustomization.kustomize import Decision

from tests.trees import OURS, config_map, function, plant

OURSELVES = "transformers: [ours.yaml]"
OTHERS = "transformers: [others.yaml]"
REMOTE = "resources: ['https://github.com/a/b']"
CHART = "helmCharts: [{name: a}]"
OUTSIDE = "resources: [../a.yaml]"


@pytest.fixture
def app(tmp_path: Path) -> Path:
    files = {"ours.yaml": function("exec: {path: krmfn}"), "others.yaml": function("exec: {path: ./krmfn}")}
    plant(tmp_path, {"a.yaml": config_map("a"), **{f"app/{name}": text for name, text in files.items()}})
    return plant(tmp_path / "app", {"charts/a/values.yaml": "", "base/kustomization.yaml": "namePrefix: a-"})


def decision(app: Path, fields: list[str], flags: str = "", allow_remote: bool = False) -> Decision:
    (app / "kustomization.yaml").write_text("\n".join(["namePrefix: a-", *fields]))
    graph = reading.read([str(app)], None, OURS)
    return decide(graph, str(app.resolve()), flags.split(), allow_remote)


@pytest.mark.parametrize(
    ("fields", "flags", "allow_remote", "programs", "is_open"),
    [
        ([], "", False, [], False),
        ([], "--enable-helm --load-restrictor=LoadRestrictionsNone", True, [], False),
        ([OURSELVES], "", False, ["krmfn"], False),
        ([OURSELVES], "--load-restrictor LoadRestrictionsNone", True, ["krmfn"], False),
        ([OURSELVES, OUTSIDE], "--load-restrictor=LoadRestrictionsNone", False, ["krmfn"], False),
        ([OURSELVES], "--enable-alpha-plugins --enable-exec", False, [], True),
        ([OTHERS], "--enable-alpha-plugins", False, [], True),
        ([CHART], "--enable-helm", False, [], True),
        ([OURSELVES, CHART], "--enable-helm", False, ["krmfn"], True),
        ([REMOTE], "", True, [], True),
    ],
)
def test_built(
    app: Path, fields: list[str], flags: str, allow_remote: bool, programs: list[str], is_open: bool
) -> None:
    outcome = decision(app, fields, flags, allow_remote)
    assert (outcome.refused, [call.program for call in outcome.calls], outcome.is_open) == ((), programs, is_open)


@pytest.mark.parametrize(
    ("fields", "flags", "allow_remote", "rules"),
    [
        ([OTHERS], "", True, ["KRM510"]),
        ([OTHERS], "--enable-exec --enable-helm", False, ["KRM510"]),
        ([OURSELVES], "--enable-alpha-plugins", False, ["KRM516"]),
        ([OURSELVES], "--enable-alpha-plugins --enable-exec=false", False, ["KRM516"]),
        ([OURSELVES.replace("transformers", "generators")], "", False, ["KRM511"]),
        ([CHART], "", True, ["KRM512"]),
        ([REMOTE], "", False, ["KRM509"]),
        ([REMOTE], "--enable-alpha-plugins --enable-exec", True, ["KRM509"]),
        ([REMOTE, OURSELVES], "", True, ["KRM509"]),
        ([REMOTE, CHART], "--enable-helm", False, ["KRM509"]),
        ([OUTSIDE], "", True, ["KRM507"]),
        (["resources: [b.yaml]"], "--enable-alpha-plugins --enable-helm --load-restrictor=x", True, ["KRM504"]),
    ],
)
def test_refused(app: Path, fields: list[str], flags: str, allow_remote: bool, rules: list[str]) -> None:
    outcome = decision(app, fields, flags, allow_remote)
    assert [finding.rule for finding in outcome.refused] == rules
    assert outcome.calls == ()


def test_a_function_outside_the_folder_is_judged_also_when_kustomize_may_read_it(app: Path, tmp_path: Path) -> None:
    plant(tmp_path, {"others.yaml": function("exec: {path: sh}")})
    outcome = decision(app, ["transformers: [../others.yaml]"], "--load-restrictor=LoadRestrictionsNone")
    assert [finding.rule for finding in outcome.refused] == ["KRM510"]
