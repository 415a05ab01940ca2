"""Image references: joined from parts, completed with version and kernel, served by another registry."""

from __future__ import annotations

from .fields import Container, ImageParts, Spec


def is_complete(image: str) -> bool:
    """Return True when an image reference has a tag, a digest or variables (a registry's port is no tag)."""
    return ":" in image.rpartition("/")[2] or "@" in image or "$" in image


def joined(parts: ImageParts) -> str:
    """Return {registry, repository, tag, digest} as one reference; a digest goes before a tag."""
    name = "/".join(part for part in (parts.registry.rstrip("/"), parts.repository) if part)
    if parts.digest:
        return f"{name}@{parts.digest}"
    return f"{name}:{parts.tag}" if parts.tag else name


def image_of(container: Container) -> str:
    """Return the image of a container: `image`, or `imageParts` as one reference; "" without either."""
    return container.image or (joined(container.imageParts) if container.imageParts else "")


def named_image(spec: Spec) -> str:
    """Return the kernel module's image as it is written, in one string or in parts; "" without either."""
    return spec.driverImage or (joined(spec.driverImageParts) if spec.driverImageParts else "")


def driver_image(spec: Spec) -> str:
    """Return the kernel module's image; "" when a part of it is missing.

    It is the seed's template `<driverImage>:<driverVersion>-${KERNEL_FULL_VERSION}`, unless the image already has a
    tag, a digest or variables. The braces are left out: KMM reads both forms, and Flux would substitute the braced one.
    """
    image = named_image(spec)
    if not image or is_complete(image):
        return image
    return f"{image}:{spec.driverVersion}-$KERNEL_FULL_VERSION" if spec.driverVersion else ""


def mirrored(image: str, registry: str) -> str:
    """Return `image` with `registry` in place of its own; an image without one (docker.io's short names) gets it."""
    if not registry or not image:
        return image
    host, _, rest = image.partition("/")
    has_host = bool(rest) and ("." in host or ":" in host or host == "localhost")
    return f"{registry.rstrip('/')}/{rest if has_host else image}"
