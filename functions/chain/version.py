"""The link of ordered upgrades: the node's version label says the Module's version."""

from krmfn.printing import closest

from .held import all_of, holders, holding
from .link import Link, Subject, holds, kubectl


def judge(subject: Subject) -> Link:
    """Return whether the version label lets KMM load the planned version."""
    driver, outcome = subject.driver, subject.outcome
    if not driver.version_label:
        return holds()
    target, value = driver.module.version, subject.node.labels.get(driver.version_label, "")
    evidence = [f"label {driver.version_label}: {value or 'not there'}"]
    if outcome.state not in ("not labelled", "other version"):
        return holds(*evidence)
    label = f"{driver.version_label}={target}"
    if subject.keeps:
        reason = f"runs {value} until its label changes; wanted {target}"
        calm = "nothing is wrong: the node waits for its turn in the ordered upgrade"
        return Link("broken", [calm, *evidence], (reason,), waits=True)
    if not value:
        command = kubectl("label", "node", subject.node.name, label)
        if subject.is_ready:
            held = holders(subject)
            words = f"; {holding(held)} the kernel module" if held else ""
            return Link(
                "broken", evidence + all_of(held), (f"has no version label, so KMM unloads it{words}",), command
            )
        reason = f"is not loaded: the node has no version label; wanted {target}"
        return Link("broken", evidence, (reason,), command, "no version label", shared="lack of a label")
    known = sorted({*_versions(subject), target} - {value})
    guess = closest(value, known)
    hint = f"; did you mean {guess}?" if guess and value not in _versions(subject) else ""
    reason = f"is not loaded: its version label says {value}, not {target}{hint}"
    command = kubectl("label", "node", subject.node.name, label, "--overwrite")
    return Link("broken", evidence, (reason,), command, f"version label {value}", shared="version label")


def _versions(subject: Subject) -> set[str]:
    """Return the versions that run somewhere: those of the labels on nodes with the ready label."""
    driver = subject.driver
    labels = (manifest["metadata"]["labels"] for manifest in subject.live.nodes.values())
    return {
        str(of_node[driver.version_label]) for of_node in labels if {driver.version_label, driver.ready} <= {*of_node}
    }
