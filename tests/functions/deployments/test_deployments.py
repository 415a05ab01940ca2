"""Which root reaches which cluster: Applications, ApplicationSets, Flux's Kustomizations, Fleet's GitRepos."""

from __future__ import annotations

import pytest
import yaml
from krmfn_functions.deployments.deployment import EngineObject, Repository, normal_path, normal_url
from krmfn_functions.deployments.holders import declared_by, deployments
from krmfn_functions.deployments.names import key_of, of_folders, of_server
from krmfn_functions.deployments.templates import filled

from krmfn import Manifest, Place
from krmfn.resource import ref

URL = "https://git.example.com/shop/fleet.git"
FOLDERS = ("a", "apps", "apps/x", "b", "clusters", "clusters/lab", "clusters/prod", "sites", "sites/lab", "sites/prod")
REPOSITORY = Repository(frozenset({URL}), FOLDERS)
Rows = list[tuple[str, str, str, str]]


def rows(files: dict[str, list[Manifest]], repository: Repository = REPOSITORY) -> Rows:
    """Return cluster, path, engine and how of each deployment that the objects in some files make."""
    objects = [
        EngineObject(ref(m), m, Place(file, at, at + 1)) for file, ms in files.items() for at, m in enumerate(ms)
    ]
    found, _ = deployments(objects, declared_by(objects, repository), repository)
    rows_of = ((one.cluster, one.path, one.declaration.engine, one.declaration.how) for one in found)
    return [row for row in rows_of if row[2] != "none"]


def problems(*manifests: Manifest) -> list[str]:
    objects = [EngineObject(ref(m), m, Place("apps/all.yaml", at, at + 1)) for at, m in enumerate(manifests)]
    return [problem.message for problem in deployments(objects, declared_by(objects, REPOSITORY), REPOSITORY)[1]]


def application(destination: str = "name: lab", source: str = "path: a", spec: str = "", url: str = URL) -> Manifest:
    text = f"{{source: {{repoURL: '{url}', {source}}}, destination: {{{destination}}}, {spec}}}"
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "x"}} | {
        "spec": yaml.safe_load(text)
    }


def application_set(generators: str, path: str = "{{.path.path}}", name: str = "{{.path.basename}}") -> Manifest:
    template = {"source": {"repoURL": URL, "path": path}, "destination": {"name": name}}
    is_go = "{{." in path + name or "{{ ." in path + name or "index" in path
    spec = {"goTemplate": is_go, "generators": yaml.safe_load(generators), "template": {"spec": template}}
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": {"name": "x"}, "spec": spec}


def flux(path: str, spec: str = "", name: str = "x", kind: str = "GitRepository") -> Manifest:
    fields = yaml.safe_load(f"{{path: {path}, sourceRef: {{kind: {kind}, name: flux-system}}, {spec}}}")
    metadata = {"name": name, "namespace": "flux-system"}
    return {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": metadata,
        "spec": fields,
    }


def git_repository(url: str) -> Manifest:
    metadata = {"name": "flux-system", "namespace": "flux-system"}
    return {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "GitRepository",
        "metadata": metadata,
        "spec": {"url": url},
    }


def artifacts(*copies: str) -> Manifest:
    """Return the generator of an artifact `flux-system`; each copy is `FROM > TO`."""
    parts = [dict(zip(("from", "to"), copy.split(" > "), strict=True)) for copy in copies]
    return {
        "apiVersion": "source.extensions.fluxcd.io/v1beta1",
        "kind": "ArtifactGenerator",
        "metadata": {"name": "x", "namespace": "flux-system"},
        "spec": {
            "sources": [{"alias": "repo", "kind": "GitRepository", "name": "flux-system"}],
            "artifacts": [{"name": "flux-system", "copy": parts}],
        },
    }


ARTIFACTS: dict[str, tuple[str, list[str], str]] = {
    "a folder": ("./prod", ["@repo/sites/** > @artifact/"], "sites/prod"),
    "below a folder of it": ("./x/lab", ["@repo/sites/** > @artifact/x/"], "sites/lab"),
    "one of several": ("./p", ["@repo/a/** > @artifact/base/", "@repo/sites/prod/** > @artifact/p/"], "sites/prod"),
    "over another": ("./p/lab", ["@repo/a/** > @artifact/", "@repo/sites/** > @artifact/p/"], "sites/lab"),
    "all of it": ("sites/lab", ["@repo/** > @artifact/"], "sites/lab"),
    "put together": ("./", ["@repo/a/** > @artifact/a/", "@repo/b/** > @artifact/b/"], ""),
    "two in one": ("./x", ["@repo/a/** > @artifact/x/", "@repo/b/** > @artifact/x/"], ""),
    "some files": ("./x", ["@repo/a/*.yaml > @artifact/x/"], ""),
    "another artifact": ("./x", [], ""),
}


@pytest.mark.parametrize("name", ARTIFACTS)
def test_an_artifact_is_made_of_folders(name: str) -> None:
    path, copies, folder = ARTIFACTS[name]
    objects = [flux(path, kind="ExternalArtifact"), *([artifacts(*copies)] if copies else [])]
    assert rows({"clusters/lab/a.yaml": objects}) == ([("lab", folder, "flux", "raw")] if folder else [])
    message = "which folder it applies of ExternalArtifact flux-system is not known"
    assert problems(*objects) == ([] if folder else [message])


def test_an_artifact_of_another_repository_is_not_ours() -> None:
    objects = [flux("./lab", kind="ExternalArtifact"), artifacts("@repo/sites/** > @artifact/")]
    other = git_repository("https://x.example.com/o.git")
    assert rows({"clusters/lab/a.yaml": [*objects, other]}) == []


def fleet(spec: str, namespace: str = "fleet-default") -> Manifest:
    metadata = {"name": "x", "namespace": namespace}
    fields = yaml.safe_load(f"{{repo: '{URL}', {spec}}}")
    return {"apiVersion": "fleet.cattle.io/v1alpha1", "kind": "GitRepo", "metadata": metadata, "spec": fields}


SECRET: Manifest = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "s", "labels": {"argocd.argoproj.io/secret-type": "cluster"}},
    "stringData": {"name": "prod", "server": "https://10.0.0.1:6443"},
}
APPLICATIONS: dict[str, tuple[list[Manifest], Rows]] = {
    "by name": ([application()], [("lab", "a", "argocd", "raw")]),
    "by server": ([application("server: 'https://lab.example.com:6443'")], [("lab.example.com", "a", "argocd", "raw")]),
    "by a Secret": ([SECRET, application("server: 'https://10.0.0.1:6443/'")], [("prod", "a", "argocd", "raw")]),
    "in the cluster": ([application("name: in-cluster")], [("in-cluster", "a", "argocd", "raw")]),
    "local": ([application("server: 'https://kubernetes.default.svc'")], [("in-cluster", "a", "argocd", "raw")]),
    "our plugin": ([application(source="path: ./a/, plugin: {name: krmfn}")], [("lab", "a", "argocd", "plugin")]),
    "a plugin that is found": ([application(source="path: a, plugin: {}")], [("lab", "a", "argocd", "plugin")]),
    "another plugin": ([application(source="path: a, plugin: {name: tanka}")], [("lab", "a", "argocd", "unknown")]),
    "helm": ([application(source="path: a, helm: {releaseName: x}")], [("lab", "a", "argocd", "helm")]),
    "a chart of elsewhere": ([application(source="chart: x")], []),
    "another repository": ([application(url="https://git.example.com/shop/other.git")], []),
    "by ssh": ([application(url="git@git.example.com:Shop/Fleet")], [("lab", "a", "argocd", "raw")]),
    "the whole repository": ([application(source="path: .")], [("lab", ".", "argocd", "raw")]),
    "of another branch": ([application(source="path: none")], []),
    "sources": (
        [application(spec=f"sources: [{{repoURL: x, ref: v}}, {{repoURL: '{URL}', path: b}}]")],
        [("lab", "b", "argocd", "raw")],
    ),
    "hydrator": (
        [application(spec=f"sourceHydrator: {{drySource: {{repoURL: '{URL}', path: b}}}}")],
        [("lab", "b", "argocd", "raw")],
    ),
}


@pytest.mark.parametrize("name", APPLICATIONS)
def test_an_application_deploys_its_folder(name: str) -> None:
    manifests, expected = APPLICATIONS[name]
    assert rows({"argocd/all.yaml": manifests}) == expected


DIRECTORIES = f"git: {{repoURL: '{URL}', directories: [{{path: sites/*}}, {{path: sites/prod, exclude: true}}]}}"
BOTH = f"git: {{repoURL: '{URL}', directories: [{{path: sites/*}}]}}"
LIST = "list: {elements: [{cluster: lab, dir: a}, {cluster: prod, dir: b}]}"
LAB, PROD = ("lab", "sites/lab", "argocd", "raw"), ("prod", "sites/prod", "argocd", "raw")
SETS: dict[str, tuple[Manifest, Rows]] = {
    "directories": (application_set(f"[{{{BOTH}}}]"), [LAB, PROD]),
    "exclude": (application_set(f"[{{{DIRECTORIES}}}]"), [LAB]),
    "without goTemplate": (application_set(f"[{{{BOTH}}}]", "{{path}}", "{{ path.basename }}"), [LAB, PROD]),
    "segments": (application_set(f"[{{{BOTH}}}]", "{{path}}", "{{path[1]}}"), [LAB, PROD]),
    "index": (application_set(f"[{{{BOTH}}}]", "{{.path.path}}", "{{ index .path.segments 1 }}"), [LAB, PROD]),
    "list": (
        application_set(f"[{{{LIST}}}]", "{{.dir}}", "{{.cluster}}"),
        [("lab", "a", "argocd", "raw"), ("prod", "b", "argocd", "raw")],
    ),
    "matrix": (
        application_set(f"[{{matrix: {{generators: [{{{LIST}}}, {{{DIRECTORIES}}}]}}}}]", name="{{.cluster}}"),
        [LAB, ("prod", "sites/lab", "argocd", "raw")],
    ),
    "merge": (
        application_set(
            "[{merge: {mergeKeys: [cluster], generators: [{list: {elements: [{cluster: lab, dir: a}]}}, "
            "{list: {elements: [{cluster: lab, dir: b}, {cluster: prod, dir: b}]}}]}}]",
            *("{{.dir}}", "{{.cluster}}"),
        ),
        [("lab", "b", "argocd", "raw")],
    ),
    "clusters": (
        application_set("[{clusters: {selector: {matchLabels: {gpu: 'true'}}}}]", "a", "{{.name}}"),
        [("every cluster that Argo CD knows with gpu=true", "a", "argocd", "raw")],
    ),
    "clusters and folders": (
        application_set(f"[{{matrix: {{generators: [{{{DIRECTORIES}}}, {{clusters: {{}}}}]}}}}]", name="{{.name}}"),
        [("every cluster that Argo CD knows", "sites/lab", "argocd", "raw")],
    ),
    "a function": (
        application_set(f"[{{{DIRECTORIES}}}]", name="{{ .path.basename | upper }}"),
        [("the clusters that {{ .path.basename | upper }} gives", "sites/lab", "argocd", "raw")],
    ),
    "pull requests": (
        application_set("[{pullRequest: {github: {}}}]", "a", "{{.branch}}"),
        [("whatever the generator pullRequest gives", "a", "argocd", "raw")],
    ),
    "prefix": (
        application_set(
            f"[{{{BOTH.replace('directories', 'pathParamPrefix: p, directories')}}}]", "{{.p.path.path}}", "x"
        ),
        [("x", "sites/lab", "argocd", "raw"), ("x", "sites/prod", "argocd", "raw")],
    ),
}


@pytest.mark.parametrize("name", SETS)
def test_an_application_set_makes_an_application_of_each_row(name: str) -> None:
    manifest, expected = SETS[name]
    assert rows({"argocd/set.yaml": [manifest]}) == expected


EVERY = "every cluster that Argo CD knows"
JOINED: dict[str, tuple[str, list[Manifest], list[tuple[str, str]]]] = {
    "of Argo CD": ("[{clusters: {}}]", [application()], [(EVERY, "b"), ("lab", "a"), ("lab", "b")]),
    "its own": (
        "[{clusters: {}}]",
        [application("name: in-cluster")],
        [(EVERY, "b"), ("in-cluster", "a"), ("in-cluster", "b")],
    ),
    "some": (
        "[{clusters: {selector: {matchLabels: {a: b}}}}]",
        [application()],
        [(f"{EVERY} with a=b", "b"), ("lab", "a")],
    ),
}


@pytest.mark.parametrize("name", JOINED)
def test_every_cluster_has_those_that_others_name(name: str) -> None:
    generators, others, expected = JOINED[name]
    found = rows({"set.yaml": [application_set(generators, "b", "{{name}}"), *others]})
    assert sorted((cluster, path) for cluster, path, *_ in found) == expected


def test_of_several_argo_cds_nobody_knows_the_clusters() -> None:
    files = {f"{name}/apps.yaml": [application("name: in-cluster", f"path: {name}")] for name in "ab"}
    found = rows(files | {"set.yaml": [application_set("[{clusters: {}}]", "sites", "{{name}}")]})
    assert [cluster for cluster, path, *_ in found if path == "sites"] == [EVERY]


FLEET_TARGETS: dict[str, tuple[str, str, list[str]]] = {
    "all": ("fleet-default", "{clusterSelector: {}}", ["every cluster that Fleet knows", "lab"]),
    "of another namespace": ("fleet-x", "{clusterSelector: {}}", ["every cluster that Fleet knows"]),
    "by an expression": (
        "fleet-default",
        "{clusterSelector: {matchExpressions: [{key: env, operator: Exists}]}}",
        ["every cluster that Fleet knows with env"],
    ),
    "of groups": (
        "fleet-default",
        "{clusterGroupSelector: {matchLabels: {a: b}}}",
        ["every cluster that Fleet knows in a cluster group with a=b"],
    ),
    "without a selector": ("fleet-default", "{name: x}", ["the clusters of a target of Fleet without a selector"]),
}


@pytest.mark.parametrize("name", FLEET_TARGETS)
def test_targets_of_fleet_say_which_clusters(name: str) -> None:
    namespace, target, clusters = FLEET_TARGETS[name]
    objects = [fleet(f"paths: [b], targets: [{target}]", namespace), fleet("paths: [a], targets: [{clusterName: lab}]")]
    assert [cluster for cluster, path, *_ in rows({"a.yaml": objects}) if path == "b"] == clusters


FILE_SETS: dict[str, tuple[str, list[str]]] = {
    "all": ("{path: 'sites/*/config.json'}", ["lab", "oslo", "prod"]),
    "but one": ("{path: 'sites/*/config.json'}, {path: sites/lab, exclude: true}", ["oslo", "prod"]),
    "from the root": ("{path: /sites/lab/config.json}", []),
    "a folder": ("{path: sites/eu}", ["oslo"]),
    "a class": ("{path: 'sites/[^l]*/config.json'}", ["oslo", "prod"]),
}


@pytest.mark.parametrize("name", FILE_SETS)
def test_a_file_generator_chooses_as_git_lists_files(name: str) -> None:
    files, names = FILE_SETS[name]
    paths = {"lab": "sites/lab", "oslo": "sites/eu/oslo", "prod": "sites/prod"}
    contents = {f"{path}/config.json": [{"cluster": {"name": cluster}}] for cluster, path in paths.items()}
    manifest = application_set(f"[{{git: {{repoURL: '{URL}', files: [{files}]}}}}]", "a", "{{ .cluster.name }}")
    found = rows({"set.yaml": [manifest]}, REPOSITORY._replace(parameters=contents))
    assert sorted(cluster for cluster, *_ in found) == names


FLAWS: dict[str, tuple[str, str]] = {
    "a dot": ("directories: [{path: './sites/*'}]", "Argo CD compares it with paths such as sites/*"),
    "a slash behind": ("directories: [{path: sites/*/}]", "Argo CD compares it with paths such as sites/*"),
    "a class": ("directories: [{path: 'sites/['}]", "it cannot be read; close its brackets"),
    "a file of the disk": ("files: [{path: /sites/a.json}]", "Git takes it as a path outside of the repository"),
}


@pytest.mark.parametrize("name", FLAWS)
def test_a_pattern_of_a_git_generator_that_matches_nothing_is_told(name: str) -> None:
    field, reason = FLAWS[name]
    manifest = application_set(
        f"[{{matrix: {{generators: [{{git: {{repoURL: '{URL}', {field}}}}}, {{list: {{}}}}]}}}}]"
    )
    assert [message.partition(" matches nothing: ")[2] for message in problems(manifest)] == [reason]
    assert rows({"set.yaml": [manifest]}) == []


def test_a_file_generator_reads_the_files() -> None:
    git = f"[{{git: {{repoURL: '{URL}', files: [{{path: 'sites/**/config.json'}}]}}}}]"
    repository = REPOSITORY._replace(parameters={"sites/lab/config.json": [{"cluster": {"name": "oslo"}}]})
    manifest = application_set(git, "{{.path.path}}", "{{.cluster.name}}")
    assert rows({"set.yaml": [manifest]}, repository) == [("oslo", "sites/lab", "argocd", "raw")]


def test_what_is_not_known_of_an_application_set_is_said() -> None:
    assert problems(application_set(f"[{{{BOTH}}}]", "{{ .path.path | x }}")) == [
        "which folders {{ .path.path | x }} gives is not known"
    ]
    patched = application_set(f"[{{{BOTH}}}]")
    patched["spec"]["templatePatch"] = "spec: {}"
    assert problems(patched) == ["templatePatch may change each Application; what it does is not known"]
    assert problems(application(source="targetRevision: main")) == ["has no path, so Argo CD deploys nothing of it"]


@pytest.mark.parametrize(("field", "outcome"), [("include", "judged"), ("exclude", "left out")])
def test_a_pattern_that_cannot_be_read_is_said(field: str, outcome: str) -> None:
    assert problems(application(source=f"path: a, directory: {{{field}: '[a'}}")) == [
        f"directory.{field} is a pattern that cannot be read, so no file of the folder is {outcome}; close its "
        "brackets, or shorten it"
    ]
    assert problems(application(source=f"path: a, directory: {{{field}: '{{a,[b]}}'}}")) == []


FLUX: dict[str, tuple[dict[str, list[Manifest]], Rows]] = {
    "a folder for each cluster": (
        {"clusters/lab/a.yaml": [flux("./a")], "clusters/prod/a.yaml": [flux("./a"), flux("b")]},
        [("lab", "a", "flux", "raw"), ("prod", "a", "flux", "raw"), ("prod", "b", "flux", "raw")],
    ),
    "bootstrapped": (
        {"clusters/lab/flux-system/gotk-sync.yaml": [flux("./clusters/lab")], "clusters/lab/a.yaml": [flux("./a")]},
        [("lab", "clusters/lab", "flux", "raw"), ("lab", "a", "flux", "raw")],
    ),
    "nested": (
        {"clusters/lab/a.yaml": [flux("./apps")], "apps/x/ks.yaml": [flux("./b")]},
        [("lab", "apps", "flux", "raw"), ("lab", "b", "flux", "raw")],
    ),
    "nested in two clusters": (
        {
            "clusters/lab/a.yaml": [flux("apps")],
            "clusters/prod/a.yaml": [flux("apps")],
            "apps/x/ks.yaml": [flux("./b")],
        },
        [
            *(("lab", "apps", "flux", "raw"), ("prod", "apps", "flux", "raw")),
            *(("lab", "b", "flux", "raw"), ("prod", "b", "flux", "raw")),
        ],
    ),
    "a circle": (
        {"a/ks.yaml": [flux("b")], "b/ks.yaml": [flux("a")]},
        [("a", "b", "flux", "raw"), ("a", "a", "flux", "raw")],
    ),
    "another cluster": (
        {"clusters/lab/a.yaml": [flux("a", "kubeConfig: {secretRef: {name: prod-kubeconfig}}")]},
        [("prod", "a", "flux", "raw")],
    ),
    "another repository": ({"clusters/lab/a.yaml": [git_repository("https://x.example.com/o.git"), flux("a")]}, []),
    "this repository": (
        {"clusters/lab/a.yaml": [git_repository("ssh://git@git.example.com/shop/fleet"), flux("a")]},
        [("lab", "a", "flux", "raw")],
    ),
    "an artifact": ({"clusters/lab/a.yaml": [flux("a", kind="OCIRepository")]}, []),
    "by an Application of Flux's cluster": (
        {"clusters/lab/a.yaml": [flux("apps")], "apps/x.yaml": [application("name: in-cluster")]},
        [("lab", "apps", "flux", "raw"), ("lab", "a", "argocd", "raw")],
    ),
    "one name in two places": (
        {"clusters/east/lab/a.yaml": [flux("a")], "eu/lab/a.yaml": [flux("a")], "us/lab/b.yaml": [flux("b")]},
        [("east", "a", "flux", "raw"), ("eu-lab", "a", "flux", "raw"), ("us-lab", "b", "flux", "raw")],
    ),
}


@pytest.mark.parametrize("name", FLUX)
def test_a_kustomization_acts_on_the_cluster_that_holds_it(name: str) -> None:
    files, expected = FLUX[name]
    assert rows(files) == expected


BUNDLES = REPOSITORY._replace(bundles={"sites/lab": {}, "sites/prod": {"kustomize": {"dir": "../../b"}}})
FLEET: dict[str, tuple[Manifest, Rows]] = {
    "paths": (
        fleet("paths: [a, /b/], targets: [{clusterName: lab}]"),
        [("lab", "a", "fleet", "raw"), ("lab", "b", "fleet", "raw")],
    ),
    "bundles below": (
        fleet("paths: [sites], targets: [{clusterName: lab}]"),
        [("lab", "sites/lab", "fleet", "raw"), ("lab", "b", "fleet", "raw")],
    ),
    "wildcards": (
        fleet("paths: ['sites/l*'], targets: [{clusterName: lab}]"),
        [("lab", "sites/lab", "fleet", "raw")],
    ),
    "a selector": (
        fleet("paths: [a], targets: [{clusterSelector: {matchLabels: {env: dev}}}, {clusterGroup: eu}]"),
        [
            ("every cluster that Fleet knows with env=dev", "a", "fleet", "raw"),
            ("the cluster group eu of Fleet", "a", "fleet", "raw"),
        ],
    ),
    "no target": (fleet("paths: [a]"), [("the cluster group default of Fleet", "a", "fleet", "raw")]),
    "local": (fleet("paths: [a]", "fleet-local"), [("in-cluster", "a", "fleet", "raw")]),
    "another repository": (fleet("paths: [a], repo: 'https://x.example.com/o.git'"), []),
}


@pytest.mark.parametrize("name", FLEET)
def test_a_git_repo_makes_bundles_of_its_paths(name: str) -> None:
    manifest, expected = FLEET[name]
    assert rows({"gitrepo.yaml": [manifest]}, BUNDLES) == expected


def test_the_folder_on_which_flux_was_started_belongs_to_its_cluster() -> None:
    """No object says so, and the objects that stand there are still that cluster's."""
    items = [flux("./a"), flux("./b", name="y")]
    objects = [EngineObject(ref(item), item, Place("clusters/lab/a.yaml", at, 1)) for at, item in enumerate(items)]
    (home,) = [
        one
        for one in deployments(objects, declared_by(objects, REPOSITORY), REPOSITORY)[0]
        if one.declaration.engine == "none"
    ]
    assert (home.cluster, home.path) == ("lab", "clusters/lab")


def test_applications_of_several_folders_may_have_several_argo_cds() -> None:
    files = {f"{folder}/x.yaml": [application("name: in-cluster", f"path: {folder}")] for folder in ("a", "b")}
    assert [row[0] for row in rows(files)] == ["in-cluster-a", "in-cluster-b"]


def test_a_kustomization_deploys_only_what_it_lists() -> None:
    """The object that stands beside it, and that nobody lists, is in no cluster that is known from it."""
    repository = REPOSITORY._replace(listed={"apps": frozenset({"apps/x/ks.yaml"})})
    files = {"clusters/lab/a.yaml": [flux("apps")], "apps/x/ks.yaml": [flux("a")], "apps/y.yaml": [flux("b")]}
    assert [(row[0], row[1]) for row in rows(files, repository)] == [("lab", "apps"), ("lab", "a"), ("apps", "b")]


def test_a_thousand_applications_are_bounded_work() -> None:
    manifests = [application("name: in-cluster", "path: apps") for _ in range(1000)]
    assert len(rows({"apps/x.yaml": manifests})) == 1000


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (URL, "git@git.example.com:shop/fleet.git", True),
        (URL, "ssh://git@git.example.com:22/shop/fleet", True),
        (URL, "https://token@GIT.example.com/shop/fleet/", True),
        (URL, "https://git.example.com/shop/fleet2.git", False),
        (URL, "https://other.example.com/shop/fleet.git", False),
        ("file:///srv/a.git", "/srv/a", False),
    ],
)
def test_a_repository_has_many_urls(first: str, second: str, is_same: bool) -> None:
    assert (normal_url(first) == normal_url(second)) is is_same


def test_names_can_be_keys_of_the_configuration_file() -> None:
    assert of_server("https://kubernetes.default.svc/", {}) == ""
    assert of_server("https://api.lab.example.com:8443/k8s/c-1", {}) == "api.lab.example.com-8443-k8s-c-1"
    assert of_server("https://[2001:db8::1]:6443", {}) == "2001-db8-1"
    assert (key_of("a b/c"), key_of("-"), key_of("..")) == ("a-b-c", "cluster", "cluster")
    assert of_folders(["eu/lab", "us/lab", "prod"]) == {"eu/lab": "eu-lab", "us/lab": "us-lab", "prod": "prod"}
    assert (normal_path("./a//b/"), normal_path("/"), normal_path("")) == ("a/b", ".", ".")


def test_a_template_that_cannot_be_read_is_not_known() -> None:
    assert filled("{{.a", {"a": "x"}, is_go=True) is None
    assert filled("{{ .a }}-{{.b.c}}", {"a": "x", "b": {"c": 1}}, is_go=True) == "x-1"
    assert filled("{{a}}", {"a": "x"}, is_go=True) is None
    assert filled("{{ a }}", {"a": "x"}, is_go=False) == "x"
    assert filled('{{ index .m "k" }}', {"m": {"k": "v"}}, is_go=True) == "v"
    assert filled("plain", {}, is_go=True) == "plain"
