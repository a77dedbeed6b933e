"""Environments whose starts can be chosen: what a start is made of, how it is set, when an episode has failed."""
