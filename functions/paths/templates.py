"""Tell a template of another tool, which is no YAML, from a file of ours that is broken.

kubectl, Argo CD and kustomize apply nothing of a document that is no YAML. So a file counts as a template only where
nothing in it could be applied or is about krmfn: each document that cannot be read has an action of a template in it,
none can be read as a resource, and no word of ours stands anywhere, in no spelling that another reader may know.

Every check of files loads this, and few have a template: the patterns for those are compiled when they are used.
"""

import re
from collections.abc import Iterable, Sequence

from krmfn.errors import KrmfnError
from krmfn.typed import NamedTuple
from krmfn.yamltext import documents, split

_MOST = 1 << 20
"""The size of a text, in bytes, beyond which nobody looks whether it is a template."""
_ACTIONS = ((b"{{", b"}}"), (b"{%", b"%}"), (b"{#", b"#}"), (b"<%", b"%>"))
"""How actions begin and end. Sources: Go's text/template and Helm; Jinja (Ansible, Salt), Template Designer; ERB."""
_PLAIN = rb"(?:[^\"'# \t]|[ \t](?!#)|(?<=\{)#)*"
"""The part of a line before a quote or a comment; `{#` begins an action."""
_BEGINNING = rb"[\w.$/(\"'`]"
"""How the inside of `{{ }}` begins, where it is no mapping of YAML's."""
_PROPERTY = rb"(?:(?:[&!|>]\S{0,99}\s|#.{0,200}\n)\s*)"
"""An anchor, a tag, the head of a block or a comment between a key and its value."""
_KEY = rb"kind['\"]?\s*:\s*"
_TOO_MUCH = rb"[&!|>]\S{100}|#.{201}"
"""A property that is longer than any that is read."""
_NAMES = (
    *(b"krmfn", b"kmm.sigs.x-k8s.io", b"kmm.node.kubernetes.io", b"deviceconfig", b"nodeinventory"),
    b"managedclustermodule",
)
"""Words of ours, of KMM and of vendors' configs: a text without any of them, in no spelling, is not about krmfn.

All that is said of words holds in lower case: to look for a few words one by one takes a tenth of looking for any.
"""
_PTEMPLATE = rb"\bptemplate"
_OUR_KINDS = re.compile(
    rb"%b(?:%b{0,4}(?:\*\w|['\"]?(?:module|(node))(?:list)?\b|%b)|%b{4}[&!|>#])"
    % (_KEY, _PROPERTY, _TOO_MUCH, _PROPERTY)
)
"""Kinds that may be ours or KMM's, which are such words, too.

A kind may have an anchor or a tag, stand below its key, or be an alias of what stands elsewhere; one behind more than
is read here may be any. The group is of Nodes, which others keep in Git, too.
"""
_NAME = rb"[\w./-]+(?![\w./{<%$-])"
"""A whole kind: one in which an action of a template stands ends before it."""
_KIND = rb"(?i)%b%b{0,4}['\"]?(\*|%b)" % (_KEY, _PROPERTY, _NAME)
"""A kind in a text, or the alias that stands for it; see `_OUR_KINDS`."""
_UNKNOWN = (
    rb"(?i)(?:(?<![\w$.-])|(?<=\\n))kind['\"]?\s*:(?!=)(?!\s*%b{0,4}(?:['\"]?%b|''|\"\"|[\[{](?![{%%#])|[],}]|\Z))"
    rb"|\*[^\s*]+[ \t]+:(?=\s)" % (_PROPERTY, _NAME)
)
"""A kind that is not known before something fills it in, or that stands behind more than is read; an alias as a key."""
_CONFIG = rb"(?im)^[ -]*kind['\"]?[ \t]*:[ \t]*['\"]?(?:deviceconfig|ptemplate|managedclustermodule|module)\b"
"""The line of a config's or a Module's kind; a CRD has one, too, among its names."""
_CRD = rb"(?m)^['\"]?kind['\"]?[ \t]*:[ \t]*['\"]?CustomResourceDefinition\b"
_BREAK = rb"(?:\r\n?|\n|\xc2?\x85|\xe2\x80[\xa8\xa9])"
"""The ends of a line in YAML 1.1."""
_ENCODED = re.compile(rb"![^\s]{0,99}(?:binary|%[0-9A-Fa-f]{2})")
"""A tag of base64, or one that is escaped."""
_SPELLINGS = rb"\\[xuU]|\\" + _BREAK + rb"|" + _ENCODED.pattern
"""Other ways to spell a word: escapes, a scalar over two lines, a tag."""
_CONTINUED = rb"\\" + _BREAK + rb"[ \t]*"
_ESCAPED = rb"\\(?:x([0-7][0-9A-Fa-f])|u00([0-7][0-9A-Fa-f])|U000000([0-7][0-9A-Fa-f]))"


class Template(KrmfnError):
    """A file that cannot be read since it is a template of another tool, in which nothing of ours stands."""

    def __init__(self, text: bytes, *lines: object) -> None:
        """Make an error with the file's text, and the reason why it cannot be read."""
        super().__init__(*lines)
        self.text = text


def is_template(text: bytes) -> bool:
    """Return whether a text that cannot be read is a template of another tool."""
    if len(text) > _MOST or _has_words(text.lower()) or _is_spelt(text):
        return False
    try:
        split.check_encoding(text)
    except KrmfnError:
        return False
    if documents.misread(text):  # other readers divide it in another way
        return False
    parts = [part.text for part in documents.documents(text)]
    unread = [part for part in parts if not _is_data(part)]
    return bool(unread) and all(map(_is_unreadable_action, unread))


def is_to_be_filled_in(text: bytes) -> bool:
    """Return whether a document has an action of a template in it and cannot be read, whatever words stand in it.

    Of a large document only the syntax is looked at.
    """
    if not any(start in text for start, _ in _ACTIONS):
        return False
    try:
        parts = [part.text for part in documents.documents(text)]
    except KrmfnError:
        parts = [text]
    return any(
        not _is_syntax(part) if len(part) > _MOST else _data(part) is None for part in filter(_has_actions, parts)
    )


class LowerText(NamedTuple):
    """A text in lower case, to look for several words in it."""

    readings: Sequence[bytes]
    """The text as it stands, and as its escapes and continued lines spell it."""
    is_hidden: bool
    """Whether a tag may hide any word."""

    def is_about_us(self) -> bool:
        """Return whether it may hold something of ours, of KMM, or a consumer of it."""
        return self.is_hidden or any(map(_has_words, self.readings))

    def begins_with_nodes(self) -> bool:
        """Return whether the first kind of ours in the text as it stands is that of Nodes."""
        first = _OUR_KINDS.search(self.readings[0])
        return first is not None and first[1] is not None

    def is_only_about_nodes(self) -> bool:
        """Return whether Nodes are all that it may hold of ours."""
        return not (self.is_hidden or any(_has_words(lower, but_nodes=True) for lower in self.readings))

    def mentions(self, words: Iterable[str]) -> bool:
        """Return whether it may hold one of some words, in capitals or not."""
        lower_words = [word.lower().encode() for word in words]
        return self.is_hidden or any(word in lower for lower in self.readings for word in lower_words)


def lower_text(text: bytes) -> LowerText:
    """Return a text in lower case."""
    text = text.replace(b"\0", b"")  # UTF-16 and UTF-32
    if not _is_spelt(text):
        return LowerText((text.lower(),), is_hidden=False)
    return LowerText((text.lower(), _plain(text).lower()), _ENCODED.search(text) is not None)


def is_about_us(text: bytes) -> bool:
    """Return whether a text may hold something of ours, of KMM, or a consumer of it; a spelling may hide a word."""
    return lower_text(text).is_about_us()


def mentions(text: bytes, words: Iterable[str]) -> bool:
    """Return whether a text may hold one of some words, in capitals or not; a spelling may hide a word."""
    return lower_text(text).mentions(words)


def _has_words(lower: bytes, but_nodes: bool = False) -> bool:
    """Return whether one of our words stands in a text; with `but_nodes` whether one other than the kind of Nodes."""
    if but_nodes and _has_names(lower):  # looked for first: there may be thousands of Nodes
        return True
    if any(not (but_nodes and match[1]) for match in _OUR_KINDS.finditer(lower)):
        return True
    return not but_nodes and _has_names(lower)


def _has_names(lower: bytes) -> bool:
    return any(word in lower for word in _NAMES) or (b"ptemplate" in lower and re.search(_PTEMPLATE, lower) is not None)


def kinds_in(text: bytes) -> set[str]:
    """Return the kinds that a text may hold, in lower case; "" among them where one may be any."""
    text = text.replace(b"\0", b"")
    plain = _plain(text) if _is_spelt(text) else text
    kinds = {kind.decode().lower() for part in (text, plain) for kind in re.findall(_KIND, part)}
    is_hidden = "*" in kinds or _ENCODED.search(text) is not None or re.search(_UNKNOWN, plain) is not None
    return kinds - {"*"} | ({""} if is_hidden else set())


def _is_spelt(text: bytes) -> bool:
    """Return whether a text has escapes or tags that may stand for a word."""
    return (b"\\" in text or b"!" in text) and re.search(_SPELLINGS, text) is not None


def _plain(text: bytes) -> bytes:
    """Return a text with its escapes of ASCII characters and its continued lines written out."""
    joined = re.sub(_CONTINUED, b"", text)
    return re.sub(_ESCAPED, lambda match: bytes([int(match[1] or match[2] or match[3], 16)]), joined)


def holds_config(text: bytes) -> bool:
    """Return whether a template, or any other text, has the kind of a config or a Module in it, not in a CRD."""
    documents = re.split(rb"(?m)^---", text) if re.search(_CONFIG, text) else []
    return any(re.search(_CONFIG, document) and not re.search(_CRD, document) for document in documents)


def _is_unreadable_action(document: bytes) -> bool:
    """Return whether a document has an action of a template outside of quotes and comments, and cannot be read."""
    return _has_actions(document) and _data(document) is None


def _has_actions(document: bytes) -> bool:
    return any(map(_has_action, document.splitlines()))


def _has_action(line: bytes) -> bool:
    head = re.match(_PLAIN, line)
    for start, end in _ACTIONS:
        at = line.find(start, 0, head.end() if head else 0)
        inside = line[at + 2 : line.find(end, at + 2)].lstrip(b"-+~ \t") if at >= 0 and end in line[at + 2 :] else b""
        if inside and (start != b"{{" or re.match(_BEGINNING, inside)):
            return True
    return False


def _is_data(document: bytes) -> bool:
    """Return whether a document can be read and is no resource."""
    data = _data(document)
    return data is not None and not (isinstance(data[0], dict) and {"apiVersion", "kind"} & {*data[0]})


def _data(document: bytes) -> tuple[object] | None:
    """Return what a document holds; None for one that cannot be read."""
    from krmfn.yamltext import load  # late: it takes PyYAML

    try:
        return (load.read(document),) if _is_syntax(document) else None
    except KrmfnError:
        return None


def _is_syntax(text: bytes) -> bool:
    """Return whether a text has YAML's syntax."""
    from . import syntax  # late: it takes PyYAML

    try:
        syntax.check(text)
    except KrmfnError:
        return False
    return True
