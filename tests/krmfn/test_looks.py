"""Looks at an item's metadata say what all of its text says, whatever runs over lines in it."""

from __future__ import annotations

from hypothesis import event, example, given
from hypothesis import strategies as st

from krmfn import KrmfnError, ResourceList, itemtext
from krmfn.resource import mapping
from tests.krmfn import documents

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: A\n  metadata:\n"
FIRST = ("    name: n", "    labels:\n      q: r", "    annotations:\n      q: r\n    name: n")
TOKENS = [
    *documents.MARKS,
    "\n    name: b",
    '\n    "name": c',
    "\n    labels:",
    "\n    annotations:",
    "\n      q: ",
    '\n      x: "y"',
    "\n      ",
    "\n  spec:",
    "\n  metadata:",
    '"x\n    name: y"',
    "'x\n      q: z'",
    "\n    namespace: m",
    "\n   ",
    "\n# c",
]


@given(first=st.sampled_from(FIRST), tokens=st.lists(st.sampled_from(TOKENS), max_size=14))
@example(first=FIRST[0], tokens=["\n    annotations:", "\n      x: 'e\n  f: g'", "\n    name: b"])
@example(first=FIRST[1], tokens=["\n    annotations:", "\n      x: 'e\n  f: g'", "\n    name: b"])
@example(first=FIRST[1], tokens=["\n      x: 'e\n      q: f", "\n      g'"])
def test_looks_say_what_the_whole_text_says(first: str, tokens: list[str]) -> None:
    data = f"{HEAD}{first}{''.join(tokens)}\n- apiVersion: v2\n  kind: Z\n".encode()
    try:
        whole, looked = (ResourceList.parse(data).items[0] for _ in range(2))
        metadata = mapping(whole.manifest.get("metadata"))
        labels = itemtext.strings(looked, "metadata", "labels", words=(b"q",))
    except KrmfnError:
        return
    event("read whole" if looked.is_read else "looked at")
    strings = {key: value for key, value in mapping(metadata.get("labels")).items() if isinstance(value, str)}
    names = [metadata.get(key) if isinstance(metadata.get(key), str) else "" for key in ("name", "namespace")]
    assert [looked.name, looked.namespace] == names
    assert labels.get("q") == strings.get("q")
    assert looked.labels == strings
