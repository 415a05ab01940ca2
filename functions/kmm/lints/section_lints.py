"""Lints about the sections that few Modules have: sign, build and dra."""

import os
import re
from collections.abc import Collection, Iterator

from krmfn import Field, Result, error, info, warning

from ... import oracles
from ...rule import Rule
from ..lookup import has, table, texts
from ..module import MAPPINGS, Module
from ..rule import quote
from ..versions import Target

VARIABLE = "KUBE_VERSION"
"""The environment variable with the cluster's Kubernetes version: Argo CD sets it. Source: Argo CD 3.2.1, plugins."""
IGNORED_BUILD = ("selector", "kanikoParams", "baseImageRegistryTLS")


def _signed_files_are_in_the_directory(module: Module, kmm: Target, _: Collection[str]) -> Iterator[Result]:
    for path, sign in module.sections("sign") if not kmm.sign_files else ():
        if not (files := texts(sign, "filesToSign")):
            yield warning(
                "sign without filesToSign signs nothing", field=Field(f"{path}.filesToSign"), remedy="list the files"
            )
        for index, file in enumerate(files):
            if not file.startswith(module.directory + "/"):
                where = f"modprobe.dirName {quote(module.directory)}, where the modules are"
                field = Field(f"{path}.filesToSign[{index}]", file)
                yield warning(f"{quote(file)} is not under {where}", field=field, remedy="write its path below it")


KRM206 = Rule(
    "KRM206",
    "files to sign should be listed and be below modprobe.dirName; KMM before 2.6 does not check this",
    good="""\
# kmm: 2.5
spec:
  moduleLoader:
    container:
      sign:
        keySecret: {name: signing-key}
        certSecret: {name: signing-cert}
        filesToSign: [/opt/lib/modules/$KERNEL_FULL_VERSION/gpu.ko]
""",
    bad="""\
# kmm: 2.5
spec:
  moduleLoader:
    container:
      sign:
        keySecret: {name: signing-key}
        certSecret: {name: signing-cert}
        filesToSign: [gpu.ko]
""",
    remedy="List the files with their paths below modprobe.dirName, or remove the sign section.",
    held=oracles.KERNEL_MAPPINGS,
    check=_signed_files_are_in_the_directory,
    severities=("warning",),
    advice=True,
)


def _mapping_settings_count(module: Module, kmm: Target, _: Collection[str]) -> Iterator[Result]:
    ignored = [("build", key) for key in IGNORED_BUILD] + [("sign", "unsignedImageRegistryTLS")]
    for index, entry in enumerate(module.mappings):
        for section, key in ignored:
            if has(module.container, section) and table(entry, section).get(key) is not None:
                message = f"KMM ignores this: with a container-level {section} section it takes {key} from there"
                field = Field(f"{MAPPINGS}[{index}].{section}.{key}")
                yield warning(message, field=field, remedy=f"move it to the container's {section}")


KRM207 = Rule(
    "KRM207",
    "a mapping's build or sign should not have settings that KMM ignores because the container has that section, too",
    good="""\
spec:
  moduleLoader:
    container:
      build: {dockerfileConfigMap: {name: gpu-build}, kanikoParams: {tag: v1.24.0}}
      kernelMappings:
      - regexp: ^.+$
        containerImage: registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION
        build: {dockerfileConfigMap: {name: gpu-build-2}}
""",
    bad="""\
spec:
  moduleLoader:
    container:
      build: {dockerfileConfigMap: {name: gpu-build}}
      kernelMappings:
      - regexp: ^.+$
        containerImage: registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION
        build: {dockerfileConfigMap: {name: gpu-build-2}, kanikoParams: {tag: v1.24.0}}
""",
    remedy="Move the setting to the container's section, or remove that section and repeat it in each mapping.",
    held=oracles.KERNEL_MAPPINGS,
    check=_mapping_settings_count,
    severities=("warning",),
    advice=True,
)


def _cluster_has_dra(module: Module, kmm: Target, kubelets: Collection[str]) -> Iterator[Result]:
    if not (kmm.dra and has(module.spec, "dra")):
        return
    refusal = f"KMM refuses dra on a cluster before {kmm.platform} {kmm.dra_since}"
    since = _numbers(kmm.dra_since)
    of_kubernetes = kmm.platform == "Kubernetes"
    if of_kubernetes and (version := _numbers(os.environ.get(VARIABLE, ""))):
        if version < since:
            yield error(
                f"{refusal}, and this one has {os.environ[VARIABLE]} ({VARIABLE})",
                field=Field("spec.dra"),
                remedy="write a devicePlugin",
            )
        return
    newest = max(kubelets, key=_numbers, default="") if of_kubernetes else ""
    if newest and _numbers(newest) >= since:
        return
    unknown = "nothing here says which version the cluster has"
    evidence = f"the newest kubelet of its nodes is {newest}" if newest else unknown
    remedy = f"set {VARIABLE} to the cluster's version, or write a devicePlugin" if of_kubernetes else ""
    yield info(f"{refusal}, and {evidence}", field=Field("spec.dra"), remedy=remedy)


def _numbers(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version, such as 1.34.2; () for what is none."""
    match = re.match(r"v?(\d+)\.(\d+)", version)
    return tuple(map(int, match.groups())) if match else ()


KRM209 = Rule(
    "KRM209",
    "DRA should be used on Kubernetes 1.34 or later (the fork: OpenShift 4.21): KMM refuses it on an older cluster",
    good="""\
# kmm: main
spec: {devicePlugin: {container: {image: "registry.example.com/plugin:1.0"}}}
""",
    bad="""\
# kmm: main
spec: {dra: {driverName: gpu.example.com, container: {image: "registry.example.com/dra:1.0"}}}
""",
    remedy="Check the cluster's version, then turn the rule off with that as the reason. On an older cluster, write a "
    "devicePlugin.",
    held=oracles.WEBHOOK,
    check=_cluster_has_dra,
    severities=("info", "error"),
    advice=True,
)

RULES = (KRM206, KRM207, KRM209)
