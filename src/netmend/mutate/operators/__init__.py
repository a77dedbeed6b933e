"""Mutation operators, one per file."""
