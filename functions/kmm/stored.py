"""A Module's spec as an API server stores it, so that what Git has and what a cluster has can be compared."""

from krmfn.typed import Any

from .crd.facts import Fact, module_facts
from .versions import NEWEST, TARGETS

_EMPTY: tuple[Any, ...] = (None, "", [])


def stored(spec: Any) -> Any:
    """Return a Module's spec with the CRD's defaults and without what is empty, which KMM reads as absent.

    Source: KMM main, config/crd/bases (the defaults); every version's defaults are among these.
    """
    fields = module_facts(TARGETS[NEWEST].table).fields or {}
    return _stored(spec, fields["spec"])


def _stored(value: Any, fact: Fact | None) -> Any:
    if isinstance(value, dict):
        known = (fact and fact.fields) or {}
        defaults = {key: child.default for key, child in known.items() if child.default is not None}
        pairs = {**{key: default for key, default in defaults.items() if key not in value}, **value}
        facts = {key: known.get(key) or (fact and fact.item) for key in pairs}
        return {key: _stored(field, facts[key]) for key, field in pairs.items() if field not in _EMPTY}
    if isinstance(value, list):
        return [_stored(entry, fact and fact.item) for entry in value]
    return value
