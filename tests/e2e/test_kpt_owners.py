"""`own_all` of the SDK under a real kpt: what gone owners made goes, but not where selectors hide the owners."""

from __future__ import annotations

import sys
from pathlib import Path

from .engines import must, run, tree

FUNCTION = f"""\
#!{sys.executable}
from krmfn import ResourceList, function

@function
def tenants(resources: ResourceList) -> None:
    tenants = resources.where(kind="Tenant", group="example.com")
    head = {{"apiVersion": "v1", "kind": "ConfigMap"}}
    manifests = {{item: head | {{"metadata": {{"name": f"of-{{item.name}}"}}}} for item in tenants}}
    resources.own_all(manifests, kind="Tenant", group="example.com")

tenants.main()
"""
KPTFILE = """\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: package
pipeline:
  mutators:
  - exec: {program}
"""
TENANT = "apiVersion: example.com/v1\nkind: Tenant\nmetadata:\n  name: {name}\n"
SELECTORS = {
    "selectors": "    selectors:\n    - kind: ConfigMap\n",
    "exclude": "    exclude:\n    - kind: Tenant\n",
}


def test_what_gone_owners_made_goes_and_a_part_is_refused(kpt: str, tmp_path: Path) -> None:
    program, package = tmp_path / "tenants", tmp_path / "package"
    program.write_text(FUNCTION)
    program.chmod(0o755)
    package.mkdir()
    (package / "Kptfile").write_text(KPTFILE.format(program=program))
    for name in "ab":
        (package / f"{name}.yaml").write_text(TENANT.format(name=name))
    must(kpt, "fn", "render", package, "--allow-exec")
    path = package / "configmap_of-a.yaml"
    (package / "copy.yaml").write_text(path.read_text().replace("name: of-a\n", "name: copy\n"))
    (package / "a.yaml").unlink()
    full = (package / "Kptfile").read_text()
    for selectors in SELECTORS.values():
        (package / "Kptfile").write_text(full + selectors)
        before = tree(package)
        done = run(kpt, "fn", "render", package, "--allow-exec").ended(1)
        assert "comes in a part of a package, which may lack owners: remove `selectors` (and exclude)" in done.err
        assert {**tree(package), "Kptfile": b""} == {**before, "Kptfile": b""}
    eval_part = run(kpt, "fn", "eval", package, "--exec", program, "--match-kind", "ConfigMap").ended(1)
    assert "or the options of `kpt fn eval`" in eval_part.err
    assert path.exists()
    (package / "Kptfile").write_text(full)
    must(kpt, "fn", "render", package, "--allow-exec")
    assert {*tree(package)} == {"Kptfile", "b.yaml", "configmap_of-b.yaml", "copy.yaml"}
