"""Images as the kubelet and container runtimes parse them, held against the grammar of distribution/reference."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.image_reference import mistake

HOST = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
DOMAIN = rf"(?:{HOST}(?:\.{HOST})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
PATH = r"[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*"
TAG = r"[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}"
DIGEST = "sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}"
GRAMMAR = re.compile(rf"((?:{DOMAIN}/)?{PATH}(?:/{PATH})*)(?::{TAG})?(?:@(?:{DIGEST}))?")


def is_reference(image: str) -> bool:
    """ParseNormalizedNamed of github.com/distribution/reference v0.6.0, with its rules before and after the grammar."""
    first, slash, _ = image.partition("/")
    is_domain = slash and ("." in first or ":" in first or first == "localhost" or first.lower() != first)
    match = GRAMMAR.fullmatch(image if is_domain else f"docker.io/{image}")
    if re.fullmatch("[a-f0-9]{64}", image) or not match:
        return False
    return len(match[1] if is_domain else match[1].removeprefix("docker.io/")) <= 255


PARTS = {
    "host": [
        "",
        "r.example.com/",
        "r.example.com:5000/",
        "R/",
        "localhost/",
        "localhost:1/",
        "[::1]:5/",
        "r..x/",
        "r:x/",
    ],
    "path": ["g", "a/g_x--y", "a__b/c.d", "G", "a///b", "a..b", "-a", "a_", "x" * 250, "a" * 64, "g x", "é"],
    "tag": ["", ":1", ":A_b-c.d", ":" + "t" * 128, ":" + "t" * 129, ":v1:v2", ":", ":1+b", ":-1", ":<tag>", ":$TAG"],
    "digest": ["", "@sha256:" + "0" * 64, "@sha256:" + "0" * 12, "@sha256:" + "A" * 64, "@sha512:" + "f" * 128, "@"],
}


def test_every_combination_of_parts() -> None:
    images = list(map("".join, product(*PARTS.values())))
    assert [image for image in images if (mistake(image) == "") != is_reference(image)] == []
    assert 200 < sum(map(is_reference, images)) < len(images) / 2


@given(
    st.lists(st.sampled_from([*"abA0._-:/@+$[] é", "sha256:", "0" * 64, "localhost", "t" * 127]), max_size=12).map(
        "".join
    )
)
def test_any_text(image: str) -> None:
    assert (mistake(image) == "") == is_reference(image)


@pytest.mark.parametrize(
    ("image", "why"),
    [
        ("", "has no repository"),
        ("/g:1", "has no host before its first /"),
        ("r.example.com/:1", "has no repository"),
        ("g:", "has no tag after the colon"),
        ("g@", "has no digest after the @"),
        ("g:v1:v2", "has two tags"),
        ("g:.1", "has a tag that begins with '.'"),
        ("g:1+b", "has '+' in its tag"),
        ("g:" + "t" * 129, "has a tag of 129 characters, of which 128 are allowed"),
        ("r.example.com/G:1", "has capitals in its repository 'G'"),
        ("r.example.com/a//g:1", "has an empty part in its repository"),
        ("r..x/g", "has 'r..x' as its host"),
        ("g@sha256:0123", "has a sha256 digest of 4 digits instead of 64"),
        ("g@md5:0123", "has a digest that does not begin with sha256, sha384, sha512 and a colon"),
        ("f" * 64, "is 64 hexadecimal digits, as if it were an image's id"),
    ],
)
def test_what_is_wrong(image: str, why: str) -> None:
    assert mistake(image) == why
