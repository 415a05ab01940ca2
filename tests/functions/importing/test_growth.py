"""Twice the Modules are about twice the work of an import."""

from __future__ import annotations

from krmfn_functions.importing.assembly import assemble
from krmfn_functions.importing.importer import import_modules

from tests.builders import module
from tests.call_counts import call_count
from tests.functions.importing.manifests import RUN


def calls(number: int) -> int:
    """How many functions are called to import so many Modules, each with a kernel module and nodes of its own."""
    names = [f"m{at}" for at in range(number)]
    modules = [module(name=name, selector={"pool": name}, modprobe={"moduleName": f"drv_{name}"}) for name in names]

    def imported() -> int:
        result = import_modules(modules, RUN)
        configs, shared = assemble(result.conversions, RUN)
        assert shared
        assert len(shared["spec"]["profiles"]) == number
        return len(configs)

    found, count = call_count(imported)
    assert found == number
    return count


def test_twice_the_modules_are_twice_the_work() -> None:
    """Each has a profile, and all of these were judged anew with each config: 400 Modules took minutes."""
    calls(2)  # what is imported once
    once, twice = calls(15), calls(30)
    assert twice < 2.2 * once, (once, twice)
