"""Verbs that change a program: what repairs, fixes, mutants and neutral moves have in common."""
