"""What KMM does next with one Module on one node: the events of its controllers, played without a cluster.

Three machines take part. The Module reconciler decides whether the Module is in a node's NodeModulesConfig (`View`),
the label reconciler takes it out when the version label moves, and the NodeModulesConfig reconciler unloads and loads
until what is loaded is what is in there; it loads again whatever is in there after a reboot.
Source: KMM v2.6.0 and main (de3f8c9), internal/controllers/{module,node_label_module_version,nmc}_reconciler.go; held
against their recordings by tests/functions/kmm/test_scheduling.py.
"""

from collections.abc import Mapping

from krmfn.typed import Any, Literal, NamedTuple

from .module import Module
from .resolution import Resolution, compared_fields

Action = Literal["load", "leave", "remove", "fail", "ignore", "gone"]
"""What the Module reconciler decides for a node:

load: the entry is to be there; leave: the node's label names another version, and what is there stays; remove: nothing
is to be there; fail: it fails for some node, and does nothing on any; ignore: the Module has no loader, and what is
there stays; gone: the node is not there.
"""
Word = Literal["gained", "lost", "reloaded", "kept", "blocked", "waiting", "unknown", "none"]
"""What a change does with a Module on a node:

gained: it is loaded; lost: it is loaded no more, or for a kernel that the node does not run; reloaded: it is unloaded
and loaded, or loaded again after a reboot; kept: it stays as it is; blocked: KMM fails, or the Module selects the node
and nothing is loaded; waiting: the same, but only for a time; unknown: it depends on what was loaded before; none:
nothing was loaded and nothing is.
"""


Entry = Mapping[str, Any]
"""A Module in a node's NodeModulesConfig: the fields that KMM compares. A difference is an unload and a load."""


class View(NamedTuple):
    """A node as KMM sees it for one Module, and what the Module reconciler decides."""

    action: Action
    kernel: str = ""
    """As the node reports it, a trailing `+` included."""
    entry: Entry | None = None
    """Of action `load`."""
    reason: str = ""
    """Why nothing is loaded."""
    label: str = ""
    """The value of the node's version label; "" is none."""
    version: str = ""
    """The Module's version; "" where it is not ordered."""
    is_selected: bool = True
    is_waiting: bool = False
    """Whether what keeps the Module from loading is expected to end."""
    failing: str = ""
    """Of action `fail`: the name of the node that KMM fails on."""
    is_deselected: bool = False
    """Whether nothing is loaded since the Module does not select the node."""
    is_unknown: bool = False
    """Whether the Module selects a node whose kernel is not known, so that nobody knows whether it is loaded."""

    @property
    def is_older(self) -> bool:
        """Whether another version may be loaded: the label names another than the Module, and nothing is unloaded."""
        return self.action in ("leave", "fail") and bool(self.version and self.label) and self.label != self.version


class Event(NamedTuple):
    """What a worker pod of KMM's does on a node."""

    action: Literal["Load", "Unload"]
    image: str

    def __str__(self) -> str:
        return f"{self.action} {self.image}"


class Move(NamedTuple):
    """What KMM does with a Module on a node in one step."""

    effect: Word
    events: tuple[Event, ...]
    """In their order."""
    reason: str
    before: Entry | None
    after: Entry | None
    """What is loaded before and after."""
    is_known: bool = True
    """Whether None in `before` or `after` means that nothing is loaded; else an older version may be."""
    is_deselected: bool = False
    """Whether the reason is that the Module selects the node no more."""


def entry(module: Module, kernel: str, resolution: Resolution) -> Entry:
    """Return what KMM writes into the NodeModulesConfig of a node with this kernel."""
    mapping = module.mappings[resolution.mapping] if resolution.mapping is not None else {}
    fields = {**compared_fields(module, mapping), "containerImage": resolution.image or ""}
    return {"kernelVersion": kernel.removesuffix("+"), **fields}


def play(before: Entry | None, old: View | None, new: View, is_known: bool = True) -> Move:
    """Return what KMM does when its view of a node and a Module changes from `old` to `new`.

    `before` is what is loaded; None with `is_known` False is nothing or an older version, nobody knows which.
    `old` is None where the node or the Module was not there.
    """
    is_rebooted = bool(old and old.kernel and new.kernel and old.kernel != new.kernel)
    is_relabelled = bool(old and new.version and old.label != new.label)
    is_left_alone = new.action in ("fail", "ignore") or (new.action == "leave" and not is_relabelled)
    after = new.entry if new.action == "load" else before if is_left_alone else None
    unloads = new.action != "gone" and not is_rebooted and (after != before or (is_relabelled and new.action == "load"))
    events = [Event("Unload", before["containerImage"])] if before and unloads else []
    events += [Event("Load", after["containerImage"])] if after and (unloads or is_rebooted) else []
    move = Move("none", tuple(events), new.reason, before, after, is_deselected=new.is_deselected)
    if not is_known:
        return _unknown_move(move, old or new, new, is_relabelled, is_rebooted)
    if before and after:
        return _move_of_loaded(move, before, after, new, is_rebooted)
    if before:
        return move._replace(effect="lost", reason=_label_reason(old, new) if is_relabelled and old else new.reason)
    if after:
        return move._replace(effect="gained", reason=after["containerImage"])
    if not new.is_selected or new.action in ("ignore", "gone"):
        return move
    if new.action == "leave":
        return move._replace(effect="waiting", reason=f"nothing is loaded until its version label names {new.version}")
    return move._replace(effect="waiting" if new.is_waiting else "blocked")


def play_unknown(old: View | None, new: View) -> Move:
    """Return the move where the kernel of a node is not known, before or after a change of what KMM sees."""
    reason = new.reason
    if new.entry:
        reason = f"{new.entry['containerImage']} is loaded"
    if old and old.is_unknown and not new.is_unknown:
        reason += "; whether it was loaded before is not known, since the node's kernel was not"
    return Move("unknown", (), reason, None, new.entry, is_known=False)


def _move_of_loaded(move: Move, before: Entry, after: Entry, new: View, is_rebooted: bool) -> Move:
    """Return the move with its effect and reason where something is loaded before and after."""
    running, image = new.kernel.removesuffix("+"), after["containerImage"]
    if not move.events:
        return move._replace(effect="blocked" if new.action == "fail" else "kept")
    if (kernel := after["kernelVersion"]) != running:
        reason = f": {new.reason}" if new.reason else ""
        text = f"after the reboot KMM loads {image}, made for kernel {kernel}, on kernel {running}{reason}"
        return move._replace(effect="lost", reason=text, is_deselected=False)
    if is_rebooted:
        return move._replace(effect="reloaded", reason=f"{image} for kernel {running}")
    changed = [name for name in after if before[name] != after[name]]
    if "containerImage" in changed:
        return move._replace(effect="reloaded", reason=f"{image} in place of {before['containerImage']}")
    reason = f"another {', '.join(changed)}" if changed else "its version label has moved"
    return move._replace(effect="reloaded", reason=reason)


def _label_reason(old: View, new: View) -> str:
    """Return why a Module is lost after a change of the node's version label."""
    if new.action != "leave":
        return new.reason
    return (
        f"its version label moved from {old.label} to {new.label}, which is not the Module's version {new.version}, so "
        "KMM unloads it and loads nothing"
    )


def _unknown_move(move: Move, old: View, new: View, is_relabelled: bool, is_rebooted: bool) -> Move:
    """Return the move where either nothing was loaded, or the version that the label named."""
    word: Word = "unknown"
    doubt = f"whether {f'version {old.label}' if old.label else 'another version'} was loaded before is not known"
    if not old.label:
        doubt += ", since no node had the version label"
    if move.after:
        reason = f"{move.after['containerImage']} is loaded"
    elif new.action == "leave" and is_relabelled:
        word, reason = "lost", _label_reason(old, new)
    elif new.action in ("leave", "fail") and is_rebooted:
        word, doubt = "lost", "whether that is loaded is not known"
        reason = (
            f"its version label names {old.label} while it boots kernel {new.kernel}, so after the reboot KMM loads "
            f"what it has of version {old.label}, made for kernel {old.kernel}"
        )
    elif new.action == "leave":
        reason = f"nothing is loaded until its version label names {new.version}"
    else:
        word, reason = ("blocked" if new.is_selected else "unknown") if new.action == "fail" else "lost", new.reason
    return move._replace(effect=word, reason=f"{reason}; {doubt}", is_known=False, is_deselected=False)


def with_doubt(move: Move, old: View, new: View) -> Move:
    """Return the move where KMM fails no more: what was loaded before it failed is not known, and changes only now."""
    failed = f"before KMM failed on {old.failing}" if old.failing else "of a Module that the spoke took before"
    doubt = f"what was loaded {failed} is not known"
    if move.after and not move.before:
        return move._replace(reason=f"{move.reason}; {doubt}", is_known=False)
    if not move.before and (new.action == "remove" or (new.action == "leave" and old.label != new.label)):
        return move._replace(effect="lost", reason=f"{new.reason}; {doubt}", is_known=False, is_deselected=False)
    return move
