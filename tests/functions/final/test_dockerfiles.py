"""The Dockerfiles that Modules build from: the ConfigMap, the arguments, and where files land."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from krmfn_functions.final.judge import judge
from krmfn_functions.run import note

from krmfn import Manifest
from tests.builders import SPEC, device_config, edited, manifest, module, resource_list
from tests.commands import process
from tests.trees import plant

RULES = ("KMM083", "KRM615", "KRM616", "KRM617")
BUILD: Manifest = {"dockerfileConfigMap": {"name": "recipe"}}
MAPPING = "spec.moduleLoader.container.kernelMappings[0]"
NAME = f"{MAPPING}.build.dockerfileConfigMap.name"
DATA = "data.dockerfile"


def builds(*arguments: str, name: str = "gpu", **container: Any) -> Manifest:
    entries = [{"name": argument, "value": "1"} for argument in arguments]
    mapping = {"regexp": "^.+$", "build": {**BUILD, **({"buildArgs": entries} if entries else {})}}
    return module(mapping, name=name, **container)


def recipe(*lines: str, namespace: str = "kmm", key: str = "dockerfile") -> Manifest:
    return {**manifest("v1", "ConfigMap", "recipe", namespace), "data": {key: "\n".join(lines) + "\n"}}


def told(*manifests: Manifest, external: tuple[Manifest, ...] = ()) -> list[tuple[str, str, str]]:
    """Return rule, severity and field of each finding about Dockerfiles."""
    resources = resource_list(*manifests)
    note(resources, external=resource_list(*external) if external else None)
    found = [finding for finding in judge(resources, resources.items) if finding.rule in RULES]
    return [(finding.rule, finding.severity, finding.field.path if finding.field else "") for finding in found]


USES = recipe("FROM sdk", "RUN make V=$VERSION")
TAKES = recipe("FROM sdk", "ARG VERSION", "RUN make V=$VERSION")


@pytest.mark.parametrize(
    ("manifests", "expected"),
    [
        ([builds(), recipe("FROM sdk", key="Dockerfile")], [("KMM083", "error", NAME)]),
        ([builds(), edited(recipe(), ("data", {}))], [("KMM083", "error", NAME)]),
        ([builds(), recipe("FROM sdk", namespace="other")], [("KMM083", "warning", NAME)]),
        ([builds("VERSION"), USES], [("KRM615", "warning", DATA)]),
        ([builds(), recipe("FROM sdk", "RUN make V=$KERNEL_FULL_VERSION")], [("KRM615", "warning", DATA)]),
        ([builds(), recipe("FROM ${DTK_AUTO} AS builder")], [("KRM615", "warning", DATA)]),
        ([builds("VERSION"), recipe("FROM sdk")], [("KRM616", "info", f"{MAPPING}.build.buildArgs[0].name")]),
        ([builds(), recipe("FROM sdk", "COPY a.ko /lib/modules/x/")], [("KRM617", "warning", NAME)]),
        ([builds(), recipe("FROM sdk", "COPY a.ko /lib/modules/x/", "RUN /optional")], [("KRM617", "warning", NAME)]),
    ],
)
def test_what_is_wrong(manifests: list[Manifest], expected: list[tuple[str, str, str]]) -> None:
    assert told(*manifests) == expected


@pytest.mark.parametrize(
    "manifests",
    [
        [builds("VERSION"), TAKES],
        [builds()],
        [builds(), manifest("v1", "ConfigMap", "another")],
        [module(), recipe("FROM sdk", key="Dockerfile")],
        [builds("HTTPS_PROXY", "no_proxy"), recipe("FROM sdk")],
        [builds("VERSION"), recipe("ARG VERSION", "FROM sdk:$VERSION")],
        [builds("VERSION"), recipe("FROM sdk AS a", "ARG VERSION", "FROM a", "RUN make V=$VERSION")],
        [builds(), recipe("FROM sdk", "RUN make V=$OTHER")],
        [builds("VERSION"), recipe("to be filled in")],
        [builds(), recipe("FROM sdk", "COPY a.ko /opt/lib/modules/x/")],
        [builds(), recipe("FROM sdk AS a", "COPY a.ko /lib/modules/x/", "FROM scratch", "COPY --from=a /b /c")],
        [builds(), recipe("FROM sdk", "COPY a.ko /lib/modules/x/", "RUN mv /lib /opt/")],
        [builds(modprobe={"moduleName": "a", "dirName": "/"}), recipe("FROM sdk", "COPY a.ko /lib/modules/x/")],
        [builds(), recipe("FROM sdk", "WORKDIR /opt", "COPY a.ko ./lib/modules/x/")],
        [builds(), recipe("FROM sdk", "ENV TO=/opt", "COPY a.ko $TO/lib/modules/x/")],
        [builds("VERSION"), recipe("FROM sdk", 'RUN make config <<<"yes"', "ARG VERSION", "RUN make V=$VERSION")],
    ],
    ids=[
        *(
            "declared",
            "from elsewhere",
            "another one",
            "no build",
            "predefined",
            "in FROM",
            "of the base",
            "of the shell",
            "no FROM",
        ),
        *("below dirName", "of an early stage", "moved later", "dirName is the root"),
        *("below the working directory", "by a variable", "behind a here-string"),
    ],
)
def test_what_is_fine(manifests: list[Manifest]) -> None:
    assert told(*manifests) == []


def test_arguments_of_container_and_mapping_count_together() -> None:
    shared = {**BUILD, "buildArgs": [{"name": "VERSION", "value": "1"}]}
    assert told(builds(build=shared), TAKES) == []
    path = "spec.moduleLoader.container.build.buildArgs[0].name"
    assert told(builds(build=shared), recipe("FROM sdk")) == [("KRM616", "info", path)], "once"


def test_a_dockerfile_of_two_modules_is_judged_once() -> None:
    assert told(builds("VERSION"), builds(name="nic"), USES) == [("KRM615", "warning", DATA)]


def test_a_config_map_from_elsewhere() -> None:
    assert told(builds("VERSION"), external=(USES,)) == [("KRM615", "warning", NAME)]
    assert told(builds(), external=(recipe("FROM sdk", key="Dockerfile"),)) == [("KMM083", "error", NAME)]


def test_a_hub_builds_in_a_namespace_that_only_it_knows() -> None:
    spec = {"moduleSpec": builds("VERSION")["spec"], "spokeNamespace": "kmm", "selector": {}}
    hub = {**manifest("hub.kmm.sigs.x-k8s.io/v1beta1", "ManagedClusterModule", "gpu", ""), "spec": spec}
    assert told(hub, edited(USES, ("metadata.namespace", "hub"))) == [("KRM615", "warning", DATA)]
    assert told(hub, USES, edited(USES, ("metadata.namespace", "hub"))) == [], "which one is not known"


def test_of_a_config_with_places_and_turned_off(tmp_path: Path) -> None:
    config = device_config({**SPEC, "build": {**BUILD, "buildArgs": [{"name": "VERSION", "value": "1"}]}})
    plant(tmp_path, {"a.yaml": yaml.safe_dump(config), "b.yaml": yaml.safe_dump(USES)})
    done = process("krmfn", "check", ".", "--root", ".", cwd=tmp_path).ended(0)
    assert [line.split(":")[0] for line in done.text.splitlines() if "[KRM615]" in line] == ["b.yaml"]
    plant(tmp_path, {"b.yaml": yaml.safe_dump(recipe("FROM sdk"))})
    done = process("krmfn", "check", ".", "--root", ".", cwd=tmp_path).ended(0)
    assert [line.split(":")[0] for line in done.text.splitlines() if "[KRM616]" in line] == ["a.yaml"]
    off = edited(config, ("metadata.annotations", {"krmfn.dev/ignore": "KRM616: for a later Dockerfile"}))
    plant(tmp_path, {"a.yaml": yaml.safe_dump(off)})
    printed = process("krmfn", "check", ".", "--root", ".", cwd=tmp_path).ended(0).text
    assert "KRM616" not in printed and "KRM139" not in printed
