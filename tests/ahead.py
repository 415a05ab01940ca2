"""What krmfn does with large texts, done with small ones."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from krmfn_functions.paths import contents, workers


def ahead(patch: pytest.MonkeyPatch) -> None:
    """Have every text worked with before it is checked, in this process, as a second one checks large ones."""
    patch.setattr(contents, "_LARGE", 0)
    patch.setattr(workers, "has_room", lambda: True)
    patch.setattr(workers, "second_process", nullcontext)
