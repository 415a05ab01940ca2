"""The API server's checks of a Module: those of its CRD, and those of the metadata of every object."""
