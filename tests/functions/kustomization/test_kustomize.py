"""The wrapper round a kustomize build, with a program on PATH that only notes its arguments."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path

import pytest
import yaml
from krmfn_functions.cluster import cluster_inputs
from krmfn_functions.cluster import survey as surveys
from krmfn_functions.command import Context
from krmfn_functions.kustomization import kustomize
from krmfn_functions.options import RunOptions
from krmfn_functions.paths import manifests
from krmfn_functions.settings import CHECK
from krmfn_functions.sources import Sources

from krmfn import KrmfnError
from krmfn.item import LOCAL
from krmfn.streams import Log
from tests.call_counts import call_count
from tests.trees import OURS, function, plant

CONTEXT = Context(RunOptions(), CHECK, Log(), Sources())
FAKE = """#!/bin/sh
PATH=/usr/bin:/bin
echo "$@" > {notes}/arguments
cat "$2/kustomization.yaml" > {notes}/wrapper
cd "$2" && cd "$(sed -n 's/^- //p' kustomization.yaml | tr -d "'" | head -1)" && pwd -P > {notes}/base
{answer}
"""


class Fake:
    """A kustomize that notes how it was called."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.bin = folder, folder / "bin"
        monkeypatch.setenv("PATH", os.pathsep.join([str(self.bin), "/usr/bin", "/bin"]))
        monkeypatch.setenv("KRMFN_CONFINE", "off")  # it writes where kustomize may not

    def answers(self, answer: str, name: str = "kustomize") -> None:
        plant(self.bin, {name: FAKE.format(notes=self.folder, answer=answer)})

    def noted(self, name: str) -> str:
        return (self.folder / name).read_text()


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    return Fake(tmp_path, monkeypatch)


@pytest.fixture
def app(tmp_path: Path) -> Path:
    return plant(tmp_path / "an app", {"kustomization.yaml": "resources: []\n"})


def test_the_wrapper_builds_the_folder_and_moves_the_mark_aside(fake: Fake, app: Path) -> None:
    """Flags go to kustomize as they are, and the temporary folder is removed."""
    fake.answers("echo 'a: b'")
    flags = ["--enable-exec", "--load-restrictor", "None"]
    assert kustomize.build(kustomize.BuildCall(str(app), None, flags)).stream == b"a: b\n"
    command, folder, *options = fake.noted("arguments").split()
    assert (command, options, Path(folder).exists()) == ("build", flags, False)
    assert sorted(path.name for path in app.iterdir()) == ["kustomization.yaml"]
    wrapper = yaml.safe_load(fake.noted("wrapper"))
    (patch,) = wrapper["patches"]
    assert patch["target"] == {"annotationSelector": LOCAL}
    (move,) = yaml.safe_load(patch["patch"])
    assert (move["op"], move["from"]) == ("move", "/metadata/annotations/config.kubernetes.io~1local-config")
    assert re.fullmatch("/metadata/annotations/krmfn.dev~1aside-while-kustomize-builds~1[0-9a-f]{32}", move["path"])
    assert fake.noted("base").strip() == str(app.resolve())
    assert "transformers" not in wrapper, "calling any function costs kustomize two to three times its own time"


NAME = "grep -o 'krmfn.dev~1aside[^\\\"]*' {wrapper} | sed 's|~1|/|g'"
"""Prints the name that a wrapper moves the mark to."""


def test_the_mark_comes_back_and_the_name_of_another_build_stays(fake: Fake, app: Path) -> None:
    fake.answers(f"echo \"$({NAME.format(wrapper='$2/kustomization.yaml')}): 'true'\"")
    assert kustomize.build(kustomize.BuildCall(str(app))).stream == f"{LOCAL}: 'true'\n".encode()
    (fake.folder / "wrapper").rename(fake.folder / "earlier")
    fake.answers(NAME.format(wrapper=fake.folder / "earlier"))
    assert re.fullmatch(
        rb"krmfn.dev/aside-while-kustomize-builds/[0-9a-f]{32}\n", kustomize.build(kustomize.BuildCall(str(app))).stream
    )


def test_kubectl_does_as_well(fake: Fake, app: Path) -> None:
    fake.answers("echo 'a: b'", name="kubectl")
    assert kustomize.build(kustomize.BuildCall(str(app))).stream == b"a: b\n"
    assert fake.noted("arguments").startswith("kustomize ")


def test_what_kustomize_says_of_a_build_that_works_is_a_finding_per_line(fake: Fake, app: Path) -> None:
    fake.answers("printf 'apiVersion: v1\nkind: A\nmetadata:\n  name: a\n'; printf '# Warning: one\ntwo\n' >&2")
    (root,) = surveys.survey(str(app), surveys.Scope(OURS)).roots
    resources, _ = cluster_inputs.read(CONTEXT, [root])
    assert [str(finding) for finding in resources.results] == [
        "info: kustomize: # Warning: one [KRM106]",
        "info: kustomize: two [KRM106]",
    ]
    assert [item.name for item in resources.items] == ["a"]
    assert not resources.failed


def test_a_failure_has_the_message_of_kustomize(fake: Fake, app: Path) -> None:
    fake.answers("echo 'a: b'; echo 'Error: no such file' >&2; exit 1")
    with pytest.raises(KrmfnError, match=r"kustomize build .* failed:\nError: no such file$"):
        kustomize.build(kustomize.BuildCall(str(app)))


def test_a_failure_of_kubectl_is_a_sentence_and_says_how_to_find_the_patch(fake: Fake, app: Path) -> None:
    line = r'E1125 21:57:54.096336 19816 run.go:72] "command failed" err="add operation does not apply: path: \"/a\""'
    fake.answers(f"echo '{line}' >&2; exit 1", name="kubectl")
    says = r'failed:\nadd operation does not apply: path: "/a"\n\(kustomize does not name the patch: look for this '
    with pytest.raises(KrmfnError, match=says):
        kustomize.build(kustomize.BuildCall(str(app)))


def test_kubectl_is_no_substitute_for_a_function(app: Path, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.answers("echo 'a: b'", name="kubectl")
    monkeypatch.setenv("PATH", str(fake.bin))
    plant(app, {"kustomization.yaml": "transformers: [f.yaml]\n", "f.yaml": function("exec: {path: krmfn}")})
    (root,) = surveys.survey(str(app), surveys.Scope(OURS)).roots
    with pytest.raises(KrmfnError, match="`kubectl kustomize` has no --enable-exec"):
        cluster_inputs.read(CONTEXT, [root])


def test_a_component_is_wrapped_as_one(fake: Fake, app: Path) -> None:
    fake.answers("echo 'a: b'")
    built = kustomize.build(kustomize.BuildCall(str(app), kustomization={"kind": "Component"}))
    assert built.stream == b"a: b\n"
    assert yaml.safe_load(fake.noted("wrapper"))["components"] == [built.base]


BOTH = ["originAnnotations", "transformerAnnotations"]


def test_the_wrapper_asks_for_what_the_kustomization_asks_for_and_for_origins(fake: Fake, app: Path) -> None:
    fake.answers("echo 'a: b'")
    for options, origins, expected in [
        ([], False, None),
        ([], True, BOTH),
        (["managedByLabel", "transformerAnnotations"], False, ["managedByLabel", "transformerAnnotations"]),
        (["managedByLabel", "originAnnotations"], True, ["managedByLabel", *BOTH]),
    ]:
        kustomize.build(kustomize.BuildCall(str(app), kustomization={"buildMetadata": options}, origins=origins))
        assert yaml.safe_load(fake.noted("wrapper")).get("buildMetadata") == expected


def test_without_any_kustomize_it_says_what_to_install(fake: Fake, app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(fake.bin))
    with pytest.raises(KrmfnError, match="install one of them"):
        kustomize.build(kustomize.BuildCall(str(app)))


@pytest.mark.parametrize("name", manifests.KUSTOMIZATIONS)
def test_every_name_of_a_kustomization_is_known(name: str, tmp_path: Path) -> None:
    assert not manifests.kustomization_in(str(tmp_path))
    (tmp_path / name).write_text("resources: []\n")
    assert manifests.kustomization_in(str(tmp_path))
    assert not manifests.kustomization_in("-")


OTHERS = ("/spec/b", "/spec/ab", "/spec/a/b", "/spec/a.b", "/b/spec/a")


def test_a_patch_whose_path_is_not_there_is_found(fake: Fake, app: Path) -> None:
    """kustomize names the path, and not the patch."""
    error = "replace operation does not apply: doc is missing path: /spec/a: missing value"
    fake.answers(f"echo 'Error: {error}' >&2; exit 1")
    others = (f"- target: {{kind: A}}\n  patch: '[{{op: add, path: {at}, value: 1}}]'\n" for at in OTHERS)
    patches = f"patches:\n{''.join(others)}- target: {{kind: A}}\n"
    plant(app, {"kustomization.yaml": f"{patches}  path: p.yaml\n", "p.yaml": "[{op: replace, path: /spec/a}]\n"})
    (root,) = surveys.survey(str(app), surveys.Scope(OURS)).roots
    place = r"\(kustomize does not name the patch; this path is in [^,]*kustomization.yaml:13\)"
    with pytest.raises(KrmfnError, match=place):
        cluster_inputs.read(CONTEXT, [root])


def test_names_are_put_back_in_one_pass() -> None:
    names = {f"image:v{at}": f"krmfn-{at:024x}" for at in range(40)}
    text = "".join(f"a: {name}\n" for name in names.values()) + f"b: krmfn-{99:024x}\n"
    restored = "".join(f"a: {value}\n" for value in names) + f"b: krmfn-{99:024x}\n"
    assert kustomize._restore_names(text.encode(), names) == restored.encode()
    calls = list[int]()
    for number in (20, 40):
        some = dict([*names.items()][:number])
        calls.append(call_count(partial(kustomize._restore_names, b"a: b\n" * 9, some))[1])
    assert calls[0] == calls[1], "the text is searched once, whatever number of functions is called"
