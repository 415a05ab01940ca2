"""Say what the API server says to a Module: its CRD, and what holds for the metadata of every object."""
