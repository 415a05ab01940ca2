"""The Dockerfiles that KMM builds from: the key of their ConfigMap, the build arguments, and where their files land.

KMM reads the key `dockerfile` of the ConfigMap in the Module's namespace, and passes its own arguments and buildArgs.
Source: KMM v2.6.0 and main (de3f8c9), internal/build; the Dockerfile reference for what an argument is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from krmfn import Field, Result, error, info, warning
from krmfn.printing import some
from krmfn.typed import TYPE_CHECKING

from .. import oracles
from ..kmm.lookup import table, text
from ..kmm.module import HUB_KIND
from ..kmm.recipes import KEY
from ..rule import Rule
from .build_sources import Build, Source, builds_of, config_map_of, config_maps, sources_of
from .stream import FinalList

if TYPE_CHECKING:
    from ..kmm.dockerfile import Stage

PASSED = frozenset({"KERNEL_FULL_VERSION", "KERNEL_VERSION", "MOD_NAME", "MOD_NAMESPACE", "DTK_AUTO"})
"""The build arguments that KMM passes; the last one only OpenShift's."""
_PREDEFINED = re.compile(r"(?:https?|ftp|no|all)_proxy|BUILDKIT_\w+|SOURCE_DATE_EPOCH", re.IGNORECASE)
"""Arguments that a builder takes without an ARG."""
_MODULES = "lib/modules"


def config_maps_hold_dockerfiles(final: FinalList) -> Iterator[Result]:
    """Yield a finding per build whose ConfigMap has no key `dockerfile`, or stands in another namespace only."""
    items, places = config_maps(final), dict[str, str]()
    for build in builds_of(final):
        candidates = items.get(build.name, {})
        field = Field(f"{build.path}.dockerfileConfigMap.name", build.name)
        item = config_map_of(build, candidates)
        if item and not text(table(item.manifest, "data"), KEY):
            keys = [key for key in table(item.manifest, "data") if key.lower() == KEY]
            hint = f", only {keys[0]}" if keys else ""
            message = (
                f"the ConfigMap {build.name} has no key {KEY}{hint}: KMM reads no other, so the build cannot begin"
            )
            remedy = f"rename the key to {KEY}" if keys else f"write the Dockerfile under the key {KEY}"
            yield build.located(final, error(message, field=field, remedy=remedy))
        # what deploys one without a namespace may give it that of the Module
        if not item and candidates and "" not in candidates and build.item.kind != HUB_KIND:
            if build.name not in places:
                places[build.name] = some(sorted(candidates), len(candidates))
            namespace = build.module.ref.namespace
            message = f"KMM reads the ConfigMap {build.name} in the Module's namespace {namespace}"
            message += f"; here it is in {places[build.name]} only"
            yield build.located(final, warning(message, field=field, remedy=f"move it to {namespace}"))


def arguments_are_declared(final: FinalList) -> Iterator[Result]:
    """Yield a warning per build argument that a stage of a Dockerfile uses and does not declare: it is empty there."""
    deployed = {id(item) for item in final.deployed}
    for source in sources_of(final):
        passed = PASSED | source.arguments()
        for title, name, line in source.dockerfile.undeclared(passed):
            stage = f"the stage {title} uses ${name} in line {line}" if title else f"FROM in line {line} uses ${name}"
            place = "after its FROM" if title else "before the first FROM"
            message = f"{stage} without `ARG {name}`, so it is empty there"
            facts = (("stage", title), ("argument", name))
            finding = warning(message, field=Field(f"data.{KEY}"), facts=facts, remedy=f"write `ARG {name}` {place}")
            is_deployed = id(source.item) in deployed
            yield final.located(source.item, finding) if is_deployed else _at_build(final, source, finding)


def _at_build(final: FinalList, source: Source, finding: Result) -> Result:
    """Return a finding about a Dockerfile whose ConfigMap stands elsewhere, at a build that uses it."""
    build = source.builds[0]
    field = Field(f"{build.path}.dockerfileConfigMap.name", build.name)
    return build.located(final, finding._replace(field=field, message=f"ConfigMap {build.name}: {finding.message}"))


def arguments_are_taken(final: FinalList) -> Iterator[Result]:
    """Yield an info per entry of buildArgs that no ARG of the Dockerfile takes."""
    for source in sources_of(final):
        takers = source.dockerfile.arguments
        takers |= {name for _, name, _ in source.dockerfile.undeclared(PASSED | source.arguments())}  # see KRM615
        for build, name, path in _arguments(source):
            if name and name not in takers and not _PREDEFINED.fullmatch(name):
                message = f"no ARG of the Dockerfile in ConfigMap {build.name} takes {name}, so it changes nothing"
                remedy = f"add `ARG {name}` to the Dockerfile, or remove the argument"
                yield build.located(final, info(message, field=Field(path, name), remedy=remedy))


def _arguments(source: Source) -> Iterator[tuple[Build, str, str]]:
    """Yield the build arguments that count, each with the first build that has it, its name and its path.

    Those of a section replace those of the container. What the container has for thousands of builds is looked at once.
    """
    shared = dict[int, dict[str, str]]()
    for build in source.builds:
        arguments = shared.setdefault(id(build.shared), dict(build.shared))
        yield from ((build, name, path) for name, path in build.arguments.items())
        yield from ((build, name, path) for name, path in arguments.items() if name not in build.arguments)
        shared[id(build.shared)] = {name: path for name, path in arguments.items() if name in build.arguments}


def files_land_in_the_directory(final: FinalList) -> Iterator[Result]:
    """Yield a warning per build whose image gets its kernel modules elsewhere than below modprobe.dirName.

    Only where the last stage copies to a folder `lib/modules`, and nothing in it names the right one.
    """
    for source in sources_of(final):
        targets = _targets(source.dockerfile.last_stages())
        instructions = [member.text for stage in source.dockerfile.last_stages() for member in stage.instructions]
        content = "\n".join(instructions)
        for build in {id(build.module): build for build in source.builds}.values():
            directory = build.module.directory.rstrip("/")
            right = f"{directory}/{_MODULES}"
            if not targets or any(right in word for word in targets):
                continue
            if directory and re.search(rf"{re.escape(directory)}(?![\w.-])", content):
                continue
            message = f"the image has its kernel modules in {targets[0]}, but modprobe looks in {right} (dirName)"
            remedy = f"copy them to {right}, or set modprobe.dirName"
            finding = warning(message, field=Field(f"{build.path}.dockerfileConfigMap.name", build.name), remedy=remedy)
            yield build.located(final, finding)


def _targets(stages: list[Stage]) -> list[str]:
    """Return the folders of kernel modules that the stages copy files to."""
    copies = (member for stage in stages for member in stage.instructions if member.word in ("COPY", "ADD"))
    words = (member.text.split() for member in copies if not member.text.lstrip().startswith("["))
    return [target[-1] for target in words if target and f"/{_MODULES}/" in f"{target[-1]}/"]


def _example(arguments: str, *lines: str, key: str = "dockerfile") -> str:
    """Return a Module with buildArgs, and its ConfigMap with the lines of a Dockerfile."""
    content = "".join(f"    {line}\n" for line in lines)
    return f"""\
kind: Module
spec:
  moduleLoader:
    container:
      kernelMappings:
      - regexp: ^.+$
        containerImage: registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION
        build: {{dockerfileConfigMap: {{name: recipe}}, buildArgs: {arguments}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: recipe, namespace: kmm}}
data:
  {key}: |
{content}"""


_ARGUMENT = "[{name: VERSION, value: v1}]"
_LINES = ("FROM sdk:1", "ARG VERSION", "RUN make VERSION=${VERSION}")
_COPY = ("FROM sdk:1 AS builder", "RUN make", "FROM scratch", "COPY --from=builder /gpu.ko TARGET/lib/modules/6.1.0/")

RULES = (
    Rule(
        "KMM083",
        "the ConfigMap of a build must have the key `dockerfile`, and should be in the namespace of the Module",
        good=_example("[]", "FROM sdk:1"),
        bad=_example("[]", "FROM sdk:1", key="Dockerfile"),
        remedy="Rename the key. If the ConfigMap is in another namespace, move it to that of the Module.",
        held=oracles.BUILDS,
        check=config_maps_hold_dockerfiles,
        severities=("error", "warning"),
        advice=True,
    ),
    Rule(
        "KRM615",
        "a stage of a Dockerfile should declare by ARG each build argument that it uses: elsewhere it is empty",
        good=_example(_ARGUMENT, *_LINES),
        bad=_example(_ARGUMENT, _LINES[0], _LINES[2]),
        remedy="Write the ARG after the FROM of the stage; for a FROM line, before the first FROM.",
        held=oracles.BUILDS,
        check=arguments_are_declared,
        severities=("warning",),
        advice=True,
    ),
    Rule(
        "KRM616",
        "an entry of buildArgs should be taken by an ARG of the Dockerfile",
        good=_example(_ARGUMENT, *_LINES),
        bad=_example(_ARGUMENT, "FROM sdk:1", "RUN make"),
        remedy="Remove the entry, or write its ARG in the stage that needs it.",
        held=oracles.BUILDS,
        check=arguments_are_taken,
        severities=("info",),
        advice=True,
    ),
    Rule(
        "KRM617",
        "a built image should have its kernel modules below modprobe.dirName, where modprobe looks for them",
        good=_example("[]", *(line.replace("TARGET", "/opt") for line in _COPY)),
        bad=_example("[]", *(line.replace("TARGET", "") for line in _COPY)),
        remedy="Copy the files below `dirName` (/opt), and call `depmod -b` with it; or set `dirName`.",
        held=oracles.BUILDS,
        check=files_land_in_the_directory,
        severities=("warning",),
        advice=True,
    ),
)
"""The rules about Dockerfiles."""
