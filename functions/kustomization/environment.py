"""The variables of the environment that kustomize gets: by name, so that a secret of the CI's is not among them.

A build that is closed needs little: kustomize neither fetches nor starts anything but functions of ours. One that the
user has opened, with --allow-remote or --enable-helm, has what git, ssh, helm and version managers are told with.
"""

from __future__ import annotations

import os
import re

CLOSED = (
    "HOME|USER|LOGNAME|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|GOMAXPROCS|GOMEMLIMIT|LD_LIBRARY_PATH|"
    "KRMFN_LOG_FORMAT|KRMFN_MAX_BYTES|KRMFN_VERBOSE"
)
"""What every build gets; PATH, XDG_CONFIG_HOME and KUSTOMIZE_PLUGIN_HOME are made for it (see `confinement`).

HOME is for a kustomize that is a script of the user's, and for kubectl, which would look for its settings in the
working folder without it; those of Go say what a container leaves to it; LD_LIBRARY_PATH may be where our Python is.
"""
OPEN = (
    "HTTP_PROXY|HTTPS_PROXY|NO_PROXY|ALL_PROXY|http_proxy|https_proxy|no_proxy|all_proxy|SSL_CERT_FILE|SSL_CERT_DIR|"
    "SSH_AUTH_SOCK|SSH_ASKPASS|GIT_.*|ARGOCD_GIT_.*|ARGOCD_ASK_.*|PATH|XDG_.*|ASDF_.*|MISE_.*"
)
"""What a build gets, too, that the user has opened."""
HELM = "HELM_.*|REGISTRY_AUTH_FILE|DOCKER_CONFIG|AWS_.*|AZURE_.*|GOOGLE_.*"
"""What a build gets, too, that may run helm: for registries, and for the stores of charts that its plugins know."""


def named(names: str) -> dict[str, str]:
    """Return the variables of our environment with these names."""
    is_named = re.compile(names).fullmatch
    return {name: value for name, value in os.environ.items() if is_named(name)}
