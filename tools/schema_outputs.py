"""JSON Schemas of what krmfn prints as JSON under a format's name: `krmfn.dev/check/v1` and its kin."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
_VERSION = "https://json-schema.org/draft/2020-12/schema"
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}


def closed(optional: tuple[str, ...] = (), /, **properties: Schema) -> Schema:
    """Return an object with these keys and no other, each there unless it is optional."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


def listed(entry: Schema) -> Schema:
    """Return a list."""
    return {"type": "array", "items": entry}


def nullable(value: Schema) -> Schema:
    """Return a value that is null where it does not apply or is not known."""
    return {**value, "type": [value["type"], "null"]}


def one_of(*values: str) -> Schema:
    """Return one of some words."""
    return {"enum": list(values)}


def named(format_: str, schema: Schema) -> Schema:
    """Return the schema of a document that begins with its format."""
    name = format_.split("/")[1]
    head = {"$schema": _VERSION, "$id": f"https://krmfn.dev/schemas/outputs/{name}-v1.schema.json"}
    title = f"What krmfn prints under the format {format_}"
    required, properties = ["format", *schema["required"]], {"format": one_of(format_), **schema["properties"]}
    return {**head, "title": title, **schema, "required": required, "properties": properties}


REF = closed(apiVersion=TEXT, kind=TEXT, namespace=TEXT, name=TEXT)
_FINDING: dict[str, Schema] = {
    "id": TEXT,
    "rule": nullable(TEXT),
    "severity": one_of("error", "warning", "info"),
    "message": TEXT,
    "remedy": nullable(TEXT),
    "facts": {"type": "object", "additionalProperties": {"type": ["string", "integer", "array"], "items": TEXT}},
    "ref": nullable(REF),
    "path": nullable(TEXT),
    "file": nullable(TEXT),
    "line": nullable({"type": "integer", "minimum": 1}),
    "column": nullable({"type": "integer", "minimum": 1}),
    "related": listed(
        closed(
            file=TEXT,
            line=nullable({"type": "integer", "minimum": 1}),
            column=nullable({"type": "integer", "minimum": 1}),
        )
    ),
    "admission": nullable(TEXT),
    "first": FLAG,
    "unlisted": nullable(COUNT),
}
_SEVERITIES = {"error": COUNT, "warning": COUNT, "info": COUNT}
_COUNTS = dict.fromkeys(("resources", "files", "excluded", "foreign", "baseline", "hidden", "turnedOff"), COUNT)
_GAPS = listed(
    closed(
        kind={"enum": ["clusters", "roots", "files", "kinds", "areas"]},
        subject=TEXT,
        reason=TEXT,
        names=listed(TEXT),
        number=COUNT,
        meant=FLAG,
    )
)
CHECK = named(
    "krmfn.dev/check/v1",
    closed(
        clusters=listed(TEXT),
        findings=listed(closed(**_FINDING, clusters=listed(TEXT))),
        notJudged=_GAPS,
        summary=closed(**_SEVERITIES, **_COUNTS, kinds={"type": "object", "additionalProperties": COUNT}),
    ),
)

_IMAGE = closed(
    ("waiting",),
    image=TEXT,
    nodes=nullable(COUNT),
    waiting=COUNT,
    madeInCluster=FLAG,
    neededBy=listed(closed(**REF["properties"], **{"for": TEXT})),
)
_KERNEL = closed(kernel=nullable(TEXT), nodes=COUNT, mapping=nullable(COUNT), failure=nullable(TEXT))
_CONFLICT = closed(
    severity=TEXT,
    rule=TEXT,
    reason=TEXT,
    nodes=listed(TEXT),
    sides=listed(closed(claimant=TEXT, location=TEXT)),
    hiddenSides=COUNT,
    labels=listed(closed(key=TEXT, values=listed(nullable(TEXT)))),
)
_ROW = closed(
    ("profile", "runs", "wanted", "agrees", "doubt"),
    cluster=nullable(TEXT),
    node=TEXT,
    kernel=nullable(TEXT),
    state=TEXT,
    loaded=nullable(FLAG),
    runs=nullable(TEXT),
    wanted=nullable(TEXT),
    agrees=nullable(FLAG),
    config=nullable(REF),
    pool=nullable(TEXT),
    profile=TEXT,
    module=nullable(REF),
    mapping=nullable(COUNT),
    mappingText=nullable(TEXT),
    image=nullable(TEXT),
    inTreeModulesToRemove=listed(TEXT),
    taints=listed(TEXT),
    reason=nullable(TEXT),
    doubt=nullable(TEXT),
)
NODES = named(
    "krmfn.dev/nodes/v1",
    closed(
        whole=FLAG,
        kernel=nullable(TEXT),
        clusters=listed(
            closed(
                cluster=TEXT,
                hasErrors=FLAG,
                hasNodes=FLAG,
                unknownBecause=nullable(TEXT),
                modules=listed(closed(module=REF, madeFrom=TEXT, mappings=listed(TEXT), kernels=listed(_KERNEL))),
                configsWithoutModule=listed(REF),
                conflicts=listed(_CONFLICT),
                hiddenConflicts=COUNT,
                images=listed(_IMAGE),
                imagesUnknownBecause=nullable(TEXT),
                rows=listed(_ROW),
            )
        ),
    ),
)

_FIELD = closed(("old", "new"), path=TEXT, old={}, new={})
_CHANGES = closed(
    ("clusters", "failed", "first"),
    first=listed(TEXT),
    clusters=listed(closed(name=TEXT, nodes=nullable({"type": "object", "additionalProperties": COUNT}))),
    changes=listed(closed(("clusters",), clusters=listed(TEXT), change=TEXT, ref=REF, fields=listed(_FIELD))),
    effects=listed(
        closed(
            ("cluster", "before", "after"),
            cluster=TEXT,
            effect=TEXT,
            ref=REF,
            nodes=listed(TEXT),
            events=listed(TEXT),
            reason=TEXT,
            before=nullable(TEXT),
            after=nullable(TEXT),
            message=TEXT,
        )
    ),
    notes=listed(closed(("clusters",), clusters=listed(TEXT), **_FINDING)),
    notJudged=_GAPS,
    summary={"type": "object", "required": [*_SEVERITIES], "additionalProperties": COUNT},
    failed=listed(TEXT),
)
_NODES = closed(
    known=COUNT, unknown=COUNT, planned=COUNT, waiting=COUNT, gained=COUNT, lost=COUNT, reloaded=COUNT, kept=COUNT
)
_NUMBERS = {"errors": COUNT, "warnings": COUNT, "infos": COUNT, "nodes": _NODES}
_VERDICT = closed(
    **_NUMBERS,
    headline=nullable(TEXT),
    clusters=listed(closed(name=TEXT, judged=FLAG, **_NUMBERS)),
    notJudged=_GAPS,
)
CI = named(
    "krmfn.dev/ci/v1",
    closed(
        ("diff",),
        exit={"enum": [0, 1, 2]},
        verdict=_VERDICT,
        changes=FLAG,
        failOn=listed(TEXT),
        base=nullable(TEXT),
        check={"$ref": "check-v1.schema.json"},
        diff=_CHANGES,
    ),
)
OUTPUTS = {"check": CHECK, "nodes": NODES, "ci": CI}
"""The schemas by the name in the middle of the format."""
