"""Profiles by themselves: each is rendered with the least options, and with those that its conditions ask for."""

from collections.abc import Collection, Iterator, Mapping
from itertools import islice

from krmfn import Field, Item, ResourceList, Result, info
from krmfn.printing import counted
from krmfn.resource import FieldPath, join, split
from krmfn.typed import Any

from ..profile import judging, samples
from ..profile.product import Profile
from ..profile.samples import Trial
from ..rendering.function_config import FunctionConfig
from ..run import run_of
from . import products, profiles, reading
from .merging import EITHER, KEYS, UNSET, key_of, merged, merges

_MOST_PAIRS = 1000
_FORMS: dict[str, str] = {one: "/".join(pair) for pair in EITHER for one in pair}


def tried(resources: ResourceList, items: Collection[Item], config: FunctionConfig) -> Iterator[Result]:
    """Yield what is wrong in Profiles by themselves.

    Where the nodes are judged, too (`check`), those without any config among the items are rendered also with each
    option and with each two `when`s that set one field. What is wrong with a made option is left out.
    """
    is_check = run_of(resources).settings.intent.judges_nodes
    having = {one.name for item in items if (one := config.product(item))} if is_check else ()
    alone = config.products.keys() - having if is_check else ()
    for product in config.products.values():
        if product.is_sound:
            above, path = config.overrides.get(product.name, {}), join(("spec", "overrides", product.name))
            yield from map(config.source.located, judging.check_overrides(product.spec, above, path))
            found = _alone(product, resources, config) if product.name in alone else _expanded(product, config)
            yield from {str(one): one for one in found}.values()


def _expanded(product: Profile, config: FunctionConfig) -> Iterator[Result]:
    for trial in samples.trials(product):
        item = stand_in(product, trial.options)
        yield from (one for one in products.problems(item, item.ref, config)[0] if one.ref == product.item.ref)


def _alone(product: Profile, resources: ResourceList, config: FunctionConfig) -> Iterator[Result]:
    """Yield the errors in what is made of a Profile, each at the place in it that can be mended."""
    always: dict[str, Result] | None = None
    lasting, mending = set[str](), set[FieldPath]()
    pairs = samples.pairs(product, _sets)
    for trial in (*samples.trials(product), *samples.more_trials(product, islice(pairs, _MOST_PAIRS))):
        item, is_judged, wrong = _rendered(product, trial, resources, config)
        for text, other in samples.others(product, trial, mending) if wrong else ():
            if lasting.issuperset(map(str, wrong)):
                break  # else each of many trials is rendered as often as it has texts
            left = set(map(_about, _rendered(product, other, resources, config)[2]))
            if left < set(map(_about, wrong)):  # what another text mends is wrong only because of a made one
                wrong = [one for one in wrong if _about(one) in left]
                mending.add(text)
        lasting.update(map(str, wrong))
        others: dict[str, Result] = {}
        for one in wrong:
            parts = split(one.field.path)[1:] if one.field else ()
            parts = parts if product.kind or parts[:1] != ("options",) else parts[1:]
            if one.ref == product.item.ref:
                yield one
            elif one.ref == item.ref and trial.gives(product.options, ("spec", *parts)):
                path = ("spec", "schema", *(step for part in ("spec", *parts) for step in ("properties", part)))
                yield product.item.located(one._replace(ref=None, field=Field(join(path)), place=None))
            elif one.ref == item.ref and not trial.writes(parts):
                others[one.message] = one
        if is_judged:
            always = {said: one for said, one in (others if always is None else always).items() if said in others}
    for one in (always or {}).values():
        message = f"{one.message} (with every option that was tried, so no config of this Profile is right)"
        yield product.item.located(one._replace(ref=None, message=message, field=Field("spec.config"), place=None))
    for where, _, _ in islice(pairs, 1):  # the first that `more` has left over
        count = 1 + sum(1 for _ in pairs)
        what = f"from this `when` on, {counted(count, 'pair')} of `when`s that set one field are not tried together"
        message = f"{what}, since there are more than {_MOST_PAIRS:,}; what is wrong with both is said of configs only"
        yield product.item.located(info(message, rule="KRM180", field=Field(join(("spec", *where)))))


def _about(wrong: Result) -> tuple[str, str, str]:
    return str(wrong.ref), wrong.rule, wrong.field.path if wrong.field else ""


def _rendered(
    product: Profile, trial: Trial, resources: ResourceList, config: FunctionConfig
) -> tuple[Item, bool, list[Result]]:
    """Return a config with some options, whether rules could judge it, and the errors in it and its objects."""
    item = stand_in(product, trial.options)
    wrong, made = products.problems(item, item.ref, config)
    if wrong or not made:
        return item, False, wrong
    if not product.kind:
        parts = [*made.layers, *(one for part in made.modules.values() for one in part)]
        below = merged([config.overrides.get(product.name, {}), *(one.fields for one in parts), config.defaults])
        item = stand_in(product, trial.options, profiles.missing(below))
    found = profiles.judge(reading.from_item(item, config, made), resources, config)
    return item, True, [one for one in found if one.severity == "error"]


def _sets(when: Mapping[str, Any]) -> set[FieldPath]:
    """Return the paths of the fields that a `when` sets or unsets, with an entry of a list by its key."""
    return {*_leaves(when.get("config", {}), ()), *((_FORMS.get(name, name),) for name in when.get(UNSET, ()))}


def _leaves(fields: Any, path: FieldPath) -> Iterator[FieldPath]:
    """Yield the path of each field, with an entry of a list by its key."""
    if isinstance(fields, dict) and fields:
        for name, value in fields.items():
            own: FieldPath = (*path, _FORMS.get(str(name), str(name)))
            if merges(name, value):
                for entry in value:
                    rest = {key: child for key, child in entry.items() if key not in KEYS[name]}
                    yield from _leaves(rest, (*own, str(key_of(name, entry))))
            else:
                yield from _leaves(value, own)
    elif path:
        yield path


def stand_in(product: Profile, options: Any, fields: Mapping[str, Any] | None = None) -> Item:
    """Return a config of a Profile with these options, called x; `fields` are those of a DeviceConfig beside them."""
    if product.kind:
        (group, kind), version = product.kind, next(iter(product.versions), "v1alpha1")
        return profiles.stand_in(options, f"{group}/{version}", kind, product.name)
    return profiles.stand_in({**(fields or {}), "profile": product.name, "options": options})
