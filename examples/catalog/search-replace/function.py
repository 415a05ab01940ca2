#!/usr/bin/env python3
"""Find fields by path, value and file, and put a value or a comment there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

from krmfn import Doc, Item, ItemField, ResourceList, function, info, parse


@dataclass(frozen=True)
class SearchReplace:
    """Find fields by path, value and file, and put a value or a comment there."""

    by_value: Annotated[str, Doc("the value of the field")] = ""
    by_value_regex: Annotated[str, Doc("a regular expression that the value matches")] = ""
    by_path: Annotated[str, Doc("the path of the field; `**` is any number of levels")] = ""
    by_file_path: Annotated[str, Doc("the file that the resource is in; `**` is any number of folders")] = ""
    put_value: Annotated[str, Doc("the value to put there; ${1} is a group of the regular expression")] = ""
    put_comment: Annotated[str, Doc("the comment to put there")] = ""

    def __post_init__(self) -> None:
        """Raise ValueError for settings that exclude each other, and a pattern that is none."""
        if self.by_value and self.by_value_regex:
            raise ValueError("only one of `by-value` and `by-value-regex` can be given")
        try:
            re.compile(self.by_value_regex)
        except re.error as failure:
            raise ValueError(f"`by-value-regex` is no regular expression: {failure}") from failure


@function(config=SearchReplace, group="fn.kpt.dev", fields="top")
def search_replace(resources: ResourceList, config: SearchReplace) -> None:
    """Put the value or the comment, and say where."""
    count = 0
    for item in resources.items:
        if config.by_file_path and not re.fullmatch(glob(config.by_file_path), item.path):
            continue
        for place in fields(item, config):
            put(place, config)
            count += 1
            resources.report(info("matches" if not config.put_value else "the value was put", at=place))
    if not count:
        resources.report(info("no matches"))


def fields(item: Item, config: SearchReplace) -> list[ItemField]:
    """Return the fields of an item that are meant."""
    by_value = config.by_value or config.by_value_regex
    if config.by_path and not by_value and config.put_value and not re.search(r"[*\[]", config.by_path):
        return [item.at(config.by_path)]  # it is made where it is not there
    found = item.each(config.by_path or "**")
    return [place for place in found if is_match(place.value, config)]


def is_match(value: Any, config: SearchReplace) -> bool:
    """Return True for a scalar that has the value asked for, and a list when none is asked for."""
    text = written(value)
    if config.by_value:
        return text == config.by_value
    if config.by_value_regex:
        return bool(text) and re.search(config.by_value_regex, text) is not None
    return bool(text) or (isinstance(value, list) and bool(config.put_comment))


def written(value: Any) -> str:
    """Return a scalar as it stands in YAML; "" for anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None or isinstance(value, (dict, list)) else str(value)


def put(place: ItemField, config: SearchReplace) -> None:
    """Put the comment and the value that are asked for."""
    match = re.search(config.by_value_regex, written(place.value)) if config.by_value_regex else None
    if config.put_comment:
        place.comment = expanded(config.put_comment, match)
    if config.put_value:
        text = expanded(config.put_value, match)
        place.value = text if isinstance(place.value, str) and isinstance(parse(text), str) else parse(text)


def expanded(text: str, match: re.Match[str] | None) -> str:
    """Return the text with ${1}, ${2} and so on as the groups of the match."""
    for at, group in enumerate(match.groups(""), 1) if match else ():
        text = text.replace(f"${{{at}}}", group)
    return text


def glob(pattern: str) -> str:
    """Return a pattern of paths as a regular expression."""
    signs = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return "".join(signs[part] if part in signs else re.escape(part) for part in parts)


if __name__ == "__main__":
    search_replace.main()
