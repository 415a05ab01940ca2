"""The functions of examples/catalog beside their Go originals: what they are given, and how they are compared."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

from objects import deployment

KYAML = ("apply-setters", "create-setters", "list-setters", "search-replace")
"""The functions whose originals are written on kyaml; those of the others on go/fn."""
CONFIGS = {
    "apply-setters": {"replicas": "12", "mode": "fast"},
    "create-setters": {"mode": "on", "size": "512Mi"},
    "ensure-name-substring": {"prepend": "shop-"},
    "list-setters": {"all": "yes"},
    "search-replace": {"by-path": "spec.**.image", "put-value": "shop:2"},
    "set-annotations": {"team": "shop", "tier": "web"},
    "set-image": {"name": "registry.example.com/app", "newTag": "v2"},
    "set-labels": {"team": "shop", "tier": "web"},
    "set-namespace": {"namespace": "shop"},
    "upsert-resource": {"a": "b"},
}
SIZES = (2, 1_400)
EDITED = 5_000
LAYOUTS = {
    "plain": "annotations:\n",
    "brackets": "finalizers: [example.com/first]\n    annotations:\n",
    "folded": "note: >-\n      of one\n      line\n    annotations:\n",
    "brackets over lines": "finalizers: [\n      example.com/first\n    ]\n    annotations:\n",
    "anchor": "note: &note a\n    again: *note\n    annotations:\n",
    "anchor of a mapping": "note: &note\n      a: b\n    again: *note\n    annotations:\n",
    "merge": "note: &note\n      a: b\n    again:\n      <<: *note\n      c: d\n    annotations:\n",
    "escape": 'note: "a\\tb"\n    annotations:\n',
}
"""What each item of a list has once more, in place of its line `annotations:`."""


def item(random: Random, number: int, has_setters: bool) -> str:
    """A Deployment with an image that all have, and comments that name setters."""
    text = re.sub(r"image: \S+:", "image: registry.example.com/app:", deployment(random, number))
    if not has_setters:
        return text
    text = re.sub(r"(replicas: \d+)", r"\1 # kpt-set: ${replicas}", text)
    return text.replace('value: "on"', 'value: "on" # kpt-set: ${mode}')


def generate(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for size in SIZES:
        for name, data in CONFIGS.items():
            random = Random(size)
            rows = "".join(f'    {key}: "{value}"\n' for key, value in data.items())
            config = f"  apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: config\n  data:\n{rows}"
            with (folder / f"{name}-{size}.yaml").open("w", encoding="utf-8", newline="\n") as file:
                file.write("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n")
                file.writelines(item(random, number, name != "create-setters") for number in range(size))
                file.write(f"functionConfig:\n{config}")


def generate_edits(folder: Path) -> None:
    """Lists of Deployments that all get a label: the same but for one line or two of each item."""
    folder.mkdir(exist_ok=True)
    rows = '    team: "shop"\n'
    config = f"  apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: config\n  data:\n{rows}"
    for layout, lines in LAYOUTS.items():
        random = Random(EDITED)
        items = (item(random, number, has_setters=True) for number in range(EDITED))
        with (folder / f"edits-{layout}.yaml").open("w", encoding="utf-8", newline="\n") as file:
            file.write("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n")
            file.writelines(text.replace("annotations:\n", lines, 1) for text in items)
            file.write(f"functionConfig:\n{config}")
