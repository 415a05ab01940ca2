"""KMM's truth, offline: what its admission webhook says to a Module, and which kernel takes which mapping."""

from .admission import check_update
from .kernels import Resolution, compile_error, resolve, resolver

__all__ = ["Resolution", "check_update", "compile_error", "resolve", "resolver"]
