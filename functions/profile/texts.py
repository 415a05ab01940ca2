"""The entries of `texts` of a Profile for one config: texts, lists, mappings, and options printed as JSON or YAML."""

from __future__ import annotations

from collections.abc import Mapping

from krmfn.resource import join
from krmfn.typed import Any
from krmfn.yamltext import emit

from ..kmm.lookup import members
from ..mistake import Mistake
from . import expressions
from .expressions import Values
from .product import SERIALISED
from .structural import ABSENT

TextMistake = tuple[str, Mistake]
"""The path of a field of a Profile, and what is wrong with it for some config."""


def text_of(name: str, entry: Mapping[str, Any], values: Values, mistakes: list[TextMistake]) -> Any:
    """Return an entry of `texts` for one config; ABSENT where its condition does not hold."""
    if not expressions.holds(entry.get("if", {}), values):
        return ABSENT
    for word in SERIALISED & entry.keys():
        data = expressions.at(values.data, expressions.path_of(entry[word]))
        return ABSENT if data is ABSENT else _serialised(word, data)
    template, path = entry.get("as", ""), join(("spec", "texts", name, "as"))
    show = expressions.quote_for_shell if entry.get("quote") == "sh" else str
    if "each" not in entry:
        text, mistake = expressions.replace_in(template, values, show)
        mistakes += [(path, mistake)] if mistake else []
        return text
    option = expressions.at(values.data, expressions.path_of(entry["each"]))
    if "onto" in entry:
        return {**entry["onto"], **(option if isinstance(option, dict) else {})}
    pairs = sorted(option.items()) if isinstance(option, dict) else members(option)
    if "entry" in entry:
        unfilled: list[Mistake] = []
        template, path = entry["entry"], join(("spec", "texts", name, "entry"))
        entries = [expressions.fill_entry(template, {"key": key, "value": value}, unfilled) for key, value in pairs]
        mistakes += [(path, mistake) for mistake in unfilled]
        return [item for item in entries if item is not ABSENT] or ABSENT
    template = template.replace("${key}", "\0").replace("${value}", "\1")
    lines: list[str] = []
    for key, value in pairs:
        if isinstance(value, (dict, list)):
            message = f"an entry of {entry['each']} is no text and no number"
            mistakes.append((path, Mistake(message, "name what to print")))
            continue
        text, mistake = expressions.replace_in(template, values, show)
        mistakes += [(path, mistake)] if mistake else []
        words = [show(expressions.format_scalar(part)) for part in (key, "" if value is None else value)]
        lines.append("".join(words["\0\1".index(char)] if char in "\0\1" else char for char in text))
    return str(entry.get("separator", " ")).join(lines)


def _serialised(word: str, data: Any) -> str:
    """Return the value of an option as a JSON or YAML text; a scalar is a line of YAML."""
    if word == "yaml" and isinstance(data, (dict, list)) and data:
        return emit.dump(data)
    return emit.dump_json(data) + ("\n" if word == "yaml" else "")
