"""A function on the files of a folder."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krmfn import KrmfnError, ResourceList, error, function, package
from tests.trees import plant

A = "apiVersion: v1\nkind: A\nmetadata:\n  name:  a   # odd spaces stay\n"
B = "# above\napiVersion: v1\nkind: B\nmetadata:\n  name:   b # why\n  namespace: n\n"
LIST = "apiVersion: v1\nkind: List\nitems:\n- kind: B\n"
DIVIDERS = ("---\n", "--- # a word\n", "---\r\n", "---   \n")
FILES = {
    "a.yaml": f"# head\n{A}---\n{B}",
    "deep/b.yml": f"---\n{B.replace(' b ', ' c ')}--- # behind\n# nothing\n---\n{A.replace(' a ', ' d ')}",
    "values.yaml": "# of a chart\nimage: a\n",
    ".hidden.yaml": "not: [yaml",
    ".git/config.yaml": "not: [yaml",
    "README.md": "text",
    "Kptfile": "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: p}",
}


def run(call: Callable[[ResourceList], None], folder: Path, *options: str) -> int:
    """Run a function as its program does; return the exit code."""
    stdout = os.dup(1)  # the program gives its number to stderr
    try:
        with pytest.raises(SystemExit) as ended:
            function(call).main([str(folder), *options])
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)
    return int(ended.value.code or 0)


def texts(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def nothing(resources: ResourceList) -> None:
    assert [item.path for item in resources] == ["Kptfile", "a.yaml", "a.yaml", "deep/b.yml", "deep/b.yml"]
    assert [item.name for item in resources] == ["p", "a", "b", "c", "d"]


def label(resources: ResourceList) -> None:
    """Label what is of kind B."""
    for item in resources.where(kind="B"):
        item.labels["tier"] = "front"
        if resources.get("v1", "Service", item.name) is None:
            manifest = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": item.name}}
            resources.append(manifest, path=f"services/{item.name}.yaml")


def test_what_is_not_touched_stays_and_nothing_is_written(tmp_path: Path) -> None:
    before = texts(plant(tmp_path, FILES))
    assert run(nothing, tmp_path) == 0
    assert texts(tmp_path) == before


def test_what_changed_is_written_with_its_comments_and_a_second_run_changes_nothing(tmp_path: Path) -> None:
    before = texts(plant(tmp_path, FILES))
    assert run(label, tmp_path) == 0
    after = texts(tmp_path)
    assert after.keys() - before.keys() == {"services/b.yaml", "services/c.yaml"}
    assert after["services/b.yaml"] == b"apiVersion: v1\nkind: Service\nmetadata:\n  name: b\n"
    assert {name for name in before if after[name] != before[name]} == {"a.yaml", "deep/b.yml"}
    edited = f"{B}  labels:\n    tier: front\n"
    assert after["a.yaml"].decode() == FILES["a.yaml"].replace(B, edited)
    assert run(label, tmp_path) == 0
    assert texts(tmp_path) == after


def test_a_dry_run_prints_what_git_applies(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = texts(plant(tmp_path / "one", FILES))
    plant(tmp_path / "two", FILES)
    assert run(remove("Kptfile"), tmp_path / "one", "--dry-run") == 0
    assert run(label, tmp_path / "one", "--dry-run") == 0
    diff, err = capfd.readouterr()
    assert texts(tmp_path / "one") == before
    assert err.count("1 file would change\n") == 1 and err.count("4 files would change\n") == 1
    subprocess.run(["git", "apply", "-"], input=diff.encode(), cwd=tmp_path / "two", check=True)
    assert run(remove("Kptfile"), tmp_path / "one") == run(label, tmp_path / "one") == 0
    assert texts(tmp_path / "two") == texts(tmp_path / "one")


def remove(*kinds: str) -> Callable[[ResourceList], None]:
    """Return a function that removes the resources of some kinds."""

    def change(resources: ResourceList) -> None:
        """Remove resources."""
        for item in resources.where(kind=kinds):
            resources.remove(item)

    return change


def test_the_first_of_a_file_goes_and_the_rest_keeps_its_bytes(tmp_path: Path) -> None:
    plant(tmp_path, FILES)
    assert run(remove("A"), tmp_path) == 0
    assert (tmp_path / "a.yaml").read_text() == B
    assert (tmp_path / "deep/b.yml").read_text() == f"---\n{B.replace(' b ', ' c ')}--- # behind\n# nothing\n"


def test_a_file_goes_with_its_last_resource_and_no_other_file_does(tmp_path: Path) -> None:
    plant(tmp_path, FILES | {"empty.yaml": "# nothing yet\n"})
    assert run(remove("A", "B", "Kptfile"), tmp_path) == 0
    assert texts(tmp_path).keys() == FILES.keys() - {"a.yaml", "deep/b.yml", "Kptfile"} | {"empty.yaml"}


def test_a_resource_moves_to_another_file_and_takes_its_comments_along(tmp_path: Path) -> None:
    def move(resources: ResourceList) -> None:
        """Move."""
        for item in resources.where(kind="B"):
            item.path = "all/b.yaml"
        resources.append({"apiVersion": "v1", "kind": "C", "metadata": {"name": "c", "namespace": "n"}})

    plant(tmp_path, FILES)
    assert run(move, tmp_path) == 0
    assert (tmp_path / "a.yaml").read_text() == f"# head\n{A}"
    assert (tmp_path / "all/b.yaml").read_text() == f"{B}---\n{B.replace(' b ', ' c ')}"
    assert (tmp_path / "n/c_c.yaml").read_text().startswith("apiVersion: v1\nkind: C\n")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("../out.yaml", "leads out of the folder"),
        ("/out.yaml", "leads out of the folder"),
        ("a.txt", "no later run would read its path"),
        (".git/a.yaml", "no later run would read its path"),
        ("link/a.yaml", "is a link, or behind one"),
        ("link.yaml", "is a link, or behind one"),
    ],
)
def test_a_path_that_is_not_below_the_folder_is_refused(
    path: str, words: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def add(resources: ResourceList) -> None:
        """Add."""
        label(resources)
        resources.append({"apiVersion": "v1", "kind": "C", "metadata": {"name": "c"}}, path=path)

    folder = plant(tmp_path / "folder", FILES | {"link": "-> ..", "link.yaml": "-> ../elsewhere.yaml"})
    before = texts(tmp_path)
    assert run(add, folder) == 1
    assert words in (err := capfd.readouterr().err)
    assert "leads" not in words or f"error: C c: its path {path} leads" in err
    assert texts(tmp_path) == before


def test_with_an_error_nothing_is_written(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def refuse(resources: ResourceList) -> None:
        """Refuse."""
        label(resources)
        resources.report(error("must not be", at=resources.where(name="d")[0].at("metadata.name")))

    before = texts(plant(tmp_path, FILES))
    assert run(refuse, tmp_path) == 1
    assert texts(tmp_path) == before
    assert "deep/b.yml:14:3" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"bad.yaml": "a: 1\n---\nb: [\n"}, "bad.yaml:4: error: did not find expected node content"),
        ({"bad.yaml": "a: \x01\n"}, "bad.yaml:1: error: "),
        ({"sub/.krmignore": "a\n"}, ".krmignore: error: its patterns are not read here"),
        ({"bad.yaml": "a: 1\n...\nb: 2\n"}, "bad.yaml:2: error: "),
        ({"t.yaml": "{{ if .Values.a }}\na: 1\n{{ end }}\n"}, "t.yaml:2: error: "),
        ({"l.yaml": f"{A}---\n{LIST}"}, "l.yaml:5: error: the resources in a List are not read: write each as"),
        ({"l.yaml": LIST.replace("List", "BList")}, "l.yaml:1: error: the resources in a BList are not read"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_and_nothing_is_written(
    files: dict[str, str], words: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = texts(plant(tmp_path, FILES | files))
    assert run(label, tmp_path) == 1
    err = capfd.readouterr().err
    assert words in err and f"nothing was written to {tmp_path}" in err
    assert texts(tmp_path) == before


@pytest.mark.parametrize("text", [LIST.replace("items:\n", "items: 2\nrest:\n"), "apiVersion: v1\nkind: AllowList\n"])
def test_a_kind_that_only_sounds_like_a_list_is_read(text: str, tmp_path: Path) -> None:
    plant(tmp_path, FILES | {"l.yaml": text})
    assert run(label, tmp_path) == 0


def test_an_edit_that_cannot_be_written_is_told_with_its_place(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def write(resources: ResourceList) -> None:
        """Write."""
        resources.items[0]["spec.a"] = 2

    plant(tmp_path, {"a.yaml": f"{A}spec:\n  a: &one 1\n  b: *one\n"})
    assert run(write, tmp_path) == 1
    assert "a.yaml:6:3: error: A a: spec.a: cannot be changed: the anchor &one" in capfd.readouterr().err


def test_a_write_that_fails_changes_no_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = plant(tmp_path, FILES | {"deep/b.yml.krmfn-new": "of a run that died"})
    before = texts(folder)
    assert run(label, folder) == 1
    assert "deep/b.yml.krmfn-new cannot be written: File exists" in capfd.readouterr().err
    assert texts(folder) == before
    assert not (folder / "services").exists()


@pytest.mark.parametrize("failure", [SystemExit(0), ValueError("of the function"), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize("options", [(), ("--dry-run",)], ids=["write", "dry-run"])
def test_a_function_that_ends_otherwise_is_no_success(
    failure: BaseException, options: tuple[str, ...], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def end(resources: ResourceList) -> None:
        """End."""
        label(resources)
        raise failure

    before = texts(plant(tmp_path, FILES))
    assert run(end, tmp_path, *options) == 1
    out, err = capfd.readouterr()
    assert (out, texts(tmp_path)) == ("", before)
    assert "nothing was written" in err


def test_what_the_function_s_children_print_is_no_part_of_the_diff(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def call(resources: ResourceList) -> None:
        """Call."""
        subprocess.run(["echo", "of a child"], check=True)
        print("of the function")
        label(resources)

    plant(tmp_path, FILES)
    assert run(call, tmp_path, "--dry-run") == 0
    out, err = capfd.readouterr()
    assert out.startswith("--- a/a.yaml")
    assert "of a child" in err
    assert "of the function" in err


def test_what_is_left_alone_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A kind that is misspelt is seen by no function, and silence would say that all is well."""
    more = {"b.yaml": f"{A}---\napiversion: v1\nkind: B\n", "link.yaml": "-> a.yaml", "folder": "-> deep"}
    plant(tmp_path, FILES | more)
    assert run(label, tmp_path) == 0
    assert (
        "left as they are (a link, or no apiVersion and kind): folder, b.yaml:5, link.yaml, values.yaml:1\n"
        in capfd.readouterr().err
    )


def test_the_mode_of_a_file_stays(tmp_path: Path) -> None:
    plant(tmp_path, FILES)
    (tmp_path / "a.yaml").chmod(0o640)
    assert run(label, tmp_path) == 0
    assert (tmp_path / "a.yaml").stat().st_mode & 0o777 == 0o640


def test_a_function_config_comes_from_a_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def note(resources: ResourceList) -> None:
        """Note."""
        for item in resources.where(kind="A"):
            item.annotations["a"] = str((resources.function_config or {})["data"]["text"])

    plant(
        tmp_path, {"p/a.yaml": A, "config.yaml": "apiVersion: v1\nkind: ConfigMap\ndata: {text: b}\n", "no.yaml": "- a"}
    )
    assert run(note, tmp_path / "p", "--config", str(tmp_path / "config.yaml")) == 0
    assert "a: b" in (tmp_path / "p/a.yaml").read_text()
    for wrong in ("no.yaml", "missing.yaml"):
        assert run(note, tmp_path / "p", "--config", str(tmp_path / wrong)) == 1
        assert wrong in capfd.readouterr().err


@dataclass(frozen=True)
class Options:
    size: int = 1

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("size must not be negative")


def test_what_is_wrong_with_the_function_config_is_said_with_its_file_and_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = "# of the shop\napiVersion: e.com/v1alpha1\nkind: Options\nmetadata: {name: a}\nspec:\n  size: x\n"
    plant(tmp_path, {"p/a.yaml": A, "config.yaml": text})

    @function(config=Options, group="e.com")
    def call(resources: ResourceList, config: Options) -> None:
        """Do nothing."""

    config = tmp_path / "config.yaml"
    wrongs = (("x", "6:3: error: Options a: spec.size: is the string 'x'"), ("-1", "5:1: error: Options a: spec: size"))
    for value, words in wrongs:
        config.write_text(text.replace("x\n", f"{value}\n"))
        with pytest.raises(SystemExit):
            call.main([str(tmp_path / "p"), "--config", str(config), "--dry-run"])
        assert f"{config}:{words}" in capfd.readouterr().err


@dataclass(frozen=True)
class Needed:
    size: int


def test_a_function_that_needs_a_config_says_how_a_folder_gets_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plant(tmp_path, {"a.yaml": A})
    usages = {Needed: "call DIR --config FILE [--dry-run]", Options: "call DIR [--config FILE] [--dry-run]"}
    for config, usage in usages.items():

        @function(config=config, group="e.com")
        def call(resources: ResourceList, config: Needed | Options) -> None:
            """Do nothing."""

        for args in ([str(tmp_path)], ["--help"]):
            with pytest.raises(SystemExit):
                call.main(args)
        streams = capfd.readouterr()
        assert f"  {usage} " in streams.out
        missing = "error: the functionConfig is missing; pass a file with Needed (e.com/v1alpha1) or a ConfigMap (v1)"
        assert streams.err == (f"{missing} by --config\n" if config is Needed else "")


def test_what_is_no_folder_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(label, tmp_path / "missing") == 1
    assert "is no folder" in capfd.readouterr().err
    assert run(label, tmp_path, "--unknown") == 2


PART = st.sampled_from((A, B, "# words\n", "image: a\n", "", A.replace("\n", "\r\n")))


@given(rows=st.lists(st.tuples(st.sampled_from(DIVIDERS), PART), min_size=1, max_size=6), data=st.data())
def test_the_parts_of_a_file_are_the_file_and_what_stays_keeps_its_bytes(
    rows: list[tuple[str, str]], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = "".join(divider + part for divider, part in rows)
    text = text.removeprefix(rows[0][0]) if data.draw(st.booleans()) else text
    text = text.rstrip("\n") if data.draw(st.booleans()) else text
    folder = tmp_path_factory.mktemp("parts", numbered=True)
    (folder / "a.yaml").write_bytes(text.encode())
    files, _ = package.read(folder)
    assert package.joined(part.text for part in files["a.yaml"]) == text.encode()
    items = [part.item for part in files["a.yaml"] if part.item]
    assert package.changed_texts(files, items) == {}
    kept = [item for item in items if data.draw(st.booleans())]
    changed = package.changed_texts(files, kept)
    assert changed.keys() == ({"a.yaml"} if len(kept) < len(items) else set())
    package.write(folder, changed)
    after = package.read(folder)[0].get("a.yaml", [])
    strip = b"\r\n"
    assert [p.item.text.strip(strip) for p in after if p.item] == [item.text.strip(strip) for item in kept]
    others = [part.text.strip(strip) for part in files["a.yaml"] if not part.item and part.text.strip()]
    assert [part.text.strip(strip) for part in after if not part.item and part.text.strip()] == (
        others if after else []
    )


def test_a_folder_that_another_may_not_write_is_said(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        (tmp_path / "services").write_text("a file where a folder is to be")
    else:
        tmp_path.chmod(0o555)
    plant_at = tmp_path / "services"
    with pytest.raises(KrmfnError, match="cannot be written"):
        package.write(tmp_path, {f"{plant_at.name}/a.yaml": b"a: b\n"})
