"""Options that choose rights: whoever writes a config would choose their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from krmfn.resource import FieldPath
from krmfn.typed import Any

from . import expressions, shells, structural
from .expressions import Use
from .structural import Node


def chosen(spec: Mapping[str, Any], node: Node, used: Sequence[Use]) -> Iterator[tuple[FieldPath, str]]:
    """Yield each expression in a right whose option may hold any text, and what to do."""
    for use in (use for use in used if _gives_rights(use.path)):
        ends = expressions.sources(spec.get("texts", {}).get(use.parts[0], {})) if use.root == "texts" else (use,)
        options = (structural.at(node, (one.root, *one.parts)) or {} for one in ends if one.root == "spec")
        if not all(map(shells.is_safe, options)):
            why = "chooses rights, so whoever writes the option can take any"
            yield (
                use.path,
                f"{use.text} {why}; write the rights themselves, in a `when` too, or give the option an enum",
            )


def _gives_rights(path: FieldPath) -> bool:
    """Return True for a field of a config, or a part of one, that gives rights."""
    if "extraObjects" in path:
        rest = path[path.index("extraObjects") + 1 :]
        return len(rest) < 2 or rest[1] in ("rules", "roleRef", "subjects")
    rest = path[path.index("serviceAccount") + 1 :] if "serviceAccount" in path else ("",)
    return not rest or rest[0] in ("rules", "clusterRules", "openshift")
