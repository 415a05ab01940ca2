"""`check --fix` where kustomize builds: a mistake in a patch is mended there, and nothing outside of the root."""

from __future__ import annotations

from pathlib import Path

from tests.commands import process
from tests.functions.commands.test_fix import BASE, UNUSED, check, content
from tests.trees import plant

KUSTOMIZATION = """\
resources: [a.yaml]
namePrefix: lab-
# what the lab has otherwise
patches:
- path: p.yaml
- target: {kind: DeviceConfig}
  patch: |-
    # strategic
    apiVersion: krmfn.dev/v1alpha1
    kind: DeviceConfig
    metadata:
      name: gpu
      namespace: kmm
    spec:
      imagePullPolicy: Always   # each time
- target: {kind: DeviceConfig}
  patch: |
    - op: replace
      path: /spec/driverVersion
      value: "1.10"
    - {op: add, path: "/spec/kernelMappings", value: [{regexp: ".*"}]}
"""
PATCH = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec: {inTreeModulesToRemove: [nouveau]}
"""
BUILT = {"a.yaml": BASE, "p.yaml": PATCH, "kustomization.yaml": KUSTOMIZATION}


def test_a_mistake_in_a_patch_is_mended_in_the_patch(tmp_path: Path) -> None:
    wrong = dict(BUILT)
    wrong["p.yaml"] = PATCH.replace("inTreeModulesToRemove", "inTreeModuleToRemove")
    wrong["kustomization.yaml"] = (
        KUSTOMIZATION.replace("imagePullPolicy", "imagePulPolicy")
        .replace('value: "1.10"', "value: 1.10")
        .replace("/kernelMappings", "/kernelMapping")
    )
    before = check(plant(tmp_path, BUILT)).ended(0)
    done = check(plant(tmp_path, wrong), "--fix").ended(0, "fixed 4 findings in 2 files\n")
    assert content(tmp_path) == BUILT
    assert done.out == before.out


def test_an_unused_entry_in_a_patch_goes(tmp_path: Path) -> None:
    entry = f'      annotations:\n        krmfn.dev/ignore: "{UNUSED}"\n'
    files = dict(BUILT)
    files["kustomization.yaml"] = KUSTOMIZATION.replace("      namespace: kmm\n", f"      namespace: kmm\n{entry}")
    check(plant(tmp_path, files), "--fix").ended(0, "fixed 1 finding in 1 file\n")
    assert content(tmp_path) == BUILT


def test_nothing_outside_of_the_root_is_mended(tmp_path: Path) -> None:
    wrong = BASE.replace("moduleName", "modulName")
    files = {"base/a.yaml": wrong, "base/kustomization.yaml": "resources: [a.yaml]\n"}
    plant(tmp_path, files | {"lab/kustomization.yaml": "resources: [../base]\n"})
    done = process("krmfn", "check", "lab", "--fix", cwd=tmp_path)
    assert done.code == 1
    assert (tmp_path / "base/a.yaml").read_text() == wrong
    process("krmfn", "check", "lab", "--fix", "--root", ".", cwd=tmp_path).ended(0)
    assert (tmp_path / "base/a.yaml").read_text() == BASE


def test_a_mistake_that_clusters_share_is_mended_once_and_that_of_one_is_its_own(tmp_path: Path) -> None:
    patch = (
        "\npatches:\n- target: {kind: DeviceConfig}\n  patch: |-\n    - {op: add, path: /spec/dirName, value: /opt}\n"
    )
    roots = {f"{name}/kustomization.yaml": f"resources: [../base]\nnamePrefix: {name}-{patch}" for name in ("a", "b")}
    files = roots | {"base/kustomization.yaml": "resources: [x.yaml]\n", "base/x.yaml": BASE}
    files |= {".krmfn.yaml": "clusters: {a: [a], b: [b]}\n"}
    wrong = dict(files)
    wrong["base/x.yaml"] = BASE.replace("moduleName", "modulName")
    wrong["b/kustomization.yaml"] = files["b/kustomization.yaml"].replace("/dirName", "/dirNam")
    before = check(plant(tmp_path, files)).ended(0)
    plant(tmp_path, wrong)
    done = check(tmp_path, "--fix", "--root", ".").ended(0, "fixed 2 findings in 2 files\n")
    assert content(tmp_path) == files
    assert done.out == before.out
