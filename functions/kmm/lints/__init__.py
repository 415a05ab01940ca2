"""Lints: what KMM accepts and fails with on the node, in one Module or in Modules that meet on a node."""
