"""Names of clusters: of a destination's URL, of folders; each can be a key of .krmfn.yaml."""

import re
from collections.abc import Iterable, Mapping

from ..kmm.lookup import table, text
from .deployment import EngineObject

LOCAL = "in-cluster"
"""How Argo CD calls the cluster that it runs in."""
EVERY = {"argocd": "every cluster that Argo CD knows", "fleet": "every cluster that Fleet knows"}
"""What is said, by engine, of all clusters that it knows; of some of them more words follow."""
LOCAL_SERVER = "https://kubernetes.default.svc"
_OTHER = re.compile(r"[^A-Za-z0-9._-]+")
_URL = re.compile(r"(?:[a-z]+://)?([^/?#]*)(/[^?#]*)?.*", re.IGNORECASE | re.DOTALL)
_PORT = re.compile(r":(?:443|6443)$")


def key_of(name: str) -> str:
    """Return a name as a key of .krmfn.yaml: letters, digits, dots, dashes, underscores, the first no sign."""
    return _OTHER.sub("-", name).strip("-._") or "cluster"


def of_server(url: str, known: Mapping[str, str]) -> str:
    """Return the name of a cluster by the URL of its API server; "" for the one that Argo CD runs in.

    `known` has the names that cluster Secrets give, by URL.
    """
    server = url.strip().rstrip("/")
    if server == LOCAL_SERVER:
        return ""
    if server in known:
        return key_of(known[server])
    match = _URL.fullmatch(server)
    host, path = (match[1], match[2] or "") if match else (server, "")
    return key_of(_PORT.sub("", host) + path)


def of_secrets(objects: Iterable[EngineObject]) -> dict[str, str]:
    """Return the names of clusters by the URLs of their servers, as the cluster Secrets of Argo CD have them.

    Source: argo-cd docs/operator-manual/declarative-setup.md, Clusters. Values in `data` are base64.
    """
    known: dict[str, str] = {}
    for item in objects:
        labels = table(item.manifest, "metadata", "labels")
        if item.ref.kind == "Secret" and labels.get("argocd.argoproj.io/secret-type") == "cluster":
            fields = _decoded(table(item.manifest, "data")) | table(item.manifest, "stringData")
            if server := text(fields, "server").rstrip("/"):
                known[server] = text(fields, "name") or item.ref.name
    return known


def _decoded(data: Mapping[str, object]) -> dict[str, str]:
    import base64

    values: dict[str, str] = {}
    for key, value in data.items():
        try:
            values[key] = base64.b64decode(str(value), validate=True).decode()
        except ValueError:
            continue
    return values


def of_folders(folders: Iterable[str]) -> dict[str, str]:
    """Return a name for each folder: its last part where no other folder has it, else as many parts as it needs."""
    listing = sorted(set(folders))
    names: dict[str, str] = {}
    for folder in listing:
        parts = folder.split("/")
        others = [other.split("/") for other in listing if other != folder]
        number = next((n for n in range(1, len(parts) + 1) if all(parts[-n:] != o[-n:] for o in others)), len(parts))
        names[folder] = LOCAL if folder == "." else key_of("-".join(parts[-number:]))
    return names
