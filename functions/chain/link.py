"""One link of KMM's chain, and what a link is judged by."""

import shlex
from collections.abc import Hashable, Sequence

from krmfn.typed import Literal, NamedTuple

from ..exclusivity.node import Node
from ..fleet.coverage import Outcome
from ..fleet.drivers import Driver, Drivers
from ..fleet.live import Key, Live, NodeModule
from ..fleet.live_engines import Name
from ..fleet.live_pods import Pod
from ..kmm.lookup import table, text
from ..sentence import Aside, Sentence
from ..sentence import text as words_of
from . import worker_log
from .worker_log import Diagnosis, Log

State = Literal["holds", "broken", "not known"]


class Link(NamedTuple):
    """What is known of one link."""

    state: State
    evidence: Sequence[str] = ()
    """What the dump shows, in sentences or parts of one."""
    sentence: Sentence = ()
    """Why it is broken, or not known: the predicate of a sentence about the Module on the node."""
    command: str = ""
    """What a person types to see more, or to mend it; "" where nobody has to act."""
    cause: str = ""
    """Is the same for all nodes on which the link is broken by one thing, such as a pod; "" for the node's own."""
    waits: bool = False
    """Whether a broken link is on its way, so that nobody has to act."""
    shared: str = ""
    """What the nodes with the same cause share, such as `pull pod`."""
    lacks: str = ""
    """The kind that the dump lacks, as kubectl names it, where nothing is known of the link for that."""
    is_of_cluster: bool = False
    """Whether the links behind it are judged by the Module on the cluster, which is not what Git renders."""
    has_subject: bool = False
    """Whether the reason is not about the Module, but has a subject of its own: `its image ...`."""
    gap: str = ""
    """Why nothing is known of the link, where that is all of the evidence."""

    @property
    def reason(self) -> str:
        """The sentence as people read it."""
        return words_of(self.sentence)


IS_LOADED = Aside("is loaded, but ", "loaded")
"""How a sentence begins where the driver is loaded all the same."""
VERSIONS = "versions"
"""What is said aside of what runs in place of something else."""


def versions(old: Hashable, new: Hashable) -> Sentence:
    """Return how a sentence begins about a node that runs something in place of what is planned."""
    return tuple(Aside(words, VERSIONS) for words in ("runs ", old, ", wanted ", new, ": "))


def holds(*evidence: str) -> Link:
    """Return a link that holds."""
    return Link("holds", evidence)


def unknown(kind: str, reason: Sentence = ()) -> Link:
    """Return a link that nothing is known of, since the dump lacks a kind (as kubectl names it)."""
    return not_known(f"the dump has no {kind}")._replace(sentence=reason, lacks=kind)


def not_known(gap: str) -> Link:
    """Return a link that nothing is known of, and why."""
    return Link("not known", (f"not known: {gap}",), gap=gap)


class Subject(NamedTuple):
    """A Module that selects a node, and the cluster as it is."""

    node: Node
    drivers: Drivers
    outcome: Outcome
    live: Live
    cluster: str = ""
    log: Log = Log()
    """The log of a worker pod on the node, or lines of dmesg."""

    @property
    def driver(self) -> Driver:
        """The Module with what Git plans."""
        return self.drivers[self.outcome.driver]

    @property
    def module(self) -> Name:
        """Namespace and name of the Module."""
        return self.driver.module.ref.namespace, self.driver.module.ref.name

    @property
    def key(self) -> Key:
        """How the dump names the Module on the node."""
        return self.node.name, *self.module

    @property
    def image(self) -> str:
        """The image that Git plans for the node's kernel."""
        return self.outcome.resolution.image or ""

    @property
    def kernel(self) -> str:
        """The node's kernel as KMM writes it."""
        return self.node.kernel.removesuffix("+")

    @property
    def is_ready(self) -> bool:
        """Whether KMM's ready label is on the node."""
        return self.driver.ready in self.node.labels

    @property
    def scheduled(self) -> NodeModule | None:
        """What KMM wants on the node (the spec of its NodeModulesConfig)."""
        return self.live.scheduled.get(self.key)

    @property
    def loaded(self) -> NodeModule | None:
        """What KMM has loaded on the node (the status of its NodeModulesConfig)."""
        return self.live.loaded.get(self.key)

    @property
    def is_of_this_boot(self) -> bool:
        """Whether what is loaded was loaded since the node's last boot, as far as the dump says."""
        boots = {self.loaded.boot, self.live.boots.get(self.node.name, "")} if self.loaded else set[str]()
        return len(boots - {""}) < 2

    @property
    def is_done(self) -> bool:
        """Whether the planned image is loaded in this boot."""
        done = self.loaded is not None and (self.loaded.image, self.loaded.kernel) == (self.image, self.kernel)
        return done and self.is_of_this_boot

    @property
    def keeps(self) -> str:
        """The version that the node keeps in an ordered upgrade while its label says so; "" in all other cases."""
        is_kept = self.outcome.state == "other version" and self.is_ready and self.loaded is not None
        return self.outcome.failure if is_kept else ""

    @property
    def diagnosis(self) -> Diagnosis | None:
        """What the log says of the Module's kernel modules; None for nothing that is known."""
        names = self.driver.module.loads
        others = {name for driver in self.drivers for name in driver.module.loads}
        return worker_log.diagnosis(self.log, names, others - names)

    @property
    def has_pods(self) -> bool:
        """Whether the dump has pods."""
        return "Pod" in self.live.objects.kinds

    def on_node(self) -> list[Pod]:
        """Return the pods on the node, as far as they may have to do with drivers, that have not ended."""
        pods = self.live.objects.pods_on.get(self.node.name, ())
        return [pod for pod in pods if not pod.has_ended]

    def of_module(self) -> list[Pod]:
        """Return the pods that KMM made for the Module, of several for one thing the one that counts first."""
        return self.live.objects.pods_of.get(self.module, [])

    def controllers(self) -> list[Pod]:
        """Return the pods of KMM's controller, the one that counts first."""
        return [pod for pod in self.live.objects.operators if "webhook" not in pod.name]


def kubectl(*words: str) -> str:
    """Return a command line for a shell."""
    return shlex.join(["kubectl", *words])


def on_the_node(subject: Subject, diagnosis: Diagnosis) -> str:
    """Return the command that shows more of what a log says: on the node, or in the Module."""
    if look := diagnosis.word.look:
        words = ("-it", "--profile=sysadmin", "--image=busybox", "--", "chroot", "/host", look)
        return kubectl("debug", f"node/{subject.node.name}", *words)
    return kubectl("get", "modules.kmm.sigs.x-k8s.io", "-n", *subject.module, "-o", "yaml")


def described(pod: Pod) -> str:
    """Return the command that shows why a pod does not go on."""
    return kubectl("describe", "pod", "-n", pod.namespace, pod.name)


def known_to_operator(
    subject: Subject, evidence: Sequence[str], reason: Sentence, cause: str = "", shared: str = ""
) -> Link:
    """Return a broken link of which the log of KMM's operator says more.

    Where the dump has pods and none of the operator's, it may not run: that is looked at first.
    """
    for pod in subject.controllers():
        return Link("broken", evidence, reason, kubectl("logs", "-n", pod.namespace, pod.name), cause, shared=shared)
    namespace = "openshift-kmm" if is_openshift(subject) else "kmm-operator-system"
    if not subject.has_pods:
        command = kubectl("logs", "-n", namespace, "deployment/kmm-operator-controller")
        return Link("broken", evidence, reason, command, cause, shared=shared)
    evidence = (*evidence, "the dump has no pod of KMM's operator: does it run?")
    command = kubectl("get", "deployments,pods", "-n", namespace)
    return Link("broken", evidence, reason, command, cause, shared=shared)


def is_openshift(subject: Subject) -> bool:
    """Return True where the node, its labels or the image say that the cluster is OpenShift."""
    is_labelled = any("openshift.io" in key for key in subject.node.labels)
    return is_labelled or "openshift" in subject.image or "CoreOS" in subject.node.os_image


def account_of(subject: Subject) -> str:
    """Return the ServiceAccount of the Module's worker pods."""
    return text(table(subject.driver.module.spec, "moduleLoader"), "serviceAccountName") or "default"
