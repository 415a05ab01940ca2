"""Rules about the kernel mappings of a DeviceConfig, and about how their images are built and signed."""

from collections.abc import Iterator

from krmfn import Result

from .. import oracles
from ..rule import Rule
from .merging import OF_MAPPINGS, with_shared_keys
from .model import DeviceConfig


def mapping_has_one_matcher(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per kernel mapping with both matchers or none."""
    for index, mapping in enumerate(config.mappings):
        if bool(mapping.regexp) == bool(mapping.literal):
            matchers = "both regexp and literal" if mapping.regexp else "neither regexp nor literal"
            yield config.error(f"has {matchers}", f"kernelMappings[{index}]", remedy="write one of the two")


def builds_and_signs_are_complete(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per build or sign without the key, the certificate or the Dockerfile that it needs."""
    for name, keys in OF_MAPPINGS.items():
        shared = getattr(config.spec, name)
        sections = [(name, shared)]
        for index, mapping in enumerate(config.mappings):
            fields = with_shared_keys(getattr(mapping, name), shared, name)
            sections.append((f"kernelMappings[{index}].{name}", fields))
        for path, fields in sections:
            missing = [key for key in keys if key not in fields] if fields else []
            if missing and (path == name or not shared):
                message = f"needs {' and '.join(missing)}"
                yield config.error(message, path, remedy=f"write {name} with them, or `enabled: false` in it for none")


RULES = (
    Rule(
        "KRM124",
        "a kernel mapping must have either regexp or literal",
        good="""\
spec:
  kernelMappings:
  - {literal: 5.14.0-503.el9.x86_64}
  - {regexp: '^.*\\.el9\\..*$'}
""",
        bad="""\
spec:
  kernelMappings:
  - {literal: 5.14.0-503.el9.x86_64, regexp: '^.*\\.el9\\..*$'}
""",
        remedy="Remove one of the two, or write two mappings.",
        held=oracles.WEBHOOK,
        check=mapping_has_one_matcher,
    ),
    Rule(
        "KRM177",
        "sign must have keySecret and certSecret, build must have dockerfileConfigMap; a kernel mapping takes them "
        "from those of the config",
        good="""\
spec:
  sign: {keySecret: {name: key}, certSecret: {name: certificate}}
  kernelMappings: [{regexp: ^.+$, sign: {filesToSign: [/opt/lib/modules/gpu.ko], unsignedImage: "example.com/gpu:1"}}]
""",
        bad="""\
spec:
  kernelMappings: [{regexp: ^.+$, sign: {filesToSign: [/opt/lib/modules/gpu.ko], unsignedImage: "example.com/gpu:1"}}]
""",
        remedy="Write the Secrets or the ConfigMap, or switch the field off with `enabled: false`.",
        held=oracles.BUILDS,
        check=builds_and_signs_are_complete,
    ),
)
"""The rules about the mappings of one config or pool."""
