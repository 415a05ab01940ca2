"""Predictions against recorded histories of KMM: moves between Modules, plugins, builds in the cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import ROOT

HISTORIES = os.environ.get("KRMFN_KMM_HISTORIES", "")
"""A folder with what KMM's controllers did over several phases, and the program compare.py; "" without one."""


@pytest.mark.skipif(not HISTORIES, reason="KRMFN_KMM_HISTORIES names no folder")
def test_every_recorded_history_is_predicted(tmp_path: Path) -> None:
    """And `unknown` is said of at most 4 of 100 rows of a history, and of no move whose order KMM fixes."""
    predicting = [sys.executable, str(ROOT / "tools" / "histories.py"), HISTORIES]
    done = subprocess.run(predicting, capture_output=True, check=True)
    (tmp_path / "predictions.jsonl").write_bytes(done.stdout)
    program = [sys.executable, f"{HISTORIES}/compare.py", str(tmp_path / "predictions.jsonl")]
    compared = subprocess.run(program, capture_output=True, text=True, check=False)
    assert compared.returncode == 0, compared.stdout
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    words = [(row["id"].partition("-")[0], row["prediction"]) for row in rows if "effect" in row["prediction"]]
    history = [prediction["effect"] for name, prediction in words if name == "history"]
    assert history.count("unknown") * 100 <= len(history) * 4
    assert [move for name, move in words if name == "moves" and (move["effect"] == "unknown") != move["atOnce"]] == []
