"""The Profile of examples/vendor-profiles/amd-gpu changes what AMD's own code changes, option by option.

An option counts as equal when the same fields of the objects get the same values; texts of more than a line are left
out of that. The table of docs/internals/superset.md is made from it (KRMFN_UPDATE=1 writes it).
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
from tests.functions.profile.recorded import EXAMPLES, FOLDER, holds_page, of_recorded_nodes, recorded, with_texts
from tests.functions.profile.recorded import plain as recorded_form
from tests.functions.profile.vendor import rendered

PROFILE: Manifest = yaml.safe_load((EXAMPLES / "amd-gpu" / "profile.yaml").read_text())
KINDS = ("Module", "DaemonSet", "Service", "ServiceMonitor", "ConfigMap")
DIFFERENT = {
    **dict.fromkeys(
        [f"{part}.selector" for part in ("configManager", "draDriver", "metricsExporter", "testRunner")],
        "without the Module's selector a node could never unload",
    ),
    "devicePlugin.devicePluginImage": "the labeller's image is an option of its own; no text is taken apart",
}
"""The options whose objects change otherwise, and why."""
COMBINATIONS = {
    "combo/plugin-image-mirror": "the labeller's image, as above",
}
"""Those that differ, and why."""


@functools.cache
def cases() -> list[dict[str, Any]]:
    with gzip.open(FOLDER / "amd-gpu-options.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def patched(manifest: Manifest, patch: list[dict[str, Any]]) -> Manifest:
    """Return the object after an RFC 6902 patch of add, remove and replace."""
    result = copy.deepcopy(manifest)
    for step in patch:
        *parents, last = (part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")[1:])
        holder: Any = result
        for part in parents:
            holder = holder[int(part)] if isinstance(holder, list) else holder[part]
        key: Any = (len(holder) if last == "-" else int(last)) if isinstance(holder, list) else last
        if step["op"] == "remove":
            del holder[key]
        elif isinstance(holder, list) and step["op"] == "add":
            holder.insert(key, step["value"])
        else:
            holder[key] = step["value"]
    return result


@functools.cache
def base() -> dict[str, Manifest]:
    """Return what AMD's code makes of the first CR, with the defaults that the API server fills in."""
    documents = yaml.safe_load_all((FOLDER / "amd-gpu.yaml").read_text())
    objects = {f"{document['kind']}/{document['metadata']['name']}": document for document in documents}
    return after(objects, cases()[0]["patchWithDefaults"])


def amds(case: dict[str, Any]) -> dict[str, Manifest]:
    """Return what AMD's code makes of the case, with the defaults that the API server fills in."""
    return after(base(), case.get("patchWithDefaults", case["patch"]))


def after(before: dict[str, Manifest], steps: list[dict[str, Any]]) -> dict[str, Manifest]:
    """Return the objects after the steps of a recording."""
    objects = dict(before)
    for step in steps:
        name = step["object"]
        if step["op"] == "gone":
            objects.pop(name, None)
        else:
            objects[name] = step["manifest"] if step["op"] == "new" else patched(objects[name], step["patch"])
    return objects


def ours(cr: Manifest) -> dict[str, Manifest]:
    """Return what krmfn makes of the CR, as it stands."""
    objects, findings, failed = rendered(PROFILE, cr, kmm={"version": "2.6"})
    assert not failed, [line for line in findings if line.startswith("error")]
    of_case = {
        name.replace(" ", "/"): item for name, item in objects.items() if item["kind"] in KINDS or "spec" not in item
    }
    of_case.pop("ConfigMap/default-dcm-config", None)  # the operator makes it elsewhere, and it was not recorded
    return of_recorded_nodes(of_case)


def plain(manifest: Manifest) -> Manifest:
    """Return the object in one form: no defaults, kernels of mappings as a variable, no texts of several words."""
    kernel = r"/(5\.15\.0-76-generic|6\.4\.0-150700\.53\.6-default)/"
    form: Any = with_texts(recorded_form(manifest), lambda text: re.sub(kernel, "/$KERNEL_FULL_VERSION/", text))
    container = form.get("spec", {}).get("moduleLoader", {}).get("container", {})
    for part in ("registryTLS", "sign"):  # what the container has counts for each mapping without its own
        shared = container.pop(part, None)
        for mapping in container.get("kernelMappings", ()) if shared else ():
            mapping.setdefault(part, shared)
    for mapping in container.get("kernelMappings", ()):  # a regexp per system here, a literal per kernel there
        for key in mapping.keys() & {"literal", "regexp"}:
            del mapping[key]
    return dict(form)


def changes(old: dict[str, Manifest], new: dict[str, Manifest]) -> set[tuple[str, str, str]]:
    """Return what differs: object, path, new value; objects that come or go have the path ""."""
    rows = {(name, "", "gone") for name in old.keys() - new.keys()}
    for name, manifest in new.items():
        former = plain(old[name]) if name in old else {}
        for change in differences(former, plain(manifest)):
            if change.new is ABSENT:
                rows.add((name, change.path, "absent"))
            else:
                ends = leaves(change.new)
                rows |= {(name, join((*change.parts, *path)), json.dumps(end)) for path, end in ends if end != {}}
    return {row for row in rows if row[0].partition("/")[0] in KINDS}


@functools.cache
def compared(number: int) -> tuple[set[tuple[str, str, str]], set[tuple[str, str, str]]]:
    """Return the changes of a case that AMD's code makes, and ours."""
    case = cases()[number]
    return changes(base(), amds(case)), changes(ours(cases()[0]["cr"]), ours(case["cr"]))


def is_equal(number: int) -> bool:
    expected, actual = compared(number)
    return actual == expected


def numbers(are_combinations: bool = False) -> list[int]:
    """Return the cases that AMD's validator takes: of one option each, or of several together."""
    return [
        number
        for number, case in enumerate(cases())
        if number and case["id"].startswith("combo") is are_combinations and not case.get("refused")
    ]


def touching() -> list[int]:
    """Return the options that change an object of KINDS."""
    return [number for number in numbers() if compared(number)[0]]


@recorded
def test_an_option_changes_what_amds_code_changes_or_there_is_a_reason() -> None:
    for number in numbers():
        case = cases()[number]["id"]
        if case not in DIFFERENT:
            expected, actual = compared(number)
            assert actual == expected, case


@recorded
def test_every_reason_is_needed_and_most_options_are_equal() -> None:
    different = {cases()[number]["id"] for number in touching() if not is_equal(number)}
    assert different == DIFFERENT.keys()
    assert len(different) <= 0.05 * len(touching())


@recorded
def test_combinations_of_options() -> None:
    different = {cases()[number]["id"] for number in numbers(are_combinations=True) if not is_equal(number)}
    assert different == COMBINATIONS.keys()


def table() -> str:
    """Return the table of docs/internals/superset.md."""
    options, by_id = touching(), {case["id"]: number for number, case in enumerate(cases())}
    equal = sum(map(is_equal, options))
    none = sum("combo" not in name and number != 0 and number not in options for name, number in by_id.items())
    lines = ["| options of AMD's kind | number | what |", "|---|---|---|"]
    lines.append(f"| reproduced exactly | {equal} | all changes of all objects, as AMD's own code makes them |")
    for reason in dict.fromkeys(DIFFERENT.values()):
        ids = [name for name in DIFFERENT if DIFFERENT[name] == reason and by_id[name] in options]
        lines.append(f"| differently | {len(ids)} | {', '.join(f'`{name}`' for name in ids)}: {reason} |")
    lines.append(
        f"| in no object here | {none} | read by AMD's controller over time, or on OpenShift alone: `ignored` |"
    )
    together = len(numbers(are_combinations=True))
    equal = together - len(COMBINATIONS)
    lines.append(f"| combinations, exactly | {equal} | of {together} that were recorded, of 2 to 16 fields each |")
    for name, reason in COMBINATIONS.items():
        lines.append(f"| combinations, differently | 1 | `{name.removeprefix('combo/')}`: {reason} |")
    return "\n".join(lines) + "\n"


@recorded
def test_superset_md_has_the_table() -> None:
    holds_page("| options of AMD's kind |", table())
