"""API machinery's syntax of names, with its messages: label keys, label values, DNS-1123 subdomains.

Source: k8s.io/apimachinery v0.32 (KMM 2.4 to 2.6) and v0.35 (KMM main), pkg/util/validation.
"""

import re

from .rule import size

_NAME = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_DNS_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
# The same languages without nested repeats: Python's engine backtracks.
_is_name = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?").fullmatch
_is_dns_label = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?").fullmatch


def _shape(sentence: str, examples: str, regexp: str) -> str:
    ends = "must start and end with an alphanumeric character"
    return f"{sentence}, and {ends} (e.g. {examples}, regex used for validation is '{regexp}')"


_CHARACTERS = "consist of alphanumeric characters, '-', '_' or '.'"
_NAME_TEXT = _shape(f"must {_CHARACTERS}", "'MyName',  or 'my.name',  or '123-abc'", _NAME)
_KEY_SHAPE = f"{_NAME_TEXT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
_VALUE = f"a valid label must be an empty string or {_CHARACTERS}"
_VALUE_TEXT = _shape(_VALUE, "'MyValue',  or 'my_value',  or '12345'", f"({_NAME})?")
_LOWER = "must consist of lower case alphanumeric characters"
_SUBDOMAIN_TEXT = _shape(f"a lowercase RFC 1123 subdomain {_LOWER}, '-' or '.'", "'example.com'", _SUBDOMAIN)
_DNS_LABEL_TEXT = _shape(f"a lowercase RFC 1123 label {_LOWER} or '-'", "'my-name',  or '123-abc'", _DNS_LABEL)


def label_key_errors(key: str, long_texts: bool = False) -> list[str]:
    """Return API machinery's errors about a label or toleration key; `long_texts` for those of 1.35."""
    head, slash, name = key.rpartition("/")
    if "/" in head:
        return [("a valid label key " if long_texts else "a qualified name ") + _KEY_SHAPE]
    empty = ["must be non-empty"]
    of_prefix = (subdomain_errors(head, long_texts) if head else empty) if slash else []
    of_name = [*([] if name else empty), *_errors(name, 63, long_texts, "" if _is_name(name) else _NAME_TEXT)]
    return [*(f"prefix part {message}" for message in of_prefix), *(f"name part {message}" for message in of_name)]


def label_value_errors(value: str, long_texts: bool = False) -> list[str]:
    """Return the errors about a label value; the empty one is fine."""
    return _errors(value, 63, long_texts, "" if not value or _is_name(value) else _VALUE_TEXT)


def subdomain_errors(name: str, long_texts: bool = False) -> list[str]:
    """Return the errors about a DNS-1123 subdomain; its length is in "characters" in both versions."""
    return _errors(name, 253, long_texts, "" if all(map(_is_dns_label, name.split("."))) else _SUBDOMAIN_TEXT)


def dns_label_errors(name: str) -> list[str]:
    """Return the errors about a DNS-1123 label, the shape of a namespace's name."""
    return _errors(name, 63, False, "" if _is_dns_label(name) else _DNS_LABEL_TEXT)


def is_service_name(name: str) -> bool:
    """Return True for a DNS-1035 label, which the name of a Service must be: it begins with a letter."""
    return not dns_label_errors(name) and name[0].isalpha()


def _errors(text: str, limit: int, long_texts: bool, shape_error: str) -> list[str]:
    """Return the errors about a text: more than `limit` bytes, and `shape_error` unless it is ""."""
    too_long = f"must be no more than {limit} {'bytes' if long_texts else 'characters'}" if size(text) > limit else ""
    return [*filter(None, (too_long, shape_error))]
