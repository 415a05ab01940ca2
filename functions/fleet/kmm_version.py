"""Which KMM version a cluster has, as far as its dump says: by OLM's object, or by the image of the operator."""

import re

from krmfn import KrmfnError, Manifest

from ..kmm.lookup import table, text
from ..kmm.versions import target

SUBSCRIBED = ("operators.coreos.com", "ClusterServiceVersion")
"""The kind of the object that OLM keeps of an operator's version."""
_NAME = re.compile(r"kernel-module-management(?:-hub)?\.v")
_IMAGE = re.compile(r"(?:^|/)kernel-module-management-(?:operator|webhook-server)(?:-hub)?:v?([0-9][^@:/]*)")
"""Images as KMM publishes them; those of the OpenShift fork have a digest and no tag."""


def of_subscription(manifest: Manifest) -> str:
    """Return the KMM version of an object of OLM; "" for that of another operator.

    Source: the CSVs of both bundles, bundle/manifests/kernel-module-management.clusterserviceversion.yaml; the fork's
    names Red Hat as its provider.
    """
    spec = table(manifest, "spec")
    if not _NAME.match(text(table(manifest, "metadata"), "name")):
        return ""
    prefix = "openshift-" if "Red Hat" in text(table(spec, "provider"), "name") else ""
    return _known(f"{prefix}{text(spec, 'version')}")


def of_image(image: str) -> str:
    """Return the KMM version that the image of its operator names; "" where it names none."""
    match = _IMAGE.search(image)
    return _known(match[1]) if match else ""


def _known(version: str) -> str:
    """Return a version; "" for one whose rules are not known."""
    try:
        target(version)
    except KrmfnError:
        return ""
    return version
