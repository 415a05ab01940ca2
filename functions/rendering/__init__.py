"""Hold what both functions share, from the functionConfig to the final list."""
