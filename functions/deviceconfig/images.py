"""Image references: joined from parts, completed with version and kernel, served by another registry."""

from __future__ import annotations

from typing import Any


def is_complete(image: str) -> bool:
    """Return True when an image reference has a tag, a digest or variables (a registry's port is no tag)."""
    return ":" in image.rpartition("/")[2] or "@" in image or "$" in image


def joined(parts: dict[str, str]) -> str:
    """Return {registry, repository, tag, digest} as one reference; a digest goes before a tag."""
    name = "/".join(part for part in (parts.get("registry", "").rstrip("/"), parts["repository"]) if part)
    if parts.get("digest"):
        return f"{name}@{parts['digest']}"
    return f"{name}:{parts['tag']}" if parts.get("tag") else name


def image_of(fields: dict[str, Any]) -> str:
    """Return the image of a container: `image`, or `imageParts` as one reference; "" without either."""
    return str(fields.get("image", "")) or (joined(fields["imageParts"]) if "imageParts" in fields else "")


def named_image(spec: dict[str, Any]) -> str:
    """Return the kernel module's image as it is written, in one string or in parts; "" without either."""
    return str(spec.get("driverImage", "")) or (joined(spec["driverImageParts"]) if "driverImageParts" in spec else "")


def driver_image(spec: dict[str, Any]) -> str:
    """Return the kernel module's image; "" when a part of it is missing.

    It is the seed's template `<driverImage>:<driverVersion>-${KERNEL_FULL_VERSION}`, unless the image already has a
    tag, a digest or variables. The braces are left out: KMM reads both forms, and Flux would substitute the braced one.
    """
    image = named_image(spec)
    version = str(spec.get("driverVersion", ""))
    if not image or is_complete(image):
        return image
    return f"{image}:{version}-$KERNEL_FULL_VERSION" if version else ""


def mirrored(image: str, registry: str) -> str:
    """Return `image` with `registry` in place of its own; an image without one (docker.io's short names) gets it."""
    if not registry or not image:
        return image
    host, _, rest = image.partition("/")
    has_host = bool(rest) and ("." in host or ":" in host or host == "localhost")
    return f"{registry.rstrip('/')}/{rest if has_host else image}"
