"""Dumps that are cut, mixed, huge or of odd types: a sentence or the whole content, never a part, no traceback."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.cluster import dumps
from krmfn_functions.fleet import collecting, live
from krmfn_functions.fleet.live import Live

from krmfn import KrmfnError
from tests.builders import manifest
from tests.commands import environment, execute
from tests.functions.chain.clusters import healthy, planned, seen
from tests.functions.chain.nights import NIGHTS, played
from tests.kmm_dumps import module, modules_config, node, worker

NIC = {"example.com/nic": "true"}
OBJECTS = [node(NIC), node(NIC, name="web-2"), module(), modules_config(), worker("Unload")]
LISTING = {"apiVersion": "v1", "items": OBJECTS, "kind": "List", "metadata": {"resourceVersion": ""}}
TEXTS = {"json": json.dumps(LISTING, indent=4), "yaml": yaml.safe_dump(LISTING)}
ODD: tuple[Any, ...] = (None, "", "x", "a\x1b\nb", 7, -1, 1.5, True, [], {}, [None], [{}], {"a": None}, [["x"]])
ODD += ({"": []}, "x" * 5000, 10**30, [1, "b"])


def content(dump: Live) -> Any:
    return dump._replace(name="", items=())


def test_a_dump_that_is_not_there_is_named_once(tmp_path: Path) -> None:
    path = tmp_path / "gone.json"
    with pytest.raises(KrmfnError) as raised:
        dumps.read(str(path))
    assert str(raised.value) == f"--live {path}: No such file or directory"


@pytest.mark.parametrize("form", TEXTS)
@given(data=st.data())
def test_half_a_dump_is_an_error(form: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Cut anywhere; kubectl writes the kind of a list behind its items, so that nothing of a half is taken."""
    text = TEXTS[form]
    place = data.draw(st.integers(0, len(text) - 1))
    path = tmp_path_factory.mktemp("cut") / "dump"
    path.write_text(text[:place])
    dumps.read.cache_clear()
    try:
        part = dumps.read(str(path))
    except KrmfnError as failure:
        assert str(failure).startswith(f"--live {path}: ")
        return
    assert content(part) == content(live.read(copy.deepcopy(OBJECTS), ""))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"W1128 01:00:00.1 7 warnings.go:70] v1 Event is deprecated\n{TEXTS['json']}", "is no dump, neither JSON nor"),
        (
            f"error: the server doesn't have a resource type\n{TEXTS['json']}",
            "is no dump, neither JSON nor YAML: it beg",
        ),
        (f"E1128 01:00:00.1 7 memcache.go:265] couldn't get\n{TEXTS['yaml']}", "is no dump, neither JSON nor YAML: it"),
        (f"{TEXTS['json']}\nerror: the server\n{TEXTS['json']}", "the text after 5 complete objects is not JSON"),
        (f"{TEXTS['json']}\n{TEXTS['json']}", "it holds node 'web-1' twice: it is more than one dump"),
        ("\x1f\x8b\x08\x00gzip", "is no dump, neither JSON nor YAML: it begins with '\\x1f"),
        ("[]", "it holds no Node"),
        ("{}", "it holds no Node"),
        ("[1]", "item 1 is 1, not an object"),
        (f'{json.dumps(node(NIC))}{{"kind": "List", "items": [7]}}', "is 7, not an object"),
    ],
)
def test_what_is_no_dump_is_said(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "dump").write_text(text)
    with pytest.raises(KrmfnError) as failure:
        dumps.read(str(tmp_path / "dump"))
    assert says in str(failure.value)


def retyped(value: Any, random: Random, rate: float) -> Any:
    """Return a value with some of its parts of other types, names and kinds included."""
    if isinstance(value, list):
        return [_other(entry, random, rate) for entry in value]
    if isinstance(value, dict):
        return {key: _other(part, random, rate) for key, part in value.items()}
    return value


def _other(value: Any, random: Random, rate: float) -> Any:
    return copy.deepcopy(random.choice(ODD)) if random.random() < rate else retyped(value, random, rate)


@given(
    name=st.sampled_from(sorted(NIGHTS)), random=st.randoms(use_true_random=False), rate=st.sampled_from([0.02, 0.1])
)
def test_a_field_of_any_type_raises_nothing_but_a_sentence(name: str, random: Random, rate: float) -> None:
    objects = [item for item in retyped(played(name), random, rate) if isinstance(item, dict)]
    for read in (
        lambda: live.read(copy.deepcopy(objects), ""),
        lambda: seen(objects, wanted=planned()),
        lambda: collecting.collect(collecting.noting_uids(objects, set()), None),
    ):
        try:
            read()
        except KrmfnError as failure:
            assert str(failure)
        except AssertionError as failure:
            assert "nothing selects n1" in str(failure)


def bulky(number: int, labels: dict[str, str], **container: Any) -> dict[str, Any]:
    """Return a pod as large as those of a cluster are, with an environment."""
    env = [{"name": f"VARIABLE_{at}", "value": f"value {at} of {number}"} for at in range(12)]
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": f"{number:036}", "controller": True}
    made = manifest("v1", "Pod", f"pod-{number}", f"team-{number % 50}", uid=f"{number:036}", labels=labels)
    made["metadata"] |= {"ownerReferences": [owner], "creationTimestamp": "2026-11-28T00:00:00Z"}
    kinds = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": "2026-11-28T01:00:00Z"} for kind in kinds]
    state = {"name": "c", "ready": True, "restartCount": 0, "imageID": f"r.example.com/app@sha256:{number:064}"}
    state |= {"containerID": f"cri-o://{number:064}", "state": {"running": {"startedAt": "2026-11-28T01:00:00Z"}}}
    made["spec"] = {"nodeName": "n1", "containers": [{"name": "c", "image": "a:1", "env": env, **container}]}
    return {**made, "status": {"phase": "Running", "conditions": conditions, "containerStatuses": [state]}}


KMM_LABELS = {"kmm.node.kubernetes.io/module.name": "simple", "kmm.node.kubernetes.io/role": "device-plugin"}
PODS = {
    "of others": ({"app": "web"}, {}),
    "with devices": ({"app": "web"}, {"resources": {"limits": {"example.com/simple": "1"}}}),
    "of KMM": (KMM_LABELS, {}),
}


MEASURE = """
import sys, tracemalloc
from krmfn_functions.cluster import dumps
dumps.read(sys.argv[1])  # what is loaded and remembered for any dump
for name in sys.argv[1:]:
    dumps.read.cache_clear()
    tracemalloc.start()
    dump = dumps.read(name)
    print(tracemalloc.get_traced_memory()[1], len(dump.objects.pods))
    tracemalloc.stop()
    del dump
"""
"""A program of its own: what other tests leave behind does not count."""


def written(folder: Path, form: str, kind: str, number: int) -> Path:
    """Write a dump of so many pods of a kind."""
    labels, container = PODS[kind]
    items = [*healthy(), *(bulky(at, labels, **container) for at in range(number))]
    listing = json.loads(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))  # shares nothing
    path = folder / f"{number}.{form}"
    path.write_text(json.dumps(listing, indent=4) if form == "json" else yaml.dump(listing, Dumper=yaml.CSafeDumper))
    return path


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("kind", PODS)
def test_more_pods_take_less_than_twice_the_memory_of_their_text(kind: str, form: str, tmp_path: Path) -> None:
    """Whatever the pods are; the growth from n to 2n is what 100,000 of them are made of."""
    number = 200 if form == "json" else 250
    paths = [written(tmp_path, form, kind, count) for count in (number, 2 * number)]
    done = execute(sys.executable, "-c", MEASURE, *paths, env=environment()).ended(0)
    (small, kept), (large, twice) = (map(int, line.split()) for line in done.text.splitlines())
    assert twice - kept == (0 if kind == "of others" else number)
    sizes = [path.stat().st_size for path in paths]
    assert large - small < 2 * (sizes[1] - sizes[0])
