"""The variables of the environment that kustomize gets: by name, so that a secret of the CI's is not among them.

A build that is closed needs little: kustomize neither fetches nor starts anything but functions of ours. One that the
user has opened, with --allow-remote or --enable-helm, has what git, ssh, helm and version managers are told with.
"""

from __future__ import annotations

import os

CLOSED = (
    *("HOME", "USER", "LOGNAME"),  # a kustomize that is a script of the user's; kubectl looks for its settings there
    *("LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR"),
    *("GOMAXPROCS", "GOMEMLIMIT"),  # what a container leaves to a program in Go
    *("KRMFN_LOG_FORMAT", "KRMFN_MAX_BYTES", "KRMFN_VERBOSE"),  # our functions
    "LD_LIBRARY_PATH",  # a Python of one's own finds its library so
)
"""What every build gets; PATH, XDG_CONFIG_HOME and KUSTOMIZE_PLUGIN_HOME are made for it (see `confinement`)."""
OPEN = (
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "SSH_AUTH_SOCK", "SSH_ASKPASS", "GIT_*", "ARGOCD_GIT_*", "ARGOCD_ASK_*"),
    *("PATH", "XDG_*", "ASDF_*", "MISE_*"),
)
"""What a build gets, too, that the user has opened."""
HELM = ("HELM_*", "REGISTRY_AUTH_FILE", "DOCKER_CONFIG", "AWS_*", "AZURE_*", "GOOGLE_*")
"""What a build gets, too, that may run helm: for registries, and for the stores of charts that its plugins know."""


def named(names: tuple[str, ...]) -> dict[str, str]:
    """Return the variables of our environment that are in a list; `*` stands for the rest of a name."""
    whole, begun = {*names}, tuple(name[:-1] for name in names if name.endswith("*"))
    return {name: value for name, value in os.environ.items() if name in whole or name.startswith(begun)}
