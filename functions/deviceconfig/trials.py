"""Check Profiles by themselves: each is rendered with few options, and with those that its conditions ask for."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, islice

from krmfn import Field, Item, ResourceList, Result, info, warning
from krmfn.printing import counted
from krmfn.resource import FieldPath, join, split
from krmfn.typed import Any

from ..profile import judging, samples
from ..profile.product import Profile, whens
from ..profile.samples import Trial
from ..rendering.function_config import FunctionConfig
from ..run import run_of
from . import products, profiles, reading
from .merging import EITHER, KEYS, UNSET, key_of, merged, merges

_MOST = 1000
"""How many of its options and `when`s a Profile is tried with, and how many pairs of `when`s: each takes a ms."""
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
            is_used = product.name in used
            findings = _expansion_errors(product, config) if is_used else _rendering_errors(product, resources, config)
            yield from {finding.occurrence: finding for finding in findings}.values()


def _expansion_errors(product: Profile, config: FunctionConfig) -> Iterator[Result]:
    for trial in islice(samples.trials(product), _MOST):
        item = stand_in(product, trial.options)
        findings, _ = products.problems(item, item.ref, config)
        yield from (finding for finding in findings if finding.ref == product.item.ref)
    yield from _not_tried(product, ())


def _rendering_errors(product: Profile, resources: ResourceList, config: FunctionConfig) -> Iterator[Result]:
    """Yield the errors in what is rendered with a Profile, each at the place in the Profile where to correct it."""
    common_errors: dict[str, Result] | None = None  # the errors of all trials so far, by their messages
    known, remedies = set[str](), set[FieldPath]()
    pairs, options = samples.pairs(product, _MOST, _sets), [*samples.options(product)]
    others_left = iter(range(_MOST))
    singles = islice(chain(samples.trials(product), samples.option_trials(product)), _MOST)
    for trial in chain(singles, samples.pair_trials(product, islice(pairs, _MOST))):
        item, is_judged, errors = _rendered(product, trial, resources, config)
        others_of_trial = samples.other_trials(product, trial, remedies) if errors else ()
        for _, (text, other) in zip(others_left, others_of_trial, strict=False):
            if known.issuperset(map(str, errors)):
                break  # else each of many trials is rendered as often as it has texts
            keys = set(map(_key, _rendered(product, other, resources, config)[2]))
            if keys < set(map(_key, errors)):  # the other errors are about the made-up text
                errors = [finding for finding in errors if _key(finding) in keys]
                remedies.add(text)
        known.update(map(str, errors))
        others: dict[str, Result] = {}
        for finding in errors:
            parts = split(finding.field.path)[1:] if finding.field else ()
            parts = parts if product.kind or parts[:1] != ("options",) else parts[1:]
            if finding.ref == product.item.ref:
                yield finding
            elif finding.ref == item.ref and trial.is_given(product.options, ("spec", *parts)):
                path = ("spec", "schema", *(step for part in ("spec", *parts) for step in ("properties", part)))
                yield product.item.located(finding._replace(ref=None, field=Field(join(path)), place=None))
            elif finding.ref == item.ref and not trial.is_written(parts):
                others[finding.message] = finding
        if is_judged:
            previous = others if common_errors is None else common_errors
            common_errors = {message: finding for message, finding in previous.items() if message in others}
    not_tried = [*_not_tried(product, options), *_pairs_not_tried(product, pairs)]
    conclusion = "" if not_tried else ", so no config of this Profile is right"
    for finding in (common_errors or {}).values():
        message = f"{finding.message} (with every option that was tried{conclusion})"
        yield product.item.located(finding._replace(ref=None, message=message, field=Field("spec.config"), place=None))
    yield from not_tried


def _not_tried(product: Profile, options: Sequence[Sequence[str]]) -> Iterator[Result]:
    """Yield a warning where there are more `when`s, then `options`, than are tried; the least options are the first."""
    paths = [*(("spec", *path) for path, _ in whens(product.spec))]
    for path in options:
        paths.append(("spec", "schema", *(step for part in ("spec", *path) for step in ("properties", part))))
    if rest := paths[_MOST - 1 :]:
        number = sum("schema" not in path[:2] for path in rest)
        words = [counted(number, "`when`")] * (number > 0)
        words += [counted(len(rest) - number, "option")] * (len(rest) > number)
        message = f"not tried: from here on {' and '.join(words)}, since there are more than {_MOST:,} in all"
        yield product.item.located(warning(message, rule="KRM180", field=Field(join(rest[0]))))


def _pairs_not_tried(product: Profile, pairs: Iterator[samples.Pair]) -> Iterator[Result]:
    """Yield a note about the pairs of `when`s that are left."""
    for when_path, _, _ in islice(pairs, 1):
        number, field = counted(1 + sum(1 for _ in pairs), "pair"), Field(join(("spec", *when_path)))
        reason = f"there are more than {_MOST:,}; an error of such a pair appears only for a config with both"
        message = f"from this `when` on, {number} of `when`s that set the same field are not tried together"
        yield product.item.located(info(f"{message}, since {reason}", rule="KRM180", field=field))


def _key(finding: Result) -> tuple[str, str, str]:
    return str(finding.ref), finding.rule, finding.field.path if finding.field else ""


def _rendered(
    product: Profile, trial: Trial, resources: ResourceList, config: FunctionConfig
) -> tuple[Item, bool, list[Result]]:
    """Return a config with the options of a trial, whether rules could judge it, and the errors in what it renders."""
    item = stand_in(product, trial.options)
    findings, expansion = products.problems(item, item.ref, config)
    if findings or not expansion:
        return item, False, findings
    if not product.kind:
        parts = chain(expansion.layers, *expansion.modules.values())
        base = merged([config.overrides.get(product.name, {}), *(part.fields for part in parts), config.defaults])
        item = stand_in(product, trial.options, profiles.missing_fields(base))
    findings = profiles.judge(reading.from_item(item, config, expansion), resources, config)
    return item, True, [finding for finding in findings if finding.severity == "error"]


def _sets(when: Mapping[str, Any]) -> set[FieldPath]:
    """Return the paths of the fields that a `when` sets or unsets, with the keys of entries in place of indexes."""
    return {*_leaves(when.get("config", {}), ()), *((_FORMS.get(name, name),) for name in when.get(UNSET, ()))}


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


def stand_in(product: Profile, options: Any, fields: Mapping[str, Any] | None = None) -> Item:
    """Return a config of a Profile with these options; `fields` are those of a DeviceConfig of ours beside them."""
    if product.kind:
        (group, kind), version = product.kind, next(iter(product.versions), "v1alpha1")
        return profiles.stand_in(options, f"{group}/{version}", kind, product.name)
    return profiles.stand_in({**(fields or {}), "profile": product.name, "options": options})
