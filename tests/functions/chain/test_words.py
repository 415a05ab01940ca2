"""A pod's own words in a first line: what is left out, and what stands between their parts."""

from __future__ import annotations

import pytest
from krmfn_functions.chain import words

IMAGE = f"registry.example.com/team/driver:1.0-{'5.14.0-503.11.1.el9_5.x86_64'}"


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
        (
            f'ImagePullBackOff: Back-off pulling image "{IMAGE}": ErrImagePull: rpc error: code = Unknown desc = '
            f'failed to pull and unpack image "{IMAGE}": failed to resolve reference "{IMAGE}": failed to authorize: '
            "failed to fetch anonymous token: unexpected status from GET request to https://x/token: 401 Unauthorized",
            "ImagePullBackOff: 401 Unauthorized",
        ),
        (
            f'ErrImagePull: failed to pull and unpack image "{IMAGE}": failed to resolve reference "{IMAGE}": {IMAGE}: '
            "not found",
            "ErrImagePull: not found",
        ),
        (
            f"ImagePullBackOff: ErrImagePull: unable to pull image or OCI artifact: pull image err: initializing "
            f"source docker://{IMAGE}: reading manifest 1 in example.com/a: manifest unknown; artifact err: manifest: "
            "build image source: reading manifest: manifest unknown",
            "ImagePullBackOff: ErrImagePull: manifest unknown",
        ),
        (
            'ErrImagePull: Get "https://example.com/v2/": tls: failed to verify certificate: x509: certificate signed '
            "by unknown authority",
            "ErrImagePull: certificate signed by unknown authority",
        ),
        (
            f'InvalidImageName: Failed to apply default image tag "{IMAGE}": couldn\'t parse image name',
            "InvalidImageName: couldn't parse image name",
        ),
        (
            "FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (reg); attempting to pull the "
            "image may not succeed.",
            "FailedToRetrieveImagePullSecret: (reg)",
        ),
    ],
)
def test_a_status_is_short(status: str, text: str) -> None:
    assert words.shortened(status) == text
