"""The functionConfig: three ways to give it, and what is said about a wrong one."""

from __future__ import annotations

from typing import Any

import pytest
from krmfn_functions.rendering import function_config

from krmfn import KrmfnError, ResourceList


def read(config: dict[str, Any] | None, **options: str) -> tuple[function_config.FunctionConfig, list[str]]:
    resources = ResourceList(function_config=config)
    resources.options = {name.replace("_", "-"): value for name, value in options.items()}
    found, problems = function_config.read(resources)
    return found._replace(source=function_config.Source()), [str(problem) for problem in problems]


def ours(spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "krmfn.dev/v1alpha1",
        "kind": "RenderDeviceConfigs",
        "metadata": {"name": "render"},
        "spec": spec,
    }


def config_map(**data: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": data}


@pytest.mark.parametrize("config", [None, {}, ours({}), config_map()])
def test_nothing_said_is_the_defaults(config: dict[str, Any] | None) -> None:
    assert read(config) == (function_config.FunctionConfig(), [])


def test_everything_said() -> None:
    found, problems = read(
        ours(
            {
                "namespace": "kmm",
                "defaults": {"moduleName": "a"},
                "profiles": {"p": {"moduleName": "b"}},
                "kmm": {"version": "2.4"},
                "exclusivity": {"mode": "off"},
                "adopt": True,
                "prune": False,
                "partialView": "allow",
                "annotations": {"a": "b"},
            }
        )
    )
    assert problems == []
    assert found == function_config.FunctionConfig(
        {"moduleName": "a"}, {"p": {"moduleName": "b"}}, "kmm", "2.4", "off", True, "never", True, {"a": "b"}
    )


def test_a_config_map_has_paths_and_strings() -> None:
    found, problems = read(
        config_map(
            **{
                "exclusivity.mode": "nodes",
                "adopt": "true",
                "prune": "false",
                "kmm.version": "2.5",
                "defaults.moduleName": "a",
                "defaults.imagePullPolicy": "Always",
            }
        )
    )
    assert problems == []
    assert found.exclusivity == "nodes"
    assert (found.adopt, found.prune, found.kmm_version) == (True, "never", "2.5")
    assert found.defaults == {"moduleName": "a", "imagePullPolicy": "Always"}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            {"exclusivty.mode": "nodes"},
            "data[exclusivty.mode]: unknown field 'exclusivty'; did you mean 'exclusivity'?",
        ),
        ({"exclusivity.mode": "maybe"}, "data[exclusivity.mode]: is 'maybe'; must be one of"),
        ({"adopt": "yes"}, "data[adopt]: is the string 'yes'; must be true or false"),
        ({"kmm": "2.6"}, "data[kmm]: is the string '2.6'; must be a mapping"),
        ({"kmm": "a", "kmm.version": "2.6"}, "data[kmm]"),
    ],
)
def test_a_config_map_s_findings_name_its_own_keys(data: dict[str, Any], said: str) -> None:
    _, problems = read(config_map(**data))
    assert len(problems) == 1
    assert problems[0].startswith("error: ConfigMap settings: ")
    assert said in problems[0]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (
            {"apiVersion": "example.com/v1", "kind": "SetLabels"},
            "example.com/v1 SetLabels; expected krmfn.dev/v1alpha1",
        ),
        (
            {"apiVersion": "apps/v1", "kind": "ConfigMap", "metadata": {"name": "a"}},
            "functionConfig is apps/v1 ConfigMap",
        ),
        ({"kind": "RenderDeviceConfigs"}, "functionConfig is"),
        ({"data": {}}, "functionConfig is"),
        (ours({"profile": {}}), "did you mean 'profiles'?"),
        (ours({"profiles": {"a": {"moduelName": "x"}}}), "did you mean 'moduleName'?"),
        (ours({"defaults": []}), "spec.defaults: is a list; must be a mapping"),
        (config_map() | {"data": ["a"]}, "data: must be a mapping of settings to strings"),
    ],
)
def test_a_wrong_function_config_is_told(config: dict[str, Any], said: str) -> None:
    found, problems = read(config)
    assert found == function_config.FunctionConfig()
    assert any(said in problem for problem in problems), problems


def test_who_wins_for_the_namespace() -> None:
    assert read(None, fallback_namespace="argo")[0].namespace == "argo"
    assert read(ours({"namespace": "git"}), fallback_namespace="argo")[0].namespace == "git"
    assert read(ours({"namespace": "git"}), fallback_namespace="argo", namespace="said")[0].namespace == "said"


def test_an_unknown_profile_is_told_with_the_known_ones() -> None:
    known = function_config.FunctionConfig(profiles={"b": {}, "a": {}})
    assert function_config.profile_findings("", "spec.profile", known) == []
    assert function_config.profile_findings("a", "spec.profile", known) == []
    (finding,) = function_config.profile_findings("c", "spec.profile", known)
    assert finding.message == "profile 'c' is not defined; the functionConfig's spec.profiles has: a, b"
    (finding,) = function_config.profile_findings("c", "spec.profile", function_config.FunctionConfig())
    assert finding.message == "profile 'c' is not defined; no functionConfig defines spec.profiles"


@pytest.mark.parametrize(
    ("value", "meaning"),
    [(True, "auto"), (False, "never"), ("auto", "auto"), ("always", "always"), ("never", "never"), (None, "auto")],
)
def test_what_becomes_of_left_overs(value: Any, meaning: str) -> None:
    found, problems = read(ours({} if value is None else {"prune": value}))
    assert (found.prune, problems) == (meaning, [])


@pytest.mark.parametrize("value", [1, 0, "yes", "Always", "", None, ["auto"]])
def test_another_word_for_prune_is_refused(value: Any) -> None:
    _, problems = read(ours({"prune": value}))
    assert len(problems) == 1
    assert problems[0].endswith("[KRM110]")


def test_the_option_prune_wins_and_is_checked() -> None:
    resources = ResourceList()
    resources.function_config = ours({"prune": "always"})
    resources.options = {"prune": "never"}
    assert function_config.read(resources)[0].prune == "never"
    resources.options = {"prune": "maybe"}
    with pytest.raises(KrmfnError, match="--prune is 'maybe'; it must be one of auto, always, never"):
        function_config.read(resources)
