"""Remedies, those of one subject in one file; `repair.py` says what a remedy is."""
