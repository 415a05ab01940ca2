"""Short words for long ones: what differs in two texts, and why a pod does not go on."""

import re

from krmfn.typed import NamedTuple

from ..fleet.pod_status import PULL_SECRETS, PodStatus

_TOKEN = re.compile(r"[/:@$,\-]|[^/:@$,\-]+")
_NOISE = re.compile(
    r'(?:Back-off pulling|Failed to pull|Error pulling) image "[^"]*":? ?(?:ErrImagePull: )?|'
    r'rpc error: code = \w+ desc = |failed to (?:pull and unpack|resolve) (?:image|reference) "[^"]*": |'
    r"[Bb]ack-off(?: \w+ restarting failed container=\S+(?: pod=\S+)?| \w+)?\s*$|"
    r'MountVolume\.SetUp failed for volume "[^"]*" ?: |'
    r"initializing source \S+: |reading manifest(?: \S+ in \S+)?: |"
    r"unable to pull image or OCI artifact: pull image err: |^ *artifact err: .*|"
    r'Failed to apply default image tag "[^"]*": |'
    rf"{PULL_SECRETS} |"
    r'Error creating: |\bpods? "[^"]*" is forbidden: (?=exceeded quota|violates PodSecurity)|'
    r"^ *attempting to pull the image may not succeed\.?|"
    r"(?<!\d)\d+/\d+ nodes are available: |(?<!\d)\d+ node\(s\) had |"
    r"\.? ?preemption: .*"
)
_PAUSE = re.compile(r"[,;] ")
_SECRETS = re.compile(rf"{PULL_SECRETS} \(([^,)]+)")
_BRACE = re.compile(r"[{}]")
_CORE = re.compile(
    r"unauthorized|denied|forbidden|authentication required|no basic auth|manifest unknown|not found|no such host|"
    r"connection refused|timeout|deadline exceeded|certificate (?:signed|has|is)|cannot validate certificate|"
    r"toomanyrequests|untolerated taint|Insufficient|no match for platform|low on resource|too many pods|"
    r"exceeded quota|no space left",
    re.IGNORECASE,
)
"""The words that decide among those of a runtime, a registry or the scheduler."""
LONGEST = 70
"""Characters of a pod's own words in a first line."""


def missing_secret(status: PodStatus) -> str:
    """Return the first pull secret that the kubelet does not find, by its own words; "" for none."""
    match = _SECRETS.search(status.words)
    return match[1] if match else ""


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


class Quoted(NamedTuple):
    """Words of the cluster's own: nobody but it knows what is a name among them."""

    words: str

    def __str__(self) -> str:
        return self.words


def of_pod(status: PodStatus, otherwise: str = "is at work") -> Quoted:
    """Return what a sentence about a pod says of it, with the cluster's own words shortened."""
    rest = len(status.sentence()) - len(status.words)
    short = status._replace(words=shortened(status.words, LONGEST - rest)) if status.words else status
    return Quoted(short.sentence(otherwise))


def shortened(words: str, longest: int = LONGEST) -> str:
    """Return the cluster's own words about a pod without image names and the wrapping of its runtime."""
    parts = (" ".join(_NOISE.sub("", part).split()).rstrip(": ") for part in words.split(";"))
    text = "; ".join(filter(None, parts))
    if len(text) > longest:
        reason, *details = _parts(text)
        core = next((part for detail in details for part in _PAUSE.split(detail) if _CORE.search(part)), "")
        text = f"{reason}: {core}" if core else text
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def _parts(message: str) -> list[str]:
    """Return the parts of a message, which stand between colons; a colon in braces parts nothing."""
    *before, last = message.split(": ")
    parts, next_brace = [last], _BRACE.search(last)
    for piece in reversed(before):
        if next_brace and next_brace[0] == "}":
            parts[-1] = f"{piece}: {parts[-1]}"
        else:
            parts.append(piece)
        next_brace = _BRACE.search(piece) or next_brace
    return parts[::-1]
