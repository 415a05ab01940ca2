"""The command line: arguments, the environment of Argo CD, exit codes."""
