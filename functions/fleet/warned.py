"""The warnings in a dump: of several about one object the newest counts, in whichever order they stand."""

from krmfn import Manifest

from ..kmm.lookup import Table, table, text

Events = dict[tuple[str, str, str], tuple[str, str]]
"""Time and text of the newest warning about an object, by namespace, name and uid: pods can have had the same name."""


def subject_of(event: Manifest) -> Table:
    """Return which object an event is about."""
    return table(event, "involvedObject") or table(event, "regarding")


def sentence(event: Manifest) -> tuple[str, str]:
    """Return when an event was last seen, and its reason with its words."""
    times = [text(event, "lastTimestamp"), text(event, "deprecatedLastTimestamp"), text(event, "eventTime")]
    times += [text(table(event, "series"), "lastObservedTime")]
    words = text(event, "message") or text(event, "note")
    return max(times) or text(table(event, "metadata"), "creationTimestamp"), f"{text(event, 'reason')}: {words}"


def add(events: Events, event: Manifest) -> None:
    """Add a warning, unless a newer one about the same object is there."""
    subject = subject_of(event)
    key = text(subject, "namespace"), text(subject, "name"), text(subject, "uid")
    events[key] = max(events.get(key, ("", "")), sentence(event))
