"""Texts that Kubernetes reads as IP addresses.

Source: k8s.io/utils, internal/third_party/forked/golang/net/ip.go (ParseIP): addresses as Go read them
up to 1.16.
"""

import re

_LEADING_ZEROS = r"(?<![0-9a-fA-F])0+(?=[0-9a-fA-F])"


def bits(text: str, is_strict: bool = False) -> int:
    """Return the bits of an IP address, 32 or 128; 0 for another text.

    Any part may begin with zeros unless `is_strict` is true.
    """
    from ipaddress import AddressValueError, IPv4Address, IPv6Address  # here: few inputs have an address

    plain = text if is_strict else re.sub(_LEADING_ZEROS, "", text)
    is_long = ":" in plain
    try:
        (IPv6Address if is_long else IPv4Address)(plain)
    except AddressValueError:
        return 0
    if "%" in plain:
        return 0
    return 128 if is_long else 32
