"""The nodes of an input: its Node objects and those in its NodeInventories."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from krmfn import Field, Item, KrmfnError, ResourceList, Result, error, itemtext
from krmfn.printing import some
from krmfn.resource import split
from krmfn.typed import TYPE_CHECKING, NamedTuple
from krmfn.yamltext.simple import scalar

from .. import sentence
from ..exclusivity import Claim, Node
from ..kmm.lookup import table, tables, text, texts
from ..likeness import similar_words
from ..rendering import kinds
from ..run import run_of
from . import facts, readings

if TYPE_CHECKING:
    from . import inventory


class Fleet(NamedTuple):
    """The nodes of one cluster, as far as the input knows them."""

    nodes: list[Node]
    label_keys: frozenset[str] | None = None
    """The labels that are known of every node; None: all. A selector with any other label cannot be judged."""
    findings: tuple[Result, ...] = ()
    """What is wrong with the input. After an error some nodes are missing, so nothing may be concluded from them."""
    inventories: tuple[Item, ...] = ()
    """The NodeInventories among the sources."""

    def missing_labels(self, keys: Iterable[str]) -> sentence.Sentence:
        """Return a sentence about labels that the inventories lack, its third part about one that is meant; or ()."""
        missing = sorted(set(keys) - self.label_keys) if self.label_keys is not None else []
        if not missing:
            return ()
        names = some((str(item.ref) for item in self.inventories), len(self.inventories))
        labels = f"the {'label' if len(missing) == 1 else 'labels'} {some(missing, len(missing))}"
        close = next(iter(similar_words(missing[0], self.label_keys or frozenset())), "")
        hint = (f" (did you mean {close}, which it holds?)",) if close else ()
        return sentence.Inventories(names), f" does not hold {labels}", *hint

    def missing_labels_problem(self, keys: Iterable[str], question: str = "") -> tuple[sentence.Sentence, str] | None:
        """Return which labels the inventories do not hold, and the question that this leaves open, with what to do."""
        if not (problem := self.missing_labels(keys)):
            return None
        remedy = "correct the key, or if it is right " if problem[2:] else ""
        parts = (*problem, f", so it is not known {question}" if question else "")
        return parts, f"{remedy}regenerate it with `krmfn inventory --for PATH`"

    def check_labels(self, claim: Claim, keys: Iterable[str]) -> Iterator[Result]:
        """Yield an error when a claim depends on labels that the inventories do not hold."""
        if missing := self.missing_labels_problem(keys, "which nodes it selects"):
            sides = [f"{claim.external}: " if claim.external else "", f"pool {claim.pool}: " if claim.pool else ""]
            message, remedy = (*sides, *missing[0]), missing[1]
            about = error(message, rule="KRM603", ref=claim.ref, field=Field(claim.field), remedy=remedy)
            yield about._replace(place=claim.place)


def read(resources: ResourceList, keys: Collection[str] | None = None) -> Fleet:
    """Return the nodes in a list, in its order, for a hub those of its spokes after them.

    With `keys` only names and those labels are read from Node objects, which is faster; None reads everything.
    Under kustomize a Node has its name before any prefix: the one in its file and on the cluster.
    """
    inventories = resources.where(kind="NodeInventory", group="krmfn.dev")
    objects, listed = _from_objects(resources.where(kind="Node", group=""), keys), _from_inventories(inventories)
    nodes, held = [*objects.nodes, *listed.nodes], [*listed.held]
    findings = [*objects.findings, *listed.findings, *_repetitions([*objects.sources, *listed.sources])]
    for spoke in run_of(resources).spokes:
        of_spoke = read(ResourceList(spoke.nodes))
        findings += of_spoke.findings
        held += [] if of_spoke.label_keys is None else [of_spoke.label_keys]
        inventories += of_spoke.inventories
        nodes += [node._replace(cluster=(("", spoke.name), *spoke.labels)) for node in of_spoke.nodes]
    return Fleet(nodes, frozenset.intersection(*held) if held else None, tuple(findings), tuple(inventories))


class _Nodes(NamedTuple):
    """The nodes in some items, and what was found beside them."""

    nodes: list[Node]
    findings: list[Result]
    sources: list[tuple[str, Item]]
    """The names of the nodes, each with the item that has it: no name may be there twice."""
    held: list[frozenset[str]]
    """The keys of the labels that each inventory holds, where it says so."""


def _from_objects(items: Sequence[Item], keys: Collection[str] | None) -> _Nodes:
    """Return the nodes of Node objects; of `keys` see `read`."""
    result, words = _Nodes([], [], [], []), facts.words_of(keys)
    from_kustomize = any(item.mentions(readings.KUSTOMIZE_ID) for item in items[:1])
    for item in items:
        try:
            node = facts.of_item(item, keys, words)
        except KrmfnError as failure:
            refused = item.located(error(f"{failure}; the API server refuses this Node", rule="KRM601"))
            result.findings.extend(_ambiguities(item, keys) or [refused])
            continue
        node = node._replace(name=readings.previous_name(item)) if from_kustomize else node
        ambiguities = _ambiguities(item, keys)
        result.findings.extend(ambiguities or _name_findings(node.name, item))
        result.nodes.append(node)
        result.sources.extend([] if ambiguities else [(node.name, item)])
    return result


def _from_inventories(items: Sequence[Item]) -> _Nodes:
    """Return the nodes of inventories that are as their schema says."""
    result = _Nodes([], [], [], [])
    for item in items:
        if problems := list(_schema_findings(item)):
            result.findings.extend(problems)
            continue
        from . import inventory  # here, for the start-up of lists without one

        is_cut = item.place and item.place.path and not item.data.endswith(b"\n", item.start, item.end)
        nodes, lines = inventory.read(item.content.manifest, item.text if is_cut else b"")
        result.findings.extend(_at_lines(item, lines) if lines else ())
        result.sources.extend((node.name, item) for node in nodes)
        result.nodes.extend(nodes)
        keys_held = inventory.label_keys(item.content.manifest)
        result.held.extend([] if keys_held is None else [keys_held])
    return result


def kernels(resources: ResourceList) -> set[str]:
    """Return the kernel versions of all nodes in a list; what is wrong with an inventory is reported elsewhere."""
    inventories = resources.where(kind="NodeInventory", group="krmfn.dev")
    of_inventories = {kernel for item in inventories for _, kernel in names_and_kernels(item)} - {facts.UNKNOWN}
    return (_of_objects(resources, "kernelVersion") | of_inventories) - {""}


def names_and_kernels(inventory: Item) -> Iterator[tuple[str, str]]:
    """Yield the name and the kernel of each node in an inventory; what is wrong with it is reported elsewhere."""
    groups = (text(group, "nodes") for _, group in tables(inventory.content.manifest.get("spec"), "groups"))
    lines = (line.split(" ", 2) for nodes in groups for line in nodes.split("\n"))
    yield from ((line[0], line[1]) for line in lines if len(line) > 1)


def kubelets(resources: ResourceList) -> set[str]:
    """Return the versions of the kubelets of all nodes in a list, also of an inventory with errors elsewhere."""
    inventories = resources.where(kind="NodeInventory", group="krmfn.dev")
    of_inventories = (texts(item.content.manifest.get("spec"), "kubeletVersions") for item in inventories)
    return _of_objects(resources, "kubeletVersion").union(*of_inventories) - {""}


def _of_objects(resources: ResourceList, name: str) -> set[str]:
    """Return what the Node objects in a list have in this field of status.nodeInfo."""
    return {itemtext.string(item, "status", "nodeInfo", name) for item in resources.where(kind="Node", group="")}


def _ambiguities(item: Item, keys: Collection[str] | None) -> list[Result]:
    """Return the findings about scalars of a Node with two readings, of labels only those in `keys`."""
    findings = readings.check(item) if item.is_read else []
    return findings if keys is None else [finding for finding in findings if _is_used(finding, keys)]


def _is_used(finding: Result, keys: Collection[str]) -> bool:
    """Return True for a finding about a Node's name, or about a label with one of the keys."""
    path = split(finding.field.path) if finding.field else ()
    if path[:2] != ("metadata", "labels"):
        return path == ("metadata", "name")
    return path[2] in keys or str(scalar(path[2])).lower() in keys  # the key `y` is "true" to Kubernetes


def _name_findings(name: str, item: Item) -> Iterator[Result]:
    """Yield an error for a Node without a name."""
    if not name:
        value = table(item.manifest, "metadata").get("name")
        message, remedy = "this Node has no metadata.name", "write it"
        if value:
            message, remedy = f"its metadata.name is {value!r}, not a string", "put it in quotes"
        yield item.located(error(message, rule="KRM601", remedy=remedy))


def _repetitions(sources: Iterable[tuple[str, Item]]) -> Iterator[Result]:
    """Yield an error for the nodes that stand in two files, or in two items without a file."""
    last: dict[str, Item] = {}
    repeated: dict[tuple[str, str], list[tuple[str, Item, Item]]] = {}
    for name, item in sources:
        other = last.get(name, item)
        last[name] = item
        if name and other is not item:
            paths = [(source.place.path if source.place else "") or str(source.ref) for source in (item, other)]
            repeated.setdefault((paths[0], paths[1]), []).append((name, item, other))
    for (_, path), nodes in repeated.items():
        (name, item, other), several = nodes[0], sentence.named(sorted(name for name, _, _ in nodes))
        source = str(other.ref) if str(other.ref) == path else f"{other.ref}, {path}"
        message, remedy = f"node {name} is also in {source}", "remove it from one of them"
        if several.number > 1:
            message, remedy = f"{several} are also in {path}", "remove them from one of the two"
        yield item.located(error(message, rule="KRM601", remedy=remedy))


def _schema_findings(item: Item) -> Iterator[Result]:
    """Yield the findings about an inventory that cannot be read: another version, unknown fields, wrong types."""
    from krmfn import schema

    if itemtext.string(item, "apiVersion") != facts.API_VERSION:
        yield other_version(item)
        return
    yield from readings.check(item)
    yield from readings.repeated(item)
    for finding in schema.check(item.content.manifest, kinds.schema("nodeinventory"), "KRM101"):
        yield item.located(finding)


def other_version(item: Item) -> Result:
    """Return the error about an inventory of a version that this krmfn does not read."""
    version = itemtext.string(item, "apiVersion")
    message = f"this version of krmfn reads {facts.API_VERSION}, not {version}"
    field, remedy = Field("apiVersion", version), "regenerate the inventory"
    return item.located(error(message, rule="KRM601", field=field, remedy=remedy))


def _at_lines(item: Item, problems: Iterable[inventory.LineMistake]) -> Iterator[Result]:
    """Yield an error for each problem of an inventory, at the line of the file that it is about."""
    head = item.place
    lines = item.text.splitlines() if head and head.line and head.has_lines else []
    for problem in problems:
        prefix = f"line {problem.line:,} ({problem.text[:60]!r}): " if problem.line else ""
        (message, remedy), field = problem.mistake.after(prefix), Field(problem.path)
        finding = item.located(error(message, rule="KRM601", field=field, remedy=remedy))
        if problem.line and head and finding.place:
            line = finding.place.line - head.line + problem.line
            # a line of the text is one of the file in a block after `|`, and not in a quoted string
            if line < len(lines) and lines[line].strip() == problem.text.strip().encode():
                finding = finding._replace(place=finding.place._replace(line=head.line + line, column=1))
        yield finding
