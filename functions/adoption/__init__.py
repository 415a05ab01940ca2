"""Can Git take over from an operator: who owns what, what differs, what goes along, and the steps in order."""
