"""The webhook's rules about the files to sign. Source: KMM v2.6.0 to main, internal/webhook/module.go."""

from collections.abc import Iterator

from krmfn import Result

from ... import oracles
from ...rule import Rule
from ..lookup import listing, texts
from ..module import CONTAINER, Module
from ..rule import quote, refusal


def check(module: Module) -> Iterator[Result]:
    """Yield the findings about the container's sign section, then mapping by mapping, in the webhook's order."""
    for path, sign in module.sections("sign"):
        place, rules = path.removeprefix(f"{CONTAINER}.").removesuffix("sign"), ("KMM036", "KMM037")
        if not place:
            place, rules = "global ", ("KMM034", "KMM035")
        if not listing(sign, "filesToSign"):
            message = f"{place}Sign: filesToSign is required when Sign is set"
            yield refusal(message, f"{path}.filesToSign", rule=rules[0])
        for index, file in enumerate(texts(sign, "filesToSign")):
            if not file.startswith(module.directory + "/"):
                message = f"filesToSign[{quote(file)}] must be under dirName {quote(module.directory)}"
                yield refusal(f"{place}Sign: {message}", f"{path}.filesToSign[{index}]", file, rule=rules[1])


KMM034 = Rule(
    "KMM034",
    "the container's sign section must list the files to sign (KMM 2.6+)",
    good="""\
spec:
  moduleLoader:
    container:
      sign:
        keySecret: {name: signing-key}
        certSecret: {name: signing-cert}
        filesToSign: [/opt/lib/modules/$KERNEL_FULL_VERSION/gpu.ko]
""",
    bad="""\
spec:
  moduleLoader:
    container:
      sign:
        keySecret: {name: signing-key}
        certSecret: {name: signing-cert}
""",
    remedy="List the files in filesToSign, or remove the sign section.",
    held=oracles.WEBHOOK,
)

KMM035 = Rule(
    "KMM035",
    "the container's filesToSign must be below modprobe.dirName, by default `/opt` (KMM 2.6+)",
    good="""\
spec:
  moduleLoader:
    container:
      modprobe: {dirName: /drivers}
      sign:
        keySecret: {name: signing-key}
        certSecret: {name: signing-cert}
        filesToSign: [/drivers/lib/modules/$KERNEL_FULL_VERSION/gpu.ko]
""",
    bad="""\
spec:
  moduleLoader:
    container:
      sign:
        keySecret: {name: signing-key}
        certSecret: {name: signing-cert}
        filesToSign: [/drivers/lib/modules/$KERNEL_FULL_VERSION/gpu.ko]
""",
    remedy="Correct the paths, or set modprobe.dirName if the modules are in another directory.",
    held=oracles.WEBHOOK,
)

KMM036 = Rule(
    "KMM036",
    "a kernel mapping's sign section must list its own files, even if the container's lists some (KMM 2.6+)",
    good="""\
spec:
  moduleLoader:
    container:
      kernelMappings:
      - regexp: ^.+$
        containerImage: registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION
        sign:
          keySecret: {name: signing-key}
          certSecret: {name: signing-cert}
          filesToSign: [/opt/lib/modules/$KERNEL_FULL_VERSION/gpu.ko]
""",
    bad="""\
spec:
  moduleLoader:
    container:
      kernelMappings:
      - regexp: ^.+$
        containerImage: registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION
        sign:
          keySecret: {name: signing-key}
          certSecret: {name: signing-cert}
""",
    remedy="List the files in the mapping's filesToSign, or remove its sign section.",
    held=oracles.WEBHOOK,
)

KMM037 = Rule(
    "KMM037",
    "a kernel mapping's filesToSign must be below modprobe.dirName, by default `/opt` (KMM 2.6+)",
    good="""\
spec:
  moduleLoader:
    container:
      kernelMappings:
      - regexp: ^.+$
        containerImage: registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION
        sign:
          keySecret: {name: signing-key}
          certSecret: {name: signing-cert}
          filesToSign: [/opt/lib/modules/$KERNEL_FULL_VERSION/gpu.ko]
""",
    bad="""\
spec:
  moduleLoader:
    container:
      kernelMappings:
      - regexp: ^.+$
        containerImage: registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION
        sign:
          keySecret: {name: signing-key}
          certSecret: {name: signing-cert}
          filesToSign: [gpu.ko]
""",
    remedy="Correct the paths, or set modprobe.dirName if the modules are in another directory.",
    held=oracles.WEBHOOK,
)

RULES = (KMM034, KMM035, KMM036, KMM037)
