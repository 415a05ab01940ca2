"""KRM174: scalars that Kubernetes and kustomize read differently, where they decide what is selected, named or run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from krmfn_functions.all_kinds import krmfn
from krmfn_functions.run import note
from krmfn_functions.settings import CHECK, Settings

from krmfn import KrmfnError, ResourceList
from tests.builders import CONFIG, document_text
from tests.commands import process
from tests.tables import table

CASES = table(__file__, "readings.yaml")

MODULE = """\
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: Module
metadata: {name: drv, namespace: kmm}
spec:
  selector: {a: b}
  moduleLoader:
    container:
      modprobe: {moduleName: drv}
      kernelMappings: [{regexp: ^.+$, containerImage: "r.example.com/drv:1"}]
"""
NODE = """\
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels:
    a: b
spec: {taints: [{key: t, value: v, effect: NoSchedule}]}
"""
INVENTORY = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: lab}
spec:
  labelKeys: [a]
  groups:
  - labels: {a: b}
    taints: [{key: t, value: v, effect: NoSchedule}]
    nodes: |
      n2 5.14.0-1
"""
SETTINGS = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: settings}
spec: {profiles: {gpu: {labels: {team: b}}}}
"""
OTHER = CONFIG.replace("name: drv", "name: other", 1)
WORDS = {
    CONFIG: ("{|a|: b}", "{a: |b|}", "name: |drv|, n", '|"1"|', "space: |kmm|", "Name: |drv|"),
    MODULE: ("selector: {|a|: b}", "selector: {a: |b|}"),
    NODE: ("|a|: b", "a: |b|", "key: |t|", "value: |v|"),
    INVENTORY: ("{|a|: b}", "{a: |b|}", "[|a|]", "value: |v|"),
    SETTINGS: ("|gpu|:", "|team|:", "team: |b|"),
}
"""The words of each text that decide, between bars."""
WRITTEN = [
    (text, place.replace("|", ""), re.sub(r"\|.*\|", "WORD", place))
    for text, places in WORDS.items()
    for place in places
]


def checked(*texts: str) -> ResourceList:
    """The list after `check`."""
    resources = ResourceList.parse(document_text(*texts))
    note(resources, settings=Settings(CHECK))
    configs = [item for item in resources.items if item.kind == "RenderDeviceConfigs"]
    for item in configs:
        note(resources, config_item=item)
        resources.function_config = item.manifest
    krmfn(resources)
    return resources


def rules(resources: ResourceList) -> list[str]:
    return [result.rule for result in resources.results if result.severity == "error"]


@pytest.mark.parametrize("word", ["y", "No", "on", "2001-01-01"])
@pytest.mark.parametrize(("text", "old", "new"), WRITTEN, ids=[new for _, _, new in WRITTEN])
def test_what_is_read_in_two_ways_is_refused_wherever_it_decides(text: str, old: str, new: str, word: str) -> None:
    others = [CONFIG, OTHER] if text not in (CONFIG, MODULE) else [OTHER]
    assert old in text
    resources = checked(text.replace(old, new.replace("WORD", word), 1), *others)
    (finding,) = [result for result in resources.results if result.rule == "KRM174"]
    assert f'put it in quotes: "{word}"' in finding.text
    quoted = checked(text.replace(old, new.replace("WORD", f'"{word}"'), 1), *others)
    assert "KRM174" not in rules(quoted)


def test_a_module_for_a_hub_is_refused() -> None:
    head = "apiVersion: hub.kmm.sigs.x-k8s.io/v1beta1\nkind: ManagedClusterModule\nmetadata: {name: a}\n"
    assert rules(checked(head + "spec: {selector: {on: b}}\n", CONFIG)) == ["KRM174"]


@pytest.mark.parametrize("key", ["0777", "true", "1_0", "2001-01-01", "off"])
def test_a_key_that_kustomize_refuses_or_takes_for_a_word_is_refused(key: str) -> None:
    assert "KRM174" in rules(checked(CONFIG.replace("{a: b}", f"{{{key}: b}}")))
    assert rules(checked(CONFIG.replace("{a: b}", f"{{'{key}': b}}"))) == []


@pytest.mark.parametrize("value", ["12:30", "oFF", "yess", "2001-01"])
def test_what_all_read_as_text_is_text(value: str) -> None:
    results = rules(checked(MODULE.replace("name: drv,", f"name: drv, labels: {{x: {value}}},")))
    assert results in ([], ["KMM063"]), "a colon is in no label"


@pytest.mark.parametrize(("selector", "label", "expected"), CASES["spellings"])
def test_a_conflict_on_a_node_is_never_missed_for_a_spelling(selector: str, label: str, expected: list[str]) -> None:
    """In function mode, where of a Node's labels only those are read that are asked for."""
    configs = [text.replace("{a: b}", f'{{{selector}: "true"}}') for text in (CONFIG, OTHER)]
    resources = ResourceList.parse(document_text(*configs, NODE.replace("a: b", f'{label}: "true"')))
    krmfn(resources)
    assert rules(resources) == expected
    assert resources.failed


def test_bystanders_pass_byte_for_byte() -> None:
    stranger = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {y: yes, on: 2001-01-01}\ndata: {off: no}\n"
    )
    resources = ResourceList.parse(document_text(stranger, CONFIG))
    krmfn(resources)
    assert rules(resources) == []
    assert stranger.replace("\n", "\n  ").strip() in resources.to_bytes().decode()


def test_a_function_config_of_a_list_is_refused_with_its_line() -> None:
    text = document_text(CONFIG).decode().replace("items:", "functionConfig:\n  apiVersion: krmfn.dev/v1alpha1\n"
        "  kind: RenderDeviceConfigs\n  spec:\n    defaults: {nodeSelector: {y: b}}\nitems:")  # fmt: skip
    with pytest.raises(KrmfnError, match=r'line 7: .*y: the key y is "true" to Kubernetes and "y" to kustomize'):
        krmfn(ResourceList.parse(text.encode()))


@pytest.mark.parametrize("command", ["check", "render", "nodes", "images"])
def test_a_file_is_refused_with_its_line(tmp_path: Path, command: str) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG.replace("{a: b}", "{y: b}"))
    (tmp_path / "node.yaml").write_text(NODE)
    done = process("krmfn", command, str(tmp_path)).ended(1)
    message = 'the key y is "true" to Kubernetes and "y" to kustomize'
    assert re.search(rf"config\.yaml:4:.*{message}", done.err + done.text)


def test_import_and_inventory_do_not_choose_a_reading(tmp_path: Path) -> None:
    (tmp_path / "module.yaml").write_text(MODULE.replace("selector: {a: b}", "selector: {y: b}"))
    (tmp_path / "nodes.yaml").write_text(NODE.replace("a: b", "y: b"))
    done = process("krmfn", "import", str(tmp_path / "module.yaml"), "-o", str(tmp_path / "out")).ended(2)
    assert ("put it in quotes" in done.err, (tmp_path / "out").exists()) == (True, False)
    assert "put it in quotes" in process("krmfn", "inventory", str(tmp_path / "nodes.yaml"), "--all-labels").refused()
