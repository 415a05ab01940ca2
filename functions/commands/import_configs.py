"""Configs of a vendor's kind in an import: with their Profile they are the answer as they are."""

from collections.abc import Collection, Sequence

from krmfn import Item, KrmfnError, Manifest, Result, warning
from krmfn.ownership import Id
from krmfn.printing import counted, listed, some
from krmfn.resource import ref
from krmfn.typed import NamedTuple

from ..adoption.fields import Compared, compare
from ..cluster_dump import cleaned
from ..importing.drafts import rendered
from ..paths import manifests
from ..rendering.kinds import PROFILE, driven_kinds, is_foreign
from ..run import Run, placed


class Driven(NamedTuple):
    """The configs of a cluster that Profiles are for, and what is made of them."""

    inputs: tuple[Manifest, ...] = ()
    """The configs as they are, and the Profiles."""
    covered: frozenset[Id] = frozenset()
    """The objects that need no other config, and these inputs themselves."""
    lines: tuple[str, ...] = ()
    """The report about them."""
    next_step: str = ""
    """The command that says whether Git can take over what was made of them; "" where nothing was."""
    findings: tuple[Result, ...] = ()
    """What the Profiles make otherwise, and why nothing is made of a config."""


def profiles_of(paths: Sequence[str], root: str | None) -> list[Item]:
    """Return the Profiles of the files of --profile. Raises KrmfnError for a file without one."""
    items = list[Item]()
    for path in paths:
        resources = manifests.read(path, root=root)
        profiles = resources.where(kind=PROFILE[1], group=PROFILE[0])
        if not profiles:
            raise KrmfnError(f"--profile {path}: no Profile is in it")
        items += profiles
    return items


def driven(items: Sequence[Item], profiles: Sequence[Item], run: Run, existing: Manifest | None, folder: str) -> Driven:
    """Return the configs among some items that Profiles are for: these, and those of --profile.

    A config of which the Profile makes nothing, by an error, is left to the rest of the import, with a warning.
    """
    known = {item.name: item for item in (*(i for i in items if (i.group, i.kind) == PROFILE), *profiles)}
    kinds = driven_kinds(known.values())
    configs = [item for item in items if (item.group, item.kind) in kinds and not is_foreign(item)]
    if not configs:
        return Driven(covered=frozenset(item.ref.id for item in known.values()))
    inputs = [cleaned(item.manifest) for item in configs] + [item.manifest for item in known.values()]
    resources = rendered(inputs, run, existing)
    if resources.failed:
        errors = [result for result in placed(resources) if result.severity == "error"]
        names = some((str(item.ref) for item in configs), len(configs))
        message = f"nothing is made of {names} by its Profile: {errors[0].text}" if errors else ""
        return Driven(covered=frozenset(item.ref.id for item in known.values()), findings=(warning(message),))
    ids = {item.ref.id for item in (*configs, *known.values())}
    objects = {item.ref.id: item.manifest for item in resources.items if item.ref.id not in ids}
    live = {item.ref.id: item for item in items if item.ref.id in objects}
    compared = {key: compare(item.manifest, objects[key]) for key, item in live.items()}
    findings = tuple(_finding(live[key], entry) for key, entry in compared.items() if _changes(entry))
    lines = _lines(folder, configs, known, [(live[key], entry) for key, entry in compared.items()])
    absent = [str(ref(manifest)) for key, manifest in objects.items() if key not in live]
    if absent:
        lines.append(f"made of them, and not in the input: {some(absent, len(absent))}")
    next_step = f"next: krmfn adopt {folder} --live DUMP    # who owns these objects, and the steps to Git"
    return Driven(tuple(inputs), frozenset({*ids, *live}), tuple(lines), next_step, findings)


def _lines(
    folder: str, configs: Sequence[Item], profiles: Collection[str], pairs: Sequence[tuple[Item, Compared]]
) -> list[str]:
    """Return what is written as it is, in place of which objects, and how many fields of each are equal."""
    numbers: dict[str, int] = {}
    for item, _ in pairs:
        numbers[item.kind] = numbers.get(item.kind, 0) + 1
    place = f", in place of {listed(numbers)}" if numbers else ""
    names = some((str(item.ref) for item in configs), len(configs))
    noun = "Profile" if len(profiles) == 1 else "Profiles"
    lines = [f"{folder}: {names} as it is in the input, with the {noun} {some(profiles, len(profiles))}{place}"]
    lines += [f"{item.ref}: {entry.equal:,} of {counted(entry.fields, 'field')}" for item, entry in pairs]
    return lines


def _changes(entry: Compared) -> bool:
    return any(field.outcome != "stays" for field in entry.differs)


def _finding(item: Item, entry: Compared) -> Result:
    paths = [field.path for field in entry.differs if field.outcome != "stays"]
    message = f"the Profile makes it otherwise: {some(paths, len(paths), 2)}"
    return item.located(warning(message, ref=item.ref, remedy="change the Profile or the config"))
