"""How a kustomization is built: plainly, with our functions and nothing else, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krmfn.results import Result, error
from krmfn.typed import NamedTuple

from .calls import Call
from .graph import Graph

_LIFTED = {
    "--enable-alpha-plugins": ("KRM510", "KRM511"),
    "--enable-helm": ("KRM512",),
    "--load-restrictor": ("KRM507",),
}
"""The rules that a flag of the user's for kustomize takes away: what they are about was asked for."""


class Decision(NamedTuple):
    """How a kustomization is built. With `refused` it is not."""

    refused: tuple[Result, ...]
    """Errors about the kustomizations of the build."""
    calls: tuple[Call, ...] = ()
    """The functions of ours that kustomize has to call; () for a plain build."""
    is_open: bool = False
    """Whether the build needs programs of the machine (git, helm, the user's functions): it is not confined then."""
    is_own: bool = False
    """Whether it runs plugins of the user's, which may read anything: it is built where it is, and in no tree."""


def decide(graph: Graph, folder: str, flags: Sequence[str] = (), allow_remote: bool = False) -> Decision:
    """Return how the kustomization in `folder` is built with the user's `flags` for kustomize and --allow-remote.

    What is fetched may list functions that nobody has seen: it is not built together with functions, ours or others.
    """
    given = {flag.partition("=")[0] for flag in flags}
    lifted = {rule for flag, rules in _LIFTED.items() if flag in given for rule in rules}
    own_plugins = "--enable-alpha-plugins" in given
    calls = graph.calls(folder)
    if allow_remote and not calls and not own_plugins:
        lifted.add("KRM509")
    findings = graph.findings(folder)
    refused = tuple(one for one in findings if one.severity == "error" and one.rule not in lifted)
    if not refused and own_plugins and {"--enable-exec", "--enable-exec=true"}.isdisjoint(flags):
        refused = tuple(_passed_over(calls))
    if refused:
        return Decision(refused)
    is_open = own_plugins or bool(lifted.intersection(one.rule for one in findings) - {"KRM507"})
    return Decision((), () if own_plugins else tuple(calls), is_open, own_plugins)


def _passed_over(calls: Sequence[Call]) -> Iterator[Result]:
    """Yield an error for each command of ours that kustomize would not run with the user's flags, and not say so."""
    for call in calls:
        if call.program and not call.image:
            message = (
                f"{call.field}: kustomize should call {call.program} here, but silently skips it with these flags; "
                "pass --enable-exec as well, or no flags at all"
            )
            yield error(message, rule="KRM516", ref=call.config.ref, place=call.config.place)
