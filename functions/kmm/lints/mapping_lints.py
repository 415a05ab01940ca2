"""Lints about kernel mappings: those that no kernel reaches, and, from `regexp_lints`, those about each regexp."""

from collections.abc import Iterator, Sequence

from krmfn import Field, Result, warning
from krmfn.results import Rule, apply

from ..lookup import text
from ..module import EVERY_KERNEL, MAPPINGS, Module
from ..regexps import compile_error, matches
from ..rule import quote
from . import regexp_lints

Mappings = Sequence[tuple[str, str]]
"""The (literal, regexp) of each mapping; "" is none."""

_EARLIER = 1000
"""How many earlier mappings a later one is compared with: more would take minutes."""


def check(module: Module, kernels: Sequence[str] = ()) -> Iterator[Result]:
    """Yield the lints about all mappings, in their order; those that KMM refuses anyway are left out."""
    mappings = [(text(entry, "literal"), text(entry, "regexp")) for entry in module.mappings]
    versions = sorted({kernel.removesuffix("+") for kernel in kernels})
    for index, (literal, regexp) in enumerate(mappings):
        where = f"{MAPPINGS}[{index}]"
        if regexp:
            yield from apply(regexp_lints.SIZE, regexp, f"{where}.regexp")
        if bool(literal) == bool(regexp) or (regexp and compile_error(regexp)):
            continue
        yield from apply(RULES, mappings, index, versions)
        if regexp:
            yield from apply(regexp_lints.SHAPE, regexp, f"{where}.regexp")


def _literal_is_reached(mappings: Mappings, index: int, kernels: Sequence[str]) -> Iterator[Result]:
    if (literal := mappings[index][0]) and not literal.endswith("+"):
        for at, (earlier, regexp) in enumerate(mappings[: min(index, _EARLIER)]):
            if earlier == literal or (regexp and not compile_error(regexp) and matches(regexp, literal)):
                message = f"never reached: kernelMappings[{at}] ({quote(earlier or regexp)}) takes this kernel first"
                yield warning(message, field=Field(f"{MAPPINGS}[{index}].literal", literal))
                return


KRM211 = Rule(
    "KRM211",
    "a literal should not be matched by an earlier mapping, because the first match wins",
    good="""\
spec:
  moduleLoader:
    container:
      kernelMappings:
      - {literal: 6.1.0-13-amd64, containerImage: "registry.example.com/gpu:1.0-debian"}
      - {regexp: ^.+$, containerImage: "registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION"}
""",
    bad="""\
spec:
  moduleLoader:
    container:
      kernelMappings:
      - {regexp: ^.+$, containerImage: "registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION"}
      - {literal: 6.1.0-13-amd64, containerImage: "registry.example.com/gpu:1.0-debian"}
""",
    remedy="Move the literal before the mapping that matches its kernel, or remove it.",
    check=_literal_is_reached,
    severities=("warning",),
    advice=True,
)


def _regexp_is_reached(mappings: Mappings, index: int, kernels: Sequence[str]) -> Iterator[Result]:
    if not (regexp := mappings[index][1]):
        return
    for at, (_, earlier) in enumerate(mappings[: min(index, _EARLIER)]):
        if earlier and (earlier == regexp or earlier in EVERY_KERNEL):
            message = f"never reached: kernelMappings[{at}] ({quote(earlier)}) takes every kernel first"
            yield warning(message, field=Field(f"{MAPPINGS}[{index}].regexp", regexp))
            return
    matching = [kernel for kernel in kernels if matches(regexp, kernel)]
    takers = {_taker(mappings[: min(index, _EARLIER)], kernel) for kernel in matching}
    if matching and None not in takers:
        places = ", ".join(f"kernelMappings[{at}]" for at in sorted(at for at in takers if at is not None))
        reason = f"all {len(matching)} that it matches, such as {matching[0]}, are taken by {places}"
        message = f"matches no kernel of the given nodes: {reason}"
        yield warning(message, field=Field(f"{MAPPINGS}[{index}].regexp", regexp))


def _taker(mappings: Mappings, kernel: str) -> int | None:
    """Return the position of the first mapping that matches a kernel; None for none."""
    for at, (literal, regexp) in enumerate(mappings):
        if (literal and literal == kernel) or (regexp and matches(regexp, kernel)):
            return at
    return None


KRM212 = Rule(
    "KRM212",
    "a regexp should not be shadowed by an earlier one: by the same, by a catch-all, or for the kernels of all nodes",
    good="""\
spec:
  moduleLoader:
    container:
      kernelMappings:
      - {regexp: '^.+\\.el9\\.x86_64$', containerImage: "registry.example.com/gpu-el9:1.0-$KERNEL_FULL_VERSION"}
      - {regexp: ^.+$, containerImage: "registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION"}
""",
    bad="""\
spec:
  moduleLoader:
    container:
      kernelMappings:
      - {regexp: ^.+$, containerImage: "registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION"}
      - {regexp: '^.+\\.el9\\.x86_64$', containerImage: "registry.example.com/gpu-el9:1.0-$KERNEL_FULL_VERSION"}
""",
    remedy="Move the mapping before the one that matches its kernels, or remove it.",
    check=_regexp_is_reached,
    severities=("warning",),
    advice=True,
)


def _literal_has_no_plus(mappings: Mappings, index: int, kernels: Sequence[str]) -> Iterator[Result]:
    literal = mappings[index][0]
    if literal.endswith("+"):
        message = "never matches: KMM removes a trailing + from the node's kernel version before it compares"
        yield warning(message, field=Field(f"{MAPPINGS}[{index}].literal", literal, literal.removesuffix("+")))


KRM215 = Rule(
    "KRM215",
    "a literal should not end in +: KMM removes one + from the node's kernel before it compares",
    good="""\
spec:
  moduleLoader:
    container:
      kernelMappings: [{literal: 6.1.0-test, containerImage: "registry.example.com/gpu:1.0-test"}]
""",
    bad="""\
spec:
  moduleLoader:
    container:
      kernelMappings: [{literal: 6.1.0-test+, containerImage: "registry.example.com/gpu:1.0-test"}]
""",
    remedy="Remove the + at the end.",
    check=_literal_has_no_plus,
    severities=("warning",),
    advice=True,
)

RULES = (KRM211, KRM212, KRM215)
