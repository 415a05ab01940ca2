"""Image references: whole or not, made from parts, served by another registry."""

from __future__ import annotations

import pytest
from krmfn_functions.deviceconfig.fields import Spec
from krmfn_functions.deviceconfig.model import typed
from krmfn_functions.deviceconfig.names import driver_image, is_complete, joined, mirrored


@pytest.mark.parametrize(
    ("image", "served"),
    [
        ("registry.example.com/a/b:1", "mirror/x/a/b:1"),
        ("registry:5000/a", "mirror/x/a"),
        ("localhost/a", "mirror/x/a"),
        ("library/a:1", "mirror/x/library/a:1"),
        ("localhosts/a", "mirror/x/localhosts/a"),
        ("a", "mirror/x/a"),
        ("a.b", "mirror/x/a.b"),
        ("a:1", "mirror/x/a:1"),
        ("localhost", "mirror/x/localhost"),
        ("", ""),
    ],
)
def test_a_registry_stands_in_for_the_image_s_own(image: str, served: str) -> None:
    assert mirrored(image, "mirror/x") == served
    assert mirrored(image, "mirror/x/") == served
    assert mirrored(image, "") == image


@pytest.mark.parametrize("image", ["a:1", "r:5000/a:1", "a@sha256:0", "a-$KERNEL_FULL_VERSION", "r/a:${X}"])
def test_what_has_a_tag_a_digest_or_variables_is_complete(image: str) -> None:
    assert is_complete(image)
    assert driver_image(typed(Spec, {"driverImage": image, "driverVersion": "2"})) == image


@pytest.mark.parametrize("image", ["a", "r:5000/a", "registry.example.com/a/b"])
def test_what_has_none_gets_version_and_kernel(image: str) -> None:
    assert not is_complete(image)
    assert driver_image(typed(Spec, {"driverImage": image, "driverVersion": "2"})) == f"{image}:2-$KERNEL_FULL_VERSION"
    assert driver_image(typed(Spec, {"driverImage": image})) == ""


@pytest.mark.parametrize(
    ("parts", "image"),
    [
        ({"repository": "a/b"}, "a/b"),
        ({"registry": "r/", "repository": "a"}, "r/a"),
        ({"registry": "r", "repository": "a", "tag": "1"}, "r/a:1"),
        ({"repository": "a", "tag": "1", "digest": "sha256:0"}, "a@sha256:0"),
    ],
)
def test_parts_make_one_reference(parts: dict[str, str], image: str) -> None:
    named = typed(Spec, {"driverImageParts": parts, "driverVersion": "2"})
    assert named.driverImageParts is not None
    assert joined(named.driverImageParts) == image
    assert driver_image(named).startswith(image)
