"""What `nodes`, `report` and `explain` say of a Profile: its name and version, and what an option sets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import node
from tests.commands import example, process
from tests.examples import some_of
from tests.functions.profile.test_changes import folder
from tests.functions.profile.vendor import CR, PROFILE

NODE = {**node("n1", **{"example.com/gpu": "true"}), "status": {"nodeInfo": {"kernelVersion": "6.8.0-1"}}}


def test_nodes_and_report_name_the_profile_and_its_version(tmp_path: Path) -> None:
    place = str(folder(tmp_path, profile=PROFILE, gpu=CR, node=NODE))
    for options in ((), ("--wide",), ("--format", "markdown")):
        done = process("krmfn", "nodes", place, *options)
        assert done.text.count("kmm/gpu (amd-gpu@1.4.1)") == 1, done
    printed = process("krmfn", "nodes", place, "--format", "json").text
    assert '"profile": "amd-gpu@1.4.1"' in json.dumps(json.loads(printed))
    (tmp_path / "nodes.json").write_text(printed)
    assert "amd-gpu@1.4.1" in process("krmfn", "report", place).text
    assert process("krmfn", "report", "--from", str(tmp_path / "nodes.json")).code == 0


@pytest.mark.parametrize(
    ("option", "words"),
    some_of(
        [
            (
                "devicePlugin.kubeletSocketPath",
                "volumes[name=kubelet-device-plugins].hostPath.path",
            ),  # takes paths alone
            ("driver.imageSign.certSecret.name", "spec.moduleLoader.container.sign"),  # needs the key, too
            ("testRunner.logsLocation.logsExportSecrets", "with all switches on"),  # a list of mappings
        ]
    ),
)
def test_an_option_that_needs_others_is_explained(option: str, words: str) -> None:
    done = process("krmfn", "explain", f"amd-gpu.spec.{option}", str(example("vendor-profiles/amd-gpu")))
    assert words in done.ended(0).text
