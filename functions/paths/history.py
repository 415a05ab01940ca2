"""Find the commit that is the base of a pull request, and the files that a sparse checkout leaves out."""

from __future__ import annotations

import os
import re

from krmfn.errors import KrmfnError

from . import git

DEEPER = "fetch its whole history (`git fetch --unshallow`; actions/checkout: `fetch-depth: 0`)"


def merge_base(root: str, ref: str) -> str:
    """Return the merge base of a ref and HEAD in the repository whose work tree is `root`, as a full object name.

    Raises KrmfnError when the ref names no commit, when the two have no common history, and when a shallow clone may
    not reach back far enough.
    """
    shallow = git.run(root, "rev-parse", "--is-shallow-repository").strip() == "true"
    if not (head := _resolved(root, "HEAD")):
        raise KrmfnError("HEAD does not point to a commit in this clone; make a first commit")
    tips = [head, _commit(root, ref, shallow)]
    done = git.call(root, "merge-base", *tips)
    if done.returncode == 1:
        hint = f"the clone is shallow: {DEEPER}" if shallow else "pass the branch that this one started from"
        raise KrmfnError(f"HEAD and {ref} have no commit in common; {hint}")
    base = git.output(done).strip()
    if shallow:
        place = git.run(root, "rev-parse", "--git-path", "shallow").rstrip("\n")
        with open(os.path.join(root, place), encoding="ascii") as file:
            ends = set(file.read().split())
        if not ends.isdisjoint(git.run(root, "rev-list", *tips, f"^{base}").split()):
            raise KrmfnError(f"the clone is shallow, and may not reach back to where HEAD left {ref}: {DEEPER}")
    return base


def skipped_files(root: str, *paths: str) -> list[str]:
    """Return the files of the index that a sparse checkout leaves out of the work tree, from the root.

    With `paths`, which are also relative to the root, only those and what is below them.
    """
    pathspecs = (f":(literal){path}" for path in paths)
    names = git.run(root, "ls-files", "-z", "-t", "--cached", "--", *pathspecs).split("\0")
    marked = [name[2:] for name in names if name.startswith("S ")]
    return [name for name in marked if not os.path.lexists(os.path.join(root, name))]


def _commit(root: str, ref: str, shallow: bool) -> str:
    """Return the full object name of the commit that a ref names. Raises KrmfnError, with advice, for none."""
    if not ref or ref.startswith("-"):
        raise KrmfnError(f"{ref!r} is not a ref; pass a branch, a tag or a commit, such as origin/main")
    if commit := _resolved(root, ref):
        return commit
    if _resolved(root, f"refs/remotes/origin/{ref}"):
        hint = f"did you mean origin/{ref}?"
    else:
        hint = f"the clone is shallow: {DEEPER}" if shallow else f"fetch it (`git fetch origin {_fetched(ref)}`)"
    raise KrmfnError(f"{ref} is not a commit in this clone; {hint}")


def _resolved(root: str, ref: str) -> str | None:
    done = git.call(root, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    return None if done.returncode == 1 else git.output(done).strip()


def _fetched(ref: str) -> str:
    """Return the argument with which `git fetch origin` fetches a ref, even in a clone of a single branch."""
    if re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", ref):
        return ref
    branch = ref.removeprefix("origin/")
    return f"{branch}:{ref}" if branch == ref else f"{branch}:refs/remotes/{ref}"
