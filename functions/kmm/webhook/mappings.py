"""The webhook's rules about the module loader's container and its kernel mappings.

Source: KMM v2.4.0 to main, internal/webhook/module.go; the texts' misspellings are KMM's.
"""

from __future__ import annotations

from collections.abc import Iterator

from krmfn.results import Result

from ..lookup import Table, listing, tables, text
from ..regexps import TOO_LARGE, compile_error
from ..rule import Rules, apply, refused

CONTAINER = "spec.moduleLoader.container"
PREFIX = "failed to validate kernel mappings: "


def check(container: Table) -> Iterator[Result]:
    """Yield the findings about the container, then mapping by mapping, in the webhook's order."""
    yield from apply(CONTAINER_RULES, container, prefix=PREFIX)
    for index, entry in tables(container, "kernelMappings"):
        yield from apply(MAPPING_RULES, entry, f"{CONTAINER}.kernelMappings[{index}]", index, container, prefix=PREFIX)


def one_in_tree_field(container: Table) -> Iterator[Result]:
    """KMM019: the container says which in-tree modules go in one field, not in both. KMM 2.1+; [] counts as said."""
    if _in_tree_list(container) and _in_tree_name(container):
        message = "only one of the Container's fields: InTreeModulesToRemove or InTreeModuleToRemove can be defined"
        yield refused(message, f"{CONTAINER}.inTreeModuleToRemove", _in_tree_name(container))


def image_has_a_tag(container: Table) -> Iterator[Result]:
    """KMM020: the container's image has a tag or a digest. KMM 2.2+; a registry's port passes for a tag."""
    yield from _tagged(text(container, "containerImage"), f"{CONTAINER}.containerImage")


def not_regexp_and_literal(entry: Table, path: str, index: int, container: Table) -> Iterator[Result]:
    """KMM021: a kernel mapping has not both, a regexp and a literal. KMM 1.1+."""
    if text(entry, "regexp") and text(entry, "literal"):
        message = f"regexp and literal are mutually exclusive properties at kernelMappings[{index}]"
        yield refused(message, f"{path}.literal", text(entry, "literal"))


def regexp_or_literal(entry: Table, path: str, index: int, container: Table) -> Iterator[Result]:
    """KMM022: a kernel mapping has a regexp or a literal. KMM 1.1+."""
    if not text(entry, "regexp") and not text(entry, "literal"):
        yield refused(f"regexp or literal must be set at kernelMappings[{index}]", path)


def regexp_compiles(entry: Table, path: str, index: int, container: Table) -> Iterator[Result]:
    """KMM023: a kernel mapping's regexp is one of Go's (RE2: no look-around, no back-references). KMM 1.1+."""
    regexp = text(entry, "regexp")
    wrong = compile_error(regexp) if regexp else None
    if wrong and wrong != TOO_LARGE:
        yield refused(f"invalid regexp at index {index}: {wrong}", f"{path}.regexp", regexp)


def mapping_has_an_image(entry: Table, path: str, index: int, container: Table) -> Iterator[Result]:
    """KMM024: a kernel mapping has an image, its own or the container's. KMM 1.1+."""
    if not text(entry, "containerImage") and not text(container, "containerImage"):
        yield refused(f"missing {path}.containerImage", f"{path}.containerImage")


def mapping_image_has_a_tag(entry: Table, path: str, index: int, container: Table) -> Iterator[Result]:
    """KMM025: a kernel mapping's image has a tag or a digest. KMM 2.2+; a registry's port passes for a tag."""
    yield from _tagged(text(entry, "containerImage"), f"{path}.containerImage")


def one_mapping_in_tree_field(entry: Table, path: str, index: int, container: Table) -> Iterator[Result]:
    """KMM026: a kernel mapping says which in-tree modules go in one field, not in both. KMM 2.1+."""
    if _in_tree_list(entry) and _in_tree_name(entry):
        message = "only one of the KernelMapping fields: InTreeModulesToRemove or InTreeModuleToRemove can be defined"
        yield refused(message, f"{path}.inTreeModuleToRemove", _in_tree_name(entry))


def same_in_tree_field(entry: Table, path: str, index: int, container: Table) -> Iterator[Result]:
    """KMM027: mapping and container say which in-tree modules go in the same one of the two fields. KMM 2.1+."""
    mine = _in_tree_list(entry) and _in_tree_name(container)
    theirs = _in_tree_name(entry) and _in_tree_list(container)
    if mine or theirs:
        message = (
            "only one type if field (InTreeModuleToRemove or InTreeModulesToRemove) can be defined in KenrelMapping "
            "or Container"
        )
        yield refused(message, f"{path}.{'inTreeModulesToRemove' if mine else 'inTreeModuleToRemove'}")


def _tagged(image: str, path: str) -> Iterator[Result]:
    if image and ":" not in image and "@" not in image:
        message = "failed to validate image format: container image must explicitely set a tag or digest; got: "
        yield refused(message + image, path, image)


def _in_tree_list(holder: Table) -> bool:
    return listing(holder, "inTreeModulesToRemove") is not None


def _in_tree_name(holder: Table) -> str:
    return text(holder, "inTreeModuleToRemove")


CONTAINER_RULES: Rules = (
    ("KMM019", one_in_tree_field),
    ("KMM020", image_has_a_tag),
)
MAPPING_RULES: Rules = (
    ("KMM021", not_regexp_and_literal),
    ("KMM022", regexp_or_literal),
    ("KMM023", regexp_compiles),
    ("KMM024", mapping_has_an_image),
    ("KMM025", mapping_image_has_a_tag),
    ("KMM026", one_mapping_in_tree_field),
    ("KMM027", same_in_tree_field),
)
RULES: Rules = CONTAINER_RULES + MAPPING_RULES
