"""No logic reads what an error says: file and line are its data, and meaningless texts change nothing but texts.

The sentences of errors are replaced by meaningless ones, and what is printed has to be what was printed before with
the same sentences replaced: no place, name, count or exit code comes out of a sentence.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from krmfn.errors import KrmfnError
from tests.functions.formats.test_opaque_messages import opaque_text
from tests.rule_examples import run
from tests.trees import plant

NODES = '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}\n'
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
BROKEN = f"{MAP}---\n{MAP}data: {{a: b}} c\n"
UNREADABLE = {
    "not YAML": {"app/a.yaml": BROKEN, "app/b.yaml": MAP},
    "in several files": {"app/a.yaml": BROKEN, "app/b.yaml": BROKEN},
    "not UTF-8": {"app/a.yaml": f"{MAP}# \0\n"},
    "a template": {"app/a.yaml": f"{MAP}data: {{{{ .Values.a }}}} b\n"},
    "a template of a config": {"app/a.yaml": "kind: DeviceConfig\napiVersion: krmfn.dev/v1alpha1\nspec: {{- x }} y\n"},
    "a list that is none": {"app/a.yaml": "apiVersion: v1\nkind: List\nmetadata: {}\nitems: a\n"},
    "a link": {"app/a.yaml": "-> /etc/passwd", "app/b.yaml": MAP},
    "a kustomization": {"app/kustomization.yaml": "resources: [a.yaml]\nnamePrefix: {a} b\n", "app/a.yaml": MAP},
    "what a kustomization lists": {"app/kustomization.yaml": "resources: [a.yaml]\n", "app/a.yaml": BROKEN},
    "the configuration": {".krmfn.yaml": "clusters: {a: [app]}\nkmm: {a} b\n", "app/a.yaml": MAP},
    "a dump": {"app/a.yaml": MAP, "dump.yaml": f"{NODES}--- a\n{BROKEN}"},
    "a dump of findings": {"app/a.yaml": MAP, "dump.yaml": f"{MAP}---\nkind: ConfigMap\n"},
    "against": {"app/a.yaml": MAP, "theirs/a.yaml": BROKEN},
    "against nothing": {"app/a.yaml": MAP, "theirs/a.yaml": ""},
    "images": {"app/a.yaml": MAP, "images.txt": "registry.example.com/a:1\na b\n"},
}
COMMANDS = [
    ["check", "app"],
    ["check", "app/a.yaml", "none"],
    ["check", "app", "--format", "json"],
    ["check", "app", "--format", "sarif"],
    ["check", "app", "--live", "dump.yaml"],
    ["check", "app", "--against", "theirs/a.yaml"],
    ["images", "app", "--missing-from", "images.txt"],
    ["render", "app"],
    ["diff", "app", "app/a.yaml"],
    ["inventory", "dump.yaml"],
]


@contextmanager
def opaque_errors(sentences: dict[str, str]) -> Iterator[None]:
    """Make the errors that are raised in the block say nothing; the sentences are keys of `sentences`."""
    plain: Any = KrmfnError.__init__

    def opaque(self: KrmfnError, *lines: object, **about: Any) -> None:
        plain(self, *(sentences.get(line, line) if isinstance(line, str) else line for line in lines), **about)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KrmfnError, "__init__", opaque)
        yield


@contextmanager
def noted_errors(sentences: dict[str, str]) -> Iterator[None]:
    """Note what the errors that are raised in the block say, with a meaningless text for each."""
    plain: Any = KrmfnError.__init__

    def noted(self: KrmfnError, *lines: object, **about: Any) -> None:
        for line in lines:
            if isinstance(line, str) and line not in sentences:
                text = replaced(line, sentences)  # a sentence may hold that of another error
                sentences[line] = opaque_text(line) if text == line else text
        plain(self, *lines, **about)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KrmfnError, "__init__", noted)
        yield


def replaced(text: str, sentences: dict[str, str]) -> str:
    """Return a text with meaningless words for each sentence in it."""
    for sentence in sorted(sentences, key=len, reverse=True):
        text = text.replace(sentence, sentences[sentence])
    return text


@pytest.mark.parametrize("files", UNREADABLE.values(), ids=UNREADABLE)
def test_a_reworded_error_changes_only_words(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    for command in filter(is_possible, COMMANDS):
        sentences: dict[str, str] = {}
        with noted_errors(sentences):
            code, plain = output_of(command, capsys)
        with opaque_errors(sentences):
            opaque_code, opaque = output_of(command, capsys)
        assert (opaque_code, opaque) == (code, replaced(plain, sentences)), command


def is_possible(command: Sequence[str]) -> bool:
    """Return whether a command names no file that the case has not, but for `none`."""
    return all(os.path.lexists(word) for word in command[1:] if "." in word)


def output_of(command: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Return the exit code of a command, and all that it prints."""
    code, text = run(command)
    return code, text + capsys.readouterr().err
