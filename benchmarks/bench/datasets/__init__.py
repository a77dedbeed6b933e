"""Data of the benchmark programs: fetched or generated once, kept as plain arrays (never pickled)."""
