"""The commands `schema`, `crd` and `kustomize-config`: what editors, clusters and kustomize need to know."""

import argparse
import json
from collections.abc import Sequence

from krmfn import KrmfnError, printing
from krmfn.printing import did_you_mean, joined, json_text
from krmfn.typed import Any, NamedTuple
from krmfn.yamltext import emit

from .. import options
from ..command import PRINTED, Command, Context
from ..profile import defaulting, refusals, structural
from ..profile.product import Profile
from ..rendering.kinds import text

CRDS = ("deviceconfigs.krmfn.dev", "deviceconfigs.example.com", "ptemplates.pt.example.com")
_KINDS = "DeviceConfig DeviceConfig.example.com Ptemplate RenderDeviceConfigs NodeInventory Profile"
SCHEMAS = {kind: kind.lower().replace(".", "-", 1) for kind in _KINDS.split()}
"""Our kinds by the names that `schema` takes, with the schema of each."""
_CONFIGURATION = ".krmfn.yaml"
_NAMES = (*SCHEMAS, _CONFIGURATION)


class Request(NamedTuple):
    """What is asked of `schema`."""

    kind: str
    paths: tuple[str, ...]


class CrdRequest(NamedTuple):
    """What is asked of `crd`."""

    name: str
    paths: tuple[str, ...]


class Nothing(NamedTuple):
    """What is asked of `kustomize-config`."""


def _arguments(parser: argparse.ArgumentParser) -> None:
    known = f"{', '.join(_NAMES)} (default: DeviceConfig), or the name of a Profile in PATHs"
    kind = parser.add_argument("kind", nargs="?", default="DeviceConfig", metavar="KIND", help=known)
    setattr(kind, options.OFFERED, tuple(_NAMES))  # any other name may be that of a Profile
    parser.add_argument("paths", nargs="*", default=[], metavar="PATH", help="where the Profile is")


def _crd_arguments(parser: argparse.ArgumentParser) -> None:
    help_ = "a Profile in PATHs, for its own kind (default: our kinds)"
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help=help_)
    parser.add_argument("paths", nargs="*", default=[], metavar="PATH", help="where the Profile is")


def _schema(_: Context, args: Request) -> str:
    """Return the JSON Schema of a kind, of .krmfn.yaml or of a Profile's configs. Raises KrmfnError as read_profile."""
    if args.paths:
        return _schema_of(_profile(args.kind, args.paths))
    if args.kind == _CONFIGURATION:
        from ..cluster.config_schema import SCHEMA  # here: nobody else asks for it

        return json_text(SCHEMA, 2) + "\n"
    if args.kind not in SCHEMAS:
        all_kinds = f"there are {', '.join(_NAMES)}; for a Profile pass its PATH, too"
        raise KrmfnError(joined(f"unknown kind {args.kind}", did_you_mean(args.kind, _NAMES, all_kinds)))
    return text(f"{SCHEMAS[args.kind]}.schema.json")


def _crds(_: Context, args: CrdRequest) -> str:
    """Return the CustomResourceDefinitions of our kinds, or a Profile's. Raises KrmfnError as read_profile."""
    if not args.name:
        return "---\n".join(text(f"crds/{name}.yaml") for name in CRDS)
    if not args.paths:
        raise KrmfnError(f"pass the PATH that holds the Profile: krmfn crd {args.name} PATH")
    return _crd_of(_profile(args.name, args.paths))


def _schema_of(profile: Profile) -> str:
    """Return the JSON Schema of the configs of a Profile, for editors."""
    if profile.by_version:
        return _schema_of_versions(profile)
    schema = structural.json_schema(defaulting.as_written(profile.options))
    metadata = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    if profile.kind:
        group, kind = profile.kind
        versions = [f"{group}/{version}" for version in profile.versions]
        head = {"apiVersion": {"enum": versions}, "kind": {"const": kind}, "metadata": metadata, "status": {}}
        schema["properties"] = {**head, **schema.get("properties", {})}
    else:
        options = schema.get("properties", {}).get("spec", {"type": "object"})
        schema = json.loads(text("deviceconfig.schema.json"))
        spec = schema["properties"]["spec"]
        spec["properties"] |= {"profile": {"const": profile.name}, "options": options}
        spec["required"] = [*spec.get("required", ()), "profile"]
    schema["required"] = list(dict.fromkeys(["apiVersion", "kind", "metadata", *schema.get("required", ())]))
    title = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": profile.title}
    facts = {key: value for key, value in schema.items() if key not in ("$id", "title")}
    return json_text({**facts, **title}, 2) + "\n"


def _schema_of_versions(profile: Profile) -> str:
    """Return the JSON Schema of configs whose versions have a schema each."""
    parts = [json.loads(_schema_of(part)) for part in profile.by_version.values()]
    cases = [{"if": {"properties": {"apiVersion": part["properties"]["apiVersion"]}}, "then": part} for part in parts]
    group = profile.spec["for"]["group"]
    known = {"apiVersion": {"enum": [f"{group}/{version}" for version in profile.versions]}}
    head = {"$schema": parts[0]["$schema"], "title": profile.title, "type": "object"}
    return json_text({**head, "required": ["apiVersion"], "properties": known, "allOf": cases}, 2) + "\n"


def _crd_of(profile: Profile) -> str:
    """Return the CustomResourceDefinition of a Profile's kind. Raises KrmfnError where it has none."""
    target = profile.spec.get("for")
    if not target:
        name = profile.name
        raise KrmfnError(f"Profile {name} is for no kind of its own; its configs are DeviceConfigs of krmfn.dev")
    kind, lower = target["kind"], target["kind"].lower()
    plural = target.get("plural", printing.plural(lower))
    versions = [_version_of(profile.by_version.get(name, profile), name) for name in profile.versions]
    versions[0]["storage"] = True
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": lower}
    spec = {"group": target["group"], "names": names, "scope": target.get("scope", "Namespaced"), "versions": versions}
    top = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return emit.dump({**top, "metadata": {"name": f"{plural}.{target['group']}"}, "spec": spec})


def _version_of(profile: Profile, name: str) -> dict[str, Any]:
    """Return a version of a CustomResourceDefinition; `profile` is the one for that version."""
    properties = {**profile.options.get("properties", {})}
    properties.setdefault("status", {"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    head = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
    schema = {**profile.options, "properties": {**head, **properties}}
    if rules := refusals.validations(profile.spec, profile.options):
        schema["x-kubernetes-validations"] = [*schema.get("x-kubernetes-validations", ()), *rules]
    shared = {"subresources": {"status": {}}, "schema": {"openAPIV3Schema": schema}}
    return {"name": name, "served": True, "storage": False, **shared}


def _profile(name: str, paths: Sequence[str]) -> Profile:
    """Return the Profile of this name. Raises KrmfnError as `read_profile`, and for the name of an option."""
    from .explain_inputs import read_profile  # here: most ask for kinds of krmfn's own

    profile, path = read_profile(name, paths)
    if path:
        raise KrmfnError(f"name the Profile alone: {profile.name}")
    return profile


_OF_SCHEMA = ("DeviceConfig > deviceconfig.schema.json", "amd-gpu profiles > amd.schema.json")
COMMAND = Command(_OF_SCHEMA, _arguments, _schema, Request, exits=PRINTED)
_OF_CRD = ("| kubectl apply -f -", "amd-gpu profiles | kubectl apply -f -")
CRD = Command(_OF_CRD, _crd_arguments, _crds, CrdRequest, exits=PRINTED)
_OF_CONFIG = ("> kustomize-configurations.yaml",)


def _no_arguments(_: argparse.ArgumentParser) -> None:
    return


def _configurations(_: Context, _request: Nothing) -> str:
    return text("kustomize-configurations.yaml")


KUSTOMIZE_CONFIG = Command(_OF_CONFIG, _no_arguments, _configurations, Nothing, exits=PRINTED)
