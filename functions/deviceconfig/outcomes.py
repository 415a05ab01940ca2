"""What becomes of the trials of a Profile: what each renders, and what all of them have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from krmfn import Item, ResourceList, Result
from krmfn.resource import FieldPath
from krmfn.typed import Any, NamedTuple, TypeVar

from ..profile import samples
from ..profile.product import Profile
from ..profile.samples import Trial
from ..rendering.function_config import FunctionConfig
from . import products, profiles, reading
from .merging import merged

_OF_CLUSTER = profiles.OF_CLUSTER | {"KRM132"}
"""Rules about what a cluster has: KRM132 about the label of the config's namespace."""

K = TypeVar("K")
Key = tuple[str, str, str]
"""The resource, the rule and the field of a finding."""
Advice = dict[Key, Result]
"""Findings that are no errors."""


class Outcome(NamedTuple):
    """What has become of a trial."""

    item: Item
    """The config with its options."""
    findings: list[Result]
    is_judged: bool = False
    """Whether rules could judge the config."""
    has_objects: bool = False
    """Whether its objects could be judged, too."""

    @property
    def errors(self) -> list[Result]:
        """The errors among the findings."""
        return [finding for finding in self.findings if finding.severity == "error"]


class Common(NamedTuple):
    """What all trials so far have in common; None before the first that could be judged."""

    errors: dict[str, Result] | None = None
    """Errors that other options may mend, by their messages."""
    advice: Advice | None = None

    def narrowed(self, product: Profile, outcome: Outcome, errors: dict[str, Result]) -> Common:
        """Return what one more trial has, too; `errors` are those of it that other options may mend."""
        common_errors, advice = self.errors, self.advice
        if outcome.is_judged:
            common_errors = errors if common_errors is None else _in_both(common_errors, errors)
        if outcome.has_objects:
            findings = advice_of(product, outcome)
            advice = findings if advice is None else _in_both(advice, findings)
        return Common(common_errors, advice)


def _in_both(findings: dict[K, Result], others: dict[K, Result]) -> dict[K, Result]:
    return {key: finding for key, finding in findings.items() if key in others}


class Bench(NamedTuple):
    """A Profile that is tried, and what is known of its trials."""

    product: Profile
    resources: ResourceList
    config: FunctionConfig
    known: set[str]
    """The errors of trials so far."""
    remedies: set[FieldPath]
    """The paths of made-up texts that are wrong themselves."""
    others_left: Iterator[int]
    """Counts down the trials with another text in place of a made-up one."""

    def rendered(self, trial: Trial) -> Outcome:
        """Return a config with the options of a trial, and the findings about what it renders."""
        product, config = self.product, self.config
        item = stand_in(product, trial.options)
        findings, expansion = products.problems(item, item.ref, config)
        if findings or not expansion:
            return Outcome(item, findings)
        if not product.kind:
            parts = chain(expansion.layers, *expansion.modules.values())
            base = merged([config.overrides.get(product.name, {}), *(part.fields for part in parts), config.defaults])
            item = stand_in(product, trial.options, profiles.missing_fields(base))
        findings, has_objects = profiles.judge(reading.from_item(item, config, expansion), self.resources, config)
        return Outcome(item, findings, True, has_objects)

    def true_errors(self, trial: Trial, errors: list[Result]) -> list[Result]:
        """Return the errors of a trial that are not about a made-up text."""
        others = samples.other_trials(self.product, trial, self.remedies) if errors else ()
        for _, (text, other) in zip(self.others_left, others, strict=False):
            if self.known.issuperset(map(str, errors)):
                break  # else each of many trials is rendered as often as it has texts
            keys = set(map(_key, self.rendered(other).errors))
            if keys < set(map(_key, errors)):  # the other errors are about the made-up text
                errors = [finding for finding in errors if _key(finding) in keys]
                self.remedies.add(text)
        self.known.update(map(str, errors))
        return errors


def _key(finding: Result) -> Key:
    return str(finding.ref), finding.rule, finding.field.path if finding.field else ""


def advice_of(product: Profile, outcome: Outcome) -> Advice:
    """Return what is said at the Profile of a trial and is no error, but for what the cluster of a config decides."""
    findings = (finding for finding in outcome.findings if finding.ref == product.item.ref)
    left_out = _OF_CLUSTER if product.kind else _OF_CLUSTER | {"KRM142"}  # a DeviceConfig has fields of its own, too
    return {_key(advice): advice for advice in findings if advice.severity != "error" and advice.rule not in left_out}


def stand_in(product: Profile, options: Any, fields: Mapping[str, Any] | None = None) -> Item:
    """Return a config of a Profile with these options; `fields` are those of a DeviceConfig of ours beside them."""
    if product.kind:
        (group, kind), version = product.kind, next(iter(product.versions), "v1alpha1")
        return profiles.stand_in(options, f"{group}/{version}", kind, product.name)
    return profiles.stand_in({**(fields or {}), "profile": product.name, "options": options})
