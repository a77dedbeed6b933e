"""Adequacy of test sets, shown."""
