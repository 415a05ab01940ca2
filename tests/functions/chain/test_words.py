"""A pod's own words in a first line: what is left out, and what stands between their parts."""

from __future__ import annotations

import pytest
from krmfn_functions.chain import words


@pytest.mark.parametrize(
    ("status", "text"),
    [
        ("ImagePullBackOff", "ImagePullBackOff"),
        (
            'Failed to pull image "registry.example.com/a:1": rpc error: code = NotFound desc = manifest unknown',
            "manifest unknown",
        ),
        (
            "0/3 nodes are available: 1 node(s) had untolerated taint {example.com/a: b}, 2 Insufficient cpu",
            "untolerated taint {example.com/a: b}, 2 Insufficient cpu",
        ),
        (
            f"{'a reason that nobody can read in one line ' * 2}: 1 node(s) had untolerated taint {{a: b}}",
            f"{'a reason that nobody can read in one line ' * 2}"[:67] + "...",
        ),
        (
            "a long beginning: of many words, which says nothing: toomanyrequests: more, and more, and more, and more",
            "a long beginning: toomanyrequests",
        ),
    ],
)
def test_a_status_is_short(status: str, text: str) -> None:
    assert words.shortened(status) == text
