"""Quantities that several detectors need, computed from a trace: progress, depth, the loop."""
