"""The fuzzer of schemas refuses an input that no server could be asked about, whatever bytes were changed in it."""

from __future__ import annotations

import pytest

from tests.fuzz import api_schemas
from tests.fuzz.findings import Refused


@pytest.mark.parametrize(
    "text",
    [
        '{"cases": [{"schema": {}, "values": 5}]}',
        '{"cases": [{"schema": {}, "values": null}]}',
        '{"cases": [{"schema": {"type": "number", "minimum": 1e999}}]}',
        '{"cases": [{"schema": {"type": "number"}, "values": [NaN]}]}',
        f'{{"cases": [{{"schema": {{"type": "number"}}, "values": [1{"0" * 400}]}}]}}',
        f'{{"cases": {"[" * 100_000}{"]" * 100_000}}}',
        '{"cases": [5]}',
        "[]",
    ],
    ids=range(8),
)
def test_an_input_that_cannot_be_sent_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        api_schemas.parsed(text.encode())


def test_an_input_is_taken() -> None:
    text = b'{"cases": [{"schema": {"type": "number"}, "values": [1.5, null]}, {"schema": {}}]}'
    assert len(api_schemas.parsed(text)) == 2
