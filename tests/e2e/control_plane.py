"""etcd and kube-apiserver as plain processes on loopback: how they are started, and who may talk to them."""

from __future__ import annotations

import itertools
import json
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.commands import HANGS

from .engines import find

HOST = "127.0.0.1"


WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
PORTS_EACH = 500
FIRST_PORT = 20_000 + PORTS_EACH * WORKER
"""Each worker of a run has ports of its own, below those that the kernel gives to clients (32,768 and up)."""
port_numbers = itertools.count(os.getpid())
"""Where two runs at once begin in the range differs."""
claims: list[socket.socket] = []
"""One for each port that this process was given; they end with it."""


def free_port() -> int:
    """Return a port that nobody listens on, and that no other call was given, of this run or of one beside it.

    Between this call and the start of a server another run could be given the port, too. So it is claimed by a name
    that the kernel gives to one process at a time: a socket of Linux' abstract namespace.
    """
    for _ in range(PORTS_EACH):
        port = FIRST_PORT + next(port_numbers) % PORTS_EACH
        claim, listener = socket.socket(socket.AF_UNIX), socket.socket()
        try:
            claim.bind(f"\0krmfn-e2e-port-{port}")
            listener.bind((HOST, port))
        except OSError:
            claim.close()
            continue
        finally:
            listener.close()
        claims.append(claim)
        return port
    raise AssertionError(f"no port from {FIRST_PORT} on is free")


def wait(state: str, seconds: float, done: Callable[[], bool]) -> None:
    """Ask until it is true; fail after so many seconds."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, f"{state}: not within {seconds:.0f} s"
        time.sleep(0.05)


@contextmanager
def process(
    name: str, *command: str | Path, folder: Path, env: dict[str, str] | None = None
) -> Iterator[Callable[[], bool]]:
    """A process that ends with the block; inside, a question that is true while it runs and fails when it has died."""
    log = folder / f"{name}.log"
    with log.open("wb") as out:
        # Were pytest itself killed, no fixture would end; the kernel then ends the process.
        setpriv = shutil.which("setpriv")
        guard = [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
        args = [*guard, *map(str, command)]
        running = subprocess.Popen(args, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def alive() -> bool:
        assert running.poll() is None, f"{name} ended with {running.returncode}:\n{log.read_text()[-3000:]}"
        return True

    try:
        yield alive
    finally:
        running.kill()  # nothing of its data is kept, so it need not end gracefully, which takes seconds
        running.wait(HANGS)


def etcd_command(folder: Path, port: int) -> list[str | Path]:
    """etcd on a loopback port; it asks for a second one for peers it will never have."""
    mine, peers = f"http://{HOST}:{port}", f"http://{HOST}:{free_port()}"
    return [
        find("etcd", "install the Debian package etcd-server"),
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={mine}",
        f"--advertise-client-urls={mine}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=default={peers}",
    ]


def apiserver_command(folder: Path, port: int, etcd: int) -> list[str | Path]:
    """kube-apiserver over that etcd; it makes its own certificate, whose key signs service account tokens too."""
    key = folder / "certs" / "apiserver.key"
    return [
        find("kube-apiserver", "tests/e2e/install builds it with go"),
        f"--etcd-servers=http://{HOST}:{etcd}",
        f"--secure-port={port}",
        f"--bind-address={HOST}",
        f"--advertise-address={HOST}",
        "--endpoint-reconciler-type=none",
        f"--cert-dir={key.parent}",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.0.0.0/24",
        f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--allow-privileged=true",
        "--disable-admission-plugins=ServiceAccount",
    ]


def write_access(folder: Path, port: int) -> str:
    """An administrator's token for the server, and a kubeconfig that uses it."""
    token = secrets.token_hex(16)
    (folder / "tokens.csv").write_text(f"{token},admin,admin,system:masters\n")
    named = {"name": "e2e"}
    server = {"server": f"https://{HOST}:{port}", "certificate-authority": str(folder / "certs" / "apiserver.crt")}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [named | {"cluster": server}],
        "users": [named | {"user": {"token": token}}],
        "contexts": [named | {"context": {"cluster": "e2e", "user": "e2e"}}],
        "current-context": "e2e",
    }
    (folder / "kubeconfig").write_text(json.dumps(config))
    return token
