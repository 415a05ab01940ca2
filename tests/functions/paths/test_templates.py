"""What is a template of another tool, and what is a file of ours that is broken, or hides behind an action."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.paths import syntax
from krmfn_functions.paths.templates import holds_config, is_template, mentions

from krmfn import KrmfnError
from krmfn.yamltext import documents, load

SHOP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .name }}\n"
ROLE = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, namespace: kmm}\n"
TEMPLATES = {
    "Go": f"{{{{- if .a }}}}\n{SHOP}{{{{- end }}}}\n",
    "a field alone": SHOP,
    "several documents": f"{SHOP}---\n{SHOP}",
    "a loop over documents": f"{{{{- range .shops }}}}\n---\n{SHOP}{{{{- end }}}}\n",
    "Jinja": "metadata:\n  name: {{ name }}\n{% for key in keys %}\n  {{ key }}: 1\n{% endfor %}\n",
    "a comment of Jinja": "{# kinds #}\napiVersion: v1\n",
    "ERB": "apiVersion: v1\n<% if a %>\nkind: ConfigMap\n<% end %>\n",
    "values beside": f"{SHOP}---\na: b\n",
}
OTHERS = {
    "actions in quotes and comments": "apiVersion: v1\na: '{{ .b }}' # {{ c }}\n# {% if d %}\nkind: [\n",
    "a mapping in a mapping": "apiVersion: v1\na: {{}: b}}\n",
    "no action": "apiVersion: v1\nkind: [\n",
    "an action in another document": f"{SHOP}---\na: [\n",
    "a resource beside": f"{SHOP}---\n{ROLE}",
    "a resource with an action in it": f'{SHOP}---\n{ROLE}spec: {{a: "{{{{ b }}}}"}}\n',
    "an action that does not end": "apiVersion: v1\nkind: {{ a\n",
    "our group": SHOP.replace("v1", "krmfn.dev/v1alpha1"),
    "our annotation": SHOP + "  annotations: {krmfn.dev/profile: none}\n",
    "KMM's group": SHOP.replace("v1", "kmm.sigs.x-k8s.io/v1beta1"),
    "a hub's group": SHOP.replace("v1", "hub.kmm.sigs.x-k8s.io/v1beta1"),
    "a vendor's config": SHOP.replace("ConfigMap", "DeviceConfig"),
    "in other letters": SHOP.replace("ConfigMap", "deviceconfig"),
    "a Module of a group that is filled in": SHOP.replace("v1", "{{ .group }}").replace("ConfigMap", "Module"),
    "in a comment": SHOP + "# for a DeviceConfig\n",
    "an escape": SHOP + '  a: "Device\\x43onfig"\n',
    "two lines": SHOP + '  a: "Device\\\nConfig"\n',
    "a tag": SHOP.replace("ConfigMap", "!!binary RGV2aWNlQ29uZmln"),
    "a tag of another handle": f"%TAG !e! tag:yaml.org,2002:\n---\n{SHOP.replace('ConfigMap', '!e!binary RGV2aQ==')}",
    "what can be read": "a: b\n---\nc: '{{ d }}'\n",
    "a pointer of Git LFS": "version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 1\n",
    "what readers divide in another way": f"{SHOP}--- # a\n{SHOP}...\na: b\n",
    "a large one": SHOP + "# " + "a" * (1 << 20),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_one(name: str) -> None:
    assert is_template(TEMPLATES[name].encode())


@pytest.mark.parametrize("name", OTHERS)
def test_what_could_be_applied_or_is_ours_is_none(name: str) -> None:
    assert not is_template(OTHERS[name].encode())


def test_another_encoding_is_none() -> None:
    assert not is_template(SHOP.encode("utf-16"))
    assert not is_template(SHOP.encode() + b"\xff")


PIECES = (
    *("---\n", "{{ .a }}", "{{- end }}\n", "{% if a %}\n", "# {{ a }}\n", "<% a %>", "x: '{{ b }}'\n", SHOP, ROLE),
    *("kind: Role\n", "apiVersion: v1\n", "a: b\n", "a: [\n", '"', "- ", "metadata: {name: a}\n"),
)


@given(text=st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_nothing_that_can_be_read_as_a_resource_is_in_a_template(text: str) -> None:
    data = text.encode()
    if not is_template(data):
        return
    unread = 0
    for part in documents.documents(data):
        try:
            syntax.check(part.text)
            manifest = load.read(part.text)
        except KrmfnError:
            unread += 1
            assert any(mark in part.text for mark in (b"{{", b"{%", b"<%"))
            continue
        assert not (isinstance(manifest, dict) and {"apiVersion", "kind"} & {*manifest}), text
    assert unread


def test_words_are_found_in_any_letters() -> None:
    assert mentions(b"kind: ONLOAD", {"Onload"}) and not mentions(b"kind: Shop", {"Onload"})


@pytest.mark.parametrize(
    ("text", "holds"),
    [("kind: DeviceConfig\n", True), ("- kind: 'Module'\n", True), ("kind: Modules\n", False), ("a: kind\n", False)],
)
def test_a_config_is_known_by_its_kind(text: str, holds: bool) -> None:
    assert holds_config(text.encode()) == holds
