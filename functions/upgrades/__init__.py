"""Say what a change does on the nodes."""
