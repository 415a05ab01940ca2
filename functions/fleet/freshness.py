"""Whether an inventory that is kept in Git still says what is asked of it: `inventory --check`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import date

from krmfn import Field, Manifest, Result, error

from ..kmm.lookup import text
from .inventory import label_keys


def check(manifest: Manifest, asked: Collection[str], max_age: int | None, today: str) -> Iterator[Result]:
    """Yield an error for labels that are asked for and not held, and for an inventory that is no longer valid or old.

    It is old after `max_age` days; `today` is a day as `rules.today` returns it. The manifest may be wrong: what
    `check` says of it is not said here.
    """
    spec = manifest.get("spec")
    held = (
        label_keys(manifest) if isinstance(spec, dict) and isinstance(spec.get("labelKeys"), list) else frozenset[str]()
    )
    missing = sorted(set(asked) - held) if held is not None else []
    if missing:
        remedy = "make it again with `krmfn inventory --for`"
        yield error(f"does not hold {', '.join(missing)}, by which nodes are selected; {remedy}", field=Field("spec"))
    if (until := text(spec, "validUntil")) and until < today:
        yield error(f"was valid until {until}; make it again", field=Field("spec.validUntil", until))
    if max_age is None:
        return
    taken = text(spec, "takenOn")
    try:
        age = (date.fromisoformat(today) - date.fromisoformat(taken)).days
    except ValueError:
        yield error(
            "does not say when it was taken (spec.takenOn); make it again with `--taken-on`", field=Field("spec")
        )
        return
    if age > max_age:
        yield error(f"was taken {age:,} days ago, on {taken}; make it again", field=Field("spec.takenOn", taken))
