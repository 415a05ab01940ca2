"""New inputs from old ones and from nothing: YAML in which readers differ, put together from parts.

Blind changes of bytes seldom get past a parser, so that each part here is a piece of syntax. None of them is an attack
by itself: what is found is how they are combined.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Sequence
from typing import Any

from tests.e2e.documents import PLAIN, TAGS, Writer, damaged
from tests.e2e.kustomizations import CONSTRUCTS, KEYS, SHAPES, SPECS
from tests.trees import COMPONENT, config_map

from . import archive, daemonsets, edits, schemas

BREAKS = (*("\n",) * 8, "\r\n", "\r", "\x85", "\u2028", "\u2029")
GAPS = ("", "", " ", "\t", "\xa0", "\u3000", "\ufeff")
AFTER = ("", "", "", "#", "# x", "# x:", "# x:", "x", "x: y", "{x: y}")
ODD = (*BREAKS[8:], *GAPS, "\x0c", "\u202e", "#", "#" * 9, " #", ":", "-", "---", "...", "&x ", "*x", "{", "}", "%")
VALUES = (*PLAIN, *("builtin", "List", "AList", "PrefixTransformer", "v1", "own.yaml", "http://127.0.0.1:9/{x}") * 6)
LISTS = ("transformers", "transformers", "transformers", "generators", "validators")
URLS = (
    "http://127.0.0.1:9/",
    "HTTPS://127.0.0.1:9/",
    "git@127.0.0.1:",
    "github.com/",
    "git::file://",
    "ssh://127.0.0.1/",
)
_PREFIX = "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: a}\nprefix: a-\n"
BUILTINS = (
    f"{_PREFIX}fieldSpecs: [{{path: metadata/name}}]\n",
    f"{_PREFIX}fieldSpecs: [{{path: x}}]\n",
    "apiVersion: builtin\nkind: PatchStrategicMergeTransformer\nmetadata: {name: a}\npaths: [patch.yaml]\n",
    "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\npath: patch.yaml\ntarget: {kind: ConfigMap}\n",
    "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nname: made\nfiles: [own.yaml]\n",
)
PATCH = "{apiVersion: v1, kind: ConfigMap, metadata: {name: own}, data: {a: c}}"
DEVICECONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gaudi, namespace: kmm}
spec:
  driverImage: registry.example.com/habana/driver
  driverVersion: "1.16.2"
  moduleName: habanalabs
  nodeSelector: {a: "b"}
"""
MODULE = """\
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: Module
metadata:
  name: gaudi
  namespace: kmm
spec:
  moduleLoader:
    container:
      modprobe: {moduleName: habanalabs}
      kernelMappings:
      - {regexp: ^.+$, containerImage: "registry.example.com/habana/driver:1.16.2-$KERNEL_FULL_VERSION"}
  selector: {a: "b"}
"""
MARK = (
    "  annotations:\n    krmfn.dev/owner: deviceconfig krmfn.dev|DeviceConfig|kmm|gaudi "
    "kmm.sigs.x-k8s.io|Module|kmm|gaudi\n"
)
MARKED = MODULE.replace("spec:\n", f"{MARK}spec:\n", 1)
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {a: b}}\n"
BYSTANDERS = (
    config_map("own"),
    NODE,
    "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: x}\n",
)

_OF_JSON: dict[str, Any] = {"edits": edits, "schemas": schemas, "daemonsets": daemonsets}
"""The targets whose inputs are JSON with a meaning; a changed byte says nothing there."""


class Mutator:
    """Makes inputs of one target, the same for the same random numbers."""

    def __init__(self, target: str, rng: random.Random, seeds: Sequence[bytes] = ()) -> None:
        self.target, self.rng, self.seeds, self.interpreted = target, rng, list(seeds), False

    def input(self) -> bytes:
        """Return an input: one that is made from nothing, or a seed that is changed."""
        text = self.new() if not self.seeds or self.rng.random() < 0.5 else self.rng.choice(self.seeds)
        return self.changed(text) if self.rng.random() < 0.5 else text

    def new(self) -> bytes:
        """Return an input from nothing; in a third of them every resource is one that krmfn interprets."""
        self.interpreted = self.rng.random() < 0.3
        if self.target in _OF_JSON:
            return bytes(_OF_JSON[self.target].new(self.rng))
        if self.target == "kustomizations":
            return self._folder()
        return (self._stream() if self.target == "streams" else self._list()).encode(errors="surrogateescape")

    def changed(self, text: bytes) -> bytes:
        """Return an input with one to three changes."""
        if self.target in _OF_JSON:
            return bytes(_OF_JSON[self.target].changed(self.rng, text))
        for _ in range(self.rng.choice((1, 1, 1, 2))):
            files = archive.parse(text) if self.target == "kustomizations" else {}
            if files:
                name = self.rng.choice(list(files))
                files[name] = self._changed(files[name])
                text = archive.dump(files)
            else:
                text = self._changed(text)
        return text

    def _changed(self, text: bytes) -> bytes:
        rng, old = self.rng, text.decode(errors="surrogateescape")
        lines = old.splitlines(keepends=True) or [""]
        at = rng.randrange(len(lines))
        line = lines[at]
        key, colon, value = line.partition(":")

        def put(*new: str) -> str:
            return "".join([*lines[:at], *new, *lines[at + 1 :]])

        ways: list[Callable[[], str]] = [
            lambda: damaged(rng, old),
            lambda: put(line.rstrip("\r\n"), rng.choice(AFTER), rng.choice(BREAKS)),
            lambda: put(line, self._divider()),
            lambda: put(line, f"{key}: {rng.choice(VALUES)}\n"),
            lambda: put(f"{key}{colon}{self._tagged(value)}\n"),
            lambda: put(f"{key}{colon} {rng.choice(VALUES)}\n"),
            lambda: put(" " * rng.choice((1, 2, 4)), line),
            lambda: put(line * rng.choice((2, 50))),
            lambda: put() + line,
            lambda: self._inserted(old, rng.choice(ODD)),
            lambda: self._inserted(old, f"#{rng.choice(AFTER)}{rng.choice(BREAKS)}"),
            lambda: old.replace(rng.choice((" ", "\n", ",")), rng.choice(ODD), 1),
            lambda: (rng.choice(("", "# x\n")) + old).replace("\n", rng.choice(BREAKS[8:])) + "\n",
        ]
        return rng.choice(ways)().encode(errors="surrogateescape")

    def _inserted(self, text: str, part: str) -> str:
        at = self.rng.randrange(len(text) + 1)
        return text[:at] + part + text[at:]

    def _tagged(self, value: str) -> str:
        word = value.strip()
        binary = base64.b64encode(word.encode(errors="surrogateescape")).decode()
        return self.rng.choice(
            (f" !!binary {binary}", f" {self.rng.choice(TAGS)} {word}", f" &x {word}", f" !!str {word}")
        )

    def _divider(self) -> str:
        """Return a line between two documents, or what one reader takes for it."""
        rng = self.rng
        if rng.random() < 0.3:
            return "---\n"
        if rng.random() < 0.3:
            return f"---{rng.choice(GAPS)}# x:{rng.choice(BREAKS)}"
        mark = rng.choice(("---", "---", "---", "...", "...\n---", " ---", "----"))
        return mark + rng.choice(GAPS) + rng.choice(AFTER) + rng.choice(BREAKS)

    def _joined(self, parts: Sequence[str]) -> str:
        text = parts[0]
        for part in parts[1:]:
            text += self._divider() + part
        return text

    def _resource(self) -> str:
        rng = self.rng
        if not self.interpreted and rng.random() < 0.3:
            return Writer(rng).resource()
        text = rng.choice(
            ((*BYSTANDERS, DEVICECONFIG, MODULE, MARKED), (DEVICECONFIG, MODULE, MARKED))[self.interpreted]
        )
        while rng.random() < 0.3:
            text = self._changed(text.encode()).decode(errors="replace")
        return text

    def _stream(self) -> str:
        rng = self.rng
        parts = [self._resource() if rng.random() < 0.7 else self._kubernetes_list() for _ in range(rng.randint(1, 3))]
        return self._joined(parts)

    def _kubernetes_list(self) -> str:
        kind = self.rng.choice(("List", "List", "NodeList", "ConfigMapList", "ResourceList"))
        return f"apiVersion: v1\nkind: {kind}\n{self._items(3)}"

    def _items(self, most: int) -> str:
        """Return `items:` with resources in block style, lists among them, or in braces."""
        rng, texts = self.rng, [self._resource() for _ in range(self.rng.randint(0, most))]
        if rng.random() < 0.3:
            texts.append(f"apiVersion: v1\nkind: {rng.choice(('List', 'AList'))}\n{self._items(1)}")
        pad = rng.choice(("", "  "))
        dashed = (f"{pad}- " + text.rstrip("\n").replace("\n", f"\n{pad}  ") + "\n" for text in texts)
        return "items:\n" + "".join(dashed) if texts else "items: []\n"

    def _list(self) -> str:
        rng = self.rng
        config = (
            "functionConfig:\n  apiVersion: krmfn.dev/v1alpha1\n  kind: RenderDeviceConfigs\n  metadata: {name: a}\n"
        )
        parts = ["apiVersion: config.kubernetes.io/v1\n", "kind: ResourceList\n", self._items(5)]
        parts += [config] if rng.random() < 0.4 else []
        parts += ["results:\n- {message: a, severity: info}\n"] if rng.random() < 0.1 else []
        if rng.random() < 0.2:
            rng.shuffle(parts)
        return "".join(parts)

    def _function(self) -> str:
        """Return a file of functions: ours, others, kustomize's own."""
        rng = self.rng
        parts = []
        for _ in range(rng.choice((1, 1, 2, 2, 3))):
            if rng.random() < 0.3:
                text = rng.choice(BUILTINS)
            else:
                spec = rng.choice((SPECS[0], "exec: {path: krmfn}", "exec: {path: krmfn}", rng.choice(SPECS)))
                shape = rng.choice((SHAPES[0], SHAPES[1], rng.choice(SHAPES)))
                text = shape.replace("KEY", rng.choice((KEYS[0], rng.choice(KEYS)))).replace("SPEC", json.dumps(spec))
            if rng.random() < 0.3:
                text = self._changed(text.encode()).decode(errors="replace")
            parts.append(text)
        return self._joined(parts)

    def _entry(self, text: str) -> str:
        """Return a resource as an entry of a list, written out."""
        rng = self.rng
        if rng.random() < 0.3:
            text = text.replace("metadata: {name: a}\n", "", 1)
        flow = "{" + ", ".join(text.strip().splitlines()) + "}"
        return rng.choice((text, text.rstrip(), flow, text.replace("\n", rng.choice(BREAKS)).strip()))

    def _folder(self) -> bytes:
        rng = self.rng
        files = {
            "app/own.yaml": config_map("own"),
            "app/patch.yaml": PATCH + "\n",
            "app/function.yaml": self._function(),
        }
        fields: dict[str, list[object]] = {"resources": ["own.yaml"]}
        where = "app"
        if rng.random() < 0.25:
            fields["components"], where = ["part"], "app/part"
            files["app/part/function.yaml"] = self._function()
        inner: dict[str, list[object]] = fields if where == "app" else {}
        for _ in range(rng.choice((1, 1, 2, 3))):
            self._add(files, inner, where)
        extra = self._construct(files) if rng.random() < 0.3 else ""
        files["app/kustomization.yaml"] = self._kustomization(fields) + extra
        if where != "app":
            files["app/part/kustomization.yaml"] = COMPONENT + self._kustomization(inner)
        return archive.dump({name: text.encode(errors="surrogateescape") for name, text in files.items()})

    def _add(self, files: dict[str, str], fields: dict[str, list[object]], where: str) -> None:
        """Add an entry to a field, and sometimes a file that is called like the entry."""
        rng = self.rng
        kind = rng.choice(("file", "file", "inline", "inline", "url", "patch"))
        if kind in ("file", "inline"):
            entry: str = "function.yaml" if kind == "file" else self._entry(rng.choice((*BUILTINS, self._function())))
            fields.setdefault(rng.choice(LISTS), []).append(entry)
            if kind == "inline" and rng.random() < 0.1:
                files[f"{where}/{entry}{rng.choice(('', '', '/kustomization.yaml'))}"] = self._function()
            return
        url = rng.choice(URLS) + rng.choice(("a", "{x}", "a/b", "a.git", "x\ny", "{kind: A}"))
        field = rng.choice(("patchesStrategicMerge", "resources", "patches", "configurations", "crds", "paths"))
        text = url if kind == "url" else rng.choice((PATCH, "patch.yaml", f"{PATCH}\n"))
        if field == "paths":
            fields.setdefault(rng.choice(LISTS), []).append(BUILTINS[2].replace("[patch.yaml]", json.dumps([text])))
        elif field == "patches":
            pattern = rng.choice(("own", ".*", "(o+)+w", "(o+)+c|o.*", "(?=o)o.*", "["))
            fields.setdefault(field, []).append(
                {rng.choice(("path", "patch")): text, "target": {"kind": "ConfigMap", "name": pattern}}
            )
        else:
            fields.setdefault(field, []).append(text)

    def _construct(self, files: dict[str, str]) -> str:
        field, needed = self.rng.choice(list(CONSTRUCTS.values()))
        for name, text in needed.items():
            files.setdefault(f"app/{name}".replace("KEY", "key"), text.replace("KEY", "key").replace("OWN", "own"))
        return field.replace("KEY", "key").replace("OWN", "own") + "\n"

    def _kustomization(self, fields: dict[str, list[object]]) -> str:
        """Return the text of a kustomization; an entry with lines in it may be a block."""
        text = ""
        for field, entries in fields.items():
            text += f"{field}:\n"
            for entry in entries:
                if isinstance(entry, str) and "\n" in entry.strip() and self.rng.random() < 0.5:
                    lines = entry.rstrip("\n").replace("\n", "\n    ")
                    text += f"  - |\n    {lines}\n"
                else:
                    text += f"  - {json.dumps(entry, ensure_ascii=self.rng.random() < 0.5)}\n"
        return text
