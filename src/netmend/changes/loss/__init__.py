"""Losses and what they are made of in the source."""
