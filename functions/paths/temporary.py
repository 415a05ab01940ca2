"""Where temporary files may be: never in a folder that is read, or they would count as somebody's resources.

Python takes the working folder when TMPDIR, /tmp, /var/tmp and /usr/tmp cannot be written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from krmfn.errors import KrmfnError

from .disk import within


def refuse_inside(paths: Iterable[str], folder: str) -> None:
    """Raise KrmfnError when a temporary folder is inside of one of the PATHs."""
    made = os.path.realpath(folder)
    for path in paths:
        if within(made, os.path.realpath(path)):
            raise KrmfnError(
                f"{Path(made).parent} is in {path}, where temporary files would be read as your own; set the "
                "environment variable TMPDIR to a folder elsewhere"
            )
