"""Operators on trained models: those that change weights, and those that change layers."""
