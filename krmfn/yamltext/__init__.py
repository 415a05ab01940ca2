"""YAML as text: cut a ResourceList into spans, look, load, edit and write, without losing a byte that was not touched.

scalars   what a plain scalar means to Kubernetes, and which strings must be quoted for every reader
encoding  bytes that are UTF-8 text, or the line where they are not
simple    text to data ten times faster, for plain layouts; says when it is not sure
load      text to data, with bounds on depth and aliases
values    a node tree to data: keys, tags, merges, aliases
places    the line and column of a field
emit      data to text in kyaml's layout, no aliases
spans     the quick cut of a ResourceList into item spans; says when it is not sure
marks     the exact cut, from a real YAML parser's marks
escapes   words that hide behind escapes
comments  the comment lines behind an item
peek      kind, name, labels of an item without loading it; says when it is not sure
edit      put new values into an item's text, keeping its comments, order and quotes
"""
