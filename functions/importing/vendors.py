"""The Profiles that krmfn ships, each with a first config of its kind: `examples/vendor-profiles` of the repository."""

from pathlib import Path

from krmfn import KrmfnError
from krmfn.printing import did_you_mean, joined

_PROFILE = "profile.yaml"


def names() -> list[str]:
    """Return the names of the vendors' products, sorted."""
    return sorted(path.parent.name for path in _folder().glob(f"*/{_PROFILE}"))


def profile(vendor: str) -> Path:
    """Return the file with the Profile of a vendor. Raises KrmfnError for an unknown name."""
    known = names()
    if vendor not in known:
        others = f"there are {', '.join(known)}"
        raise KrmfnError(joined(f"no Profile {vendor} is shipped", did_you_mean(vendor, known, others)))
    return _folder() / vendor / _PROFILE


def files(vendor: str) -> dict[str, bytes]:
    """Return the Profile of a vendor and a first config, by the names of their files. Raises KrmfnError as above."""
    path = profile(vendor)
    configs = {other.name: other.read_bytes() for other in sorted(path.parent.glob("*.yaml")) if other != path}
    return {profile_file(vendor): path.read_bytes(), **configs}


def profile_file(vendor: str) -> str:
    """Return the name of the file that a repository has the Profile of a vendor in."""
    return f"{vendor}-{_PROFILE}"


def _folder() -> Path:
    """Return the folder of the Profiles, as it is installed, or as it stands in the repository."""
    package = Path(__file__).parent.parent
    installed = package / "vendors"
    return installed if installed.is_dir() else package.parent / "examples" / "vendor-profiles"
