"""Resources as text: documents are appended with their comments, and an item is a document."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from krmfn import KrmfnError, ResourceList, parse, parse_all
from krmfn.resource import same
from krmfn.yamltext import load
from tests.test_corpus import ACCEPTED

EMPTY = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n"
TEMPLATE = """\
# the settings
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings # kpt-set: ${name}
data:
  # with care
  size: '3' # kpt-set: ${size}
  script: |
    # no comment
    echo
---
# nothing here
---
apiVersion: v1
kind: Job
metadata: {generateName: once-} # no name
"""
LISTED = """\
- # the settings
  apiVersion: v1
  kind: ConfigMap
  metadata:
    name: settings # kpt-set: ${name}
  data:
    # with care
    size: '3' # kpt-set: ${size}
    script: |
      # no comment
      echo
- apiVersion: v1
  kind: Job
  metadata: {generateName: once-} # no name
"""


@pytest.mark.parametrize("text", [TEMPLATE, TEMPLATE.encode(), "\ufeff" + TEMPLATE])
def test_the_documents_of_a_text_are_appended_with_their_comments(text: str | bytes) -> None:
    resources = ResourceList.parse(EMPTY.encode())
    assert [item.name for item in resources.append(text)] == ["settings", ""]
    assert resources.to_bytes().decode() == EMPTY.replace(" []\n", f"\n{LISTED}")


def test_they_get_a_path() -> None:
    resources = ResourceList.parse(EMPTY.encode())
    resources.append(TEMPLATE, path="a.yaml")
    assert [item.path for item in ResourceList.parse(resources.to_bytes())] == ["a.yaml", "a.yaml"]


def test_a_manifest_of_a_template_keeps_its_comments_whatever_is_changed_in_it() -> None:
    resources = ResourceList.parse(EMPTY.encode())
    settings, job = parse_all(TEMPLATE)
    settings["data"]["size"] = "4"
    del settings["data"]["script"]
    resources.append(settings)
    resources.append(job)
    expected = LISTED.replace("'3'", "'4'").replace("    script: |\n      # no comment\n      echo\n", "")
    assert resources.to_bytes().decode() == EMPTY.replace(" []\n", f"\n{expected}")
    assert (type(settings), json.loads(json.dumps(settings))) == (dict, settings)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: b: c", "line 1: mapping values are not allowed"),
        (f"{TEMPLATE}---\na: [\n", "line 20: did not find expected node content"),
        ("- 1\n", "line 1: this document is no mapping"),
        (f"{TEMPLATE}---\na: 1\n", "line 18: .* has no apiVersion"),
        ("apiVersion: v1\n", "line 1: .* has no kind"),
        ("apiVersion: v1\nkind: A\n---x\n", "line 3: this line begins with `---` and continues"),
    ],
)
def test_what_is_no_resource_is_refused_and_nothing_is_added(text: str, message: str) -> None:
    resources = ResourceList.parse(EMPTY.encode())
    for call in (resources.append, parse_all):
        with pytest.raises(KrmfnError, match=f"^the text cannot be read: {message}"):
            call(text)
    assert resources.to_bytes() == EMPTY.encode()


def test_a_resource_without_a_name_is_appended_and_replaced_but_not_upserted() -> None:
    resources = ResourceList.parse(EMPTY.encode())
    item = resources.append({"apiVersion": "a/v1", "kind": "Kustomization", "resources": []}, path="k.yaml")
    resources.append({"apiVersion": "v1", "kind": "Job"})
    resources.replace(item, {"apiVersion": "a/v1", "kind": "Kustomization", "resources": ["b"]})
    assert item.path == "k.yaml"
    for item in ResourceList.parse(resources.to_bytes()):
        with pytest.raises(KrmfnError, match=r"has no metadata.name"):
            resources.upsert([item.manifest])


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.name)
def test_an_item_of_the_corpus_is_a_document(path: Path) -> None:
    for item in ResourceList.parse(path.read_bytes()):
        try:
            manifest = item.manifest
        except KrmfnError:
            continue
        if manifest:
            assert same(load.read(item.document), manifest)


def test_a_document_has_the_edits_and_the_comments() -> None:
    resources = ResourceList.parse(EMPTY.replace(" []\n", f"\n{LISTED}# of the next\n").encode())
    resources.items[0]["data.size"] = "4"
    documents = TEMPLATE.replace("'3'", "'4'").split("---\n")
    assert [item.document.decode() for item in resources] == [
        "  # the settings\n".removeprefix("  ") + documents[0][15:],
        documents[2],
    ]
    assert parse(resources.items[0].document.decode())["data"]["size"] == "4"
