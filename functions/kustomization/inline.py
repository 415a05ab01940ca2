"""Resources that are written out where a path may stand: functions, and patches of the old kind.

kustomize first reads such a text as resources and, when it finds none in it, takes it for a path
(api/internal/target/kusttarget.go, api/internal/builtins/PatchStrategicMergeTransformer.go). So it has to be a resource
for every reader.
"""

from __future__ import annotations

from functools import partial

from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.resource import Place
from krmfn.results import Field, Result, error

from . import ambiguity
from .documents import documents, unreadable
from .references import Reference


def read(reference: Reference, rule: str, is_function: bool) -> tuple[list[Item], list[Result]]:
    """Return the resources in a text that is written out, and what is wrong with it; `rule`: what no YAML breaks."""
    place = reference.place or Place()
    text = reference.text.encode(errors="surrogatepass")
    try:
        items = list(documents(place.path, text, reference.first, reference.column))
    except KrmfnError as failure:
        finding = unreadable(failure, place.path, rule)
        return [], [finding._replace(field=Field(reference.field), place=place)]
    findings = list(ambiguity.findings(text, items, place._replace(line=reference.first), is_function))
    findings += [_nameless(item, reference) for item in items if not _is_resource(item)]
    if not reference.column:  # quoted or folded: its lines are not those of the file
        findings = [finding._replace(field=Field(reference.field), place=place) for finding in findings]
        for item in items:
            item.file = place._replace(finder=partial(_there, place))
    return items, findings


def _is_resource(item: Item) -> bool:
    """Return True for what kustomize takes for a resource (GetValidatedMetadata in kyaml/yaml/rnode.go)."""
    return bool(item.kind) and (bool(item.name) or item.kind.endswith("List"))


def _nameless(item: Item, reference: Reference) -> Result:
    message = (
        f"{reference.field} has no {'metadata.name' if item.kind else 'kind'}, and kustomize reads the text of such "
        "a resource as a path; add it, or move the resource into a file"
    )
    return error(message, rule=ambiguity.RULE, field=Field(reference.field), place=item.place)


def _there(place: Place, result: Result) -> Result:
    return result._replace(place=place)
