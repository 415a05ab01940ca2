"""Every Module of this repository, there and back: those that our examples and cases render, and the API server's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from krmfn_functions.all_kinds import krmfn
from krmfn_functions.importing import assembly, drafts, importer
from krmfn_functions.importing.normal import normal
from krmfn_functions.kmm.module import MODULE_KINDS
from krmfn_functions.paths import manifests
from krmfn_functions.run import note
from krmfn_functions.settings import RENDER, Settings

from krmfn import KrmfnError, Manifest, ResourceList, run
from krmfn.yamltext import emit
from tests.builders import folder_text
from tests.commands import ROOT

SETTINGS = Settings(RENDER, flags={"kmm-version": "main"})
SHARE = 0.95
"""What is expressed of the objects that work on a cluster."""
BROKEN = {
    "two-sources": "no pod has a volume with two sources",
    "no-source": "no pod has a volume without a source",
    "quoted-words": "no pod has the imagePullPolicy null",
    "plain-words": "no pod has the imagePullPolicy 1.2.x",
    "every-container-field": "it mounts a volume that is not there",
    "env-sources": "no pod has a valueFrom without a source",
    "dra-classes": "no DeviceClass has a selector without CEL",
    "dra-32-selectors": "no DeviceClass has a selector without CEL",
}
"""Modules that the API server and the webhook take, and whose pods or classes the API server refuses later."""


def lists() -> Iterator[tuple[str, list[Manifest]]]:
    """Yield what our cases and examples render, list by list."""
    for path in sorted(
        [*ROOT.glob("tests/cases/*/valid/*/expected.yaml"), *ROOT.glob("tests/cases/*/valid/*/stdout.txt")]
    ):
        try:
            yield (
                str(path.relative_to(ROOT)),
                [item.manifest for item in manifests.read_stream(path.read_bytes()).items],
            )
        except KrmfnError:
            continue  # findings, and no manifests
    for folder in sorted(path for path in (ROOT / "examples").iterdir() if path.is_dir()):
        done, code = run(krmfn, folder_text(folder))
        if not code:
            yield folder.name, [item.manifest for item in ResourceList.parse(done).items]


CASES = [(name, every) for name, every in lists() if any(one.get("kind") == "Module" for one in every)]
CLUSTER = [
    item.manifest
    for path in sorted((ROOT / "tests/e2e/modules/valid").glob("*.yaml"))
    for item in manifests.read_stream(path.read_bytes()).items
]


def works(module: Manifest) -> bool:
    """Whether KMM accepts a Module and does something with it."""
    spec = module.get("spec") or {}
    resources = ResourceList.parse(b"kind: ResourceList\napiVersion: config.kubernetes.io/v1\nitems: []\n")
    resources.upsert([module])
    note(resources, settings=SETTINGS)
    krmfn(resources)
    does = any(name in spec for name in ("moduleLoader", "devicePlugin", "dra"))
    return does and not resources.failed and module["metadata"]["name"] not in BROKEN


def test_the_share_that_is_expressed() -> None:
    own = [module for module in CLUSTER if works(module)]
    assert len(own) > 25
    results = [
        importer.import_modules(every, SETTINGS) for every in (*(every for _, every in CASES), *([one] for one in own))
    ]
    taken = [manifest["kind"] for whole in results for one in whole.conversions for manifest in one.objects]
    stay = [one.manifest["kind"] for whole in results for one in whole.kept]
    assert len(taken) > 150
    assert taken.count("Module") / (taken + stay).count("Module") == 1
    assert len(taken) / len(taken + stay) >= SHARE, (len(taken), stay)


@pytest.mark.parametrize(("name", "every"), CASES, ids=[name for name, _ in CASES])
def test_what_is_rendered_comes_back(name: str, every: list[Manifest]) -> None:
    whole = importer.import_modules(every, SETTINGS)
    assert not any(one.manifest["kind"] == "Module" for one in whole.kept)
    configs, function_config = assembly.assemble(whole.conversions, SETTINGS)
    apart = {
        **(
            function_config
            or {"apiVersion": "krmfn.dev/v1alpha1", "kind": "RenderDeviceConfigs", "metadata": {"name": "x"}}
        )
    }
    apart["spec"] = {**apart.get("spec", {}), "exclusivity": {"mode": "off"}}
    rendered = drafts.rendered(configs, SETTINGS, apart)
    again = importer.import_modules([item.manifest for item in rendered.items], SETTINGS)
    assert assembly.assemble(again.conversions, SETTINGS) == (configs, function_config)
    assert again.kept == ()


@pytest.mark.parametrize("module", CLUSTER, ids=lambda module: module["metadata"]["name"])
def test_a_module_is_expressed_or_named_with_the_reason(module: Manifest) -> None:
    whole = importer.import_modules([module], SETTINGS)
    assert len(whole.conversions) + len(whole.kept) == 1
    for one in whole.kept:
        assert (one.manifest["kind"], "") in {(kind, "") for _, kind in MODULE_KINDS}
        assert one.reasons
        assert all(one.reasons)
    for taken in whole.conversions:
        assert all(difference.reason for _, difference in taken.differences)
        assert normal(taken.objects[0])["spec"]
        emit.dump(taken.config)
