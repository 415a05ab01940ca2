"""Objects whose owner is not in the input: refused, removed under kpt, kept where a command only looks."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.rendering.kinds import DEVICECONFIG

from krmfn import Item, Manifest, ResourceList, run
from krmfn.ownership import OWNER, Id
from tests.builders import applied, device_config, edited, function_config, list_text, manifest, module
from tests.commands import cached, process

EXAMPLES = ["quickstart", "two-vendors", "inline-profiles", "ptemplate", "kpt-package"]
"""Examples that render without other programs."""


def rendered(example: str) -> bytes:
    """What `render` prints of an example."""
    return cached("krmfn", "render", f"examples/{example}").ended(0).out


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_was_rendered_is_not_rendered_to_nothing(example: str) -> None:
    err = process("krmfn", "render", "-", stdin=rendered(example)).refused(1)
    count = rendered(example).count(b"krmfn.dev/owner: ")
    assert count
    assert err.count("[KRM116]") == count
    assert "--prune never" in err


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_ways_out_work(example: str) -> None:
    before = rendered(example)
    assert process("krmfn", "render", "-", "--prune", "never", stdin=before).ended(0).out == before
    emptied = process("krmfn", "render", "-", "--prune", "always", "--allow-empty", stdin=before)
    documents = list(yaml.safe_load_all(before))
    bystanders = [document for document in documents if OWNER not in document["metadata"].get("annotations", {})]
    assert (emptied.code, list(yaml.safe_load_all(emptied.out))) == (0, bystanders)
    assert bool(bystanders) == (example == "kpt-package")
    refused = process("krmfn", "render", "-", "--prune", "always", stdin=before)
    assert (refused.code, refused.out) == ((0, emptied.out) if bystanders else (2, b"")), "nothing at all is refused"


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_check_of_what_was_rendered_looks_at_it(example: str) -> None:
    done = process("krmfn", "check", "-", "--format", "json", stdin=rendered(example)).ended(0)
    findings = json.loads(done.out)["findings"]
    assert [finding["rule"] for finding in findings].count("KRM116") == 1
    refused = process("krmfn", "check", "-", "--format", "json", stdin=rendered(example).replace(b"^.+$", b"^(.+$"))
    assert refused.code == 1, "a regexp that KMM refuses is found in rendered Modules"


def test_two_rendered_modules_of_one_driver_are_reported() -> None:
    """A rendered branch whose two Modules meet on every node."""
    text = rendered("quickstart")
    twin = text.replace(b"gaudi", b"other")
    assert b"KRM304" in process("krmfn", "check", "-", stdin=text + b"---\n" + twin).ended(1).out


def test_diff_and_resolve_take_them_as_they_stand(tmp_path: Path) -> None:
    before = tmp_path / "rendered.yaml"
    before.write_bytes(rendered("quickstart"))
    process("krmfn", "diff", str(before), "examples/quickstart").ended(0)
    assert b"deleted" in process("krmfn", "diff", str(before), "/dev/null").ended(1).out
    answer = process("krmfn", "resolve", str(before), "--kernel", "5.14.0-1.el9.x86_64").ended(0)
    assert b"kernelMappings[0]" in answer.out


def test_a_folder_that_is_a_kpt_package_prunes_as_kpt_does(tmp_path: Path) -> None:
    """`render` of a package gives what `kpt fn render` makes of it."""
    (tmp_path / "objects.yaml").write_bytes(rendered("quickstart"))
    (tmp_path / "other.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: other\n")
    process("krmfn", "render", str(tmp_path)).ended(1)
    kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n"
    (tmp_path / "Kptfile.yaml").write_text(kptfile)
    pruned = process("krmfn", "render", str(tmp_path), "--log-format", "text").ended(0)
    assert [item["kind"] for item in yaml.safe_load_all(pruned.out)] == ["ConfigMap"]


KINDS = [
    *[("kmm.sigs.x-k8s.io/v1beta1", "Module"), ("apps/v1", "DaemonSet")] * 3,
    ("apps/v1", "StatefulSet"),
    ("v1", "Namespace"),
    ("v1", "ServiceAccount"),
    ("krmfn.dev/v1alpha1", "RenderDeviceConfigs"),
]
NAMES, NAMESPACES = ["a", "b"], ["kmm", "other"]
IDS = st.tuples(
    st.sampled_from(["", "apps", "kmm.sigs.x-k8s.io", "krmfn.dev", "amd.com"]),
    st.sampled_from(["Module", "DaemonSet", "DeviceConfig", "Ptemplate", "Namespace"]),
    st.sampled_from(["", *NAMESPACES]),
    st.sampled_from(NAMES),
).map("|".join)
FUNCTION_NAMES = st.sampled_from([*["deviceconfig"] * 4, "ptemplate", "stranger", ""])
OWNERS = st.sampled_from([f"krmfn.dev|DeviceConfig|{place}" for place in ("kmm|a", "kmm|a", "kmm|b", "other|a")])


def marks(id_of_object: str) -> st.SearchStrategy[str]:
    """Return marks for the object of this id: right ones, and those that are wrong in one part or in all."""
    right = st.tuples(FUNCTION_NAMES, OWNERS, st.just(id_of_object))
    odd = st.tuples(FUNCTION_NAMES, IDS, IDS)
    return st.one_of(*[right.map(" ".join)] * 3, odd.map(" ".join), IDS, st.text("ab|. ", max_size=12))


@st.composite
def objects(draw: st.DrawFn) -> dict[str, Any]:
    """An object of some kind with some mark, or none."""
    api_version, kind = draw(st.sampled_from(KINDS))
    name, namespace = draw(st.sampled_from(NAMES)), draw(st.sampled_from(NAMESPACES))
    id_of_object = "|".join([api_version.rpartition("/")[0], kind, namespace, name])
    annotations = {OWNER: draw(marks(id_of_object))} if draw(st.integers(0, 3)) else {}
    head = manifest(api_version, kind, name, namespace, annotations=annotations)
    return {**head, "spec": {"selector": {"a": "b"}}}


CONFIG = device_config(name="a")


def _id(item: dict[str, Any]) -> tuple[str, str, str]:
    return (item["kind"], item["metadata"]["namespace"], item["metadata"]["name"])


LISTS = st.lists(objects(), max_size=5, unique_by=_id)
PRUNES = st.sampled_from(["auto", "always", "never"])
Objects = dict[Id, Item]


def rendered_list(items: list[Manifest], config: bool, prune: str) -> tuple[Objects, Objects, int]:
    """The objects before and after a run, and its exit code; a second run of the output changes nothing."""
    functions = function_config(prune=prune, adopt=True, exclusivity={"mode": "off"})
    data = list_text(*items, *([CONFIG] if config else []), function_config=functions)
    out, code = run(deviceconfig, data)
    assert code == 1 or run(deviceconfig, out) == (out, 0)
    before, after = ({item.ref.id: item for item in ResourceList.parse(text).items} for text in (data, out))
    return before, after, code


@given(LISTS, st.booleans(), PRUNES)
def test_nothing_is_removed_but_what_the_function_made(items: list[Manifest], config: bool, prune: str) -> None:
    """Whatever the marks say: inputs, kinds that are never generated and copies stay, and `auto` loses nothing."""
    before, after, code = rendered_list(items, config, prune)
    assert code == 0 or after.keys() == before.keys()
    for removed in before.keys() - after.keys():
        function, owner, marked = before[removed].annotations[OWNER].split(" ")
        assert (function, marked) == ("deviceconfig", "|".join(removed))
        assert removed[:2] in DEVICECONFIG.kinds
        assert owner.split("|")[1] == "DeviceConfig" or owner.split("|")[0], "a vendor's kind has a group"
        assert prune == "always" or (prune == "auto" and config and owner == "krmfn.dev|DeviceConfig|kmm|a")


def test_the_lists_of_objects_reach_every_outcome() -> None:
    """Else the property above would hold for want of removed objects."""
    outcomes: Counter[str] = Counter()

    @settings(max_examples=400, database=None, derandomize=True)
    @given(LISTS, st.booleans(), PRUNES)
    def count(items: list[Manifest], config: bool, prune: str) -> None:
        before, after, code = rendered_list(items, config, prune)
        outcomes["refused" if code else prune if before.keys() - after.keys() else "kept"] += 1

    count()
    assert min(outcomes[outcome] for outcome in ("refused", "always", "auto", "kept")) >= 5, outcomes


@pytest.mark.parametrize(
    ("kptfile", "path", "code"),
    [
        ("Kptfile", "a.yaml", 0),
        ("Kptfile", "sub/a.yaml", 0),
        ("sub/Kptfile", "sub/a.yaml", 0),
        ("sub/Kptfile", "a.yaml", 1),
        ("sub/Kptfile", "subtle/a.yaml", 1),
        (None, "a.yaml", 1),
        ("Kptfile", None, 1),
        ("Kptfile", "a.yaml of kustomize", 1),
    ],
)
def test_a_kpt_package_is_seen_by_its_paths(kptfile: str | None, path: str | None, code: int) -> None:
    """No path, a path that kustomize invented, or a Kptfile elsewhere: no package."""

    def notes(path: str | None) -> dict[str, str]:
        return {"internal.config.kubernetes.io/path": path} if path else {}

    stale = {OWNER: "deviceconfig krmfn.dev|DeviceConfig|kmm|gone apps|DaemonSet|kmm|a"} | notes(path)
    if path and "kustomize" in path:
        stale |= {"kustomize.config.k8s.io/id": "kind: DaemonSet"} | notes("a.yaml")
    package = manifest("kpt.dev/v1", "Kptfile", "p", "", annotations=notes(kptfile))
    assert run(deviceconfig, list_text(package, manifest("apps/v1", "DaemonSet", annotations=stale)))[1] == code


@pytest.mark.parametrize(("prune", "rules"), [("auto", []), ("always", []), ("never", ["KRM304"])])
def test_what_prune_never_keeps_is_judged(prune: str, rules: list[str]) -> None:
    """A Module that its config asks for no more stays with `never`, and still loads its driver on those nodes."""
    mark = "deviceconfig krmfn.dev|DeviceConfig|kmm|a kmm.sigs.x-k8s.io|Module|kmm|a-old"
    module_of_a = module(name="a-old", selector={"gpu": "a"}, modprobe={"moduleName": "drv"})
    stale = edited(module_of_a, ("metadata.annotations", {OWNER: mark}))
    resources = applied(deviceconfig, CONFIG, stale, function_config=function_config(prune=prune))
    assert [finding.rule for finding in resources.results if finding.severity == "error"] == rules


def generated(kind: str, name: str) -> Manifest:
    """Return an object that was generated from a DeviceConfig of its name."""
    is_hub = kind == "ManagedClusterModule"
    what = f"hub.kmm.sigs.x-k8s.io|{kind}||{name}" if is_hub else f"kmm.sigs.x-k8s.io|{kind}|kmm|{name}"
    mark = {OWNER: f"deviceconfig krmfn.dev|DeviceConfig|kmm|{name} {what}"}
    made = manifest("hub.kmm.sigs.x-k8s.io/v1beta1", kind, name, "") if is_hub else module(name=name)
    return edited(made, ("metadata.annotations", mark))


@pytest.mark.parametrize("kinds", [["Module"], ["ManagedClusterModule"], ["Module", "ManagedClusterModule"]])
def test_what_is_kept_is_checked_and_that_is_said(kinds: list[str]) -> None:
    text = list_text(*(generated(kind, f"gpu-{number}") for number, kind in enumerate(kinds)))
    done = process("krmfn", "check", "-", stdin=text)
    (line,) = (line for line in done.text.splitlines() if line.endswith("[KRM116]"))
    assert line.endswith(": checked as if written by hand [KRM116]")
    misspelt = edited(generated(kinds[0], "gpu"), ("spec.selecter", {}))
    assert "[KMM051]" in process("krmfn", "check", "-", stdin=list_text(misspelt)).text, misspelt
