"""Repaired weights, shown."""
