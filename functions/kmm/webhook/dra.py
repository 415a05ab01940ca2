"""The webhook's rules about spec.dra.

It also asks for a version of the cluster, which nothing here knows; the lint KRM209 says so.
Source: KMM main (2026-07-29) and the OpenShift fork's main, internal/webhook/module.go; v2.4.0 to v2.6.0 have none.
"""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Result
from krmfn.rule import Rule, apply

from ..gotext import quote
from ..lookup import Table, table, tables, text
from ..module import Module
from ..names import subdomain_errors
from ..rule import prefixed, refused


def check(module: Module) -> Iterator[Result]:
    """Yield the findings about the driver, then class by class, in the webhook's order."""
    yield from prefixed("failed to validate DRA: ", _findings(table(module.spec, "dra")))


def _findings(dra: Table) -> Iterator[Result]:
    yield from apply(DRIVER_RULES, dra)
    seen: set[str] = set()
    for index, entry in tables(dra, "deviceClasses"):
        yield from apply(CLASS_RULES, entry, index, seen)
        seen.add(text(entry, "name"))


def _driver_is_named(dra: Table) -> Iterator[Result]:
    if not text(dra, "driverName"):
        yield refused("spec.dra.driverName is required", "spec.dra.driverName", dra.get("driverName"))


KMM012 = Rule(
    "KMM012",
    "the dra section must name its driver (after KMM 2.6)",
    good="""\
# kmm: main
spec: {dra: {driverName: gpu.example.com, container: {image: "registry.example.com/dra:1.0"}}}
""",
    bad="""\
# kmm: main
spec: {dra: {driverName: "", container: {image: "registry.example.com/dra:1.0"}}}
""",
    remedy="Write the name under which the driver registers with the kubelet.",
    check=_driver_is_named,
)


def _driver_is_a_subdomain(dra: Table) -> Iterator[Result]:
    name = text(dra, "driverName")
    wrong = subdomain_errors(name) if name else []
    if wrong:
        message = f"spec.dra.driverName {quote(name)} is not a valid DNS subdomain: {'; '.join(wrong)}"
        yield refused(message, "spec.dra.driverName", name)


KMM013 = Rule(
    "KMM013",
    "the name of the DRA driver must be a DNS subdomain (after KMM 2.6)",
    good="""\
# kmm: main
spec: {dra: {driverName: gpu.example.com, container: {image: "registry.example.com/dra:1.0"}}}
""",
    bad="""\
# kmm: main
spec: {dra: {driverName: GPU, container: {image: "registry.example.com/dra:1.0"}}}
""",
    remedy="Use only lowercase letters, digits, '-' and '.'.",
    check=_driver_is_a_subdomain,
)


def _class_is_named(entry: Table, index: int, seen: set[str]) -> Iterator[Result]:
    if not text(entry, "name"):
        yield refused(f"spec.dra.deviceClasses[{index}].name is required", f"spec.dra.deviceClasses[{index}].name")


KMM014 = Rule(
    "KMM014",
    "a DRA device class must have a name; the CRD's pattern already refuses an empty one (after KMM 2.6)",
    good="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: gpu.example.com}]
""",
    bad="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: ""}]
""",
    remedy="Name the device class, or remove the entry.",
    check=_class_is_named,
)


def _class_is_a_subdomain(entry: Table, index: int, seen: set[str]) -> Iterator[Result]:
    name = text(entry, "name")
    wrong = subdomain_errors(name) if name else []
    if wrong:
        path = f"spec.dra.deviceClasses[{index}].name"
        yield refused(f"{path} {quote(name)} is not a valid DNS subdomain: {'; '.join(wrong)}", path, name)


KMM015 = Rule(
    "KMM015",
    "the name of a DRA device class must be a DNS subdomain; the CRD already checks all but its length (after KMM 2.6)",
    good="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: gpu.example.com}]
""",
    bad="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: GPU.example.com}]
""",
    remedy="Use only lowercase letters, digits, '-' and '.', at most 253 characters.",
    check=_class_is_a_subdomain,
)


def _class_is_single(entry: Table, index: int, seen: set[str]) -> Iterator[Result]:
    name = text(entry, "name")
    if name and name in seen:
        path = f"spec.dra.deviceClasses[{index}].name"
        yield refused(f"{path} {quote(name)} is a duplicate", path, name)


KMM016 = Rule(
    "KMM016",
    "DRA device classes must have different names (after KMM 2.6)",
    good="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: gpu.example.com}, {name: small.gpu.example.com}]
""",
    bad="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: gpu.example.com}, {name: gpu.example.com}]
""",
    remedy="Rename one of them, or remove it.",
    check=_class_is_single,
)


DRIVER_RULES = (KMM012, KMM013)
CLASS_RULES = (KMM014, KMM015, KMM016)
RULES = DRIVER_RULES + CLASS_RULES
