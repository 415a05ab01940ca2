"""Lints about images: unknown variables, and tags that are empty or that move."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from krmfn.errors import KrmfnError
from krmfn.resource import Manifest, ref
from krmfn.results import Field, Result, error, warning

from ..envsubst import Part, parse, substitute
from ..gotext import quote
from ..lookup import table, tables, text, texts
from ..resolution import KERNEL_VARIABLES, VARIABLES, variables
from ..rule import Rules, apply
from .mapping_lints import CATCH_ALL

CONTAINER = "spec.moduleLoader.container"
_SAMPLE = variables("6.1.0-1.x86_64")
_EMPTY_TAG = re.compile(r"[:@]\Z|:[@/]|//|\A\Z|\A[/:@]")


class Template(NamedTuple):
    """A text with variables: its path, the variables that KMM knows there, and whether it is an image."""

    path: str
    text: str
    known: tuple[str, ...]
    is_image: bool = True
    every_kernel: bool = False
    """The image of a kernel mapping that takes every kernel."""


def check(module: Manifest) -> Iterator[Result]:
    """Yield the lints about all images and files to sign, in the order of their fields."""
    named = ref(module)
    values = _SAMPLE | {"MOD_NAME": named.name or "x", "MOD_NAMESPACE": named.namespace or "x"}
    for template in _templates(module):
        yield from apply(RULES, template, values)


def check_pods(workload: Manifest) -> Iterator[Result]:
    """Yield the lints about the images of a DaemonSet's containers; KMM substitutes no variables there."""
    for part in ("initContainers", "containers"):
        for index, container in tables(table(workload, "spec", "template", "spec"), part):
            path = f"spec.template.spec.{part}[{index}].image"
            yield from apply(RULES, Template(path, text(container, "image"), ()), _SAMPLE)


def _templates(module: Manifest) -> Iterator[Template]:
    container = table(module, "spec", "moduleLoader", "container")
    entries = list(tables(container, "kernelMappings"))
    wide = [entry for _, entry in entries if CATCH_ALL.fullmatch(text(entry, "regexp"))]
    inherits = any(not text(entry, "containerImage") for entry in wide)
    holders = [(CONTAINER, container), *((f"{CONTAINER}.kernelMappings[{at}]", entry) for at, entry in entries)]
    for path, holder in holders:
        every = inherits if holder is container else holder in wide
        yield Template(f"{path}.containerImage", text(holder, "containerImage"), VARIABLES, every_kernel=every)
        sign = table(holder, "sign")
        yield Template(f"{path}.sign.unsignedImage", text(sign, "unsignedImage"), KERNEL_VARIABLES)
        for index, file in enumerate(texts(sign, "filesToSign")):
            yield Template(f"{path}.sign.filesToSign[{index}]", file, KERNEL_VARIABLES, is_image=False)
    for plugin in ("devicePlugin", "dra"):
        for part in ("container", "initContainer"):
            image = text(table(module, "spec", plugin, part), "image")
            yield Template(f"spec.{plugin}.{part}.image", image, ())


def braces_are_closed(template: Template, values: dict[str, str]) -> Iterator[Result]:
    """KRM221: every ${ is closed: KMM takes the Module and fails on every node."""
    if template.known and _parts(template.text) is None:
        message = (
            f"{quote(template.text)} has a ${{ that is not closed by a }}; KMM accepts it and then fails on every "
        )
        yield error(message + "node", field=Field(template.path, template.text))


def variables_are_known(template: Template, values: dict[str, str]) -> Iterator[Result]:
    """KRM222: a template reads variables that KMM sets; any other one is empty, without a word."""
    for name in dict.fromkeys(_read(template.text)) if template.known else ():
        if name not in template.known:
            also = " here" if name in VARIABLES else ""
            message = f"KMM sets no variable {name}{also}, so it is empty; known: {', '.join(template.known)}"
            yield warning(message, field=Field(template.path, template.text))


def plugin_images_have_no_variables(template: Template, values: dict[str, str]) -> Iterator[Result]:
    """KRM223: images of device plugins, DRA drivers and DaemonSets have no variables: none are substituted there."""
    if not template.known and "$" in template.text:
        message = f"no variables are substituted here; the image would be {quote(template.text)} as it stands"
        yield warning(message, field=Field(template.path, template.text))


def tag_is_not_empty(template: Template, values: dict[str, str]) -> Iterator[Result]:
    """KRM224: an image with its variables filled in still has a name and a tag or digest."""
    image = _image(template, values)
    if image is not None and _EMPTY_TAG.search(image):
        message = f"comes out as {quote(image)}, for example on kernel {values['KERNEL_FULL_VERSION']}; "
        yield error(message + "no runtime can pull that", field=Field(template.path, template.text))


def tag_does_not_move(template: Template, values: dict[str, str]) -> Iterator[Result]:
    """KRM225: an image has a tag that stays what it is, or a digest; latest (also said by no tag) moves."""
    image = _pullable(template, values)
    if image is None or "@" in image:
        return
    tag = image.rpartition("/")[2].partition(":")[2]
    if tag in ("", "latest"):
        what = "the tag latest" if tag else "no tag, which means latest"
        message = f"has {what}: what it names changes without a change in Git; write a version or a digest"
        yield warning(message, field=Field(template.path, template.text))


def image_is_for_its_kernels(template: Template, values: dict[str, str]) -> Iterator[Result]:
    """KRM226: an image for every kernel names the kernel in its tag; one with a digest is one image and names none."""
    read = [name for name in _read(template.text) if name in KERNEL_VARIABLES]
    if template.known and template.is_image and read and "@" in template.text:
        message = f"has a digest, which is one image for every kernel, so ${read[0]} in it changes nothing"
        yield warning(message, field=Field(template.path, template.text))
    elif template.every_kernel and not read and _pullable(template, values):
        message = (
            "is one image for every kernel; unless it holds a kernel module for each, put $KERNEL_FULL_VERSION into "
            "its tag, or name its kernels in the mapping"
        )
        yield warning(message, field=Field(template.path, template.text))


def _image(template: Template, values: dict[str, str]) -> str | None:
    """Return the image with its variables filled in; None when there is none, or it cannot be filled in."""
    if not template.is_image or not template.text or _parts(template.text) is None:
        return None
    if not template.known:
        return template.text
    return substitute(template.text, {name: values[name] for name in template.known})


def _pullable(template: Template, values: dict[str, str]) -> str | None:
    """Return the image with its variables filled in; None when KMM refuses it or no runtime can pull it (KRM224)."""
    image = _image(template, values)
    refused = bool(template.known) and ":" not in template.text
    return None if image is None or refused or _EMPTY_TAG.search(image) else image


@lru_cache(maxsize=1024)
def _parts(template: str) -> tuple[Part, ...] | None:
    try:
        return parse(template)
    except KrmfnError:
        return None


def _read(template: str) -> list[str]:
    """Return the names of the variables that decide the result; one with a default only when KMM sets it."""
    parts = _parts(template) or ()
    decisive = [part for part in parts if part.name in VARIABLES or part.operator in ("", "+", ":+")]
    defaults = [part.default for part in parts if part.default]
    return [part.name for part in (*decisive, *defaults) if part.name is not None]


RULES: Rules = (
    ("KRM221", braces_are_closed),
    ("KRM222", variables_are_known),
    ("KRM223", plugin_images_have_no_variables),
    ("KRM224", tag_is_not_empty),
    ("KRM225", tag_does_not_move),
    ("KRM226", image_is_for_its_kernels),
)
