"""How many examples each Hypothesis property tries."""

from __future__ import annotations

import os

EXAMPLES = int(os.environ.get("KRMFN_EXAMPLES", "60"))
"""Few, so that `make test` is quick; .ci/run asks for more."""
