"""Say what KMM's webhook says to a Module."""
