"""What kustomizations do to all resources, as it is told to the rules about the final list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.kustomization.graph import transformed
from krmfn_functions.run import Replacement, Transformed


def test_every_level_counts_once() -> None:
    base = {"namePrefix": "a-", "nameSuffix": "-z", "commonLabels": {"team": "storage"}}
    top = {
        "namePrefix": "b-",
        "namespace": "kmm",
        "labels": [{"pairs": {"team": "storage", "site": "lab"}}, {"includeSelectors": True}],
        "images": [{"name": "r.io/a", "newName": "m.io/a"}, {"name": "r.io/b", "newTag": "2", "digest": "sha256:a"}],
    }
    assert transformed([top, base, base]) == Transformed(
        ("b-", "a-"),
        ("-z",),
        ("kmm",),
        (Replacement("r.io/a", "m.io/a"), Replacement("r.io/b", "", "2", "sha256:a")),
        (("team", "storage"), ("site", "lab")),
    )
    assert transformed([]) == Transformed()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)
FIELDS = ("namePrefix", "nameSuffix", "namespace", "images", "imageTags", "labels", "commonLabels")


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, ANYTHING)))
def test_what_kustomize_refuses_counts_as_absent(kustomization: dict[str, object]) -> None:
    result = transformed([kustomization])
    for values in result[:3]:
        assert all(isinstance(value, str) and value for value in values)
