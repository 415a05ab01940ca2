"""What Argo CD deletes of what it has applied, what it keeps, and what it makes anew."""

from krmfn import Manifest

from ..kmm.lookup import table, text, texts

FINALIZER = "resources-finalizer.argocd.argoproj.io"
"""By it, also with `/background` or `/foreground` behind, an Application takes its resources along when it goes."""


def prunes(spec: Manifest) -> bool:
    """Return whether Argo CD prunes by itself. Source: Argo CD 3.2, docs/user-guide/auto_sync.md."""
    automated = table(spec, "syncPolicy", "automated")
    return automated.get("prune") is True and automated.get("enabled") is not False


def kept_by(manifest: Manifest) -> str:
    """Return why the resources of an Application, or of those that an ApplicationSet makes, stay when it is deleted.

    Source: Argo CD 3.2, docs/user-guide/app_deletion.md, and applicationset/controllers/template: without finalizers
    in its template an ApplicationSet writes the one that deletes, unless preserveResourcesOnDeletion is set.
    """
    template = table(manifest, "spec", "template")
    finalizers = texts(table(template or manifest, "metadata"), "finalizers")
    if any(name.partition("/")[0] == FINALIZER for name in finalizers):
        return ""
    if template and not finalizers:
        is_kept = table(manifest, "spec", "syncPolicy").get("preserveResourcesOnDeletion") is True
        return "preserveResourcesOnDeletion is true" if is_kept else ""
    return f"it has no finalizer {FINALIZER}"


def set_keeps(manifest: Manifest) -> str:
    """Return why an ApplicationSet keeps an Application that it no longer makes.

    Source: Argo CD 3.2, docs/operator-manual/applicationset/Controlling-Resource-Modification.md.
    """
    policy = text(table(manifest, "spec", "syncPolicy"), "applicationsSync")
    return f"applicationsSync is {policy}" if policy in ("create-only", "create-update") else ""


def anew(spec: Manifest) -> str:
    """Return the option by which Argo CD replaces all objects, and makes anew those that it cannot replace; or "".

    Source: Argo CD 3.2, docs/user-guide/sync-options.md, Replace Resource Instead Of Applying Changes.
    """
    options = {option.strip() for option in texts(table(spec, "syncPolicy"), "syncOptions")}
    return "syncPolicy.syncOptions: [Replace=true]" if "Replace=true" in options else ""
