"""Options of the commands that run the function, from argparse into frozen values."""

import argparse
import os
import shlex
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from krmfn import KrmfnError, streams
from krmfn.typed import Any, NamedTuple

from . import terminal
from .kmm.versions import DEFAULT, TARGETS

PATH = "a directory (built first if it has a kustomization), a file, or - for stdin"
SETTINGS = {
    "namespace": "the namespace for resources that have none (default: ARGOCD_APP_NAMESPACE)",
    "prune": "remove generated objects whose owner is not in the input: auto, always or never (default: auto)",
    "kmm-version": f"the KMM version of the cluster: {', '.join(TARGETS)} (default {DEFAULT})",
}
"""Settings of the functionConfig that are options, too, each with its help."""
OFFERED = "offered"
"""The attribute of an action with what completion offers in place of `choices`."""
ASKED = "$(krmfn completion {} 2>/dev/null)"
"""A value of OFFERED that the shell runs on Tab, for `rules`, `clusters` or `nodes`; it offers the printed words."""


RUN_SECONDS = 600
"""How many seconds a run may take."""
BUILD_SECONDS = 60
"""How many seconds kustomize may take for each root: less than the 90 that Argo CD gives a plugin."""


class RunOptions(NamedTuple):
    """The options of a run: of every command that runs the function, as they were given."""

    flags: Mapping[str, str] = MappingProxyType({})
    """The settings of the functionConfig that were given as options (see SETTINGS), by their names."""
    function_config: tuple[str, ...] = ()
    """The files of --function-config: functionConfigs and Profiles."""
    kmm_crd: tuple[str, ...] = ()
    """Files with CRDs of KMM."""
    profiles_from: tuple[str, ...] = ()
    """The only files and folders that Profiles and functionConfigs may come from; () for any."""
    kustomize: str = ""
    allow_remote: bool = False
    function_image: tuple[str, ...] = ()
    root: str | None = None
    remotes: frozenset[str] | None = None
    """The URLs of the repository; None: those of its remotes."""
    cluster: tuple[str, ...] = ()
    """NAME=PATH,PATH: see `config.parse`."""
    exclude: tuple[str, ...] = ()
    everything: bool = False
    """Whether what does not concern krmfn in a whole repository is judged, too."""
    written: frozenset[str] = frozenset()
    """Folders that are left out, too: see `excluder`."""
    against: tuple[str, ...] = ()
    """PATH,PATH or NAME=PATH,PATH: see `external`."""
    live: tuple[str, ...] = ()
    """DUMP or CLUSTER=DUMP: see `live_nodes`."""
    former_dumps: frozenset[str] = frozenset()
    """The `dumps` of options from which `without_live` took --live."""
    contexts: tuple[str, ...] = ()
    """NAME or CLUSTER=NAME of --context: see `contexts`. Nothing but the command line fills this."""
    paths: tuple[str, ...] = ()
    """The PATHs, as they were given: no kubectl is taken from below them."""
    jobs: int = 0
    """How many kustomizations are built at a time; 0 for as many as there are processors."""
    timeout: int = 0
    """How many seconds the run may take, and each kustomize in it; 0 for RUN_SECONDS and BUILD_SECONDS."""
    hardened: bool = False
    """Whether nothing is built where the kernel does not confine kustomize."""
    log_format: str | None = None
    verbose: bool = False
    quiet: bool = False
    color: str = "auto"

    @property
    def dumps(self) -> frozenset[str]:
        """Return the files of --live, without links: they have the cluster's Nodes and Modules, and not Git's."""
        sources = (source for word in self.live for source in (word, word.partition("=")[2]))
        return self.former_dumps.union(os.path.realpath(source) for source in sources if source)

    def without_live(self) -> "RunOptions":
        """Return options with which no dump is read: its files are nobody's input all the same."""
        return self._replace(live=(), former_dumps=self.dumps)

    @property
    def has_live_nodes(self) -> bool:
        """Whether nodes of a dump or of a cluster that is asked take the place of the committed ones."""
        return bool(self.live or self.contexts)


def add_paths(parser: argparse.ArgumentParser, live: bool = False, help_: str = "") -> None:
    """Add the PATHs, with a help of the command's own, and --live for a command that says something of nodes."""
    if live:
        text = (
            "use the nodes of a dump instead of the committed ones; may be repeated. A dump is what the script of "
            "`krmfn why --kubectl` writes, the folder of a must-gather, or a NodeInventory; only `nodes`, `why` and "
            "`report` show what is loaded on these nodes"
        )
        names, metavar = ("--live", "--nodes"), "[CLUSTER=]DUMP"
        action = parser.add_argument(*names, dest="live", action="append", default=[], metavar=metavar, help=text)
        setattr(action, OFFERED, (ASKED.format("clusters"),))
    text = f"{PATH} (default: .); the objects of Argo CD, Flux and Fleet say which folders make a cluster"
    parser.add_argument("paths", nargs="*", default=[], metavar="PATH", help=help_ or text)


def add_context(parser: argparse.ArgumentParser) -> None:
    """Add --context, for the commands that may ask a cluster by themselves."""
    text = (
        "ask the cluster of this kubectl context instead of reading a dump: runs `kubectl get` with your credentials "
        "for each kind that `krmfn why --kubectl` names; may be repeated"
    )
    metavar = "[CLUSTER=]NAME"
    parser.add_argument("--context", dest="contexts", action="append", default=[], metavar=metavar, help=text)


NOW = {
    "error": "an error only",
    "warning": "a warning",
    "uncovered": "a node that is selected and gets no driver",
    "unjudged": "what krmfn did not judge, unless you left it out (see `not judged:`)",
}
"""The words of --fail-on for a command about one state, each with its help."""
BASELINE = (
    "ignore the findings listed in FILE; `ci` still reports those that keep a changed cluster from being rendered"
)
"""The help of --baseline."""
CHANGE = {
    "change": "a change of an object, or of what a node gets",
    "reload": "a node that reloads a driver, or a Module that an annotation has an engine recreate or not apply",
    "lost": "a node that loses a driver, or a Module as for reload",
    "blocked": "a node on which the change leaves a Module without its driver",
}
"""The words of --fail-on for a command about a change."""


def add_fail_on(parser: argparse._ActionsContainer, known: Mapping[str, str], default: str = "error") -> None:
    """Add --fail-on with the words that a command knows."""
    listed = "; ".join(f"{word}: {meaning}" for word, meaning in known.items())
    help_ = f"fail for more than errors; may be repeated (default: {default}). {listed}"
    parser.add_argument("--fail-on", action="append", choices=tuple(known), default=[], metavar="WHAT", help=help_)


def add_rules_url(parser: argparse.ArgumentParser) -> None:
    """Add --rules-url, for the SARIF log."""
    text = "where the pages of docs/reference/rules can be read: SARIF links each rule to its page there"
    parser.add_argument("--rules-url", metavar="URL", type=_url, help=text)


def _url(text: str) -> str:
    if not text.startswith(("https://", "http://")) or len(text.split()) > 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no URL that begins with https:// or http://")
    return text


def add(parser: argparse.ArgumentParser, joins: bool = False) -> None:
    """Add the options of every command that runs the function; --against where the command joins what it names."""
    text = (
        "compare PATHs with what the cluster gets from elsewhere: a folder, rendered manifests, a dump, or - for "
        "stdin; it is not checked itself; may be repeated"
    )
    if joins:
        parser.add_argument("--against", action="append", default=[], metavar="[NAME=]PATH,...", help=text)
    text = "a functionConfig (default: the one in PATH) or Profiles; may be repeated"
    parser.add_argument("--function-config", action="append", default=[], metavar="FILE", help=text)
    text = (
        "check Modules against the CRD in this file instead of krmfn's own tables (`kubectl get crd "
        "modules.kmm.sigs.x-k8s.io -o yaml`, on a hub managedclustermodules.hub.kmm.sigs.x-k8s.io); may be repeated"
    )
    parser.add_argument("--kmm-crd", action="append", default=[], metavar="FILE", help=text)
    text = "accept Profiles and functionConfigs from these files and folders only (for CODEOWNERS); may be repeated"
    parser.add_argument("--profiles-from", action="append", default=[], metavar="PATH", help=text)
    parser.add_argument("--kustomize", default="", metavar="FLAGS", help="flags for kustomize build, in one string")
    text = "let kustomize fetch what a kustomization lists by URL; cannot be combined with functions"
    parser.add_argument("--allow-remote", action="store_true", help=text)
    text = "another repository of krmfn's image, whose functions a kustomization may call; may be repeated"
    parser.add_argument("--function-image", action="append", default=[], metavar="REPOSITORY", help=text)
    text = "the folder that links must not lead out of (default: the Git work tree that contains PATH, else PATH)"
    parser.add_argument("--root", metavar="DIR", help=text)
    text = "treat these PATHs as one cluster; may be repeated (default: `clusters` in .krmfn.yaml)"
    parser.add_argument("--cluster", action="append", default=[], metavar="NAME=PATH,...", help=text)
    text = "skip the files and folders that this pattern would ignore in a .gitignore; may be repeated"
    parser.add_argument("--exclude", action="append", default=[], metavar="PATTERN", help=text)
    _add_rare(parser)


def _add_rare(parser: argparse.ArgumentParser) -> None:
    """Add the options about how kustomize is run, the settings, and what is written to stderr."""
    text = "number of kustomizations to build at a time (default: the number of processors, at most 8)"
    parser.add_argument("--jobs", type=partial(_number, 64), default=0, metavar="N", help=text)
    text = f"stop the run, or a kustomize build in it, after this time, from 1 to 3600 (default: {RUN_SECONDS} and "
    text += f"{BUILD_SECONDS})"
    parser.add_argument("--timeout", type=partial(_number, 3600), default=0, metavar="SECONDS", help=text)
    text = "refuse to build a kustomization unless the kernel confines kustomize (see `krmfn --version --verbose`)"
    parser.add_argument("--hardened", action="store_true", help=text)
    for name, text in SETTINGS.items():
        action = parser.add_argument(f"--{name}", metavar=name.upper().replace("-", "_"), help=text)
        if name == "kmm-version":
            setattr(action, OFFERED, tuple(TARGETS))
    lines = parser.add_mutually_exclusive_group()
    text = "name every object that is created, updated or removed, and in `why` every link "
    text += f"(or set {streams.VERBOSE}=1)"
    lines.add_argument("-v", "--verbose", action="store_true", help=text)
    lines.add_argument("-q", "--quiet", action="store_true", help="print only errors on stderr")
    text = f"format of stderr (default: text, or the value of {streams.VARIABLE})"
    parser.add_argument("--log-format", choices=streams.FORMATS, help=text)
    text = "when to colour text; auto: on a terminal, unless NO_COLOR is set or TERM is dumb (default: auto)"
    parser.add_argument("--color", choices=terminal.CHOICES, default="auto", help=text)


def _number(most: int, text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {most}")
    return int(text)


def typed(kind: type[Any], namespace: argparse.Namespace) -> Any:
    """Return the arguments as a value of `kind`, a NamedTuple type with fields for them; a list becomes a tuple."""
    values = {name: value for name, value in vars(namespace).items() if name in kind._fields}
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


def kustomize_flags(options: RunOptions) -> list[str]:
    """Return the flags for kustomize build. Raises KrmfnError for a text that a shell could not divide."""
    try:
        return shlex.split(options.kustomize)
    except ValueError as failure:
        raise KrmfnError(f"--kustomize {options.kustomize!r} cannot be split into flags: {failure}") from failure
