"""The functionConfig: three ways to give it, and what is reported about a wrong one."""

from __future__ import annotations

from typing import Any

import pytest
from krmfn_functions.rendering.function_config import FunctionConfig, Source
from krmfn_functions.rendering.function_config import read as read_config
from krmfn_functions.rendering.undriven import profile_findings
from krmfn_functions.run import note
from krmfn_functions.settings import Settings

from krmfn import KrmfnError, ResourceList
from tests.builders import function_config, manifest


def read(config: dict[str, Any] | None, fallback_namespace: str = "", **flags: str) -> tuple[FunctionConfig, list[str]]:
    resources = ResourceList(function_config=config)
    flags = {name.replace("_", "-"): value for name, value in flags.items()}
    note(resources, settings=Settings(fallback_namespace=fallback_namespace, flags=flags))
    parsed, problems = read_config(resources)
    return parsed._replace(source=Source()), [str(problem) for problem in problems]


def config_map(**data: Any) -> dict[str, Any]:
    return {**manifest("v1", "ConfigMap", "settings", ""), "data": data}


@pytest.mark.parametrize("config", [None, {}, function_config(), config_map()])
def test_an_empty_function_config_is_the_defaults(config: dict[str, Any] | None) -> None:
    assert read(config) == (FunctionConfig(), [])


def test_every_field_is_read() -> None:
    parsed, problems = read(
        function_config(
            namespace="kmm",
            defaults={"moduleName": "a"},
            profiles={"p": {"moduleName": "b"}},
            kmm={"version": "2.4"},
            exclusivity={"mode": "off"},
            adopt=True,
            prune=False,
            partialView="allow",
            annotations={"a": "b"},
        )
    )
    assert problems == []
    assert parsed == FunctionConfig(
        defaults={"moduleName": "a"},
        profiles={"p": {"moduleName": "b"}},
        namespace="kmm",
        kmm_version="2.4",
        exclusivity="off",
        adopt=True,
        prune="never",
        partial_view=True,
        annotations={"a": "b"},
        names_kmm=True,
    )


def test_a_config_map_has_paths_and_strings() -> None:
    data = {"exclusivity.mode": "nodes", "adopt": "true", "prune": "false", "kmm.version": "2.5"}
    data |= {"defaults.moduleName": "a", "defaults.imagePullPolicy": "Always"}
    parsed, problems = read(config_map(**data))
    assert problems == []
    assert (parsed.exclusivity, parsed.adopt, parsed.prune, parsed.kmm_version) == ("nodes", True, "never", "2.5")
    assert parsed.defaults == {"moduleName": "a", "imagePullPolicy": "Always"}


MISSPELT = "data[exclusivty.mode]: unknown field 'exclusivty' (in the functionConfig)"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            {"exclusivty.mode": "nodes"},
            f"{MISSPELT}; did you mean 'exclusivity'?",
        ),
        ({"exclusivity.mode": "maybe"}, "data[exclusivity.mode]: is 'maybe'; must be one of"),
        ({"adopt": "yes"}, "data[adopt]: is the string 'yes'; must be true or false"),
        ({"kmm": "2.6"}, "data[kmm]: is the string '2.6'; must be a mapping"),
        ({"kmm": "a", "kmm.version": "2.6"}, "data[kmm]"),
    ],
)
def test_a_config_map_s_findings_name_its_own_keys(data: dict[str, Any], message: str) -> None:
    _, (problem,) = read(config_map(**data))
    assert problem.startswith("error: ConfigMap settings: ")
    assert message in problem


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (manifest("example.com/v1", "SetLabels"), "example.com/v1 SetLabels; expected krmfn.dev/v1alpha1"),
        (manifest("apps/v1", "ConfigMap"), "functionConfig is apps/v1 ConfigMap"),
        ({"kind": "RenderDeviceConfigs"}, "functionConfig is"),
        ({"data": {}}, "functionConfig is"),
        (function_config(profile={}), "did you mean 'profiles'?"),
        (function_config(profiles={"a": {"moduelName": "x"}}), "did you mean 'moduleName'?"),
        (function_config(defaults=[]), "spec.defaults: is a list; must be a mapping"),
        (config_map() | {"data": ["a"]}, "data: must be a mapping of settings to strings"),
    ],
)
def test_a_wrong_function_config_is_reported(config: dict[str, Any], message: str) -> None:
    parsed, problems = read(config)
    assert parsed == FunctionConfig()
    assert any(message in problem for problem in problems), problems


def test_the_order_of_the_namespace_s_sources() -> None:
    assert read(None, fallback_namespace="argo")[0].namespace == "argo"
    assert read(function_config(namespace="git"), fallback_namespace="argo")[0].namespace == "git"
    assert read(function_config(namespace="git"), fallback_namespace="argo", namespace="said")[0].namespace == "said"


def test_an_unknown_profile_is_reported_with_the_known_ones() -> None:
    known = FunctionConfig(profiles={"b": {}, "a": {}})
    assert profile_findings("", "spec.profile", known) == []
    assert profile_findings("a", "spec.profile", known) == []
    (finding,) = profile_findings("c", "spec.profile", known)
    assert finding.text == "profile 'c' is not defined; the functionConfig's spec.profiles has: a, b"
    (finding,) = profile_findings("c", "spec.profile", FunctionConfig())
    assert finding.text.startswith("profile 'c' is not defined, and no other is; list the Profile")


@pytest.mark.parametrize(
    ("value", "meaning"),
    [(True, "auto"), (False, "never"), ("auto", "auto"), ("always", "always"), ("never", "never"), (None, "auto")],
)
def test_the_meanings_of_prune(value: Any, meaning: str) -> None:
    parsed, problems = read(function_config(**{} if value is None else {"prune": value}))
    assert (parsed.prune, problems) == (meaning, [])


@pytest.mark.parametrize("value", [1, 0, "yes", "Always", "", None, ["auto"]])
def test_another_value_of_prune_is_refused(value: Any) -> None:
    _, (problem,) = read(function_config(prune=value))
    assert problem.endswith("[KRM110]")


def test_the_option_prune_wins_and_is_checked() -> None:
    assert read(function_config(prune="always"), prune="never")[0].prune == "never"
    with pytest.raises(KrmfnError, match="prune is 'maybe'; it must be one of auto, always, never"):
        read(function_config(prune="always"), prune="maybe")
