"""The functions of krmfn: deviceconfig and ptemplate, written on the SDK `krmfn`."""

VERSION = "0.1.0"
"""The version of the distribution, as pyproject.toml has it: importlib.metadata loads email to find it."""
