"""The names of typing that annotations use: a type checker sees typing's own, and a run loads these instead.

Loading it takes half as long as an empty process; and a small run makes 75 classes of named tuples before it works,
for each of which typing.NamedTuple starts Python's compiler and takes ten times as long as this one.
"""

__all__ = ["TYPE_CHECKING", "Any", "Literal", "NamedTuple", "NoReturn", "Protocol", "TextIO", "TypeVar", "overload"]

TYPE_CHECKING = False  # a type checker takes it for True
if TYPE_CHECKING:
    from typing import Any, Literal, NamedTuple, NoReturn, Protocol, TextIO, TypeVar, overload
else:
    from _collections import _tuplegetter
    from types import FunctionType

    Any = NoReturn = Protocol = TextIO = object

    def overload(call):
        """Return it: only a type checker asks."""
        return call

    class Literal:
        """Only annotations name one, as they do a TypeVar."""

        __class_getitem__ = classmethod(lambda cls, _values: cls)

        def __new__(cls, *_names, **_bounds):
            """Return a stand-in."""
            return object

    TypeVar = Literal

    _GLOBALS = {"_new": tuple.__new__}
    _CODES = {}
    """The code of a constructor by the number of its parameters: classes with as many fields share it."""

    class _Named(tuple):
        """The methods of these tuples; see collections.namedtuple."""

        __slots__ = ()
        _fields = ()

        @classmethod
        def _make(cls, values):
            """Make one from an iterable; raises TypeError for another number of values."""
            return cls(*values)

        def _replace(self, /, **changes):
            """Return one with other values; raises ValueError for a name that is no field."""
            copy = type(self)(*map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return copy

        def _asdict(self):
            """Return the values by name."""
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(map('{}={!r}'.format, self._fields, self))})"

        def __getnewargs__(self):
            return tuple(self)

    class _Maker(type):
        """Makes the classes that say NamedTuple is their base."""

        def __new__(cls, name, bases, namespace):
            annotations = namespace.get("__annotations__")
            if annotations is None and "__annotate_func__" in namespace:  # Python 3.14
                annotations = namespace["__annotate_func__"](1)
            fields = tuple(annotations or ())
            defaults = tuple(namespace[field] for field in fields if field in namespace)
            count = len(fields)
            if count not in _CODES:
                names = "".join(f", _{number}" for number in range(count))
                lambda_ = f"lambda _cls{names}: _new(_cls, ({names[2:]}{',' * bool(count)}))"
                _CODES[count] = eval(lambda_, _GLOBALS).__code__
            code = _CODES[count].replace(co_name="__new__", co_varnames=("_cls", *fields))
            namespace |= {field: _tuplegetter(at, "") for at, field in enumerate(fields)}
            namespace |= {"__slots__": (), "_fields": fields, "__match_args__": fields}
            namespace["__new__"] = FunctionType(code, _GLOBALS, f"{name}.__new__", defaults)
            return type(name, (_Named,), namespace)

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
