"""A node, as far as it is known: what selectors, kernel mappings and tolerations decide by."""

from collections.abc import Mapping

from krmfn.typed import NamedTuple


class Taint(NamedTuple):
    """A taint as a Node's spec has it."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"

    def __str__(self) -> str:
        """Return the taint as kubectl writes it: `key=value:effect`."""
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


class Node(NamedTuple):
    """A node by its name and labels; an unknown kernel is "", and so is the rest."""

    name: str
    labels: Mapping[str, str]
    kernel: str = ""
    """As `uname -r` prints it, a trailing `+` included."""
    taints: tuple[Taint, ...] = ()
    """Sorted, those that repel pods."""
    architecture: str = ""
    os_image: str = ""
    cluster: tuple[tuple[str, str], ...] | None = None
    """The labels of its cluster, when that is managed by the hub that the input is for; None: a node of the cluster."""
    last_kernel: str = ""
    """The kernel before, of a node that boots another one (`nodes --kernel`)."""
    kubelet: str = ""
    """The version of its kubelet, `v1.34.2`: that of the API server is never older."""
