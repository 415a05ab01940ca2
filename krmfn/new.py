"""Start a function: `python -m krmfn.new NAME` makes a folder with all that belongs to one."""

import keyword
import re
import sys
from pathlib import Path

__all__ = ["make"]

_TEMPLATE = Path(__file__).with_name("template")


def make(name: str, parent: Path) -> Path:
    """Make the folder of a function in `parent`; return it. Raises ValueError for a name that cannot be one.

    Raises FileExistsError when the folder is there.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ValueError(f"{name!r} cannot be the name of a function: take words like set-image")
    module = name.replace("-", "_")
    if keyword.iskeyword(module) or module in (*sys.stdlib_module_names, "krmfn", "yaml", "pytest", "jsonschema"):
        raise ValueError(f"{name!r} cannot be the name of a function: Python has a word or a module {module}")
    words = {"NAME": name, "MODULE": module, "KIND": name.title().replace("-", "")}
    folder = parent / name
    if folder.exists():
        raise FileExistsError(f"{folder} is there already: take another name, or remove it")
    for path in sorted(_TEMPLATE.rglob("*")):
        name = path.relative_to(_TEMPLATE).as_posix().replace("dot-", ".").removesuffix(".in")
        target = folder / _filled(name, words)
        if path.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_filled(path.read_text(encoding="utf-8"), words), encoding="utf-8")
    (folder / f"{module}.py").chmod(0o755)
    return folder


def _filled(text: str, words: dict[str, str]) -> str:
    return re.sub(r"@(NAME|MODULE|KIND)@", lambda match: words[match[1]], text)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: python -m krmfn.new NAME")
    try:
        sys.stdout.write(f"{make(sys.argv[1], Path.cwd())}: run its tests with `python -m pytest`\n")
    except (ValueError, FileExistsError) as failure:
        sys.exit(f"error: {failure}")
