"""Rules about the kernel mappings of a DeviceConfig, and about what they build and sign."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Field, Result, error
from krmfn.rule import Rule

from .merging import OF_MAPPINGS
from .model import DeviceConfig
from .module import of_mapping


def mapping_has_one_matcher(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per kernel mapping with both matchers or none."""
    for index, mapping in enumerate(config.mappings):
        if bool(mapping.regexp) == bool(mapping.literal):
            what = "both regexp and literal" if mapping.regexp else "neither regexp nor literal"
            message = f"has {what}; a kernel mapping has one of them"
            yield error(message, field=Field(config.at(f"kernelMappings[{index}]")))


def builds_and_signs_are_whole(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per key, certificate or Dockerfile that is missing where an image is signed or built."""
    for name, keys in OF_MAPPINGS.items():
        shared = getattr(config.spec, name)
        own = [(f"kernelMappings[{at}].{name}", getattr(one, name)) for at, one in enumerate(config.mappings)]
        for path, fields in [(name, shared), *((path, of_mapping(one, shared, name)) for path, one in own)]:
            missing = [key for key in keys if key not in fields] if fields else []
            if missing and (path == name or not shared):
                message = f"needs {' and '.join(missing)}; write {name} with them, or `enabled: false` in it for none"
                yield error(message, field=Field(config.at(path)))


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
        check=builds_and_signs_are_whole,
    ),
)
"""The rules about the kernel mappings of one config or pool."""
