"""One cluster: what its roots hold, read, rendered and judged."""
