"""What a change does on the nodes, rule by rule; and the command `diff` between files, directories and stdin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from krmfn_functions.paths import manifests
from krmfn_functions.plan import plan
from krmfn_functions.run import note
from krmfn_functions.settings import Settings
from krmfn_functions.upgrades.change_rules import RULES
from krmfn_functions.upgrades.notes import notes

from krmfn import Manifest, ResourceList, Result
from tests.builders import DROP, edited, function_config, manifest, module
from tests.commands import Done, example, process
from tests.tables import table
from tests.trees import altered, plant

READY = "kmm.node.kubernetes.io/kmm.drv.ready"
CHOSEN, RUNNING = "kmm.node.kubernetes.io/version-module.kmm.drv", "kmm.node.kubernetes.io/kmm.drv.version.ready"


def drv(name: str = "drv", namespace: str = "kmm", **container: Any) -> Manifest:
    """Return a Module of two mappings that loads the driver drv."""
    mappings = ({"regexp": regexp, "containerImage": "r/drv:1"} for regexp in ("^5", "^6"))
    modprobe = {"modprobe": {"moduleName": "drv", "dirName": "/opt"}}
    return module(*mappings, name=name, namespace=namespace, **modprobe | container)


def consumer(name: str = "agent", kind: str = "DaemonSet", **labels: str) -> Manifest:
    pod = {"nodeSelector": {"a": "b", **(labels or {READY: ""})}}
    spec = {"selector": {"matchLabels": {"app": name}}, "template": {"spec": pod}}
    return {**manifest("apps/v1", kind, name), "spec": spec}


def affine() -> Manifest:
    terms = [{"matchExpressions": [{"key": READY, "operator": "Exists"}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return edited(consumer(), ("spec.template.spec", {"affinity": {"nodeAffinity": required}}))


def hub(held: Manifest) -> Manifest:
    spec = {"moduleSpec": held["spec"], "spokeNamespace": "kmm", "selector": {"c": "d"}}
    return {**manifest("hub.kmm.sigs.x-k8s.io/v1beta1", "ManagedClusterModule", "drv", ""), "spec": spec}


def of_hub(path: str) -> str:
    """The same field where a hub holds it."""
    return path.replace("spec", "spec.moduleSpec", 1)


def notes_on(old: list[Manifest], new: list[Manifest], version: str = "", **config: Any) -> list[Result]:
    resources = ResourceList(function_config=function_config(**config) if config else None)
    note(resources, settings=Settings(flags={"kmm-version": version} if version else {}))
    return notes(plan(old, new), resources)


CONTAINER = "spec.moduleLoader.container"
MAPPINGS, MODPROBE = f"{CONTAINER}.kernelMappings", f"{CONTAINER}.modprobe"
IMAGE, VERSION, POLICY = f"{MAPPINGS}[0].containerImage", f"{CONTAINER}.version", f"{CONTAINER}.imagePullPolicy"
PARAMETERS = f"{MODPROBE}.parameters"
PLAIN, VERSIONED = drv(), drv(version="1")
PLUGIN = edited(PLAIN, ("spec.devicePlugin", {"container": {"image": "r/plugin:1"}}))
DRA = edited(PLAIN, ("spec.dra", {"driverName": "d.example.com", "container": {"image": "r/dra:1"}}))
BUILD = {"dockerfileConfigMap": {"name": "gpu"}, "buildArgs": [{"name": "A", "value": "1"}]}
BUILT = drv(build=BUILD)
OTHER = {"regexp": "6", "containerImage": "r/drv:2"}
EXTRA = {"regexp": "^7", "containerImage": "r/drv:1"}
FIRST = [EXTRA, *PLAIN["spec"]["moduleLoader"]["container"]["kernelMappings"]]
LAST = [*PLAIN["spec"]["moduleLoader"]["container"]["kernelMappings"], EXTRA]
V1, V2 = {CHOSEN: "1", RUNNING: "1"}, {CHOSEN: "2", RUNNING: "2"}
NEXT = edited(VERSIONED, (IMAGE, "r/drv:2"), (f"{CONTAINER}.version", "2"))
SPACELESS, SPACELESS_NEXT = (edited(item, ("metadata.namespace", DROP)) for item in (VERSIONED, NEXT))


class Case(NamedTuple):
    rule: str
    severity: str
    old: list[Manifest]
    new: list[Manifest]
    path: str
    text: str
    version: str = ""


CASES = [
    Case("KMM002", "error", [PLAIN], [VERSIONED], VERSION, "from an empty version"),
    Case("KMM002", "error", [VERSIONED], [PLAIN], VERSION, "from an empty version"),
    Case("KMM002", "error", [hub(VERSIONED)], [hub(PLAIN)], of_hub(VERSION), "empty version"),
    Case(
        *("KRM401", "warning", [PLAIN, consumer()], [edited(PLAIN, (IMAGE, "r/drv:2")), consumer()]),
        *(IMAGE, "as long as DaemonSet kmm/agent or another workload"),
    ),
    Case(
        *("KRM401", "warning", [PLAIN], [edited(PLAIN, (PARAMETERS, ["x=1"])), affine()]),
        *(PARAMETERS, "DaemonSet kmm/agent"),
    ),
    Case(
        *("KRM401", "warning", [PLUGIN], [edited(PLUGIN, (POLICY, "Always"))]),
        *(POLICY, "its device plugin"),
    ),
    Case(
        *("KRM401", "info", [PLAIN], [edited(PLAIN, (MAPPINGS, [OTHER, *FIRST[1:]]))]),
        *(f"{MAPPINGS}[0]", "no workload in the input waits for it"),
    ),
    Case(
        *("KRM401", "warning", [DRA], [edited(DRA, (POLICY, "Always"))]),
        *(POLICY, "as long as its DRA driver or", "main"),
    ),
    Case(
        *("KRM401", "warning", [VERSIONED], [edited(VERSIONED, (IMAGE, "r/drv:2")), consumer(**V1)]),
        *(IMAGE, "the version stays 1"),
    ),
    Case(
        *("KRM401", "info", [hub(PLAIN)], [hub(edited(PLAIN, (IMAGE, "r/drv:2")))]),
        *(of_hub(IMAGE), "the Module has no version"),
    ),
    Case("KRM410", "info", [PLAIN, consumer()], [], "", "is deleted together with DaemonSet kmm/agent; "),
    Case("KRM410", "info", [VERSIONED, consumer(**V1)], [], "", "but Flux deletes the Module first"),
    Case("KRM402", "error", [PLAIN, consumer()], [consumer()], "", "but not DaemonSet kmm/agent: "),
    Case("KRM402", "error", [VERSIONED], [consumer(kind="Deployment", **V1)], "", "but not Deployment kmm/agent: "),
    Case(
        *("KRM403", "error", [consumer()], [edited(consumer(), ("spec.selector.matchLabels.app", "b"))]),
        *("spec.selector.matchLabels.app", "field is immutable"),
    ),
    Case(
        *("KRM412", "warning", [BUILT], [edited(BUILT, (f"{CONTAINER}.build.buildArgs", []))]),
        *(IMAGE, "the build arguments changed, but the image keeps its name: "),
    ),
    Case(
        *("KRM413", "info", [PLUGIN], [edited(PLUGIN, ("spec.devicePlugin.container.image", "r/plugin:2"))]),
        *("spec.devicePlugin.container.image", "KMM restarts the pods of its device plugin on each node that"),
    ),
    Case(
        *("KRM413", "info", [DRA], [edited(DRA, ("spec.tolerations", [{"operator": "Exists"}]))]),
        *("spec.tolerations[0]", "KMM restarts the pods of its DRA driver on each node", "main"),
    ),
    Case(
        *("KRM413", "info", [consumer()], [edited(consumer(), ("spec.template.spec.x", 1))], "spec.template.spec.x"),
        "restarts its pods on each node that they run on",
    ),
    Case("KRM411", "info", [VERSIONED], [], "", f"kubectl label nodes -l {CHOSEN} {CHOSEN}-"),
    Case("KRM411", "info", [VERSIONED], [drv("other", version="1")], "", f"keep the label {CHOSEN}: a Module of this"),
    Case("KRM404", "warning", [PLUGIN], [PLAIN], "spec.devicePlugin", "module.name=drv"),
    Case("KRM404", "warning", [PLUGIN], [PLAIN], "spec.devicePlugin", "KMM 2.4 leaves", "2.4"),
    Case(
        *("KRM405", "warning", [PLUGIN], [edited(PLUGIN, ("spec.moduleLoader", DROP))]),
        *("spec.moduleLoader", "delete the Module, which unloads it"),
    ),
    Case("KRM406", "warning", [PLAIN], [drv("other")], "metadata.name", "in place of Module kmm/drv"),
    Case("KRM406", "warning", [PLAIN], [drv(namespace="else")], "metadata.name", "another Module"),
    Case("KRM407", "info", [VERSIONED], [NEXT], VERSION, f"label {CHOSEN} says 2"),
    Case("KRM407", "info", [SPACELESS], [SPACELESS_NEXT], VERSION, "version-module.NAMESPACE.drv says 2"),
    Case(
        *("KRM408", "warning", [VERSIONED, consumer("agent-1", **V1)], [NEXT, consumer("agent-2", **V2)]),
        *("", 'upgrade.retain: ["1"]'),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_a_risk_is_reported(case: Case) -> None:
    (note,) = [note for note in notes_on(case.old, case.new, case.version) if note.rule == case.rule]
    assert (note.severity, note.field.path if note.field else "") == (case.severity, case.path)
    assert case.text in note.text
    assert note.ref
    assert note.message[-1] not in ".;:" and note.text[-1] not in ".;:"


HARMLESS = {
    "nothing changes": ([PLAIN, PLUGIN, consumer()], [PLAIN, PLUGIN, consumer()]),
    "created": ([], [PLAIN, consumer()]),
    "deleted alone": ([PLAIN, consumer("agent", other="x")], [consumer("agent", other="x")]),
    "labels": ([PLAIN], [edited(PLAIN, ("metadata.labels", {"a": "b"}))]),
    "a new last mapping": ([PLAIN, consumer()], [edited(PLAIN, (MAPPINGS, LAST)), consumer()]),
    "the default said": ([edited(PLAIN, (f"{MODPROBE}.dirName", DROP))], [PLAIN]),
    "tolerations": ([PLAIN], [edited(PLAIN, ("spec.tolerations", [{"operator": "Exists"}]))]),
    "another module": ([PLAIN], [drv("other", modprobe={"moduleName": "other"})]),
    "pods that nothing restarts": (
        [PLAIN, consumer()],
        [PLAIN, edited(consumer(), ("spec.template.spec.x", 1), ("spec.updateStrategy", {"type": "OnDelete"}))],
    ),
    "pods without a Module": ([consumer(a="b")], [edited(consumer(a="b"), ("spec.template.spec.x", 1))]),
    "no tolerations": ([PLUGIN], [edited(PLUGIN, ("spec.tolerations", []))]),
    "a Service's selector": (
        [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"selector": {"a": "b"}}}],
        [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"selector": {"a": "c"}}}],
    ),
    "nobody's shape": (
        [{**PLAIN, "spec": []}, {**hub(PLAIN), "spec": None}, {**consumer(), "spec": "x"}],
        [{**PLAIN, "spec": 1}, {**hub(PLAIN), "spec": {"moduleSpec": 1}}, {**consumer(), "spec": ["x"]}],
    ),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_harmless_is_not(name: str) -> None:
    assert notes_on(*HARMLESS[name]) == []


def test_a_removed_plugin_is_cleaned_up_by_kmm_main() -> None:
    assert notes_on([PLUGIN], [PLAIN], "main") == notes_on([PLUGIN], [PLAIN], "openshift") == []


def test_a_retained_version_keeps_its_consumers() -> None:
    both = [consumer("agent-1", **V1), consumer("agent-2", **V2)]
    assert [note.rule for note in notes_on([VERSIONED, both[0]], [NEXT, *both])] == ["KRM407"]


def test_what_reloads_everywhere_says_how_it_reloads_one_by_one() -> None:
    (note,) = notes_on([PLAIN], [edited(PLAIN, (IMAGE, "r/drv:2"))])
    assert "; write `upgrade: {ordered: true}`, and change driverVersion with each release" in note.text
    assert note.text.endswith("to a Module: to begin, delete it once, which unloads its nodes)")
    (note,) = notes_on([PLAIN, consumer()], [edited(PLAIN, (IMAGE, "r/drv:2")), consumer()])
    assert "; stop them first, or write `upgrade: {ordered: true}`, and" in note.text
    (note,) = notes_on([VERSIONED], [edited(VERSIONED, (IMAGE, "r/drv:2"))])
    assert "; change driverVersion with it: then nodes reload one by one" in note.text


def test_a_vendor_s_config_is_told_where_its_upgrade_is_ordered() -> None:
    for kind, profile, where in (
        ("habana.ai|DeviceConfig", "habana@1.0", " under `config` of the Profile habana, or under `overrides.habana`"),
        ("krmfn.dev|DeviceConfig", "habana@1.0", ", and change driverVersion"),
        ("habana.ai|DeviceConfig", "", ", and change driverVersion"),
    ):
        mark = f"deviceconfig {kind}|kmm|gpu kmm.sigs.x-k8s.io|Module|kmm|gpu"
        annotations = ("metadata.annotations", {"krmfn.dev/owner": mark, "krmfn.dev/profile": profile})
        old = edited(PLAIN, annotations)
        (note,) = notes_on([old], [edited(old, (IMAGE, "r/drv:2"))])
        assert f"; write `upgrade: {{ordered: true}}`{where}" in note.text


SILENT = table(__file__, "silent.yaml")
"""Mappings before and after; an entry without a condition holds fields of the container."""


def mapped(entries: list[Manifest]) -> Manifest:
    container = [entry for entry in entries if not {"regexp", "literal"} & entry.keys()]
    mappings = [entry for entry in entries if entry not in container]
    return module(*mappings, name="drv", **{"modprobe": {"moduleName": "drv"}, **(container or [{}])[0]})


@pytest.mark.parametrize("name", SILENT)
def test_what_no_kernel_notices_is_silent(name: str) -> None:
    old, new = SILENT[name].values()
    assert notes_on([mapped(old)], [mapped(new)]) == []


SPOKEN = table(__file__, "spoken.yaml")


def dockerfile(text: str, name: str = "gpu") -> Manifest:
    return {**manifest("v1", "ConfigMap", name), "data": {"dockerfile": text}}


def test_what_an_image_is_made_from_changes_and_its_name_does_not() -> None:
    """KMM builds and signs only what the registry lacks."""
    named = edited(BUILT, (f"{CONTAINER}.build.dockerfileConfigMap.name", "other"))
    of_mapping = edited(BUILT, (f"{MAPPINGS}[0].build", {**BUILD, "buildArgs": [{"name": "A", "value": "2"}]}))
    key = {"keySecret": {"name": "key"}, "certSecret": {"name": "cert"}}
    signed, resigned = (edited(BUILT, (f"{CONTAINER}.sign", {**key, "filesToSign": [file]})) for file in ("/a", "/b"))
    triggered = edited(BUILT, (f"{CONTAINER}.build.buildArgs", []), ("spec.imageRebuildTriggerGeneration", 1))
    changes: dict[str, tuple[list[Manifest], list[Manifest]]] = {
        "the build arguments changed, but the image keeps its name": ([BUILT], [triggered]),
        "`build` is new, but the image keeps its name": ([PLAIN], [BUILT]),
        "`build` is gone, but": ([BUILT], [PLAIN]),
        "`sign` is new, but": ([BUILT], [signed]),
        "`sign` is gone and the build arguments changed, but": (
            [signed],
            [edited(BUILT, (f"{CONTAINER}.build.buildArgs", []))],
        ),
        "`build` is new, but the image keeps its name: KMM makes only what the registry lacks, so the old one "
        "stays in use for kernels of regexp ^6": (
            [PLAIN],
            [edited(PLAIN, (f"{MAPPINGS}[1].build", BUILD))],
        ),
        "the Dockerfile changed": ([BUILT, dockerfile("FROM a")], [BUILT, dockerfile("FROM b")]),
        "the Dockerfile changed, but": ([BUILT], [named]),
        "the Dockerfile changed, but the": ([BUILT], [named, dockerfile("a", "other")]),
        "kernels of regexp ^5": ([BUILT], [of_mapping]),
        "kernels of regexp ^5, regexp ^6": ([BUILT, dockerfile("a")], [named, dockerfile("b", "other")]),
        "what is signed changed": ([signed], [resigned]),
    }
    for text, (old, new) in changes.items():
        (note,) = (note for note in notes_on(old, new) if note.rule == "KRM412")
        assert text in note.text
        assert (note.severity, note.ref and note.ref.kind) == ("warning", "Module")


def test_a_hub_builds_from_the_one_dockerfile_of_that_name() -> None:
    """In the namespace of its operator, which the input does not tell."""
    files = [{**dockerfile(text), "metadata": {"name": "gpu", "namespace": "hub-operator"}} for text in ("a", "b")]
    twins = [{**dockerfile(text), "metadata": {"name": "gpu", "namespace": "else"}} for text in ("c", "d")]
    rules = [note.rule for note in notes_on([hub(BUILT), files[0]], [hub(BUILT), files[1]])]
    assert rules == ["KRM412"]
    assert notes_on([hub(BUILT), files[0], twins[0]], [hub(BUILT), files[0], twins[1]]) == []


def test_what_is_built_all_the_same_is_silent() -> None:
    named = edited(BUILT, (f"{CONTAINER}.build.dockerfileConfigMap.name", "gpu-1a2b"))
    moved = edited(PLAIN, (f"{MAPPINGS}[0].build", BUILD), (f"{MAPPINGS}[1].build", BUILD))
    images = [(f"{MAPPINGS}[{at}].containerImage", "r/drv:2") for at in (0, 1)]
    changes: list[tuple[list[Manifest], list[Manifest]]] = [
        ([BUILT], [edited(BUILT, (f"{CONTAINER}.build.buildArgs", []), *images)]),
        ([BUILT], [edited(BUILT, ("spec.imageRebuildTriggerGeneration", 1))]),
        ([PLAIN], [edited(BUILT, *images)]),
        ([PLAIN], [edited(PLAIN, (f"{CONTAINER}.build", None))]),
        ([BUILT, dockerfile("a")], [named, dockerfile("a", "gpu-1a2b")]),
        ([BUILT], [BUILT, dockerfile("a")]),
        ([BUILT], [edited(BUILT, (f"{CONTAINER}.build.secrets", [{"name": "pull"}]))]),
        ([BUILT], [moved]),
        ([PLAIN, dockerfile("a")], [PLAIN, dockerfile("b")]),
    ]
    for old, new in changes:
        assert "KRM412" not in [note.rule for note in notes_on(old, new)]


@pytest.mark.parametrize("name", SPOKEN)
def test_the_kernels_whose_nodes_reload_are_named(name: str) -> None:
    old, new, path, text = SPOKEN[name].values()
    (note,) = notes_on([mapped(old)], [mapped(new)])
    assert note.field
    assert (note.rule, note.severity, note.field.path) == ("KRM401", "info", path)
    assert text in note.text


def test_a_new_version_does_not_keep_a_kernel_without_a_mapping() -> None:
    """KMM looks for a mapping first, and for the version after it."""
    old = edited(VERSIONED, (MAPPINGS, LAST))
    lost = [note.text for note in notes_on([old, consumer()], [NEXT, consumer()]) if note.rule == "KRM401"]
    assert len(lost) == 1
    assert lost[0].startswith("KMM unloads the kernel module on all its nodes with a kernel of regexp ^7 that no")
    assert lost[0].endswith("stop them first, or keep the mapping until no node has such a kernel")


def test_errors_come_first() -> None:
    old = [drv("a"), drv("b", version="1"), consumer(**{"kmm.node.kubernetes.io/kmm.b.ready": ""})]
    reported = notes_on(old, [edited(drv("a"), (IMAGE, "r/drv:2")), old[2]])
    assert [note.severity for note in reported] == ["error", "info", "info"]


def test_many_consumers_are_counted() -> None:
    agents = [consumer(f"agent-{number}") for number in range(5)]
    (note,) = notes_on([PLAIN], agents)
    assert "DaemonSet kmm/agent-0, DaemonSet kmm/agent-1, DaemonSet kmm/agent-2 and 2 more: " in note.text


def test_a_rule_is_turned_off_with_a_reason_but_no_refusal_is() -> None:
    change = [PLAIN], [edited(PLAIN, (IMAGE, "r/drv:2"))]
    assert [note.rule for note in notes_on(*change)] == ["KRM401"]
    assert notes_on(*change, ignore={"KRM401": "a lab"}) == []
    assert [note.rule for note in notes_on([PLAIN], [VERSIONED], ignore={"KMM002": "never mind"})] == ["KMM002"]


def test_every_rule_has_a_case() -> None:
    others = {"KRM409", "KRM414", "KRM415", "KRM416"}  # in test_node_effects, test_races, test_namespace_rules
    assert {rule.id for rule in RULES} - others | {"KMM002"} == {case.rule for case in CASES}


# The command.

CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: drv, namespace: kmm}
spec:
  driverImage: r.example.com/drv
  driverVersion: "1"
  moduleName: drv
  nodeSelector: {a: b}
  daemonSets:
  - {name: agent, image: "r.example.com/agent:1"}
"""


def diff(cwd: Path, *args: str, stdin: str | bytes = b"", **env: str) -> Done:
    return process("krmfn", "diff", *args, cwd=cwd, stdin=stdin, **env)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """`old` and `new` (another driver version), each a directory with one file."""
    return plant(tmp_path, {"old/driver.yaml": CONFIG, "new/driver.yaml": CONFIG.replace('n: "1"', 'n: "2"')})


def test_nothing_changes(folder: Path) -> None:
    assert diff(folder, "old", "old").ended(0, "").reported == "nothing changes, 2 unchanged\n"
    assert diff(folder, "/dev/null", "/dev/null").ended(0, "").reported == "nothing changes\n"


def test_a_change_with_its_note_at_the_file_it_comes_from(folder: Path) -> None:
    done = diff(folder, "old", "new").ended(1, "")
    assert done.text.startswith("~ Module kmm/drv: 1 field\n")
    assert '      - "r.example.com/drv:1-$KERNEL_FULL_VERSION"\n' in done.text
    assert "\nnew/driver.yaml:6:3: warning: Module kmm/drv: spec.moduleLoader" in done.text
    note, help_, *end = done.reported.partition("new/driver.yaml")[2].splitlines()
    assert note.endswith(" [KRM401]") and help_.startswith("  help: stop them first, or write `upgrade: ")
    assert end == ["", "1 changed, 1 unchanged"]
    headline, _, gaps, *_ = diff(folder, "old", "new", "--format", "markdown").text.splitlines()
    assert gaps.startswith("not judged: ")
    assert headline == "**1 changed, 1 unchanged**"


def test_the_kernels_and_the_changed_field_in_json(folder: Path) -> None:
    mappings = "  kernelMappings:\n  - {regexp: ^5}\n  - {regexp: ^6, image: r.example.com/drv:6}\n"
    plant(
        folder, {"old/driver.yaml": CONFIG + mappings, "new/driver.yaml": CONFIG + mappings.replace("drv:6", "drv:7")}
    )
    document = json.loads(diff(folder, "old", "new", "--format", "json").ended(1).out)
    (note,) = document["notes"]
    assert (document["summary"]["changed"], note["rule"], note["severity"]) == (1, "KRM401", "warning")
    assert (note["file"], note["line"]) == ("new/driver.yaml", 13)
    assert "at once on all its nodes with a kernel of regexp ^6; " in note["message"]
    (folder / "new" / "driver.yaml").write_text(CONFIG + mappings.replace("Mappings:", "Mappings:\n  - {regexp: ^7}"))
    assert json.loads(diff(folder, "old", "new", "--format", "json").ended(1).out)["notes"] == []


FLEET = """\
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {a: b}}
spec: {taints: [{key: gpu, effect: NoSchedule}]}
status: {nodeInfo: {kernelVersion: 5.14.0-427.el9.x86_64}}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {a: b}}
status: {nodeInfo: {kernelVersion: 5.14.0-427.el9.x86_64}}
"""


def notes_of(done: Done, rule: str) -> list[Any]:
    """The notes of a rule in the JSON of a diff with changes."""
    return [note for note in json.loads(done.ended(1).out)["notes"] if note["rule"] == rule]


def test_pods_that_restart_are_counted_where_nodes_are_known(folder: Path) -> None:
    tolerating = CONFIG + "  tolerations: [{key: gpu, operator: Exists}]\n"
    plugin = '  devicePlugin: {image: "r.example.com/plugin:1"}\n'
    of_plugin = "KMM restarts the pods of its device plugin on 1 node (n2)"
    for before, after, text in (
        (CONFIG, CONFIG.replace("agent:1", "agent:2"), "restarts its pods on 1 node (n2)"),
        (tolerating, tolerating.replace("agent:1", "agent:2"), "restarts its pods on 2 nodes (n1, n2)"),
        (CONFIG + plugin, CONFIG + plugin.replace(":1", ":2"), of_plugin),
        (CONFIG + plugin, (CONFIG + plugin.replace(":1", ":2")).replace("a: b", "a: c"), None),
    ):
        plant(folder, {"old/driver.yaml": before + FLEET, "new/driver.yaml": after + FLEET})
        notes = notes_of(diff(folder, "old", "new", "--format", "json"), "KRM413")
        assert [(note["severity"], note["message"]) for note in notes] == ([("info", text)] if text else [])


def test_where_nodes_are_known_only_those_that_reload_are_named(folder: Path) -> None:
    fleet = FLEET.replace("spec: {taints: [{key: gpu, effect: NoSchedule}]}\n", "").replace("5.14", "6.14", 1)
    five, six, seven = (f"  - {{regexp: ^{at}, image: r.example.com/drv:{at}}}\n" for at in "567")
    head = CONFIG.replace('  driverVersion: "1"\n', '  driverVersion: "1"\n  kernelMappings:\nMAPPINGS')
    for before, after, text in (
        (five + six, five + six.replace("drv:6", "drv:x"), "at once on 1 of 2 nodes (n1); "),
        (five + six, (five + six).replace("com/drv", "com/x"), "at once on 2 nodes (n1, n2); "),
        (five + six, seven + five + six, None),
        (five + six + seven, five + six + seven.replace("drv:7", "drv:x"), None),
        (five + six + seven, five + six, None),
        ("  - {regexp: ., image: r.example.com/drv:1}\n", five + six.replace("drv:6", "drv:1"), "1 of 2 nodes (n2); "),
    ):
        old, new = (head.replace("MAPPINGS", mappings) for mappings in (before, after))
        plant(folder, {"old/driver.yaml": old + fleet, "new/driver.yaml": new + fleet})
        notes = notes_of(diff(folder, "old", "new", "--format", "json"), "KRM401")
        assert len(notes) == bool(text)
        assert not text or text in notes[0]["message"]
        plant(folder, {"old/driver.yaml": old})  # the nodes of one side are those of both
        assert notes_of(diff(folder, "old", "new", "--format", "json"), "KRM401") == notes


def test_where_it_is_not_known_what_nodes_do_kernels_are_named(folder: Path) -> None:
    """An inventory that is expired says nothing: silence would be a promise."""
    stale = """\
---
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: nodes, annotations: {config.kubernetes.io/local-config: "true"}}
spec:
  labelKeys: [a]
  validUntil: "2020-01-01"
  groups: [{labels: {a: c}, nodes: "n1 5.14.0-1"}]
"""
    other = CONFIG.replace("com/drv", "com/other")
    plant(folder, {"old/driver.yaml": CONFIG + stale.replace("2020", "9999"), "new/driver.yaml": other + stale})
    done = diff(folder, "old", "new")
    assert "what happens on the nodes is not known" in done.text + done.err
    assert "KMM unloads and reloads the kernel module on all its nodes at once; " in done.text


def test_a_removed_toleration_loses_the_driver(folder: Path) -> None:
    tolerations = "  tolerations: [{key: gpu, operator: Exists}]\n"
    plant(folder, {"old/driver.yaml": CONFIG + tolerations + FLEET, "new/driver.yaml": CONFIG + FLEET})
    document = json.loads(diff(folder, "old", "new", "--format", "json").ended(1).out)
    (effect,) = document["effects"]
    assert (effect["effect"], effect["nodes"]) == ("lost", ["n1"])
    assert [note["severity"] for note in document["notes"] if note["rule"] == "KRM409"] == ["warning"]


def test_from_nothing_and_to_nothing(folder: Path) -> None:
    created = diff(folder, "/dev/null", "new").ended(1)
    assert created.reported == "+ Module kmm/drv\n+ DaemonSet kmm/drv-agent\n\n2 created\n"
    (folder / "empty").mkdir()
    changes, note, count = diff(folder, "old", "empty").ended(1).reported.split("\n\n")
    assert (changes, count) == ("- Module kmm/drv\n- DaemonSet kmm/drv-agent", "2 deleted\n")
    assert note.startswith("info: Module kmm/drv: is deleted together with DaemonSet kmm/drv-agent; ")


def test_stdin_is_old_or_new(folder: Path) -> None:
    assert diff(folder, "old", "-", stdin=CONFIG).code == 0
    assert diff(folder, "-", "new", stdin=CONFIG).code == 1
    assert diff(folder, "-", "-", stdin=CONFIG) == Done(
        2, b"", "error: OLD and NEW are both stdin; pass a file or directory for one of them\n"
    )


def test_a_refused_change_is_an_error_in_the_report_and_exit_1(folder: Path) -> None:
    plant(folder, {"new/driver.yaml": CONFIG + "  upgrade: {ordered: true}\n"})
    done = diff(folder, "old", "new").ended(1)
    assert "error: Module kmm/drv: spec.moduleLoader.container.version: cannot update to or from an empty" in done.text


@pytest.mark.parametrize("broken", ["old", "new"])
def test_what_cannot_be_rendered_is_exit_2_with_its_findings(folder: Path, broken: str) -> None:
    (folder / broken / "driver.yaml").write_text(CONFIG.replace("moduleName", "moduelName"))
    refusal = diff(folder, "old", "new").refused()
    assert f"{broken}/driver.yaml:7:3: error: DeviceConfig kmm/drv: spec.moduelName: " in refusal
    assert refusal.endswith(f"error: {broken}: cannot be rendered, so there is nothing to compare\n")


def test_warnings_of_the_new_state_are_printed(folder: Path) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: kmm}\n---\nnote: a\n"
    plant(folder, {"old/text.yaml": text, "new/text.yaml": text})
    assert diff(folder, "old", "new").err.count("text.yaml:4: warning: ") == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("old", "missing"), "error: missing: No such file or directory\n"),
        (("missing", "new"), "error: missing: No such file or directory\n"),
        (("old",), "diff takes two PATHs, OLD and NEW, but got 1"),
        (("old", "new", "new"), "usage: krmfn diff OLD NEW, or krmfn diff --base REF [PATH ...]"),
        (("old", "new", "--format", "xml"), "invalid choice: 'xml'"),
        (("old", "new", "--kmm-version", "1.0"), "'1.0'"),
    ],
)
def test_work_that_cannot_be_done(folder: Path, args: tuple[str, ...], message: str) -> None:
    assert message in diff(folder, *args).refused()


def test_what_is_read_only_does_not_count(folder: Path) -> None:
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {a: b}}\n"
    mark = 'annotations: {config.kubernetes.io/local-config: "true"}'
    local = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c, {mark}}}\n"
    (folder / "new" / "driver.yaml").write_text(f"{CONFIG}---\n{node}---\n{local}")
    assert diff(folder, "old", "new").ended(0, "").reported == "nothing changes, 2 unchanged\n"


def test_what_is_rendered_already_is_taken_as_it_is(folder: Path) -> None:
    rendered = process("krmfn", "render", "old", cwd=folder).out
    assert diff(folder, "-", "old", stdin=rendered).code == 0
    assert diff(folder, "new", "-", stdin=rendered).text.endswith("1 changed, 1 unchanged\n")
    assert diff(folder, "-", "/dev/null", stdin=rendered).text.endswith("2 deleted\n")


def test_a_written_module_is_checked_beside_what_is_rendered_already(folder: Path) -> None:
    wrong = edited(drv(), (f"{MAPPINGS}[0].regexp", "("))
    (folder / "new" / "driver.yaml").write_text(json.dumps(wrong))
    assert "missing closing )" in diff(folder, "old", "new").refused()


def test_old_and_new_have_a_functionconfig_each(folder: Path) -> None:
    config = function_config(defaults={"imagePullSecret": "pull"}, ignore={"KRM401": "a lab"})
    plant(folder, {"new/driver.yaml": CONFIG, "new/config.json": json.dumps(config)})
    done = diff(folder, "old", "new").ended(1)
    assert "    spec.imageRepoSecret\n      + name: pull\n" in done.text
    assert "KRM401" not in done.text


def test_a_rule_is_turned_off_where_the_config_says_why(folder: Path) -> None:
    annotations = 'annotations: {krmfn.dev/ignore: "KRM401: a lab"}'
    altered(folder / "new" / "driver.yaml", "namespace: kmm}", f"namespace: kmm, {annotations}}}")
    assert "KRM401" not in diff(folder, "old", "new").text


def test_so_for_a_ptemplate(tmp_path: Path) -> None:
    done = diff(tmp_path, "/dev/null", str(example("ptemplate")))
    assert (done.code, done.text.count("\n+ "), "error" in done.err) == (1, 2, False)


def test_a_note_stands_where_its_module_does(tmp_path: Path) -> None:
    new = edited(PLAIN, (IMAGE, "r/drv:2"))
    (tmp_path / "module.json").write_text(json.dumps(new, indent=1))
    resources = manifests.read(str(tmp_path / "module.json"))
    (note,) = notes(plan([PLAIN], [new]), resources)
    assert note.place
    assert (note.place.path, note.place.line > 1) == (str(tmp_path / "module.json"), True)
    new["metadata"]["annotations"] = {"krmfn.dev/ignore": "KRM401: a lab; KRM402"}
    (tmp_path / "module.json").write_text(json.dumps(new, indent=1))
    assert notes(plan([PLAIN], [new]), manifests.read(str(tmp_path / "module.json"))) == []
