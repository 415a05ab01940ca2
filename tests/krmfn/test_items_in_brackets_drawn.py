"""Any list in brackets, changed in any way: it means the change and keeps each comment, or the edit is refused."""

from __future__ import annotations

import copy
import re
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from krmfn import KrmfnError, ResourceList, info
from krmfn.yamltext import load

BLOCK = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
FLOW = '{%s"apiVersion": "config.kubernetes.io/v1",%s"kind": "ResourceList", "x": {y: z%s}, "items": %s%s}'
ITEMS = (
    "{apiVersion: v1, kind: A, metadata: {name: n}}",
    "{apiVersion: v1, kind: A, metadata: {name: n}, s: 'a # b'}",
    '{"apiVersion": "v1", "kind": "A", "metadata": {"name": "n"}}',
)
BLANKS = ("", " ", "\n  ", " # c\n ", "\n  # d\n   # e\n  ")
CHANGES = ("append", "append", "edit", "edit", "report", "remove", "reverse")


@st.composite
def lists(draw: st.DrawFn) -> str:
    """A list in brackets, in a block mapping or in braces, with comments where there may be any."""

    def blank() -> str:
        return draw(st.sampled_from(BLANKS))

    items = draw(st.lists(st.sampled_from(ITEMS), max_size=4))
    text = "[" + blank()
    for at, item in enumerate(items):
        comma = "," if at < len(items) - 1 or draw(st.booleans()) else ""
        text += item + blank() + comma + blank()
    if draw(st.booleans()):
        text = FLOW % (blank(), blank(), blank(), f"{text}]", blank()) + draw(st.sampled_from(("", "\n", " # l\n")))
    else:
        text = f"{BLOCK}items: {draw(st.sampled_from(('', '# h')))}\n  {text}]" + draw(
            st.sampled_from(("\n", " # b\n"))
        )
        text += draw(st.sampled_from(("", "# x\nx: y # z\n")))
    return text.replace("\n", draw(st.sampled_from(("\n", "\n", "\r\n"))))


def change(resources: ResourceList, data: list[Any], name: str, at: int) -> None:
    """Change a list, and its data in the same way."""
    if name == "append":
        data.append({"apiVersion": "v1", "kind": "N", "metadata": {"name": f"m{at}"}})
        resources.append(data[-1])
    elif name == "report":
        resources.report(info("m"))
    elif name == "reverse":
        resources.items.reverse()
        data.reverse()
    elif data and name == "edit":
        resources.items[at % len(data)].manifest["d"] = data[at % len(data)]["d"] = {"a": str(at)}
    elif data:
        resources.remove(resources.items[at % len(data)])
        del data[at % len(data)]


def comments(text: str) -> list[str]:
    return re.findall(r"# (?!b')\w+", text)


@given(text=lists(), changes=st.lists(st.tuples(st.sampled_from(CHANGES), st.integers(0, 3)), min_size=1, max_size=3))
def test_a_list_in_brackets_means_the_change_and_keeps_its_comments(text: str, changes: list[tuple[str, int]]) -> None:
    before, resources = load.read(text.encode()), ResourceList.parse(text.encode())
    assert resources.to_bytes() == text.encode()
    expected = {**before, "items": copy.deepcopy(before["items"])}
    for name, at in changes:
        change(resources, expected["items"], name, at)
    names = {name for name, _ in changes}
    try:
        out = resources.to_bytes().decode()
    except KrmfnError as failure:
        event("refused")
        assert re.match(r"line \d+: the comment '# \w+' beside items in brackets would be lost", str(failure))
        assert names & {"remove", "reverse"}
        return
    if "report" in names:
        expected["results"] = [{"message": "m", "severity": "info"}]
    assert load.read(out.encode()) == expected
    assert sorted(comments(out)) == sorted(comments(text))
    assert "\r" not in text or out.count("\r\n") == out.count("\n")
