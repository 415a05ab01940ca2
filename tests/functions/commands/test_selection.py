"""Which findings `check` shows, of which clusters, and how: what is not shown counts all the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from krmfn_functions.formats.findings import FORMATS

from tests.commands import Done, process
from tests.functions.cluster.test_one_result import FUNCTION, config, node
from tests.trees import plant

LISTED = ".krmfn.yaml", "clusters:\n  dev: [dev, settings]\n  lab: [lab, settings]\n  prod: [prod]\n"
MAPPINGS = '  kernelMappings: [{regexp: "^5.*$"}, {regexp: "^6.*$"}]\n'
UNUSED = FUNCTION.replace("{imagePullPolicy: Always}", "{}, profiles: {gpu: {moduleName: gpu}}")


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """Three clusters: two without the nodes of a selector and with one functionConfig, one with a wrong field."""
    files = {f"{name}/nodes.yaml": node(f"{name}-1", card="x") for name in ("dev", "lab")}
    files |= {f"{name}/a.yaml": config("a", "card: a") for name in ("dev", "lab")}
    files |= {"prod/a.yaml": config("a", "card: a").replace("driverVersion", "driverVersoin")}
    return plant(tmp_path, files | {".git/x": "", "settings/f.yaml": UNUSED, LISTED[0]: LISTED[1]})


def check(folder: Path, *args: str) -> Done:
    return process("krmfn", "check", ".", *args, cwd=folder)


def test_an_equal_finding_of_two_clusters_is_one_and_names_them(fleet: Path) -> None:
    lines = check(fleet).ended(1).text.splitlines()
    (unused,) = [line for line in lines if "[KRM143]" in line]
    assert unused.startswith("settings/f.yaml:")
    assert unused.endswith("[KRM143] (dev, lab)")
    assert [line.rpartition(" ")[2] for line in lines if "[KRM605]" in line] == ["(dev)", "(lab)"]
    assert ": 3 clusters, 3 DeviceConfigs, 2 functionConfigs in " in lines[-2]


@pytest.mark.parametrize("format_", FORMATS)
def test_a_finding_names_its_cluster_in_every_format(fleet: Path, format_: str) -> None:
    text = check(fleet, "--format", format_).text
    if format_ == "json":
        assert {tuple(finding["clusters"]) for finding in json.loads(text)["findings"]} >= {("dev", "lab"), ("prod",)}
    elif format_ == "prometheus":
        assert 'krmfn_cluster_findings{cluster="prod",severity="error"} 1\n' in text
    else:
        assert "(dev, lab)" in text
        assert "(prod)" in text


def test_what_is_not_shown_counts_all_the_same(fleet: Path) -> None:
    done = check(fleet, "--select", "KRM143,KRM6").ended(1)
    assert "KRM101" not in done.text
    assert "; not shown: 1 error" in done.text
    done = check(fleet, "--min-severity", "error")
    assert [line for line in done.text.splitlines() if "warning: " in line] == []
    assert "; not shown: 3 warnings" in done.text
    (fleet / "prod/a.yaml").unlink()
    plant(fleet, {LISTED[0]: LISTED[1].replace("  prod: [prod]\n", "")})
    done = check(fleet, "--min-severity", "error", "--strict")
    assert (done.code, done.reported.startswith("no findings to show: 2 clusters")) == (1, True), done.text


@pytest.mark.parametrize("form", sorted(FORMATS.keys() - {"text", "json", "prometheus"}))
@pytest.mark.parametrize("option", [("--select", "KRM143"), ("--min-severity", "error", "--strict")])
def test_no_server_shows_a_pass_where_what_is_not_shown_fails(fleet: Path, form: str, option: tuple[str, ...]) -> None:
    """What both options hide makes the command fail all the same, and each server says so."""
    hides_errors = option[0] == "--select"
    done = check(fleet, *option, "--format", form).ended(1)
    assert "that fail this check are not shown: see --select, --min-severity" in done.text
    assert ("moduelName" in done.text or "KRM101" in done.text) is not hides_errors
    if hides_errors:
        whole = check(fleet, "--select", "KRM1", "--format", form).ended(1).text
        assert "are not shown" not in whole


def test_a_rule_that_advises_can_be_ignored_and_is_counted(fleet: Path) -> None:
    plant(fleet, {"prod/a.yaml": config("a", "card: a")})
    assert check(fleet, "--strict").code == 1
    done = check(fleet, "--strict", "--ignore", "KRM605,KRM143")
    assert (done.code, "; 4 findings turned off" in done.text) == (0, True), done.text
    for rule, message in (("KRM301", "can only be turned off as a whole"), ("KRM60", "--ignore: ")):
        assert message in check(fleet, "--ignore", rule).refused()
    refusal = check(fleet, "--select", "KRN").refused()
    assert refusal == "error: --select: no rule begins with KRN; `krmfn rules` lists them\n"


def test_full_output_has_the_line_and_a_caret(fleet: Path) -> None:
    lines = check(fleet, "--select", "KRM101", "--output-format", "full").text.splitlines()
    assert lines[1:3] == ['7 |   driverVersoin: "1"', "  |   ^"]


def test_quiet_has_no_infos_and_says_so(tmp_path: Path) -> None:
    plant(tmp_path, {"a.yaml": config("a", "card: a") + MAPPINGS, "nodes.yaml": node("n-1", card="a")})
    assert "info: " in check(tmp_path).ended(0).text
    done = check(tmp_path, "-q")
    assert (done.code, "info: " in done.text, "; not shown: 1 info" in done.text) == (0, False, True), done.text


def test_a_mapping_that_another_pool_or_cluster_uses_is_used(tmp_path: Path) -> None:
    files = {f"{name}/a.yaml": config("a", "card: a") + MAPPINGS for name in ("dev", "lab")}
    files |= {"dev/n.yaml": node("d", card="a"), "lab/n.yaml": node("l", card="a").replace("5.14", "6.12")}
    plant(tmp_path, files | {".git/x": "", LISTED[0]: "clusters:\n  dev: [dev]\n  lab: [lab]\n"})
    assert "KRM606" not in check(tmp_path).text
    assert "KRM606" not in process("krmfn", "check", "dev", cwd=tmp_path).ended(0).text
    plant(tmp_path, {"lab/n.yaml": node("l", card="a")})
    (line,) = [line for line in check(tmp_path).text.splitlines() if "KRM606" in line and "dev/" in line]
    assert line.endswith("(dev)")


def test_a_mapping_that_clusters_share_is_unused_only_where_all_are_known(tmp_path: Path) -> None:
    files = {"both/a.yaml": config("a", "card: a") + MAPPINGS, "dev/n.yaml": node("d", card="a"), ".git/x": ""}
    files |= {"lab/n.yaml": node("l", card="a"), LISTED[0]: "clusters:\n  dev: [dev, both]\n  lab: [lab, both]\n"}
    plant(tmp_path, files)
    assert "KRM606" in check(tmp_path).text
    for text in ("x: y\n", "{", "---\n".join([node("l", card="a")] * 2)):
        plant(tmp_path, files | {"lab/n.yaml": text})
        assert "KRM606" not in check(tmp_path).text, "whether lab uses it is not known"


def test_a_profile_that_another_cluster_names_is_named(fleet: Path) -> None:
    plant(fleet, {"lab/a.yaml": config("a", "card: a").replace("spec:\n", "spec:\n  profile: gpu\n")})
    assert "KRM143" not in check(fleet).text
    assert "KRM143" not in process("krmfn", "check", "dev", cwd=fleet).text, "which clusters name it is not known"


def test_no_annotation_names_a_folder_as_a_file(tmp_path: Path) -> None:
    plant(tmp_path, {"a/kustomization.yaml": "resources: [../../b]\n", "c/kustomization.yaml": "resources: [x.yaml]\n"})
    done = check(tmp_path, "--format", "github").ended(2)
    named = re.findall(r"^::\w+ (?:[^:]*,)?file=([^,:]*)", done.text, re.MULTILINE)
    assert named
    assert all((tmp_path / name).is_file() for name in named), done.text


def test_a_selector_that_a_vendor_s_option_gives_stands_at_the_option(tmp_path: Path) -> None:
    """It was `spec.config.nodeSelector`, which the vendor's kind has not, at the first line of its spec."""
    profile = (
        "apiVersion: krmfn.dev/v1alpha1\nkind: Profile\nmetadata: {name: p}\nspec:\n"
        "  for: {group: acme.com, versions: [v1], kind: DeviceConfig}\n  schema:\n    type: object\n    properties:\n"
        "      spec: {type: object, properties: {nodes: {type: object, additionalProperties: {type: string}}}}\n"
        "  config: {moduleName: m, driverImage: r.example.com/m, driverVersion: '1', nodeSelector: '${spec.nodes}'}\n"
    )
    vendor = "apiVersion: acme.com/v1\nkind: DeviceConfig\nmetadata: {name: c, namespace: kmm}\nspec:\n"
    files = {"p.yaml": profile, "c.yaml": f"{vendor}  nodes: {{card: b}}\n", "n.yaml": node("n-1", card="a")}
    output = check(plant(tmp_path, files)).text
    assert "c.yaml:5:3: warning: DeviceConfig kmm/c: spec.nodes: does not select the only node: " in output
