"""A file that is no YAML because it is a template, as Helm's charts hold them."""

from __future__ import annotations

import re

from krmfn.errors import KrmfnError

_ACTION = re.compile(rb"\{\{-?\s*(?:[.$/(\"`]|(?:if|else|end|range|with|include|template|define|block|toYaml)\b)")
"""The beginning of an action. Source: Go's text/template, Actions; Helm, Chart Template Guide."""


def explained(failure: KrmfnError, text: bytes) -> KrmfnError:
    """Return the reason why a text is no YAML; where it is a template, with what to do about it."""
    if not _ACTION.search(text):
        return failure
    hint = (
        "the file is a template, as Helm's charts hold them, and krmfn runs no templates: keep what `helm template` "
        "prints instead, or leave the file out with `exclude` in .krmfn.yaml"
    )
    return type(failure)(f"{failure}; {hint}")
