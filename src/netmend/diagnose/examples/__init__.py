"""Small literal runs, for the examples of detectors and causes and for tests."""
