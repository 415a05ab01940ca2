"""The page of incidents and `explain`: what they say is what the links say, and each link has a row."""

from __future__ import annotations

import pytest
from krmfn_functions.chain.dictionary import of_word, words
from krmfn_functions.chain.incidents import INCIDENTS, Incident
from krmfn_functions.chain.kernel_words import WORDS
from krmfn_functions.chain.walk import LINKS, SELECTED

from krmfn import Manifest
from tests.commands import process
from tests.functions.chain.clusters import Objects, healthy, seen
from tests.functions.chain.nights import NIGHTS, PLANS, played


def test_each_link_has_a_row_in_the_order_of_the_chain() -> None:
    order = [SELECTED, *LINKS]
    assert list(dict.fromkeys(incident.link for incident in INCIDENTS)) == order
    assert len({word.lower() for word in words()}) == len(words())


@pytest.mark.parametrize("incident", INCIDENTS[1:], ids=lambda row: row.words[0])
def test_a_row_says_what_the_link_says(incident: Incident) -> None:
    nights = [(played(name), PLANS.get(name)) for name, night in NIGHTS.items() if night.link == incident.link]
    for objects, wanted in [*nights, without_mapping()]:
        link = seen(objects, wanted=wanted)[0][incident.link]
        if incident.reason in link.reason and link.command.split()[:2] == incident.command.split()[:2]:
            return
    raise AssertionError(f"no night breaks {incident.link} with {incident.reason!r}")


def without_mapping() -> tuple[Objects, Manifest]:
    """A cluster whose Module has no mapping for the kernels of its nodes, as in Git."""
    objects = healthy()
    objects[0]["spec"]["moduleLoader"]["container"]["kernelMappings"][0]["regexp"] = "^5[.].*$"
    return objects, objects[0]


SEEN = {
    'MountVolume.SetUp failed for volume "key" : secret "signing-key" not found': "image",
    "secret signing-key not found": "image",
    "secret not found": "image",
    "MountVolume": "image",
    "x509: certificate has expired": "image",
    "pull secret": "image",
    "build failed": "image",
    "DTK": "image",
    "serviceaccount not found": "worker",
    "Init:ImagePullBackOff": "worker",
    "Init:CrashLoopBackOff": "worker",
    'pods "gpu-device-plugin-" is forbidden: unable to validate against any security context constraint': "plugin",
    "webhook": "synced",
    "finalizer": "synced",
    "kmm-operator": "operator",
    "EBUSY": "unload",
    "Failed to pull image: rpc error: code = Unknown desc = reading manifest: unauthorized": "image",
    'pods "kmm-worker-n1-gpu" is forbidden: violates PodSecurity "baseline:latest": privileged': "worker",
    'pods "kmm-worker-n1-gpu" is forbidden: exceeded quota: q, requested: pods=1': "worker",
    'error looking up service account kmm/gpu: serviceaccount "gpu" not found': "worker",
    "CreateContainerConfigError": "worker",
    "0/3 nodes are available: 3 Insufficient example.com/gpu": "plugin",
    "failed calling webhook vmodule.kb.io: no endpoints available": "synced",
    "team-a/train-0 holds the kernel module": "unload",
    "node(s) had untolerated taint {team: a}": "taints",
}
"""Sentences of kubelet, the API server, Argo CD and `why`, with the link that they are about."""


@pytest.mark.parametrize("sentence", SEEN)
def test_a_sentence_that_a_cluster_prints_is_explained(sentence: str) -> None:
    assert any(known.facts.get("link") == SEEN[sentence] for known in of_word(sentence))


@pytest.mark.parametrize("name", sorted(NIGHTS))
def test_what_why_says_is_explained_with_its_link(name: str) -> None:
    link = seen(played(name), wanted=PLANS.get(name))[0][NIGHTS[name].link]
    explained = [*of_word(f"n1: kmm/simple {link.reason}")]
    assert any(known.facts.get("link") == NIGHTS[name].link for known in explained), link.reason


def test_every_link_is_a_word_and_an_unknown_word_is_no_rule() -> None:
    for link in (SELECTED, *LINKS):
        assert all(known.facts["link"] == link for known in of_word(link)) and any(of_word(link))
    assert "unknown word or rule blah" in process("krmfn", "explain", "blah").refused()
    text = process("krmfn", "explain", "KRM301", "CrashLoopBackOff").ended(0).text
    assert text.startswith("KRM301") and "modprobe fails on the node" in text


def test_every_word_is_explained_and_a_near_miss_is_named() -> None:
    for word in words():
        assert [*of_word(word)] and [*of_word(word.upper())]
    assert all([*of_word(f"modprobe: {entry.signs[0].title()}")] for entry in WORDS)
    done = process("krmfn", "explain", "ImagePullBackOff").ended(0)
    assert "KMM looks for each image with a pod of its own" in done.text and "type: kubectl describe pod" in done.text
    assert "pod that uses the driver" not in done.text
    assert "secure boot" in process("krmfn", "explain", "Key", "was", "rejected", "by", "service").ended(0).text
    assert "did you mean ImagePullBackOff?" in process("krmfn", "explain", "ImagePulBackOff").refused()
