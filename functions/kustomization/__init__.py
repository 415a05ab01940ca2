"""The kustomization graph: what kustomize would read and run, read without kustomize and without network."""
