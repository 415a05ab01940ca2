"""The programs that are compared: ours as installed, and the peers, built from their source here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from catalog import CONFIGS

HERE = Path(__file__).parent
CACHE = HERE / ".cache"
GO_PEERS = ("kyaml", "gofn")
KUBECONFORM = "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0"


@dataclass
class Programs:
    """Command lines by name; what cannot run here is in `missing`, with the reason."""

    commands: dict[str, list[str]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def skip(self, name: str, reason: str) -> None:
        self.missing[name] = reason
        print(f"NOT MEASURED: {name}: {reason}", file=sys.stderr)


def gather(python: Path, deviceconfig: Path) -> Programs:
    programs = Programs({"python": [str(python), "-c", "pass"]})
    _ours(programs, python, deviceconfig)
    _naive(programs, python)
    _of_fleets(programs, python, deviceconfig.with_name("krmfn"))
    for peer in GO_PEERS:
        _go_peer(programs, peer)
    _of_files(programs)
    _of_the_catalog(programs, python)
    return programs


def fresh_python() -> Path:
    """Install the working tree into a new virtual environment, as a user would have it."""
    folder = CACHE / "venv"
    python = folder / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    peers = ["-r", str(HERE / "peers" / "requirements.txt")]
    ours = [str(HERE.parent / "sdk"), str(HERE.parent)]
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", *ours, *peers], check=True)
    return python


def _ours(programs: Programs, python: Path, deviceconfig: Path) -> None:
    if deviceconfig.exists():
        programs.commands["deviceconfig"] = [str(deviceconfig)]
    else:
        programs.skip("deviceconfig", "the console command is not installed beside the interpreter (see --bin)")
    location = _ask(python, "import krmfn; krmfn.main; print(krmfn.__file__)")
    if not location:
        programs.skip("touch", "krmfn cannot be imported by the interpreter (see --python)")
        return
    programs.commands["touch"] = [str(python), str(HERE / "touch.py")]
    if "site-packages" not in Path(location).parts:
        note = "krmfn is not installed as users have it, and an editable install starts slower: measure with --fresh"
        print(f"NOTE: {note}", file=sys.stderr)


def _of_fleets(programs: Programs, python: Path, krmfn: Path) -> None:
    programs.commands["krmfn"] = [str(krmfn)]
    programs.commands["folders"] = ["xargs", str(krmfn), "check"]  # the folders' names come on stdin
    programs.commands["folders one by one"] = ["xargs", "-n", "1", str(krmfn), "check"]
    programs.commands["reader"] = [str(python), str(HERE / "read_inventory.py")]
    programs.commands["changes"] = [str(python), str(HERE / "changes.py")]
    programs.commands["exclusive"] = [str(python), str(HERE / "exclusive.py")]
    programs.commands["he-sample"] = [str(python), str(HERE / "peers" / "hesample.py")]
    if _ask(python, "import ijson; print(ijson.backend)").startswith("yajl2"):
        programs.commands["ijson"] = [str(python), str(HERE / "peers" / "items.py")]
    else:
        programs.skip(
            "ijson", "no ijson with its C backend in the interpreter (pip install -r benchmark/peers/requirements.txt)"
        )


def _naive(programs: Programs, python: Path) -> None:
    if _ask(python, "import yaml; print(yaml.__with_libyaml__)") == "True":
        programs.commands["naive"] = [str(python), str(HERE / "peers" / "naive.py")]
    else:
        programs.skip("naive", "no PyYAML with libyaml in the interpreter")


def _go_peer(programs: Programs, name: str) -> None:
    if not shutil.which("go"):
        programs.skip(name, "no Go toolchain on PATH")
        return
    binary = CACHE / f"peer-{name}"
    build = ["go", "build", "-trimpath", "-o", str(binary), "."]
    done = subprocess.run(build, cwd=HERE / "peers" / name, env=os.environ | {"GOTOOLCHAIN": "local"}, check=False)
    if done.returncode == 0:
        programs.commands[name] = [str(binary)]
    else:
        programs.skip(name, "go build failed, its words are above")


def _of_files(programs: Programs) -> None:
    """The peers that read files: kubeconform with a schema that accepts everything, kustomize's own reader."""
    binary, schema = CACHE / "kubeconform", CACHE / "accepts-everything.json"
    schema.write_text("{}\n", encoding="utf-8")
    go = shutil.which("go")
    if go and not binary.exists():
        subprocess.run([go, "install", KUBECONFORM], env=os.environ | {"GOBIN": str(CACHE)}, check=False)
    if binary.exists():
        programs.commands["kubeconform"] = [str(binary), "-summary", "-schema-location", str(schema)]
    else:
        programs.skip("kubeconform", "it could not be built" if go else "no Go toolchain on PATH")
    tools = HERE.parent / ".tools" / "bin"
    kustomize = shutil.which("kustomize", path=os.pathsep.join([str(tools), os.environ.get("PATH", "")]))
    if kustomize:
        programs.commands["kustomize cfg"] = [kustomize, "cfg", "count"]
    else:
        programs.skip("kustomize cfg", "no kustomize on PATH (tests/e2e/install fetches one)")


def _of_the_catalog(programs: Programs, python: Path) -> None:
    """The functions of examples/catalog, and their Go originals, which no registry has: they are built by hand."""
    folder = os.environ.get("KRMFN_CATALOG_GO", "")
    for name in CONFIGS:
        programs.commands[name] = [str(python), str(HERE.parent / "examples/catalog" / name / "function.py")]
        original = Path(folder, name)
        if folder and original.exists():
            programs.commands[f"go {name}"] = [str(original)]
        else:
            programs.missing[f"go {name}"] = "KRMFN_CATALOG_GO names no folder with this program"


def _ask(python: Path, code: str) -> str:
    done = subprocess.run([str(python), "-c", code], cwd=HERE, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
