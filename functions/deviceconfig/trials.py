"""Check Profiles by themselves: each is rendered with few options, and with those that its conditions ask for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from krmfn import Field, Item, ResourceList, Result, info, warning
from krmfn.printing import counted
from krmfn.resource import FieldPath, join, split
from krmfn.typed import Any

from ..finding import occurrence
from ..formats.unjudged import UNTRIED
from ..profile import judging, samples
from ..profile.product import Profile, whens
from ..profile.samples import Trial
from ..rendering import ignoring
from ..rendering.function_config import FunctionConfig
from ..rendering.generated import OWNER_FACT
from ..run import run_of
from . import products
from .keyed import KEYS, key_of, merges
from .merging import EITHER, UNSET
from .outcomes import Bench, Common, Outcome, advice_of, stand_in

_MOST = 1_000
"""How many of its options and `when`s a Profile is tried with, and how many pairs of `when`s."""
_MOST_BYTES = 200_000_000
"""Of a larger Profile fewer are tried, since each trial renders all of it: so many bytes in all."""
_NEEDS_MORE = "KRM130"
"""The rule that something must run: the least options may switch on nothing."""
_FORMS: dict[str, str] = {name: "/".join(pair) for pair in EITHER for name in pair}


def check(resources: ResourceList, items: Collection[Item], config: FunctionConfig) -> Iterator[Result]:
    """Yield the findings about Profiles by themselves.

    When the nodes are judged, too (`check`), a Profile without a config among the items is also rendered with each
    option, and with each two `when`s that set the same field. Errors in the made-up options are left out.
    """
    is_check = run_of(resources).settings.intent.judges_nodes
    used = {product.name for product in map(config.product, items) if product} if is_check else config.products.keys()
    for product in config.products.values():
        if product.is_sound:
            overrides, path = config.overrides.get(product.name, {}), join(("spec", "overrides", product.name))
            yield from map(config.source.located, judging.check_overrides(product.spec, overrides, path))
            findings: dict[Any, Result] = {}
            for variant in product.variants:
                bench = Bench(variant, resources, config, set(), set(), iter(range(_most(variant))))
                is_used = product.name in used
                results = _expansion_errors(variant, config) if is_used else _rendering_errors(bench)
                findings |= {occurrence(finding): finding for finding in results}
            yield from findings.values()


def _expansion_errors(product: Profile, config: FunctionConfig) -> Iterator[Result]:
    for trial in islice(samples.trials(product), _most(product)):
        item = stand_in(product, trial.options)
        findings, _ = products.problems(item, item.ref, config)
        yield from (finding for finding in findings if finding.ref == product.item.ref)
    yield from _not_tried(product, ())


def _rendering_errors(bench: Bench) -> Iterator[Result]:
    """Yield the errors in what is rendered with a Profile, each at the place in the Profile where to correct it.

    What is no error is yielded when everything that was rendered has it.
    """
    product, common = bench.product, Common()
    most = _most(product)
    pairs, options = samples.pairs(product, most, _sets), [*samples.options(product)]
    singles = [*islice(chain(samples.trials(product), samples.option_trials(product)), most)]
    for trial in chain(singles, samples.pair_trials(product, islice(pairs, most))):
        outcome = bench.rendered(trial)
        errors_at_profile, others = _sorted(product, trial, outcome.item, bench.true_errors(trial, outcome.errors))
        yield from errors_at_profile
        yield from _turned_off(bench, outcome)
        common = common.narrowed(product, outcome, others)
    rules = _entries(bench)
    for trial in islice(samples.full_trials(product), most - len(singles)):
        if not (common.errors or common.advice or rules):
            break  # there is nothing that one more could take away or show
        outcome = bench.rendered(trial)
        yield from _turned_off(bench, outcome)
        common = common.narrowed(product, outcome, _sorted(product, trial, outcome.item, outcome.errors)[1])
    not_tried = [*_not_tried(product, options), *_pairs_not_tried(product, pairs)]
    yield from _in_every_config(bench, common, not not_tried)
    yield from not_tried


def _most(product: Profile) -> int:
    """Return how many trials of one sort a Profile gets."""
    return max(1, min(_MOST, _MOST_BYTES // len(product.item.text)))


def _not_tried(product: Profile, options: Sequence[Sequence[str]]) -> Iterator[Result]:
    """Yield a warning where there are more `when`s, then `options`, than are tried; the least options are the first."""
    paths = [*(("spec", *path) for path, _ in whens(product.spec))]
    for path in options:
        paths.append(
            ("spec", *product.schema_path, *(step for part in ("spec", *path) for step in ("properties", part)))
        )
    most = _most(product)
    if rest := paths[most - 1 :]:
        number = sum(path[1 : 1 + len(product.schema_path)] != product.schema_path for path in rest)
        words = [counted(number, "`when`")] * (number > 0)
        words += [counted(len(rest) - number, "option")] * (len(rest) > number)
        message = f"not tried: from here on {' and '.join(words)}, since at most {most:,} are tried, the least first"
        tags = ((UNTRIED, "options of Profiles"),)
        yield product.item.located(warning(message, rule="KRM180", field=Field(join(rest[0])), tags=tags))


def _pairs_not_tried(product: Profile, pairs: Iterator[samples.Pair]) -> Iterator[Result]:
    """Yield a note about the pairs of `when`s that are left."""
    for when_path, _, _ in islice(pairs, 1):
        number, field = counted(1 + sum(1 for _ in pairs), "pair"), Field(join(("spec", *when_path)))
        reason = f"there are more than {_most(product):,}; an error of such a pair appears only for a config with both"
        message = f"from this `when` on, {number} of `when`s that set the same field are not tried together"
        tags = ((UNTRIED, "options of Profiles"),)
        yield product.item.located(info(f"{message}, since {reason}", rule="KRM180", field=field, tags=tags))


def _sorted(
    product: Profile, trial: Trial, item: Item, errors: Iterable[Result]
) -> tuple[list[Result], dict[str, Result]]:
    """Return the errors to correct at a place in the Profile, and by their messages those that other options mend."""
    errors_at_profile: list[Result] = []
    others: dict[str, Result] = {}
    for finding in errors:
        parts = split(finding.field.path)[1:] if finding.field else ()
        parts = parts if product.kind or parts[:1] != ("options",) else parts[1:]
        if finding.rule == _NEEDS_MORE:
            others[finding.message] = finding
        elif finding.ref == product.item.ref:
            errors_at_profile.append(finding)
        elif finding.ref == item.ref and trial.is_given(product.options, ("spec", *parts)):
            path = ("spec", *product.schema_path, *(step for part in ("spec", *parts) for step in ("properties", part)))
            field = Field(join(path))
            errors_at_profile.append(product.item.located(finding._replace(ref=None, field=field, place=None)))
        elif (finding.ref == item.ref and not trial.is_written(parts)) or OWNER_FACT in dict(finding.facts):
            others[finding.message] = finding
    return errors_at_profile, others


def _entries(bench: Bench) -> set[str]:
    """Return the rules that the Profile or the functionConfig turns off."""
    return {*ignoring.turned_off(bench.product.item), *bench.config.ignore}


def _turned_off(bench: Bench, outcome: Outcome) -> Iterator[Result]:
    """Yield what the Profile or the functionConfig turns off, also where few configs have it: the entry is of use."""
    rules = _entries(bench)
    advice = advice_of(bench.product, outcome).values() if rules else ()
    yield from (finding for finding in advice if finding.rule in rules and ignoring.is_hideable(finding))


def _in_every_config(bench: Bench, common: Common, is_all: bool) -> Iterator[Result]:
    """Yield what holds for all that was tried, unless a made-up text in the options causes it.

    `is_all` says that all `when`s and options were tried.
    """
    product, advice = bench.product, common.advice or {}
    errors, untried = [*(common.errors or {}).values()], samples.untried(product)
    for path, message in untried:
        rules = ", ".join(sorted({finding.rule for finding in errors}))
        message += f"; all that was tried has {rules}" if rules else ""
        yield product.item.located(info(message, rule="KRM180", field=Field(join(("spec", *path)))))
    conclusion = f", so no config of {product.words} is right" if is_all else ""
    for finding in errors if not untried else ():
        error = finding._replace(message=f"{finding.message} (with every option that was tried{conclusion})")
        if finding.ref != product.item.ref:
            error = product.item.located(error._replace(ref=None, field=Field("spec.config"), place=None))
        yield error
    others = samples.other_trials(product, samples.least_trial(product), ()) if advice else ()
    for _, (_, other) in zip(bench.others_left, others, strict=False):
        advice = Common(advice=advice).narrowed(product, bench.rendered(other), {}).advice or {}
    extent = f"in every config of {product.words}" if is_all else "in every config that was tried"
    for finding in advice.values():
        yield finding._replace(message=f"{finding.message} ({extent})")


def _sets(when: Mapping[str, Any]) -> set[FieldPath]:
    """Return the paths of the fields that a `when` sets or unsets, with the keys of entries in place of indexes."""
    return {*_leaves(when.get("config", {}), ()), *(tuple(_path(split(name))) for name in when.get(UNSET, ()))}


def _path(names: Sequence[str]) -> Iterator[str]:
    """Yield the parts of a path as `_leaves` has them, of a field that is named."""
    holder = ""
    for name in names:
        is_entry = holder in KEYS and len(KEYS[holder]) == 1
        yield str((name,)) if is_entry else _FORMS.get(name, name)
        holder = "" if is_entry else name


def _leaves(fields: Any, path: FieldPath) -> Iterator[FieldPath]:
    """Yield the path of each field, with the keys of entries in place of indexes."""
    if isinstance(fields, dict) and fields:
        for name, value in fields.items():
            inner: FieldPath = (*path, _FORMS.get(str(name), str(name)))
            if merges(name, value):
                for entry in value:
                    rest = {key: child for key, child in entry.items() if key not in KEYS[name]}
                    yield from _leaves(rest, (*inner, str(key_of(name, entry))))
            else:
                yield from _leaves(value, inner)
    elif path:
        yield path
