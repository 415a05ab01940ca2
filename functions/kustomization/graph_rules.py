"""The rules about the kustomization graph; the walk that reads it reports them (see `reading`)."""

from __future__ import annotations

from .. import oracles
from ..rule import Rule

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

RULES = (
    Rule(
        "KRM501",
        "a folder must have only one kustomization, which must be a regular file of that folder",
        good=_GOOD,
        bad=f"{_GOOD}---\n# kustomization.yml\nresources: [config.yaml]\n",
        remedy="Keep one of kustomization.yaml, kustomization.yml and Kustomization, and replace a link with a file.",
        held=oracles.KUSTOMIZE_GRAPH,
    ),
    Rule(
        "KRM502",
        "a kustomization must be one YAML document with fields that kustomize knows",
        good=_GOOD,
        bad=_GOOD.replace("resources", "resource"),
        remedy="Correct the field's name or its type; `kustomize build` would refuse it, too.",
        held=oracles.KUSTOMIZE_GRAPH,
    ),
    Rule(
        "KRM503",
        "a key must not appear twice in a kustomization: kustomize silently takes the last one",
        good=_GOOD,
        bad=f"# kustomization.yaml\nresources: [other.yaml]\n{_GOOD.partition(chr(10))[2]}",
        remedy="Merge the two into one.",
        held=oracles.KUSTOMIZE_TESTS,
    ),
    Rule(
        "KRM504",
        "a path in a kustomization must exist, and must be a file or a folder as its field requires",
        good=_GOOD,
        bad=_GOOD.replace("[config", "[configs"),
        remedy="Correct the path, which is relative to the kustomization's folder, or remove it from the list.",
        held=oracles.KUSTOMIZE_GRAPH,
    ),
    Rule(
        "KRM505",
        "kustomizations must not form a cycle by listing themselves, a folder above them, or what lists them",
        good=_GOOD,
        bad=f"{_GOOD.replace('[', '[base, ')}---\n# base/kustomization.yaml\nresources: [..]\n",
        remedy="Move what both need into a folder of its own, and list that folder.",
        held=oracles.KUSTOMIZE_GRAPH,
    ),
    Rule(
        "KRM506",
        "a Component must be listed under components, and only a Component must be listed there",
        good="""\
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
""",
        bad="""\
# kustomization.yaml
resources: [config.yaml]
components: [part]
---
# config.yaml
kind: DeviceConfig
---
# part/kustomization.yaml
namePrefix: lab-
""",
        remedy="List it under the other field, or change its kind.",
        held=oracles.KUSTOMIZE_GRAPH,
    ),
    Rule(
        "KRM507",
        "a kustomization must not read files outside its own folder",
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
        remedy="Move the file, or list the folder of a kustomization that contains it.",
        held=oracles.KUSTOMIZE_GRAPH,
    ),
    Rule(
        "KRM508",
        "files must be inside the Git work tree, or inside the folder that --root names",
        good=_GOOD,
        bad=_GOOD.replace("[", "[/etc, "),
        remedy="Copy the file into the repository, or name a larger folder with --root.",
        held=oracles.OUR_FILES,
    ),
    Rule(
        "KRM509",
        "a kustomization must not fetch anything over the network",
        good=_GOOD,
        bad=_GOOD.replace("[", "['https://github.com/example/app//deploy?ref=v1', "),
        remedy="Keep a copy in the repository, so that what was reviewed is what is deployed. Or pass "
        "`--allow-remote`, or skip the folder with `--exclude`.",
        held=oracles.KUSTOMIZE_GRAPH,
        severities=("error", "info"),
    ),
    Rule(
        "KRM510",
        "a kustomization must not list functions other than krmfn's, called by their bare names and without settings",
        good=_FUNCTION,
        bad=_FUNCTION.replace("path: krmfn", "path: ./krmfn"),
        remedy="Remove other functions from the kustomization, or run them beforehand and keep their output. Leave "
        "its folder out with `--exclude` where krmfn has nothing to do.",
        held=oracles.KUSTOMIZE_GRAPH,
        severities=("error", "info"),
    ),
    Rule(
        "KRM511",
        "a krmfn function must be listed under transformers",
        good=_FUNCTION,
        bad=_FUNCTION.replace("transformers", "generators"),
        remedy="List it under transformers of the outermost kustomization; an error stops the build from there, too.",
        held=oracles.KUSTOMIZE,
    ),
    Rule(
        "KRM512",
        "a kustomization must not render Helm charts",
        good=_GOOD,
        bad=f"{_GOOD}---\n# charts/app/values.yaml\nreplicas: 1\n".replace("---", "helmCharts: [{name: app}]\n---", 1),
        remedy="Render the chart with helm, and keep the output in the repository. Or pass "
        "`--kustomize=--enable-helm`, or skip the folder with `--exclude`.",
        held=oracles.KUSTOMIZE_GRAPH,
        severities=("error", "info"),
    ),
    Rule(
        "KRM513",
        "an image of krmfn in a kustomization should have the version of the krmfn that renders and checks here",
        good=_FUNCTION,
        bad=_FUNCTION.replace("exec: {path: krmfn}", "container: {image: 'krmfn:0.0.1'}"),
        remedy="Render and check with the version that the kustomization calls, or change the tag.",
        held=oracles.OUR_FILES,
        severities=("warning",),
    ),
    Rule(
        "KRM517",
        "a kustomization and what it lists must mean the same to every YAML reader",
        good=_FUNCTION,
        bad=_FUNCTION.replace("kind: Render", "kind: Other\nkind: Render"),
        remedy="Write each key once, without tags, and --- alone on its line.",
        held=oracles.KUSTOMIZE_TRICKS,
    ),
    Rule(
        "KRM518",
        "the target of a patch should match something: kustomize skips a patch without a match, and says nothing",
        good="""\
# kustomization.yaml
resources: [config.yaml]
patches:
- patch: '[{"op": "add", "path": "/spec/moduleName", "value": "gpu"}]'
  target: {kind: DeviceConfig}
---
# config.yaml
kind: DeviceConfig
""",
        bad="""\
# kustomization.yaml
resources: [config.yaml]
patches:
- patch: '[{"op": "add", "path": "/spec/moduleName", "value": "gpu"}]'
  target: {kind: DeviceConfigs}
---
# config.yaml
kind: DeviceConfig
""",
        remedy="Correct kind and name of the target, or remove the patch. List what it is for under `resources`: a "
        "Profile that only `.krmfn.yaml` names is read after the build, and cannot be patched.",
        held=oracles.KUSTOMIZE_EXAMPLES,
        severities=("warning",),
    ),
)
