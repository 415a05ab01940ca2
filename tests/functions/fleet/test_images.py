"""Every image once: the kernels' that the nodes have, plugins, pods; and which a registry lacks."""

from __future__ import annotations

import pytest
from krmfn_functions.fleet import registry
from krmfn_functions.fleet.coverage import coverage
from krmfn_functions.fleet.image_copies import mirror, pairs, skopeo
from krmfn_functions.fleet.images import Image, images

from krmfn import KrmfnError
from tests.functions.fleet import fleets
from tests.functions.fleet.test_rules import NODES, daemonset, module
from tests.tables import table

CASES = table(__file__, "images.yaml")


def images_of(text: str, *kernels: str) -> dict[str, Image]:
    cluster, _ = fleets.read(text)
    groups = coverage(cluster.fleet.nodes, cluster.drivers)
    return {image.name: image for image in images(groups, cluster, [kernels] * len(cluster.drivers))}


def numbers(text: str, *kernels: str) -> dict[str, int | None]:
    return {name: image.nodes for name, image in images_of(text, *kernels).items()}


EL9 = "registry.example.com/gpu:5.14.0-{}.el9.x86_64"
CONTAINER = "      modprobe:"


def test_an_image_per_kernel_that_a_node_has_and_the_pods() -> None:
    assert numbers(NODES + module("{zone: a}") + daemonset("[]")) == {
        EL9.format(427): 1,
        EL9.format(503): 2,
        "registry.example.com/agent:1": 3,
    }


def test_the_nodes_of_an_image_that_two_need_are_counted_once() -> None:
    both = module("{zone: a}") + "---\n" + module("{gpu: 'true'}").replace("name: gpu,", "name: other,")
    fixed = both.replace("$KERNEL_FULL_VERSION", "1").replace("moduleName: gpu", "moduleName: other", 1)
    (image,) = images_of(NODES + fixed).values()
    assert (image.nodes, [need.ref.name for need in image.needs]) == (3, ["gpu", "other"])


def test_a_kernel_to_come_is_needed_by_no_node_yet() -> None:
    assert numbers(NODES + module("{zone: a}"), "5.14.0-570.el9.x86_64")[EL9.format(570)] == 0


def test_nodes_that_wait_for_the_label_of_a_version_will_pull() -> None:
    versioned = module("{zone: a}").replace(CONTAINER, f'      version: "1"\n{CONTAINER}')
    assert numbers(NODES + versioned) == {EL9.format(427): 1, EL9.format(503): 2}


CORDON = "  taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]\n"


def waiting(text: str) -> dict[str, tuple[int | None, int]]:
    """All the nodes of each image, and those of them that wait."""
    return {name: (image.nodes, image.waiting) for name, image in images_of(text).items()}


def test_nodes_that_wait_are_told_from_those_that_pull_now() -> None:
    """Each was counted as if it pulled: a cordoned node, one without the version label, pods that wait for a Module."""
    node = "---\napiVersion: v1\nkind: Node\nmetadata: {name: c, labels: {zone: a}}\nspec:\n" + CORDON
    node += "status: {nodeInfo: {kernelVersion: 5.14.0-427.el9.x86_64}}\n---\n"
    plugin = "  devicePlugin: {container: {image: 'r/p:1'}}\n"
    text = NODES + node + module("{zone: a}", fields=plugin) + daemonset("[]")
    expected = {
        EL9.format(427): (2, 1),
        EL9.format(503): (2, 0),
        "r/p:1": (4, 1),
        "registry.example.com/agent:1": (4, 1),
    }
    assert waiting(text) == expected
    versioned = module("{zone: a}").replace(CONTAINER, f'      version: "1"\n{CONTAINER}')
    assert waiting(NODES + versioned) == {EL9.format(427): (1, 1), EL9.format(503): (2, 2)}
    assert waiting(NODES + module("{zone: a}")) == {EL9.format(427): (1, 0), EL9.format(503): (2, 0)}


def test_what_is_built_in_the_cluster_is_marked_and_what_is_signed_there_is_needed() -> None:
    built = module("{zone: a}").replace(CONTAINER, f"      build: {{dockerfileConfigMap: {{name: d}}}}\n{CONTAINER}")
    assert [image.built for image in images_of(NODES + built).values()] == [True, True]
    sign = "{keySecret: {name: k}, certSecret: {name: c}, filesToSign: [/opt/a.ko], unsignedImage: 'r/u:$KERNEL_XYZ'}"
    signed = images_of(NODES + module("{zone: a}").replace(CONTAINER, f"      sign: {sign}\n{CONTAINER}"))
    assert {name: image.built for name, image in signed.items()} == {
        EL9.format(427): True,
        EL9.format(503): True,
        "r/u:5.14.0": False,
    }
    assert signed["r/u:5.14.0"].nodes is None


def test_the_plugin_is_pulled_where_the_module_is() -> None:
    plugin = "  devicePlugin: {container: {image: 'r/p:1'}}\n"
    assert numbers(NODES + module("{zone: a}", fields=plugin))["r/p:1"] == 3


def test_without_nodes_only_what_depends_on_no_kernel_is_known() -> None:
    fixed = module("{zone: a}").replace("$KERNEL_FULL_VERSION", "1-$MOD_NAME")
    assert numbers(fixed + daemonset("[]")) == {
        "registry.example.com/gpu:1-gpu": None,
        "registry.example.com/agent:1": None,
    }
    literal = module("{zone: a}", "literal: 5.14.0-427.el9.x86_64")
    assert numbers(literal) == {EL9.format(427): None}
    with pytest.raises(KrmfnError, match=r"depends on the node's kernel, and no nodes are known"):
        images_of(module("{zone: a}"))
    assert numbers(module("{zone: a}"), "5.14.0-427.el9.x86_64") == {EL9.format(427): 0}


def test_a_kernel_that_kmm_fails_on_is_an_error() -> None:
    with pytest.raises(KrmfnError, match=r"Module kmm/gpu, kernel 6.1: invalid kernel version"):
        images_of(NODES + module("{zone: a}", "regexp: ."), "6.1")


@pytest.mark.parametrize(("name", "full"), CASES["names_are_compared_in_full"])
def test_names_are_compared_in_full(name: str, full: str) -> None:
    assert registry.full_name(name) == full


def test_what_a_registry_lacks() -> None:
    text = "\ufeffr.example.com/a:1\n# mirrored\n\nnginx:1 # theirs\nr.example.com/d@sha256:ab\n"
    present = registry.read_images(text, "held.txt")
    names = ["r.example.com/a:1", "r.example.com/a:2", "docker.io/library/nginx:1", "r.example.com/d:1@sha256:ab"]
    assert registry.missing(names, present) == ["r.example.com/a:2"]


@pytest.mark.parametrize("line", ["1.0", "r.example.com/a:1  12 MB", "r.example.com/a:1\t3"])
def test_a_list_of_something_else_is_refused(line: str) -> None:
    """Everything would seem to be missing."""
    with pytest.raises(KrmfnError, match=r"held.txt: line 2: .* is not an image"):
        registry.read_images(f"r.example.com/a:1\n{line}\n", "held.txt")


@pytest.mark.parametrize(("name", "source"), CASES["the_longest_destination_says_where_an_image_is_from"])
def test_the_longest_destination_says_where_an_image_is_from(name: str, source: str) -> None:
    options = ("registry.example.com=mirror.lab:5000", "hub.example.com/nics=mirror.lab:5000/nic/")
    mirrors = [*map(mirror, options), mirror("x.example.com=mirror")]
    assert list(pairs([name], mirrors)) == [(source, name)]


@pytest.mark.parametrize("option", ["", "a", "a=", "=b", "a=b=c"])
def test_a_mirror_has_two_sides(option: str) -> None:
    with pytest.raises(KrmfnError, match="write SOURCE=DESTINATION"):
        mirror(option)


def test_skopeo_reads_registries_repositories_and_tags() -> None:
    repository = "registry.example.com:5000/a/b"
    assert skopeo(["nginx", f"{repository}:1", f"{repository}@sha256:0", "quay.example.com/c:2"]) == {
        "docker.io": {"images": {"library/nginx": ["latest"]}},
        "registry.example.com:5000": {"images": {"a/b": ["1", "sha256:0"]}},
        "quay.example.com": {"images": {"c": ["2"]}},
    }
