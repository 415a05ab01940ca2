"""What is a template of another tool, and what is a file of ours that is broken, or hides behind an action."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.paths import syntax
from krmfn_functions.paths.templates import holds_config, is_about_us, is_template, kinds_in, mentions

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
    [
        ("kind: DeviceConfig\n", True),
        ("- kind: 'Module'\n", True),
        ("kind: Modules\n", False),
        ("a: kind\n", False),
        ("kind: CustomResourceDefinition\nspec:\n  names:\n    kind: Module\n", False),
        ('"kind" : "CustomResourceDefinition"\nspec: {}\n---\nkind: Module\n', True),
        ("kind: List\nitems:\n- kind: CustomResourceDefinition\n- kind: Module\n", True),
    ],
)
def test_a_config_is_known_by_its_kind(text: str, holds: bool) -> None:
    assert holds_config(text.encode()) == holds


ANY_KIND = {
    "an action": "kind: {{ .kind }}\n",
    "an action in quotes": "kind: '{{ .kind }}'\n",
    "an action in a name": "kind: Sec{{ .rest }}\n",
    "an action of Jinja": "kind: {% if a %}Secret{% endif %}\n",
    "a variable": "kind: ${KIND}\n",
    "a mapping of actions": "{kind: {{ .kind }}}\n",
    "an alias": "a: &a Secret\nkind: *a\n",
    "an alias as the key": "a: &k kind\n*k : Secret\n",
    "a long anchor": f"kind: &{'a' * 100} Secret\n",
    "a long comment": f"kind: # {'a' * 200}\n  Secret\n",
    "many properties": "kind: # a\n  # b\n  # c\n  # d\n  # e\n  Secret\n",
    "a break of YAML 1.1": "kind: \u0085Secret\n",
    "a tag of base64": "kind: !!binary U2VjcmV0\n",
}


@pytest.mark.parametrize("text", ANY_KIND.values(), ids=ANY_KIND)
def test_a_kind_that_is_not_read_may_be_any(text: str) -> None:
    assert "" in kinds_in(text.encode())


KINDS: dict[str, tuple[str, set[str]]] = {
    "plain": ("kind: Secret\n", {"secret"}),
    "quoted": ("\"kind\" : 'Secret'\n", {"secret"}),
    "in braces": ("{kind: Secret}", {"secret"}),
    "below its key": ("kind: # a\n  Secret\n", {"secret"}),
    "with a tag and an anchor": ("kind: !!str &a Secret\n", {"secret"}),
    "a text": ('a: "b\\nkind: Secret\\n"\n', {"secret"}),
    "a field of a schema": ("properties: {kind: {type: string}}\n", set()),
    "nothing": ("kind: ''\n", set()),
    "another key": ("resourceKind: {{ .kind }}\n", set()),
    "a variable of a template": ('{{ $kind := "a" }}\n', set()),
    "a value of something else": ("kind: pull-through\n", {"pull-through"}),
}


@pytest.mark.parametrize(("text", "kinds"), KINDS.values(), ids=KINDS)
def test_kinds_are_read(text: str, kinds: set[str]) -> None:
    assert kinds_in(text.encode()) == kinds


@pytest.mark.parametrize(
    "kind", [f"&{'a' * 100} Node", "# a\n  # b\n  # c\n  # d\n  # e\n  Node", f"!<{'a' * 100}> Node"]
)
def test_a_kind_behind_more_than_is_read_may_be_ours(kind: str) -> None:
    assert is_about_us(f"apiVersion: v1\nkind: {kind}\n".encode())
    assert not is_about_us(b"apiVersion: v1\nkind: {{ .kind }}\n")  # strangers have many
