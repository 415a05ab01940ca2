"""Why it is not known what a change does on the nodes, and where that is written."""

from krmfn import Place, Result, info
from krmfn.typed import NamedTuple

from ..finding import Locate
from ..fleet import rules
from ..fleet.cluster import Cluster
from ..sentence import Sentence
from ..sources import of_field


class Doubt(NamedTuple):
    """Why the effects of a change are not known."""

    reason: Sentence
    place: Place | None = None
    """Where a reader mends it: the line of the inventory; None where that is more than one."""
    is_old: bool = False
    """Whether that is the side before the change."""

    def located(self, locate: Locate) -> "Doubt":
        """Return the doubt; one about the side before the change with the names that `locate` gives its files."""
        if not self.is_old:
            return self
        finding = locate(info(self.reason, place=self.place))
        return self._replace(reason=finding.sentence, place=finding.place)


def doubt(before: Cluster, after: Cluster) -> Doubt | None:
    """Return why the effects on the nodes are not known; None when they are."""
    # past its last day the inventory of the new side may be wrong; the old side is of the past anyway
    expired = next(rules.input_findings(Cluster(after.fleet._replace(findings=())), rules.today()), None)
    if problem := _problem(after):
        return problem
    if problem := _problem(before):
        return problem._replace(reason=("before this change ", *problem.reason), is_old=True)
    return Doubt((f"{expired.ref} {expired.text}",), _place_of(expired)) if expired else None


def _problem(cluster: Cluster) -> Doubt | None:
    """Return why the nodes of a cluster, or their labels, are not known; None when they are."""
    finding = next((finding for finding in cluster.fleet.findings if finding.severity == "error"), None)
    if finding:
        reason = f"{finding.ref}: {finding.text}" if finding.ref else finding.text
        return Doubt((reason,), _place_of(finding))
    missing = cluster.fleet.missing_labels_problem(key for driver in cluster.all_drivers for key in driver.keys)
    # without a place: several clusters that lack one label have one finding, and KRM603 has the place in each
    return Doubt((*missing[0], "; ", missing[1])) if missing else None


def _place_of(finding: Result) -> Place | None:
    """Return the place of a finding, for one about something else."""
    place, path = finding.place, finding.field.path if finding.field else ""
    return of_field(place, finding.ref, path) if place and finding.ref else place
