"""Trials: many trainings of variants of one program, each in a process of its own, kept by content."""
