"""`diff` of two PATHs: a dump of a cluster is refused, the nodes of one are not."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

from krmfn import Manifest
from krmfn.yamltext import emit
from tests.builders import node
from tests.commands import process

CONFIG = str(Path(__file__).parents[3] / "examples" / "quickstart")


def live(manifests: Iterable[Manifest]) -> str:
    """What `kubectl get -o yaml` prints of some objects."""
    items = copy.deepcopy(list(manifests))
    for number, item in enumerate(items):
        item["metadata"] |= {"uid": f"1-{number}", "resourceVersion": "7"}
    return emit.dump({"apiVersion": "v1", "kind": "List", "items": items})


@pytest.mark.parametrize(
    ("old", "new", "which"),
    [
        ("dump.yaml", CONFIG, "OLD (dump.yaml) is a dump"),
        (CONFIG, "dump.yaml", "NEW (dump.yaml) is a dump"),
        ("-", CONFIG, "OLD (stdin) is a dump"),
        (CONFIG, "-", "NEW (stdin) is a dump"),
        ("/dev/null", "dump.yaml", "NEW (dump.yaml) is a dump"),
        ("dump.yaml", "-", "OLD (dump.yaml) and NEW (stdin) are dumps"),
    ],
)
@pytest.mark.parametrize("content", ["made", "configs"])
def test_a_dump_is_refused(old: str, new: str, which: str, content: str, tmp_path: Path) -> None:
    """Of what we make, and of DeviceConfigs that their CRD has put on a cluster."""
    config = Path(CONFIG, "deviceconfig.yaml").read_bytes()
    text = process("krmfn", "render", CONFIG).out if content == "made" else config
    dump = live([*yaml.safe_load_all(text), node("n1")])
    (tmp_path / "dump.yaml").write_text(dump)
    refusal = process("krmfn", "diff", old, new, cwd=tmp_path, stdin=dump).refused()
    assert refusal == (
        f"error: {which} of a cluster, but diff compares files; to compare with a cluster, use "
        "`krmfn render PATH | kubectl diff --server-side -f -`\n"
    )


def test_nodes_alone_are_no_dump(tmp_path: Path) -> None:
    """They are inputs, kept as kubectl prints them: the first DeviceConfig may come beside them."""
    (tmp_path / "nodes.yaml").write_text(live([node("n1")]))
    done = process("krmfn", "diff", "nodes.yaml", CONFIG, cwd=tmp_path).ended(1, "")
    assert done.text.startswith("+ Module kmm/gaudi\n")
