"""The config of an operator that leaves what is deployed, and takes the objects along that stay in Git."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from krmfn_functions.adoption.leaving import leaving
from krmfn_functions.fleet.owned import head_of

from krmfn import ResourceList
from tests import builders
from tests.adopted_cluster import CR, OWNER, PROFILE, Manifest, config, dump, made, node
from tests.call_counts import call_count
from tests.commands import Done, process

ALONE = PROFILE.replace(", keep: true", "")


def sides(folder: Path, old: Sequence[str], new: Sequence[str]) -> list[str]:
    for name, texts in (("old", old), ("new", new)):
        (folder / name).mkdir()
        (folder / name / "all.yaml").write_text("---\n".join(texts))
    return [str(folder / "old"), str(folder / "new")]


def diff(folder: Path, old: Sequence[str], new: Sequence[str], *objects: Manifest) -> Done:
    live = ["--live", str(dump(folder, *objects))] if objects else []
    return process("krmfn", "diff", *sides(folder, old, new), *live, "--fail-on", "error")


def plain(folder: Path) -> str:
    (folder / "git.yaml").write_text(f"{ALONE}---\n{CR}")
    return process("krmfn", "render", str(folder / "git.yaml")).text


@pytest.mark.parametrize(
    "old",
    [
        (PROFILE, CR),
        (CR,),
        (CR.replace("namespace: npu}", "namespace: npu, annotations: {krmfn.dev/profile: none}}"), PROFILE),
    ],
)
def test_a_config_that_leaves_takes_along_what_a_profile_makes_of_it(tmp_path: Path, old: Sequence[str]) -> None:
    done = diff(tmp_path, old, (ALONE, CR))
    assert done.code == 1, done
    assert "new/all.yaml" in done.text
    message = (
        "NpuPolicy npu/main: leaves what is deployed, and the cluster deletes with it what it owns: Module npu/main"
    )
    assert message in done.text


def test_plain_files_take_the_place_of_the_profile(tmp_path: Path) -> None:
    done = diff(tmp_path, (PROFILE, CR), (plain(tmp_path),))
    assert (done.code, "KRM730" in done.text) == (1, True)


@pytest.mark.parametrize(
    ("old", "new"),
    [((PROFILE, CR), (PROFILE, CR)), ((CR,), (PROFILE, CR)), ((), (ALONE, CR)), ((ALONE, CR), (ALONE, CR))],
)
def test_a_config_that_stays_or_was_not_deployed_takes_nothing_along(
    tmp_path: Path, old: Sequence[str], new: Sequence[str]
) -> None:
    assert "KRM730" not in diff(tmp_path, old, new).text


def test_a_config_goes_with_all_that_is_made_of_it(tmp_path: Path) -> None:
    settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: npu}\n"
    assert "KRM730" not in diff(tmp_path, (PROFILE, CR, settings), (settings,)).text


def test_a_dump_without_owners_lets_it_go(tmp_path: Path) -> None:
    assert "KRM730" not in diff(tmp_path, (PROFILE, CR), (ALONE, CR), *made(owned=False)).text


def test_a_dump_with_owners_names_the_nodes_that_lose_the_driver(tmp_path: Path) -> None:
    done = diff(tmp_path, (PROFILE, CR), (ALONE, CR), *made(), config())
    assert done.code == 1
    assert "Module npu/main: lost by 1 node (w1): the cluster deletes it with NpuPolicy npu/main" in done.text


def test_an_owner_between_is_followed(tmp_path: Path) -> None:
    objects = made()
    for manifest in objects:
        manifest["metadata"]["ownerReferences"] = [{**OWNER, "kind": "NpuDriver", "name": "d", "uid": "u-d"}]
    metadata = {"name": "d", "namespace": "npu", "uid": "u-d", "ownerReferences": [dict(OWNER)]}
    between = {"apiVersion": "npu.example.org/v1", "kind": "NpuDriver", "metadata": metadata}
    assert "KRM730" in diff(tmp_path, (PROFILE, CR), (ALONE, CR), *objects, between).text


@pytest.mark.parametrize("kinds", [(), ("Module", "ConfigMap")])
def test_a_dump_that_lacks_a_kind_shows_nothing_of_its_owners(tmp_path: Path, kinds: Sequence[str]) -> None:
    objects = [manifest for manifest in made(owned=False) if manifest["kind"] in kinds]
    done = diff(tmp_path, (PROFILE, CR), (ALONE, CR), *(objects or [node("w2")]))
    assert "the dump does not show that it owns nothing of" in done.text


def check(folder: Path, profile: str, *objects: Manifest) -> Done:
    (folder / "git.yaml").write_text(f"{profile}---\n{CR}")
    return process("krmfn", "check", str(folder / "git.yaml"), "--live", str(dump(folder, *objects)))


def test_check_says_what_owns_objects_and_is_not_deployed(tmp_path: Path) -> None:
    done = check(tmp_path, ALONE, *made(), config())
    assert (done.code, "NpuPolicy npu/main: Git does not deploy it" in done.text) == (1, True), done
    assert "git.yaml:" in next(line for line in done.text.splitlines() if "KRM730" in line)
    assert "KRM730" not in check(tmp_path, PROFILE, *made(), config()).text
    assert "KRM730" not in check(tmp_path, ALONE, *made(owned=False)).text


def calls_to_leave(number: int) -> int:
    """How many functions are called where so many configs leave, each with an object that stays."""
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "uid": ""}
    names = [str(at) for at in range(number)]
    heads = [
        head_of(builders.manifest("v1", "Secret", name, ownerReferences=[{**owner, "name": name}])) for name in names
    ]
    old = ResourceList.parse(builders.list_text(*(builders.manifest("v1", "ConfigMap", name) for name in names))).items
    new = ResourceList.parse(builders.list_text(*(builders.manifest("v1", "Secret", name) for name in names))).items
    live: Any = SimpleNamespace(objects=SimpleNamespace(heads=heads))
    leavers, count = call_count(lambda: leaving([*old], [*new], live))
    assert [leaver.objects[0].name for leaver in leavers] == names
    return count


def test_twice_the_configs_that_leave_are_twice_the_work() -> None:
    calls_to_leave(1)
    once, twice = map(calls_to_leave, (20, 40))
    assert twice < 2.2 * once, (once, twice)
