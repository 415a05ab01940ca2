"""What an Argo CD Application may set for its plugin, and what it may not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from tests.commands import ROOT, Done, process
from tests.trees import plant

SETTINGS = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: settings}
spec:
  defaults: {annotations: {lab: "one"}}
"""
NO_PARAMETERS = "ARGOCD_APP_PARAMETERS must be a list of parameters, each with a name and a string"


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """The path of an Application in a repository, with a functionConfig for it elsewhere in the repository."""
    path = tmp_path / "repository" / "clusters" / "lab"
    shutil.copytree(ROOT / "examples" / "smallest", path)
    plant(tmp_path, {"repository/settings.yaml": SETTINGS, "outside.yaml": SETTINGS})
    return path


def set_to(text: str) -> dict[str, str]:
    """Return the environment of an Application whose parameters are this text."""
    return {"ARGOCD_APP_PARAMETERS": text}


def parameters(**values: str) -> dict[str, str]:
    """Return the environment of an Application with these parameters."""
    return set_to(json.dumps([{"name": name.replace("_", "-"), "string": value} for name, value in values.items()]))


def prune(**value: object) -> dict[str, str]:
    """Return the environment of an Application whose parameter prune has a value of this type."""
    return set_to(json.dumps([{"name": "prune", **value}]))


def render(app: Path, *options: str, **environment: str) -> Done:
    """Run the plugin's command in an Application's path."""
    return process("krmfn", "render", *options, ".", cwd=app, ARGOCD_APP_SOURCE_PATH="clusters/lab", **environment)


def module(done: Done) -> dict[str, dict[str, dict[str, str]]]:
    assert done.code == 0, done.err
    [manifest] = yaml.safe_load_all(done.out)
    assert isinstance(manifest, dict)
    return manifest


def refusal(done: Done) -> str:
    """Why nothing was rendered."""
    assert (done.code, done.out) == (2, b"")
    return done.err.removeprefix("error: ").removesuffix("\n")


def test_without_settings_nothing_is_different(app: Path) -> None:
    plain = process("krmfn", "render", ".", cwd=app)
    for none in ("", "[]", "null"):
        assert render(app, ARGOCD_APP_PARAMETERS=none) == plain


@pytest.mark.parametrize(
    "environment",
    [
        parameters(function_config="../../settings.yaml"),
        {"ARGOCD_ENV_FUNCTION_CONFIG": "../../settings.yaml"},
        {"ARGOCD_ENV_FUNCTION_CONFIG": "../../settings.yaml"} | parameters(function_config="../../settings.yaml"),
    ],
    ids=["parameter", "variable", "both alike"],
)
def test_a_file_of_the_repository_is_the_function_config(environment: dict[str, str], app: Path) -> None:
    assert module(render(app, **environment))["metadata"]["annotations"]["lab"] == "one"


def test_the_kmm_version_decides_what_is_refused(app: Path) -> None:
    config = app / "deviceconfig.yaml"
    config.write_text(config.read_text() + "  dra: {driverName: gaudi.example.com, image: registry.example.com/d:1}\n")
    newest = render(app, ARGOCD_ENV_KMM_VERSION="main").ended(0)
    assert newest == render(app, **parameters(kmm_version="main"))
    assert render(app).code == 1


def test_a_parameter_is_what_the_option_is(app: Path) -> None:
    done = render(app, **parameters(prune="sometimes"))
    assert done == render(app, "--prune", "sometimes")
    assert refusal(done) == "prune is 'sometimes'; it must be one of auto, always, never"


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        (
            parameters(kustomize="--enable-helm"),
            "krmfn has no parameter 'kustomize'; it has function-config, kmm-version, namespace, profiles-from, prune",
        ),
        (
            {"ARGOCD_ENV_KMM_VERSON": "2.5"},
            "krmfn has no variable KMM_VERSON (ARGOCD_ENV_KMM_VERSON); "
            "it has FUNCTION_CONFIG, KMM_VERSION, NAMESPACE, PROFILES_FROM, PRUNE",
        ),
        (prune(array=["never"]), "the parameter prune must be a string, not an array"),
        (prune(map={"a": "never"}), "the parameter prune must be a string, not a map"),
        (prune(), "the parameter prune must be a string, not empty"),
        (prune(string=1), "the parameter prune must be a string, not 1"),
        (prune(string=""), "the parameter prune is empty; set a value, or remove it"),
        ({"ARGOCD_ENV_PRUNE": ""}, "ARGOCD_ENV_PRUNE is empty; set a value, or remove it"),
        (
            parameters(kmm_version="2.5") | {"ARGOCD_ENV_KMM_VERSION": "2.6"},
            "the parameter kmm-version is '2.5', and ARGOCD_ENV_KMM_VERSION is '2.6'; set it once",
        ),
        (
            set_to(json.dumps([{"name": "prune", "string": value} for value in ("auto", "never")])),
            "the parameter prune is 'auto', and the parameter prune is 'never'; set it once",
        ),
        (set_to('{"prune": "never"}'), NO_PARAMETERS),
        (set_to('["prune"]'), NO_PARAMETERS),
        (set_to("prune"), "ARGOCD_APP_PARAMETERS is not valid JSON: Expecting value: line 1 column 1 (char 0)"),
    ],
)
def test_what_cannot_be_meant_is_refused(environment: dict[str, str], sentence: str, app: Path) -> None:
    assert refusal(render(app, **environment)) == sentence


def test_plugin_yaml_and_an_application_must_not_contradict(app: Path) -> None:
    done = render(app, "--kmm-version", "2.5", ARGOCD_ENV_KMM_VERSION="2.6")
    assert refusal(done) == "--kmm-version is '2.5', and ARGOCD_ENV_KMM_VERSION is '2.6'; set it once"
    assert render(app, "--kmm-version", "2.5", ARGOCD_ENV_KMM_VERSION="2.5").code == 0
    file = app.parents[1] / "settings.yaml"
    assert "set it once" in refusal(render(app, "--function-config", str(file), ARGOCD_ENV_FUNCTION_CONFIG="other"))


def test_no_file_outside_the_repository_is_read(app: Path) -> None:
    """An error about it would show its text to whoever edits the Application."""
    (app / "link.yaml").symlink_to(app.parents[2] / "outside.yaml")
    for name in ("../../../outside.yaml", "/etc/passwd", "link.yaml", str(app.parents[1] / "settings.yaml")):
        reason = refusal(render(app, ARGOCD_ENV_FUNCTION_CONFIG=name))
        assert reason == (
            f"ARGOCD_ENV_FUNCTION_CONFIG is {name!r}; it must be a file in the repository, named relative to the "
            "Application's path"
        )


def test_a_file_that_is_not_there_is_said(app: Path) -> None:
    assert "settings.yaml: No such file" in refusal(render(app, ARGOCD_ENV_FUNCTION_CONFIG="settings.yaml"))


def test_commands_that_read_no_resources_do_not_ask(app: Path) -> None:
    assert process("krmfn", "rules", cwd=app, ARGOCD_ENV_ELSE="1").code == 0
