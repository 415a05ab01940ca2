"""Objects whose owner is not in the input: refused, removed under kpt, kept where a command only looks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import process
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.deviceconfig import SCOPE, deviceconfig

from krmfn import ResourceList, run
from krmfn.ownership import OWNER

EXAMPLES = ["quickstart", "two-vendors", "vendor-profiles", "ptemplate", "kpt-package"]
"""Examples that render without other programs."""


def rendered(example: str) -> bytes:
    """What `render` prints of an example."""
    done = process("krmfn", "render", f"examples/{example}")
    assert done.code == 0, done.err
    return done.out


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_was_rendered_is_not_rendered_to_nothing(example: str) -> None:
    done = process("krmfn", "render", "-", stdin=rendered(example))
    assert (done.code, done.out) == (1, b"")
    count = rendered(example).count(b"krmfn.dev/owner: ")
    assert count
    assert done.err.count("[KRM116]") == count
    assert "--prune never" in done.err


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_ways_out_work(example: str) -> None:
    before = rendered(example)
    kept = process("krmfn", "render", "-", "--prune", "never", stdin=before)
    assert (kept.code, kept.out) == (0, before)
    emptied = process("krmfn", "render", "-", "--prune", "always", "--allow-empty", stdin=before)
    bystanders = [one for one in yaml.safe_load_all(before) if OWNER not in one["metadata"].get("annotations", {})]
    assert (emptied.code, list(yaml.safe_load_all(emptied.out))) == (0, bystanders)
    assert bool(bystanders) == (example == "kpt-package")
    refused = process("krmfn", "render", "-", "--prune", "always", stdin=before)
    assert (refused.code, refused.out) == ((0, emptied.out) if bystanders else (2, b"")), "nothing at all is refused"


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_check_of_what_was_rendered_looks_at_it(example: str) -> None:
    done = process("krmfn", "check", "-", "--format", "json", stdin=rendered(example))
    findings = json.loads(done.out)["findings"]
    assert done.code == 0
    assert [finding["rule"] for finding in findings].count("KRM116") == 1
    spoilt = process("krmfn", "check", "-", "--format", "json", stdin=rendered(example).replace(b"^.+$", b"^(.+$"))
    assert spoilt.code == 1, "a regexp that KMM refuses is found in rendered Modules"


def test_two_rendered_modules_of_one_driver_are_told() -> None:
    """A rendered branch whose two Modules meet on every node."""
    text = rendered("quickstart")
    twin = text.replace(b"gaudi", b"other")
    done = process("krmfn", "check", "-", stdin=text + b"---\n" + twin)
    assert done.code == 1
    assert b"KRM304" in done.out


def test_diff_and_resolve_take_them_as_they_stand(tmp_path: Path) -> None:
    before = tmp_path / "rendered.yaml"
    before.write_bytes(rendered("quickstart"))
    same = process("krmfn", "diff", str(before), "examples/quickstart")
    assert same.code == 0, same.out
    gone = process("krmfn", "diff", str(before), "/dev/null")
    assert gone.code == 1
    assert b"deleted" in gone.out
    answer = process("krmfn", "resolve", str(before), "--kernel", "5.14.0-1.el9.x86_64")
    assert answer.code == 0
    assert b"kernelMappings[0]" in answer.out


def test_a_folder_that_is_a_kpt_package_prunes_as_kpt_does(tmp_path: Path) -> None:
    """`render` of a package gives what `kpt fn render` makes of it."""
    (tmp_path / "objects.yaml").write_bytes(rendered("quickstart"))
    (tmp_path / "other.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: other\n")
    refused = process("krmfn", "render", str(tmp_path))
    assert refused.code == 1
    kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n"
    (tmp_path / "Kptfile.yaml").write_text(kptfile)
    pruned = process("krmfn", "render", str(tmp_path), "--log-format", "text")
    assert pruned.code == 0, pruned.err
    assert [item["kind"] for item in yaml.safe_load_all(pruned.out)] == ["ConfigMap"]


KINDS = [
    ("kmm.sigs.x-k8s.io/v1beta1", "Module"),
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "StatefulSet"),
    ("v1", "Namespace"),
    ("v1", "ServiceAccount"),
    ("krmfn.dev/v1alpha1", "RenderDeviceConfigs"),
]
NAMES = ["a", "b"]
ids = st.tuples(
    st.sampled_from(["", "apps", "kmm.sigs.x-k8s.io", "krmfn.dev", "amd.com"]),
    st.sampled_from(["Module", "DaemonSet", "DeviceConfig", "Ptemplate", "Namespace"]),
    st.sampled_from(["", "kmm", "other"]),
    st.sampled_from(NAMES),
).map("|".join)
marks = st.one_of(
    st.tuples(st.sampled_from(["deviceconfig", "ptemplate", "stranger", ""]), ids, ids).map(" ".join),
    ids,
    st.text("ab|. ", max_size=12),
)


@st.composite
def objects(draw: Callable[[Any], Any]) -> dict[str, Any]:
    """An object of some kind with some mark, or none."""
    api, kind = draw(st.sampled_from(KINDS))
    metadata: dict[str, Any] = {
        "name": draw(st.sampled_from(NAMES)),
        "namespace": draw(st.sampled_from(["kmm", "other"])),
    }
    if draw(st.booleans()):
        metadata["annotations"] = {OWNER: draw(marks)}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": {"selector": {"a": "b"}}}


CONFIG = {
    "apiVersion": "krmfn.dev/v1alpha1",
    "kind": "DeviceConfig",
    "metadata": {"name": "a", "namespace": "kmm"},
    "spec": {"driverImage": "r/d", "driverVersion": "1", "moduleName": "m", "nodeSelector": {"x": "y"}},
}


def _id(one: dict[str, Any]) -> tuple[str, str, str]:
    return (one["kind"], one["metadata"]["namespace"], one["metadata"]["name"])


@given(
    st.lists(objects(), max_size=5, unique_by=_id),
    st.booleans(),
    st.sampled_from(["auto", "always", "never"]),
)
def test_nothing_is_removed_but_what_the_function_made(items: list[dict[str, Any]], config: bool, prune: str) -> None:
    """Whatever the marks say: inputs, kinds that are never generated and copies stay, and `auto` loses nothing."""
    head = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList"}
    function_config = {
        "apiVersion": "krmfn.dev/v1alpha1",
        "kind": "RenderDeviceConfigs",
        "metadata": {"name": "c"},
        "spec": {"prune": prune, "adopt": True, "exclusivity": {"mode": "off"}},
    }
    listed = {**head, "functionConfig": function_config, "items": [*items, *([CONFIG] if config else [])]}
    out, code = run(deviceconfig, json.dumps(listed).encode())
    before, after = (
        {item.ref.id: item for item in ResourceList.parse(data).items} for data in (json.dumps(listed).encode(), out)
    )
    gone = before.keys() - after.keys()
    if code:
        assert not gone
        return
    assert run(deviceconfig, out) == (out, 0)
    for about in gone:
        item = before[about]
        assert about[:2] in SCOPE.kinds
        text = item.annotations[OWNER]
        owner = text if " " not in text else text.split(" ")[1]
        assert owner.split("|")[1] == "DeviceConfig"
        assert " " not in text or text == f"deviceconfig {owner} {'|'.join(about)}"
        present = config and owner == "krmfn.dev|DeviceConfig|kmm|a"
        assert prune == "always" or (present and prune == "auto")


def test_a_kpt_package_is_seen_by_its_paths() -> None:
    """No path, a path that kustomize invented, or a Kptfile elsewhere: no package."""
    kptfile = {"apiVersion": "kpt.dev/v1", "kind": "Kptfile", "metadata": {"name": "p"}}
    made = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "a", "namespace": "kmm"},
    }
    mark = "deviceconfig krmfn.dev|DeviceConfig|kmm|gone apps|DaemonSet|kmm|a"
    path = "internal.config.kubernetes.io/path"

    def code(kpt_path: str | None, made_path: str | None, kustomize: bool = False) -> int:
        notes = {OWNER: mark} | ({path: made_path} if made_path else {})
        notes |= {"kustomize.config.k8s.io/id": "kind: DaemonSet"} if kustomize else {}
        items = [
            {**kptfile, "metadata": {"name": "p", "annotations": {path: kpt_path} if kpt_path else {}}},
            {**made, "metadata": {**made["metadata"], "annotations": notes}},
        ]
        listed = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items}
        return run(deviceconfig, json.dumps(listed).encode())[1]

    assert code("Kptfile", "a.yaml") == 0
    assert code("Kptfile", "sub/a.yaml") == 0
    assert code("sub/Kptfile", "sub/a.yaml") == 0
    assert code("sub/Kptfile", "a.yaml") == 1
    assert code("sub/Kptfile", "subtle/a.yaml") == 1
    assert code(None, "a.yaml") == 1
    assert code("Kptfile", None) == 1
    assert code("Kptfile", "a.yaml", kustomize=True) == 1


@pytest.mark.parametrize(("prune", "rules"), [("auto", []), ("always", []), ("never", ["KRM304"])])
def test_what_prune_never_keeps_is_judged(prune: str, rules: list[str]) -> None:
    """A Module that its config asks for no more stays with `never`, and still loads its driver on those nodes."""
    mark = "deviceconfig krmfn.dev|DeviceConfig|kmm|a kmm.sigs.x-k8s.io|Module|kmm|a-old"
    mapping = {"regexp": "^.+$", "containerImage": "r/d:1-$KERNEL_FULL_VERSION"}
    stale = {
        "apiVersion": "kmm.sigs.x-k8s.io/v1beta1",
        "kind": "Module",
        "metadata": {"name": "a-old", "namespace": "kmm", "annotations": {OWNER: mark}},
        "spec": {
            "moduleLoader": {"container": {"modprobe": {"moduleName": "m"}, "kernelMappings": [mapping]}},
            "selector": {"x": "y"},
        },
    }
    config = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "RenderDeviceConfigs", "metadata": {"name": "c"}}
    head = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList"}
    listed = {**head, "functionConfig": {**config, "spec": {"prune": prune}}, "items": [CONFIG, stale]}
    resources = ResourceList.parse(json.dumps(listed).encode())
    deviceconfig(resources)
    assert [finding.rule for finding in resources.results if finding.severity == "error"] == rules
