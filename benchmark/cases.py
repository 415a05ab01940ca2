"""What is run, what is compared with what, and the numbers to hold."""

from __future__ import annotations

from dataclasses import dataclass

from catalog import CONFIGS, EDITED, KYAML, LAYOUTS, SIZES
from fleets import CLUSTERS, SOME
from measure import CPU, OWN, WALL


@dataclass(frozen=True)
class Run:
    """One program on one input, and what its output has to be."""

    key: str
    program: str
    source: str
    arguments: tuple[str, ...] = ()  # {source} is where the input is, for what reads files
    items: int | None = None  # None: the program answers with no ResourceList
    touched: int = 0
    keeps: str = "count"  # ours: which bytes have to come through, see sane.py
    exit: int = 0  # 1: there are findings to report
    holds: tuple[tuple[str, int], ...] = ()  # texts, and how many lines of the output have each
    clock: str = WALL  # OWN: its last line says how many seconds the work took, without reading the input
    per: int = 1  # how many equal parts the work has: seconds are those of one
    often: int = 1  # how many times in each round, for what takes so little that one sample says nothing


@dataclass(frozen=True)
class Group:
    """Runs that alternate with each other, some times in each round."""

    name: str
    runs: tuple[Run, ...]
    repeat: int = 1
    only_by_name: bool = False  # True: only with --case; its inputs take a gigabyte


@dataclass(frozen=True)
class Row:
    """One line of the table: `sign` says which way the ratio goes and where the target lies."""

    case: str
    ours: str
    other: str
    sign: str  # ">=": other / ours, how much faster; "<=": ours / other, how much longer; "peak": memory / input; "s"
    target: float | None = None


EDITS = "catalog/edits-plain.yaml"
LABELLED = (("team: shop", 3 * EDITED),)
"""Each Deployment has the label in three places."""


def _files(name: str) -> tuple[Run, ...]:
    """What reads the same 7,200 documents from a folder: ours, and the peers that look at every resource."""
    folder, files = f"files/{name}", "1 file" if name == "one" else "7,200 files"
    return (
        Run(f"check {name}", "krmfn", folder, ("check", "{source}"), holds=((f"7,200 resources, {files}", 1),)),
        Run(f"render {name}", "krmfn", folder, ("render", "{source}"), holds=(("kind: Module", 200),)),
        Run(f"kubeconform {name}", "kubeconform", folder, ("{source}",), holds=(("Summary: 7200 resources", 1),)),
        Run(f"cfg {name}", "kustomize cfg", folder, ("{source}",), holds=(("Node: 5000", 1),)),
    )


def _catalog(name: str, size: int) -> tuple[Run, ...]:
    """A function of the catalogue, its Go original, and the SDK of that, which only passes the items through."""
    source, items = f"catalog/{name}-{size}.yaml", size + (name == "upsert-resource")
    return (
        Run(f"{name} {size}", name, source, items=items),
        Run(f"go {name} {size}", f"go {name}", source, items=items),
        Run(f"pass {name} {size}", "kyaml" if name in KYAML else "gofn", source, ("pass",), items=size),
    )


GROUPS = (
    Group(
        "big",
        (
            Run("touch", "touch", "big.yaml", items=7_200, touched=200, keeps="items"),
            Run("job", "deviceconfig", "big.yaml", items=7_400, keeps="items"),
            Run("kyaml touch", "kyaml", "big.yaml", ("touch",), items=7_200, touched=200),
            Run("gofn touch", "gofn", "big.yaml", ("touch",), items=7_200, touched=200),
            Run("touch doubled", "touch", "big2.yaml", items=14_400, touched=400, keeps="items"),
            Run("job doubled", "deviceconfig", "big2.yaml", items=14_800, keeps="items"),
            Run("kyaml pass", "kyaml", "big.yaml", ("pass",), items=7_200),
            Run("gofn pass", "gofn", "big.yaml", ("pass",), items=7_200),
            Run("naive touch", "naive", "big.yaml", items=7_200, touched=200),
        ),
    ),
    Group(
        "many",
        (
            Run("many", "deviceconfig", "many.yaml", items=3_000, keeps="items"),
            Run("kyaml many", "kyaml", "many-generated.yaml", ("pass",), items=3_000),
            Run("gofn many", "gofn", "many-generated.yaml", ("pass",), items=3_000),
        ),
    ),
    Group(
        "vendors",
        (
            Run("profile", "krmfn", "vendors.yaml", ("render", "-"), holds=(("kind: Module", 1_000),)),
            Run("by hand", "krmfn", "vendors-by-hand.yaml", ("render", "-"), holds=(("kind: Module", 1_000),)),
        ),
    ),
    Group(
        "catalog", tuple(run for size in SIZES for name in CONFIGS for run in _catalog(name, size)), only_by_name=True
    ),
    Group(
        "edits",
        (
            *(
                Run(f"edit {name}", "set-labels", f"catalog/edits-{name}.yaml", items=EDITED, holds=LABELLED, clock=CPU)
                for name in LAYOUTS
            ),
            Run("kyaml edits", "kyaml", EDITS, ("label",), items=EDITED, holds=LABELLED, clock=CPU),
            Run("kyaml pass edits", "kyaml", EDITS, ("pass",), items=EDITED, clock=CPU),
        ),
        only_by_name=True,
    ),
    Group("files", (*_files("one"), *_files("many"))),
    Group(
        "fleet",
        (
            Run("fleet", "krmfn", "fleet.yaml", ("check", "-")),
            Run("read", "reader", "fleet-inventory.yaml"),
            Run("nodes doubled", "krmfn", "fleet-nodes2.yaml", ("check", "-")),
            Run("configs doubled", "krmfn", "fleet-configs2.yaml", ("check", "-")),
            Run("fleet doubled", "krmfn", "fleet2.yaml", ("check", "-")),
            Run("crowded", "krmfn", "crowded.yaml", ("check", "-"), exit=1, often=5),
            Run("crowded doubled", "krmfn", "crowded2.yaml", ("check", "-"), exit=1, often=5),
            Run("exclusive", "exclusive", "lists.json", clock=OWN),
            Run("he-sample", "he-sample", "lists.json", clock=OWN),
            Run("inventory", "krmfn", "nodes.json", ("inventory", "-", "--all-labels")),
            Run("inventory few", "krmfn", "nodes.json", ("inventory", "-", "--labels", "example.com/rack")),
            Run("ijson", "ijson", "nodes.json"),
            Run("report", "krmfn", "report.yaml", ("report", "-")),
            Run("sides", "changes", "fleet.yaml", ("read",), clock=OWN),
            Run("effects", "changes", "fleet.yaml", ("play",), holds=(("100000 nodes reload", 1),), clock=OWN),
            Run("clusters", "folders", "clusters.txt", per=CLUSTERS),
            Run("clusters one by one", "folders one by one", "clusters-some.txt", per=SOME),
        ),
        only_by_name=True,
    ),
    Group(
        "small",
        (
            Run("ten", "deviceconfig", "ten.yaml", items=11, keeps="items"),
            Run("python", "python", "ten.yaml"),
            Run("none", "deviceconfig", "none.yaml", items=10, keeps="document"),
            Run("kyaml ten", "kyaml", "ten.yaml", ("touch",), items=10, touched=1),
            Run("gofn ten", "gofn", "ten.yaml", ("touch",), items=10, touched=1),
            Run(
                "check few", "krmfn", "few", ("check", "{source}"), holds=(("1 DeviceConfig in 1 resource, 1 file", 1),)
            ),
            Run("help", "krmfn", "few", ("--help",), holds=(("usage: krmfn", 1),)),
            Run("version", "krmfn", "few", ("--version",), holds=(("krmfn ", 1),)),
        ),
        repeat=10,
    ),
)

CHECK, CROWDED = "check of 10,000 configs on 100,000 nodes", "check of 1,000 configs that all select the same nodes"
INVENTORY = "inventory of 100,000 nodes"
FOLDER = "check of one cluster folder of 20 files, 1,000 at once"
PASS, JOB, MANY, TEN = "200 of 7,200 items touched", "deviceconfig on 7,200 items", "1,000 DeviceConfigs", "ten items"
EDIT = "a label on each of 5,000 items"
VENDOR = "render of 1,000 configs of a vendor's kind by its Profile"
ROWS = (
    Row(f"{VENDOR}, against the same written out by hand", "profile", "by hand", "<=", 1.5),
    Row(f"{PASS}, against the same in kyaml", "touch", "kyaml touch", ">=", 35),
    Row(f"{PASS}, against the same in go/fn", "touch", "gofn touch", ">=", 25),
    Row(f"{PASS}, against the same in naive PyYAML", "touch", "naive touch", ">="),
    Row(f"{JOB}, against kyaml passing them through", "job", "kyaml pass", ">=", 15),
    Row(f"{JOB}, against go/fn passing them through", "job", "gofn pass", ">="),
    Row(f"{MANY} to 2,000 objects, against kyaml passing the output through", "many", "kyaml many", ">=", 2),
    Row(f"{MANY} to 2,000 objects, against go/fn passing the output through", "many", "gofn many", ">=", 2),
    Row("check of a ten-line folder, against `python -c pass`", "check few", "python", "<=", 8),
    Row("--help, against `python -c pass`", "help", "python", "<=", 5),
    Row("--version, against `python -c pass`", "version", "python", "<=", 2.5),
    Row(f"{TEN}, one a DeviceConfig, against `python -c pass`", "ten", "python", "<=", 6),
    Row(f"{TEN}, no DeviceConfig, against `python -c pass`", "none", "python", "<=", 3),
    Row(f"{TEN}, one a DeviceConfig, against kyaml touching it", "ten", "kyaml ten", "<="),
    Row(f"{TEN}, one a DeviceConfig, against go/fn touching it", "ten", "gofn ten", "<="),
    Row(f"{PASS}, input doubled against not", "touch doubled", "touch", "<=", 2.2),
    Row(f"{JOB}, input doubled against not", "job doubled", "job", "<=", 2.2),
    Row(f"{PASS}, peak memory as multiple of the input", "touch", "", "peak", 2),
    Row(f"{JOB}, peak memory as multiple of the input", "job", "", "peak", 2),
    Row(f"{PASS}, kyaml's peak memory as multiple of the input", "", "kyaml touch", "peak"),
    Row(f"{PASS}, go/fn's peak memory as multiple of the input", "", "gofn touch", "peak"),
    *(
        row
        for name, where, faster in (("one", "27 MB in one file", 1.8), ("many", "7,200 files of 27 MB", 1.3))
        for row in (
            Row(f"check of {where}, against kubeconform", f"check {name}", f"kubeconform {name}", ">=", faster),
            Row(f"check of {where}, against `kustomize cfg count`", f"check {name}", f"cfg {name}", ">="),
            Row(f"render of {where}, against check", f"render {name}", f"check {name}", "<=", 1.3),
            Row(f"check of {where}, peak memory as multiple of the input", f"check {name}", "", "peak", 4),
        )
    ),
    Row(f"{CHECK}, against merely reading the inventory", "fleet", "read", "<=", 3),
    Row(f"{CHECK}, nodes doubled against not", "nodes doubled", "fleet", "<=", 2.3),
    Row(f"{CHECK}, configs doubled against not", "configs doubled", "fleet", "<=", 2.3),
    Row(f"{CHECK}, both doubled against not", "fleet doubled", "fleet", "<=", 2.3),
    Row(f"{CROWDED}, both doubled against not", "crowded doubled", "crowded", "<=", 2.3),
    Row(
        "exclusivity of 1,000 configs on 5,000 nodes decided, against he-sample's algorithm",
        "exclusive",
        "he-sample",
        ">=",
        100,
    ),
    Row(f"{INVENTORY} with one label, against ijson parsing the JSON", "inventory few", "ijson", "<=", 2),
    Row(f"{INVENTORY} with all 40 labels, against the same", "inventory", "ijson", "<=", 2),
    Row(f"{INVENTORY} with all 40 labels, peak memory as multiple of the input", "inventory", "", "peak", 0.42),
    Row("report about 50,000 nodes", "report", "", "s", 10),
    Row("what 10,000 changed configs do on 100,000 nodes, against reading both sides", "effects", "sides", "<=", 1),
    Row(f"{FOLDER}, against a process for each", "clusters", "clusters one by one", ">=", 5),
    Row(FOLDER, "clusters", "", "s", 0.025),
    Row(f"{EDIT}, CPU, against the same in kyaml", "edit plain", "kyaml edits", "<=", 1.2),
    Row(f"{EDIT}, CPU, against kyaml passing them through", "edit plain", "kyaml pass edits", "<="),
    Row(f"{EDIT}, peak memory as multiple of the input", "edit plain", "", "peak"),
    Row(f"{EDIT}, kyaml's peak memory as multiple of the input", "", "kyaml edits", "peak"),
    *(
        Row(f"{EDIT}, CPU, one {name} in each against none", f"edit {name}", "edit plain", "<=", 1.3)
        for name in LAYOUTS
        if name != "plain"
    ),
    *(
        Row(f"{name} on {size:,} items, against {peer}", f"{name} {size}", f"{key} {name} {size}", ">=", target)
        for size in SIZES
        for name in CONFIGS
        for key, peer, target in (
            ("go", "its Go original", 1 if size > 2 and name != "search-replace" else None),
            ("pass", f"{'kyaml' if name in KYAML else 'go/fn'} passing them through", None),
        )
    ),
)
