"""Mutation testing, shown."""
