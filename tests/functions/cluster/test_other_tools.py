"""Files of other tools: one warning with their number, and an error where something of ours may be meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import Done, process
from tests.functions.comparing.test_base import OWN, clone, commit, repository, run_git
from tests.functions.paths.test_templates import OTHERS, SHOP, TEMPLATES
from tests.trees import config_map, plant

from .test_one_result import config

NIC = """\
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: fastnic}
spec:
  for: {group: nic.example.org, versions: [v1], kind: FastNic}
  schema: {type: object, properties: {spec: {type: object}}}
  config: {moduleName: fastnic, driverImage: "r.example.com/nic:1-$KERNEL_FULL_VERSION", nodeSelector: {card: b}}
"""
GPU = {"gpu/gpu.yaml": config("gpu", "card: a"), "gpu/kustomization.yaml": "resources: [gpu.yaml]\n"}
READABLE = ("a large one", "what can be read", "a pointer of Git LFS")
INDEX = "apiVersion: v1\nentries: {}\n"


def check(folder: Path, *args: str) -> Done:
    return process("krmfn", "check", *(args or ["."]), cwd=folder)


def passed_over(done: Done) -> list[str]:
    return [line for line in done.text.splitlines() if line.endswith("[KRM534]")]


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_one_line(tmp_path: Path, name: str) -> None:
    plant(tmp_path, {**GPU, "shop/shop.yaml": f"# apiVersion\n{TEMPLATES[name]}"})
    done = check(tmp_path)
    assert (done.code, len(passed_over(done)), "error" in done.text) == (0, 1, False), done.text


def test_many_are_one_line_that_counts_and_names_them(tmp_path: Path) -> None:
    plant(tmp_path, {**GPU, **{f"t/{number}.yaml": TEMPLATES["Go"] for number in range(9)}})
    plant(tmp_path, {"a/index.yaml": INDEX, "b/install-config.yaml": "apiVersion: v1\nbaseDomain: example.com\n"})
    done = check(tmp_path)
    assert passed_over(done) == [
        "t/0.yaml: warning: this and 8 more files are each a template of another tool, which krmfn does not run: not "
        "read (t/1.yaml, t/2.yaml, t/3.yaml, t/4.yaml, t/5.yaml and 3 more) [KRM534]",
        "a/index.yaml: warning: this and 1 more file are each a file of another tool, and no Kubernetes object: not "
        "read (b/install-config.yaml) [KRM534]",
    ]
    assert done.code == 0
    assert check(tmp_path, ".", "--strict").code == 1
    plant(tmp_path, {".krmfn.yaml": "exclude: [t, index.yaml, install-config.yaml]\n"})
    assert passed_over(check(tmp_path)) == []


KINDLESS = {
    "Jinja, with a file": "{% include 'module.yaml' %}\n",
    "Go, with a definition": '{{ include "module" . }}\n',
    "a value": "replicas: {{ count }}\n",
    "a condition": "{% if a %}\na: 1\n{% endif %}\n",
    "a key": "{{ key }}: kmm.sigs.x-k8s.io/v1beta1\n",
    "ERB": "a: 1\n<% if b %>\nc: 2\n<% end %>\n",
    "kind without a name": "kind: {{ kind }}\n",
    "in a second document": "a: 1\n---\n{{ b }}\n",
}


@pytest.mark.parametrize("name", KINDLESS)
def test_a_template_without_a_kind_is_counted_with_the_others(tmp_path: Path, name: str) -> None:
    """No resource can be seen in it, and it was passed over without a word."""
    plant(tmp_path, {**GPU, "gpu/part.yaml": KINDLESS[name], "t/a.yaml": TEMPLATES["Go"]})
    (line,) = passed_over(check(tmp_path))
    assert line.startswith("gpu/part.yaml: warning: this and 1 more file are each a template of another tool"), line
    plant(tmp_path, {".krmfn.yaml": "exclude: [part.yaml, t]\n"})
    assert passed_over(check(tmp_path)) == []


@pytest.mark.parametrize(
    "text",
    ["a: '{{ count }}'\n", "a: |\n  {% if a %}\n  {{ b }}\n  {% endif %}\n", "# {{ a }}\nb: 1\n", "if: ${{ a.b }}\n",
     "- name: '{{ a }}'\n  when: b\n", "a: {{b: c}: d}\n"],
)  # fmt: skip
def test_values_that_can_be_read_are_passed_over_in_silence(tmp_path: Path, text: str) -> None:
    plant(tmp_path, {**GPU, "gpu/values.yaml": text})
    assert passed_over(check(tmp_path)) == []


def test_templates_without_a_kind_in_folders_of_others_are_none_of_ours(tmp_path: Path) -> None:
    other = {"shop/a.yaml": config_map("a"), "shop/kustomization.yaml": "resources: [a.yaml]\n"}
    repo = repository(tmp_path / "repo", {**GPU, **other, "shop/part.yaml": KINDLESS["a value"]})
    assert passed_over(check(repo)) == []
    assert len(passed_over(check(repo, ".", "--all"))) == 1
    plant(repo, {"shop/part.yaml": KINDLESS["a key"]})
    assert len(passed_over(check(repo))) == 1


@pytest.mark.parametrize("name", [name for name in OTHERS if name not in READABLE])
def test_what_may_be_ours_or_applied_stays_an_error(tmp_path: Path, name: str) -> None:
    plant(tmp_path, {**GPU, "shop/shop.yaml": f"{OTHERS[name]}\n---\na: [\n"})
    done = check(tmp_path)
    assert (done.code, passed_over(done)) == (2, []), done.text
    assert "shop/shop.yaml" in done.text and "[KRM523]" in done.text


def test_a_template_for_a_kind_of_a_profile_is_an_error(tmp_path: Path) -> None:
    template = f"{{{{- if .a }}}}\n{SHOP.replace('ConfigMap', 'FastNic')}{{{{- end }}}}\n"
    plant(tmp_path, {**GPU, "shop/nic.yaml": template})
    assert check(tmp_path).code == 0
    plant(tmp_path, {"vendor/profile.yaml": NIC, "vendor/kustomization.yaml": "resources: [profile.yaml]\n"})
    done = check(tmp_path)
    assert (done.code, passed_over(done), "shop/nic.yaml" in done.text) == (2, [], True), done.text


@pytest.mark.parametrize("text", [TEMPLATES["Go"], TEMPLATES["Jinja"]])
def test_a_template_that_is_deployed_is_an_error(tmp_path: Path, text: str) -> None:
    """One that a kustomization lists, and one that the user names."""
    plant(tmp_path, {"kustomization.yaml": "resources: [shop.yaml]\n", "shop.yaml": text, "apart/b.yaml": text})
    assert check(tmp_path).code == 2
    assert check(tmp_path, "apart/b.yaml").code == 2


@pytest.mark.parametrize(
    "text",
    ["apiVersion: krmfn.dev/v1alpha1\nentries: {}\n", "apiVersion: v1\nkinds: ConfigMap\n",
     "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, entries: {}}]\n", "apiVersion: v2\nbaseDomain: a\n"],
)  # fmt: skip
def test_a_resource_without_its_kind_stays_an_error(tmp_path: Path, text: str) -> None:
    done = check(plant(tmp_path, {**GPU, "shop/a.yaml": text}))
    assert (done.code, "[KRM100]" in done.text) == (1, True), done.text


def test_a_config_in_a_chart_is_said(tmp_path: Path) -> None:
    chart = {"charts/a/Chart.yaml": "apiVersion: v2\nname: a\nversion: 0.1.0\n", "charts/a/templates/s.yaml": SHOP}
    plant(tmp_path, {**GPU, **chart})
    assert passed_over(check(tmp_path)) == []
    plant(tmp_path, {"charts/a/templates/gpu.yaml": SHOP.replace("ConfigMap", "DeviceConfig")})
    done = check(tmp_path)
    assert (done.code, len(passed_over(done))) == (0, 1)
    assert "charts/a/templates/gpu.yaml: warning: holds a config or Module in a Helm chart" in passed_over(done)[0]


@pytest.mark.parametrize(
    ("files", "args", "code"),
    [
        ({}, ["check", "."], 0),
        ({}, ["render", "lab"], 0),
        ({}, ["render", "."], 2),
        ({}, ["check", "teams/b"], 2),
        ({".krmfn.yaml": "clusters: {lab: [lab]}\n"}, ["check", "."], 0),
        ({".krmfn.yaml": "clusters: {lab: [lab, teams]}\n"}, ["check", "."], 2),
        ({".krmfn.yaml": "clusters: {lab: [lab, teams/b/c]}\n"}, ["check", "."], 2),
    ],
)
def test_a_submodule_that_is_not_there(tmp_path: Path, files: dict[str, str], args: list[str], code: int) -> None:
    """A warning, unless a cluster is made of it: of a member, of the PATH, of all that `render` would deploy."""
    repo = repository(tmp_path / "repo", {"lab/a.yaml": config_map("a"), **files})
    run_git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo), "teams/b")
    commit(repo)
    done = process("krmfn", *args, cwd=clone(repo), **OWN)
    assert done.code == code, done.text + done.err
    assert ("the submodule teams/b is not checked out" in done.text + done.err) == (args != ["render", "lab"])
