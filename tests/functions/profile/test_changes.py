"""What `diff` says of Profiles, and where the commands take them from."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from krmfn import Manifest
from tests.commands import Done, process
from tests.functions.profile.vendor import CR, PROFILE, children, cr, naming, profile, refused, rendered

FOR = "{group: amd.com, versions: [v1alpha1], kind: DeviceConfig}"
ONLOAD_FOR = "{group: amd.com, versions: [v1alpha1], kind: Onload}"
ONLOAD = {**CR, "kind": "Onload"}
ONLOAD_PROFILE = PROFILE.replace(FOR, ONLOAD_FOR)
HEAD = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "RenderDeviceConfigs", "metadata": {"name": "a"}}
SETTINGS = {**HEAD, "spec": {}}


def folder(path: Path, **files: Any) -> Path:
    """Write files into a folder: texts, or manifests as YAML."""
    path.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else yaml.safe_dump(content)
        (path / f"{name}.yaml").write_text(text)
    return path


def krmfn(command: str, *args: str | Path) -> Done:
    """Run a command of krmfn."""
    return process("krmfn", command, *map(str, args))


def test_a_new_version_of_a_vendor_is_one_replaced_file(tmp_path: Path) -> None:
    old = folder(tmp_path / "old", profile=PROFILE, gpu=CR)
    text = PROFILE.replace("1.4.1", "1.5.0").replace("exporter:1", "exporter:2")
    new = folder(tmp_path / "new", profile=text, gpu=CR)
    lines = krmfn("diff", old, new).ended(1).text.splitlines()
    assert lines[0] == "! changed Profile: amd-gpu@1.4.1 becomes amd-gpu@1.5.0"
    assert any("1 changed, 1 unchanged" in line for line in lines)  # the mark alone is no change
    assert json.loads(krmfn("diff", old, new, "--format", "json").text)["first"]
    assert "Look at this first" in krmfn("diff", old, new, "--format", "markdown").text


def test_new_rights_and_privileged_pods_come_first(tmp_path: Path) -> None:
    rights = """\
  config:
    serviceAccountName: amd
    serviceAccount:
      create: true
      podSecurity: privileged
      clusterRules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]
"""
    old = folder(tmp_path / "old", profile=PROFILE, gpu=CR)
    text = PROFILE.replace("  config:\n", rights, 1).replace("exporter:1", "exporter:1\n      privileged: true")
    lines = krmfn("diff", old, folder(tmp_path / "new", profile=text, gpu=CR)).text.splitlines()
    assert lines[0] == "! changed Profile without a new version: amd-gpu@1.4.1"
    first = lines[: lines.index("")]
    assert any(line.startswith("! new right: ClusterRole ") and line.endswith("get of nodes (core)") for line in first)
    pod = "new privileged pod: DaemonSet kmm/gpu-metrics: container metrics is privileged"
    assert any(pod in line for line in first)


def test_a_changed_profile_without_a_version_lacks_none(tmp_path: Path) -> None:
    text = PROFILE.replace("  version: 1.4.1\n", "")
    old = folder(tmp_path / "old", profile=text, gpu=CR)
    new = folder(tmp_path / "new", profile=text.replace("exporter:1", "exporter:2"), gpu=CR)
    assert krmfn("diff", old, new).text.splitlines()[0] == "! changed Profile: amd-gpu"


@pytest.mark.parametrize("change", ["removed", "misspelt"])
def test_a_profile_that_is_gone_is_red_everywhere(tmp_path: Path, change: str) -> None:
    old = folder(tmp_path / "old", profile=PROFILE, gpu=CR, settings=SETTINGS)
    new = folder(tmp_path / "new", gpu=CR, settings=SETTINGS)
    if change == "misspelt":
        folder(new, profile=PROFILE.replace("kind: DeviceConfig}", "kind: DeviceConfg}"))
    for command, paths in (("check", [new]), ("render", [new]), ("diff", [old, new])):
        done = krmfn(command, *paths)
        assert done.code in (1, 2), command
        assert "nothing drives this DeviceConfig" in done.err + done.text, command
        assert command != "render" or done.out == b""


@pytest.mark.parametrize("kind", ["DeviceConfig", "Onload"])
def test_the_last_thing_of_ours_that_goes_is_red_where_it_is_deployed(tmp_path: Path, kind: str) -> None:
    gpu = {**CR, "kind": kind}
    old = folder(tmp_path / "old", profile=PROFILE.replace("kind: DeviceConfig}", f"kind: {kind}}}"), gpu=gpu)
    new = folder(tmp_path / "new", gpu=gpu)
    assert krmfn("render", new).code == (kind == "DeviceConfig")  # another kind is known by its Profile
    done = krmfn("diff", old, new).ended(1)
    assert f"error: {kind} kmm/gpu: nothing drives this {kind}: there is no Profile" in done.text


def test_a_kind_of_any_name_is_known_by_a_profile_that_is_nearly_for_it_and_by_what_was_made_of_it() -> None:
    for group in ("amd.comm", "amd.org"):
        misspelt = profile(FOR, ONLOAD_FOR.replace("amd.com", group))
        assert "nothing drives this Onload" in "".join(refused(misspelt, ONLOAD))
    other = profile(FOR, ONLOAD_FOR.replace("amd", "operator.amd"))
    _, _, code = rendered(other, {**ONLOAD, "apiVersion": "operator.example.io/v1"})
    assert code == 0, "the operator of another vendor"
    assert "nothing drives this Onload" in "".join(refused(ONLOAD, *children(profile(FOR, ONLOAD_FOR), ONLOAD)))


def test_only_a_vendors_config_is_left_without_its_profile(tmp_path: Path) -> None:
    folder(tmp_path, profile=PROFILE, gpu=CR)
    for command in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "x")):
        git = ("git", "-c", "user.name=x", "-c", "user.email=x@example.com", *command)
        subprocess.run(git, cwd=tmp_path, check=True)
    (tmp_path / "profile.yaml").unlink()
    assert "nothing is generated from it" in krmfn("check", tmp_path).ended(0).text  # nothing here is krmfn's
    assert "nothing drives this DeviceConfig" in krmfn("render", tmp_path).refused(1)
    done = krmfn("diff", "--base", "main", tmp_path).ended(1)
    assert "error: DeviceConfig kmm/gpu: " in done.text + done.err
    assert "- Module kmm/gpu" in done.text


@pytest.mark.parametrize("place", ["clusters", "cluster", "profiles-from"])
def test_the_last_profile_that_goes_is_red_where_the_cluster_is_named_to_krmfn(tmp_path: Path, place: str) -> None:
    prod, vendors = folder(tmp_path / "prod", gpu=CR), folder(tmp_path / "vendors")
    (tmp_path / ".krmfn.yaml").write_text("clusters: {prod: [prod]}\n" if place == "clusters" else "exclude: [x]\n")
    options = {"cluster": (f"--cluster=prod={prod}",), "profiles-from": ("--profiles-from", vendors)}
    done = krmfn("check", prod, "--root", tmp_path, *options.get(place, ())).ended(1)
    assert "error: DeviceConfig kmm/gpu: nothing drives" in done.text
    assert krmfn("check", prod).code == 0, "nothing says that this cluster has anything of krmfn's"


def test_a_config_that_its_own_operator_reads_too_is_printed(tmp_path: Path) -> None:
    place = folder(tmp_path, profile=PROFILE, gpu=CR)
    assert [document["kind"] for document in printed(place)] == ["Module", "DaemonSet"]
    folder(tmp_path, profile=PROFILE.replace("kind: DeviceConfig}", "kind: DeviceConfig, keep: true}"))
    assert sorted(document["kind"] for document in printed(place)) == ["DaemonSet", "DeviceConfig", "Module"]
    assert CR in printed(place)


def printed(place: Path) -> list[dict[str, Any]]:
    """Return what `render` prints."""
    return list(yaml.safe_load_all(krmfn("render", place).ended(0).out))


def test_the_old_side_of_an_adoption_is_no_error(tmp_path: Path) -> None:
    old, new = folder(tmp_path / "old", gpu=CR), folder(tmp_path / "new", gpu=CR, profile=PROFILE)
    vendor, gone = folder(tmp_path / "vendor", gpu=CR), folder(tmp_path / "gone")
    for place in (old, new, gone):
        folder(place, settings=SETTINGS)
    text = krmfn("diff", old, new).ended(1).text
    assert "2 created" in text
    assert f"{old}/gpu.yaml:1: warning: DeviceConfig kmm/gpu: before, nothing drove this DeviceConfig: " in text
    assert "before, nothing drove" in krmfn("diff", old, gone).text
    assert "before, nothing drove" not in krmfn("diff", vendor, vendor).ended(0).text


@pytest.mark.parametrize("keep", ["false", "true"])
def test_the_day_a_profile_takes_over_a_kind_of_any_name_is_told(tmp_path: Path, keep: str) -> None:
    """Nothing of ours was there before, and the kind is no DeviceConfig: `diff` was calm."""
    old = folder(tmp_path / "old", gpu=ONLOAD)
    text = PROFILE.replace("kind: DeviceConfig}", f"kind: Onload, keep: {keep}}}")
    text = krmfn("diff", old, folder(tmp_path / "new", gpu=ONLOAD, profile=text)).text
    assert f"{old}/gpu.yaml:1: warning: Onload kmm/gpu: before, nothing drove this Onload: " in text
    assert ("write `keep: true` in `for` of the Profile" in text) == (keep == "false")
    assert text.count("KRM107") == 1


def test_a_profile_that_no_kustomization_lists_drives_nothing(tmp_path: Path) -> None:
    """It was a warning that it is not deployed, and nothing was said of its config."""
    place = folder(tmp_path, gpu=ONLOAD, profile=ONLOAD_PROFILE, kustomization={"resources": ["gpu.yaml"]})
    text = krmfn("check", place).ended(1).text
    assert f"error: Onload kmm/gpu: {place}/profile.yaml has a Profile for this kind, " in text
    assert "but no kustomization lists it [KRM107]\n  help: list it under `resources`" in text
    folder(tmp_path, kustomization={"resources": ["gpu.yaml", "profile.yaml"]})
    krmfn("check", place).ended(0)


def test_a_profile_of_another_root_is_told_of_also_without_a_configuration_file(tmp_path: Path) -> None:
    listed = {"resources": ["gpu.yaml", "profile.yaml"]}
    folder(tmp_path / "a", gpu=ONLOAD, profile=ONLOAD_PROFILE, kustomization=listed)
    folder(tmp_path / "b", gpu=ONLOAD, kustomization={"resources": ["gpu.yaml"]})
    text = krmfn("check", tmp_path).ended(0).text
    assert f"b/gpu.yaml:1: warning: Onload kmm/gpu: {tmp_path}/a/profile.yaml has a Profile for this kind" in text


@pytest.mark.parametrize(
    ("name", "is_there", "code", "finding"),
    [
        ("amd-gpu", True, 0, ""),
        ("amd_gpu", True, 1, "error: RenderDeviceConfigs a: spec.overrides.amd_gpu: profile 'amd_gpu' is not defined"),
        ("nic", True, 0, "warning: RenderDeviceConfigs a: spec.overrides.nic: profile 'nic' is not defined"),
        ("amd-gpu", False, 0, "warning: RenderDeviceConfigs a: spec.overrides.amd-gpu: profile 'amd-gpu' is not"),
    ],
)
def test_what_is_overridden_is_there(tmp_path: Path, name: str, is_there: bool, code: int, finding: str) -> None:
    """Whoever takes away a vendor's right by a misspelt name was told nothing, and the right stayed."""
    settings = {**HEAD, "spec": {"overrides": {name: {"dirName": "/x"}}}}
    place = folder(tmp_path, gpu=ONLOAD, settings=settings, **{"p": ONLOAD_PROFILE} if is_there else {})
    done = krmfn("check", place)
    assert (done.code, finding in done.text, "KRM" in done.text) == (code, True, bool(finding))
    done = krmfn("check", place / "settings.yaml").ended(0)
    assert f"info: RenderDeviceConfigs a: spec.overrides.{name}: " in done.text


def test_profiles_come_from_files_that_are_named(tmp_path: Path) -> None:
    gpu, vendor = folder(tmp_path / "gpu", gpu=CR), folder(tmp_path / "vendor", profile=PROFILE)
    done = krmfn("render", gpu, "--function-config", vendor / "profile.yaml", "--root", tmp_path).ended(0)
    assert done.text.count("kind: Module") == 1
    (tmp_path / ".krmfn.yaml").write_text("profiles: [vendor]\n")
    assert "KRM109" not in krmfn("check", gpu, "--root", tmp_path).ended(0).text
    other = folder(tmp_path / "x", a={**CR, "kind": "Other"})
    assert "KRM109" in krmfn("check", other, "--root", tmp_path).text
    vendors = folder(tmp_path / "y", a={**CR, "apiVersion": "amd.com/v1alpha1", "kind": "DeviceConfig"})
    text = krmfn("check", vendors).text
    assert ("KRM109" in text, "[KRM107]" in text) == (False, True), (
        "a vendor's config stands there: it is no wrong PATH"
    )
    (tmp_path / ".krmfn.yaml").write_text("profiles: [../vendor]\n")
    krmfn("check", gpu, "--root", tmp_path).ended(2)


def test_several_function_configs_are_one_and_a_setting_stands_once(tmp_path: Path) -> None:
    gpu = folder(tmp_path / "gpu", gpu=CR)
    pulling = {**HEAD, "spec": {"defaults": {"imagePullPolicy": "Always"}}}
    tolerating = {**HEAD, "metadata": {"name": "b"}, "spec": {"defaults": {"tolerations": [{"operator": "Exists"}]}}}
    folder(tmp_path, one=pulling, two=tolerating, profile=PROFILE)
    configs = [f"--function-config={tmp_path / name}.yaml" for name in ("one", "two", "profile")]
    text = krmfn("render", gpu, *configs, "--root", tmp_path).ended(0).text
    assert "imagePullPolicy: Always" in text and "operator: Exists" in text
    folder(tmp_path, two={**pulling, "metadata": {"name": "b"}})
    err = krmfn("render", gpu, *configs, "--root", tmp_path).ended(2).err
    assert "spec.defaults.imagePullPolicy is in RenderDeviceConfigs a" in err and "RenderDeviceConfigs b" in err


def test_only_named_files_give_rights(tmp_path: Path) -> None:
    place = folder(tmp_path, profile=PROFILE, gpu=CR)
    vendors = folder(tmp_path / "vendors")
    assert "[KRM187]" in krmfn("check", place, "--profiles-from", vendors).ended(1).text
    (place / "kustomization.yaml").write_text("resources: [gpu.yaml, profile.yaml]\n")
    text = krmfn("check", place, "--profiles-from", place).ended(1).text
    assert "name its file with --function-config" in text
    (place / "kustomization.yaml").unlink()
    (place / "profile.yaml").rename(vendors / "profile.yaml")
    krmfn("check", place, "--profiles-from", vendors).ended(0)


def test_two_vendors_are_two_files(tmp_path: Path) -> None:
    other = PROFILE.replace("amd-gpu", "acme-nic").replace("amd.com", "acme.example.com").replace("amd_gpu", "acmenic")
    nic = {**cr("nic", selector={"example.com/nic": "true"}), "apiVersion": "acme.example.com/v1alpha1"}
    place = folder(tmp_path, amd=PROFILE, acme=other, gpu=CR, nic=nic)
    assert krmfn("render", place).ended(0).text.count("kind: Module") == 2


def test_a_profile_is_checked_alone_with_its_defaults_and_each_when(tmp_path: Path) -> None:
    krmfn("check", folder(tmp_path / "right", p=PROFILE)).ended(0)
    wrong = PROFILE.replace("moduleName: amd_gpu", "modulName: amd_gpu").replace("false}]}", "false, imag: x}]}")
    text = krmfn("check", folder(tmp_path / "wrong", p=wrong)).ended(1).text
    assert "spec.config.modulName: unknown field 'modulName' [KRM180]\n  help: did you mean 'moduleName'?" in text
    assert (
        "spec.when[0].config.daemonSets[0].imag: unknown field 'imag' [KRM180]\n  help: did you mean 'image'?" in text
    )


def test_a_number_that_json_has_not_is_an_error_at_its_line(tmp_path: Path) -> None:
    text = yaml.safe_dump(CR).replace("enable: true", "enable: true\n    port: .inf")
    text = krmfn("check", folder(tmp_path, profile=PROFILE, gpu=text)).ended(1).text
    assert "spec.exporter.port: " in text and "must be a finite number [KRM101]" in text


@pytest.mark.parametrize(("name", "words"), [("yaml", "nothing is generated in this case"), ("yml", "rename it to")])
def test_a_golden_case_of_nothing_fails(tmp_path: Path, name: str, words: str) -> None:
    """Without its Profile a config is printed as it is, and --update made that the expectation."""
    case = folder(tmp_path / "one", gpu=CR if name == "yml" else {**CR, "apiVersion": "example.org/v1", "kind": "Gpu"})
    expected = case / f"expected.{name}"
    expected.write_text("")
    done = krmfn("test", tmp_path, "--update").ended(1)
    assert (words in done.text, expected.read_text()) == (True, ""), done


def test_golden_cases_of_a_vendor(tmp_path: Path) -> None:
    case = folder(tmp_path / "cases" / "one", profile=PROFILE, gpu=CR)
    krmfn("test", tmp_path).ended(2)
    (case / "expected.yaml").write_text(krmfn("render", case, "--quiet").text)
    (case / "expected-findings.json").write_text("[]\n")
    assert krmfn("test", tmp_path).ended(0).text == "1 case, 0 failed\n"
    folder(case, profile=PROFILE.replace("exporter:1", "exporter:2"))
    done = krmfn("test", tmp_path, "--update").ended(1)
    assert "-        image: registry.example.com/amd/exporter:1" in done.text
    krmfn("test", tmp_path).ended(0)
    folder(case, gpu={**CR, "spec": {}})
    assert "spec.driver" in krmfn("test", tmp_path).ended(1).text


def test_an_object_alone_whose_config_and_profile_are_gone(tmp_path: Path) -> None:
    generated = printed(folder(tmp_path, profile=PROFILE, gpu=CR))
    assert generated
    for manifest in generated:
        stream = yaml.safe_dump(manifest)
        assert "[KRM116]" in process("krmfn", "render", "-", stdin=stream).refused(1), manifest
        checked = process("krmfn", "check", "-", stdin=stream).text
        assert "without what it was generated from (amd.com DeviceConfig kmm/gpu)" in checked, manifest


@pytest.mark.parametrize(
    ("config", "operators"),
    [(naming("none"), {}), (CR, {"operators": [{"group": "amd.com", "kind": "DeviceConfig"}]})],
    ids=["annotation", "operators"],
)
def test_what_its_own_operator_takes_over_stays_in_render_and_is_told_in_diff(
    tmp_path: Path, config: Manifest, operators: dict[str, Any]
) -> None:
    old = folder(tmp_path / "old", profile=PROFILE, gpu=CR)
    generated = krmfn("render", old).text
    new = folder(tmp_path / "new", settings={**HEAD, "spec": operators}, gpu=config)
    text = krmfn("diff", old, new).ended(1).text
    assert "- Module kmm/gpu" in text and "- DaemonSet kmm/gpu-metrics" in text
    folder(new, generated=generated, **{} if operators else {"profile": PROFILE})  # else both would act
    text = krmfn("render", new, "--prune", "always").ended(0).text
    assert "kind: Module" in text and "kind: DaemonSet" in text


def test_a_key_with_brackets_where_none_belongs_is_an_error(tmp_path: Path) -> None:
    odd = PROFILE.replace("  config:\n", '  config:\n    labels: {"a]b": "${spec.driver.version}"}\n    "x[0]": 1\n', 1)
    text = krmfn("check", folder(tmp_path, profile=odd, gpu=CR)).ended(1).text
    assert "unknown field 'x[0]'" in text and "its key is 'a]b'" in text
