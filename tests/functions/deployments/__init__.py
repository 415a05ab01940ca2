"""Tests of the room deployments."""
