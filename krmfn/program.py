"""A function with its config: a value that a test can run, and a program when its file calls `main`."""

import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, NoReturn, TypeVar, overload

from . import runner
from .item import Item
from .ownership import PREFIX
from .resourcelist import ResourceList
from .results import Result
from .streams import Log

__all__ = ["KrmFunction", "Run", "function"]

C = TypeVar("C")
_Kind = str | tuple[str, ...]
_Fields = Literal["spec", "top"]
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LONGEST = 253
"""What Kubernetes takes as the prefix of an annotation: a DNS subdomain."""


if TYPE_CHECKING:
    from typing_extensions import TypedDict, Unpack

    class About(TypedDict, total=False):
        """What a functionConfig looks like, and what the annotations of a mark begin with."""

        group: str
        version: str
        kind: _Kind
        fields: _Fields
        prefix: str


class Run(NamedTuple):
    """The outcome of a run."""

    output: bytes
    """The ResourceList as it is written to stdout."""
    code: int
    """The exit code: 1 with an error, else 0."""
    items: list[Item]
    """The items of `output`."""
    results: list[Result]
    stderr: str


class KrmFunction(Generic[C]):
    """A KRM function with its config. It registers nothing: hand it to a test, or call `main`."""

    def __init__(
        self, call: Callable[..., Any], config: type | None = None, name: str = "", **about: "Unpack[About]"
    ) -> None:
        """Take the function, its name, and what its functionConfig and its marks look like (see `function`).

        Raises TypeError, with the field, for a class that no functionConfig can be read into.
        """
        if config is not None:
            from .config import check_class

            check_class(config)
        self.call, self.config, self.group = call, config, about.get("group", "")
        self.version, kind = about.get("version", "v1alpha1"), about.get("kind", "")
        self.is_top = about.get("fields") == "top"
        kinds = (kind,) if isinstance(kind, str) else kind
        self.kinds = kinds if kinds[0] or config is None else (config.__name__,)
        self.name = name or call.__name__.replace("_", "-")
        self.prefix = about.get("prefix", PREFIX)
        if not re.fullmatch(_DOMAIN, self.prefix) or len(self.prefix) > _LONGEST:
            raise ValueError(f"{self.prefix!r} cannot begin an annotation; take a domain such as fn.example.com")
        self.__doc__ = call.__doc__
        self.doc = (call.__doc__ or (config.__doc__ if config else "") or "").strip()

    def __call__(self, resources: ResourceList) -> Any:
        """Read the functionConfig, and work on the list; report what is wrong with the config instead.

        Returns what the function does, which must be None.
        """
        resources.function, resources.prefix = self.name, self.prefix
        if self.config is None:
            return self.call(resources)
        from . import config

        value, findings = config.read(resources.function_config, self)
        return self.call(resources, value) if resources.report(findings) else None

    def run(self, resources: bytes | ResourceList) -> Run:
        """Run on a ResourceList, or its bytes, and return the outcome. An exception that is a bug comes through."""
        from contextlib import redirect_stderr
        from io import StringIO

        data = resources if isinstance(resources, bytes) else resources.to_bytes()
        with redirect_stderr(StringIO()) as stderr:
            done, chunks = runner.applied(self, data)
            Log().findings(done.results)
        output = b"".join(chunks)
        return Run(output, int(done.failed), ResourceList.parse(output).items, done.results, stderr.getvalue())

    def main(self, args: Sequence[str] | None = None) -> NoReturn:
        """Run as a KRM function between stdin and stdout, or answer --help and the like. Ends the process."""
        args = sys.argv[1:] if args is None else args
        if args or sys.stdin is None or sys.stdin.isatty():
            from . import about

            sys.exit(about.answer(self, list(args)))
        runner.main(self)


@overload
def function(call: Callable[[ResourceList], None], /) -> KrmFunction[None]: ...
@overload
def function(
    *, name: str = ..., prefix: str = ...
) -> Callable[[Callable[[ResourceList], None]], KrmFunction[None]]: ...
@overload
def function(
    *,
    config: type[C],
    group: str,
    name: str = ...,
    prefix: str = ...,
    version: str = ...,
    kind: _Kind = ...,
    fields: _Fields = ...,
) -> Callable[[Callable[[ResourceList, C], None]], KrmFunction[C]]: ...
def function(call: Callable[..., None] | None = None, /, **about: Any) -> Any:
    """Make a function, with the dataclass that its functionConfig is read into, a value with `run` and `main`.

    The functionConfig is of the kind `kind` (the name of the class, where it is not given; the first of several is the
    usual one) in `group`/`version`, its fields below `spec` or, with `fields="top"`, beside `metadata`; or a ConfigMap.
    `name` is the function's, in the mark of what it owns and in its help: else that in Python. `prefix` begins that
    mark, an annotation: `fn.example.com` makes it `fn.example.com/owner`; else it is `krmfn.dev/owner`. Raises
    TypeError, with the field, for a class that no functionConfig can be read into, ValueError for no prefix.
    """
    wrap = partial(KrmFunction[Any], **about)
    return KrmFunction[Any](call) if call else wrap
