"""Generated repositories: bases, overlays and components that rename DeviceConfigs, and functions at their levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import yaml
from hypothesis import strategies as st

from tests.trees import COMPONENT

PROFILES = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata:
  name: render
  annotations: {config.kubernetes.io/function: "exec: {path: krmfn}"}
spec:
  defaults: {imagePullPolicy: Always}
  profiles:
    acme:
      serviceAccountName: loader
      imagePullSecret: pull
      build: {dockerfileConfigMap: {name: dockerfile}, secrets: [{name: pull}]}
      daemonSets:
      - name: agent
        image: registry.example.com/agent:1
        serviceAccountName: loader
        envFrom: [{configMapRef: {name: dockerfile}}]
"""
ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: loader, namespace: kmm}\n"
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: pull, namespace: kmm}\nstringData: {a: b}\n"
PLAIN = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dockerfile, namespace: kmm}\ndata: {dockerfile: FROM a}\n"
HASHED = {"name": "dockerfile", "namespace": "kmm", "literals": ["dockerfile=FROM a"]}
CHANGES: Mapping[str, dict[str, Any]] = {
    "prefix": {"namePrefix": "lab-"},
    "suffix": {"nameSuffix": "-v2"},
    "namespace": {"namespace": "lab"},
    "labels": {"labels": [{"pairs": {"team": "storage"}, "includeTemplates": True}]},
    "common": {"commonAnnotations": {"team": "storage"}},
    "images": {"images": [{"name": "registry.example.com/acme", "newName": "mirror.example.com/acme"}]},
    "patch": {
        "patches": [
            {
                "target": {"kind": "DeviceConfig"},
                "patch": "- {op: replace, path: /spec/driverVersion, value: '2.0'}\n",
            }
        ]
    },
    "fifo": {"sortOptions": {"order": "fifo"}},
}
"""What a level may do to what it lists."""


class Level(NamedTuple):
    """A kustomization: what it changes, whether it calls the function, and whether it is told of our names."""

    changes: tuple[str, ...] = ()
    calls: bool = False
    is_told: bool = False
    component: tuple[str, ...] | None = None
    """The changes of a component that it lists; None without one."""
    in_component: bool = False
    """Whether the component calls the function, and not the kustomization itself."""
    shared: bool = False
    """Whether the functionConfig stands in a folder with a kustomization of its own, beside the levels."""


def config(name: str = "gpu", local: bool = True, profile: str = "acme") -> str:
    """Return a DeviceConfig."""
    mark = '    config.kubernetes.io/local-config: "true"\n' if local else '    example.com/kept: "true"\n'
    return (
        f"apiVersion: krmfn.dev/v1alpha1\nkind: DeviceConfig\nmetadata:\n  name: {name}\n  namespace: kmm\n"
        f"  annotations:\n{mark}spec:\n  driverImage: registry.example.com/acme\n  driverVersion: '1.0'\n"
        f"  moduleName: {name}\n  nodeSelector: {{example.com/card: {name}}}\n"
        + (f"  profile: {profile}\n" if profile else "")
    )


def files(levels: tuple[Level, ...], names: str, configs: tuple[str, ...], hashed: bool) -> dict[str, str]:
    """Return the files of a repository; levels[0] is the base, the last one is the folder `top`.

    `names` is what `krmfn kustomize-config` prints.
    """
    resources = {"account.yaml": ACCOUNT, "secret.yaml": SECRET}
    resources |= {f"config-{number}.yaml": text for number, text in enumerate(configs)}
    resources |= {} if hashed else {"dockerfile.yaml": PLAIN}
    written: dict[str, str] = {f"l0/{name}": text for name, text in resources.items()}
    below: list[str] = sorted(resources)
    for number, level in enumerate(levels):
        folder = "top" if number == len(levels) - 1 else f"l{number}"
        copies = {path: text for path, text in written.items() if path.startswith("l0/")} if number == 0 else {}
        written |= {f"{folder}/{path.removeprefix('l0/')}": text for path, text in copies.items()}
        fields: dict[str, Any] = {"resources": below}
        if number == 0 and hashed:
            fields["configMapGenerator"] = [HASHED]
        for change in level.changes:
            fields |= CHANGES[change]
        inner: dict[str, Any] = {}
        for change in level.component or ():
            inner |= CHANGES[change]
        if level.calls:
            home = f"c{number}" if level.in_component and level.component is not None else folder
            (fields if home == folder else inner)["transformers"] = ["../profiles" if level.shared else "function.yaml"]
            written[f"{'profiles' if level.shared else home}/function.yaml"] = PROFILES
            if level.shared:
                written["profiles/kustomization.yaml"] = "resources: [function.yaml]\n"
        if level.component is not None:
            fields["components"] = [f"../c{number}"]
            written[f"c{number}/kustomization.yaml"] = COMPONENT + (yaml.safe_dump(inner) if inner else "")
        if level.is_told:
            fields["configurations"] = ["names.yaml"]
            written[f"{folder}/names.yaml"] = names
        written[f"{folder}/kustomization.yaml"] = yaml.safe_dump(fields)
        below = [f"../{folder}"]
    return written


@st.composite
def repositories(draw: st.DrawFn, names: str) -> dict[str, str]:
    """Draw the files of a repository whose outermost kustomization is `top`."""
    count = draw(st.integers(1, 3))
    changes = st.lists(st.sampled_from(sorted(CHANGES)), max_size=3, unique=True).map(tuple)
    component = st.none() | st.lists(
        st.sampled_from(["prefix", "namespace", "patch", "labels"]), min_size=1, max_size=2
    )
    levels = []
    for number in range(count):
        inner = draw(component)
        levels.append(
            Level(
                draw(changes),
                draw(st.booleans()) if number < count - 1 else draw(st.sampled_from([True, True, True, False])),
                draw(st.sampled_from([True, True, False])),
                None if inner is None else tuple(dict.fromkeys(inner)),
                draw(st.sampled_from([False, False, True])),
                draw(st.booleans()),
            )
        )
    profile = "acme" if any(level.calls for level in levels) else ""
    several = draw(st.integers(1, 2))
    local = bool(profile) and draw(st.booleans())  # a plain build drops these before krmfn sees them
    configs = tuple(config(name, local, profile) for name in ("gpu", "nic")[:several])
    return files(tuple(levels), names, configs, draw(st.booleans()))


KPTFILE = """\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata: {name: package, annotations: {config.kubernetes.io/local-config: "true"}}
"""
PIPELINE = "pipeline: {mutators: [{exec: krmfn, configPath: function.yaml}]}\n"


def package(configs: list[str], subpackage: bool) -> dict[str, str]:
    """Return the files of a kpt package; its configs may stand in a package within it."""
    folder = "inner/" if subpackage else ""
    written = {f"{folder}config-{number}.yaml": text for number, text in enumerate(configs)}
    written |= {"inner/Kptfile": KPTFILE.replace("package", "inner")} if subpackage else {}
    functions = PROFILES.replace(
        'config.kubernetes.io/function: "exec: {path: krmfn}"', 'config.kubernetes.io/local-config: "true"'
    )
    return {
        "Kptfile": KPTFILE + PIPELINE,
        "function.yaml": functions,
        "account.yaml": ACCOUNT,
        "secret.yaml": SECRET,
        **written,
    }
