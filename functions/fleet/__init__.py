"""Which node gets what: the nodes of a cluster, the Modules on them, the images they pull."""
