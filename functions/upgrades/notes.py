"""What `diff` says about a plan: the findings of all rules about changes, but for those that are turned off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from krmfn import Item, Manifest, Ref, ResourceList, Result
from krmfn.ownership import Id, mark_of
from krmfn.resource import annotations_of, ref
from krmfn.rule import apply

from ..kmm.versions import target
from ..plan import Plan
from ..rendering import function_config, ignoring
from ..rendering.generated import Finding
from ..run import run_of
from .change_rules import RULES
from .impact import impact_of
from .refusal_rules import version_is_kept


def notes(plan: Plan, resources: ResourceList) -> list[Result]:
    """Return the findings about a plan, errors first: an error is refused by the cluster or never comes to an end.

    `resources` is the new list: its functionConfig counts, and so do its annotations that turn rules off.
    """
    config, _ = function_config.read(resources)
    by_id = {item.ref.id: item for item in resources.items}
    findings: list[Finding] = []
    owners: dict[Ref, Item] = {}
    manifests = {ref(manifest).id: manifest for manifest in (*plan.old, *plan.new)}
    external = run_of(resources).external
    theirs = (item.manifest for item in external.items) if external else ()
    impact = impact_of(plan, target(config.kmm_version), theirs)
    for finding in (*version_is_kept(impact), *apply(RULES, impact)):
        source = _source(finding, manifests, by_id)
        if source:
            owners[source.ref] = source
            if finding.ref == source.ref:
                finding = source.located(finding)
            else:  # the new value may stand in a field of the config
                field = finding.field and finding.field._replace(current=finding.field.proposed)
                finding = finding._replace(place=source.place_of(field))
        findings.append((source.ref if source else None, finding))
    shown = list(ignoring.kept(findings, owners, config, Counter()))
    return [
        finding for severity in ("error", "warning", "info") for _, finding in shown if finding.severity == severity
    ]


def _source(finding: Result, manifests: Mapping[Id, Manifest], by_id: Mapping[Id, Item]) -> Item | None:
    """Return the item that a finding is about or, when that is or was generated, the one it is generated from."""
    own = finding.ref.id if finding.ref else ("", "", "", "")
    mark = mark_of(annotations_of(manifests.get(own, {})))
    return (by_id.get(mark.owner) if mark else None) or by_id.get(own)
