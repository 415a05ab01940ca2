"""What Flux does with the resources of a root after their build, as far as it is known: variables and metadata.

Configs are left as they are: krmfn renders them before (see KRM548), or Flux has no use for them.
"""

import json
from collections.abc import Sequence
from contextlib import suppress

from krmfn import Item, KrmfnError
from krmfn.typed import Any

from ..deployments.deployment import Addition, Deployment
from ..deployments.substitution import NO_FINISH, Finish, Pairs, replacements, variables
from ..identity import has_namespace
from ..kmm.lookup import table
from ..rendering.kinds import OWNERS, driven_kinds
from .deployed import is_local
from .engines import Engines
from .survey import Root


def finish_of(deployment: Deployment, engines: Engines) -> tuple[Finish, tuple[Addition, ...]]:
    """Return what Flux does after the build of a deployment, and the additions that say so and are applied whole.

    Of `postBuild` that is not known: it depends on the resources.
    """
    declaration, finish, applied = deployment.declaration, Finish(), list[Addition]()
    if declaration.engine != "flux" or declaration.how not in ("raw", "render"):
        return finish, ()
    for addition in declaration.additions:
        value = json.loads(addition.value)
        if addition.field == "postBuild":
            known = variables(table(value), lambda name: engines.data.get((deployment, name)))
            finish = finish._replace(variables=known)
        elif addition.field == "commonMetadata" and declaration.how == "raw":
            labels, annotations = (_pairs(table(value, part)) for part in ("labels", "annotations"))
            finish = finish._replace(labels=labels, annotations=annotations)
            applied.append(addition)
    return finish, tuple(applied)


def _pairs(values: dict[str, Any]) -> Pairs:
    return tuple(sorted((key, value) for key, value in values.items() if isinstance(value, str)))


def finish(items: Sequence[Item], root: Root) -> None:
    """Change the resources of a root as its engine does after the build; what cannot be edited stays as it is."""
    for item in items if root.namespace else ():
        if not item.ref.namespace and has_namespace(item.ref) and not (is_local(item) or item.content.duplicate_keys):
            with suppress(KrmfnError):  # what cannot be edited is an error of its own
                item["metadata.namespace"] = root.namespace
    if root.finish == NO_FINISH:
        return
    configs = OWNERS | driven_kinds(items)
    for item in items:
        if (item.group, item.kind) not in configs and not item.content.duplicate_keys:
            with suppress(KrmfnError):  # as above
                _finish(item, root.finish)


def _finish(item: Item, after: Finish) -> None:
    from ..deployments.additions import is_substituted  # imported here: few repositories have such additions

    if after.variables and item.mentions("$") and is_substituted(item):
        for path, value in replacements(item.manifest, after.variables) or ():
            item.at(path).value = value
    if after.labels:
        item.labels = {**item.labels, **dict(after.labels)}
    if after.annotations:
        item.annotations = {**item.annotations, **dict(after.annotations)}
