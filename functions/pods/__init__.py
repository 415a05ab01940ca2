"""Check the parts of a PodSpec that krmfn passes on as they are, by what the API server accepts."""
