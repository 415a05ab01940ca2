"""Named tuples without typing: they do what those of typing do."""

from __future__ import annotations

import copy
import pickle
import typing
from typing import Any

import pytest

from krmfn import typed


class Ours(typed.NamedTuple):
    """A tuple with a default, a method and a property."""

    a: int
    b: str = "x"

    def both(self) -> str:
        return f"{self.a}{self.b}"

    @property
    def first(self) -> int:
        return self.a


class Theirs(typing.NamedTuple):
    a: int
    b: str = "x"


def done(kind: Any, args: list[Any], named: dict[str, Any]) -> Any:
    """What making one gives, and what can be done with it; the kind of error when it cannot be made."""
    try:
        value = kind(*args, **named)
    except TypeError:
        return TypeError
    changed = value._replace(a=5)
    return tuple(value), value._fields, value._asdict(), tuple(changed), repr(value).partition("(")[2], hash(value)


@pytest.mark.parametrize("args", [[], [1], [1, "y"], [1, "y", 3]], ids=len)
@pytest.mark.parametrize("named", [{}, {"a": 2}, {"b": "z"}, {"a": 2, "b": "z"}, {"c": 1}], ids=str)
def test_they_are_made_changed_and_printed_as_typing_s_are(args: list[Any], named: dict[str, Any]) -> None:
    assert done(Ours, args, named) == done(Theirs, args, named)


def test_they_have_no_attributes_but_their_fields_and_methods() -> None:
    instance = Ours(1)
    assert (type(Ours), Ours.__mro__[-2:], instance.both(), instance.first) == (type, (tuple, object), "1x", 1)
    assert Ours.__doc__ == "A tuple with a default, a method and a property."
    assert pickle.loads(pickle.dumps(instance)) == copy.copy(instance) == Ours._make([1, "x"]) == (1, "x")
    with pytest.raises(AttributeError):
        instance.other = 1  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        instance.a = 1  # type: ignore[misc]
    with pytest.raises(ValueError, match="Got unexpected field names: \\['c'\\]"):
        instance._replace(c=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Ours._make([1, 2, 3])
    match instance:
        case Ours(a, b):
            assert (a, b) == (1, "x")


def test_a_tuple_without_fields_is_empty() -> None:
    class Empty(typed.NamedTuple):
        """Nothing."""

    assert Empty() == ()
