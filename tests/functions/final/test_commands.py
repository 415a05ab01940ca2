"""Where the final list is judged: by `check`, `render` and `diff` of files, folders and streams, never by functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import CONFIG, document_text
from tests.commands import process
from tests.trees import config_map, plant

WAITING = """\
apiVersion: v1
kind: Pod
metadata: {name: trial, namespace: kmm}
spec:
  nodeSelector: {kmm.node.kubernetes.io/kmm.NAME.ready: ""}
  containers: [{name: trial, image: "registry.example.com/trial:1"}]
"""
RIGHT, WRONG = WAITING.replace("NAME", "drv"), WAITING.replace("NAME", "drw")
ERRORS = config_map("a") + "---\n" + config_map("a")


@pytest.mark.parametrize("command", ["check", "render"])
@pytest.mark.parametrize("source", ["file", "folder", "stream"])
def test_commands_judge_what_would_be_deployed(command: str, source: str, tmp_path: Path) -> None:
    for text, rule, code in ((RIGHT, "", 0), (WRONG, "[KRM701]", 0), (ERRORS, "[KRM705]", 1)):
        plant(tmp_path, {"a.yaml": CONFIG, "b.yaml": text, "all": f"{CONFIG}---\n{text}"})
        path = {"file": str(tmp_path / "all"), "folder": str(tmp_path), "stream": "-"}[source]
        done = process("krmfn", command, path, stdin=f"{CONFIG}---\n{text}").ended(code)
        assert (rule in done.text + done.err) if rule else ("KRM7" not in done.text + done.err)
        assert not (command == "render" and code and done.out)


def test_functions_do_not_know_names_in_the_end() -> None:
    done = process("krmfn", stdin=document_text(*f"{CONFIG}---\n{WRONG}".split("---\n"))).ended(0)
    assert "KRM7" not in done.text + done.err


def test_diff_judges_the_new_side_only(tmp_path: Path) -> None:
    """What is wrong on the cluster already may be what the change corrects."""
    plant(tmp_path, {"old.yaml": f"{CONFIG}---\n{ERRORS}", "new.yaml": f"{CONFIG}---\n{RIGHT}"})
    assert "KRM7" not in process("krmfn", "diff", str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml")).ended(1).err
    assert "[KRM705]" in process("krmfn", "diff", str(tmp_path / "new.yaml"), str(tmp_path / "old.yaml")).refused()


ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: other, namespace: kmm}\n"
SETTINGS = "apiVersion: krmfn.dev/v1alpha1\nkind: RenderDeviceConfigs\nmetadata: {name: r}\nspec:\n  "


def test_a_warning_is_turned_off_by_what_it_is_about_by_the_owner_or_by_the_function_config(tmp_path: Path) -> None:
    def check(**texts: str) -> str:
        plant(tmp_path, {f"{name}.yaml": text for name, text in texts.items()})
        return process("krmfn", "check", str(tmp_path), "--root", str(tmp_path)).text

    def ignoring(text: str, rule: str) -> str:
        return text.replace(
            "metadata: {", f'metadata: {{annotations: {{krmfn.dev/ignore: "{rule}: it is elsewhere"}}, '
        )

    config = CONFIG.replace("nodeSelector", "serviceAccountName: missing, nodeSelector")
    assert check(config=config, account=ACCOUNT).count("[KRM703]") == 1
    assert "KRM703" not in check(config=ignoring(config, "KRM703"))
    assert check(pod=WRONG).count("[KRM701]") == 1
    assert "KRM701" not in check(pod=ignoring(WRONG, "KRM701"))
    assert "KRM701 is turned off, but nothing that was checked has" in check(pod=ignoring(RIGHT, "KRM701"))
    assert "KRM701" not in check(pod=WRONG, settings=SETTINGS + "ignore: {KRM701: why}\n")


def test_an_annotation_of_the_function_config_is_about_itself(tmp_path: Path) -> None:
    plant(tmp_path, {"Kptfile": "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: p}\n", "pod.yaml": RIGHT})
    settings = "apiVersion: krmfn.dev/v1alpha1\nkind: RenderDeviceConfigs\nmetadata: {name: r"

    def check(rest: str) -> str:
        plant(tmp_path, {"settings.yaml": settings + rest})
        return process("krmfn", "check", str(tmp_path), "--root", str(tmp_path)).text

    (line,) = [line for line in check("}\n").splitlines() if "[KRM708]" in line]
    assert "affects" not in line
    assert "KRM708" not in check(', annotations: {krmfn.dev/ignore: "KRM708: it is removed elsewhere"}}\n')


@pytest.mark.parametrize(
    ("config", "settings", "place"),
    [
        (CONFIG.replace("a: b}", "a: b}, serviceAccountName: x"), SETTINGS + "defaults: {}\n", "b.yaml:4:99"),
        (CONFIG, SETTINGS + "defaults:\n    serviceAccountName: x\n", "c.yaml:6:5"),
    ],
)
def test_a_finding_about_what_is_generated_stands_where_its_value_is_from(
    config: str, settings: str, place: str, tmp_path: Path
) -> None:
    plant(tmp_path, {"a.yaml": ACCOUNT, "b.yaml": config, "c.yaml": settings})
    (line,) = (line for line in process("krmfn", "check", str(tmp_path)).text.splitlines() if "[KRM703]" in line)
    assert line.startswith(f"{tmp_path}/{place}: warning: Module kmm/drv: spec.moduleLoader.serviceAccountName: ")
