"""Ranked files of a bug report, shown."""
