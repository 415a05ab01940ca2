"""What docs/engines/helm.md says: the configs of a chart through `helm template`, and a post-renderer of both helms."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.commands import ROOT, Done
from tests.trees import plant

from .engines import find, path_of, run

CHART = {
    "chart/Chart.yaml": "apiVersion: v2\nname: drivers\nversion: 0.1.0\n",
    "chart/values.yaml": 'driverVersion: "1.16.2"\n',
    "chart/templates/gaudi.yaml": """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gaudi, namespace: {{ .Release.Namespace }}}
spec:
  moduleName: habanalabs
  driverImage: registry.example.com/habana/driver
  driverVersion: {{ .Values.driverVersion | quote }}
  nodeSelector: {example.com/gaudi: "true"}
""",
    "chart/templates/settings.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n",
}
BROKEN = ("--set", "driverVersion=1.0 x")
WRONG = "spec.driverVersion: is '1.0 x'; must be at most 63 letters"
POST = {
    "helm3": ("--post-renderer", "krmfn", "--post-renderer-args", "render", "--post-renderer-args", "-"),
    "helm4": ("--post-renderer", "krmfn"),
}


def helm(name: str, folder: Path, *args: str) -> Done:
    """Run one of the two helms, whose files are below this folder alone."""
    places = ("CONFIG", "DATA", "CACHE")
    env = path_of() | {f"HELM_{place}_HOME": str(folder / place.lower()) for place in places}
    return run(find(name, "tests/e2e/install builds it with go"), *args, cwd=folder, env=env)


@pytest.fixture(params=sorted(POST))
def version(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    plant(tmp_path, CHART)
    name = str(request.param)
    if name == "helm4":
        done = helm(name, tmp_path, "plugin", "install", str(ROOT / "gitops/helm"))
        assert done.code == 0, done
    return name


def template(version: str, folder: Path, *args: str) -> Done:
    return helm(version, folder, "template", "gaudi", "./chart", "--namespace", "kmm", *args)


def test_what_helm_renders_is_checked_from_stdin(version: str, tmp_path: Path) -> None:
    good, bad = (template(version, tmp_path, *args).ended(0).out for args in ((), BROKEN))
    assert run("krmfn", "check", "-", stdin=good).code == 0
    done = run("krmfn", "check", "-", stdin=bad)
    assert (done.code, WRONG in done.text) == (1, True), done


def test_a_post_renderer_makes_the_same_objects_as_render(version: str, tmp_path: Path) -> None:
    piped = run("krmfn", "render", "-", stdin=template(version, tmp_path).ended(0).out).ended(0)
    posted = template(version, tmp_path, *POST[version]).ended(0)
    by_kind = [
        sorted((each for each in yaml.safe_load_all(text) if each), key=lambda each: str(each["kind"]))
        for text in (piped.text, posted.text)
    ]
    assert by_kind[0] == by_kind[1]
    assert [each["kind"] for each in by_kind[0]] == ["ConfigMap", "Module"]


def test_an_error_fails_the_install(version: str, tmp_path: Path) -> None:
    """Helm 3 prints the finding; Helm 4 drops what a plugin says."""
    done = template(version, tmp_path, *POST[version], *BROKEN)
    assert done.code == 1
    assert done.out == b""
    assert (WRONG in done.err) == (version == "helm3"), done.err
    assert version == "helm3" or 'plugin "krmfn" exited with error' in done.err
