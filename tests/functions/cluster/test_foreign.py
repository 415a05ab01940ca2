"""A repository that was asked about as a whole: what does not concern krmfn is counted, neither built nor judged."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from krmfn_functions.cluster import cluster_streams
from krmfn_functions.cluster.deployed import Clusters
from krmfn_functions.command import Context
from krmfn_functions.options import RunOptions
from krmfn_functions.paths.templates import is_about_us
from krmfn_functions.settings import CHECK
from krmfn_functions.sources import Sources

from krmfn.streams import Log
from tests.builders import CONFIG
from tests.commands import Done, process
from tests.functions.cluster.test_engines import application, kustomization
from tests.functions.cluster.test_one_result import config
from tests.functions.comparing.test_base import repository
from tests.trees import COMPONENT, config_map, plant

REMOTE = "resources: ['https://git.example.com/shop/base.git//app?ref=v1']\n"
CHART = "helmCharts: [{name: shop, repo: 'https://charts.example.com', version: 1.0.0}]\n"
SECRETS = "generators: [secrets.yaml]\n"
KSOPS = (
    "apiVersion: viaduct.ai/v1\nkind: ksops\nmetadata: {name: s, annotations: {config.kubernetes.io/function: "
    "'{exec: {path: ksops}}'}}\nfiles: [s.enc.yaml]\n"
)
SHOP = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop, namespace: shop}\nspec: {}\n"
SETS = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: sites, namespace: argocd}
spec:
  goTemplate: true
  generators: [{git: {repoURL: "https://git.example.com/fleet.git", directories: [{path: sites/*}]}}]
  template:
    spec:
      source: {repoURL: "https://git.example.com/fleet.git", path: "{{.path.path}}"}
      destination: {name: "{{.path.basename}}"}
"""
GIT_REPO = """\
apiVersion: fleet.cattle.io/v1alpha1
kind: GitRepo
metadata: {name: shops, namespace: fleet-default}
spec: {repo: "https://git.example.com/fleet.git", paths: [one, many], targets: [{clusterName: oslo}]}
"""
LAYOUTS = {
    "monorepo of Flux": {
        "clusters/oslo/shop.yaml": kustomization("shop"),
        "clusters/bergen/shop.yaml": kustomization("shop"),
        "shop/kustomization.yaml": REMOTE,
        "shop/release.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: shop}\n",
    },
    "app of apps": {
        "apps/root.yaml": application("apps", "oslo", "directory: {recurse: true}"),
        "apps/north.yaml": application("north", "oslo", "directory: {}"),
        "apps/south.yaml": application("south", "oslo", "directory: {}"),
        "north/settings.yaml": config_map("settings"),
        "south/settings.yaml": config_map("settings"),
    },
    "ApplicationSet with directories": {
        "sets/sites.yaml": SETS,
        "sites/oslo/kustomization.yaml": CHART,
        "sites/bergen/kustomization.yaml": SECRETS,
        "sites/bergen/secrets.yaml": KSOPS,
        "sites/bergen/s.enc.yaml": "a: ENC[b]\n",
    },
    "Fleet": {
        "gitrepo.yaml": GIT_REPO,
        "one/fleet.yaml": "defaultNamespace: shop\n",
        "one/shop.yaml": SHOP,
        "many/fleet.yaml": "defaultNamespace: shop\n",
        "many/shop.yaml": SHOP,
    },
    "catalogue of OpenShift": {
        "gpu/operator/base/kustomization.yaml": "resources: [subscription.yaml]\n",
        "gpu/operator/base/subscription.yaml": "apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\n"
        "metadata: {name: gpu, namespace: gpu}\n",
        "gpu/operator/overlays/stable/kustomization.yaml": "resources: [../../base]\npatches: [{path: p.yaml}]\n",
        "gpu/operator/overlays/stable/p.yaml": "- {op: replace, path: /spec/channel, value: stable}\n",
        "gpu/components/extra/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n"
        + REMOTE,
        "oslo/install-config.yaml": "apiVersion: v1\nbaseDomain: example.com\nmetadata: {name: oslo}\n",
    },
}
RIGHT, WRONG = config("gpu", "card: x"), config("gpu", "card: x").replace("moduleName", "modulName")


def check(folder: Path, *args: str, **env: str) -> Done:
    return process("krmfn", "check", *(args or (".",)), cwd=folder, **env)


@pytest.mark.parametrize("files", LAYOUTS.values(), ids=LAYOUTS)
class TestLayouts:
    def test_nothing_of_ours_is_one_line(self, files: dict[str, str], tmp_path: Path) -> None:
        repository(tmp_path, files)
        done = check(tmp_path)
        assert (done.code, done.err, len(done.text.splitlines())) == (0, "", 1), done.text
        assert done.text.startswith("no findings in 0 resources; ")
        assert "(nothing of krmfn's or KMM's in them)" in done.text

    def test_a_right_config_beside_it_is_judged_alone(self, files: dict[str, str], tmp_path: Path) -> None:
        repository(tmp_path, files | {"cards/gpu.yaml": RIGHT})
        done = check(tmp_path)
        assert done.code == 0, done.text
        assert "1 DeviceConfig" in done.text

    def test_a_wrong_config_beside_it_is_found(self, files: dict[str, str], tmp_path: Path) -> None:
        repository(tmp_path, files | {"cards/gpu.yaml": WRONG})
        done = check(tmp_path)
        assert done.code == 1
        assert "cards/gpu.yaml" in done.text


def test_a_repository_of_charts_alone_is_one_line(tmp_path: Path) -> None:
    """`is it the right PATH?` was the answer, since no file of it is read."""
    chart = {"charts/shop/Chart.yaml": "name: shop\nversion: 1.0.0\n", "charts/shop/templates/a.yaml": SHOP}
    repository(tmp_path, {**chart, "values.yaml": "charts: [shop]\n"})
    done = check(tmp_path)
    assert (done.code, len(done.text.splitlines())) == (0, 1), done.text
    assert done.text.startswith("no findings in 0 resources; not judged: ")


def test_a_module_of_another_group_is_not_nothing(tmp_path: Path) -> None:
    """The Module was an error, and beside it stood that the folder holds none."""
    module = "apiVersion: kmm.sigs.k8s.io/v1beta1\nkind: Module\nmetadata: {name: gpu, namespace: kmm}\n"
    repository(tmp_path, {"gpu.yaml": module})
    done = check(tmp_path)
    assert (done.code, "KRM108" in done.text, "KRM109" in done.text) == (1, True, False), done.text


def foreign(folder: Path) -> int:
    """Return how many files of a repository do not concern krmfn."""
    number = json.loads(check(folder, ".", "--format", "json").text)["summary"]["foreign"]
    assert isinstance(number, int)
    return number


def test_a_root_of_others_is_not_built(tmp_path: Path) -> None:
    files = {"shop/kustomization.yaml": "resources: [a.yaml]\n", "shop/a.yaml": config_map("a")}
    repository(tmp_path / "repo", files)
    plant(tmp_path, {"bin/kustomize": "#!/bin/sh\nexit 3\n"})
    (tmp_path / "bin/kustomize").chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    assert check(tmp_path / "repo", PATH=path).code == 0
    assert check(tmp_path / "repo", ".", "--all", PATH=path).code != 0


def test_a_small_file_is_read_once_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, {".git/HEAD": "", "config.yaml": CONFIG, "shop.yaml": SHOP})
    opened = list[str]()

    def noted(path: str, flags: int, open_: Callable[[str, int], int] = os.open) -> int:
        opened.append(Path(path).name)
        return open_(path, flags)

    monkeypatch.setattr(os, "open", noted)
    streams = cluster_streams.render(Context(RunOptions(), CHECK, Log(), Sources()), [str(tmp_path)])
    assert sorted(opened) == ["config.yaml", "shop.yaml"]
    kept = [file.text for cluster in streams.clusters for root in cluster.roots for file in root.files]
    assert len(kept) == 2
    assert not any(text is None or text.content for text in kept)


def test_what_cannot_be_read_and_is_not_ours_fails_nothing(tmp_path: Path) -> None:
    repository(tmp_path, {"app.yaml": "kind: ConfigMap\nmetadata: {name: a\n"})
    assert [check(tmp_path, *args).code for args in ((), (".", "--all"))] == [0, 2]


def test_what_flux_writes_for_a_folder_is_no_file_of_ours(tmp_path: Path) -> None:
    """It is not there, so nobody could read it, and all that its cluster gets was judged (KRM109)."""
    flux = (
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: f}\n"
        "spec: {path: ./a, sourceRef: {kind: GitRepository, name: f}, targetNamespace: b}\n"
    )
    files = {"clusters/lab/ks.yaml": flux, "a/b/c.yaml": config_map("c")}
    repository(tmp_path / "others", files)
    done = check(tmp_path / "others")
    assert (done.code, len(done.text.splitlines()), foreign(tmp_path / "others")) == (0, 1, 2), done.text
    repository(tmp_path / "ours", files | {"a/b/d.yaml": WRONG})
    assert check(tmp_path / "ours").code == 1


def test_a_config_in_a_chart_is_told(tmp_path: Path) -> None:
    files = {"chart/Chart.yaml": "apiVersion: v2\nname: c\nversion: 0.1.0\n", "chart/templates/gpu.yaml": RIGHT}
    repository(tmp_path, files)
    done = check(tmp_path)
    assert (done.code, "helm template" in done.text) == (0, True), done.text


def test_a_folder_that_is_named_is_judged(tmp_path: Path) -> None:
    repository(tmp_path, {"shop/a.yaml": config_map("a"), "shop/b.yaml": config_map("a")})
    assert [check(tmp_path, path).code for path in (".", "shop")] == [0, 1]
    assert check(tmp_path, ".", "--all").code == 1


TWICE = {
    "of the namespace of a config": (config_map("a").replace("{name: a}", "{name: a, namespace: kmm}"), 1),
    "of another namespace": (config_map("a").replace("{name: a}", "{name: a, namespace: shop}"), 0),
    "rights in the cluster": ("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\n", 1),
    "the namespace of a config": ("apiVersion: v1\nkind: Namespace\nmetadata: {name: kmm}\n", 1),
    "another namespace": ("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n", 0),
}


@pytest.mark.parametrize(("text", "code"), TWICE.values(), ids=TWICE)
def test_what_stands_there_twice_fails_where_it_concerns_us(text: str, code: int, tmp_path: Path) -> None:
    repository(tmp_path, {"cards/gpu.yaml": RIGHT, "one/a.yaml": text, "two/a.yaml": text})
    done = check(tmp_path)
    assert (done.code, done.text.count("[KRM705]")) == (code, 1), done.text


PRODUCT = """\
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: card}
spec:
  version: "1"
  for: {group: cards.example.org, kind: Board, versions: [v1]}
  config: {moduleName: card, driverImage: "registry.example.com/card:1", nodeSelector: {card: x}}
"""
BOARD = "apiVersion: cards.example.org/v1\nkind: Board\nmetadata: {name: c, namespace: kmm}\nspec: {nonsense: 1}\n"
LAB = {"lab/kustomization.yaml": "resources: [board.yaml]\n", "lab/board.yaml": BOARD}
LISTED = {".krmfn.yaml": "clusters: {site: [profiles]}\n", "profiles/kustomization.yaml": "resources: [card.yaml]\n"}
PROFILES = {
    "a root of its own": {"profiles/card.yaml": PRODUCT},
    "escaped": {"profiles/card.yaml": PRODUCT.replace("Profile", '"Pro\\x66ile"')},
    "in a cluster of the configuration": {"profiles/card.yaml": PRODUCT, **LISTED},
    "for an escaped kind": {
        "profiles/card.yaml": PRODUCT,
        "lab/board.yaml": BOARD.replace("kind: Board", 'kind: "Bo\\x61rd"'),
    },
}


def test_a_kind_without_a_profile_is_of_others(tmp_path: Path) -> None:
    repository(tmp_path, LAB)
    assert foreign(tmp_path) == len(LAB)


@pytest.mark.parametrize("files", PROFILES.values(), ids=PROFILES)
def test_a_kind_that_a_profile_drives_is_ours(files: dict[str, str], tmp_path: Path) -> None:
    repository(tmp_path, LAB | files)
    assert foreign(tmp_path) == 0


def test_a_kind_that_a_profile_of_the_command_line_drives_is_ours(tmp_path: Path) -> None:
    repository(tmp_path / "repo", LAB)
    plant(tmp_path, {"card.yaml": PRODUCT})
    done = check(tmp_path / "repo", ".", "--function-config", "../card.yaml")
    assert (done.code, "unknown field 'nonsense'" in done.text) == (1, True), done.text


HUB = """\
apiVersion: hub.kmm.sigs.x-k8s.io/v1beta1
kind: ManagedClusterModule
metadata: {name: gpu}
spec:
  spokeNamespace: kmm
  selector: {gpu: "yes"}
  moduleSpec:
    selector: {card: x}
    moduleLoader:
      container:
        modprobe: {moduleName: gpu}
        kernelMappings: [{literal: 5.14.0-1.el9.x86_64, containerImage: "registry.example.com/gpu:1"}]
"""
MANAGED = """\
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: oslo, labels: {gpu: "yes"}}
spec: {hubAcceptsClient: true}
"""
SPOKE = """\
apiVersion: v1
kind: Node
metadata: {name: n, labels: {card: x}}
status: {nodeInfo: {kernelVersion: 5.14.0-2.el9.x86_64}}
"""


def roots(**texts: str) -> dict[str, str]:
    """Return a kustomization with one file for each name."""
    listings = {f"{name}/kustomization.yaml": "resources: [a.yaml]\n" for name in texts}
    return listings | {f"{name}/a.yaml": text for name, text in texts.items()}


def test_the_clusters_that_a_hub_manages_concern_us(tmp_path: Path) -> None:
    repository(tmp_path, roots(hub=HUB, managed=MANAGED, oslo=SPOKE))
    done = check(tmp_path)
    assert (done.code, "[KRM604]" in done.text) == (1, True), done.text


OF_HUBS = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: settings}
spec:
  PLACE:
      hub: {spokeNamespace: kmm, clusterSelector: {gpu: "yes"}}
"""


@pytest.mark.parametrize("place", ["defaults", "profiles:\n    card"], ids=["defaults", "profile"])
def test_a_function_config_of_the_command_line_that_is_of_hubs_makes_their_clusters_ours(
    place: str, tmp_path: Path
) -> None:
    repository(tmp_path / "repo", roots(gpu=RIGHT, managed=MANAGED))
    plant(tmp_path, {"settings.yaml": OF_HUBS.replace("PLACE", place)})
    done = check(tmp_path / "repo", ".", "--format", "json", "--function-config", "../settings.yaml")
    assert json.loads(done.text)["summary"]["foreign"] == 0


def test_managed_clusters_without_a_hub_of_kmm_are_of_others(tmp_path: Path) -> None:
    repository(tmp_path, roots(gpu=RIGHT, managed=MANAGED))
    assert foreign(tmp_path) == 2


def test_what_is_named_beside_a_repository_is_judged(tmp_path: Path) -> None:
    shop = config_map("a")
    repository(tmp_path / "repo", roots(one=shop, two=shop))
    plant(tmp_path, {"shop/a.yaml": shop, "shop/b.yaml": shop})
    assert [check(tmp_path, *paths).text.count("[KRM705]") for paths in (["repo"], ["repo", "shop"])] == [0, 1]
    assert "1 resource" in check(tmp_path, "repo", "repo/one").text


def test_stdin_beside_a_repository_is_judged(tmp_path: Path) -> None:
    repository(tmp_path, {"shop/a.yaml": config_map("a")})
    assert process("krmfn", "check", ".", "-", cwd=tmp_path, stdin=WRONG).code == 1


MODULE = "{apiVersion: kmm.sigs.x-k8s.io/v1beta1, kind: Module, metadata: {name: m, namespace: kmm}, spec: {}}"
CONSUMER = 'kind: DaemonSet\nspec: {template: {spec: {nodeSelector: {kmm.node.kubernetes.io/kmm.m.ready: ""}}}}\n'
OBJECTS = {
    "Module": MODULE,
    "list of Modules": f"{{apiVersion: v1, kind: List, items: [{MODULE}]}}",
    "typed list": "{apiVersion: kmm.sigs.x-k8s.io/v1beta1, kind: ModuleList, items: []}",
    "config": RIGHT,
    "consumer": CONSUMER,
    "nodes": "apiVersion: v1\nkind: NodeList\nitems: []\n",
    "escaped": MODULE.replace("kmm.sigs", '"kmm\\x2Esigs')
    .replace("/v1beta1", '/v1beta1"')
    .replace("Module", '"M\\u006fdule"'),
    "continued": MODULE.replace("kmm.sigs", '"kmm.si\\\n  gs')
    .replace("/v1beta1", '/v1beta1"')
    .replace("Module", '"Mo\\\n  dule"'),
    "continued after a carriage return": 'kind: "Device\\\rConfig"\n',
    "continued after another line break": 'kind: "Device\\\N{NEXT LINE}Config"\n',
    "base64": "kind: !!binary RGV2aWNlQ29uZmln\n",
    "base64 by a whole tag": "kind: !<tag:yaml.org,2002:%62inary> RGV2aWNlQ29uZmln\n",
    "node below its key": "apiVersion: v1\nkind: # of this\n  Node\n",
    "node with a tag": "apiVersion: v1\nkind: !!str &kind Node\n",
    "node as an alias": "metadata: {name: &kind Node}\napiVersion: v1\nkind: *kind\n",
    "node as a block": "apiVersion: v1\nkind: >-\n  Node\n",
    "node of a long key": "apiVersion: v1\n? kind\n: Node\n",
}


@pytest.mark.parametrize("text", OBJECTS.values(), ids=OBJECTS)
def test_an_object_of_ours_is_seen_in_any_spelling(text: str) -> None:
    assert is_about_us(text.encode())
    assert is_about_us(text.encode("utf-16"))


STRANGERS = {
    "a node in a comment": "kind: Service # of a node\n",
    "a module in another field": "kind: Service\nmodule: a\n",
    "an escape": 'kind: Service\nmetadata: {name: "a\\x62c"}\n',
}


@pytest.mark.parametrize("text", STRANGERS.values(), ids=STRANGERS)
def test_a_text_of_others_is_not_about_us(text: str) -> None:
    assert not is_about_us(text.encode())


def _block(text: str, indent: int) -> str:
    """Return a text as a block of YAML below a key."""
    return "|-\n" + "".join(f"{' ' * indent}{line}\n" for line in text.splitlines())


def _component(text: str) -> dict[str, str]:
    return {"../part/kustomization.yaml": f"{COMPONENT}resources: [inner.yaml]\n", "../part/inner.yaml": text}


BASE = "resources: [base.yaml]\n"
HELM = "{apiVersion: builtin, kind: HelmChartInflationGenerator, metadata: {name: h}, name: a, valuesFile: values.yaml}"
PLACES: dict[str, Callable[[str], dict[str, str]]] = {
    "resource": lambda text: {"kustomization.yaml": "resources: [base.yaml, a.yaml]\n", "a.yaml": text},
    "JSON": lambda text: {"kustomization.yaml": "resources: [base.yaml, a.json]\n", "a.json": text},
    "patch": lambda text: {"kustomization.yaml": BASE + "patches: [{path: a.yaml}]\n", "a.yaml": text},
    "patch in the kustomization": lambda text: {"kustomization.yaml": f"{BASE}patches:\n- patch: {_block(text, 4)}"},
    "merged patch": lambda text: {"kustomization.yaml": BASE + "patchesStrategicMerge: [a.yaml]\n", "a.yaml": text},
    "merged patch in the kustomization": lambda text: {
        "kustomization.yaml": f"{BASE}patchesStrategicMerge:\n- {_block(text, 2)}"
    },
    "JSON patch": lambda text: {
        "kustomization.yaml": f"{BASE}patches:\n- target: {{kind: ConfigMap}}\n  path: a.yaml\n",
        "a.yaml": f"- op: add\n  path: /x\n  value: {_block(text, 4)}",
    },
    "base": lambda text: {
        "kustomization.yaml": "resources: [base.yaml, ../base]\n",
        "../base/kustomization.yaml": "resources: [inner.yaml]\n",
        "../base/inner.yaml": text,
    },
    "old base": lambda text: {
        "kustomization.yaml": BASE + "bases: [../base]\n",
        "../base/kustomization.yaml": "resources: [inner.yaml]\n",
        "../base/inner.yaml": text,
    },
    "component": lambda text: {"kustomization.yaml": BASE + "components: [../part]\n", **_component(text)},
    "transformer": lambda text: {"kustomization.yaml": BASE + "transformers: [a.yaml]\n", "a.yaml": text},
    "transformer in the kustomization": lambda text: {
        "kustomization.yaml": f"{BASE}transformers:\n- {_block(text, 2)}"
    },
    "folder of transformers": lambda text: {
        "kustomization.yaml": BASE + "transformers: [../part]\n",
        "../part/kustomization.yaml": "resources: [inner.yaml]\n",
        "../part/inner.yaml": text,
    },
    "file of a transformer": lambda text: {
        "kustomization.yaml": BASE + "transformers: [t.yaml]\n",
        "t.yaml": "{apiVersion: builtin, kind: PatchTransformer, metadata: {name: t}, path: a.yaml}\n",
        "a.yaml": text,
    },
    "generator": lambda text: {"kustomization.yaml": BASE + "generators: [a.yaml]\n", "a.yaml": text},
    "values of a generator": lambda text: {
        "kustomization.yaml": BASE + "generators: [h.yaml]\n",
        "h.yaml": HELM,
        "values.yaml": f"extra:\n- {_block(text, 2)}",
    },
    "file of a ConfigMap": lambda text: {
        "kustomization.yaml": BASE + "configMapGenerator: [{name: c, files: [a.yaml]}]\n",
        "a.yaml": text,
    },
    "lines of a Secret": lambda text: {
        "kustomization.yaml": BASE + "secretGenerator: [{name: c, envs: [a.env]}]\n",
        "a.env": text,
    },
    "literal of a ConfigMap": lambda text: {
        "kustomization.yaml": f"{BASE}configMapGenerator:\n- name: c\n  literals:\n  - {_block('a=' + text, 4)}"
    },
    "replacement": lambda text: {"kustomization.yaml": BASE + "replacements: [{path: a.yaml}]\n", "a.yaml": text},
    "configuration": lambda text: {"kustomization.yaml": BASE + "configurations: [a.yaml]\n", "a.yaml": text},
    "schema": lambda text: {"kustomization.yaml": BASE + "openapi: {path: a.yaml}\n", "a.yaml": text},
    "CRD": lambda text: {"kustomization.yaml": BASE + "crds: [a.yaml]\n", "a.yaml": text},
    "values of a chart": lambda text: {
        "kustomization.yaml": BASE + "helmCharts: [{name: a, valuesFile: values.yaml}]\n",
        "values.yaml": f"extra:\n- {_block(text, 2)}",
    },
    "more values of a chart": lambda text: {
        "kustomization.yaml": BASE + "helmCharts: [{name: a, additionalValuesFiles: [values.yaml]}]\n",
        "values.yaml": f"extra:\n- {_block(text, 2)}",
    },
    "values in the kustomization": lambda text: {
        "kustomization.yaml": f"{BASE}helmCharts:\n- name: a\n  valuesInline:\n    extra: {_block(text, 6)}"
    },
    "template of a chart": lambda text: {
        "kustomization.yaml": BASE + "helmCharts: [{name: a}]\n",
        "charts/a/Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\n",
        "charts/a/templates/a.yaml": text,
    },
    "link": lambda text: {
        "kustomization.yaml": "resources: [base.yaml, a.yaml]\n",
        "a.yaml": "-> ../b.txt",
        "../b.txt": text,
    },
    "link to a base": lambda text: {
        "kustomization.yaml": "resources: [base.yaml, ../linked]\n",
        "../linked": "-> part",
        "../part/kustomization.yaml": "resources: [inner.yaml]\n",
        "../part/inner.yaml": text,
    },
}


@pytest.mark.parametrize("place", PLACES)
@given(sort=st.sampled_from(sorted(OBJECTS)), depth=st.integers(0, 2))
@settings(max_examples=5)
def test_an_object_of_ours_makes_its_root_ours_wherever_it_stands(place: str, sort: str, depth: int) -> None:
    files = {f"0/{name}": content for name, content in PLACES[place](OBJECTS[sort]).items()}
    files |= {"0/base.yaml": config_map("base"), "gpu/kustomization.yaml": "resources: [a.yaml]\n", "gpu/a.yaml": RIGHT}
    for level in range(depth):
        files[f"{level + 1}/kustomization.yaml"] = f"resources: [../{level}]\n"
    with TemporaryDirectory() as name:
        plant(Path(name), {".git/HEAD": ""} | {os.path.normpath(path): content for path, content in files.items()})
        top = os.path.realpath(f"{name}/{depth}")
        assert top in judged(name), sorted(files)


FLUX = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: shop, namespace: flux}\n"
READY = json.dumps(
    {"patch": f"- op: add\n  path: /x\n  value: {_block(CONSUMER, 4)}", "target": {"kind": "Deployment"}}
)
ADDED = {
    "a patch of Flux": (
        f"{FLUX}spec: {{path: shop, sourceRef: {{kind: GitRepository, name: f}}, patches: [{READY}]}}\n",
        {},
    ),
    "a component of Flux": (
        f"{FLUX}spec: {{path: shop, sourceRef: {{kind: GitRepository, name: f}}, components: [../part]}}\n",
        {"part/kustomization.yaml": f"{COMPONENT}resources: [a.yaml]\n", "part/a.yaml": MODULE},
    ),
    "a patch of Argo CD": (application("shop", "lab", f"kustomize: {{patches: [{READY}]}}"), {}),
    "a component of Argo CD": (
        application("shop", "lab", "kustomize: {components: [../part]}"),
        {"part/kustomization.yaml": f"{COMPONENT}resources: [a.yaml]\n", "part/a.yaml": MODULE},
    ),
    "a label of Argo CD": (application("shop", "lab", "kustomize: {commonLabels: {kmm.node.kubernetes.io/a: b}}"), {}),
}


@pytest.mark.parametrize("name", ADDED)
@pytest.mark.parametrize("has_kustomization", [True, False])
def test_what_an_engine_adds_makes_the_root_ours(name: str, has_kustomization: bool, tmp_path: Path) -> None:
    engine, files = ADDED[name]
    if has_kustomization or "Flux" in name:  # Argo CD refuses these options without a kustomization
        listing = {"shop/kustomization.yaml": "resources: [a.yaml]\n"} if has_kustomization else {}
        plant(tmp_path, {".git/HEAD": "", "clusters/lab/a.yaml": engine, "shop/a.yaml": SHOP, **listing, **files})
        assert os.path.realpath(tmp_path / "shop") in judged(str(tmp_path))


def judged(folder: str) -> set[str]:
    """Return the paths of the roots of a repository that are judged, without a process."""
    clusters = layout_of(folder).clusters
    return {root.path for cluster in clusters for root in cluster.roots if root.path not in cluster.beside}


def layout_of(folder: str) -> Clusters:
    return cluster_streams.layout_of(Context(RunOptions(), CHECK, Log(), Sources()), [os.path.realpath(folder)])


def left_out(folder: str) -> int:
    """Return how many files of a repository do not concern krmfn, without a process."""
    return layout_of(folder).foreign


def test_without_it_the_root_is_of_others() -> None:
    """What the property puts in is what makes its root ours."""
    with TemporaryDirectory() as name:
        plant(Path(name), {".git/HEAD": "", "a/kustomization.yaml": "resources: [base.yaml]\n", "a/base.yaml": SHOP})
        assert left_out(name) == 2
        assert os.path.realpath(f"{name}/a") not in judged(name)


NODES = OBJECTS["nodes"]
BESIDE_NODES = {
    "nothing": ({}, 2),
    "a module in another field": ({"shop/a.yaml": STRANGERS["a module in another field"]}, 4),
    "a template of backups": ({"shop/a.yaml": "kind: Job\nspec: {backupTemplate: a}\n"}, 4),
    "a config": ({"shop/a.yaml": RIGHT}, 0),
    "a consumer": ({"shop/a.yaml": CONSUMER}, 0),
}


@pytest.mark.parametrize(("files", "number"), BESIDE_NODES.values(), ids=BESIDE_NODES)
def test_nodes_count_where_there_is_something_for_them(files: dict[str, str], number: int, tmp_path: Path) -> None:
    """Others keep Nodes in Git, too: without anything that a node may get they are nobody's business."""
    shop = {"shop/kustomization.yaml": "resources: [a.yaml]\n"} if files else {}
    plant(tmp_path, {".git/HEAD": "", **roots(site=NODES), **shop, **files})
    assert left_out(str(tmp_path)) == number


LISTS = {
    "a file as a component": ("resources: [b.yaml]\ncomponents: [a.yaml]\n", "base/a.yaml"),
    "a name that is misspelt": ("resources: [b.yaml, a.yml]\n", "base/a.yaml"),
    "a file in another folder": ("resources: [b.yaml]\ncomponents: [../c/a.yaml]\n", "c/a.yaml"),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_wrong_list_that_may_mean_something_of_ours_is_an_error(name: str, tmp_path: Path) -> None:
    """The file itself is judged as a loose one: without the error it would seem to be deployed."""
    kustomization, file = LISTS[name]
    files = {"base/kustomization.yaml": kustomization, "base/b.yaml": config_map("b"), file: RIGHT}
    done = check(repository(tmp_path, files | {"over/kustomization.yaml": "resources: [../base]\n"}))
    assert (done.code, "[KRM504]" in done.text) == (2, True), done.text


def test_a_wrong_list_of_others_is_nobodys_business(tmp_path: Path) -> None:
    files = {"base/kustomization.yaml": "resources: [b.yml]\n", "base/b.yaml": config_map("b"), "gpu/a.yaml": RIGHT}
    assert check(repository(tmp_path, files)).code == 0


APART = {
    "system/gpu/kustomization.yaml": "resources: [gpu.yaml]\n",
    "system/gpu/gpu.yaml": RIGHT,
    "apps/gpu/kustomization.yaml": "resources: [gpu.yaml]\n",
    "apps/gpu/gpu.yaml": RIGHT.replace("name: gpu,", "name: second,"),
}


def test_roots_that_nothing_deploys_are_said_to_be_judged_apart(tmp_path: Path) -> None:
    """They may be two parts of one cluster, where two configs would claim the same nodes; nobody was told."""
    done = check(repository(tmp_path, APART))
    assert (done.code, done.text.count("[KRM544]")) == (0, 1), done.text
    assert "write `clusters: {NAME: [apps/gpu, system/gpu]}` into .krmfn.yaml" in done.text
    plant(tmp_path, {".krmfn.yaml": "clusters: {a: [apps/gpu], b: [system/gpu]}\n"})
    done = check(tmp_path)
    assert (done.code, "KRM544" in done.text) == (0, False), done.text


def test_a_root_of_others_that_cannot_be_built_stops_no_answer(tmp_path: Path) -> None:
    """`why` gave none, and `nodes` was exit code 2, in every repository with a remote base somewhere."""
    inventory = (
        "apiVersion: krmfn.dev/v1alpha1\nkind: NodeInventory\nmetadata: {name: lab}\nspec:\n"
        "  labelKeys: [card]\n  groups:\n  - labels: {card: x}\n    nodes: |\n      n1 6.1.0\n"
    )
    remote = "resources: ['https://git.example.com/catalog//nfd?ref=v1']\n"
    files = {"cards/gpu.yaml": RIGHT, "cards/nodes.yaml": inventory, "nfd/kustomization.yaml": remote}
    repo = repository(tmp_path, files)
    assert "planned" in process("krmfn", "nodes", ".", cwd=repo).ended(0).text
    assert "n1: kmm/gpu is planned" in process("krmfn", "why", "n1", ".", cwd=repo).ended(0).text
    assert process("krmfn", "nodes", "nfd", cwd=repo).code == 2, "who names a folder asks about it"
