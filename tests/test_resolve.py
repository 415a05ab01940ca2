"""The command `resolve`: which image a kernel gets from each Module."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from krmfn_functions.commands.resolve import rows_of

from krmfn import KrmfnError, Manifest

COMMANDS = Path(sys.executable).parent
EL9, EL8 = "5.14.0-503.el9.x86_64", "4.18.0-553.el8_10.x86_64"
MAPPINGS = [
    {"literal": EL8, "containerImage": "r.example.com/drv:el8"},
    {"regexp": r"^.*\.el9\..*$", "containerImage": "r.example.com/drv:${KERNEL_FULL_VERSION}"},
]
CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: drv, namespace: kmm}
spec: {driverImage: r.example.com/drv, driverVersion: "1", moduleName: drv, nodeSelector: {a: b}}
"""


def module(*mappings: dict[str, Any], **container: Any) -> Manifest:
    known = {"modprobe": {"moduleName": "drv"}, "kernelMappings": list(mappings or MAPPINGS)}
    return {
        "apiVersion": "kmm.sigs.x-k8s.io/v1beta1",
        "kind": "Module",
        "metadata": {"name": "drv", "namespace": "kmm"},
        "spec": {"selector": {"a": "b"}, "moduleLoader": {"container": {**known, **container}}},
    }


class Done(NamedTuple):
    code: int
    out: str
    err: str


def resolve(*words: str, stdin: str = CONFIG) -> Done:
    env = {key: value for key, value in os.environ.items() if not key.startswith(("ARGOCD_", "KRMFN_"))}
    command = [COMMANDS / "krmfn", "resolve", "-", *words]
    done = subprocess.run(command, input=stdin.encode(), env=env, capture_output=True, check=False)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_each_kernel_gets_the_first_mapping_that_matches() -> None:
    rows = rows_of(module(), [EL8, EL9, "6.8.0-generic"])
    assert [(row["kernel"], row["mapping"], row["image"]) for row in rows] == [
        (EL8, 0, "r.example.com/drv:el8"),
        (EL9, 1, f"r.example.com/drv:{EL9}"),
        ("6.8.0-generic", None, None),
    ]
    assert rows[0]["module"] == {"namespace": "kmm", "name": "drv"}


def test_what_goes_before_is_told() -> None:
    removing = module({"regexp": "^.+$", "containerImage": "r/drv:1"}, inTreeModulesToRemove=["a", "b"])
    assert rows_of(removing, [EL9])[0]["inTreeModulesToRemove"] == ["a", "b"]
    assert resolve("--kernel", EL9, stdin=json.dumps(removing)).out == (
        f"kmm/drv  {EL9}  kernelMappings[0]  r/drv:1, after removing a, b\n"
    )


@pytest.mark.parametrize(
    ("mapping", "kernel", "says"),
    [
        ({"regexp": "(", "containerImage": "r/drv:1"}, EL9, "missing closing )"),
        ({"regexp": "^.+$", "containerImage": "r/drv:${KERNEL"}, EL9, "Module kmm/drv, kernel"),
        ({"regexp": "^.+$", "containerImage": "r/drv:1"}, "5", "Module kmm/drv, kernel 5: "),
    ],
    ids=["regexp", "variable", "kernel"],
)
def test_where_kmm_fails_the_module_and_the_kernel_are_named(mapping: Manifest, kernel: str, says: str) -> None:
    with pytest.raises(KrmfnError) as failure:
        rows_of(module(mapping), [kernel])
    assert says in str(failure.value)
    assert str(failure.value).startswith(f"Module kmm/drv, kernel {kernel}: ")


def test_text_of_what_is_generated_and_what_is_written() -> None:
    written = module(MAPPINGS[0], modprobe={"moduleName": "other"})
    written["metadata"]["name"] = "written"
    written["spec"]["selector"] = {"a": "c"}
    both = f"{CONFIG}---\n{json.dumps(written)}\n"
    done = resolve("--kernel", EL9, "--kernel", EL8, stdin=both)
    assert done.code == 1
    assert done.err.startswith(f"error: Module kmm/written: no kernel mapping for {EL9}: such nodes get no driver; ")
    allowed = resolve("--kernel", EL9, "--kernel", EL8, "--allow-unmapped", stdin=both)
    assert (allowed.code, allowed.out, "no kernel mapping" in allowed.err) == (0, done.out, False)
    assert done.out == (
        f"kmm/written  {EL9}  no mapping: KMM leaves such nodes alone\n"
        f"kmm/written  {EL8}  kernelMappings[0]  r.example.com/drv:el8\n"
        f"kmm/drv  {EL9}  kernelMappings[0]  r.example.com/drv:1-{EL9}\n"
        f"kmm/drv  {EL8}  kernelMappings[0]  r.example.com/drv:1-{EL8}\n"
    )


def test_json() -> None:
    done = resolve("--kernel", EL9, "--format", "json")
    assert (done.code, json.loads(done.out)) == (
        0,
        [
            {
                "module": {"namespace": "kmm", "name": "drv"},
                "kernel": EL9,
                "mapping": 0,
                "image": f"r.example.com/drv:1-{EL9}",
                "inTreeModulesToRemove": [],
            }
        ],
    )


@pytest.mark.parametrize(
    ("words", "stdin", "code", "says"),
    [
        ((), CONFIG, 2, "the following arguments are required: --kernel"),
        (("--kernel", EL9, "--format", "xml"), CONFIG, 2, "invalid choice: 'xml'"),
        (("--kernel", "5"), CONFIG, 2, "error: Module kmm/drv, kernel 5: "),
        (("--kernel", EL9), "apiVersion: v1\nkind: ConfigMap\n", 2, "error: no Module in -, written or generated"),
        (("--kernel", EL9), CONFIG.replace("moduleName", "moduelName"), 1, "spec.moduelName"),
    ],
)
def test_what_goes_wrong(words: tuple[str, ...], stdin: str, code: int, says: str) -> None:
    done = resolve(*words, stdin=stdin)
    assert (done.code, done.out) == (code, "")
    assert says in done.err


def test_so_for_a_ptemplate() -> None:
    text = "apiVersion: pt.example.com/v1alpha1\nkind: Ptemplate\nmetadata: {name: p, namespace: ns}\n"
    done = resolve("--kernel", EL9, stdin=f"{text}spec: {{selector: {{a: b}}}}\n")
    assert (done.code, done.out.split("  ")[0]) == (0, "ns/p")
