"""Files as people write them: resources in every ordinary shape, and YAML beside them that is none of Kubernetes'."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import yaml

from tests.trees import config_map

CM = config_map("a")
POD = json.dumps(
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "a", "image": "a"}]},
    }
)
OTHER_POD = POD.replace('"a"', '"b"')
LITERAL = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: script
data:
  run.sh: |
    #!/bin/sh
    cat <<EOF
    ---
    a: b
    --- # Source: x
    ---x
    ...
    EOF
  folded: >-
    two lines
    are one

    and a second
  quoted: "three
    in
    one"
"""
ANCHORS = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  labels: &labels
    app: a
  annotations:
    <<: *labels
    b: &b c
data:
  <<: [*labels, {d: e}]
  b: *b
"""
LOOSE: Mapping[str, str] = {
    "helm": f"---\n# Source: app/templates/a.yaml\n{CM}---\n# Source: app/templates/b.yaml\n{config_map('b')}",
    "helm in a line": f"--- # Source: app/templates/a.yaml\n{CM}--- # Source: app/templates/b.yaml\n{config_map('b')}",
    "Windows": f"---\n{CM}---\n# b\n{config_map('b')}---\n".replace("\n", "\r\n"),
    "BOM": f"\ufeff{CM}---\n{config_map('b')}",
    "BOM and a divider": f"\ufeff---\n{CM}",
    "JSON": f"{POD}\n",
    "JSON in lines": json.dumps(json.loads(POD), indent=2),
    "JSON with tabs": json.dumps(json.loads(POD), indent="\t"),
    "JSON documents": f"{POD}\n---\n{OTHER_POD}\n",
    "an end": f"{CM}...\n",
    "an end and a divider": f"{CM}...\n---\n{config_map('b')}",
    "no newline at the end": CM.strip(),
    "anchors": ANCHORS,
    "anchors again": f"{ANCHORS}---\n{ANCHORS.replace('name: a', 'name: b')}",
    "a long line": f"{CM.replace('{a: b}', '')}  a: {'x' * 300_000}\n",
    "a long line in quotes": f"{CM.replace('{a: b}', '')}  a: {json.dumps('x' * 300_000)}\n",
    "empty documents": f"---\n---\n{CM}---\n\n---\n---\n{config_map('b')}---\n",
    "comments only": f"# a\n---\n{CM}---\n# b\n\n  # c\n---\n",
    "a banner": f"{'#' * 80}\n#{' ' * 30}lab{' ' * 30}#\n{'#' * 80}\n{CM}",
    "a rule of dashes in a comment": f"#---\n# --- # lab\n#-----------\n{CM}",
    "comments at the end": f"{CM} # after\n# all\n",
    "lines of text": LITERAL,
    "lines of text on Windows": LITERAL.replace("\n", "\r\n"),
    "emoji": CM.replace("name: a", "name: a, annotations: {a: '🚀', b: \"\\U0001F680\", c: 実験}").replace(
        "}\n", "} # für 実験 🚀\n"
    ),
    "quoted keys": CM.replace("kind", '"kind"').replace("name", "'name'"),
    "a list": f"apiVersion: v1\nkind: List\nitems:\n- {json.dumps(yaml.safe_load(CM))}\n- {POD}\n",
    "an empty value": CM.replace("{a: b}", "{a: '', b: '~', c: 'null'}"),
    "core tags": CM.replace("{a: b}", "{a: !!str 1, !!str c: d}"),
    "a binary": f"{CM}binaryData: {{a: !!binary YWJj}}\n",
    "block in flow": CM.replace("{a: b}", "{\n    a: b, # first\n    c: d\n  }"),
    "explicit keys": CM.replace("data: {a: b}", "data:\n  ? a\n  : b"),
    "a file of dashes": CM.replace("b}", "'-----BEGIN CERTIFICATE-----'}"),
    "a certificate": f"{CM.replace('{a: b}', '')}  a: |\n    -----BEGIN CERTIFICATE-----\n    MIIB\n",
}
"""Files with resources that every reader takes for the same."""
_B = config_map("b")
_POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: a
spec:
  containers:
  - name: a
    image: a
"""
RENDERED: Mapping[str, str] = {
    "helm": f"# Source: app/templates/a.yaml\n{CM}---\n# Source: app/templates/b.yaml\n{_B}",
    "helm in a line": f" # Source: app/templates/a.yaml\n{CM}---\n # Source: app/templates/b.yaml\n{_B}",
    "Windows": f"{CM}---\n# b\n{_B}",
    "BOM": f"{CM}---\n{_B}",
    "BOM and a divider": CM,
    "JSON": _POD,
    "JSON in lines": _POD,
    "JSON with tabs": _POD,
    "JSON documents": f"{_POD}---\n{_POD.replace(': a', ': b')}",
    "an end": CM,
    "an end and a divider": f"{CM}---\n{_B}",
    "no newline at the end": CM,
    "empty documents": f"{CM}---\n{_B}",
    "comments only": CM,
    "lines of text on Windows": LITERAL,
    "a list": f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: b\n---\n{_POD}",
}
"""What `render` prints for them, where that is not the file."""
SHAPES: Mapping[str, Callable[[str], str]] = {
    "Windows": lambda text: text.replace("\n", "\r\n"),
    "BOM": lambda text: f"\ufeff{text}",
    "BOM and Windows": lambda text: f"\ufeff---\n{text}".replace("\n", "\r\n"),
    "helm": lambda text: f"---\n# Source: app/templates/a.yaml\n{text}",
    "helm in a line": lambda text: f"--- # Source: app/templates/a.yaml\n{text}",
    "JSON": lambda text: json.dumps(yaml.safe_load(text)),
    "JSON in lines": lambda text: json.dumps(yaml.safe_load(text), indent=2),
    "an end": lambda text: f"{text}...\n",
    "no newline at the end": lambda text: text.strip(),
    "empty documents": lambda text: f"---\n---\n{text}---\n\n---\n",
    "comments only": lambda text: f"# für 実験 🚀\n\n---\n{text}---\n# b\n",
    "a banner": lambda text: f"{'#' * 80}\n# lab\n{'#' * 80}\n{text}",
    "anchors": lambda text: text.replace("name: ", "name: &n ", 1),
}
"""What a file may look like in which krmfn reads what it works with."""
OTHERS: Mapping[str, str] = {
    ".github/workflows/ci.yaml": "name: ci\non: [push]\njobs:\n  a:\n    steps: [{run: 'echo ${{ a }}'}]\n",
    ".gitlab-ci.yml": ".setup:\n  script: [a]\ntest:\n  script:\n  - !reference [.setup, script]\n  - b\n",
    "ansible/site.yml": "- hosts: all\n  vars:\n    password: !vault |\n      $ANSIBLE_VAULT;1.1;AES256\n      6638\n",
    "cloudformation.yaml": "Resources:\n  A:\n    Type: AWS::S3::Bucket\n    Properties: {BucketName: !Sub 'a-${B}'}\n",
    "docker-compose.yml": "x-a: &a {restart: always}\nservices:\n  a: {<<: *a, image: a}\n  a-b: {<<: *a}\n",
    "chart/Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\n",
    "chart/values.yaml": "image: {tag: 1.0}\non: yes\n---# key:\n  a: b\n",
    "chart/templates/a.yaml": "{{- if .Values.a }}\n{{ toYaml .Values | indent 2 }}\n{{- end }}\n",
    "mkdocs.yml": "nav:\n- a: a.md\nmarkdown_extensions:\n- b: !!python/name:a.b.c\n",
    "twice.yaml": "a: 1\na: 2\n",
    "breaks.yaml": "a: 'b\x85c\u2028d'\n# e\u2029f: g\n",
    "carriage.yml": "a: b\r# c\rd: e\r",
    "ended.yaml": "a: b\n...\nc: d\n",
    "values-lab.yaml": "a: y\ny: a\n0777: 2001-01-01\n",
    "empty.yaml": "",
}
"""Files that are no resources, by their paths."""
