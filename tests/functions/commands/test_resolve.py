"""The command `resolve`: which image a kernel gets from each Module."""

from __future__ import annotations

import json
from typing import Any

import pytest
from krmfn_functions.commands import resolve as resolve_command
from krmfn_functions.kmm.module import Module

from krmfn import KrmfnError, Manifest
from tests.builders import CONFIG, module
from tests.commands import Done, process

EL9, EL8 = "5.14.0-503.el9.x86_64", "4.18.0-553.el8_10.x86_64"
MAPPINGS = [
    {"literal": EL8, "containerImage": "r.example.com/drv:el8"},
    {"regexp": r"^.*\.el9\..*$", "containerImage": "r.example.com/drv:${KERNEL_FULL_VERSION}"},
]
NO_MODULE = "apiVersion: v1\nkind: ConfigMap\n"


def resolve(*args: str, stdin: str = CONFIG) -> Done:
    return process("krmfn", "resolve", "-", *args, stdin=stdin)


def drv(*mappings: Manifest, **container: Any) -> Manifest:
    """Return the Module kmm/drv."""
    return module(*mappings or MAPPINGS, name="drv", **container)


def rows_of(manifest: Manifest, kernels: list[str]) -> list[dict[str, Any]]:
    return resolve_command.rows_of(Module(manifest), kernels)


def test_each_kernel_gets_the_first_mapping_that_matches() -> None:
    rows = rows_of(drv(), [EL8, EL9, "6.8.0-generic"])
    assert [(row["kernel"], row["mapping"], row["image"]) for row in rows] == [
        (EL8, 0, "r.example.com/drv:el8"),
        (EL9, 1, f"r.example.com/drv:{EL9}"),
        ("6.8.0-generic", None, None),
    ]
    assert rows[0]["module"] == {"namespace": "kmm", "name": "drv"}


def test_what_is_removed_first_is_printed() -> None:
    removing = drv({"regexp": "^.+$", "containerImage": "r/drv:1"}, inTreeModulesToRemove=["a", "b"])
    assert rows_of(removing, [EL9])[0]["inTreeModulesToRemove"] == ["a", "b"]
    assert resolve("--kernel", EL9, stdin=json.dumps(removing)).text == (
        f"kmm/drv  {EL9}  kernelMappings[0]  r/drv:1, after removing a, b\n"
    )


@pytest.mark.parametrize(
    ("mapping", "kernel", "message"),
    [
        ({"regexp": "(", "containerImage": "r/drv:1"}, EL9, "missing closing )"),
        ({"regexp": "^.+$", "containerImage": "r/drv:${KERNEL"}, EL9, "Module kmm/drv, kernel"),
        ({"regexp": "^.+$", "containerImage": "r/drv:1"}, "5", "Module kmm/drv, kernel 5: "),
    ],
    ids=["regexp", "variable", "kernel"],
)
def test_where_kmm_fails_the_module_and_the_kernel_are_named(mapping: Manifest, kernel: str, message: str) -> None:
    with pytest.raises(KrmfnError) as failure:
        rows_of(drv(mapping), [kernel])
    assert message in str(failure.value)
    assert str(failure.value).startswith(f"Module kmm/drv, kernel {kernel}: ")


def test_text_of_what_is_generated_and_what_is_written() -> None:
    written = module(MAPPINGS[0], name="written", selector={"a": "c"}, modprobe={"moduleName": "other"})
    both = f"{CONFIG}---\n{json.dumps(written)}\n"
    done = resolve("--kernel", EL9, "--kernel", EL8, stdin=both).ended(1)
    assert done.err.startswith(f"error: Module kmm/written: no kernel mapping for {EL9}, so nodes with such a kernel ")
    allowed = resolve("--kernel", EL9, "--kernel", EL8, "--allow-unmapped", stdin=both)
    assert (allowed.code, allowed.out, "no kernel mapping" in allowed.err) == (0, done.out, False)
    assert done.text == (
        f"kmm/written  {EL9}  no mapping: KMM loads nothing on such nodes\n"
        f"kmm/written  {EL8}  kernelMappings[0]  r.example.com/drv:el8\n"
        f"kmm/drv  {EL9}  kernelMappings[0]  r.example.com/drv:1-{EL9}\n"
        f"kmm/drv  {EL8}  kernelMappings[0]  r.example.com/drv:1-{EL8}\n"
    )


def test_json() -> None:
    [row] = json.loads(resolve("--kernel", EL9, "--format", "json").ended(0).out)
    named = {"module": {"namespace": "kmm", "name": "drv"}, "kernel": EL9}
    assert row == {**named, "mapping": 0, "image": f"r.example.com/drv:1-{EL9}", "inTreeModulesToRemove": []}


@pytest.mark.parametrize(
    ("args", "stdin", "code", "message"),
    [
        ((), CONFIG, 2, "the following arguments are required: --kernel"),
        (("--kernel", EL9, "--format", "xml"), CONFIG, 2, "invalid choice: 'xml'"),
        (("--kernel", "5"), CONFIG, 2, "error: Module kmm/drv, kernel 5: "),
        (("--kernel", EL9), NO_MODULE, 2, "error: no Module in -, neither hand-written nor generated"),
        (("--kernel", EL9), CONFIG.replace("moduleName", "moduelName"), 1, "spec.moduelName"),
    ],
)
def test_what_goes_wrong(args: tuple[str, ...], stdin: str, code: int, message: str) -> None:
    assert message in resolve(*args, stdin=stdin).refused(code)


def test_so_for_a_ptemplate() -> None:
    text = "apiVersion: pt.example.com/v1alpha1\nkind: Ptemplate\nmetadata: {name: p, namespace: ns}\n"
    done = resolve("--kernel", EL9, stdin=f"{text}spec: {{selector: {{a: b}}}}\n")
    assert (done.code, done.text.split("  ")[0]) == (0, "ns/p")
