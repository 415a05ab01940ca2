"""render --replace: what the last run wrote goes, and nothing else."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.paths import files, manifests, output, replacing

from krmfn import KrmfnError
from tests.builders import CONFIG
from tests.commands import Done, process
from tests.trees import config_map, plant

from .test_bad_input import everything

LISTING = "kustomization.yaml"


def replace(folder: Path, *names: str) -> None:
    """Render ConfigMaps of these names into a folder."""
    text = "---\n".join(config_map(name) for name in names)
    replacing.replace_folders({str(folder): manifests.read_stream(text.encode()).items})


def render(folder: Path, *args: str) -> Done:
    return process("krmfn", "render", *args, "--output-dir", "out", cwd=folder)


def held(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@given(
    first=st.sets(st.sampled_from("abcd")),
    second=st.sets(st.sampled_from("abcd")),
    others=st.sets(st.sampled_from("abcdxy")),
)
def test_exactly_the_new_objects_and_what_others_put_there(
    first: set[str], second: set[str], others: set[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    out, fresh = (tmp_path_factory.mktemp("out") / name for name in ("out", "fresh"))
    replace(out, *sorted(first))
    mine = {f"configmap_{name}.yaml" for name in others - first}
    plant(out, dict.fromkeys((*mine, "extra/c.yaml"), "mine") | {f"configmap_{name}.yaml": "old" for name in first})
    new = {f"configmap_{name}.yaml" for name in second}
    before = everything(out)
    if new & mine:
        with pytest.raises(KrmfnError, match="already exists, and is not listed"):
            replace(out, *sorted(second))
        assert everything(out) == before
    else:
        replace(out, *sorted(second))
        replace(fresh, *sorted(second))
        kept = {path: text for path, text in before.items() if path in {*mine, "extra", "extra/c.yaml"}}
        assert everything(out) == everything(fresh) | kept


LISTED = output.kustomization(["a.yaml"]).decode()
NOT_OURS = {
    "none": None,
    "of a person": "resources: [a.yaml]\n",
    "with a line more": f"{LISTED}namePrefix: x-\n",
    "without the comment": LISTED.partition("\n")[2],
    "with a path": output.kustomization(["../keep.yaml"]).decode(),
    "with a path below": output.kustomization(["b/keep.yaml"]).decode(),
    "with a path of its own": output.kustomization(["/etc/hostname.yaml"]).decode(),
    "with itself": output.kustomization([LISTING]).decode(),
    "with Windows' lines": LISTED.replace("\n", "\r\n"),
    "no text": "\x00",
}


@pytest.mark.parametrize("kind", NOT_OURS)
def test_a_folder_that_render_did_not_write_is_left_alone(kind: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    text = NOT_OURS[kind]
    plant(out, {"a.yaml": "mine", **({LISTING: text} if text is not None else {})})
    plant(tmp_path, {"keep.yaml": "mine"})
    with pytest.raises(KrmfnError, match="was not written by render; nothing is removed"):
        replace(out, "b")
    assert held(out) == {"a.yaml", *([LISTING] if text is not None else [])}
    assert (tmp_path / "keep.yaml").exists()


ODD: dict[str, Callable[[Path], None]] = {
    "a link": lambda path: path.symlink_to("../keep.yaml"),
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
}


@pytest.mark.parametrize("kind", ODD)
def test_no_link_is_followed_and_no_folder_removed(kind: str, tmp_path: Path) -> None:
    out, keep = tmp_path / "out", plant(tmp_path, {"keep.yaml": "mine"}) / "keep.yaml"
    replace(out, "a")
    (out / "configmap_a.yaml").unlink()
    ODD[kind](out / "configmap_a.yaml")
    with pytest.raises(KrmfnError, match="is not a file, so render did not write it; nothing is removed"):
        replace(out, "b")
    assert held(out) == {"configmap_a.yaml", LISTING}
    assert keep.read_text() == "mine"


def test_neither_the_folder_nor_its_listing_may_be_a_link(tmp_path: Path) -> None:
    out = tmp_path / "out"
    replace(out, "a")
    plant(tmp_path, {"link": "-> out"})
    with pytest.raises(KrmfnError, match="is a link; --replace"):
        replace(tmp_path / "link", "b")
    (out / LISTING).rename(out / "moved.yaml")
    plant(out, {LISTING: "-> moved.yaml"})
    with pytest.raises(KrmfnError, match="was not written by render"):
        replace(out, "b")


@pytest.mark.parametrize("number", range(4))
def test_after_an_interruption_the_next_run_knows_all_that_is_there(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    replace(out, "a", "b")
    real, count = os.replace, 0

    def fail(source: str | Path, target: str | Path) -> None:
        nonlocal count
        count += 1
        if count > number:
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", fail)
    monkeypatch.setattr(Path, "replace", fail)  # Python 3.10 has kept the function itself
    with pytest.raises(KrmfnError, match="No space left"):
        replace(out, "b", "c")
    monkeypatch.undo()
    assert not [name for name in held(out) if name.startswith(".")]
    replace(out, "d")
    assert held(out) == {"configmap_d.yaml", LISTING}


def test_nothing_is_removed_when_one_folder_of_several_cannot_be_replaced(tmp_path: Path) -> None:
    items = manifests.read_stream(config_map("new").encode()).items
    replace(tmp_path / "a", "old")
    plant(tmp_path, {"b/a.yaml": "mine"})
    with pytest.raises(KrmfnError, match="nothing is removed"):
        replacing.replace_folders({str(tmp_path / name): items for name in ("a", "b", "new")})
    assert held(tmp_path / "a") == {"configmap_old.yaml", LISTING}
    assert not (tmp_path / "new").exists()


def test_the_command(tmp_path: Path) -> None:
    plant(tmp_path, {"lab/config.yaml": CONFIG})
    assert render(tmp_path, "lab", "--replace").code == 0
    assert render(tmp_path, "lab").code == 2
    plant(tmp_path, {"lab/config.yaml": CONFIG.replace("name: drv,", "name: other,")})
    assert render(tmp_path, "lab", "--replace").code == 0
    assert held(tmp_path / "out") == {"kmm_kmm_module_other.yaml", LISTING}
    assert process("krmfn", "render", "lab", "--replace", cwd=tmp_path).code == 2


def test_the_folder_of_a_cluster_that_is_gone_stays_and_is_named(tmp_path: Path) -> None:
    plant(tmp_path, {"lab/config.yaml": CONFIG, "prod/config.yaml": CONFIG, "out/mine/kustomization.yaml": "a: b\n"})
    assert "warning" not in render(tmp_path, "lab", "prod", "--replace").ended(0).err
    plant(tmp_path, {"next/config.yaml": CONFIG})
    err = render(tmp_path, "lab", "next", "--replace").ended(0).err
    assert "warning: out/prod was written by an earlier render, but no cluster" in err
    assert held(tmp_path / "out") == {"lab", "prod", "next", "mine"}


def test_what_render_has_written_below_its_path_is_not_read_again(tmp_path: Path) -> None:
    plant(tmp_path, {"lab/config.yaml": CONFIG, "lab/[1]/other.yaml": config_map("other")})
    for _ in range(2):
        done = process("krmfn", "render", "lab", "--output-dir", "lab/[1]/out", "--replace", cwd=tmp_path).ended(0)
        assert done.err.count("Module") == 1
    assert held(tmp_path / "lab" / "[1]" / "out") == {"kmm_kmm_module_drv.yaml", "configmap_other.yaml", LISTING}


def test_what_others_have_written_below_output_dir_is_read(tmp_path: Path) -> None:
    """A careless --output-dir names the folder of the configs themselves: neither may be missing in silence."""
    plant(tmp_path, {"clusters/lab/config.yaml": CONFIG, "clusters/prod/config.yaml": CONFIG.replace("drv", "other")})
    done = process("krmfn", "render", ".", "--output-dir", "clusters", "--replace", cwd=tmp_path).ended(1)
    assert "KRM302" in done.err
    assert held(tmp_path / "clusters") == {"lab", "prod"}


def test_a_folder_of_an_earlier_render_is_named_when_it_lies_above(tmp_path: Path) -> None:
    plant(tmp_path, {"lab/config.yaml": CONFIG, "prod/config.yaml": CONFIG})
    assert "warning" not in render(tmp_path, "lab", "--replace").err
    assert "warning: out was written by an earlier render" in render(tmp_path, "lab", "prod", "--replace").err


def test_what_another_run_stages_is_not_seen(tmp_path: Path) -> None:
    replace(tmp_path / "out", "a")
    listing = (tmp_path / "out" / LISTING).read_text()
    plant(tmp_path, {"out/.krmfn-abc/kustomization.yaml": listing, "out/lab/.krmfn-abc/kustomization.yaml": listing})
    plant(tmp_path, {"out/gone/kustomization.yaml": listing})
    assert replacing.rendered_folders(str(tmp_path / "out")) == [str(tmp_path / "out"), str(tmp_path / "out" / "gone")]


def test_of_two_runs_at_once_one_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one comes at each step of the first, whose folder is new at first; it waits for its turn."""
    out, real = tmp_path / "a" / "out", files.write
    threads: list[threading.Thread] = []

    def write(path: str, text: bytes) -> None:
        if not threads:
            threads.append(threading.Thread(target=replace, args=(out, "b", "c")))
            threads[0].start()
            threads[0].join(0.5)
        real(path, text)

    for _ in range(2):
        threads.clear()
        monkeypatch.setattr(files, "write", write)
        replace(out, "a", "c")
        threads[0].join()
        monkeypatch.undo()
        assert held(out) == {"configmap_b.yaml", "configmap_c.yaml", LISTING}
        assert (out / LISTING).read_bytes() == output.kustomization(["configmap_b.yaml", "configmap_c.yaml"])


@pytest.mark.parametrize("name", ["", "b"])
def test_a_folder_that_was_made_goes_again_when_another_cannot_be_replaced(name: str, tmp_path: Path) -> None:
    items = manifests.read_stream(config_map("new").encode()).items
    plant(tmp_path, {"z/configmap_new.yaml": "mine", f"z/{LISTING}": output.kustomization([]).decode()})
    with pytest.raises(KrmfnError, match="already exists, and is not listed"):
        replacing.replace_folders({str(tmp_path / "a" / name): items, str(tmp_path / "z"): items})
    assert held(tmp_path) == {"z"}
