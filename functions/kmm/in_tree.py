"""The kernel modules that Linux has itself, of those that vendors also ship on their own."""

import re

from krmfn.typed import NamedTuple

from .module import EVERY_KERNEL


class Driver(NamedTuple):
    """A driver of mainline Linux."""

    folder: str
    """Where its Makefile stands."""
    since: tuple[int, int]
    """The first release of Linux with it."""
    is_rare: bool = False
    """Whether a large distribution builds its kernels without it: only some kernels have it, then."""


DRIVERS = {
    "amdgpu": Driver("drivers/gpu/drm/amd/amdgpu", (4, 2)),
    "amdxdna": Driver("drivers/accel/amdxdna", (6, 14), is_rare=True),
    "bnxt_en": Driver("drivers/net/ethernet/broadcom/bnxt", (4, 4)),
    "cxgb4": Driver("drivers/net/ethernet/chelsio/cxgb4", (2, 6)),
    "efa": Driver("drivers/infiniband/hw/efa", (5, 2)),
    "ena": Driver("drivers/net/ethernet/amazon/ena", (4, 9)),
    "gve": Driver("drivers/net/ethernet/google/gve", (5, 3)),
    "habanalabs": Driver("drivers/accel/habanalabs", (5, 1), is_rare=True),
    "i40e": Driver("drivers/net/ethernet/intel/i40e", (3, 12)),
    "i915": Driver("drivers/gpu/drm/i915", (2, 6)),
    "iavf": Driver("drivers/net/ethernet/intel/iavf", (4, 20)),
    "ice": Driver("drivers/net/ethernet/intel/ice", (4, 17)),
    "idpf": Driver("drivers/net/ethernet/intel/idpf", (6, 7)),
    "igb": Driver("drivers/net/ethernet/intel/igb", (2, 6)),
    "ionic": Driver("drivers/net/ethernet/pensando/ionic", (5, 4)),
    "irdma": Driver("drivers/infiniband/hw/irdma", (5, 14)),
    "ixgbe": Driver("drivers/net/ethernet/intel/ixgbe", (2, 6)),
    "mlx5_core": Driver("drivers/net/ethernet/mellanox/mlx5/core", (3, 11)),
    "mlx5_ib": Driver("drivers/infiniband/hw/mlx5", (3, 11)),
    "nouveau": Driver("drivers/gpu/drm/nouveau", (2, 6)),
    "qaic": Driver("drivers/accel/qaic", (6, 4), is_rare=True),
    "qede": Driver("drivers/net/ethernet/qlogic/qede", (4, 4)),
    "sfc": Driver("drivers/net/ethernet/sfc", (2, 6)),
    "xe": Driver("drivers/gpu/drm/xe", (6, 8)),
}
"""Each by its name in the kernel.

Source: Linux, the Makefiles of these folders. Rare: Red Hat's kernels for RHEL 9 leave CONFIG_HABANA_AI unset. Seen in
drivers/accel/Makefile: habanalabs moved there in 6.3 (drivers/misc since 5.1), qaic in 6.4, amdxdna in v6.14-rc1.
"""
_BACKPORTS = ".el"
"""In the kernels of Red Hat, whose drivers are newer than their version."""
_RED_HAT = ("4.18.0-553.el8_10.x86_64", "5.14.0-503.11.1.el9_5.x86_64", "6.12.0-55.9.1.el10_0.x86_64")
_RELEASES = [(3, 10), *((major, minor) for major, number in ((4, 21), (5, 20), (6, 20)) for minor in range(number))]
_KERNELS = (*_RED_HAT, *(f"{major}.{minor}.0-45-generic" for major, minor in _RELEASES), "7.0.0-14-generic")
"""A kernel of each release, as it is called where drivers are not taken over from later ones."""
_REPEATED = r"(?:\\d|\[0-9[^\]]{0,64}\]|\.)[*+]"
"""A repeat of digits or of anything; the class ends soon, so that a text of open ones is read once."""


def may_have(kernel: str, name: str) -> bool:
    """Return whether a kernel of this version may bring a kernel module of this name itself.

    Red Hat's kernels may have each that is not rare, since they take over drivers of later releases.
    """
    if not (driver := DRIVERS.get(name)):
        return False
    major, _, rest = kernel.partition(".")
    minor = rest.partition(".")[0].partition("-")[0]
    if not (major + minor).isdecimal() or not minor or _BACKPORTS in kernel:
        return not driver.is_rare
    return (int(major), int(minor)) >= driver.since


def takes_red_hat(regexp: str) -> bool:
    """Return True for a regexp that takes every kernel or names those of Red Hat, as most do: it needs no engine."""
    return regexp in EVERY_KERNEL or not regexp or _BACKPORTS in regexp


def may_meet(regexp: str, name: str) -> bool:
    """Return whether a regexp takes a kernel that may bring a kernel module of this name itself.

    Of a rare one it must take no kernel of Red Hat: who built the others is not known then.
    """
    is_rare = DRIVERS[name].is_rare
    if takes_red_hat(regexp):
        return not is_rare
    from .regexps import matches  # here: few Modules load what Linux has

    example = re.sub(_REPEATED, "0", regexp.strip("^$")).replace("\\.", ".")
    kernels = [kernel for kernel in (*_KERNELS, example) if matches(regexp, kernel)]
    if not kernels:
        return not is_rare
    if is_rare and any(_BACKPORTS in kernel for kernel in kernels):
        return False
    return any(may_have(kernel, name) for kernel in kernels)
