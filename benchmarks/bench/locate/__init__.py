"""Locating the files of a bug report, measured on Denchmark: protocol, baselines, learned fusion, tables."""
