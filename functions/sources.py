"""The builds of a run, in which the places of findings are looked for when somebody tells them."""

from collections.abc import Iterable
from itertools import count

from krmfn.findings import placed
from krmfn.resource import Built, Place, Ref
from krmfn.results import Field, Result
from krmfn.typed import Protocol


class Build(Protocol):
    """What is known of one build."""

    def located(self, result: Result, number: int) -> Result:
        """Return a finding about the resource `number` of the build with its place in the files, and its name there.

        -1 stands for what a function has reported during the build. It may read files, and run kustomize.
        """


class Sources:
    """The builds of a run by their names, which places have (see `krmfn.resource.Built`).

    A finding is looked up once, and what was found is kept.
    """

    def __init__(self) -> None:
        self._builds: dict[str, Build] = {}
        self._numbers = count()  # several threads build at a time
        self._known: dict[str, Result] = {}

    def add(self, folder: str, build: Build) -> str:
        """Add the build of a folder, and return its name: a folder is built again after its files have changed."""
        name = f"{folder}#{next(self._numbers)}"
        self._builds[name] = build
        return name

    def located(self, result: Result) -> Result:
        """Return a finding with its place in the files; one that stands in no build is returned as it is."""
        built = result.place and result.place.built
        if not built:
            return result
        name = repr(result)
        if name not in self._known:
            self._known[name] = _located(self._builds[built.build], result, built)
        return self._known[name]

    def placed(self, results: Iterable[Result]) -> list[Result]:
        """Return findings with their places in files; two that are equal there become one."""
        return placed(results, self.located)


def _located(build: Build, result: Result, built: Built) -> Result:
    """Return a finding with the place of what it is about, or of what is looked for in its stead."""
    if not built.ref:
        return build.located(result, built.number)
    other = Result("", ref=built.ref, field=Field(built.field))
    return result._replace(place=build.located(other, built.number).place)


def of_field(place: Place, ref: Ref, path: str) -> Place:
    """Return the place of a field of the resource `ref`, given that of the resource, for a finding about another."""
    return place._replace(built=place.built._replace(ref=ref, field=path)) if place.built else place


NO_BUILDS = Sources()
"""Of what is read from files and streams; nothing is added to it."""
