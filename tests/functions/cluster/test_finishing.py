"""Resources are judged as Flux leaves them after the build: with the variables of `postBuild` and `commonMetadata`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import Done, process
from tests.functions.cluster.test_engine_additions import MODULE, SOURCE
from tests.functions.cluster.test_engines import kustomization, root
from tests.functions.cluster.test_one_result import config
from tests.functions.comparing.test_base import repository
from tests.trees import altered

IMAGE = "registry.example.com/gpu:1-$KERNEL_FULL_VERSION"
TAKING = "postBuild: {substitute: {TAG: '1'}, substituteFrom: [{kind: ConfigMap, name: vars}]}"
OPEN = MODULE.replace(IMAGE, "${REGISTRY}/gpu:${TAG}").replace("card: x", "card: '${CARD}'")
OTHER = MODULE.replace("name: gpu", "name: other")


def flux(path: str, spec: str) -> str:
    return f"{kustomization(path).rstrip()[:-1]}, {spec}}}\n"


def values(namespace: str = "f", **data: str) -> str:
    return (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: vars, namespace: {namespace}}}\ndata: {json.dumps(data)}\n"
    )


def rules(done: Done) -> list[str]:
    return sorted({line.rpartition("[")[2].partition("]")[0] for line in done.text.splitlines() if ": error:" in line})


LAB = values(REGISTRY="registry.example.com", CARD="x")
ELSEWHERE = values(REGISTRY="registry.example.com", CARD="z")
BASE = root("a", OPEN) | root("b", OTHER) | {"clusters/lab/b.yaml": kustomization("b")}
AT = {"clusters/lab/a.yaml": flux("a", TAKING)}
PATCHED = "resources: [vars.yaml, a.yaml, b.yaml]\npatches: [{path: p.yaml}]\n"
FILES: dict[str, tuple[dict[str, str], list[str], bool]] = {
    "of its cluster": (AT | {"clusters/lab/vars.yaml": LAB}, ["KRM304"], False),
    "of others": (AT | {"clusters/lab/vars.yaml": ELSEWHERE}, [], False),
    "of the cluster of its object": (
        {"clusters/lab/a.yaml": flux("a", f"kubeConfig: {{secretRef: {{name: lab}}}}, {TAKING}")}
        | {"clusters/lab/b.yaml": flux("b", "kubeConfig: {secretRef: {name: lab}}"), "clusters/lab/vars.yaml": LAB}
        | {"clusters/lab/self.yaml": kustomization("c"), "c/kustomization.yaml": "resources: []\n"},
        ["KRM304"],
        False,
    ),
    "of another cluster": (AT | {"clusters/prod/vars.yaml": LAB, "clusters/prod/b.yaml": kustomization("b")}, [], True),
    "of another namespace": (AT | {"clusters/lab/vars.yaml": values("g", CARD="x")}, [], True),
    "twice": (AT | {"clusters/lab/vars.yaml": LAB, "clusters/lab/more.yaml": LAB}, [], True),
    "with variables of its own": (AT | {"clusters/lab/vars.yaml": values(CARD="${X}")}, [], True),
    "patched": (
        AT | {"clusters/lab/vars.yaml": LAB, "clusters/lab/kustomization.yaml": PATCHED, "clusters/lab/p.yaml": LAB},
        [],
        True,
    ),
    "of a Secret": ({"clusters/lab/a.yaml": flux("a", TAKING.replace("ConfigMap", "Secret"))}, [], True),
    "disabled": (
        AT
        | {
            "clusters/lab/vars.yaml": LAB,
            "a/a.yaml": OPEN.replace("kmm}", "kmm, labels: {kustomize.toolkit.fluxcd.io/substitute: disabled}}"),
        },
        ["KRM224"],
        False,
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_variables_are_those_of_config_maps_in_the_cluster(name: str, tmp_path: Path) -> None:
    files, errors, is_told = FILES[name]
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, BASE | files))
    assert (rules(done), "[KRM547]" in done.text) == (errors, is_told), done.text
    assert is_told or not errors or "a/a.yaml:5:3: error" in done.text or name == "disabled"


def test_one_folder_has_the_variables_of_each_cluster(tmp_path: Path) -> None:
    files = BASE | AT | {"clusters/lab/vars.yaml": ELSEWHERE}
    files |= {path.replace("lab", "prod"): text for path, text in files.items() if path.startswith("clusters/")}
    files["clusters/prod/vars.yaml"] = LAB
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, files)).ended(1)
    assert [line.endswith("[KRM304] (prod)") for line in done.text.splitlines() if ": error:" in line] == [True]


def test_loose_files_have_variables_and_metadata(tmp_path: Path) -> None:
    spec = "postBuild: {substitute: {CARD: x}}, commonMetadata: {annotations: {%s: disabled}}"
    key = "kustomize.toolkit.fluxcd.io/reconcile"
    files = {"a/a.yaml": MODULE.replace("card: x", "card: '${CARD}'"), "clusters/lab/a.yaml": flux("a", spec % key)}
    done = process(
        "krmfn",
        "check",
        ".",
        cwd=repository(tmp_path, files | root("b", OTHER) | {"clusters/lab/b.yaml": kustomization("b")}),
    )
    assert rules(done) == ["KRM304"]
    assert "KRM547" not in done.text


def test_metadata_of_flux_is_judged(tmp_path: Path) -> None:
    key = "kustomize.toolkit.fluxcd.io/reconcile"
    files = root("a", MODULE) | {
        "clusters/lab/a.yaml": flux("a", f"commonMetadata: {{annotations: {{{key}: disabled}}}}")
    }
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, files))
    assert key in done.text
    assert "KRM547" not in done.text


def test_configs_are_rendered_before(tmp_path: Path) -> None:
    text = config("a", "card: '${CARD}'")
    files = root("a", text) | {"clusters/lab/a.yaml": flux("a", "postBuild: {substitute: {CARD: x}}")}
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, files | {"clusters/lab/f.yaml": SOURCE}))
    assert "[KRM548]" in done.text


@pytest.mark.parametrize("path", ["clusters/lab/vars.yaml", "clusters/lab/a.yaml"])
def test_another_value_is_a_change(path: str, tmp_path: Path) -> None:
    repo = repository(tmp_path, BASE | AT | {"clusters/lab/vars.yaml": ELSEWHERE})
    altered(repo / path, *(('"z"', '"w"') if "vars" in path else ("TAG: '1'", "TAG: '2'")))
    done = process("krmfn", "diff", "--base", "main", ".", "--format", "json", cwd=repo)
    changes = json.loads(done.out)["changes"]
    assert [(row["change"], row["ref"]["name"]) for row in changes if row["ref"]["kind"] == "Module"] == [
        ("changed", "gpu")
    ]
