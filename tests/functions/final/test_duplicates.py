"""The words about a resource that reaches a cluster twice: its final name, and both roots."""

from __future__ import annotations

from krmfn_functions.final.judge import judge
from krmfn_functions.run import Transformed, note

from tests.builders import manifest, resource_list


def message(transformed: Transformed, roots: tuple[str, str]) -> str:
    resources = resource_list(manifest("v1", "Namespace", "vault", ""), manifest("v1", "Namespace", "vault", ""))
    pairs = zip(resources.items, roots, strict=True)
    note(resources, transformed=transformed, roots={id(item): root for item, root in pairs if root})
    [finding] = judge(resources, resources.items)
    assert finding.rule == "KRM705"
    return finding.text


def test_the_final_name_is_said_where_a_kustomization_changes_names() -> None:
    """A shared component has `_` in its file, and each root gives it the name."""
    assert " as Namespace vault" in message(Transformed(namespaces=("vault",)), ("", ""))
    assert " as Namespace vault" not in message(Transformed(), ("", ""))


def test_both_roots_are_said() -> None:
    assert " (in apps/x and in bootstrap/x)" in message(Transformed(), ("apps/x", "bootstrap/x"))
    assert "(in " not in message(Transformed(), ("apps/x", "apps/x"))
    assert "(in " not in message(Transformed(), ("apps/x", ""))
