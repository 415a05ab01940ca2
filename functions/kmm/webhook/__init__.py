"""The checks of a Module by KMM's webhook."""
