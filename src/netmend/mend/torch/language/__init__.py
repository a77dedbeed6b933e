"""Mending causal language models: pairs of bad and good answers, one block at a time, under a guard."""
