"""The tests that need no other program, on each Python that pyproject.toml says is supported: `make interpreters`."""

from __future__ import annotations

import nox

PYTHONS = ("3.10", "3.11", "3.12", "3.13")

nox.options.error_on_missing_interpreters = True
nox.options.default_venv_backend = "venv"


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Install what is locked, and run the tests."""
    session.install("--quiet", "--require-hashes", "-r", "requirements/dev.txt")
    session.install("--quiet", "--no-deps", "--no-build-isolation", "--editable", "./sdk", "--editable", ".")
    plain = {"NO_COLOR": None, "FORCE_COLOR": None}  # nox sets them, and a test looks at colours
    args = session.posargs or ("-n", "auto", "--dist", "worksteal")
    session.run("pytest", "-q", *args, "--ignore", "tests/e2e", env=plain)
