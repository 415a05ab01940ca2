"""The final list of a cluster, judged as a whole: what stands in it together must fit together."""
