"""Operators on trained models, one per file."""
