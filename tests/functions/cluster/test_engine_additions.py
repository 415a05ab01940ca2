"""What an engine changes after krmfn is told where it changes a Module or a consumer, and nowhere else."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.cluster.test_engines import application, kustomization, root
from tests.functions.cluster.test_one_result import config
from tests.functions.comparing.test_base import repository
from tests.trees import config_map

MODULE = """\
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: Module
metadata: {name: gpu, namespace: kmm}
spec:
  selector: {card: x}
  moduleLoader:
    container:
      modprobe: {moduleName: gpu, dirName: /opt}
      kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/gpu:1-$KERNEL_FULL_VERSION"}]
"""
CONSUMER = """\
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: plugin, namespace: kmm}
spec:
  selector: {matchLabels: {app: plugin}}
  template:
    metadata: {labels: {app: plugin}}
    spec:
      nodeSelector: {kmm.node.kubernetes.io/kmm.gpu.ready: ""}
      containers: [{name: plugin, image: "registry.example.com/plugin:1"}]
"""
SOURCE = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: f, namespace: f}
spec: {url: "https://git.example.com/fleet.git", ref: {branch: rendered}}
"""
"""The branch that CI renders into: what Flux adds to that, krmfn does not build."""
FLUX: dict[str, tuple[str, str]] = {
    "the namespace of another": ("targetNamespace: other", "targetNamespace"),
    "a prefix": ("namePrefix: a-", "namePrefix"),
    "a suffix": ("nameSuffix: -a", "nameSuffix"),
    "a component": ("components: [../c]", "components"),
    "a patch of a Module": (
        'patches: [{patch: "- {op: remove, path: /spec/devicePlugin}", target: {kind: Module}}]',
        "patches",
    ),
    "a patch by a regexp": ('patches: [{patch: "[]", target: {kind: "Mod.*", name: "g.+"}}]', "patches"),
    "a patch that is a part of one": ('patches: [{patch: "kind: Module"}]', "patches"),
    "an image of the consumer": ("images: [{name: registry.example.com/plugin, newTag: v2}]", "images"),
    "a patch that is no text": (
        "patchesStrategicMerge: [{kind: Module, metadata: {name: gpu}}]",
        "patchesStrategicMerge",
    ),
    "a patch with its kind in escapes": ("""patches: [{patch: 'kind: "M\\x6fdule"'}]""", "patches"),
    "a patch that cannot be read": ('patches: [{patch: "{"}]', "patches"),
    "a patch in another file": ("patches: [{path: p.yaml}]", "patches"),
    "a patch by what is no regexp": ('patches: [{patch: "[]", target: {kind: "("}}]', "patches"),
    "a patch by a long regexp": (f'patches: [{{patch: "[]", target: {{kind: "{"(Module)?" * 500}"}}}}]', "patches"),
    "a label": ("commonMetadata: {labels: {team: a}}", ""),
    "an annotation of nobody": ("commonMetadata: {annotations: {team: a}}", ""),
    "an annotation of an engine": (
        "commonMetadata: {annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}}",
        "commonMetadata",
    ),
    "its own namespace": ("targetNamespace: kmm", ""),
    "a patch of another": ('patches: [{patch: "[]", target: {kind: Deployment}}]', ""),
    "a patch of another name": ('patches: [{patch: "[]", target: {kind: Module, name: nic}}]', ""),
    "a patch of another namespace": ('patches: [{patch: "[]", target: {namespace: default}}]', ""),
    "a patch of another without a target": ('patches: [{patch: "{kind: Deployment, a: modules}"}]', ""),
    "annotations that are none": ("commonMetadata: {annotations: [a]}", ""),
    "metadata that is none": ("commonMetadata: 5", ""),
    "images that are none": ("images: 5", ""),
    "patches that are none": ("patches: 5, patchesJson6902: [5, [5], {target: 5}]", ""),
    "a build that is none": ("postBuild: [a]", ""),
    "an image of others": ("images: [{name: registry.example.com/shop, newTag: v2}]", ""),
    "variables that are not there": ("postBuild: {substitute: {A: b}}", ""),
}


def lines(folder: Path, rule: str) -> list[str]:
    done = process("krmfn", "check", ".", cwd=folder)
    written = done.text.splitlines()
    helps = {line: below for line, below in pairwise(written) if below.startswith("  help: ")}
    return [part for line in written if f"[{rule}]" in line for part in (line, helps.get(line)) if part]


@pytest.mark.parametrize("name", FLUX)
def test_what_flux_adds_is_told_where_it_changes_something_of_kmm(name: str, tmp_path: Path) -> None:
    spec, field = FLUX[name]
    files = root("a", MODULE + CONSUMER) | {"clusters/lab/ks.yaml": f"{kustomization('a').rstrip()[:-1]}, {spec}}}\n"}
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, files | {"clusters/lab/f.yaml": SOURCE})).ended(0)
    assert "RE2" not in done.err and "re2" not in done.err, done.err
    told = [line for line in done.text.splitlines() if "[KRM547]" in line]
    assert [f"Flux adds {field} to " in line for line in told] == [True] * bool(field), told


@pytest.mark.parametrize(
    ("transformer", "target", "is_told"),
    [
        ("namePrefix: x-", "{name: gpu}", True),
        ("nameSuffix: -x", "{name: gpu}", True),
        ("namespace: other", "{namespace: kmm}", True),
        ("namespace: other", "{kind: Deployment, namespace: kmm}", False),
        ("commonAnnotations: {a: b}", "{name: nic}", False),
    ],
)
def test_a_patch_may_name_a_resource_as_its_file_does(
    transformer: str, target: str, is_told: bool, tmp_path: Path
) -> None:
    """kustomize asks for former names, too, where it knows them."""
    spec = f'patches: [{{patch: "[]", target: {target}}}]'
    files = root("a", MODULE) | {"clusters/lab/ks.yaml": f"{kustomization('a').rstrip()[:-1]}, {spec}}}\n"}
    files |= {"clusters/lab/f.yaml": SOURCE}
    files["a/kustomization.yaml"] += f"{transformer}\n"
    assert bool(lines(repository(tmp_path, files), "KRM547")) is is_told


def test_no_namespace_is_the_default_one_for_patches(tmp_path: Path) -> None:
    spec = 'patches: [{patch: "[]", target: {namespace: default}}]'
    files = root("a", MODULE.replace(", namespace: kmm", "")) | {
        "clusters/lab/ks.yaml": f"{kustomization('a').rstrip()[:-1]}, {spec}}}\n",
        "clusters/lab/f.yaml": SOURCE,
    }
    assert lines(repository(tmp_path, files), "KRM547")


@pytest.mark.parametrize("value", ["5", "true", "[a]", "a"])
def test_annotations_of_argo_cd_that_are_none_are_nobodys(value: str, tmp_path: Path) -> None:
    source = f"kustomize: {{commonAnnotations: {value}}}"
    files = root("a", MODULE) | {"apps/a.yaml": application("a", "lab", source)}
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, files)).ended(0)
    assert "KRM547" not in done.text


def test_what_argo_cd_adds_is_told_where_it_is_not_known(tmp_path: Path) -> None:
    source = (
        "kustomize: {namespace: kmm, images: [a=b:$ARGOCD_APP_REVISION], components: ['../*'], commonLabels: {a: b}}"
    )
    files = root("a", MODULE.replace("registry.example.com/gpu", "a")) | {
        "apps/a.yaml": application("a", "lab", source)
    }
    assert lines(repository(tmp_path, files), "KRM547") == [
        "apps/a.yaml:1:1: warning: Application a: Argo CD adds kustomize.images and kustomize.components to Module "
        "kmm/gpu after krmfn, so what is judged is not what is applied [KRM547]",
        "  help: write it into the kustomization of a",
    ]


def test_what_is_added_to_others_is_nobodys_business(tmp_path: Path) -> None:
    files = root("a", MODULE) | root("b", config_map("b"))
    files |= {"apps/b.yaml": application("b", "lab", "kustomize: {namePrefix: a-}")}
    files |= {"apps/a.yaml": application("a", "lab", "directory: {}")}
    assert lines(repository(tmp_path, files), "KRM547") == []


VARIABLES: dict[str, tuple[str, str, list[str]]] = {
    "a variable": ("a=${MODE}", "substitute: {MODE: safe}", ["${MODE}"]),
    "with a default": ("a=${MODE:=safe}", "substitute: {MODE: safe}", ["${MODE}"]),
    "behind another": ("${KERNEL_VERSION} ${MODE}", "substitute: {MODE: safe}", ["${MODE}"]),
    "from elsewhere": ("a=${MODE}", "substituteFrom: [{kind: ConfigMap, name: a}]", ["${MODE}"]),
    "of KMM": ("a=${KERNEL_VERSION}", "substituteFrom: [{kind: ConfigMap, name: a}]", []),
    "of nobody": ("a=${OTHER}", "substitute: {MODE: safe}", []),
    "without braces": ("a=$MODE", "substitute: {MODE: safe}", []),
}


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_of_flux_in_a_config_is_told(name: str, tmp_path: Path) -> None:
    text, variables, names = VARIABLES[name]
    text = config("a", "card: x").rstrip() + f'\n  parameters: ["{text}"]\n'
    added = f"{kustomization('a').rstrip()[:-1]}, postBuild: {{{variables}}}}}\n"
    told = lines(repository(tmp_path, root("a", text) | {"clusters/lab/ks.yaml": added}), "KRM548")
    told = [line for line in told if "[KRM548]" in line]
    assert [line.partition("]: ")[2].partition(" is for")[0] for line in told] == names
    assert all(line.startswith("a/a.yaml:") and "Kustomization f/a" in line for line in told)
