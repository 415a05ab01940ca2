"""The files for CI that `init` writes: for the server that the repository has, with the krmfn that runs here."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from krmfn import KrmfnError
from krmfn.typed import Any, NamedTuple

from ..importing import recipes
from ..importing.beginnings import File
from ..importing.recipes import GITLAB, INCLUDED, Pin, Server
from ..paths import files, git
from ..paths.roots import root_of

SERVERS = ("github", "gitlab", "none")
_NO_PIN = "which krmfn CI installs is not known"
_REMEDY = "pass --pin https://HOST/PATH@COMMIT"


class Pipeline(NamedTuple):
    """What is written for CI, and what is said of it."""

    files: Sequence[File] = ()
    lines: Sequence[str] = ()


def pipeline(top: str, server_name: str | None, pin: str | None, has_nodes: bool) -> Pipeline:
    """Return what CI gets in a Git work tree; `server_name` is the server that a person names, `pin` URL@COMMIT.

    What is not known is said in a line, and nothing is written for it. Raises KrmfnError for a pin of another form, and
    where a person names the server and it is not known which krmfn CI would install.
    """
    known_pin = recipes.pin_of(pin) if pin else None
    server = server_name or _server(top)
    if server not in ("github", "gitlab"):
        reason = "nothing here says which server runs it; pass --ci github or --ci gitlab"
        return Pipeline() if server else Pipeline(lines=["", f"no file for CI: {reason}"])
    is_included = server == "gitlab" and os.path.lexists(Path(top, GITLAB)) and not _is_ours(Path(top, GITLAB))
    paths = recipes.paths("gitlab" if server == "gitlab" else "github", is_included)
    missing = [path for path in paths if not os.path.lexists(Path(top, path))]
    if not missing:
        return Pipeline()
    pinned = known_pin or pin_here()
    if isinstance(pinned, str) and server_name:
        raise KrmfnError(f"no file for CI can be written: {pinned}; {_REMEDY}")
    if isinstance(pinned, str):
        return Pipeline(lines=["", f"no file for CI: {pinned}; {_REMEDY}"])
    recipe = recipes.files("gitlab" if server == "gitlab" else "github", pinned, has_nodes, is_included)
    new = [file for file in recipe if file.path in missing]
    lines = [f"{path} is there, and stays" for path in paths if path not in missing]
    if is_included and new:
        lines += ["", f"{GITLAB} is there; let it have these lines:", "include:", f"- local: {INCLUDED}"]
    return Pipeline(new, [*lines, *(_of_branch(top) if server == "github" else ())])


def _server(top: str) -> Server | None:
    """Return the server that the files of a repository are for, else the one that its remotes name; None for neither.

    A repository may have both; then its remote decides, where there is one.
    """
    hosts = {_host(url) for url in git.remotes(top)}
    by_remote: set[Server] = set()
    by_remote |= {"github"} if any(_is_of(host, "github") for host in hosts) else set()
    by_remote |= {"gitlab"} if any(_is_of(host, "gitlab") for host in hosts) else set()
    by_files: set[Server] = set()
    by_files |= {"github"} if Path(top, ".github").is_dir() else set()
    by_files |= {"gitlab"} if os.path.lexists(Path(top, GITLAB)) else set()
    for choice in (by_files, by_files & by_remote, by_remote):
        if len(choice) == 1:
            return choice.pop()
    return None


def _of_branch(top: str) -> list[str]:
    """Return what to change where the work tree has commits and no branch main, whose pushes the workflow checks."""
    with suppress(KrmfnError):
        names = git.run(top, "for-each-ref", "--format=%(refname:lstrip=-1)", "refs/heads", "refs/remotes").split()
        if names and not git.run(top, "for-each-ref", "refs/heads/main", "refs/remotes/*/main"):
            return [
                "",
                f"the workflow checks pushes to main, and no branch has that name: write yours there ({names[0]})",
            ]
    return []


def _is_ours(path: Path) -> bool:
    """Return True for a pipeline that is ours already."""
    try:
        return b"KRMFN_REVISION" in files.read_regular(str(path), path.name)
    except KrmfnError:
        return False


def _host(url: str) -> str:
    """Return the host of a remote's URL, or of its short form for SSH."""
    head = url.split("://", 1)[-1] if "://" in url else url.partition(":")[0]
    return head.split("/")[0].rpartition("@")[2].partition(":")[0].lower()


def _is_of(host: str, product: str) -> bool:
    """Return True for a host such as gitlab.com and gitlab.example.com."""
    return product in host.split(".")


def pin_here() -> Pin | str:
    """Return the copy of krmfn that runs here and its commit, or why that is not known."""
    package = str(Path(__file__).resolve().parent.parent)
    top = root_of(package)
    if top and Path(top, "pyproject.toml").is_file() and Path(top, "functions").samefile(package):
        return pin_of_clone(top)
    return _installed()


def pin_of_clone(top: str) -> Pin | str:
    """Return the remote of a clone of krmfn and its commit, or why CI cannot fetch these."""
    with suppress(KrmfnError):
        commit = git.run(top, "rev-parse", "HEAD").strip()
        urls = sorted(git.remotes(top))
        if not urls:
            return f"{_NO_PIN}: the clone of krmfn that runs here has no remote"
        if not git.run(top, "for-each-ref", "--contains", commit, "refs/remotes").strip():
            return f"{_NO_PIN}: the commit {commit[:12]} of krmfn that runs here is not pushed"
        return _pin(urls, commit)
    return f"{_NO_PIN}: Git does not say at which commit of krmfn this runs"


def _installed() -> Pin | str:
    """Return what pip has installed (direct_url.json, PEP 610), or why that is not known."""
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    data: Any = {}
    with suppress(PackageNotFoundError, ValueError):
        data = json.loads(distribution("krmfn").read_text("direct_url.json") or "{}")
    url, info = str(data.get("url", "")), data.get("vcs_info") or {}
    if "commit_id" in info:
        return _pin([url], str(info["commit_id"]))
    if not url.startswith("file://"):
        return f"{_NO_PIN}: pip has installed it from no commit"
    clone = url2pathname(urlsplit(url).path)
    if not _is_same(Path(clone, "functions"), Path(__file__).resolve().parent.parent):
        return f"{_NO_PIN}: {clone} is not as it was when krmfn was installed from it"
    return pin_of_clone(clone)


def _is_same(folder: Path, installed: Path) -> bool:
    """Return True when a folder has the modules that are installed, byte for byte."""
    modules = sorted(path.relative_to(installed) for path in installed.rglob("*.py"))
    with suppress(OSError):
        return bool(modules) and all(
            (folder / name).read_bytes() == (installed / name).read_bytes() for name in modules
        )
    return False


def _pin(urls: Sequence[str], commit: str) -> Pin | str:
    for url in urls:
        with suppress(KrmfnError):
            return recipes.pin_of(f"{url}@{commit}")
    source = _without_credentials(urls[0])
    return f"{_NO_PIN}: CI installs it from an https:// URL without a password, and this copy is from {source}"


def _without_credentials(url: str) -> str:
    """Return a URL without the credentials that may stand in it."""
    scheme, mark, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path.partition('?')[0]}" if mark else url
