"""Every Module of this repository, there and back: those that our examples and cases render, and the API server's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from krmfn_functions.all_kinds import krmfn
from krmfn_functions.importing import assembly, drafts, importer
from krmfn_functions.importing.normal import normal
from krmfn_functions.kmm.module import MODULE_KINDS
from krmfn_functions.paths import manifests
from krmfn_functions.run import Run
from krmfn_functions.settings import RENDER, Settings

from krmfn import KrmfnError, Manifest, ResourceList, run
from krmfn.yamltext import emit
from tests.builders import edited, folder_text, function_config, resource_list
from tests.commands import ROOT

RUN = Run(settings=Settings(RENDER, flags={"kmm-version": "main"}))
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
    names = ("expected.yaml", "stdout.txt")
    for path in sorted(path for name in names for path in ROOT.glob(f"tests/cases/*/valid/*/{name}")):
        try:
            items = manifests.read_stream(path.read_bytes()).items
        except KrmfnError:
            continue  # findings, and no manifests
        yield str(path.relative_to(ROOT)), [item.manifest for item in items]
    for folder in sorted(path for path in (ROOT / "examples").iterdir() if path.is_dir()):
        output, code = run(krmfn, folder_text(folder))
        if not code:
            yield folder.name, [item.manifest for item in ResourceList.parse(output).items]


CASES = [(name, items) for name, items in lists() if any(item.get("kind") == "Module" for item in items)]
CLUSTER = [
    item.manifest
    for path in sorted((ROOT / "tests/e2e/modules/valid").glob("*.yaml"))
    for item in manifests.read_stream(path.read_bytes()).items
]


def works(module: Manifest) -> bool:
    """Whether KMM accepts a Module and does something with it."""
    resources = resource_list(module, settings=RUN.settings)
    krmfn(resources)
    does = any(name in (module.get("spec") or {}) for name in ("moduleLoader", "devicePlugin", "dra"))
    return does and not resources.failed and module["metadata"]["name"] not in BROKEN


def test_the_share_that_is_expressed() -> None:
    working = [[module] for module in CLUSTER if works(module)]
    assert len(working) > 25
    results = [importer.import_modules(items, RUN) for items in (*(items for _, items in CASES), *working)]
    imported = [item["kind"] for result in results for conversion in result.conversions for item in conversion.objects]
    kept = [item.manifest["kind"] for result in results for item in result.kept]
    assert len(imported) > 150
    assert "Module" not in kept
    assert len(imported) / len(imported + kept) >= SHARE, (len(imported), kept)


@pytest.mark.parametrize(("name", "items"), CASES, ids=[name for name, _ in CASES])
def test_what_is_rendered_comes_back(name: str, items: list[Manifest]) -> None:
    result = importer.import_modules(items, RUN)
    assert not any(item.manifest["kind"] == "Module" for item in result.kept)
    configs, settings = assembly.assemble(result.conversions, RUN)
    apart = edited(settings or function_config(), ("spec.exclusivity", {"mode": "off"}))
    rendered = drafts.rendered(configs, RUN, apart)
    again = importer.import_modules([item.manifest for item in rendered.items], RUN)
    assert assembly.assemble(again.conversions, RUN) == (configs, settings)
    assert again.kept == ()


@pytest.mark.parametrize("module", CLUSTER, ids=lambda module: module["metadata"]["name"])
def test_a_module_is_expressed_or_named_with_the_reason(module: Manifest) -> None:
    result = importer.import_modules([module], RUN)
    assert len(result.conversions) + len(result.kept) == 1
    for item in result.kept:
        assert item.manifest["kind"] in {kind for _, kind in MODULE_KINDS}
        assert item.reasons and all(item.reasons)
    for conversion in result.conversions:
        assert all(difference.reason for _, difference in conversion.differences)
        assert normal(conversion.objects[0])["spec"]
        emit.dump(conversion.config)
