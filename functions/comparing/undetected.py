"""Changes of Modules that Argo CD does not see, since it ignores such differences, in one Application or in all."""

from collections.abc import Iterator

from krmfn import Result, error
from krmfn.printing import some

from ..deployments.deployment import Declaration
from ..kmm.module import MODULE_KINDS
from ..plan import Change, Plan
from ..sentence import Topic
from .sides import Side

_IGNORED = Topic("ignored")


def undetected(plan: Plan, new: Side) -> Iterator[Result]:
    """Yield an error per changed Module whose change does not reach the cluster, or perhaps does not."""
    for change in plan.changes:
        if (change.ref.group, change.ref.kind) not in MODULE_KINDS or not (change.old and change.new):
            continue
        declarations = [deployment.declaration for deployment in new.deploying(change.ref.id)]
        messages = [_message(change, declaration) for declaration in declarations]
        if messages and all(messages):  # else another one applies it
            remedy = "remove the entry, or sync the Application by hand"
            yield error((_IGNORED, messages[0]), ref=change.ref, remedy=remedy)


def _message(change: Change, declaration: Declaration) -> str:
    """Return what Argo CD does not do about a change; "" where it makes it."""
    application = f"{declaration.source.ref} ({declaration.file})"
    about = [ignored for ignored in declaration.ignored if ignored.is_about(change.ref)]
    pairs = [(field.path, ignored) for field in change.fields for ignored in about if ignored.covers(field.parts)]
    covered = [*dict.fromkeys(path for path, _ in pairs)]
    if covered and (len(covered) == len(change.fields) or declaration.respects_ignored):
        source = pairs[0][1].source or application
        return f"is not applied: {source} ignores differences in {some(covered, len(covered), 1)}"
    unread = [ignored for ignored in about if ignored.unread]
    if not unread:
        return ""
    words = some([ignored.unread for ignored in unread], len(unread), 1)
    return f"perhaps is not applied: {unread[0].source or application} ignores differences in {words}"
