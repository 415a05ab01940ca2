"""Dockerfiles in ConfigMaps, and which of them a Module can name."""

from __future__ import annotations

from krmfn_functions.kmm.module import HUB_GROUP, HUB_KIND, Module, module_of
from krmfn_functions.kmm.recipes import dockerfiles, files_of

from krmfn import Manifest
from tests.builders import module

MAPS = [("a", "x"), ("a", "y"), ("b", "y"), ("c", "z")]
FILES = dockerfiles(
    [
        {"kind": "ConfigMap", "metadata": {"namespace": namespace, "name": name}, "data": {"dockerfile": f"{at}"}}
        for at, (namespace, name) in enumerate(MAPS)
    ]
)


def read(manifest: Manifest) -> Module:
    known = module_of(manifest)
    assert known
    return known


def test_a_module_names_those_of_its_namespace() -> None:
    of_a = module(name="m", namespace="a")
    assert files_of(of_a, read(of_a), FILES) == {"x": "0", "y": "1"}
    of_nobody = module(name="m", namespace="d")
    assert files_of(of_nobody, read(of_nobody), FILES) == {}


def test_a_hub_names_those_of_which_there_is_one() -> None:
    hub = {**module(name="m"), "apiVersion": f"{HUB_GROUP}/v1beta1", "kind": HUB_KIND}
    assert files_of(hub, read(module(name="m")), FILES) == {"x": "0", "z": "3"}


def test_nothing_is_looked_through_for_each_module() -> None:
    """With 1,000 Modules and 7,000 ConfigMaps that was a tenth of the work, and four times as much for the double."""
    modules = [module(name=name, namespace="a") for name in ("m", "n")]
    first, second = (files_of(manifest, read(manifest), FILES) for manifest in modules)
    assert first is second
