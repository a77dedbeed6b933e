"""Probes: small experiments with the program's own model and batch, one per file; see docs/first-batch.md."""
