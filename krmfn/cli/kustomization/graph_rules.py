"""The rules about the kustomization graph; the walk that reads it reports them (see `reading`)."""

from __future__ import annotations

from ...rule import Rule

_GOOD = """\
# kustomization.yaml
resources: [config.yaml]
---
# config.yaml
kind: DeviceConfig
"""
_FUNCTION = """\
# kustomization.yaml
resources: [config.yaml]
transformers: [function.yaml]
---
# config.yaml
kind: DeviceConfig
---
# function.yaml
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata:
  name: render
  annotations:
    config.kubernetes.io/function: "exec: {path: krmfn}"
"""
_COMPONENT = """\
# kustomization.yaml
resources: [config.yaml]
components: [part]
---
# config.yaml
kind: DeviceConfig
---
# part/kustomization.yaml
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
namePrefix: lab-
"""

RULES = (
    Rule(
        "KRM501",
        "a folder's kustomization is one regular file of that folder",
        good=_GOOD,
        bad=f"{_GOOD}---\n# kustomization.yml\nresources: [config.yaml]\n",
        remedy="Keep one of kustomization.yaml, kustomization.yml and Kustomization, and a file instead of a link.",
    ),
    Rule(
        "KRM502",
        "a kustomization is one YAML document with kustomize's fields, spelled as kustomize spells them",
        good=_GOOD,
        bad=_GOOD.replace("resources", "resource"),
        remedy="Correct the field's name or its type; `kustomize build` would refuse it, too.",
    ),
    Rule(
        "KRM503",
        "a key stands once in a kustomization: kustomize takes the last one without a word",
        good=_GOOD,
        bad=f"# kustomization.yaml\nresources: [other.yaml]\n{_GOOD.partition(chr(10))[2]}",
        remedy="Join the two into one.",
    ),
    Rule(
        "KRM504",
        "what a kustomization lists is there, and is a file or a folder as the field wants it",
        good=_GOOD,
        bad=_GOOD.replace("[config", "[configs"),
        remedy="Correct the path, which is relative to the kustomization's folder, or take it off the list.",
    ),
    Rule(
        "KRM505",
        "kustomizations make no circle: none lists itself, a folder above it, or what lists it",
        good=_GOOD,
        bad=f"{_GOOD.replace('[', '[base, ')}---\n# base/kustomization.yaml\nresources: [..]\n",
        remedy="Move what both need into a folder of its own, and list that folder.",
    ),
    Rule(
        "KRM506",
        "a Component is listed under components, and nothing else is",
        good=_COMPONENT,
        bad=_COMPONENT.replace("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n", ""),
        remedy="List it under the other field, or change its kind.",
    ),
    Rule(
        "KRM507",
        "a kustomization reads files in and below its own folder only",
        good=_GOOD,
        bad="""\
# kustomization.yaml
resources: [lab]
---
# lab/kustomization.yaml
resources: [../config.yaml]
---
# config.yaml
kind: DeviceConfig
""",
        remedy="Move the file, or list the folder of a kustomization that holds it.",
    ),
    Rule(
        "KRM508",
        "nothing is read from outside the Git work tree, or the folder that --root names",
        good=_GOOD,
        bad=_GOOD.replace("[", "[/etc, "),
        remedy="Copy it into the repository, or name a larger folder with --root.",
    ),
    Rule(
        "KRM509",
        "nothing is fetched over the network",
        good=_GOOD,
        bad=_GOOD.replace("[", "['https://github.com/example/app//deploy?ref=v1', "),
        remedy="Keep a copy in the repository, so that what was reviewed is what is deployed.",
    ),
    Rule(
        "KRM510",
        "the functions that a kustomization lists are krmfn's, called by their bare names and without settings",
        good=_FUNCTION,
        bad=_FUNCTION.replace("path: krmfn", "path: ./krmfn"),
        remedy="Take other functions out of the kustomization, or run them beforehand and keep their output.",
    ),
    Rule(
        "KRM511",
        "a function of krmfn's stands under transformers",
        good=_FUNCTION,
        bad=_FUNCTION.replace("transformers", "generators"),
        remedy="List it under transformers of the outermost kustomization; an error stops the build from there, too.",
    ),
    Rule(
        "KRM512",
        "no helm chart is filled in while a kustomization is built",
        good=_GOOD,
        bad=f"{_GOOD}---\n# charts/app/values.yaml\nreplicas: 1\n".replace("---", "helmCharts: [{name: app}]\n---", 1),
        remedy="Keep helm's output in the repository.",
    ),
    Rule(
        "KRM513",
        "an image of krmfn's that a kustomization calls has the version that renders and checks here",
        good=_FUNCTION,
        bad=_FUNCTION.replace("exec: {path: krmfn}", "container: {image: 'krmfn:0.0.1'}"),
        remedy="Render and check with the version that the kustomization calls, or change the tag.",
        severities=("warning",),
    ),
    Rule(
        "KRM517",
        "a kustomization and what it lists must be read alike by every reader of YAML",
        good=_FUNCTION,
        bad=_FUNCTION.replace("kind: Render", "kind: Other\nkind: Render"),
        remedy="Write each key once, without tags, and --- alone on its line.",
    ),
)
