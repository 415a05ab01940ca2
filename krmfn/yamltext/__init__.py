"""YAML as text: cut a ResourceList into spans, look, load, edit and write, without losing a byte that was not touched.

scalars   what a plain scalar means to Kubernetes, and which strings must be quoted for every reader
load      text to data and to places (line, column), with bounds on depth and aliases
emit      data to text in kyaml's layout, no aliases
spans     the quick cut of a ResourceList into item spans; says when it is not sure
marks     the exact cut, from a real YAML parser's marks
peek      kind, name, labels of an item without loading it; says when it is not sure
edit      put new values into an item's text, keeping its comments, order and quotes
"""
