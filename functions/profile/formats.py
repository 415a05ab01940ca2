"""The formats of texts that the API server judges, and how it reads them.

Source: pkg/apiserver/validation/formats.go of k8s.io/apiextensions-apiserver v0.34.2, pkg/validation/strfmt of
k8s.io/kube-openapi, and the functions of Go's library that it calls. The server judges no other: not `int64`, not
`double`, no unknown word; `k8s-short-name` and `k8s-long-name` in defaults, and in values from 1.35 on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Final
from unicodedata import category

from .. import ip_address
from . import uris

_HEX = "[0-9a-fA-F]"


def _is_date(text: str) -> bool:
    match = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", text, re.ASCII)
    if not match:
        return False
    year, month, day = map(int, match.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return 1 <= month <= 12 and 1 <= day <= days[month - 1]


def _is_datetime(text: str) -> bool:
    date, _, rest = text.lower().partition("t")
    clock = rest.partition("t")[0]  # the server looks at no more
    match = re.fullmatch(r"(\d\d):(\d\d):(\d\d)(.\d+)?(z|[+-]\d\d:\d\d)", clock, re.ASCII)
    return bool(_is_date(date) and match and match[1] <= "23" and match[2] <= "59" and match[3] <= "59")


_LONG = 1_000
"""The most characters of a duration that is judged."""
_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_NUMBER = r"(\d+(?:\.\d*)?|\.\d+)"
_SHORT_UNITS = ("ns", "us", "µs", "ms", "s", "m", "h", "d", "w", "hr", "wk")
_LONG_UNITS = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")


def _is_duration(text: str) -> bool:
    """Return True for what time.ParseDuration reads, and for a text with numbers and words such as `2 days`."""
    if len(text) > _LONG:
        return True
    parts = re.findall(rf"(?<![\d.]){_NUMBER}(ns|us|µs|μs|ms|s|m|h)", text, re.ASCII)
    nanoseconds = sum(Fraction(f"0{number}".rstrip(".")) * _UNITS[unit] for number, unit in parts)
    if nanoseconds < 2**63 and re.fullmatch(f"[-+]?(0|({_NUMBER}(ns|us|µs|μs|ms|s|m|h))+)", text, re.ASCII):
        return True
    words = re.findall(r"(?<!\d)(\d+)[\t\n\f\r ]*([A-Za-zµ]+)", text, re.ASCII)
    units = (unit.lower() for _, unit in words)
    return all(int(number) < 2**63 for number, _ in words) and any(
        unit in _SHORT_UNITS or unit.startswith(_LONG_UNITS) for unit in units
    )


def _is_hostname(text: str) -> bool:
    *labels, last = text.split(".")
    if len(text.encode()) > 255 or any(len(label.encode()) > 63 for label in (*labels, last)):
        return False
    if labels:
        is_top = len(last) > 1 and all(category(char)[0] == "L" for char in last)
        return is_top and all(_is_label(label) for label in labels)
    return _is_letter(last[:1]) and all(map(_is_letter, last[1:].removeprefix("-")))  # a dash in second place alone


def _is_label(text: str) -> bool:
    return _is_letter(text[:1]) and _is_letter(text[-1]) and all(char == "-" or _is_letter(char) for char in text)


def _is_letter(char: str) -> bool:
    """Return True for what the server takes for a letter of a host's name: digits and symbols, too."""
    return bool(char) and (char in "0123456789" or category(char)[0] in "LS")


def _is_cidr(text: str) -> bool:
    address, _, length = text.partition("/")
    return re.fullmatch(r"\d{1,9}", length, re.ASCII) is not None and int(length) <= (ip_address.bits(address) or -1)


_MAC = rf"{_HEX}{{2}}(?P<sign>[:-]){_HEX}{{2}}(?:(?P=sign){_HEX}{{2}})*|(?:{_HEX}{{2}})*|{_HEX}{{4}}(?:\.{_HEX}{{4}})*"
_CARD = r"4\d{12}(\d{3})?|5[1-5]\d{14}|6(011|5\d\d)\d{12}|3[47]\d{13}|3(0[0-5]|[68]\d)\d{11}|(2131|1800|35\d{3})\d{11}"


def _is_mac(text: str) -> bool:
    digits = re.sub("[:.-]", "", text)
    return len(digits) in (12, 16, 40) and re.fullmatch(_MAC, text) is not None


def _is_card(text: str) -> bool:
    digits = re.sub("[^0-9]+", "", text)
    doubled = (int(digit) * (1 + index % 2) for index, digit in enumerate(reversed(digits)))
    return re.fullmatch(_CARD, digits) is not None and sum(n - 9 * (n > 9) for n in doubled) % 10 == 0


def _is_isbn10(text: str) -> bool:
    digits = re.sub(r"[\t\n\f\r -]+", "", text)
    values = (
        [10 if digit == "X" else int(digit) for digit in digits]
        if re.fullmatch(r"\d{9}[\dX]", digits, re.ASCII)
        else [1]
    )
    return sum(index * value for index, value in enumerate(values, 1)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    digits = re.sub(r"[\t\n\f\r -]+", "", text)
    values = [int(digit) for digit in digits] if re.fullmatch(r"\d{13}", digits, re.ASCII) else [1]
    return sum(value * (1, 3)[index % 2] for index, value in enumerate(values)) % 10 == 0


_UUID, _TAIL = f"{_HEX}{{8}}-?{_HEX}{{4}}-?", f"-?{_HEX}{{12}}"
_BYTE = r"(0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])"
_BASE64 = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"
_SHORT_NAME = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SPACE = r"[\t\n\f\r ]*"
_TESTS: Final[dict[str, Callable[[str], object]]] = {
    "bsonobjectid": re.compile(f"{_HEX}{{24}}").fullmatch,
    "uri": uris.is_request_uri,
    "email": lambda text: "@" in text,  # all else of it is not judged
    "hostname": _is_hostname,
    "ipv4": lambda text: "." in text and ip_address.bits(text),
    "ipv6": lambda text: ":" in text and ip_address.bits(text, is_strict=True),
    "cidr": _is_cidr,
    "mac": _is_mac,
    "uuid": re.compile(f"{_UUID}{_HEX}{{4}}-?{_HEX}{{4}}{_TAIL}").fullmatch,
    "uuid3": re.compile(f"{_UUID}3{_HEX}{{3}}-?{_HEX}{{4}}{_TAIL}").fullmatch,
    "uuid4": re.compile(f"{_UUID}4{_HEX}{{3}}-?[89abAB]{_HEX}{{3}}{_TAIL}").fullmatch,
    "uuid5": re.compile(f"{_UUID}5{_HEX}{{3}}-?[89abAB]{_HEX}{{3}}{_TAIL}").fullmatch,
    "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "creditcard": _is_card,
    "ssn": lambda text: len(text) == 11 and re.fullmatch(r"\d{3}[- ]?\d{2}[- ]?\d{4}", text, re.ASCII),
    "hexcolor": re.compile(f"#?({_HEX}{{3}}|{_HEX}{{6}})").fullmatch,
    "rgbcolor": re.compile(
        rf"rgb\({_SPACE}{_BYTE}{_SPACE},{_SPACE}{_BYTE}{_SPACE},{_SPACE}{_BYTE}{_SPACE}\)", re.ASCII
    ).fullmatch,
    "byte": re.compile(_BASE64).fullmatch,
    "date": _is_date,
    "duration": _is_duration,
    "datetime": _is_datetime,
    "k8sshortname": lambda text: len(text) < 64 and re.fullmatch(_SHORT_NAME, text),
    "k8slongname": lambda text: len(text) < 254 and re.fullmatch(rf"{_SHORT_NAME}(\.{_SHORT_NAME})*", text),
}
MEANINGS: Final[dict[str, str]] = {
    "bsonobjectid": "24 hexadecimal digits, as its format bsonobjectid says",
    "uri": "an absolute URI or an absolute path, as its format uri says",
    "email": "an address with an @, as its format email says",
    "hostname": "a host's name of labels and dots, as its format hostname says",
    "ipv4": "an IPv4 address such as 192.0.2.1, as its format ipv4 says",
    "ipv6": "an IPv6 address such as 2001:db8::1, as its format ipv6 says",
    "cidr": "a range such as 192.0.2.0/24, as its format cidr says",
    "mac": "a hardware address such as 00:00:5e:00:53:01, as its format mac says",
    **{name: f"a UUID, as its format {name} says" for name in ("uuid", "uuid3", "uuid4", "uuid5")},
    **{name: f"an ISBN, as its format {name} says" for name in ("isbn", "isbn10", "isbn13")},
    "creditcard": "the number of a credit card, as its format says",
    "ssn": "a social security number such as 000-00-0000, as its format says",
    "hexcolor": "a colour such as #ff8800, as its format hexcolor says",
    "rgbcolor": "a colour such as rgb(255,136,0), as its format rgbcolor says",
    "byte": "base64 that is not empty, as its format byte says",
    "date": "a date such as 2006-01-02, as its format date says",
    "duration": "a duration such as 1h30m, as its format duration says",
    "datetime": "a time such as 2006-01-02T15:04:05Z, as its format date-time says",
    "k8sshortname": "a name such as my-name, as its format k8s-short-name says",
    "k8slongname": "a name such as my.name, as its format k8s-long-name says",
}
"""What a text of each format must be, in words."""


def normal(name: str) -> str:
    """Return the name of a format without dashes, as the API server looks it up."""
    return name.replace("-", "")


def is_judged(name: str) -> bool:
    """Return True for a format that the API server judges."""
    return normal(name) in _TESTS


def fits(name: str, text: str) -> bool:
    """Return True for a text of a format, and for one of a format that the API server does not judge."""
    test = _TESTS.get(normal(name))
    return test is None or bool(test(text))
