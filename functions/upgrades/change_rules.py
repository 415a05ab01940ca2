"""Every rule about a change of ours, in the order of their ids; KMM's own is among KMM's (KMM002)."""

from __future__ import annotations

from . import build_rules, node_rules, pod_rules, refusal_rules, reload_rules, removal_rules

_ROOMS = (refusal_rules, reload_rules, removal_rules, node_rules, build_rules, pod_rules)
RULES = tuple(sorted((rule for room in _ROOMS for rule in room.RULES), key=lambda rule: rule.id))
