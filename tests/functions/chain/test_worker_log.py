"""The log of a worker pod, and lines of dmesg: which sentence decides, and what is not known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from krmfn_functions.chain.kernel_words import WORDS
from krmfn_functions.chain.worker_log import MOST, Log, diagnosis, last_line, log_of, stranger

from krmfn.yamltext import emit
from tests.commands import Done, process
from tests.functions.chain.clusters import find, healthy, planned, worker
from tests.functions.chain.nights import CRASH, NIGHTS, TRAINING, played

ORDINARY = """I1128 01:00:00.000000       1 worker.go:77] "Starting worker" version="v2.4.1"
I1128 01:00:00.100000       1 worker.go:92] "Running modprobe" args=["-vd","/tmp/opt","simple"]
"""
FAILED = "modprobe: ERROR: could not insert 'simple': "
SENTENCES = {
    f"{FAILED}Key was rejected by service": "secure boot",
    f"{FAILED}Required key not available": "secure boot",
    "[  5.1] Loading of unsigned module is rejected": "secure boot",
    "[  5.1] Lockdown: modprobe: unsigned module loading is restricted; see man kernel_lockdown.7": "secure boot",
    f"{FAILED}Exec format error": "another kernel or architecture",
    f"{FAILED}Invalid module format": "another kernel or architecture",
    "[  5.1] simple: version magic '5.14.0-1 SMP mod_unload ' should be '5.14.0-2 SMP mod_unload '": "version magic",
    "[  5.1] simple: disagrees about version of symbol module_layout": "built for another kernel",
    "[  5.1] simple: Unknown symbol ib_register (err -2)": "that it needs is not loaded",
    f"{FAILED}Unknown symbol in module, or unknown parameter (see dmesg)": "that it needs is not loaded",
    f"{FAILED}File exists": "of this name already",
    "modprobe: FATAL: Module simple is in use.": "cannot be unloaded",
    f"{FAILED}Device or resource busy": "uses the module, or its device",
    f"{FAILED}No such device": "no device on the node",
    "modprobe: FATAL: Module simple not found in directory /tmp/opt/lib/modules/5.14.0": "no such module",
    f"{FAILED}No such file or directory": "lacks a file",
    f"{FAILED}Operation not permitted": "lockdown",
    f"{FAILED}Invalid argument": "refuses a parameter",
    "[  5.1] simple: `x' invalid for parameter `queues'": "refuses a parameter",
    f"{FAILED}Cannot allocate memory": "no memory left",
    "[  5.1] simple 0000:3b:00.0: Direct firmware load for simple/fw.bin failed with error -2": "firmware",
}


def of(text: str, *others: str) -> str:
    """What a log says of the kernel module `simple`; "" for nothing."""
    found = diagnosis(log_of(text.encode()), {"simple"}, others)
    return found.word.sense if found else ""


@pytest.mark.parametrize("sentence", SENTENCES)
def test_each_sentence_is_known_wherever_it_stands(sentence: str) -> None:
    for text in (sentence, f"{ORDINARY}{sentence}\n", f'{ORDINARY}E1128 "Fatal" err="exit status 1; {sentence}"\n'):
        assert SENTENCES[sentence] in of(text)
    for line in (f"{sentence}\n{FAILED}Invalid argument", f"\x1b[31m{sentence}\x1b[0m\r\n"):
        assert SENTENCES[sentence] in of(line), "what says more counts, and colours do not"


def test_every_entry_has_a_sentence_and_a_remedy_and_says_nothing_twice() -> None:
    signs = [sign for word in WORDS for sign in word.signs]
    assert len({*signs}) == len(signs) and all(sign == sign.lower() for sign in signs)
    assert all(word.sense and word.remedy and len(word.sense) <= 100 and len(word.remedy) <= 100 for word in WORDS)


@pytest.mark.parametrize(
    "text",
    [
        ORDINARY,
        "[  5.1] other: version magic 'a' should be 'b'\n",
        "[  5.1] wifi 0000:01:00.0: Direct firmware load for wifi.bin failed with error -2\n",
        "modprobe: ERROR: could not insert 'other': Key was rejected by service\n",
        "[  5.1] simple: module verification failed: signature and/or required key missing - tainting kernel\n",
        "[  5.1] simple: unknown parameter 'x' ignored\n",
        "[  5.1] simple: loading out-of-tree module taints kernel.\n",
        "open /etc/x: no such file or directory\n",
    ],
)
def test_what_is_about_something_else_or_no_failure_says_nothing(text: str) -> None:
    assert of(text) == ""


def test_an_error_of_the_worker_itself_counts_and_names_no_module() -> None:
    words = 'cmdutils.go:11] "Fatal error" err="could not copy firmware: open /firmware/x: no such file or directory"'
    assert "lacks a file" in of(f"{ORDINARY}E1128 01:00:01.000000       1 {words}\n")
    assert of(f"I1128 01:00:01.000000       1 {words}\n") == "", "what it only tells is no failure"


def test_a_line_about_another_module_of_the_node_says_nothing() -> None:
    assert of("modprobe -v other: Key was rejected by service", "other") == ""
    assert of("modprobe: Key was rejected by service") != ""
    assert "another kernel" in of(f"modprobe: ERROR: Key was rejected by service\n{FAILED}Exec format error")


def test_names_are_the_kernels() -> None:
    assert diagnosis(log_of(b"modprobe: ERROR: could not insert 'my-driver': No such device"), {"my_driver"})


@given(st.binary(max_size=400), st.sampled_from(sorted(SENTENCES)))
def test_strange_bytes_neither_stop_nor_hide_a_sentence(noise: bytes, sentence: str) -> None:
    log = log_of(noise)
    found = diagnosis(log, {"simple"})
    assert found is None or found.line in log.lines
    assert last_line(log)
    mixed = diagnosis(log_of(noise + b"\n" + sentence.encode()), {"simple"})
    assert mixed is not None


def test_of_a_long_log_its_end_counts_and_a_long_line_is_cut() -> None:
    log = log_of((FAILED + "No such device\n").encode() + b"x" * MOST + b"\nthe end")
    assert (diagnosis(log, {"simple"}), last_line(log)) == (None, "the end")
    found = diagnosis(log_of(b"a " * 300 + FAILED.encode() + b"No such device" + b" b" * 900), {"simple"})
    assert found and "No such device" in found.line and len(found.line) < 200


# the command


def ask(tmp_path: Path, log: bytes | None, objects: list[Any] | None, *options: str) -> Done:
    (tmp_path / "module.yaml").write_text(emit.dump(planned()))
    if objects is None:
        nodes = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"gpu": "a"}}}
        nodes["status"] = {"nodeInfo": {"kernelVersion": "6.1.0-1.x86_64"}}
        (tmp_path / "node.yaml").write_text(emit.dump(nodes))
        return process("krmfn", "why", "n1", ".", "--log", "-", *options, cwd=tmp_path, stdin=log or b"")
    dump = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    (tmp_path.parent / "worker.log").write_bytes(log or b"")
    live = ("--live", "-", "--log", "../worker.log")
    return process("krmfn", "why", "n1", ".", *live, *options, cwd=tmp_path, stdin=dump)


def test_the_log_of_a_crashed_worker_decides(tmp_path: Path) -> None:
    log = f"{ORDINARY}{FAILED}Key was rejected by service\n".encode()
    done = ask(tmp_path, log, played("worker crashes"))
    first, second, third, fourth = done.text.splitlines()[:4]
    assert (
        first == "n1: kmm/simple is not loaded: secure boot refuses the module: it is not signed with an enrolled key"
    )
    assert second.startswith("  kubectl get modules.kmm.sigs.x-k8s.io -n kmm simple -o yaml")
    assert third.startswith("  sign it with a key") and fourth == f"  the log: {FAILED}Key was rejected by service"
    assert done.code == 1


def test_a_log_that_nobody_knows_is_not_known(tmp_path: Path) -> None:
    done = ask(tmp_path, b"\xff\x00 something new\n", played("worker crashes"))
    assert "says CrashLoopBackOff" in done.text.partition("\n")[0] and done.code == 1
    assert "not known: the log says nothing that is known of simple; last: \ufffd\\x00 something new" in done.text


def test_the_log_of_an_unloader_decides_where_no_pod_holds_the_module(tmp_path: Path) -> None:
    unloader = worker("Unload", **CRASH)
    log = b"modprobe: FATAL: Module simple is in use.\n"
    done = ask(tmp_path, log, [*healthy(), unloader])
    assert "something on the node uses the module" in done.text.partition("\n")[0], done.text
    assert "kubectl debug node/n1" in done.text and "lsmod" in done.text
    done = ask(tmp_path, log, [*healthy(), unloader, TRAINING])
    assert "team/train holds the kernel module" in done.text.partition("\n")[0], done.text


def test_a_log_makes_nothing_fine_and_is_told_of_what_is_loaded(tmp_path: Path) -> None:
    done = ask(tmp_path, f"{FAILED}No such device\n".encode(), healthy()).ended(0, ".: 2 live nodes\n")
    assert "is loaded: " in done.text and "; the log says that the driver finds no device" in done.text
    done = ask(tmp_path, b"all is well\n", played("worker cannot pull"))
    assert done.code == 1


def test_a_line_about_any_module_is_not_told_of_one_that_is_loaded_beside_the_one_that_crashes(tmp_path: Path) -> None:
    text = emit.dump(planned())
    (tmp_path / "other.yaml").write_text(
        text.replace("moduleName: simple", "moduleName: other").replace("name: simple", "name: other")
    )
    objects = played("worker crashes")
    find(objects, "Node", "n1")["metadata"]["labels"]["kmm.node.kubernetes.io/kmm.other.ready"] = ""
    config, entry = find(objects, "NodeModulesConfig", "n1"), healthy()[6]["spec"]["modules"][0] | {"name": "other"}
    config["spec"]["modules"].append(entry)
    config["status"]["modules"].append({**entry, "bootId": "b1"})
    objects = [item for item in objects if item["kind"] != "Module"]
    done = ask(tmp_path, b"modprobe: could not open moddep file\n", objects)
    assert "kmm/simple is not loaded: the image has no such module" in done.text.partition("\n")[0], done.text
    assert "kmm/other is loaded: " in done.text and "; the log says" not in done.text, done.text
    assert "; the log says that the driver" in ask(tmp_path, b"other: No such device\n", objects).text


def test_without_a_dump_the_log_is_told_of_what_git_plans(tmp_path: Path) -> None:
    done = ask(tmp_path, f"{FAILED}File exists\n".encode(), None)
    assert done.text.startswith("n1: kmm/simple is not loaded: the kernel has a module of this name already")
    assert done.code == 1
    done = ask(tmp_path, b"well\n", None)
    assert done.text == "n1: not known: the log says nothing that is known of simple; last: well\n" and done.code == 1


NOT_HERE = "the log names {}, and not this node, so it does not count"


@pytest.mark.parametrize(
    ("log", "doubt"),
    [
        (f"Nov 28 01:02:03 n2 kernel: {FAILED}No such device\n", NOT_HERE.format("the node n2")),
        (f"2026-11-28T01:02:03+0000 n2 modprobe: {FAILED}No such device\n", NOT_HERE.format("the node n2")),
        (f"[pod/kmm-worker-n2-simple/worker] {FAILED}x\n", NOT_HERE.format("the pod kmm-worker-n2-simple")),
        ("modprobe: ERROR: could not insert 'nic': No such device\n", "the log is about nic, and not about simple"),
        ("all is well\n", "not known: the log says nothing that is known of simple; last: all is well"),
    ],
)
def test_a_log_that_is_not_the_one_is_told_and_decides_nothing(log: str, doubt: str, tmp_path: Path) -> None:
    for name in ("worker crashes", "pull refused"):
        done = ask(tmp_path, log.encode(), played(name)).ended(1, ".: 2 live nodes\n")
        lines = done.text.splitlines()
        assert lines[2].startswith(f"  {doubt}") and "finds no device" not in done.text, done.text
        assert NIGHTS[name].reason in lines[0]
    done = ask(tmp_path, log.encode(), healthy()).ended(0, ".: 2 live nodes\n")
    assert done.text.splitlines()[1].startswith(f"n1: {doubt}")
    assert doubt in ask(tmp_path, log.encode(), None).ended(1).text


def test_a_log_of_the_node_itself_counts() -> None:
    for line in ("Nov 28 01:02:03 n1 kernel: x", "[pod/kmm-worker-n1-simple/worker] x", "kmm-worker starts", "n2"):
        assert stranger(log_of(line.encode()), "n1.example.com" if "n1 k" in line else "n1") == ""


@pytest.mark.parametrize(
    ("host", "node", "is_own"),
    [
        ("GPU-1", "gpu-1", True),
        ("gpu-1.lab.example.com", "gpu-1", True),
        ("gpu-1", "gpu-1.lab.example.com", True),
        ("gpu-1.lab.example.com", "gpu-1.test.example.com", False),
        ("gpu-10", "gpu-1", False),
    ],
)
def test_a_host_is_the_node_in_any_case_and_with_or_without_its_domain(host: str, node: str, is_own: bool) -> None:
    log = log_of(f"Nov 28 01:02:03 {host} kernel: x".encode())
    assert stranger(log, node) == ("" if is_own else f"the node {host}")


def test_a_log_that_is_none_is_refused(tmp_path: Path) -> None:
    assert "--log -: is empty; for a pod that crashes" in ask(tmp_path, b" \n", None).refused()
    assert "only one of them can be read from stdin" in ask(tmp_path, b"x", None, "--live", "-").refused()
    done = process("krmfn", "why", "n1", ".", "--log", "nothere", cwd=tmp_path)
    assert "nothere" in done.refused()


def test_a_log_is_false_without_a_line() -> None:
    assert not Log() and Log(["x"])


def test_a_link_that_is_not_known_says_so_once(tmp_path: Path) -> None:
    objects = [item for item in healthy() if item["kind"] != "Pod"]
    done = ask(tmp_path, b"well\n", objects, "--verbose")
    assert "  plugin: not known: the dump has no pods\n" in done.text and "not known: not known" not in done.text
