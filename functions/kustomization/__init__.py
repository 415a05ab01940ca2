"""The kustomization graph: what kustomize would read, run and fetch, found out without kustomize and network."""
