"""A node with what selectors, kernel mappings and tolerations are matched with."""

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
    """A node; a text that is not known is ""."""

    name: str
    labels: Mapping[str, str]
    kernel: str = ""
    """As `uname -r` prints it, a trailing `+` included."""
    taints: tuple[Taint, ...] = ()
    """Those that repel pods, sorted."""
    architecture: str = ""
    os_image: str = ""
    cluster: tuple[tuple[str, str], ...] | None = None
    """The labels of its cluster, where the input is for a hub that manages it; None: a node of the input's cluster.

    The cluster's name is the value of the key "", which no selector has: two clusters may have the same labels.
    """
    last_kernel: str = ""
    """The kernel that it had before, where it boots another one (`nodes --kernel`)."""
    kubelet: str = ""
    """The version of its kubelet, such as `v1.34.2`; the API server is never older."""
