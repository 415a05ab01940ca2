"""The shipped plugin.yaml under Argo CD's own plugin server: what an Application gets, or why it gets nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.commands import COMMANDS, HANGS, ROOT, environment
from tests.pages import blocks
from tests.trees import altered, plant

from .argo import PLUGIN, PROGRAMS, Plugin, plugin
from .control_plane import wait
from .engines import EXAMPLES, RENDERED, documents, run

FOLDERS = [*RENDERED, "two-teams/team-a", "two-teams/team-b"]
MANY, AT_ONCE = 200, 20


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plugin]:
    with plugin(tmp_path_factory.mktemp("cmp")) as running:
        yield running


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the smallest config of the examples in `lab`."""
    shutil.copytree(EXAMPLES / "smallest", tmp_path / "repository" / "lab")
    return tmp_path / "repository"


def sentence(folder: Path) -> str:
    """What `krmfn render .` says there on a terminal."""
    done = run(COMMANDS / "krmfn", "render", ".", cwd=folder, env=environment(ARGOCD_APP_NAMESPACE="kmm"))
    assert (done.out, done.code != 0) == (b"", True)
    return done.err.strip()


@pytest.mark.parametrize("example", FOLDERS)
def test_every_example_is_served(server: Plugin, example: str) -> None:
    done = run(COMMANDS / "krmfn", "render", ".", cwd=EXAMPLES / example, env=environment(ARGOCD_APP_NAMESPACE="kmm"))
    assert done.code == 0, done.err
    expected = documents(done.out)
    assert server.manifests(EXAMPLES, example) == expected != []
    assert server.remains() == []


def test_a_conflict_is_the_sentence_of_the_terminal(server: Plugin) -> None:
    refusal = server.refusal(EXAMPLES, "conflict")
    assert 'error generating manifests: `sh -c "krmfn render .; exit $?"` failed exit status 1: ' in refusal
    assert sentence(EXAMPLES / "conflict") in refusal
    assert server.remains() == []


def loop(lab: Path) -> None:
    (lab / "kustomization.yaml").write_text("resources: [deviceconfig.yaml, sub]\n")
    plant(lab, {"sub/kustomization.yaml": "resources: [../../lab]\n"})


def misspelt(lab: Path) -> None:
    altered(lab / "deviceconfig.yaml", "moduleName", "moduelName")


def broken(lab: Path) -> None:
    (lab / "broken.yaml").write_text("apiVersion: v1\nkind: ConfigMap\ndata: [\n")


def empty(lab: Path) -> None:
    for path in lab.iterdir():
        path.unlink()
    (lab / "README.md").write_text("nothing here\n")


@pytest.mark.parametrize("damage", [loop, misspelt, broken, empty], ids=lambda damage: str(damage.__name__))
def test_bad_input_is_the_sentence_of_the_terminal(server: Plugin, repository: Path, damage: object) -> None:
    assert callable(damage)
    damage(repository / "lab")
    refusal = server.refusal(repository, "lab")
    assert sentence(repository / "lab") in refusal
    assert "Traceback" not in refusal
    assert server.remains() == []


def test_a_missing_kustomize_is_named(repository: Path, tmp_path: Path) -> None:
    (repository / "lab" / "kustomization.yaml").write_text("resources: [deviceconfig.yaml]\n")
    only_ours = plant(tmp_path / "bin", {"krmfn": f"-> {COMMANDS / 'krmfn'}", "sh": "-> /bin/sh"})
    with plugin(tmp_path, (only_ours,)) as bare:
        refusal = bare.refusal(repository, "lab")
    assert "neither kustomize nor kubectl is on PATH: install one" in refusal


def test_a_large_folder_changes_nothing(server: Plugin, repository: Path) -> None:
    """100 MB that krmfn has no business with."""
    with (repository / "lab" / "firmware.bin").open("wb") as file:
        file.truncate(100 << 20)
    assert [manifest["kind"] for manifest in server.manifests(repository, "lab")] == ["Module"]
    assert server.remains() == []


def test_many_requests_at_once_get_the_same_answer(server: Plugin, repository: Path) -> None:
    [answer] = server.ask(repository, "lab")
    assert answer.error == ""
    assert server.ask(repository, "lab", times=MANY, at_once=AT_ONCE) == [answer] * MANY
    assert server.remains() == []


def test_an_ended_request_leaves_nothing(repository: Path, tmp_path: Path) -> None:
    """The repo-server gives up while kustomize runs: the server kills the shell, and krmfn gets SIGTERM."""
    (repository / "lab" / "kustomization.yaml").write_text("resources: [deviceconfig.yaml]\n")
    started = tmp_path / "started"
    slow = f"#!/bin/sh\necho $$ $PPID > {started}.new\n/bin/mv {started}.new {started}\nexec /bin/sleep 600\n"
    programs = plant(tmp_path / "bin", {"kustomize": slow})
    with plugin(tmp_path, (programs, *PROGRAMS), env={"KRMFN_CONFINE": "off"}) as server:
        client = server.start(repository, "lab")
        wait("kustomize runs", 120, started.exists)
        assert any(path.name.startswith("krmfn-") for path in server.remains()), "kustomize builds in such a folder"
        client.kill()
        client.wait(HANGS)
        pids = [Path("/proc", pid) for pid in started.read_text().split()]
        wait("nothing runs and nothing is left", 120, lambda: not server.remains() and not any(map(Path.exists, pids)))


SETTINGS = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: settings}
spec: {defaults: {annotations: {lab: two}}}
"""
PARAMETERS = '[{"name": "function-config", "string": "../settings.yaml"}, {"name": "kmm-version", "string": "main"}]'


def test_parameters_and_variables_arrive(server: Plugin, repository: Path) -> None:
    (repository / "settings.yaml").write_text(SETTINGS)
    by_parameter = server.manifests(repository, "lab", ARGOCD_APP_PARAMETERS=PARAMETERS)
    assert by_parameter[0]["metadata"]["annotations"]["lab"] == "two"
    variables = {"ARGOCD_ENV_FUNCTION_CONFIG": "../settings.yaml", "ARGOCD_ENV_KMM_VERSION": "main"}
    assert server.manifests(repository, "lab", **variables) == by_parameter


def test_the_settings_of_the_page_do_what_it_says(server: Plugin, repository: Path) -> None:
    """The Application of the README: parameters in JSON, variables with the prefix that the repo-server gives them."""
    [block] = [entry.text for entry in blocks(ROOT / "docs/engines/argocd.md") if "KMM_VERSION" in entry.text]
    settings = yaml.safe_load(block)["spec"]["source"]["plugin"]
    assert settings["name"] == yaml.safe_load(PLUGIN.read_text())["metadata"]["name"]
    env = {f"ARGOCD_ENV_{entry['name']}": entry["value"] for entry in settings["env"]}
    env["ARGOCD_APP_PARAMETERS"] = json.dumps(settings["parameters"])
    (repository / "clusters").mkdir()
    (repository / "lab").rename(repository / "clusters" / "lab")
    plant(repository, {"settings/lab.yaml": SETTINGS})
    [module] = server.manifests(repository, "clusters/lab", **env)
    assert module["metadata"]["annotations"]["lab"] == "two"
    assert "kmm version '1.55' is not known" in server.refusal(
        repository, "clusters/lab", **env | {"ARGOCD_ENV_KMM_VERSION": "1.55"}
    )


def test_a_parameter_of_the_wrong_type_is_a_sentence(server: Plugin, repository: Path) -> None:
    refusal = server.refusal(repository, "lab", ARGOCD_APP_PARAMETERS='[{"name": "prune", "array": ["never"]}]')
    assert refusal.endswith("failed exit status 2: error: the parameter prune must be a string, not an array")


def test_the_parameters_are_announced(server: Plugin, repository: Path) -> None:
    announced = yaml.safe_load(PLUGIN.read_text())["spec"]["parameters"]["static"]
    parameters = server.announced(repository)
    assert [{key: parameter[key] for key in ("name", "title", "tooltip")} for parameter in parameters] == announced
