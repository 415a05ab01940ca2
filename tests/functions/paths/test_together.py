"""Several files are written, or none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from krmfn_functions.paths import together

from krmfn import KrmfnError
from tests.functions.commands.test_fix import content
from tests.trees import plant


def test_all_files_get_their_text_and_keep_their_mode(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "1", "b/c": "2"})
    (tmp_path / "a").chmod(0o640)
    together.replace({str(tmp_path / "a"): (b"1", b"3"), str(tmp_path / "b/c"): (b"2", b"4")})
    assert content(tmp_path) == {"a": "3", "b/c": "4"}
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_one_that_was_changed_meanwhile_leaves_all(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "1", "b": "other"})
    with pytest.raises(KrmfnError, match="b was changed while krmfn was at work; nothing is written"):
        together.replace({str(tmp_path / "a"): (b"1", b"3"), str(tmp_path / "b"): (b"2", b"4")})
    assert content(tmp_path) == {"a": "1", "b": "other"}


def test_a_failure_of_the_second_puts_the_first_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, {"a": "1", "b": "2"})
    rename = os.replace

    def fails_for_b(source: str, target: str) -> None:
        if target.endswith("/b"):
            raise OSError(28, "No space left on device")
        rename(source, target)

    monkeypatch.setattr(os, "replace", fails_for_b)
    with pytest.raises(KrmfnError, match="b: No space left on device"):
        together.replace({str(tmp_path / "a"): (b"1", b"3"), str(tmp_path / "b"): (b"2", b"4")})
    assert content(tmp_path) == {"a": "1", "b": "2"}
