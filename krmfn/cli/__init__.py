"""Give every function a command line: render, check, diff."""
