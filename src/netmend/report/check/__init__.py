"""Findings of the checker, shown."""
