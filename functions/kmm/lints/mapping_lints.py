"""Lints about kernel mappings: those that no kernel reaches, and, from `regexp_lints`, those about each regexp."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from krmfn import Field, Result, warning
from krmfn.typed import NamedTuple

from ... import oracles
from ...rule import Rule, apply
from ..lookup import text
from ..module import EVERY_KERNEL, MAPPINGS, Module
from ..regexp_work import TooMuch, hits
from ..regexps import is_usable, judged
from ..rule import quote
from . import regexp_lints


class Table(NamedTuple):
    """The mappings of a Module, and which of them takes what; positions are those of mappings."""

    mappings: Sequence[tuple[str, str]]
    """The (literal, regexp) of each; "" is none."""
    first: Mapping[str, int]
    """The first mapping for each literal of the Module, and for each kernel of the nodes."""
    catch_all: int
    """The first regexp that takes every kernel; the number of mappings without one."""
    same: Mapping[str, int]
    """The first mapping with each regexp."""
    kernels: Mapping[int, Sequence[str]]
    """The kernels of the nodes that each regexp matches."""
    is_whole: bool
    """Whether all regexps were held against all literals and kernels; else `first` lacks some, `kernels` all."""


def check(module: Module, kernels: Sequence[str] = ()) -> Iterator[Result]:
    """Yield the lints about all mappings, in their order; those that KMM refuses anyway are left out."""
    mappings = [(text(entry, "literal"), text(entry, "regexp")) for entry in module.mappings]
    known = judged(tuple(regexp for _, regexp in mappings))
    table = _table(mappings, known, sorted({kernel.removesuffix("+") for kernel in kernels}))
    for index, (literal, regexp) in enumerate(mappings):
        where = f"{MAPPINGS}[{index}]"
        if regexp and index <= known:
            yield from apply(regexp_lints.SIZE, regexp, f"{where}.regexp", index == known)
        if bool(literal) == bool(regexp) or (regexp and (index >= known or not is_usable(regexp))):
            continue
        yield from apply(RULES, table, index)
        if regexp:
            yield from apply(regexp_lints.SHAPE, regexp, f"{where}.regexp")
    if not table.is_whole:
        yield warning(regexp_lints.NOT_COMPARED, rule=regexp_lints.KRM216.id, field=Field(MAPPINGS))


def _table(mappings: Sequence[tuple[str, str]], known: int, kernels: Sequence[str]) -> Table:
    """Return which mapping takes what, by one search of each text for all regexps that are judged and compile."""
    literals, same = dict[str, int](), dict[str, int]()
    for at, (literal, regexp) in enumerate(mappings):
        literals.setdefault(literal, at)
        same.setdefault(regexp, at)
    places = [at for regexp, at in same.items() if regexp and at < known and is_usable(regexp)]
    texts = tuple(mappings[at][1] for at in places)
    first, matched, versions = dict[str, int](), defaultdict[int, list[str]](list), {*kernels}
    is_whole = True
    for value in dict.fromkeys((*kernels, *filter(None, literals))):
        try:
            taking = [places[at] for at in hits(texts, value)] if texts else []
        except TooMuch:
            matched.clear()
            is_whole = False
            break
        first[value] = min([*taking, literals.get(value, len(mappings))])
        for at in taking if value in versions else ():
            matched[at].append(value)
    catch_all = min((same[regexp] for regexp in EVERY_KERNEL & same.keys()), default=len(mappings))
    return Table(mappings, first, catch_all, same, matched, is_whole)


def _literal_is_reached(table: Table, index: int) -> Iterator[Result]:
    literal = table.mappings[index][0]
    if literal and not literal.endswith("+") and (at := table.first.get(literal, index)) < index:
        earlier, regexp = table.mappings[at]
        message = f"never reached: kernelMappings[{at}] ({quote(earlier or regexp)}) takes this kernel first"
        remedy = "move it before that mapping, or remove it"
        yield warning(message, field=Field(f"{MAPPINGS}[{index}].literal", literal), remedy=remedy)


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
    held=oracles.CONTROLLERS,
    check=_literal_is_reached,
    severities=("warning",),
    advice=True,
)


def _regexp_is_reached(table: Table, index: int) -> Iterator[Result]:
    if not (regexp := table.mappings[index][1]):
        return
    at = min(table.same[regexp], table.catch_all)
    if at < index:
        message = f"never reached: kernelMappings[{at}] ({quote(table.mappings[at][1])}) takes every kernel first"
        remedy = "move it before that mapping, or remove it"
        yield warning(message, field=Field(f"{MAPPINGS}[{index}].regexp", regexp), remedy=remedy)
        return
    kernels = table.kernels.get(index, ())
    takers = {table.first[kernel] for kernel in kernels}
    if kernels and index not in takers:
        places = ", ".join(f"kernelMappings[{at}]" for at in sorted(takers))
        reason = f"all {len(kernels)} that it matches, such as {kernels[0]}, are taken by {places}"
        message, remedy = f"matches no kernel of the given nodes: {reason}", "move it before them, or remove it"
        yield warning(message, field=Field(f"{MAPPINGS}[{index}].regexp", regexp), remedy=remedy)


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
    held=oracles.CONTROLLERS,
    check=_regexp_is_reached,
    severities=("warning",),
    advice=True,
)


def _literal_has_no_plus(table: Table, index: int) -> Iterator[Result]:
    literal = table.mappings[index][0]
    if literal.endswith("+"):
        message = "never matches: KMM removes a trailing + from the node's kernel version before it compares"
        field = Field(f"{MAPPINGS}[{index}].literal", literal, literal.removesuffix("+"))
        yield warning(message, field=field, remedy="write it without the last +")


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
    held=oracles.CONTROLLERS,
    check=_literal_has_no_plus,
    severities=("warning",),
    advice=True,
)

RULES = (KRM211, KRM212, KRM215)
