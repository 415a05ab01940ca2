"""The container images, as OCI layouts: built by buildah, without a container runtime."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from . import provenance, sbom, sums
from .process import Refusal, environment, output
from .source import Source

TARGETS = {"krmfn": (), "krmfn-argocd": ("--target", "argocd")}
DEBIAN = "bookworm"
DEBOOTSTRAPPED = f"localhost/krmfn/debian-python:{DEBIAN}"
"""The base where none is named: made of Debian packages, so that no image registry is needed."""
_DIGEST = re.compile(r"[^@\s]+@sha256:[0-9a-f]{64}")
_KUSTOMIZE = "sigs.k8s.io/kustomize/kustomize/v5"


class Base(NamedTuple):
    """What images are made from."""

    name: str
    digest: str
    """SHA-256 of its manifest."""
    note: str = ""
    """How it was made, when it was made here."""

    @property
    def material(self) -> Mapping[str, Any]:
        """The entry in a provenance."""
        annotations = {"annotations": {"made": self.note}} if self.note else {}
        return {"name": self.name.partition("@")[0], "digest": {"sha256": self.digest}, **annotations}


def require(base: str) -> None:
    """Raise Refusal for a base that is not named by its digest, or for missing tools."""
    if base and not _DIGEST.fullmatch(base):
        raise Refusal(f"BASE is {base}; it must name a digest, as in python@sha256:..., so that it is always the same")
    tools = ["buildah", "go", *(() if base else ("debootstrap",))]
    if missing := [tool for tool in tools if not shutil.which(tool, path=_path())]:
        raise Refusal(f"not on PATH: {', '.join(missing)}")
    if not base and os.geteuid() != 0:
        raise Refusal("only root can make the base with debootstrap; name one with BASE=NAME@sha256:...")


def build(source: Source, tree: Path, scratch: Path, out: Path, base: str) -> None:
    """Write a layout and a bill of materials for each image, a statement about all, and the sums of all files."""
    out.mkdir()
    env = environment(source.epoch) | {"PATH": _path()}
    origin = Base(base, base.partition("sha256:")[2]) if base else debootstrapped(env)
    kustomize = _kustomize(tree, scratch, env)
    labels = (f"--build-arg=VERSION={source.version}", f"--build-arg=REVISION={source.commit}")
    options = (*_options(origin.name, kustomize), *labels, f"--timestamp={source.epoch}")
    images = [kustomize]
    for name, target in TARGETS.items():
        images.append(_built(tree, (*options, *target), env))
        output("buildah", "push", "--quiet", images[-1], f"oci:{out / name}:{source.version}", env=env)
        sbom.of_image(source, out / name, out)
    output("buildah", "rmi", "--force", *images, env=env)
    subjects = {name: manifest(out / name) for name in TARGETS}
    go = output("go", "env", "GOVERSION", env=env).decode().strip()
    parameters = {"platform": f"linux/{platform.machine()}", "go": go}
    statement = provenance.statement(source, tree, subjects, parameters, [origin.material])
    provenance.write(out / "krmfn-images.intoto.json", statement)
    sums.write(out, "SHA256SUMS.images", [path for path in out.rglob("*") if path.is_file()])


def debootstrapped(env: Mapping[str, str]) -> Base:
    """Return the base made of Debian packages; buildah keeps it for the next time."""
    note = f"debootstrap {DEBIAN}, on the machine of the release"
    if DEBOOTSTRAPPED not in output("buildah", "images", "--format", "{{.Name}}:{{.Tag}}", env=env).decode().split():
        with tempfile.TemporaryDirectory(prefix="krmfn-base-") as root:
            packages = "--include=python3,python3-venv,ca-certificates"
            output("debootstrap", "--variant=minbase", packages, DEBIAN, root, env=env)
            shutil.rmtree(Path(root, "var/cache/apt"))
            container = output("buildah", "from", "scratch", env=env).decode().strip()
            output("buildah", "add", "--quiet", container, root, "/", env=env)
            output("buildah", "commit", "--quiet", "--rm", container, DEBOOTSTRAPPED, env=env)
    digest = output("buildah", "images", "--format", "{{.Digest}}", DEBOOTSTRAPPED, env=env).decode().strip()
    return Base(DEBOOTSTRAPPED, digest.removeprefix("sha256:"), note)


def _options(base: str, kustomize: str) -> list[str]:
    """Return what every build is given: the base, an image with kustomize, and pip's way out as the machine has it."""
    shared = [path for path in ("/etc/ssl/certs", "/etc/pip.conf") if Path(path).exists()]
    volumes = [f"--volume={path}:{path}:ro" for path in shared]
    return [f"--build-arg=BASE={base}", f"--build-arg=KUSTOMIZE_IMAGE={kustomize}", "--network=host", *volumes]


def manifest(layout: Path) -> str:
    """Return the SHA-256 of the one manifest in an OCI layout, which a registry shows as the image's digest."""
    [entry] = json.loads((layout / "index.json").read_text(encoding="utf-8"))["manifests"]
    digest: str = entry["digest"]
    return digest.removeprefix("sha256:")


def _kustomize(tree: Path, scratch: Path, env: Mapping[str, str]) -> str:
    """Build kustomize from its module, and return the name of an image with nothing else."""
    folder = scratch / "kustomize"
    folder.mkdir()
    go = {**env, "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly", "GOWORK": "off"}
    flags = ("-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", folder / "kustomize", _KUSTOMIZE)
    output("go", "build", *flags, cwd=tree / "requirements" / "kustomize", env=go)
    (folder / "Dockerfile").write_text("FROM scratch\nCOPY kustomize /app/kustomize\n", encoding="utf-8")
    return _built(folder, (), env)


def _built(folder: Path, options: tuple[str, ...], env: Mapping[str, str]) -> str:
    """Build a Dockerfile and return the image's id."""
    command = ("buildah", "build", "--quiet", "--format=oci", "--isolation=chroot", "--no-cache", "--pull=false")
    return output(*command, *options, folder, env=env).decode().split()[-1]


def _path() -> str:
    return os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
