"""A fault anywhere in a generated repository of kustomizations stands at its line and column."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

from hypothesis import event, given, settings
from hypothesis import strategies as st

from tests.examples import EXAMPLES
from tests.trees import COMPONENT, function, plant

from .engines import run

FAULT = "fualt"
"""A field that DeviceConfigs do not have; it stands in one place of the repository."""
CONFIG = """\
# CONFIG
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata:
  name: CONFIG
  namespace: kmm
  annotations: {config.kubernetes.io/local-config: "true"}
spec:
  driverImage: r.example.com/CONFIG
  driverVersion: "1"
  moduleName: CONFIG
  nodeSelector: {a: CONFIG}
  kernelMappings:
  - regexp: ^5.*$
  - regexp: ^6.*$
"""
MERGE = "apiVersion: krmfn.dev/v1alpha1\nkind: DeviceConfig\nmetadata: {name: NAME, namespace: kmm}\nspec:\n"
NAMES = ("drv", "drvs", "nic-b")


class Overlay(NamedTuple):
    """A kustomization to be, and the way in which it patches."""

    prefix: str
    suffix: str
    form: str


FORMS = ("none", "merge", "merge, inline", "json", "json, inline", "component", "deep")
overlays = st.builds(
    Overlay,
    st.sampled_from(["", "", "lab-", "b-"]),
    st.sampled_from(["", "", "-b", "-x"]),
    st.sampled_from(FORMS),
)


def indented(text: str, by: int) -> str:
    return re.sub("(?m)^(?=.)", " " * by, text)


def patched(overlay: Overlay, name: str, fault: bool) -> tuple[str, dict[str, str]]:
    """Return what a kustomization says to patch the resource of a name, and the files for it."""
    field = FAULT if fault else "dirName"
    merge = f"{MERGE.replace('NAME', name)}  # a note\n  {field}: /opt/{overlay.form[0]}\n"
    operations = f"- op: add\n  path: /spec/{field}\n  value: /opt/a\n"
    deep = MERGE.replace("NAME", name) + f"  kernelMappings:\n  - regexp: ^6.*$\n    {FAULT}: a:1\n  - regexp: ^5.*$\n"
    target = f"patches:\n- target: {{kind: DeviceConfig, name: {name}}}\n"
    # the list of a patch takes the place of the one before
    match "merge" if overlay.form == "deep" and not fault else overlay.form:
        case "merge":
            return "patches: [{path: patch.yaml}]\n", {"patch.yaml": f"# a patch\n---\n{merge}"}
        case "merge, inline":
            return f"patches:\n- patch: |\n{indented(merge, 4)}", {}
        case "json":
            return f"{target}  path: patch.yaml\n", {"patch.yaml": operations}
        case "json, inline":
            return f"{target}  patch: |-\n{indented(operations, 6)}", {}
        case "component":
            files = {
                "part/kustomization.yaml": f"{COMPONENT}patches: [{{path: patch.yaml}}]\n",
                "part/patch.yaml": merge,
            }
            return "components: [part]\n", files
        case "deep":
            return "patches: [{path: patch.yaml}]\n", {"patch.yaml": deep}
    return "", {}


@st.composite
def repositories(draw: st.DrawFn) -> dict[str, str]:
    """Draw the files of a repository whose outermost kustomization is f0; one of them has the fault."""
    chain = draw(st.lists(overlays, min_size=1, max_size=3))
    names = draw(st.permutations(NAMES))[: draw(st.integers(1, 3))]
    call = draw(st.sampled_from([None, 0, 0, len(chain) - 1]))
    patching = [at for at, overlay in enumerate(chain) if overlay.form != "none" and (call is None or at >= call)]
    faulty = draw(st.sampled_from([*patching, "base"]))
    texts = [CONFIG.replace("CONFIG", name) for name in names]
    victim = draw(st.integers(0, len(names) - 1))
    if faulty == "base":
        texts[victim] = texts[victim].replace("  moduleName", f"  {FAULT}: a\n  moduleName")
    layout = draw(st.sampled_from(["documents", "list", "files", "crlf"]))
    files: dict[str, str] = {}
    if layout == "list":
        body = "".join("- " + indented(text, 2).lstrip() for text in (text.partition("\n")[2] for text in texts))
        files["base/all.yaml"] = f"apiVersion: v1\nkind: List\nitems:\n{body}"
    elif layout == "files":
        files |= {f"base/{name}.yaml": text for name, text in zip(names, texts, strict=True)}
    else:
        stream = "---\n".join(texts)
        files["base/all.yaml"] = stream.replace("\n", "\r\n") if layout == "crlf" else stream
    files["base/kustomization.yaml"] = f"resources: [{', '.join(sorted(Path(name).name for name in files))}]\n"
    name = names[victim]
    for at, overlay in reversed([*enumerate(chain)]):
        below = f"../f{at + 1}" if at + 1 < len(chain) else "../base"
        text, parts = patched(overlay, name, at == faulty)
        head = f"resources: [{below}]\nnamePrefix: '{overlay.prefix}'\nnameSuffix: '{overlay.suffix}'\n"
        call_text = "transformers: [function.yaml]\n" if call == at else ""
        files[f"f{at}/kustomization.yaml"] = head + call_text + text
        files |= {f"f{at}/{path}": part for path, part in parts.items()}
        if call == at:
            files[f"f{at}/function.yaml"] = function("exec: {path: krmfn}")
        name = f"{overlay.prefix}{name}{overlay.suffix}"
    return files


def place_of_fault(files: dict[str, str]) -> str:
    """Return where the fault is written: its key, or the value of the operation that adds it."""
    ((file, text),) = [(name, text) for name, text in files.items() if FAULT in text]
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if FAULT in line)
    if f"/{FAULT}" in lines[at]:
        return f"{file}:{at + 2}:{lines[at + 1].index('value') + 1}"
    return f"{file}:{at + 1}:{lines[at].index(FAULT) + 1}"


@settings(max_examples=max(EXAMPLES // 4, 10))
@given(files=repositories())
def test_a_fault_stands_where_it_is_written(kustomize: str, files: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / ".git").mkdir()
        plant(folder, {name: text for name, text in files.items() if "\r" not in text})
        for name, text in files.items():
            (folder / name).write_bytes(text.encode())
        done = run("krmfn", "check", "--format", "json", "f0", cwd=folder)
        findings = [finding for finding in json.loads(done.out)["findings"] if finding["rule"] == "KRM101"]
        places = [f"{finding['file']}:{finding['line']}:{finding['column']}" for finding in findings]
        event("base" if places[0].startswith("base") else "patch")
        assert places == [place_of_fault(files)], (files, done.out)
        assert findings[0]["ref"]["name"] in NAMES
