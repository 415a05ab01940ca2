"""The peer that everybody writes first: load all of it with PyYAML, touch some, dump all of it."""

import sys
from typing import Any

import yaml


def touch(items: list[dict[str, Any]]) -> None:
    for item in items:
        if item["kind"] == "DeviceConfig" and item["apiVersion"].startswith("krmfn.dev/"):
            item["metadata"].setdefault("annotations", {})["benchmark.example.com/touched"] = "yes"


if __name__ == "__main__":
    document = yaml.load(sys.stdin.buffer, Loader=yaml.CSafeLoader)
    touch(document["items"])
    yaml.dump(document, sys.stdout.buffer, Dumper=yaml.CSafeDumper, sort_keys=False, encoding="utf-8")
