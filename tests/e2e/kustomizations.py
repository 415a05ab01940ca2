"""Generated repositories of kustomizations: bases, overlays, components, and what their fields can refer to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import yaml
from hypothesis import strategies as st

from tests.trees import config_map

MERGE = "{apiVersion: v1, kind: ConfigMap, metadata: {name: OWN}, data: {KEY: patched}}\n"
JSON = "- {op: add, path: /metadata/labels, value: {KEY: patched}}\n"
TARGET = "target: {version: v1, kind: ConfigMap, name: OWN}"
COPY = (
    "source: {kind: ConfigMap, name: OWN, fieldPath: metadata.name}\n"
    "targets: [{select: {kind: ConfigMap, name: OWN}, fieldPaths: [data.KEY], options: {create: true}}]\n"
)
PREFIX = (
    "{apiVersion: builtin, kind: PrefixTransformer, metadata: {name: KEY}, "
    "prefix: KEY-, fieldSpecs: [{path: metadata/name}]}\n"
)
PATCHER = f"{{apiVersion: builtin, kind: PatchTransformer, metadata: {{name: KEY}}, path: KEY.patch, {TARGET}}}\n"
MAKER = "{apiVersion: builtin, kind: SecretGenerator, metadata: {name: KEY}, name: KEY, files: [KEY.txt]}\n"

CONSTRUCTS: dict[str, tuple[str, Mapping[str, str]]] = {
    "patch": ("patches: [{path: KEY.yaml}]", {"KEY.yaml": MERGE}),
    "json patch": (f"patches: [{{path: deep/KEY.yaml, {TARGET}}}]", {"deep/KEY.yaml": JSON}),
    "inline patch": (f"patches: [{{patch: '{MERGE.strip()}'}}]", {}),
    "strategic merge": ("patchesStrategicMerge: [KEY.yaml]", {"KEY.yaml": MERGE}),
    "inline merge": (f"patchesStrategicMerge: ['{MERGE.strip()}']", {}),
    "json 6902": (f"patchesJson6902: [{{path: KEY.json, {TARGET}}}]", {"KEY.json": JSON}),
    "replacement": ("replacements: [{path: KEY.yaml}]", {"KEY.yaml": COPY}),
    "configuration": ("configurations: [KEY.yaml]", {"KEY.yaml": "commonLabels: []\n"}),
    "crd": ("crds: [KEY.json]", {"KEY.json": '{"a": {"Schema": {"properties": {}}}}'}),
    "openapi": ("openapi: {path: KEY.json}", {"KEY.json": '{"definitions": {}}'}),
    "files": (
        "configMapGenerator: [{name: KEY, files: [KEY.txt, other=deep/KEY.bin], envs: [KEY.envs], env: KEY.env}]",
        {"KEY.txt": "a", "deep/KEY.bin": "b", "KEY.envs": "C=c\n", "KEY.env": "D=d\n"},
    ),
    "secret": ("secretGenerator: [{name: KEY, files: [./KEY.txt]}]", {"KEY.txt": "a"}),
    "transformer": ("transformers: [KEY.yaml]", {"KEY.yaml": PREFIX}),
    "inline transformer": (f"transformers: ['{PREFIX.strip()}']", {}),
    "folder of transformers": (
        "transformers: [KEY]",
        {"KEY/kustomization.yaml": "resources: [a.yaml, deep]\n", "KEY/a.yaml": PREFIX}
        | {"KEY/deep/kustomization.yml": "resources: [b.yaml]\n", "KEY/deep/b.yaml": PREFIX.replace("KEY}", "KEY-2}")},
    ),
    "transformer with a file": ("transformers: [KEY.yaml]", {"KEY.yaml": PATCHER, "KEY.patch": JSON}),
    "generator with a file": ("generators: [KEY.yaml]", {"KEY.yaml": MAKER, "KEY.txt": "a"}),
}
"""Fields of a kustomization, and the files that they need. KEY is a word of its own, OWN the folder's ConfigMap."""


class Folder(NamedTuple):
    """A kustomization to be: what it lists, and whether it is a component."""

    constructs: list[str]
    bases: list[int]
    """The folders that it lists; none is listed twice, since kustomize takes no resource twice."""
    is_component: bool
    name: str


@st.composite
def repositories(draw: st.DrawFn) -> dict[str, str]:
    """Draw the files of a repository; f0 is the outermost kustomization, and each lists later ones."""
    names = st.sampled_from(["kustomization.yaml", "kustomization.yml", "Kustomization"])
    count = draw(st.integers(1, 4))
    parents = [draw(st.integers(-1, at - 1)) if at else -1 for at in range(count)]
    folders = [
        Folder(
            draw(st.lists(st.sampled_from(sorted(CONSTRUCTS)), max_size=5, unique=True)),
            [base for base in range(count) if parents[base] == at],
            at > 0 and draw(st.booleans()),
            draw(names),
        )
        for at in range(count)
    ]
    files: dict[str, str] = {"unlisted.yaml": config_map("unlisted")}
    for at, folder in enumerate(folders):
        files |= _written(at, folder, folders)
    return files


def _written(at: int, folder: Folder, folders: list[Folder]) -> dict[str, str]:
    """Return the files of one folder; the ConfigMap of each is named after it, and each prefixes what it lists."""
    fields: dict[str, Any] = {"resources": ["own.yaml"], "namePrefix": f"n{at}-"}
    if folder.is_component:
        fields |= {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component"}
    for base in folder.bases:
        field = "components" if folders[base].is_component else "bases" if base % 2 else "resources"
        fields.setdefault(field, []).append(f"../f{base}")
    files = {"own.yaml": config_map(f"own-{at}"), "unlisted.yaml": config_map("own")}
    for number, name in enumerate(folder.constructs):
        text, needed = CONSTRUCTS[name]

        def filled(part: str, key: str = f"k{at}{number}") -> str:
            return part.replace("KEY", key).replace("OWN", f"own-{at}")

        for field, value in yaml.safe_load(filled(text)).items():
            fields[field] = fields[field] + value if isinstance(value, list) and field in fields else value
        files |= {filled(file): filled(content) for file, content in needed.items()}
    files[folder.name] = yaml.safe_dump(fields)
    return {f"f{at}/{name}": text for name, text in files.items()}


# Functions, written in every way that somebody might try.

TRY = "./planted"
"""The path of a program that is not ours."""
SPECS = (
    f"exec: {{path: {TRY}}}",
    f"exec:\n  path: {TRY}",
    f'{{"exec": {{"path": "{TRY}"}}}}',
    f"EXEC: {{PATH: {TRY}}}",
    f"exec: {{path: krmfn, PATH: {TRY}}}",
    f"exec: {{path: krmfn, path: {TRY}}}",
    f"exec: {{<<: {{path: {TRY}}}, path: krmfn}}",
    f"exec: {{path: &a {TRY}}}",
    f"container: {{image: ''}}\nexec: {{path: {TRY}}}",
    f"container: {{image: krmfn}}\nexec: {{path: {TRY}}}",
    f"exec: {{path: {TRY}}}\n---\nexec: {{path: krmfn}}",
    f"exec: {{path: krmfn}}\n---\nexec: {{path: {TRY}}}",
    f"exec: {{path: krmfn, args: [{TRY}]}}\ndeferFailure: true",
    "exec: {path: krmfn}",
    "starlark: {path: planted}",
)
KEYS = (
    "config.kubernetes.io/function",
    "config.k8s.io/function",
    '"config.kubernetes.io/functio\\x6e"',
    '"config.kubernetes.io\\/function"',
    "!!str config.kubernetes.io/function",
    "? config.kubernetes.io/function\n   ",
)
_HEAD = "apiVersion: krmfn.dev/v1alpha1\nkind: RenderDeviceConfigs\n"
SHAPES = (
    _HEAD + "metadata:\n  name: a\n  annotations:\n    KEY: SPEC\n",
    _HEAD + "metadata: {name: a, annotations: {KEY: SPEC}}\n",
    _HEAD + "metadata: {name: a, annotations: {config.kubernetes.io/function: 'exec: {path: krmfn}', KEY: SPEC}}\n",
    _HEAD + "metadata: {name: a, annotations: {KEY: SPEC, config.kubernetes.io/function: 'exec: {path: krmfn}'}}\n",
    _HEAD + "x: &x {KEY: SPEC}\nmetadata: {name: a, annotations: *x}\n",
    _HEAD + "x: &x {KEY: SPEC}\nmetadata: {name: a, annotations: {<<: *x}}\n",
    _HEAD + "x: &x {KEY: SPEC}\nmetadata: {name: a, annotations: {<<: [{a: b}, *x]}}\n",
    _HEAD + "x: &x {name: a, annotations: {KEY: SPEC}}\nmetadata: {<<: *x, labels: {a: b}}\n",
    _HEAD + "metadata: {name: a, annotations: {a: b}}\nmetadata: {name: a, annotations: {KEY: SPEC}}\n",
    _HEAD + "metadata: {name: a, configFn: SPEC}\n",
    _HEAD + "metadata: {name: a, configFn: {exec: {path: ./planted}}}\n",
    _HEAD + "Metadata: {name: a, annotations: {KEY: SPEC}}\n",
    "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a, annotations: {KEY: SPEC}}}\n",
    "apiVersion: v1\nkind: AList\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a, annotations: {KEY: SPEC}}}\n",
    "kind: ResourceList\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a, annotations: {KEY: SPEC}}}\n",
    "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: a, annotations: {KEY: SPEC}}\nprefix: a-\n",
    "apiVersion: builtin/builtin\nkind: A\nmetadata: {name: a, annotations: {KEY: SPEC}}\n",
)
"""Resources with an annotation of theirs, in KEY, that holds SPEC."""
AROUND = (
    "RESOURCE",
    "---\nRESOURCE",
    "\ufeffRESOURCE",
    "# comment\n---\nRESOURCE---\n",
    "%YAML 1.2\n---\nRESOURCE",
    "OURS---\nRESOURCE",
    "OURS--- # next\nRESOURCE",
    "OURS---#\nRESOURCE",
    "OURS...\nRESOURCE",
    "OURS---\r\nRESOURCE",
    "OURS--- \t\nRESOURCE",
    "OURS---\u2028RESOURCE",
    "OURS--- |\n text\n---\nRESOURCE",
    "OURS---\nnull\n---\nRESOURCE",
)
OURS = _HEAD + "metadata: {name: ours, annotations: {config.kubernetes.io/function: 'exec: {path: krmfn}'}}\n"


@st.composite
def function_configs(draw: st.DrawFn) -> str:
    """Draw a file with a functionConfig that may call a program that is not ours."""
    spec, shape = draw(st.sampled_from(SPECS)), draw(st.sampled_from(SHAPES))
    quoted = json.dumps(spec) if draw(st.booleans()) else json.dumps(spec).replace("/", "\\/")
    resource = shape.replace("KEY", draw(st.sampled_from(KEYS))).replace("SPEC", quoted)
    text = draw(st.sampled_from(AROUND)).replace("RESOURCE", resource).replace("OURS", OURS)
    return text.replace("\n", "\r\n") if draw(st.integers(0, 5)) == 0 else text


PLACES: dict[str, Mapping[str, str]] = {
    "a file": {"kustomization.yaml": "resources: [own.yaml]\nFIELD: [function.yaml]\n"},
    "inline": {"kustomization.yaml": "resources: [own.yaml]\nFIELD: [QUOTED]\n"},
    "another case": {"kustomization.yaml": "resources: [own.yaml]\nUPPER: [function.yaml]\n"},
    "an anchor": {"kustomization.yaml": "resources: &r [own.yaml, function.yaml]\nFIELD: *r\n"},
    "a merge": {"kustomization.yaml": "openapi: &o {}\n<<: {FIELD: [function.yaml]}\nresources: [own.yaml]\n"},
    "twice": {"kustomization.yaml": "resources: [own.yaml]\nFIELD: []\nFIELD: [function.yaml]\n"},
    "a second document": {"kustomization.yaml": "resources: [own.yaml]\n---\nFIELD: [function.yaml]\n"},
    "a base": {
        "kustomization.yaml": "resources: [base]\n",
        "base/kustomization.yml": "resources: [own.yaml]\nFIELD: [function.yaml]\n",
    },
    "a component": {
        "kustomization.yaml": "resources: [own.yaml]\ncomponents: [base]\n",
        "base/Kustomization": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nFIELD: [function.yaml]\n",
    },
    "a folder": {
        "kustomization.yaml": "resources: [own.yaml]\nFIELD: [base]\n",
        "base/kustomization.yaml": "resources: [function.yaml]\n",
    },
    "a patched folder": {
        "kustomization.yaml": "resources: [own.yaml]\nFIELD: [base]\n",
        "base/kustomization.yaml": "resources: [own.yaml]\n"
        "patches: [{path: function.yaml, target: {kind: ConfigMap}}]\n",
    },
    "a folder with annotations": {
        "kustomization.yaml": "resources: [own.yaml]\nFIELD: [base]\n",
        "base/kustomization.yaml": "resources: [own.yaml]\n"
        "commonAnnotations: {config.kubernetes.io/function: 'exec: {path: ./planted}'}\n",
    },
    "a folder that generates": {
        "kustomization.yaml": "resources: [own.yaml]\nFIELD: [base]\n",
        "base/kustomization.yaml": "configMapGenerator: [{name: a, options: {annotations: "
        "{config.kubernetes.io/function: 'exec: {path: ./planted}'}}}]\n",
    },
}
"""Where a kustomization may list a functionConfig. FIELD is a list of functions, UPPER the same in capitals."""


@st.composite
def planted(draw: st.DrawFn) -> dict[str, str]:
    """Draw a repository that may make kustomize run ./planted."""
    text = draw(function_configs())
    field = draw(st.sampled_from(["transformers", "generators", "validators"]))
    files = PLACES[draw(st.sampled_from(sorted(PLACES)))]
    filled = {
        name: content.replace("FIELD", field).replace("UPPER", field.upper()).replace("QUOTED", json.dumps(text))
        for name, content in files.items()
    }
    folders = {name.rpartition("/")[0] for name in filled}
    for folder in folders:
        filled |= {f"{folder}/function.yaml".lstrip("/"): text, f"{folder}/own.yaml".lstrip("/"): config_map("own")}
    return filled


@st.composite
def addresses(draw: st.DrawFn) -> str:
    """Draw what kustomize may take for a Git repository, or nearly."""
    scheme = st.sampled_from(["", "ssh://", "SSH://", "file://", "https://", "git::", "git::ssh://", "git://", "http:"])
    user = st.sampled_from(["", "git@", "a-1@", "1@", "org-12@", "a.b@"])
    host = st.sampled_from(["127.0.0.1", "github.com", "GitHub.com", "github.com.evil", "localhost:9", "", "."])
    paths = "a a/b a/b/c /a a//b //a/b a.git a/b.git/c _git/a a/_git/b . ../a/b a/.."
    path = st.sampled_from(["", *paths.split()])
    query = st.sampled_from(["", "?ref=v1", "?", "?timeout=1"])
    parts = (scheme, user, host, st.sampled_from(["/", ":", "", ":/", "//"]), path, query)
    return "".join(draw(part) for part in parts)
