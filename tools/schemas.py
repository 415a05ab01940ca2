"""Write schemas/ (JSON Schemas, CRDs, fields for kustomize) and functions/deviceconfig/fields.py from schema_specs.py.

python tools/schemas.py            write the files that changed
python tools/schemas.py --check    print which are stale, exit 1 if any
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from schema_crds import crd
from schema_crds import text as crd_text
from schema_drivers import LOADER, MODPROBE
from schema_fleet import INVENTORY
from schema_kustomize import text as kustomize_text
from schema_nodes import Node, choice, opened, same
from schema_outputs import OUTPUTS
from schema_profile import PROFILE
from schema_ptemplate import PTEMPLATE
from schema_settings import SETTINGS
from schema_specs import DEFS, DEVICECONFIG, SEED, VENDOR
from schema_types import module

OUT = Path(__file__).resolve().parents[1] / "schemas"
CONFIGURATIONS = "kustomize-configurations.yaml"
COPIES = ("gitops/kustomize/names", "examples/kustomize-transformer", "examples/kustomize-names")
"""Where the file for kustomize stands a second time: kustomize reads none from above its own folder."""
TYPES = OUT.parent / "functions" / "deviceconfig" / "fields.py"
FOR_CRDS = {"x-cel", "x-key"}


class Kind(NamedTuple):
    """One of our kinds. Without columns it is no resource of a cluster and has no CRD."""

    file: str
    group: str
    kind: str
    title: str
    spec: Node
    short: str = ""
    columns: Mapping[str, str] = {}  # read only
    """What `kubectl get` prints: name and path."""

    @property
    def crd_name(self) -> str:
        """The CRD's name in a cluster."""
        return f"{self.kind.lower()}s.{self.group}"


_DRIVER = {"Image": ".spec.driverImage", "Version": ".spec.driverVersion"}
KINDS = (
    Kind(
        "deviceconfig",
        "krmfn.dev",
        "DeviceConfig",
        "DeviceConfig: a driver for a group of nodes",
        DEVICECONFIG,
        "devcfg",
        _DRIVER | {"Module": ".spec.moduleName", "Profile": ".spec.profile"},
    ),
    Kind(
        "deviceconfig-example.com",
        "example.com",
        "DeviceConfig",
        "DeviceConfig of the he-sample operator: three fields",
        SEED,
        "hedevcfg",
        _DRIVER,
    ),
    Kind(
        "ptemplate",
        "pt.example.com",
        "Ptemplate",
        "Ptemplate of the ptemplate operator",
        PTEMPLATE,
        "ptmpl",
        {"Consumer": ".spec.consumer", "Devices": ".spec.maxdev", "Required": ".spec.requiredDevices"},
    ),
    Kind(
        "renderdeviceconfigs",
        "krmfn.dev",
        "RenderDeviceConfigs",
        "RenderDeviceConfigs: how DeviceConfigs are rendered",
        SETTINGS,
    ),
    Kind(
        "nodeinventory",
        "krmfn.dev",
        "NodeInventory",
        "NodeInventory: the nodes of a cluster, kept in Git",
        INVENTORY,
    ),
    Kind("profile", "krmfn.dev", "Profile", "Profile: a vendor's product as one file with options", PROFILE),
)


def json_schema(kind: Kind) -> Node:
    """Return the JSON Schema of a kind, with the definitions it uses."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://krmfn.dev/schemas/{kind.file}.schema.json",
        "title": kind.title,
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", *(["spec"] if kind.columns or "required" in kind.spec else [])],
        "properties": {
            "apiVersion": choice("the group and version of this kind", f"{kind.group}/v1alpha1"),
            "kind": choice("the kind", kind.kind),
            "metadata": same("metadata"),
            "spec": kind.spec,
            "status": opened("what a cluster says about it; not read here"),
        },
        "additionalProperties": False,
    }
    used = {name: DEFS[name] for name in DEFS if name in set(references(schema))}
    plain: Node = without({**schema, "$defs": used}, FOR_CRDS)
    return plain


def references(value: Any) -> Iterator[str]:
    """Yield the names of all definitions that a node uses."""
    if isinstance(value, dict):
        if "$ref" in value:
            name = value["$ref"].removeprefix("#/$defs/")
            yield name
            yield from references(DEFS[name])
        for entry in value.values():
            yield from references(entry)


def without(value: Any, keywords: set[str]) -> Any:
    """Return a copy without these keywords."""
    if isinstance(value, dict):
        return {key: without(entry, keywords) for key, entry in value.items() if key not in keywords}
    return [without(entry, keywords) for entry in value] if isinstance(value, list) else value


def files() -> Iterator[tuple[Path, str]]:
    """Yield every file and what it must hold."""
    for kind in KINDS:
        yield OUT / f"{kind.file}.schema.json", json.dumps(json_schema(kind), indent=2, ensure_ascii=False) + "\n"
        if kind.columns:
            definition = crd(kind.group, kind.kind, kind.short, kind.columns, kind.spec, DEFS)
            yield OUT / "crds" / f"{kind.crd_name}.yaml", crd_text(definition)
    for name, schema in OUTPUTS.items():
        yield OUT / "outputs" / f"{name}-v1.schema.json", json.dumps(schema, indent=2) + "\n"
    names = kustomize_text({f"{kind.group} {kind.kind}": json_schema(kind) for kind in KINDS if kind.columns})
    yield OUT / CONFIGURATIONS, names
    for folder in COPIES:
        yield OUT.parent / folder / CONFIGURATIONS, names
    every_field = {**VENDOR, "properties": {**DEVICECONFIG["properties"], **VENDOR["properties"]}}
    yield TYPES, module({**every_field, "description": "what is wanted"}, DEFS, [*MODPROBE, *LOADER])


def stale() -> list[tuple[Path, str]]:
    """Return the files that do not hold what they must."""
    return [(path, text) for path, text in files() if not path.exists() or path.read_text(encoding="utf-8") != text]


def main(arguments: list[str]) -> int:
    """Write the files that changed, or with --check name them; return the exit code."""
    outdated = stale()
    if "--check" in arguments:
        sys.stderr.write("".join(f"{path} is stale; run python tools/schemas.py\n" for path, _ in outdated))
        return int(bool(outdated))
    for path, text in outdated:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
