"""Objects of engines that are wrong: a finding at each, bounded work, and the rest goes on."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.deployments.deployment import EngineObject, Problem, Repository
from krmfn_functions.deployments.holders import declared_by, deployments

from krmfn import Manifest, Place
from krmfn.resource import ref
from tests.call_counts import call_count
from tests.functions.deployments.test_deployments import REPOSITORY, URL, application, application_set, flux

GOOD = application("name: lab", "path: b")
GIT_REPO: Manifest = {
    "apiVersion": "fleet.cattle.io/v1alpha1",
    "kind": "GitRepo",
    "metadata": {"name": "x", "namespace": "fleet-default"},
    "spec": {"repo": URL, "paths": ["a"], "paused": False, "targets": [{"clusterName": "lab", "clusterGroup": "g"}]},
}
SOURCE: Manifest = {
    "apiVersion": "source.toolkit.fluxcd.io/v1",
    "kind": "GitRepository",
    "metadata": {"name": "flux-system", "namespace": "flux-system"},
    "spec": {"url": URL, "ref": {"branch": "main"}},
}
RELEASE: Manifest = {
    "apiVersion": "helm.toolkit.fluxcd.io/v2",
    "kind": "HelmRelease",
    "metadata": {"name": "r", "namespace": "flux-system"},
    "spec": {"suspend": False, "chart": {"spec": {"chart": "a", "sourceRef": {"kind": "GitRepository", "name": "r"}}}},
}
DIRECTORY = "path: a, directory: {recurse: true, include: '*', exclude: b}, kustomize: {namePrefix: x, patches: []}"
GIT = f"[{{git: {{repoURL: {URL}, directories: [{{path: sites/*, exclude: false}}], files: [{{path: a}}]}}}}]"
CHILDREN = "{generators: [{list: {elements: [{a: b}]}}, {clusters: {selector: {matchLabels: {a: b}}}}], mergeKeys: [a]}"
OBJECTS: dict[str, Manifest] = {
    "Application": application("name: lab", DIRECTORY, "syncPolicy: {automated: {prune: true}, syncOptions: [A=b]}"),
    "sources": application("server: https://a", "path: a", f"sources: [{{repoURL: {URL}, path: a, ref: x}}]"),
    "hydrator": application("name: lab", "path: a", f"sourceHydrator: {{drySource: {{repoURL: {URL}, path: a}}}}"),
    "git": application_set(GIT),
    "matrix": application_set(f"[{{matrix: {CHILDREN}}}]"),
    "merge": application_set(f"[{{merge: {CHILDREN}}}]"),
    "Kustomization": flux("a", "suspend: false, prune: true, kubeConfig: {secretRef: {name: x}}, components: [a]"),
    "GitRepository": SOURCE,
    "HelmRelease": RELEASE,
    "GitRepo": GIT_REPO,
}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text("a{}.*/[\\ ", max_size=6),
    lambda values: st.lists(values, max_size=2) | st.dictionaries(st.text("ab", max_size=2), values, max_size=2),
    max_leaves=4,
)


def read(*manifests: Manifest, file: str = "apps/all.yaml", repository: Repository = REPOSITORY) -> list[Problem]:
    """Return the problems of some objects, after which another Application is read all the same."""
    objects = [EngineObject(ref(m), m, Place(file, at, at + 1)) for at, m in enumerate((*manifests, GOOD))]
    deployed, problems = deployments(objects, declared_by(objects, repository), repository)
    assert ("lab", "b") in {(deployment.cluster, deployment.path) for deployment in deployed}
    return problems


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value in nested data."""
    for key, child in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(child, (*path, key))


def changed(manifest: Manifest, path: tuple[Any, ...], value: Any) -> Manifest:
    copy = deepcopy(manifest)
    *above, last = path
    target: Any = copy
    for key in above:
        target = target[key]
    target[last] = value
    return copy


@pytest.mark.parametrize("name", OBJECTS)
def test_what_is_right_has_no_problem_of_its_types(name: str) -> None:
    assert [problem for problem in read(OBJECTS[name]) if " must be " in problem.message] == []


@pytest.mark.parametrize("name", OBJECTS)
@given(data=st.data())
def test_any_value_anywhere_is_read(name: str, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([*places({"spec": OBJECTS[name]["spec"]})]))
    read(changed(OBJECTS[name], path, data.draw(VALUES)))


ANY = {"labels", "values", "a", "mergeKeys", "elements"}
"""Keys below which any value is right, or one of text."""


@pytest.mark.parametrize("name", OBJECTS)
def test_each_field_with_another_type_is_told_at_its_line(name: str) -> None:
    manifest = OBJECTS[name]
    for path in places({"spec": manifest["spec"]}):
        if not ANY.isdisjoint(path) or "generators" in path[3:]:  # the parameters, and the generators in others
            continue
        value: Any = manifest
        for key in path:
            value = value[key]
        wrong: Any = 7 if isinstance(value, (str, list, dict, bool)) else "7"
        problems = [p for p in read(SOURCE, changed(manifest, path, wrong)) if " must be " in p.message]
        assert [problem.source.place.line for problem in problems] == [2], path


def test_an_application_without_a_path_is_told() -> None:
    (problem,) = read(application("name: lab", "directory: {}"))
    assert (problem.source.place.line, problem.message) == (1, "has no path, so Argo CD deploys nothing of it")


@pytest.mark.parametrize(("path", "name"), [("{{.path.path", "lab"), ("{{.path.path}}", "{{.path.basename")])
def test_a_template_that_does_not_parse_is_told(path: str, name: str) -> None:
    problems = read(application_set("[{git: {directories: [{path: sites/*}]}}]", path, name))
    assert any("opens a template" in problem.message and problem.source.place.line == 1 for problem in problems)


def circle(number: int) -> list[EngineObject]:
    """Return Applications each of which deploys the folder with the next one, the last that with the first."""
    apps = [application("name: in-cluster", f"path: c{(at + 1) % number}") for at in range(number)]
    return [EngineObject(ref(app), app, Place(f"c{at}/app.yaml", 1, 1)) for at, app in enumerate(apps)]


def test_a_circle_of_applications_is_told_once() -> None:
    repository = REPOSITORY._replace(folders=("c0", "c1", "c2"))
    objects = circle(3)
    deployed, problems = deployments(objects, declared_by(objects, repository), repository)
    assert len(deployed) == 3
    (problem,) = problems
    assert (problem.source.place.path, "deploy each other" in problem.message) == ("c0/app.yaml", True)


def test_an_application_that_deploys_itself_is_no_circle() -> None:
    app = application("name: in-cluster", "path: a")
    objects = [EngineObject(ref(app), app, Place("a/app.yaml", 1, 1))]
    assert deployments(objects, declared_by(objects, REPOSITORY), REPOSITORY)[1] == []


def work(objects: list[EngineObject], repository: Repository) -> int:
    """Return how many calls it takes to read some objects."""
    return call_count(lambda: deployments(objects, declared_by(objects, repository), repository))[1]


def in_one_file(number: int) -> list[EngineObject]:
    apps = [application("name: in-cluster", f"path: c{at}") for at in range(number)]
    return [EngineObject(ref(app), app, Place("apps/all.yaml", at, at + 1)) for at, app in enumerate(apps)]


def in_a_file_each(number: int) -> list[EngineObject]:
    return [item._replace(place=Place(f"apps/{at}.yaml", 1, 1)) for at, item in enumerate(in_one_file(number))]


@pytest.mark.parametrize("made", [in_one_file, in_a_file_each, circle])
def test_the_work_grows_with_the_number(made: Any) -> None:
    numbers = 500, 1000
    folders = REPOSITORY._replace(folders=("apps", *(f"c{at}" for at in range(1000))))
    once, twice = (work(made(number), folders) for number in numbers)
    assert twice < 2.4 * once, (once, twice)


def test_a_repository_that_nobody_can_name_may_be_this_one() -> None:
    """It was passed over as another one: nobody was told that it may deploy something here."""
    url = "{{metadata.annotations.repo}}"
    problems = read(application(url=url))
    assert [problem.message.partition(",")[0] for problem in problems] == [f"which repository {url} is"]
    assert read(application(source="chart: a", url=url)) == []
