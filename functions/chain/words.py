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
