"""Say what the API server says to the parts of a pod that krmfn passes on as they are."""
