"""YAML as text: divide a ResourceList into items, read, edit and write them without losing an untouched byte.

split        bytes that are UTF-8 text; the quick division of a ResourceList into items, None when it is not sure
split_exact  the exact division, from the positions that a YAML parser reports
peek         kind, name, labels of an item without parsing it; UNSURE when it must be parsed
simple       plain scalars as Kubernetes reads them; text to data without a parser where the layout is simple, else None
brackets     lists and mappings in brackets on one line, for `simple`
blocks       the text of literal and folded blocks, for `simple`
documents    the documents of a file, and where readers would divide it differently
load         text to a node tree with PyYAML, with a bound on depth
values       a node tree to data: keys, tags, merges, aliases
positions    the line and column of a field
emit         data to text in kyaml's layout, no aliases; which strings must be quoted for every reader
linetree     a simple text to a node tree, by its lines
align        which entry of an old list belongs to each entry of a new one
nodewise     edits in a text by the places of its nodes
inplace      the same for edits that only write scalars and add keys, without reading all of it; None for others
inline       the same within a line: scalars, how keys are spelled
flows        the same in brackets
units        the entries in brackets, with the comma, blanks and comments of each
manners      how what comes into brackets is written: as its neighbours are
moves        values that moved, with their lines
rebuilt      values that moved and were built anew
candidates   what went, to be found again by what it holds
replaced     values that took the places of others
losses       what an edit would lose: it is refused then
readback     what comes of an edit, read back as Kubernetes and as kustomize read it
lineends     lines that end as those of Windows do
rows         where the lines of keys and entries begin and end
aliases      where the aliases of a text stand
remarks      the comments of fields
edit         new data into an item's text, keeping its comments, order and quotes; the comment lines behind it
"""

__all__ = []
