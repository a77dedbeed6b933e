"""Watches agents of Stable-Baselines3."""
