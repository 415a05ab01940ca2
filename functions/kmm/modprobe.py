"""What modprobe does with arguments that are given to it as they are (a Module's `modprobe.rawArgs`).

Source: modprobe(8) of kmod 31: options, then the name of a kernel module and its parameters; with --all only names.
"""

from collections.abc import Iterator, Sequence

_WITH_VALUE = ("-C", "--config", "-d", "--dirname", "-S", "--set-version")
"""The options whose value may be the next argument."""
_SHORT_WITH_VALUE = "CdS"
_SUFFIXES = (".ko", ".ko.gz", ".ko.xz", ".ko.zst")


def loaded_names(arguments: Sequence[str]) -> list[str]:
    """Return the names of the kernel modules that modprobe loads with these arguments, as they are written.

    A file (`/opt/drivers/xpu.ko`) has the name of its module. With --remove there are none.
    """
    options, words = _divide(arguments)
    letters = "".join(option[1:] for option in options if not option.startswith("--"))
    if "--remove" in options or "r" in letters:
        return []
    takes_all = "--all" in options or "a" in letters
    return [_name(word) for word in (words if takes_all else words[:1])]


def _divide(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the options, without their values, and the other words."""
    options, words = list[str](), list[str]()
    rest: Iterator[str] = iter(arguments)
    for argument in rest:
        if argument == "--":
            words += rest
        elif not argument.startswith("-"):
            words.append(argument)
        else:
            option = _without_value(argument)
            options.append(option)
            if argument in _WITH_VALUE or (
                option == argument and option[1:2] != "-" and option[-1] in _SHORT_WITH_VALUE
            ):
                next(rest, None)
    return options, words


def _without_value(argument: str) -> str:
    """Return an option without the value that is written in the same argument: `-vd` of `-vd/opt`."""
    if argument.startswith("--"):
        return argument.partition("=")[0]
    ends = [at for at, letter in enumerate(argument) if letter in _SHORT_WITH_VALUE]
    return argument[: ends[0] + 1] if ends else argument


def _name(word: str) -> str:
    """Return the name of a kernel module that is given by its name or by its file."""
    name = word.rpartition("/")[2]
    suffix = next((suffix for suffix in _SUFFIXES if name.endswith(suffix)), "")
    return name.removesuffix(suffix)
