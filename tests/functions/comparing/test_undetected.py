"""Changes that an Application does not apply, since it ignores such differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from krmfn.yamltext import emit
from tests import builders
from tests.builders import module
from tests.commands import process
from tests.functions.comparing.test_held_back import ARGO, SET
from tests.trees import plant

IMAGE = "/spec/moduleLoader/container/kernelMappings"
RESPECT = ", syncOptions: [RespectIgnoreDifferences=true]"


def application(entry: str, options: str = "") -> str:
    text = ARGO.replace("{automated: {prune: true}}", f"{{automated: {{prune: true}}{options}}}")
    return f"{text}  ignoreDifferences: [{entry}]\n"


def lines(folder: Path, engine: str, change: dict[str, str], others: dict[str, str] | None = None) -> list[str]:
    """Return what `diff` tells first of a Module whose image is another one, with what else changes.

    `others` are further files of both sides.
    """
    for side, tag in (("old", "1"), ("new", "2")):
        manifest = module(name="card")
        mappings = manifest["spec"]["moduleLoader"]["container"]["kernelMappings"]
        mappings[0]["containerImage"] = f"registry.example.com/card:{tag}"
        manifest["spec"]["selector"] |= change if side == "new" else {}
        files = {"clusters/lab/e.yaml": engine, "drivers/m.yaml": emit.dump(manifest), **(others or {})}
        plant(folder, {f"{side}/{path}": text for path, text in files.items()})
    done = process("krmfn", "diff", "old", "new", "--fail-on", "reload", cwd=folder)
    told = [line for line in done.text.splitlines() if "ignores differences in" in line]
    assert all(line.startswith("! ") and " (--fail-on reload)" in line for line in told), "first, and why it fails"
    assert "ignores differences in" not in done.err, "told once"
    return told


ENTRIES = {
    "a pointer": (f"{{group: kmm.sigs.x-k8s.io, kind: Module, jsonPointers: [{IMAGE}]}}", "is not applied"),
    "one above": ("{group: kmm.sigs.x-k8s.io, kind: Module, jsonPointers: [/spec]}", "is not applied"),
    "an expression": ("{group: '*', kind: '*', jqPathExpressions: ['.spec.moduleLoader']}", "is not applied"),
    "one of all entries": (
        "{group: '*', kind: Module, jqPathExpressions: ["
        "'.spec.moduleLoader.container.kernelMappings[].containerImage']}",
        "is not applied",
    ),
    "one that is not read": (
        "{group: '*', kind: Module, jqPathExpressions: ['.spec.moduleLoader.container | keys']}",
        "perhaps is not applied",
    ),
    "a manager": ("{group: '*', kind: Module, managedFieldsManagers: [kubectl]}", "perhaps is not applied"),
    "another name": (f"{{group: '*', kind: Module, name: nic, jsonPointers: [{IMAGE}]}}", ""),
    "another namespace": (f"{{group: '*', kind: Module, namespace: nic, jsonPointers: [{IMAGE}]}}", ""),
    "another kind": (f"{{group: apps, kind: DaemonSet, jsonPointers: [{IMAGE}]}}", ""),
    "another field": ("{group: '*', kind: Module, jsonPointers: [/spec/selector]}", ""),
    "a field with a longer name": (f"{{group: '*', kind: Module, jsonPointers: [{IMAGE}More]}}", ""),
}


@pytest.mark.parametrize(("entry", "words"), ENTRIES.values(), ids=ENTRIES)
def test_a_change_in_what_is_ignored(entry: str, words: str, tmp_path: Path) -> None:
    found = lines(tmp_path, application(entry), {})
    assert len(found) == bool(words), found
    assert all(f"Module kmm/card: {words}: Application argocd/lab (clusters/lab/e.yaml)" in line for line in found)


@pytest.mark.parametrize("index", [0, 1])
def test_an_index_may_be_that_of_an_entry_with_a_name(index: int, tmp_path: Path) -> None:
    """Differences call entries by their names, and a pointer by its index."""
    pointer = f"/spec/devicePlugin/volumes/{index}/hostPath"
    engine = application(f"{{group: '*', kind: Module, jsonPointers: [{pointer}]}}")
    for side, path in (("old", "/dev/a"), ("new", "/dev/b")):
        manifest = module(name="card")
        volumes = [{"name": name, "hostPath": {"path": f"{path}{name}"}} for name in ("a", "b")][: index + 1]
        volumes[:-1] = [{"name": "a", "hostPath": {"path": "/dev/a"}}] * index
        manifest["spec"]["devicePlugin"] = {"container": {"image": "r.example.com/p:1"}, "volumes": volumes}
        files = {"clusters/lab/e.yaml": engine, "drivers/m.yaml": emit.dump(manifest)}
        plant(tmp_path, {f"{side}/{name}": text for name, text in files.items()})
    text = process("krmfn", "diff", "old", "new", cwd=tmp_path).text
    assert "Module kmm/card: is not applied: Application argocd/lab" in text, text


@pytest.mark.parametrize("options", ["", RESPECT])
def test_a_change_beside_it_is_applied_with_it_unless_what_is_ignored_is_left(options: str, tmp_path: Path) -> None:
    """A sync because of another field writes the whole object."""
    found = lines(tmp_path, application(ENTRIES["a pointer"][0], options), {"example.com/new": "true"})
    assert len(found) == bool(options), found


def test_applications_of_a_set_ignore_it_too(tmp_path: Path) -> None:
    entry = ENTRIES["a pointer"][0]
    engine = SET.replace("META", "").replace(
        "      destination:", f"      ignoreDifferences: [{entry}]\n      destination:"
    )
    assert len(lines(tmp_path, engine, {})) == 1


def settings(data: dict[str, str], namespace: str = "argocd") -> str:
    return emit.dump(builders.manifest("v1", "ConfigMap", "argocd-cm", namespace) | {"data": data})


def operated(spec: dict[str, Any]) -> str:
    return emit.dump(builders.manifest("argoproj.io/v1beta1", "ArgoCD", "gitops", "argocd") | {"spec": spec})


POINTER = {"jsonPointers": [IMAGE]}
TEXT = emit.dump(POINTER)
KEY, OF_MODULES = "resource.customizations.ignoreDifferences", "kmm.sigs.x-k8s.io_Module"
OF_KIND = {"group": "kmm.sigs.x-k8s.io", "kind": "Module"}
EVERYWHERE: dict[str, tuple[str, str]] = {
    "of a kind": (settings({f"{KEY}.{OF_MODULES}": TEXT}), "is not applied"),
    "of all": (settings({f"{KEY}.all": TEXT}), "is not applied"),
    "of a kind of the core group": (settings({f"{KEY}.Module": TEXT}), ""),
    "of another kind": (settings({f"{KEY}.apps_DaemonSet": TEXT}), ""),
    "updates, which make no difference": (
        settings({f"resource.customizations.ignoreResourceUpdates.{OF_MODULES}": TEXT}),
        "",
    ),
    "an expression": (
        settings({f"{KEY}.{OF_MODULES}": "jqPathExpressions: ['.spec | keys']\n"}),
        "perhaps is not applied",
    ),
    "the former form": (
        settings({"resource.customizations": emit.dump({"kmm.sigs.x-k8s.io/*": {"ignoreDifferences": TEXT}})}),
        "is not applied",
    ),
    "a text that is no YAML": (settings({f"{KEY}.all": "a: b: c"}), ""),
    "a text that is no mapping": (settings({f"{KEY}.all": "- a", "resource.customizations": "1"}), ""),
    "another ConfigMap": (settings({f"{KEY}.all": TEXT}).replace("argocd-cm", "argocd-cm-more"), ""),
    "of the operator": (
        operated({"resourceIgnoreDifferences": {"resourceIdentifiers": [{**OF_KIND, "customization": POINTER}]}}),
        "is not applied",
    ),
    "of the operator, of all": (operated({"resourceIgnoreDifferences": {"all": POINTER}}), "is not applied"),
    "of the operator, as it is written": (operated({"extraConfig": {f"{KEY}.all": TEXT}}), "is not applied"),
    "of two of them": (
        settings({f"{KEY}.all": TEXT}) + "---\n" + settings({}, "other"),
        "perhaps is not applied",
    ),
}


@pytest.mark.parametrize(("cm", "words"), EVERYWHERE.values(), ids=EVERYWHERE)
def test_what_an_argo_cd_ignores_for_all_applications(cm: str, words: str, tmp_path: Path) -> None:
    entry = "{group: '*', kind: Pod, jsonPointers: [/spec]}"
    found = lines(tmp_path, application(entry), {}, {"argocd/cm.yaml": cm})
    assert len(found) == bool(words), found
    name = "ArgoCD argocd/gitops" if "kind: ArgoCD" in cm else "ConfigMap argocd/argocd-cm"
    assert all(f"Module kmm/card: {words}: {name} (argocd/cm.yaml) ignores differences in" in line for line in found)
