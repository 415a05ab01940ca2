"""Two sides of a cluster, before and after a change."""
