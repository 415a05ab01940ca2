#!/usr/bin/env python3
"""A stand-in for `gh api` as the recipe calls it; tests/e2e/test_ci_recipes.py runs the recipe with the real one."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

OURS = '.[] | select(.user.login == "github-actions[bot]" and (.body | startswith(env.MARK))) | .id'
"""The one filter that is known here."""


def main() -> int:
    arguments = sys.argv[1:]
    assert arguments.pop(0) == "api"
    assert os.environ["GH_TOKEN"], "a step without a token"
    method, path, filter_, fields = "GET", "", "", {}
    while arguments:
        argument = arguments.pop(0)
        if argument == "--method":
            method = arguments.pop(0)
        elif argument == "--jq":
            filter_ = arguments.pop(0)
        elif argument in ("--field", "--raw-field"):
            key, _, value = arguments.pop(0).partition("=")
            is_file = argument == "--field" and value.startswith("@")
            fields[key] = Path(value[1:]).read_text(encoding="utf-8") if is_file else value
        elif argument not in ("--silent", "--paginate"):
            assert not path and not argument.startswith("-"), argument
            path = f"http://api.github.localhost/{argument}"
    assert filter_ in ("", OURS), filter_
    while path:
        entries, path = call(method, path, fields)
        for entry in entries if filter_ else ():
            if entry["user"]["login"] == "github-actions[bot]" and entry["body"].startswith(os.environ["MARK"]):
                print(entry["id"])
    return 0


def call(method: str, url: str, fields: dict[str, str]) -> tuple[list[dict[str, Any]], str]:
    """Send a request; the document, and the address of its next page."""
    opener = build_opener(ProxyHandler({"http": os.environ["http_proxy"]}))
    headers = {"Content-Type": "application/json"}
    data = json.dumps(fields).encode() if fields else None
    try:
        with opener.open(Request(url, data, headers, method=method), timeout=600) as answer:
            following = re.search('<([^>]+)>; rel="next"', answer.headers.get("Link", ""))
            return json.load(answer), following[1] if following else ""
    except HTTPError as failure:
        print(f"gh: {json.load(failure)['message']} (HTTP {failure.code})", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    sys.exit(main())
