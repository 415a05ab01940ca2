"""Short words for long ones: what differs in two texts, and why a pod does not go on."""

import re

_TOKEN = re.compile(r"[/:@$,\-]|[^/:@$,\-]+")
_NOISE = re.compile(
    r'(?:Back-off pulling|Failed to pull|Error pulling) image "[^"]*":? ?|rpc error: code = \w+ desc = |'
    r'failed to (?:pull and unpack|resolve) (?:image|reference) "[^"]*": |'
    r"[Bb]ack-off(?: \w+ restarting failed container=\S+(?: pod=\S+)?| \w+)?\s*$|"
    r'MountVolume\.SetUp failed for volume "[^"]*" ?: '
)
LONGEST = 90
"""Characters of a pod's own words in a first line."""
MEANINGS = (
    ("Key was rejected by service", "secure boot refuses the module: it is not signed with an enrolled key"),
    ("Required key not available", "secure boot refuses the module: it is not signed with an enrolled key"),
    ("Exec format error", "the module is built for another kernel or architecture"),
    ("disagrees about version of symbol", "the module is built for another kernel"),
    ("Unknown symbol", "a module that it needs is not loaded, or another version of it is"),
    ("File exists", "the kernel has a module of this name already: loaded by another Module, or in the kernel's tree"),
    ("is in use", "something on the node uses the module, so it cannot be unloaded"),
    ("Device or resource busy", "something on the node uses the module, or its device"),
    ("No such device", "the driver finds no device on the node that it is for"),
    ("not found in directory", "the image has no such module for this kernel: look at dirName and moduleName"),
    ("No such file or directory", "the image lacks a file: look at dirName, firmwarePath and the image's layout"),
    ("Operation not permitted", "something keeps the pod from loading modules: lockdown, seccomp or a policy"),
    ("Invalid argument", "the module refuses a parameter: look at modprobe.parameters, and at dmesg on the node"),
)
"""Sentences of the kernel and of modprobe, and what they mean. Sources: Linux include/uapi/asm-generic/errno*.h with
kernel/module, kmod 31 tools/modprobe.c."""


def difference(old: str, new: str) -> tuple[str, str]:
    """Return what differs in two texts, without their common start and end: `2.26.0`, `2.27.0`."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    pair = "".join(before[start : len(before) - end]), "".join(after[start : len(after) - end])
    return pair if all(pair) else (old, new)


def shortened(status: str) -> str:
    """Return a pod's own words without image names and the wrapping of its runtime."""
    parts = (" ".join(_NOISE.sub("", part).split()).rstrip(": ") for part in status.split(";"))
    text = "; ".join(filter(None, parts))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def meaning(text: str) -> str:
    """Return what a sentence of the kernel or of modprobe means; "" for one that is not known."""
    return next((sense for sign, sense in MEANINGS if sign in text), "")
