"""What to do about a conflict: two cards in one node, a canary, a Module written by hand, a pool inside of a pool."""

import re
from collections.abc import Sequence

from krmfn.printing import some

from .claim import Claim, Conflict

_REMEDY = "let each selector ask for a different value of the same label key"
_GROUP = "kmm.sigs.x-k8s.io/"
"""What the groups of Modules and ManagedClusterModules end with."""
_VERSION = "kmm.node.kubernetes.io/version-module"


def remedy_of(conflict: Conflict, law: str = "") -> str:
    """Return what to type or change about a conflict; behind the usual remedy with the law, if that is given."""
    claims = (*conflict.first, *conflict.second)
    usual = f"{_REMEDY}: {law}" if law else _REMEDY
    if conflict.kind == "driver":
        return _of_drivers(claims) or usual
    if conflict.kind == "pool":
        return _of_pools(claims) or usual
    by_hand = [claim for claim in claims if _GROUP in claim.ref.api_version and not claim.external]
    is_one_of_two = len(by_hand) == 1 and len(claims) == 2
    return f"remove {by_hand[0].ref}, or {usual}" if is_one_of_two else usual


def _of_drivers(claims: Sequence[Claim]) -> str:
    """Return what to do where the drivers are of different devices, or two versions of one; "" for neither."""
    loaded = [claim.kernel_modules for claim in claims]
    names = sorted(frozenset[str]().union(*loaded))
    if all(loaded) and sum(map(len, loaded)) == len(names):
        loads = " and ".join(names) if len(names) == 2 else some(names, len(names))
        return f"give each driver a profile of its own (`profile` in its spec), since they load {loads}"
    if len(claims) != 2 or not _is_canary(*claims):
        return ""
    old, new = sorted(claims, key=lambda claim: _parts(claim.version))
    label = f"{_VERSION}.{old.module[0]}.{old.module[1]}"
    return (
        f"keep {old.ref} alone, with `upgrade: {{ordered: true}}` and driverVersion {new.version}: a node gets that "
        f"version once its label {label} says {new.version}"
    )


def _parts(version: str) -> list[tuple[int, str]]:
    """Return a version in parts that sort as people count: 2.9 before 2.10."""
    return [(int(part) if part.isdecimal() else -1, part) for part in re.split(r"[^0-9A-Za-z]+|(?<=\d)(?=\D)", version)]


def _is_canary(claim: Claim, other: Claim) -> bool:
    """Return True for two versions of one driver, of which one selects nodes of the other."""
    labels, others = claim.selector.items(), other.selector.items()
    is_inside = labels <= others or others <= labels
    is_same = bool(claim.kernel_modules) and claim.kernel_modules == other.kernel_modules
    is_here = not (claim.external or other.external or claim.of_hub or other.of_hub)
    versions = {claim.version, other.version}
    return is_inside and is_same and is_here and len(versions) == 2 and "" not in versions


def _of_pools(claims: Sequence[Claim]) -> str:
    """Return which label tells a pool from one inside of it; "" where no pool is inside of the other."""
    wide, narrow, *rest = sorted(claims, key=lambda claim: len(claim.selector))
    extra = sorted(narrow.selector.items() - wide.selector.items())
    if rest or not extra or not wide.selector.items() < narrow.selector.items():
        return ""
    key, value = extra[0]
    return f"let pool {wide.pool} ask for another value of {key} than {value or repr('')}, which pool {narrow.pool} has"
