"""What a change does not do: deployments that are suspended, and those that prune nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from krmfn.yamltext import emit
from tests.builders import module
from tests.commands import process
from tests.trees import config_map, plant

FLUX = (
    "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: lab, namespace: flux-system}\n"
    "spec: {path: ./drivers, sourceRef: {kind: GitRepository, name: f}, SPEC}\n"
)
APPLICATION = (
    "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: lab, namespace: argocd}\nspec:\n"
    "  source: {repoURL: 'https://git.example.com/f.git', path: drivers}\n  destination: {name: lab}\n"
)
APPLIED, STAYS = "so it is not applied", "so it stays on the cluster"
ENGINES = {
    "suspended": (FLUX.replace("SPEC", "suspend: true, prune: true"), [APPLIED, STAYS]),
    "prunes nothing": (FLUX.replace("SPEC", "prune: false"), [STAYS]),
    "prunes": (FLUX.replace("SPEC", "prune: true"), []),
    "synced by a person": (APPLICATION, []),
    "nothing": ("", []),
}


@pytest.mark.parametrize(("engine", "words"), ENGINES.values(), ids=ENGINES)
def test_what_is_held_back_is_told(engine: str, words: list[str], tmp_path: Path) -> None:
    for side, name in (("old", "card"), ("new", "board")):
        files = {"clusters/lab/ks.yaml": engine} if engine else {}
        driver = emit.dump(module(name=name, modprobe={"moduleName": name}))
        plant(tmp_path, {f"{side}/{path}": text for path, text in {**files, "drivers/m.yaml": driver}.items()})
    done = process("krmfn", "diff", "old", "new", cwd=tmp_path)
    lines = [line for line in done.text.splitlines() if line.startswith("! not as reviewed: ")]
    assert len(lines) == len(words), done.text
    assert all(any(word in line for line in lines) for word in words), lines
    failing = process("krmfn", "diff", "old", "new", "--fail-on", "reload", cwd=tmp_path)
    assert all(line.removeprefix("! not as reviewed: ") in failing.text for line in lines), failing.text


@pytest.mark.parametrize("prunes", [True, False])
def test_a_module_that_is_changed_reaches_a_cluster_that_prunes_nothing(prunes: bool, tmp_path: Path) -> None:
    engine = FLUX.replace("SPEC", f"prune: {str(prunes).lower()}")
    for side, image in (("old", "card:1"), ("new", "card:2")):
        driver = emit.dump(module(name="card")).replace(
            "containerImage: ", f"containerImage: registry.example.com/{image} # "
        )
        plant(tmp_path, {f"{side}/drivers/m.yaml": driver, f"{side}/clusters/lab/ks.yaml": engine})
    assert "not as reviewed" not in process("krmfn", "diff", "old", "new", cwd=tmp_path).text


@pytest.mark.parametrize(("engine", "words"), ENGINES.values(), ids=ENGINES)
def test_an_engine_in_the_file_itself_counts(engine: str, words: list[str], tmp_path: Path) -> None:
    """The folder of its Kustomization is not there: the file is shown by itself."""
    for side, name in (("old", "card"), ("new", "board")):
        driver = emit.dump(module(name=name, modprobe={"moduleName": name}))
        plant(tmp_path, {f"{side}.yaml": "---\n".join(filter(None, (driver, engine)))})
    done = process("krmfn", "diff", "old.yaml", "new.yaml", cwd=tmp_path)
    lines = [line for line in done.text.splitlines() if line.startswith("! not as reviewed: ")]
    assert len(lines) == len(words), done.text
    assert all(any(word in line for line in lines) for word in words), lines


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("suspended", ["drivers", "apps"])
def test_the_deployment_of_a_folder_counts_whatever_else_is_deployed(
    suspended: str, listed: bool, tmp_path: Path
) -> None:
    """The loose files of two folders are read together."""
    for side, image in (("old", "card:1"), ("new", "card:2")):
        driver = emit.dump(module(name="card")).replace(
            "containerImage: ", f"containerImage: registry.example.com/{image} # "
        )
        files = {"drivers/m.yaml": driver, "apps/a.yaml": config_map("a")}
        files |= {"drivers/kustomization.yaml": "resources: [m.yaml]\n"} if listed else {}
        for name in ("drivers", "apps"):
            spec = f"prune: true, suspend: {str(name == suspended).lower()}"
            engine = FLUX.replace("SPEC", spec).replace("./drivers", f"./{name}").replace("name: lab", f"name: {name}")
            files[f"clusters/lab/{name}.yaml"] = engine
        plant(tmp_path, {f"{side}/{path}": text for path, text in files.items()})
    text = process("krmfn", "diff", "old", "new", cwd=tmp_path).text
    assert (APPLIED in text) is (suspended == "drivers"), text


def test_a_kustomization_of_a_folder_that_is_not_there_says_nothing_of_other_files(tmp_path: Path) -> None:
    """Of a folder it is known what deploys it, and another repository may hold the folder that is named."""
    engine = FLUX.replace("SPEC", "suspend: true").replace("./drivers", "./elsewhere")
    for side, name in (("old", "card"), ("new", "board")):
        driver = emit.dump(module(name=name, modprobe={"moduleName": name}))
        plant(tmp_path, {f"{side}/drivers/m.yaml": driver, f"{side}/clusters/ks.yaml": engine})
    assert "not as reviewed" not in process("krmfn", "diff", "old", "new", cwd=tmp_path).text


@pytest.mark.parametrize(("spec", "is_told"), [("prune: false", True), ("prune: true", False)])
@pytest.mark.parametrize("name", ["gpu-driver", "nic"])
def test_two_modules_of_one_driver_that_both_stay_are_told(name: str, spec: str, is_told: bool, tmp_path: Path) -> None:
    """KMM loads a kernel module by its name, in which dashes are underscores."""
    for side, loaded in (("old", "gpu_driver"), ("new", name)):
        driver = emit.dump(module(name=side, modprobe={"moduleName": loaded}))
        plant(tmp_path, {f"{side}/clusters/lab/ks.yaml": FLUX.replace("SPEC", spec), f"{side}/drivers/m.yaml": driver})
    text = process("krmfn", "diff", "old", "new", cwd=tmp_path).text
    message = "! not as reviewed: Module kmm/new: loads gpu_driver, as Module kmm/old does, which stays on the cluster;"
    assert (message in text) is (is_told and name != "nic"), text


NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {example.com/card: 'true'}}\n"
NODE += "status: {nodeInfo: {kernelVersion: 6.1.0, operatingSystem: linux, architecture: amd64}}\n"


def _changed(spec: str, old: str, new: str, folder: Path) -> str:
    """Return what `diff` prints of a config map and a Module of one kernel module that others take the place of."""
    for side, name in (("old", old), ("new", new)):
        driver = module(name=name, selector={"example.com/card": "true"}, modprobe={"moduleName": "card"})
        files = {"clusters/lab/ks.yaml": FLUX.replace("SPEC", spec), "clusters/lab/node.yaml": NODE}
        files |= {"drivers/m.yaml": emit.dump(driver), "drivers/c.yaml": config_map(name)}
        plant(folder, {f"{side}/{path}": text for path, text in files.items()})
    return process("krmfn", "diff", "old", "new", cwd=folder).text


@pytest.mark.parametrize("spec", ["prune: false", "suspend: true, prune: false", "suspend: true, prune: true"])
def test_what_stays_is_not_deleted(spec: str, tmp_path: Path) -> None:
    """Objects of every kind; a rule says that one is deleted only where that happens when the engine is resumed."""
    text = _changed(spec, "card", "board", tmp_path)
    assert "= Module kmm/card: stays on the cluster" in text, text
    assert "= ConfigMap card: stays on the cluster" in text, text
    assert "2 stays" in text
    assert "\n- " not in text
    assert ("which is deleted" in text) is ("prune: true" in spec), text


@pytest.mark.parametrize(
    ("annotation", "stays"), [("kustomize.toolkit.fluxcd.io/prune", True), ("example.com/p", False)]
)
def test_an_object_that_its_engine_does_not_prune_stays(annotation: str, stays: bool, tmp_path: Path) -> None:
    role = emit.dump(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "kept", "annotations": {annotation: "disabled"}},
        }
    )
    for side, text in (("old", role), ("new", config_map("other"))):
        engine = FLUX.replace("SPEC", "prune: true")
        driver = emit.dump(module(name="card"))
        files = {"clusters/lab/ks.yaml": engine, "drivers/c.yaml": text, "drivers/m.yaml": driver}
        plant(tmp_path, {f"{side}/{path}": content for path, content in files.items()})
    text = process("krmfn", "diff", "old", "new", cwd=tmp_path).text
    assert ("= ConfigMap kept: stays on the cluster" in text) is stays, text
    assert ("- ConfigMap kept" in text) is not stays, text


def test_what_is_deleted_is_deleted(tmp_path: Path) -> None:
    text = _changed("prune: true", "card", "board", tmp_path)
    assert "- Module kmm/card" in text, text
    assert "- ConfigMap card" in text, text
    assert "stays" not in text


def test_a_module_that_stays_keeps_its_nodes(tmp_path: Path) -> None:
    """KMM then has two Modules of one kernel module on the node: the new one does not simply take its place."""
    pruned = _changed("prune: true", "card", "board", tmp_path / "pruned")
    kept = _changed("prune: false", "card", "board", tmp_path / "kept")
    assert "Module kmm/card: reloaded on 1 node (n1): Module kmm/board takes its place" in pruned, pruned
    assert "takes its place" not in kept, kept
    assert "in conflict with Module kmm/board" in kept, kept


def test_what_happens_at_a_suspended_engine_waits_for_it(tmp_path: Path) -> None:
    text = _changed("suspend: true, prune: true", "card", "board", tmp_path)
    assert "* Module kmm/card: reloaded on 1 node (n1): Module kmm/board takes its place, once Flux is resumed" in text


FINALIZER = "resources-finalizer.argocd.argoproj.io"
ARGO = APPLICATION + "  syncPolicy: {automated: {prune: true}}\n"
SET = (
    "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: lab, namespace: argocd}\nspec:\n"
    "  generators: [{list: {elements: [{path: drivers}]}}]\n"
    "  template:\n    metadata: {name: '{{path}}'META}\n    spec:\n"
    "      source: {repoURL: 'https://git.example.com/f.git', path: '{{path}}'}\n      destination: {name: lab}\n"
)
BUNDLE = (
    "apiVersion: fleet.cattle.io/v1alpha1\nkind: GitRepo\nmetadata: {name: lab, namespace: fleet-default}\n"
    "spec: {repo: 'https://git.example.com/f.git', paths: [drivers], targets: [{clusterName: lab}]SPEC}\n"
)
LEAVING = {
    "an Application": (ARGO, f"it has no finalizer {FINALIZER}"),
    "one with the finalizer": (ARGO.replace("argocd}", f"argocd, finalizers: [{FINALIZER}]}}"), ""),
    "one with that of the background": (
        ARGO.replace("argocd}", f"argocd, finalizers: [{FINALIZER}/background]}}"),
        "",
    ),
    "one with another finalizer": (
        ARGO.replace("argocd}", "argocd, finalizers: [example.com/x]}"),
        f"it has no finalizer {FINALIZER}",
    ),
    "an ApplicationSet": (SET.replace("META", ""), ""),
    "one that preserves": (
        SET.replace("META", "") + "  syncPolicy: {preserveResourcesOnDeletion: true}\n",
        "preserveResourcesOnDeletion is true",
    ),
    "one with finalizers in its template": (
        SET.replace("META", ", finalizers: [example.com/x]"),
        f"it has no finalizer {FINALIZER}",
    ),
    "a Kustomization": (FLUX.replace("SPEC", "prune: true"), ""),
    "one that prunes nothing": (FLUX.replace("SPEC", "prune: false"), "prune is not true"),
    "one that deletes all the same": (FLUX.replace("SPEC", "prune: false, deletionPolicy: Delete"), ""),
    "an orphaning one": (FLUX.replace("SPEC", "prune: true, deletionPolicy: Orphan"), "deletionPolicy is Orphan"),
    "a suspended one": (FLUX.replace("SPEC", "prune: true, suspend: true"), "it is suspended"),
    "a GitRepo": (BUNDLE.replace("SPEC", ""), ""),
    "one that keeps": (BUNDLE.replace("SPEC", ", keepResources: true"), "keepResources is true"),
}


@pytest.mark.parametrize(("engine", "reason"), LEAVING.values(), ids=LEAVING)
def test_an_engines_object_that_is_deleted_may_leave_what_it_applied(engine: str, reason: str, tmp_path: Path) -> None:
    """The folder stays in Git, and nothing deploys it any more; another object deploys a Module in its place."""
    other = engine.replace("name: lab,", "name: other,").replace("drivers", "others")
    for side, text in (("old", engine), ("new", other)):
        files = {"clusters/lab/engine.yaml": text, "clusters/lab/node.yaml": NODE}
        for folder, name in (("drivers", "card"), ("others", "board")):
            driver = module(name=name, selector={"example.com/card": "true"}, modprobe={"moduleName": "card"})
            files[f"{folder}/m.yaml"] = emit.dump(driver)
        plant(tmp_path, {f"{side}/{path}": content for path, content in files.items()})
    text = process("krmfn", "diff", "old", "new", cwd=tmp_path).text
    stays = [line for line in text.splitlines() if "Module kmm/card: stays on the cluster" in line]
    assert bool(stays) is bool(reason), text
    assert ("- Module kmm/card" in text) is not bool(reason), text
    assert f"is deleted, but {reason} (lab)\n" in text or not reason, text
    twin = "Module kmm/board: loads card, as Module kmm/card does, which stays on the cluster"
    assert (twin in text) is bool(reason), text


@pytest.mark.parametrize("finalizers", ["", f", finalizers: [{FINALIZER}]"])
def test_an_application_that_goes_to_another_cluster_leaves_what_it_applied(finalizers: str, tmp_path: Path) -> None:
    """Argo CD looks for the objects of an Application in the cluster of its destination, and nowhere else."""
    engine = ARGO.replace("argocd}", f"argocd{finalizers}}}")
    rest = ARGO.replace("name: lab,", "name: rest,").replace("drivers", "rest")
    for side, cluster in (("old", "lab"), ("new", "stage")):
        moved = engine.replace("destination: {name: lab}", f"destination: {{name: {cluster}}}")
        files = {"apps/a.yaml": moved, "apps/b.yaml": rest, "rest/c.yaml": config_map("c")}
        files["drivers/m.yaml"] = emit.dump(module(name="card"))
        plant(tmp_path, {f"{side}/{path}": content for path, content in files.items()})
    text = process("krmfn", "diff", "old", "new", cwd=tmp_path).text
    assert "Application argocd/lab (apps/a.yaml) goes to another cluster, and Argo CD deletes nothing here" in text
    assert "= Module kmm/card: stays on the cluster" in text, text


@pytest.mark.parametrize(("policy", "stays"), [("create-update", True), ("create-only", True), ("sync", False)])
def test_an_application_that_its_set_no_longer_makes(policy: str, stays: bool, tmp_path: Path) -> None:
    """The set stays, and makes another one; what leaves its generators is deleted unless its policy forbids that."""
    engine = SET.replace("META", "").replace("[{path: drivers}]", "PATHS")
    engine += f"  syncPolicy: {{applicationsSync: {policy}}}\n"
    for side, paths in (("old", "[{path: drivers}, {path: rest}]"), ("new", "[{path: rest}]")):
        files = {"apps/set.yaml": engine.replace("PATHS", paths), "rest/c.yaml": config_map("c")}
        files["drivers/m.yaml"] = emit.dump(module(name="card"))
        plant(tmp_path, {f"{side}/{path}": content for path, content in files.items()})
    text = process("krmfn", "diff", "old", "new", cwd=tmp_path).text
    reason = f"no longer makes its Application, but applicationsSync is {policy}"
    assert (reason in text) is stays, text
    assert ("- Module kmm/card" in text) is not stays, text


def test_an_object_of_that_name_in_another_cluster_is_another_one(tmp_path: Path) -> None:
    """As Flux has them: each cluster has its own `apps`; the one of lab is deleted, and prunes."""
    engine = FLUX.replace("SPEC", "prune: true")
    files = {f"clusters/{name}/ks.yaml": engine for name in ("lab", "stage")}
    files |= {"clusters/lab/b.yaml": engine.replace("name: lab,", "name: b,").replace("drivers", "b")}
    files |= {"b/c.yaml": config_map("c"), "drivers/m.yaml": emit.dump(module(name="card"))}
    for side in ("old", "new"):
        kept = {path: text for path, text in files.items() if (side, path) != ("new", "clusters/lab/ks.yaml")}
        plant(tmp_path, {f"{side}/{path}": content for path, content in kept.items()})
    text = process("krmfn", "diff", "old", "new", cwd=tmp_path).text
    assert "- Module kmm/card" in text, text
    assert "stays" not in text, text
