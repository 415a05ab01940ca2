"""The Profile of examples/vendor-profiles/amd-gpu changes what AMD's own code changes, option by option.

An option counts as equal when
the objects change in the same fields to the same values; texts of more than a line are left out of that. The table of
docs/superset.md is made from it (KRMFN_UPDATE=1 writes it).
"""

from __future__ import annotations

import copy
import functools
import gzip
import json
import re
from typing import Any

import yaml
from krmfn_functions.differences import ABSENT, differences
from krmfn_functions.kmm.lookup import leaves

from krmfn import Manifest
from krmfn.resource import join
from tests.functions.profile import recorded as recordings
from tests.functions.profile.recorded import EXAMPLES, FOLDER, recorded
from tests.functions.profile.vendor import rendered

PROFILE: Manifest = yaml.safe_load((EXAMPLES / "amd-gpu" / "profile.yaml").read_text())
KINDS = ("Module", "DaemonSet", "Service", "ServiceMonitor", "ConfigMap")
SELECTOR = "without the Module's selector a node could never unload"
DIFFERENT = {
    "configManager.selector": SELECTOR,
    "draDriver.selector": SELECTOR,
    "metricsExporter.selector": SELECTOR,
    "testRunner.selector": SELECTOR,
    "devicePlugin.devicePluginImage": "the labeller's image is an option of its own; no text is taken apart",
}
"""The options whose objects change otherwise, and why."""
COMBINATIONS = {
    "combo/plugin-image-mirror": "the labeller's image, as above",
    "combo/rolling-update-only": "AMD's code writes a maxUnavailable of 0, which the API server refuses",
}
"""Those that differ, and why."""


@functools.cache
def cases() -> list[dict[str, Any]]:
    with gzip.open(FOLDER / "amd-gpu-options.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def patched(manifest: Manifest, patch: list[dict[str, Any]]) -> Manifest:
    """The object after an RFC 6902 patch of add, remove and replace."""
    whole = copy.deepcopy(manifest)
    for step in patch:
        *above, last = (part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")[1:])
        holder: Any = whole
        for part in above:
            holder = holder[int(part)] if isinstance(holder, list) else holder[part]
        key: Any = (len(holder) if last == "-" else int(last)) if isinstance(holder, list) else last
        if step["op"] == "remove":
            del holder[key]
        elif isinstance(holder, list) and step["op"] == "add":
            holder.insert(key, step["value"])
        else:
            holder[key] = step["value"]
    return whole


@functools.cache
def base() -> dict[str, Manifest]:
    documents = yaml.safe_load_all((FOLDER / "amd-gpu.yaml").read_text())
    return {f"{one['kind']}/{one['metadata']['name']}": one for one in documents}


def theirs(case: dict[str, Any]) -> dict[str, Manifest]:
    """What AMD's code makes of the case."""
    objects = dict(base())
    for step in case["patch"]:
        if step["op"] == "gone":
            objects.pop(step["object"], None)
        else:
            own = step["manifest"] if step["op"] == "new" else patched(objects[step["object"]], step["patch"])
            objects[step["object"]] = own
    return objects


def ours(cr: Manifest) -> dict[str, Manifest]:
    """What krmfn makes of the CR, as it stands."""
    objects, findings, failed = rendered(PROFILE, cr, kmm={"version": "2.6"})
    assert not failed, [line for line in findings if line.startswith("error")]
    return {name.replace(" ", "/"): one for name, one in objects.items() if one["kind"] in KINDS or "spec" not in one}


def plain(manifest: Manifest) -> Manifest:
    """The object in one form: no defaults, the mappings' kernels as a variable, texts of several words left out."""
    kernel = r"/(5\.15\.0-76-generic|6\.4\.0-150700\.53\.6-default)/"
    whole: Any = recordings.with_texts(
        recordings.plain(manifest), lambda text: re.sub(kernel, "/$KERNEL_FULL_VERSION/", text)
    )
    container = whole.get("spec", {}).get("moduleLoader", {}).get("container", {})
    for part in ("registryTLS", "sign"):  # what the container has counts for each mapping without its own
        shared = container.pop(part, None)
        for mapping in container.get("kernelMappings", ()) if shared else ():
            mapping.setdefault(part, shared)
    for mapping in container.get("kernelMappings", ()):  # a regexp per system here, a literal per kernel there
        for key in mapping.keys() & {"literal", "regexp"}:
            del mapping[key]
    return dict(whole)


def changes(old: dict[str, Manifest], new: dict[str, Manifest]) -> set[tuple[str, str, str]]:
    """What differs: object, path, new value; whole objects that come or go."""
    found = {(name, "", "gone") for name in old.keys() - new.keys()}
    for name, one in new.items():
        former = plain(old[name]) if name in old else {}
        for change in differences(former, plain(one)):
            if change.new is ABSENT:
                found.add((name, change.path, "absent"))
            else:
                ends = leaves(change.new)
                found |= {(name, join((*change.parts, *path)), json.dumps(end)) for path, end in ends if end != {}}
    return {one for one in found if one[0].partition("/")[0] in KINDS}


@functools.cache
def compared(number: int) -> tuple[set[tuple[str, str, str]], set[tuple[str, str, str]]]:
    """The changes of a case that AMD's code makes, and ours."""
    case = cases()[number]
    return changes(base(), theirs(case)), changes(ours(cases()[0]["cr"]), ours(case["cr"]))


def touching() -> list[int]:
    """The options that change an object of KINDS."""
    numbers = (n for n, one in enumerate(cases()) if n and not one["id"].startswith("combo") and not one.get("refused"))
    return [number for number in numbers if compared(number)[0]]


@recorded
def test_an_option_changes_what_amds_code_changes_or_there_is_a_reason() -> None:
    for number, case in enumerate(cases()):
        if number and not case["id"].startswith("combo") and not case.get("refused") and case["id"] not in DIFFERENT:
            want, have = compared(number)
            assert have == want, case["id"]


def is_equal(number: int) -> bool:
    want, have = compared(number)
    return want == have


@recorded
def test_every_reason_is_needed_and_most_options_are_equal() -> None:
    whole = touching()
    different = {cases()[number]["id"] for number in whole if not is_equal(number)}
    assert different == DIFFERENT.keys()
    assert len(different) <= 0.05 * len(whole)


@recorded
def test_combinations_of_options() -> None:
    assert {cases()[number]["id"] for number in combinations() if not is_equal(number)} == COMBINATIONS.keys()


def combinations() -> list[int]:
    """The combinations of options that AMD's validator takes."""
    return [number for number, one in enumerate(cases()) if one["id"].startswith("combo") and not one.get("refused")]


def table() -> str:
    """The table of docs/superset.md."""
    whole, named = touching(), {one["id"]: number for number, one in enumerate(cases())}
    equal = sum(map(is_equal, whole))
    none = [
        one["id"] for number, one in enumerate(cases()) if number and number not in whole and "combo" not in one["id"]
    ]
    lines = ["| options of AMD's kind | number | what |", "|---|---|---|"]
    lines.append(f"| reproduced exactly | {equal} | all changes of all objects, as AMD's own code makes them |")
    for reason in dict.fromkeys(DIFFERENT.values()):
        ids = [name for name, why in DIFFERENT.items() if why == reason and named[name] in whole]
        lines.append(f"| differently | {len(ids)} | {', '.join(f'`{name}`' for name in ids)}: {reason} |")
    lines.append(
        f"| in no object here | {len(none)} | read by AMD's controller over time, or on OpenShift alone: `ignored` |"
    )
    together = len(combinations())
    equal = together - len(COMBINATIONS)
    lines.append(f"| combinations, exactly | {equal} | of {together} that were recorded, of 2 to 16 fields each |")
    for name, why in COMBINATIONS.items():
        lines.append(f"| combinations, differently | 1 | `{name.removeprefix('combo/')}`: {why} |")
    return "\n".join(lines) + "\n"


@recorded
def test_superset_md_has_the_table() -> None:
    recordings.holds_page("| options of AMD's kind |", table())
