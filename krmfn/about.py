"""What a function says of itself: help, schema, metadata and an example of its functionConfig."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import MISSING

from . import config
from .printing import printable
from .resource import Manifest
from .typed import Any
from .yamltext import emit

__all__ = ["answer", "example", "metadata", "text", "whole_schema"]

_EXAMPLES: dict[str, Any] = {"integer": 1, "boolean": True, "number": 1.5}


def answer(spec: Any, args: list[str]) -> int:
    """Print what is asked for, or run on a folder; return the exit code.

    Without arguments, on a terminal, that is the help, and 1.
    """
    answers: dict[str, Callable[[], str]] = {
        "--help": lambda: text(spec),
        "-h": lambda: text(spec),
        "--metadata": lambda: emit.dump(metadata(spec)),
        "--version": lambda: f"{spec.name} {getattr(sys.modules[spec.call.__module__], '__version__', 'dev')}\n",
    }
    if spec.config:
        answers["--schema"] = lambda: json.dumps(whole_schema(spec), indent=2) + "\n"
        answers["--example"] = lambda: emit.dump(example(spec))
    if not args:
        sys.stderr.write(text(spec))
        return 1
    if args[0] not in answers and any(arg and not arg.startswith("-") for arg in args):
        from . import folder

        folder.main(spec, args)
    if len(args) > 1 or args[0] not in answers:
        wrong = next((arg for arg in args if arg not in answers), args[-1])
        sys.stderr.write(
            f"error: unknown argument {printable(wrong)!r}; take a folder, or one of {', '.join(answers)}\n"
        )
        return 1
    sys.stdout.write(answers[args[0]]())
    return 0


def text(spec: Any) -> str:
    """Return the help."""
    lines = [spec.doc or spec.name, "", "A KRM function for kustomize and kpt. By hand:", ""]
    option = "--config FILE" if config.is_required(spec) else "[--config FILE]" if spec.config else ""
    calls = ["< list.yaml", " ".join(filter(None, ("DIR", option, "[--dry-run]")))]
    width = max(map(len, calls))
    lines += [f"  {spec.name} {calls[0]:{width}}    on a ResourceList"]
    lines += [f"  {spec.name} {calls[1]:{width}}    on the YAML files of a folder, or print the diff", ""]
    if spec.config:
        lines += [f"functionConfig: {config.expected(spec)}", ""]
        rows = [*_rows(spec.config)]
        widths = [max(len(row[at]) for row in rows) for at in (0, 1)] if rows else [0, 0]
        lines += [f"  {key:{widths[0]}}  {kind:{widths[1]}}  {words}".rstrip() for key, kind, words in rows]
        lines += [""] * bool(rows)
        lines += ["  --schema   the JSON Schema of the functionConfig", "  --example  a functionConfig"]
    lines += ["  --metadata a draft of metadata.yaml, for a catalogue of functions", "  --version  the version"]
    return "\n".join([*lines, ""])


def _rows(rules: Any, above: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield key, type and meaning of the fields of a dataclass, each with those below it."""
    for option in config.options(rules):
        rule = config.schema_of(option.hint)
        yield above + option.key, _type(rule), _description(option)
        inner = config.inner_class(option.hint)
        if inner is not None:
            yield from _rows(inner, f"{above}{option.key}{'[]' if rule.get('type') == 'array' else ''}.")


def _type(rule: Manifest) -> str:
    """Return the type in a schema, for people."""
    if "enum" in rule:
        return " | ".join("null" if value is None else str(value) for value in rule["enum"])
    kind = rule.get("type", "any")
    words = [kind] if isinstance(kind, str) else [*kind]
    if words[0] == "array":
        words[0] = f"list of {_type(rule['items'])}"
    elif words[0] == "object":
        values = rule.get("additionalProperties")
        words[0] = f"map of {_type(values)}" if isinstance(values, dict) else "mapping"
    return " | ".join(words)


def _description(option: config.Option) -> str:
    if option.default is MISSING:
        return f"{option.doc} (required)".lstrip()
    default = option.default
    is_shown = isinstance(default, (str, int, float)) and default != ""
    word = str(default).lower() if isinstance(default, bool) else default
    return (option.doc + (f" (default: {word})" if is_shown else "")).lstrip()


def whole_schema(spec: Any) -> Manifest:
    """Return the schema of a functionConfig of the function's own kind."""
    fields = config.schema(spec.config)
    head = {"apiVersion": {"const": f"{spec.group}/{spec.version}"}, "kind": {"enum": list(spec.kinds)}}
    head["metadata"] = {"type": "object"}
    below: Manifest = {"properties": {"spec": fields}, "required": ["spec"] * ("required" in fields)}
    rest = fields if spec.is_top else below
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": spec.kinds[0],
        "description": spec.doc,
        "type": "object",
        "properties": head | rest["properties"],
        "required": ["apiVersion", "kind", *rest.get("required", ())],
        "additionalProperties": False,
    }


def metadata(spec: Any) -> Manifest:
    """Return metadata.yaml of kpt's function catalogue."""
    return {
        "image": f"example.com/{spec.name}",
        "description": spec.doc.split("\n")[0],
        "tags": ["mutator"],
        "sourceURL": f"https://git.example.com/{spec.name}",
        "examplePackageURLs": [f"https://git.example.com/{spec.name}/example"],
        "license": "Apache-2.0",
        "hidden": False,
    }


def example(spec: Any) -> Manifest:
    """Return a functionConfig with every field."""
    head = {"apiVersion": f"{spec.group}/{spec.version}", "kind": spec.kinds[0], "metadata": {"name": spec.name}}
    values = _example(config.schema(spec.config))
    return head | values if spec.is_top else head | {"spec": values}


def _example(rule: Manifest, key: str = "value") -> Any:
    """Return a value that fits a schema; for a string that is the key it stands under."""
    kind = rule.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if "default" in rule or "enum" in rule:
        return rule["default"] if "default" in rule else rule["enum"][0]
    if kind == "array":
        return [_example(rule["items"])]
    if kind == "object":
        known = {name: _example(node, name) for name, node in rule.get("properties", {}).items()}
        return known or {"key": _example(rule.get("additionalProperties") or {})}
    return _EXAMPLES.get(kind, key)
