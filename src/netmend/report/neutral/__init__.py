"""Neutral changes, shown."""
