"""The KMM version that a run judges by: whether its rules are known."""

from collections.abc import Iterator

from krmfn import Field, Ref, ResourceList, Result, warning

from .. import oracles
from ..kmm.versions import is_newer, target
from ..rule import Rule, apply
from ..run import run_of
from .function_config import FunctionConfig


def _version_is_known(config: FunctionConfig, is_option: bool) -> Iterator[Result]:
    version = config.kmm_version
    if is_newer(version):
        message = f"KMM {version} is newer than this krmfn knows, so it is judged as KMM {target(version).name}"
        field = None if is_option else Field("spec.kmm.version", version)
        finding = warning(message, field=field, remedy="install a newer krmfn, or name a version that it knows")
        yield finding if is_option else config.source.located(finding)


def check(resources: ResourceList, config: FunctionConfig) -> Iterator[tuple[Ref | None, Result]]:
    """Yield a warning for a KMM version that is newer than those whose rules are known."""
    is_option = bool(run_of(resources).settings.flags.get("kmm-version"))
    return ((None, finding) for finding in apply(RULES, config, is_option))


KMM085 = Rule(
    "KMM085",
    "the KMM version should be one whose rules are known: a newer one is judged as the newest known one",
    good="""\
# kmm: 2.6
kind: DeviceConfig
""",
    bad="""\
# kmm: 99.0
kind: DeviceConfig
""",
    remedy="Install a newer krmfn: this one does not know what KMM has changed since.",
    held=oracles.OUR_KINDS,
    check=_version_is_known,
    severities=("warning",),
    advice=True,
)

RULES = (KMM085,)
