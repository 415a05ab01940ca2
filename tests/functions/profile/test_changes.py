"""What `diff` says of Profiles, and where the commands take them from."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands import process
from tests.functions.profile.vendor import CR, PROFILE, cr, profile, rendered

FOR = "{group: amd.com, versions: [v1alpha1], kind: Onload}"
SETTINGS = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "RenderDeviceConfigs", "metadata": {"name": "a"}}


def folder(path: Path, **files: Any) -> Path:
    """Write files into a folder: texts, or manifests as YAML."""
    path.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else yaml.safe_dump(content)
        (path / f"{name}.yaml").write_text(text)
    return path


def test_a_new_version_of_a_vendor_is_one_replaced_file(tmp_path: Path) -> None:
    old = folder(tmp_path / "old", profile=PROFILE, gpu=CR)
    new = folder(
        tmp_path / "new", profile=PROFILE.replace("1.4.1", "1.5.0").replace("exporter:1", "exporter:2"), gpu=CR
    )
    done = process("krmfn", "diff", str(old), str(new))
    assert (done.code, done.text.splitlines()[0]) == (1, "! changed Profile: amd-gpu@1.4.1 becomes amd-gpu@1.5.0")
    assert "1 changed, 1 unchanged" in done.text  # the mark alone is no change
    assert json.loads(process("krmfn", "diff", str(old), str(new), "--format", "json").text)["first"]
    assert "Look at this first" in process("krmfn", "diff", str(old), str(new), "--format", "markdown").text


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
    more = PROFILE.replace("  config:\n", rights, 1).replace("exporter:1", "exporter:1\n      privileged: true")
    done = process("krmfn", "diff", str(old), str(folder(tmp_path / "new", profile=more, gpu=CR)))
    lines = done.text.splitlines()
    assert lines[0] == "! changed Profile without a new version: amd-gpu@1.4.1"
    first = lines[: lines.index("")]
    assert any(line.startswith("! new right: ClusterRole ") and line.endswith("get of nodes (core)") for line in first)
    assert any(
        "new privileged pod: DaemonSet kmm/gpu-metrics: container metrics is privileged" in line for line in first
    )


def test_a_changed_profile_without_a_version_lacks_none(tmp_path: Path) -> None:
    profile = PROFILE.replace("  version: 1.4.1\n", "")
    old = folder(tmp_path / "old", profile=profile, gpu=CR)
    changed = profile.replace("exporter:1", "exporter:2")
    done = process("krmfn", "diff", str(old), str(folder(tmp_path / "new", profile=changed, gpu=CR)))
    assert done.text.splitlines()[0] == "! changed Profile: amd-gpu"


@pytest.mark.parametrize("change", ["removed", "misspelt"])
def test_a_profile_that_is_gone_is_red_everywhere(tmp_path: Path, change: str) -> None:
    old = folder(tmp_path / "old", profile=PROFILE, gpu=CR, settings={**SETTINGS, "spec": {}})
    new = folder(tmp_path / "new", gpu=CR, settings={**SETTINGS, "spec": {}})
    if change == "misspelt":
        folder(new, profile=PROFILE.replace("kind: DeviceConfig}", "kind: DeviceConfg}"))
    for command in (("check", str(new)), ("render", str(new)), ("diff", str(old), str(new))):
        done = process("krmfn", *command)
        assert done.code in (1, 2), command
        assert "nothing drives this DeviceConfig" in done.err + done.text, command
        assert command[0] != "render" or done.out == b""


@pytest.mark.parametrize("kind", ["DeviceConfig", "Onload"])
def test_the_last_thing_of_ours_that_goes_is_red_where_it_is_deployed(tmp_path: Path, kind: str) -> None:
    gpu = {**CR, "kind": kind}
    old = folder(tmp_path / "old", profile=PROFILE.replace("kind: DeviceConfig}", f"kind: {kind}}}"), gpu=gpu)
    new = folder(tmp_path / "new", gpu=gpu)
    assert process("krmfn", "render", str(new)).code == (kind == "DeviceConfig")  # another kind is known by its Profile
    done = process("krmfn", "diff", str(old), str(new))
    assert done.code == 1
    assert f"error: {kind} kmm/gpu: nothing drives this {kind}: there is no Profile" in done.text


def test_a_kind_of_any_name_is_known_by_a_profile_that_is_nearly_for_it_and_by_what_was_made_of_it() -> None:
    gpu = {**CR, "kind": "Onload"}
    for group in ("amd.comm", "amd.org"):
        misspelt = profile("{group: amd.com, versions: [v1alpha1], kind: DeviceConfig}", FOR.replace("amd.com", group))
        _, findings, code = rendered(misspelt, gpu)
        assert (code, "nothing drives this Onload" in "".join(findings)) == (1, True)
    other = profile("{group: amd.com, versions: [v1alpha1], kind: DeviceConfig}", FOR.replace("amd", "operator.amd"))
    assert not rendered(other, {**gpu, "apiVersion": "operator.example.io/v1"})[2], "the operator of another vendor"
    objects, _, _ = rendered(profile("{group: amd.com, versions: [v1alpha1], kind: DeviceConfig}", FOR), gpu)
    made = [one for name, one in objects.items() if not name.startswith("Profile")]
    _, findings, code = rendered(*made)
    assert (code, "nothing drives this Onload" in "".join(findings)) == (1, True)


def test_only_a_vendors_config_is_left_without_its_profile(tmp_path: Path) -> None:
    folder(tmp_path, profile=PROFILE, gpu=CR)
    for command in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "x")):
        subprocess.run(
            ("git", "-c", "user.name=x", "-c", "user.email=x@example.com", *command), cwd=tmp_path, check=True
        )
    (tmp_path / "profile.yaml").unlink()
    done = process("krmfn", "check", str(tmp_path))
    assert (done.code, "nothing is generated from it" in done.text) == (0, True)  # nothing here is krmfn's
    done = process("krmfn", "render", str(tmp_path))
    assert (done.code, done.out) == (1, b"")
    assert "nothing drives this DeviceConfig" in done.err
    done = process("krmfn", "diff", "--base", "main", str(tmp_path))
    assert done.code == 1
    assert "error: DeviceConfig kmm/gpu: " in done.text + done.err
    assert "- Module kmm/gpu" in done.text


@pytest.mark.parametrize("way", ["clusters", "cluster", "profiles-from"])
def test_the_last_profile_that_goes_is_red_where_the_cluster_is_named_to_krmfn(tmp_path: Path, way: str) -> None:
    folder(tmp_path / "prod", gpu=CR)
    folder(tmp_path / "vendors")
    (tmp_path / ".krmfn.yaml").write_text("clusters: {prod: [prod]}\n" if way == "clusters" else "exclude: [x]\n")
    prod = str(tmp_path / "prod")
    ways = {"cluster": (f"--cluster=prod={prod}",), "profiles-from": ("--profiles-from", str(tmp_path / "vendors"))}
    done = process("krmfn", "check", prod, "--root", str(tmp_path), *ways.get(way, ()))
    assert (done.code, "error: DeviceConfig kmm/gpu: nothing drives" in done.text) == (1, True)
    assert process("krmfn", "check", prod).code == 0, "nothing says that this cluster has anything of krmfn's"


def test_a_config_that_its_own_operator_reads_too_is_printed(tmp_path: Path) -> None:
    place = folder(tmp_path, profile=PROFILE, gpu=CR)
    assert [one["kind"] for one in printed(place)] == ["Module", "DaemonSet"]
    folder(tmp_path, profile=PROFILE.replace("kind: DeviceConfig}", "kind: DeviceConfig, keep: true}"))
    kinds = [one["kind"] for one in printed(place)]
    assert sorted(kinds) == ["DaemonSet", "DeviceConfig", "Module"]
    (kept,) = [one for one in printed(place) if one["kind"] == "DeviceConfig"]
    assert kept == CR


def printed(place: Path) -> list[dict[str, Any]]:
    """Return what `render` prints."""
    done = process("krmfn", "render", str(place))
    assert done.code == 0, done.err
    return list(yaml.safe_load_all(done.out))


def test_the_old_side_of_an_adoption_is_no_error(tmp_path: Path) -> None:
    old = folder(tmp_path / "old", gpu=CR, settings={**SETTINGS, "spec": {}})
    new = folder(tmp_path / "new", gpu=CR, settings={**SETTINGS, "spec": {}}, profile=PROFILE)
    done = process("krmfn", "diff", str(old), str(new))
    assert done.code == 1
    assert "2 created" in done.text
    assert f"{old}/gpu.yaml:1: warning: DeviceConfig kmm/gpu: before, nothing drove this DeviceConfig: " in done.text
    gone, stays = folder(tmp_path / "gone", settings={**SETTINGS, "spec": {}}), folder(tmp_path / "vendor", gpu=CR)
    assert "before, nothing drove" in process("krmfn", "diff", str(old), str(gone)).text
    done = process("krmfn", "diff", str(stays), str(stays))
    assert (done.code, "before, nothing drove" in done.text) == (0, False)


@pytest.mark.parametrize("keep", ["false", "true"])
def test_the_day_a_profile_takes_over_a_kind_of_any_name_is_told(tmp_path: Path, keep: str) -> None:
    """Nothing of ours was there before, and the kind is no DeviceConfig: `diff` was calm."""
    old = folder(tmp_path / "old", gpu={**CR, "kind": "Onload"})
    text = PROFILE.replace("kind: DeviceConfig}", f"kind: Onload, keep: {keep}}}")
    new = folder(tmp_path / "new", gpu={**CR, "kind": "Onload"}, profile=text)
    done = process("krmfn", "diff", str(old), str(new))
    assert f"{old}/gpu.yaml:1: warning: Onload kmm/gpu: before, nothing drove this Onload: " in done.text, done.text
    assert ("write `keep: true` in `for` of the Profile" in done.text) == (keep == "false")
    assert done.text.count("KRM107") == 1


def test_a_profile_that_no_kustomization_lists_drives_nothing(tmp_path: Path) -> None:
    """It was a warning that it is not deployed, and nothing was said of its config."""
    gpu = {**CR, "kind": "Onload"}
    place = folder(tmp_path, gpu=gpu, profile=PROFILE.replace("kind: DeviceConfig}", "kind: Onload}"))
    folder(tmp_path, kustomization={"resources": ["gpu.yaml"]})
    done = process("krmfn", "check", str(place))
    assert (done.code, f"error: Onload kmm/gpu: {place}/profile.yaml has a Profile for this kind, " in done.text) == (
        1,
        True,
    )
    assert "but no kustomization lists it; list it under `resources`" in done.text
    folder(tmp_path, kustomization={"resources": ["gpu.yaml", "profile.yaml"]})
    assert process("krmfn", "check", str(place)).code == 0


def test_a_profile_of_another_root_is_told_of_also_without_a_configuration_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        folder(tmp_path / name, gpu={**CR, "kind": "Onload"}, kustomization={"resources": ["gpu.yaml"]})
    folder(tmp_path / "a", profile=PROFILE.replace("kind: DeviceConfig}", "kind: Onload}"))
    folder(tmp_path / "a", kustomization={"resources": ["gpu.yaml", "profile.yaml"]})
    done = process("krmfn", "check", str(tmp_path))
    assert done.code == 0
    assert f"b/gpu.yaml:1: warning: Onload kmm/gpu: {tmp_path}/a/profile.yaml has a Profile for this kind" in done.text


@pytest.mark.parametrize(
    ("name", "is_there", "code", "finding"),
    [
        ("amd-gpu", True, 0, ""),
        ("amd_gpu", True, 1, "error: RenderDeviceConfigs a: spec.overrides.amd_gpu: profile 'amd_gpu' is not defined;"),
        ("nic", True, 0, "warning: RenderDeviceConfigs a: spec.overrides.nic: profile 'nic' is not defined;"),
        ("amd-gpu", False, 0, "warning: RenderDeviceConfigs a: spec.overrides.amd-gpu: profile 'amd-gpu' is not"),
    ],
)
def test_what_is_overridden_is_there(tmp_path: Path, name: str, is_there: bool, code: int, finding: str) -> None:
    """Whoever takes away a vendor's right by a misspelt name was told nothing, and the right stayed."""
    onload = PROFILE.replace("kind: DeviceConfig}", "kind: Onload}")
    settings = {**SETTINGS, "spec": {"overrides": {name: {"dirName": "/x"}}}}
    place = folder(tmp_path, gpu={**CR, "kind": "Onload"}, settings=settings, **{"p": onload} if is_there else {})
    done = process("krmfn", "check", str(place))
    assert (done.code, finding in done.text, "KRM" in done.text) == (code, True, bool(finding))
    done = process("krmfn", "check", str(place / "settings.yaml"))
    assert (done.code, f"info: RenderDeviceConfigs a: spec.overrides.{name}: " in done.text) == (0, True)


def test_profiles_come_from_files_that_are_named(tmp_path: Path) -> None:
    gpu, vendor = folder(tmp_path / "gpu", gpu=CR), folder(tmp_path / "vendor", profile=PROFILE)
    root = ("--root", str(tmp_path))
    done = process("krmfn", "render", str(gpu), "--function-config", str(vendor / "profile.yaml"), *root)
    assert (done.code, done.text.count("kind: Module")) == (0, 1)
    (tmp_path / ".krmfn.yaml").write_text("profiles: [vendor]\n")
    done = process("krmfn", "check", str(gpu), *root)
    assert (done.code, "KRM109" in done.text) == (0, False), done.text
    assert "KRM109" in process("krmfn", "check", str(folder(tmp_path / "x", a={**CR, "kind": "Other"})), *root).text
    (tmp_path / ".krmfn.yaml").write_text("profiles: [../vendor]\n")
    assert process("krmfn", "check", str(gpu), *root).code == 2


def test_several_function_configs_are_one_and_a_setting_stands_once(tmp_path: Path) -> None:
    gpu = folder(tmp_path / "gpu", gpu=CR)
    one = {**SETTINGS, "spec": {"defaults": {"imagePullPolicy": "Always"}}}
    two = {**SETTINGS, "metadata": {"name": "b"}, "spec": {"defaults": {"tolerations": [{"operator": "Exists"}]}}}
    folder(tmp_path, one=one, two=two, profile=PROFILE)
    given = [f"--function-config={tmp_path / name}.yaml" for name in ("one", "two", "profile")]
    done = process("krmfn", "render", str(gpu), *given, "--root", str(tmp_path))
    assert done.code == 0, done.err
    assert "imagePullPolicy: Always" in done.text and "operator: Exists" in done.text
    folder(tmp_path, two={**one, "metadata": {"name": "b"}})
    done = process("krmfn", "render", str(gpu), *given, "--root", str(tmp_path))
    assert done.code == 2
    assert (
        "spec.defaults.imagePullPolicy is in RenderDeviceConfigs a" in done.err and "RenderDeviceConfigs b" in done.err
    )


def test_only_named_files_give_rights(tmp_path: Path) -> None:
    place = folder(tmp_path, profile=PROFILE, gpu=CR)
    vendors = folder(tmp_path / "vendors")
    done = process("krmfn", "check", str(place), "--profiles-from", str(vendors))
    assert (done.code, "[KRM187]" in done.text) == (1, True)
    (place / "kustomization.yaml").write_text("resources: [gpu.yaml, profile.yaml]\n")
    done = process("krmfn", "check", str(place), "--profiles-from", str(place))
    assert (done.code, "name its file with --function-config" in done.text) == (1, True), done.text
    (place / "kustomization.yaml").unlink()
    (place / "profile.yaml").rename(vendors / "profile.yaml")
    assert process("krmfn", "check", str(place), "--profiles-from", str(vendors)).code == 0


def test_two_vendors_are_two_files(tmp_path: Path) -> None:
    other = PROFILE.replace("amd-gpu", "acme-nic").replace("amd.com", "acme.example.com").replace("amdgpu", "acmenic")
    nic = {**cr("nic", selector={"example.com/nic": "true"}), "apiVersion": "acme.example.com/v1alpha1"}
    done = process("krmfn", "render", str(folder(tmp_path, amd=PROFILE, acme=other, gpu=CR, nic=nic)))
    assert (done.code, done.text.count("kind: Module")) == (0, 2)


def test_a_profile_is_checked_alone_with_its_defaults_and_each_when(tmp_path: Path) -> None:
    assert process("krmfn", "check", str(folder(tmp_path / "right", p=PROFILE))).code == 0
    wrong = PROFILE.replace("moduleName: amdgpu", "modulName: amdgpu").replace(
        "enabled: false}]", "enabled: false, imag: x}]"
    )
    done = process("krmfn", "check", str(folder(tmp_path / "wrong", p=wrong)))
    assert done.code == 1
    assert "spec.config.modulName: unknown field 'modulName'; did you mean 'moduleName'?" in done.text
    assert "spec.when[0].config.daemonSets[0].imag: unknown field 'imag'; did you mean 'image'?" in done.text


def test_a_number_that_json_has_not_is_an_error_at_its_line(tmp_path: Path) -> None:
    text = yaml.safe_dump(CR).replace("enable: true", "enable: true\n    port: .inf")
    done = process("krmfn", "check", str(folder(tmp_path, profile=PROFILE, gpu=text)))
    assert (done.code, "spec.exporter.port: " in done.text, "must be a finite number [KRM101]" in done.text) == (
        1,
        True,
        True,
    )


@pytest.mark.parametrize(("name", "words"), [("yaml", "nothing is generated in this case"), ("yml", "rename it to")])
def test_a_golden_case_of_nothing_fails(tmp_path: Path, name: str, words: str) -> None:
    """Without its Profile a config is printed as it is, and --update made that the expectation."""
    case = folder(tmp_path / "one", gpu=CR if name == "yml" else {**CR, "apiVersion": "example.org/v1", "kind": "Gpu"})
    (case / f"expected.{name}").write_text("")
    done = process("krmfn", "test", str(tmp_path), "--update")
    assert (done.code, words in done.text, (case / f"expected.{name}").read_text()) == (1, True, ""), (
        done.text + done.err
    )


def test_golden_cases_of_a_vendor(tmp_path: Path) -> None:
    case = folder(tmp_path / "cases" / "one", profile=PROFILE, gpu=CR)
    assert process("krmfn", "test", str(tmp_path)).code == 2
    (case / "expected.yaml").write_text(process("krmfn", "render", str(case), "--quiet").text)
    (case / "expected-findings.json").write_text("[]\n")
    assert (process("krmfn", "test", str(tmp_path)).text, process("krmfn", "test", str(tmp_path)).code) == (
        "1 case, 0 failed\n",
        0,
    )
    folder(case, profile=PROFILE.replace("exporter:1", "exporter:2"))
    done = process("krmfn", "test", str(tmp_path), "--update")
    assert done.code == 1
    assert "-        image: registry.example.com/amd/exporter:1" in done.text
    assert process("krmfn", "test", str(tmp_path)).code == 0
    folder(case, gpu={**CR, "spec": {}})
    done = process("krmfn", "test", str(tmp_path))
    assert done.code == 1 and "spec.driver" in done.text


def test_an_object_alone_whose_config_and_profile_are_gone(tmp_path: Path) -> None:
    done = process("krmfn", "render", str(folder(tmp_path / "all", profile=PROFILE, gpu=CR)))
    for at, made in enumerate(yaml.safe_load_all(done.out)):
        stream = yaml.safe_dump(made)
        rendered, checked = process("krmfn", "render", "-", stdin=stream), process("krmfn", "check", "-", stdin=stream)
        assert (rendered.code, rendered.out, "[KRM116]" in rendered.err) == (1, b"", True), at
        assert "without what it was generated from (amd.com DeviceConfig kmm/gpu)" in checked.text, at


@pytest.mark.parametrize("way", ["annotation", "operators"])
def test_what_its_own_operator_takes_over_stays_in_render_and_is_told_in_diff(tmp_path: Path, way: str) -> None:
    old = folder(tmp_path / "old", profile=PROFILE, gpu=CR)
    made = process("krmfn", "render", str(old)).text
    given: dict[str, Any] = {"gpu": CR}
    if way == "annotation":
        given = {"gpu": {**CR, "metadata": {**CR["metadata"], "annotations": {"krmfn.dev/profile": "none"}}}}
    operators = {"operators": [{"group": "amd.com", "kind": "DeviceConfig"}]} if way == "operators" else {}
    settings = {**SETTINGS, "spec": operators}
    gone = folder(tmp_path / "gone", settings=settings, **given)
    done = process("krmfn", "diff", str(old), str(gone))
    assert done.code == 1
    assert "- Module kmm/gpu" in done.text and "- DaemonSet kmm/gpu-metrics" in done.text
    given |= (
        {"profile": PROFILE} if way == "annotation" else {}
    )  # with `operators` the Profile goes, else both would act
    beside = folder(tmp_path / "beside", settings=settings, made=made, **given)
    done = process("krmfn", "render", str(beside), "--prune", "always")
    assert done.code == 0, done.err
    assert "kind: Module" in done.text and "kind: DaemonSet" in done.text


def test_a_key_with_brackets_where_none_belongs_is_an_error(tmp_path: Path) -> None:
    odd = PROFILE.replace("  config:\n", '  config:\n    labels: {"a]b": "${spec.driver.version}"}\n    "x[0]": 1\n', 1)
    done = process("krmfn", "check", str(folder(tmp_path, profile=odd, gpu=CR)))
    assert (done.code, "unknown field 'x[0]'" in done.text, "its key is 'a]b'" in done.text) == (1, True, True), done
