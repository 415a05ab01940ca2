"""The kernel mapping of a Module that a node's kernel takes, and its image, exactly as KMM decides."""

from collections.abc import Callable
from functools import cache, lru_cache

from krmfn import KrmfnError
from krmfn.typed import Any, NamedTuple

from .envsubst import parse, substitute, variables
from .lookup import Table, has, table, text
from .module import IN_TREE, Module, removed_modules
from .regexp_work import TooMuch, hits
from .regexps import is_usable, judged, refusal
from .rule import quote


class Resolution(NamedTuple):
    """The mapping of a kernel and what it gives; empty without a mapping: KMM leaves such nodes alone."""

    mapping: int | None = None
    image: str | None = None
    in_tree: tuple[str, ...] = ()


class NotJudged(KrmfnError):
    """A regexp that is not judged decides about a kernel: KMM may match it or not, or fail."""


def resolver(module: Module, through_hub: bool = False) -> Callable[[str], Resolution]:
    """Return the function from a node's kernel version to the mapping, image and in-tree modules that KMM chooses.

    With `through_hub` the node is a spoke's: the hub has written a literal for its kernel, and left out a kernel that
    it fails on; then the spoke fills in the image once more, so that `$$` is `$` on the hub and a variable there.

    It raises KrmfnError, with KMM's text, when a mapping matches and the kernel has fewer than three parts or the image
    has an unclosed `${`; and when a regexp before any match does not compile. It raises NotJudged when that is one that
    is not judged here (rule KRM216). Regexps are compiled once.
    Source: KMM v2.4.0 to main, internal/module/kernelmapper.go.
    """
    container, entries = module.container, module.mappings
    find = _finder(tuple((text(entry, "literal"), text(entry, "regexp")) for entry in entries))

    def resolve(kernel: str) -> Resolution:
        # The kubelet of a kernel built from a dirty tree adds one plus; KMM takes one off.
        kernel = kernel.removesuffix("+")
        if (index := find(kernel)) is None:
            return Resolution()
        values = variables(kernel) | {"MOD_NAME": module.ref.name, "MOD_NAMESPACE": module.ref.namespace}
        image = text(entries[index], "containerImage") or text(container, "containerImage")
        return Resolution(index, _image(image, values), removed_modules(module, entries[index]))

    def resolve_on_spoke(kernel: str) -> Resolution:
        try:
            of_hub = resolve(kernel)
        except NotJudged:
            raise
        except KrmfnError:
            return Resolution()
        if not of_hub.image or "$" not in of_hub.image:
            return of_hub
        values = variables(kernel.removesuffix("+"))
        names = {"MOD_NAME": module.ref.name, "MOD_NAMESPACE": module.ref.namespace}
        return of_hub._replace(image=substitute(of_hub.image, values | names))

    return resolve_on_spoke if through_hub else resolve


def _image(image: str, values: dict[str, str]) -> str:
    """Return an image with the values of a kernel. Raises KrmfnError, with KMM's text, for an unclosed `${`."""
    try:
        return substitute(image, values)
    except KrmfnError as unclosed:
        detail = f"failed to substitute {quote(image)}: {unclosed}"
        raise KrmfnError(f"failed to substitute templates in the ContainerImage field: {detail}") from unclosed


def first_mapping(module: Module, kernel: str) -> int | None:
    """Return the position of the mapping for a kernel version, without the node's `+`; None for none.

    Raises KrmfnError for a regexp before it that does not compile.
    """
    return _finder(tuple((text(entry, "literal"), text(entry, "regexp")) for entry in module.mappings))(kernel)


def compared_fields(module: Module, entry: Table) -> Table:
    """Return the fields of a Module and a mapping that KMM compares with a node: a difference reloads the module there.

    The image is a template, cut into its parts. What KMM decodes to the same is the same here: an empty list or text
    is none, and of registryTLS, where the mapping's takes the place of the container's, only whether it is insecure.
    Source: KMM v2.6.0 and main (2026-07-29), internal/api ModuleLoaderData and ModuleConfig of a NodeModulesConfig.
    """
    image = text(entry, "containerImage") or text(module.container, "containerImage")
    return {
        "containerImage": _parts(image),
        IN_TREE[0]: removed_modules(module, entry),
        "imagePullPolicy": text(module.container, "imagePullPolicy"),
        "registryTLS": is_insecure(module, entry),
        "modprobe": {**_stored_fields(module.modprobe), "dirName": module.directory},
    }


def is_insecure(module: Module, entry: Table) -> bool:
    """Return whether images of a mapping are pulled without verifying TLS; its registryTLS replaces the container's."""
    tls = table(entry if has(entry, "registryTLS") else module.container, "registryTLS")
    return tls.get("insecure") is True or tls.get("insecureSkipTLSVerify") is True


def _parts(image: str) -> Any:
    try:
        return parse(image)
    except KrmfnError:
        return image


def _stored_fields(value: Table) -> Table:
    """Return a mapping as the API server stores it: without what is empty; an empty mapping stays."""
    fields = {key: field for key, field in value.items() if field not in (None, "", [])}
    return {key: _stored_fields(field) if isinstance(field, dict) else field for key, field in fields.items()}


def _failure(regexp: str, kernel: str, is_behind: bool) -> KrmfnError:
    """Return why nobody knows which mapping takes a kernel; `is_behind` of a regexp behind those that are judged."""
    if is_behind:
        return NotJudged(f"the regexp {quote(regexp[:80])} is not judged, since those before it are too large together")
    reason = refusal(regexp)
    if reason and reason.is_of_go:
        subject = f"could not match regexp {quote(regexp[:200])} against kernel {quote(kernel)}"
        return KrmfnError(f"{subject}: {reason.message}")
    return NotJudged(f"the regexp {quote(regexp[:80])} is too large to be judged")


@lru_cache(maxsize=256)
def _finder(conditions: tuple[tuple[str, str], ...]) -> Callable[[str], int | None]:
    """Return the function that finds the position of a kernel's mapping among (literal, regexp); None for none.

    It raises KrmfnError for a regexp before the first match that does not compile, and NotJudged for one that is not
    judged.
    """
    known = judged(tuple(regexp for _, regexp in conditions))
    errors = (at for at, (_, regexp) in enumerate(conditions[:known]) if regexp and not is_usable(regexp))
    broken = next(errors, known)  # KMM reads no mapping after one with an error
    literals = {literal: at for at, (literal, _) in reversed([*enumerate(conditions[: broken + 1])])}
    regexps = [(at, regexp) for at, (_, regexp) in enumerate(conditions[:broken]) if regexp]
    texts = tuple(regexp for _, regexp in regexps)

    @cache
    def find(kernel: str) -> int | None:
        try:
            places = [regexps[position][0] for position in hits(texts, kernel)] if texts else []
        except TooMuch as failure:
            raise NotJudged(str(failure)) from failure
        if kernel and kernel in literals:
            places.append(literals[kernel])
        if not places and broken < len(conditions):
            raise _failure(conditions[broken][1], kernel, is_behind=broken == known)
        return min(places, default=None)

    return find
