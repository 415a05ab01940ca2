"""A file that is no YAML because it is a template, as Helm's charts hold them."""

from __future__ import annotations

import re

from krmfn.errors import KrmfnError, TooLarge

_ACTION = re.compile(
    rb"""^[^"'#\n]*\{\{-?[ \t]*(?:[.$/(\"`]|(?:if|else|end|range|with|include|template|define|block|toYaml)\b)""",
    re.MULTILINE,
)
"""The beginning of an action outside of quotes. Source: Go's text/template, Actions; Helm, Chart Template Guide."""


def explained(failure: KrmfnError, text: bytes) -> KrmfnError:
    """Return the reason why a text is no YAML; where it is a template, with what to do about it."""
    if isinstance(failure, TooLarge) or not _ACTION.search(text):
        return failure
    hint = (
        "the file looks like a template, as Helm's charts hold them, and krmfn runs no templates: keep what "
        "`helm template` prints instead, or leave the file out with `exclude` in .krmfn.yaml"
    )
    return type(failure)(f"{failure}; {hint}")
