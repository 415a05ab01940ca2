"""What the CI recipes call: the parts of GitHub's and GitLab's APIs that keep comments and findings, in memory.

`gh` reaches it as an HTTP proxy: for the host github.localhost it speaks plain HTTP to api.github.localhost.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

PAGE = 2
"""Entries on a page, whatever is asked for, so that every list has several."""
BOT = "github-actions[bot]"
OWN = 77
"""The number of GitLab's user whose token is used."""


class Service:
    """The state: what there is, and each request that has changed it."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.sarifs: list[dict[str, Any]] = []
        self.calls: list[tuple[str, str]] = []
        self.refusal: tuple[int, str] | None = None
        """The status and the message that every request for a change gets instead."""
        self.url = ""

    def add(self, body: str, login: str = BOT, number: int = OWN) -> dict[str, Any]:
        """Add a comment, which is a note, too."""
        about = {"user": {"login": login}, "author": {"id": number}}
        self.comments.append({"id": 1000 + len(self.comments), **about, "body": body})
        return self.comments[-1]

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Return the status and the document for a request."""
        if method == "GET":
            if path.endswith("/user"):
                return 200, {"id": OWN}
            assert path.endswith(("/comments", "/notes")), path
            return 200, self.comments
        self.calls.append((method, path))
        if self.refusal:
            return self.refusal[0], {"message": self.refusal[1]}
        if path.endswith("/code-scanning/sarifs"):
            self.sarifs.append(body)
            return 202, {"id": "1"}
        if method == "POST":
            return 201, self.add(body["body"])
        number = int(path.rpartition("/")[2])
        (comment,) = (comment for comment in self.comments if comment["id"] == number)
        comment["body"] = body["body"]
        return 200, comment


@contextmanager
def serving(service: Service) -> Iterator[Service]:
    """Answer requests on a free port as long as the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            status, document = service.answer(self.command, parts.path, body)
            headers = {"Content-Type": "application/json"}
            if isinstance(document, list):
                page = int(parse_qs(parts.query).get("page", ["1"])[0])
                if len(document) > page * PAGE:
                    following = f"http://{parts.netloc}{parts.path}?page={page + 1}"
                    headers |= {"Link": f'<{following}>; rel="next"', "X-Next-Page": str(page + 1)}
                document = document[(page - 1) * PAGE : page * PAGE]
            self._write(status, headers, json.dumps(document).encode())

        do_POST = do_PATCH = do_PUT = do_GET

        def _write(self, status: int, headers: dict[str, str], data: bytes) -> None:
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(data))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            """Say nothing on stderr."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        service.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()
