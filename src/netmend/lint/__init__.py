"""Depth 0: mistakes that the text of a training program shows. Nothing of it is imported or executed."""
