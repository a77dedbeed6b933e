"""Mending weights with PyTorch."""
