"""One remedy per file; `repair.py` says what a remedy is."""
