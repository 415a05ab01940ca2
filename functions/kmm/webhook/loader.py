"""The webhook's rules about the module loader's container and its kernel mappings.

Source: KMM v2.4.0 to main, internal/webhook/module.go; the texts' misspellings are KMM's.
"""

from collections.abc import Iterator

from krmfn import Result

from ... import oracles
from ...rule import Rule
from ..lookup import Table, text
from ..module import CONTAINER, EVERY_KERNEL, IN_TREE, MAPPINGS, Module
from ..rule import OF_MAPPINGS, refusal


def check(module: Module) -> Iterator[Result]:
    """Yield the findings about the container, then mapping by mapping, in the webhook's order."""
    container, has_in_tree = module.container, module.holds(*IN_TREE)
    invalid = _invalid_regexps(module)
    if has_in_tree:
        from . import kernel_modules

        yield from kernel_modules.in_tree(CONTAINER, container, container)
    yield from _check_tag(container, CONTAINER, "KMM020")
    for index, entry in enumerate(module.mappings):
        path = f"{MAPPINGS}[{index}]"
        literal, regexp = text(entry, "literal"), text(entry, "regexp")
        if regexp and literal:
            message = f"{OF_MAPPINGS}regexp and literal are mutually exclusive properties at kernelMappings[{index}]"
            yield refusal(message, f"{path}.literal", literal, rule="KMM021")
        if not regexp and not literal:
            message = f"{OF_MAPPINGS}regexp or literal must be set at kernelMappings[{index}]"
            yield refusal(message, path, rule="KMM022")
        if index in invalid:
            message = f"{OF_MAPPINGS}invalid regexp at index {index}: {invalid[index]}"
            yield refusal(message, f"{path}.regexp", regexp, rule="KMM023")
        if not text(entry, "containerImage") and not text(container, "containerImage"):
            yield refusal(f"{OF_MAPPINGS}missing {path}.containerImage", f"{path}.containerImage", rule="KMM024")
        yield from _check_tag(entry, path, "KMM025")
        if has_in_tree:
            yield from kernel_modules.in_tree(path, entry, container)


def _invalid_regexps(module: Module) -> dict[int, str]:
    """Return why Go refuses regexps of mappings, by the mappings' positions; KRM216 is about what is not judged."""
    regexps = [text(entry, "regexp") for entry in module.mappings]
    if EVERY_KERNEL.issuperset(filter(None, regexps)):
        return {}
    from ..regexps import judged, refusal  # here, since the usual regexp needs no compiler

    refusals = {at: refusal(regexp) for at, regexp in enumerate(regexps[: judged(tuple(regexps))]) if regexp}
    return {at: reason.message for at, reason in refusals.items() if reason and reason.is_of_go}


def _check_tag(holder: Table, path: str, rule: str) -> Iterator[Result]:
    """Yield the finding about an image without a tag or a digest, in a mapping or the container."""
    image = text(holder, "containerImage")
    if image and ":" not in image and "@" not in image:
        message = f"{OF_MAPPINGS}failed to validate image format: container image must explicitely set a tag or digest"
        yield refusal(f"{message}; got: {image}", f"{path}.containerImage", image, rule=rule)


KMM020 = Rule(
    "KMM020",
    "the container's image must have a tag or a digest; KMM mistakes a registry's port for a tag (KMM 2.2+)",
    good='spec: {moduleLoader: {container: {containerImage: "registry.example.com/gpu:$KERNEL_FULL_VERSION"}}}\n',
    bad="spec: {moduleLoader: {container: {containerImage: registry.example.com/gpu}}}\n",
    remedy="Add a tag or a digest to the image.",
    held=oracles.WEBHOOK,
)

KMM021 = Rule(
    "KMM021",
    "a kernel mapping must not have both a regexp and a literal (KMM 1.1+)",
    good="""\
spec:
  moduleLoader:
    container:
      kernelMappings:
      - {literal: 6.1.0-13-amd64, containerImage: "registry.example.com/gpu:1.0-debian"}
      - {regexp: '^.+\\.el9\\.x86_64$', containerImage: "registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION"}
""",
    bad="""\
spec:
  moduleLoader:
    container:
      kernelMappings:
      - {literal: 6.1.0-13-amd64, regexp: '^6\\..+$', containerImage: "registry.example.com/gpu:1.0-debian"}
""",
    remedy="Remove one of the two, or write two mappings.",
    held=oracles.WEBHOOK,
)

KMM022 = Rule(
    "KMM022",
    "a kernel mapping must have a regexp or a literal (KMM 1.1+)",
    good="""\
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION"}]
""",
    bad="""\
spec:
  moduleLoader:
    container:
      kernelMappings: [{containerImage: "registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION"}]
""",
    remedy="Add a regexp or a literal; `regexp: ^.+$` matches every kernel.",
    held=oracles.WEBHOOK,
)

KMM023 = Rule(
    "KMM023",
    "a kernel mapping's regexp must be valid in Go (RE2: no look-around, no back-references; KMM 1.1+)",
    good="""\
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: '^.+\\.el9\\.x86_64$', containerImage: "registry.example.com/gpu:1.0"}]
""",
    bad="""\
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: '^.+\\el9\\.x86_64$', containerImage: "registry.example.com/gpu:1.0"}]
""",
    remedy="Correct the regexp; https://github.com/google/re2/wiki/Syntax describes the syntax.",
    held=oracles.WEBHOOK,
)

KMM024 = Rule(
    "KMM024",
    "a kernel mapping must have an image, its own or the container's (KMM 1.1+)",
    good="""\
spec:
  moduleLoader:
    container:
      containerImage: registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION
      kernelMappings: [{regexp: ^.+$, containerImage: ""}]
""",
    bad="""\
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: ^.+$, containerImage: ""}]
""",
    remedy="Write containerImage in the mapping, or beside kernelMappings for all mappings.",
    held=oracles.WEBHOOK,
)

KMM025 = Rule(
    "KMM025",
    "a kernel mapping's image must have a tag or a digest; KMM mistakes a registry's port for a tag (KMM 2.2+)",
    good="""\
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION"}]
""",
    bad="""\
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: ^.+$, containerImage: registry.example.com/gpu}]
""",
    remedy="Add a tag or a digest to the image.",
    held=oracles.WEBHOOK,
)


RULES = (KMM020, KMM021, KMM022, KMM023, KMM024, KMM025)
