"""The JSON Schema of the configuration file `.krmfn.yaml`, by which it is judged, and which editors get."""

from ..formats.findings import FORMATS

_TEXTS = {"type": "array", "items": {"type": "string", "minLength": 1}}
_PATHS = {"minItems": 1, "items": {"type": "string", "minLength": 1}}
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": ".krmfn.yaml: which roots make a cluster, and what is not read",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "clusters": {
            "description": "the clusters by their names; they go before what Applications and Kustomizations say",
            "type": "object",
            "propertyNames": {
                "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$",
                "x-says": "letters, digits, dots, dashes and underscores: it becomes the name of a folder",
            },
            "additionalProperties": {
                "description": "the roots and inventories of a cluster, relative to this file: a list of paths, or "
                "what has them under paths",
                "type": ["array", "object"],
                **_PATHS,
                "required": ["paths"],
                "additionalProperties": False,
                "properties": {
                    "paths": {
                        "description": "roots and inventories, relative to this file",
                        "type": "array",
                        **_PATHS,
                    },
                    "labels": {
                        "description": "the labels of the cluster, by which a hub chooses its spokes",
                        "type": "object",
                        "additionalProperties": {"type": "string"},
                    },
                },
            },
        },
        "exclude": {
            "description": "what is not read: patterns with the syntax of a .gitignore, relative to this file",
            **_TEXTS,
        },
        "format": {
            "description": "what `krmfn check` prints where --format is not given",
            "enum": list(FORMATS),
        },
        "profiles": {
            "description": "files and folders with Profiles for all clusters",
            **_TEXTS,
        },
    },
}
